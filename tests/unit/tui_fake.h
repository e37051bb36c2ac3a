/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports for tests of -tui: those of report/views.c, over an experiment that never changes.
 * Answers are made when they are asked for and handed over when the interface looks, or held back.
 */
#ifndef TESTS_TUI_FAKE_H
#define TESTS_TUI_FAKE_H

#include <sys/stat.h>
#include <unistd.h>

#include "../metrics.h"
#include "base/strbuf.h"
#include "experiment/data.h"
#include "prof_fake.h"
#include "report/views.h"
#include "tui/actions.h"

enum { TUI_FAKE_VIEWS = 40 };

struct tui_fake {
	struct experiment x[2]; /* before, after */
	struct prof_input inputs[2];
	struct prof_request request;
	struct tui_report reports[TUI_FAKE_VIEWS + 1];
	report_view *make[TUI_FAKE_VIEWS];
	VEC(struct tui_answer) answers;
	const char *paths[2];
	char directory[64];
	unsigned made, released, written, failing; /* every failing-th report fails; 0: none does */
	bool held;                                 /* answers wait */
	char wrote[256];
	char whom[TUI_WORD]; /* whose samples were asked for last */
	char *text;          /* of what was written last */
};

/* ---- the program ---- */

static const uint8_t tui_fake_search[] = {
	0x48, 0x69, 0xf6, 0x18, 0x01, 0x00, 0x00, /* imul $0x118, %rsi, %rsi */
	0x48, 0x01, 0xfe,                         /* add %rdi, %rsi */
	0x89, 0x16,                               /* mov %edx, (%rsi) */
	0x3b, 0x17,                               /* cmp (%rdi), %edx */
	0x74, 0x0b,                               /* je +11 */
	0x48, 0x81, 0xc7, 0x18, 0x01, 0x00, 0x00, /* add $0x118, %rdi */
	0x3b, 0x17,                               /* cmp (%rdi), %edx */
	0x75, 0xf5,                               /* jne -11 */
	0x31, 0xc0,                               /* xor %eax, %eax */
	0xc3,                                     /* ret */
};

static const char *const tui_fake_names[] = {"main", "search(int, employee const*)",
	"compare<std::pair<unsigned long, std::string>, std::less<unsigned long> >", "sort",
	"\xce\xb1\xce\xb2\xce\xb3::leaf"};

static int tui_fake_symbol(
	void *names, uint32_t image, uint64_t address, struct image_symbol *symbol)
{
	int rc = fake_symbol(names, image, address, symbol);

	if (rc)
		return rc;
	symbol->name = symbol->demangled =
		tui_fake_names[(symbol->address - FAKE_BASE) / FAKE_SIZE];
	if (symbol->address == 0x1100)
		symbol->size = sizeof(tui_fake_search);
	return 0;
}

static enum image_machine tui_fake_machine(void *names, uint32_t image)
{
	(void)names;
	return image == 1 ? IMAGE_X86_64 : IMAGE_OTHER;
}

static size_t tui_fake_code(void *names, uint32_t image, uint64_t address, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	(void)names;
	for (size_t i = 0; image == 1 && i < size; i++)
		to[i] = address + i - 0x1100 < sizeof(tui_fake_search)
				? tui_fake_search[address + i - 0x1100]
				: 0x90;
	return image == 1 ? size : 0;
}

static const struct prof_names_ops tui_fake_names_ops = {.symbol = tui_fake_symbol,
	.line = fake_line,
	.inlines = fake_inlines,
	.state = fake_state,
	.machine = tui_fake_machine,
	.code = tui_fake_code};

/* A block of the heap that two threads share falsely, and a stack. */
static inline void tui_fake_data(struct experiment *x)
{
	const struct experiment_metric misses =
		METRIC_MISSES("model", "zen4", LABEL_MODEL, METRIC_EXACT, 1);
	const struct experiment_object heap = {
		.key = {.kind = EXPERIMENT_OBJECT_HEAP,
			.node = (uint32_t)experiment_node(x, 0, 1, 0x1320)},
		.blocks = 12,
		.bytes = 768};
	const struct experiment_object stack = {.key = {.kind = EXPERIMENT_OBJECT_STACK,
							.image = 1,
							.address = 0x1010,
							.thread = 1}};
	uint32_t metric = (uint32_t)experiment_data_metric(x, &misses, NULL);
	uint32_t block = (uint32_t)experiment_row(x, EXPERIMENT_OBJECTS, &heap);
	uint32_t frame = (uint32_t)experiment_row(x, EXPERIMENT_OBJECTS, &stack);
	uint32_t line;

	for (int64_t i = 0; i < 4; i++)
		experiment_row(x, EXPERIMENT_PLACES,
			&(struct experiment_place){
				.key = {.line = i, .metric = metric, .object = block},
				.count = 900 >> i});
	experiment_row(x, EXPERIMENT_PLACES,
		&(struct experiment_place){
			.key = {.metric = metric, .object = frame}, .count = 17});
	experiment_row(x, EXPERIMENT_TOUCHES,
		&(struct experiment_touch){
			.key = {.address = 0x1117, .metric = metric, .object = block, .image = 1},
			.count = 1600,
			.most = 255,
			.apart = 8});
	line = (uint32_t)experiment_row(x, EXPERIMENT_LINES,
		&(struct experiment_line){.key = {.bytes = 64, .object = block},
			.requests = 700,
			.needed = 3,
			.useless = 690});
	for (uint32_t thread = 0; thread < 2; thread++)
		experiment_row(x, EXPERIMENT_ENDS,
			&(struct experiment_end){.key = {.address = 0x1117 + 4 * thread,
							 .line = line,
							 .thread = thread,
							 .object = block,
							 .image = 1},
				.requests = 350,
				.loads = 400,
				.stores = 400,
				.read = {0xffull << 8 * thread},
				.written = {0xffull << 8 * thread}});
}

static inline void tui_fake_experiment(struct experiment *x, unsigned more)
{
	struct experiment_process p = {
		.pid = 4711, .ppid = 1, .rank = -1, .end = 1000000000, .command = (char *)"app"};
	struct experiment_thread t = {.tid = 4711, .name = (char *)"app"};
	static const uint8_t begins[] = {
		0x00, 0x07, 0x0a, 0x0c, 0x0e, 0x10, 0x17, 0x19, 0x1b, 0x1d};

	experiment_init(x, NULL);
	free(x->type);
	x->type = strdup("usertime");
	x->complete = true;
	x->elapsed = 1234567890;
	fake_image(x);
	experiment_fact(x, "program", "/bin/app", NULL);
	experiment_fact(x, "clock_hz", "2000000000", NULL);
	experiment_fact(x, "command", "app -n 100", NULL);
	fake_metric(
		x, "time", -1, 1000000, METRIC_CLOCK | METRIC_STACKS | METRIC_SKID, LABEL_MEASURED);
	fake_metric(x, "dsc", 26, 131, METRIC_STACKS, LABEL_MODEL);
	fake_metric(x, "gi", 15, 1, METRIC_EXACT, LABEL_MODEL);
	t.process = (uint32_t)experiment_process(x, &p, NULL);
	experiment_thread(x, &t, NULL);
	fake_timed(x, 5, 0, 20, PATH(0x1010));
	fake_timed(x, 400 + more, 0, 700, PATH(0x1010, 0x1117));
	fake_timed(x, 160, 200, 700, PATH(0x1010, 0x1119));
	fake_timed(x, 12, 700, 720, PATH(0x1010, 0x110c));
	fake_timed(x, 120, 700, 1200, PATH(0x1010, 0x1117, 0x1210));
	fake_timed(x, 33, 1200, 1234, PATH(0x1010, 0x1110, 0x1410));
	fake_timed(x, 70, 300, 600, PATH(0x1010, 0x1310));
	fake_timed(x, 110, 400, 500, PATH(0x1010, 0x1310, 0x1318));
	fake_timed(x, 4, 0, 1234, PATH(0x1010, 0x1310, 0x1318, 0x1410));
	fake_samples(x, 1, 1, 0, 70, PATH(0x1010, 0x1110));
	fake_samples(x, 1, 1, 0, 3, PATH(0x1010, 0x1310));
	for (size_t i = 0; i < sizeof(begins); i++)
		fake_samples(x, 2, 1, 0, begins[i] >= 0x10 && begins[i] < 0x1b ? 1000 : 10,
			PATH(0x1100 + begins[i]));
	tui_fake_data(x);
	/* outside everything */
	experiment_add(x, 0, 1, 0, (uint32_t)experiment_node(x, 0, 0, 0x99), 50);
}

/* ---- the source ---- */

struct tui_fake_table {
	struct report_table table;
	struct prof_data data;
	struct fake_names names;
};

static inline int tui_fake_ask(
	void *context, const struct tui_ask *ask, uint64_t ticket, struct error *e)
{
	struct tui_fake *f = context;
	struct tui_fake_table *own;
	struct prof_request q = f->request;
	const char *only[] = {ask->procedure, NULL};
	struct tui_answer *a = vec_push(&f->answers);

	if (f->reports[ask->report].procedure && !ask->procedure) {
		f->answers.count--;
		return error_set(e, ERR_NOT_FOUND, "it is about one procedure");
	}
	own = calloc(1, sizeof(*own));
	*a = (struct tui_answer){.ticket = ticket};
	q.command = f->reports[ask->report].name;
	q.inclusive = ask->switches & 1;
	q.inlines = ask->switches & 2;
	/* Names of the program have no brackets; stars would match themselves. */
	q.only = ask->procedure ? only : NULL;
	snprintf(f->whom, sizeof(f->whom), "%s", ask->part.whom);
	q.from = ask->part.from[0] ? ask->part.from : NULL;
	q.to = ask->part.to[0] ? ask->part.to : NULL;
	f->made++;
	if (f->failing && f->made % f->failing == 0) {
		error_set(&a->error, ERR_UNSUPPORTED, "this one cannot be made");
		error_hint(&a->error, "ask for another one");
	} else if (profile_data_init(&own->data, &q, &a->error) == 0) {
		own->data.names = (struct prof_names){&tui_fake_names_ops, &own->names};
		if (f->make[ask->report](&own->data, &own->table, &a->error) == 0) {
			own->data.request = NULL;
			a->table = &own->table;
			return 0;
		}
	}
	report_table_fini(&own->table);
	profile_data_fini(&own->data);
	free(own);
	f->made--;
	return 0;
}

static inline void tui_fake_release(void *context, const struct report_table *table)
{
	struct tui_fake *f = context;
	struct tui_fake_table *own = (struct tui_fake_table *)(uintptr_t)table;

	f->released++;
	report_table_fini(&own->table);
	profile_data_fini(&own->data);
	free(own);
}

static inline void tui_fake_drop(void *context, uint64_t ticket)
{
	struct tui_fake *f = context;

	for (size_t i = 0; i < f->answers.count; i++)
		if (f->answers.data[i].ticket == ticket) {
			if (f->answers.data[i].table)
				tui_fake_release(f, f->answers.data[i].table);
			f->answers.data[i] = f->answers.data[--f->answers.count];
			i--;
		}
}

static inline bool tui_fake_answer(void *context, struct tui_answer *a)
{
	struct tui_fake *f = context;

	if (f->held || !f->answers.count)
		return false;
	*a = f->answers.data[0];
	memmove(f->answers.data, f->answers.data + 1, --f->answers.count * sizeof(*a));
	return true;
}

static inline char *tui_fake_command(void *context, const struct tui_ask *ask)
{
	struct tui_fake *f = context;
	char *text;

	if (asprintf(&text, "prof -%s%s%s%s%s app.usertime.1", f->reports[ask->report].name,
		    ask->procedure ? " -only '" : "", ask->procedure ? ask->procedure : "",
		    ask->procedure ? "'" : "", ask->switches & 1 ? " -inclusive" : "") < 0)
		return NULL;
	return text;
}

static inline void tui_fake_progress(void *context, char *room, size_t size)
{
	(void)context;
	snprintf(room, size, "reading app.usertime.1");
}

static inline int tui_fake_write(void *context, const char *path, const char *text, size_t length,
	bool replace, struct error *e)
{
	struct tui_fake *f = context;

	if (strcmp(path, "there") == 0 && !replace)
		return error_set(e, ERR_CONFLICT, "there is there already");
	if (strchr(path, '/'))
		return error_set(e, ERR_NOT_FOUND, "no such directory");
	f->written++;
	snprintf(f->wrote, sizeof(f->wrote), "%s", path);
	free(f->text);
	f->text = strndup(text, length);
	return 0;
}

static inline size_t tui_fake_choices(void *context, const struct tui_choice **choices)
{
	static const struct tui_choice all[] = {
		{TUI_CHOICE_THREAD, "thread:4712", "4712 worker", 62.5},
		{TUI_CHOICE_THREAD, "thread:4711", "4711 app", 37.5},
		{TUI_CHOICE_PROCESS, "process:4711", "4711 app", 100},
		{TUI_CHOICE_IMAGE, "app", "app", 95},
		{TUI_CHOICE_IMAGE, "[[]kernel]", "[kernel]", 5},
	};

	(void)context;
	*choices = all;
	return sizeof(all) / sizeof(*all);
}

static const struct tui_source_ops tui_fake_ops = {.choices = tui_fake_choices,
	.ask = tui_fake_ask,
	.drop = tui_fake_drop,
	.answer = tui_fake_answer,
	.release = tui_fake_release,
	.command = tui_fake_command,
	.progress = tui_fake_progress,
	.write = tui_fake_write};

static const struct tui_switch tui_fake_switches[] = {
	{"inclusive", "inclusive figures of functions", 'i'},
	{"inlines", "give inlined functions rows of their own", 'u'},
	{NULL, NULL, 0},
};

/* A file of source, so that lines have texts. */
static inline void tui_fake_source_file(struct tui_fake *f)
{
	static const char *const lines[] = {"int main(void)", "{", "\tfor (;;)",
		"\t\tsearch(n, staff); /* gr\xc3\xb6\xc3\x9f"
		"er als \xe4\xb8\xad */",
		"}", ""};
	char path[128];
	FILE *out;

	snprintf(f->directory, sizeof(f->directory), "/tmp/tui-test.XXXXXX");
	if (!mkdtemp(f->directory))
		return;
	snprintf(path, sizeof(path), "%s/app.c", f->directory);
	out = fopen(path, "w");
	for (int i = 0; out && i < 90; i++)
		fprintf(out, "%s\n", lines[i % 6]);
	if (out)
		fclose(out);
	f->paths[0] = f->directory;
	f->paths[1] = NULL;
}

static inline void tui_fake_init(struct tui_fake *f, bool diff)
{
	size_t count = 0;

	memset(f, 0, sizeof(*f));
	tui_fake_experiment(&f->x[0], 0);
	tui_fake_experiment(&f->x[1], 200);
	f->inputs[0] = (struct prof_input){.experiment = &f->x[0], .file = "app.usertime.1"};
	f->inputs[1] =
		(struct prof_input){.experiment = &f->x[1], .file = "app.usertime.2", .side = 1};
	tui_fake_source_file(f);
	f->request = (struct prof_request){.inputs = f->inputs,
		.count = diff ? 2 : 1,
		.source_paths = f->paths,
		.compare = diff,
		.core = "zen4",
		.sides = {"before", "after"}};
	for (size_t i = 0; report_views[i].name && count < TUI_FAKE_VIEWS; i++) {
		report_view *make = report_view_make(&report_views[i], diff);

		if (!make)
			continue;
		f->make[count] = make;
		f->reports[count++] = (struct tui_report){report_views[i].name,
			report_views[i].help, report_views[i].flags & VIEW_ALONE};
	}
}

static inline struct tui_source tui_fake_source(struct tui_fake *f)
{
	return (struct tui_source){.ops = &tui_fake_ops,
		.context = f,
		.reports = f->reports,
		.switches = tui_fake_switches,
		.title = "app.usertime.1",
		.changes = f->request.compare,
		.wake = -1};
}

static inline void tui_fake_fini(struct tui_fake *f)
{
	char path[128];

	for (size_t i = 0; i < f->answers.count; i++)
		if (f->answers.data[i].table)
			tui_fake_release(f, f->answers.data[i].table);
	vec_fini(&f->answers);
	experiment_fini(&f->x[0]);
	experiment_fini(&f->x[1]);
	snprintf(path, sizeof(path), "%s/app.c", f->directory);
	unlink(path);
	rmdir(f->directory);
	free(f->text);
}

/* Works until nothing is left to do; what a second view asks for is answered, too. */
static inline void tui_fake_run(struct tui *t)
{
	for (int i = 0; i < 2; i++)
		while (tui_work(t, UINT64_MAX))
			;
}

static inline void tui_fake_keys(struct tui *t, const char *keys)
{
	for (; *keys && !t->quit; keys++) {
		tui_key(t, *keys == '\n'     ? TUI_KEY_ENTER
			   : *keys == '\r'   ? TUI_KEY_RIGHT
			   : *keys == '\033' ? TUI_KEY_ESCAPE
					     : *keys);
		if (!t->quit)
			tui_fake_run(t);
	}
}

#endif
