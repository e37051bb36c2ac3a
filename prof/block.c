/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof block: how many cycles basic blocks take on this machine. */
#include "block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/option.h"
#include "base/progress.h"
#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "machine/machine.h"
#include "prof.h"
#include "render/block.h"

struct block_request {
	const char *hex, *assembly, *file, *image, *address, *output, *experiment;
	unsigned long top;
	const char *core;
	bool loop, quick, unmeasured, inorder, cores, csv, json, help;
};

#define FIELD(field) .offset = offsetof(struct block_request, field)

const struct option_row block_options[] = {
	{"hex", "STRING", "the block's bytes in hexadecimal", OPTION_STRING, FIELD(hex)},
	{"asm", "TEXT", "the block in assembler, statements separated by ';' (needs as)",
		OPTION_STRING, FIELD(assembly)},
	{"file", "FILE", "a file of blocks, one per line in hexadecimal", OPTION_STRING,
		FIELD(file)},
	{"image", "ELF", "an executable or library, with -address", OPTION_STRING, FIELD(image)},
	{"address", "A[..B]", "with -image: the block from A up to B or to the first branch",
		OPTION_STRING, FIELD(address)},
	{"top", "N", "the N blocks of an experiment with most samples (10)", OPTION_COUNT,
		FIELD(top)},
	{"loop", NULL, "execute the block in a loop instead of unrolled", FIELD(loop)},
	{"quick", NULL, "several times faster, with wider intervals", FIELD(quick)},
	{"core", "CORE", "schedule for this core (default: that of this host), or none",
		OPTION_STRING, FIELD(core)},
	{"cores", NULL, "list the descriptions of cores", FIELD(cores)},
	{"static", NULL, "only the static schedule: nothing is run", FIELD(unmeasured)},
	{"inorder", NULL, "schedule as if the core issued strictly in order", FIELD(inorder)},
	{"csv", NULL, "comma-separated values", FIELD(csv)},
	{"json", NULL, "JSON, schema prof.block/1, one line per block", FIELD(json)},
	{"o", "FILE", "write to FILE", OPTION_STRING, FIELD(output)},
	{"help", NULL, "list the options", FIELD(help)},
	{.help = "prof block"},
};

static const char usage[] =
	"usage: prof block [options] [experiment-file]\n"
	"Measures how many cycles a basic block of x86-64 takes in its steady state.\n\n"
	"  prof block -hex 4801d8                 a block of one addition\n"
	"  prof block -loop -asm 'add %rax,%rbx'  the same, in a loop\n"
	"  prof block -top 5 FILE                 the hottest of an experiment\n\n";

static int check(struct block_request *r, int argc, char **argv, int rest, struct error *e)
{
	int sources = !!r->hex + !!r->assembly + !!r->file + !!r->image + (rest < argc);

	r->experiment = rest < argc ? argv[rest] : NULL;
	if (sources != 1) {
		error_set(e, ERR_CONFLICT,
			sources ? "give one source of blocks" : "no block to measure");
		return error_hint(e, "prof block -hex STRING, -asm TEXT, -file FILE, -image ELF "
				     "-address A..B, or an experiment file");
	}
	if (rest + 1 < argc)
		return error_set(e, ERR_CONFLICT, "give one experiment file");
	if (!!r->image != !!r->address)
		return error_set(e, ERR_CONFLICT, "-image and -address need each other");
	if (r->top && !r->experiment)
		return error_set(e, ERR_CONFLICT, "-top needs an experiment");
	if (r->csv && r->json)
		return error_set(e, ERR_CONFLICT, "-csv and -json exclude each other");
	return 0;
}

static int gather(const struct block_request *r, block_items *items, struct error *e)
{
	if (r->hex)
		return blocks_from_hex(items, r->hex, e);
	if (r->assembly)
		return blocks_from_asm(items, r->assembly, e);
	if (r->file)
		return blocks_from_file(items, r->file, e);
	if (r->image)
		return blocks_from_image(items, r->image, r->address, e);
	return blocks_from_experiment(items, r->experiment, r->top ? r->top : 10, e);
}

struct watched {
	struct progress progress;
	size_t count;
};

static int watch(void *context, size_t count)
{
	struct watched *w = context;
	char text[64];

	snprintf(text, sizeof(text), "%zu of %zu blocks", count, w->count);
	progress_step(&w->progress, (double)count / (double)w->count, text);
	return 0;
}

static int measure(const struct block_request *request, const block_items *items,
	struct block_result *results, struct error *e)
{
	const struct block_options options = {
		.mode = request->loop ? BLOCK_LOOPED : BLOCK_UNROLLED, .quick = request->quick};
	struct block *blocks = calloc(items->count, sizeof(*blocks));
	struct blockbench *bench = blocks ? blockbench_open(&options, e) : NULL;
	struct watched w = {.count = items->count};
	int rc = -1;

	if (!blocks)
		error_nomem(e);
	if (bench) {
		for (size_t i = 0; i < items->count; i++)
			blocks[i] = (struct block){items->data[i].bytes, items->data[i].length,
				items->data[i].address};
		progress_begin(&w.progress, isatty(STDERR_FILENO));
		rc = blockbench_measure(bench, blocks, items->count, results, watch, &w, e);
		progress_end(&w.progress);
	}
	/* Items without bytes were measured as empty; their own class is more exact. */
	for (size_t i = 0; rc == 0 && i < items->count; i++)
		if (items->data[i].class)
			results[i].class = items->data[i].class;
	blockbench_close(bench);
	free(blocks);
	return rc;
}

static const char *or_nothing(const char *text)
{
	return text ? text : "";
}

struct scheduler {
	struct core core;
	struct schedule_work *work; /* NULL: nothing is scheduled */
};

/* A missing description of this host's core is not an error, unless one was requested. */
static int scheduler_open(struct scheduler *s, const struct block_request *request, struct error *e)
{
	const char *name = request->core;
	struct machine machine;

	s->work = NULL;
	if (!name) {
		if (machine_find("host", &machine, e))
			return -1;
		name = machine.core;
		if (strcmp(name, "none") == 0 && !request->unmeasured) {
			say("no core description fits %s: blocks are measured, not scheduled",
				machine.name);
			return 0;
		}
	}
	if (strcmp(name, "none") == 0)
		return request->unmeasured
			       ? error_set(e, ERR_CONFLICT,
					 "-static needs a core: prof block -cores lists them")
			       : 0;
	if (core_find_x86(&s->core, name, e))
		return -1;
	s->work = schedule_work_new(e);
	if (!s->work)
		core_fini(&s->core);
	return s->work ? 0 : -1;
}

static void scheduler_close(struct scheduler *s)
{
	if (s->work)
		core_fini(&s->core);
	schedule_work_free(s->work);
	s->work = NULL;
}

/* NULL if it is not possible: the class has the reason. */
static const struct block_schedule *schedule(struct scheduler *s,
	const struct block_request *request, const struct block_item *item,
	struct block_schedule *to)
{
	const struct schedule_options options = {
		.loop = request->loop, .in_order = request->inorder};
	struct error e = {0};

	if (!s->work || !item->length ||
		block_schedule_make(to, &s->core, s->work, item->bytes, item->length, item->address,
			&options, &e))
		return NULL;
	return to;
}

struct drawing {
	const struct block_request *request;
	const block_items *items;
	const struct block_result *results;
	struct scheduler *scheduler;
};

static int draw(void *what, FILE *out, struct error *e)
{
	const struct drawing *g = what;
	const struct block_request *request = g->request;
	const block_items *items = g->items;
	enum block_mode mode = request->loop ? BLOCK_LOOPED : BLOCK_UNROLLED;
	bool table = items->count > 1 || request->experiment, functions = request->experiment;
	struct strbuf text = {0};

	(void)e;
	if (request->csv)
		render_blocks_csv_head(&text);
	else if (!request->json && table)
		render_blocks_head(&text, functions);
	for (size_t i = 0; i < items->count; i++) {
		const struct block_item *item = &items->data[i];
		struct block_row row = {.block = {item->bytes, item->length, item->address},
			.hex = or_nothing(item->hex),
			.where = or_nothing(item->where),
			.function = or_nothing(item->function),
			.share = item->share,
			.result = request->unmeasured ? NULL : &g->results[i]};
		struct block_schedule own = {0};

		row.schedule = schedule(g->scheduler, request, item, &own);

		if (request->json)
			render_block_json(&row, mode, out);
		else if (request->csv)
			render_blocks_csv(&row, &text);
		else if (table)
			render_blocks_line(&row, functions, &text);
		else
			render_block_text(&row, mode, &text);
		shown_write(out, &text);
		text.length = 0;
		block_schedule_fini(&own);
	}
	strbuf_fini(&text);
	return 0;
}

static int run(const struct block_request *request, bool *any, struct error *e)
{
	struct block_result *results = NULL;
	block_items items = {0};
	struct scheduler scheduler = {.work = NULL};
	int rc = gather(request, &items, e);

	if (rc == 0 && !items.count)
		rc = error_set(e, ERR_NOT_FOUND, "no block to measure");
	if (rc == 0) {
		results = calloc(items.count, sizeof(*results));
		rc = results ? 0 : error_nomem(e);
	}
	if (rc == 0)
		rc = scheduler_open(&scheduler, request, e);
	if (rc == 0 && !request->unmeasured)
		rc = measure(request, &items, results, e);
	if (rc == 0)
		rc = file_output(request->output, stdout, draw,
			&(struct drawing){request, &items, results, &scheduler}, e);
	for (size_t i = 0; rc == 0 && i < items.count; i++)
		*any = *any || request->unmeasured || results[i].class == BLOCK_OK;
	scheduler_close(&scheduler);
	free(results);
	block_items_fini(&items);
	return rc;
}

static void list_core(const char *name, void *context)
{
	struct sheet *rows = context;
	struct core core;
	struct error e = {0};

	if (core_find(&core, name, &e)) {
		say_error(&e);
		return;
	}
	sheet_text(rows, name);
	sheet_text(rows, core.description);
	sheet_bool(rows, core.x86);
	core_fini(&core);
}

static int list_cores(const struct block_request *r)
{
	static const char *const columns[] = {"core", "description", "x86", NULL};
	struct sheet rows = {.columns = columns};
	struct strbuf text = {0};
	struct error e = {0};
	int rc = core_walk(list_core, &rows, &e);

	if (rc == 0 && rows.failed)
		rc = error_nomem(&e);
	if (rc == 0 && r->json)
		rc = sheet_document("prof.cores/1", NULL, "cores", &rows, &text, &e);
	else if (rc == 0 && r->csv)
		sheet_csv(&rows, &text);
	for (size_t i = 0; i + 3 <= rows.cells.count && !r->json && !r->csv; i += 3)
		strbuf_printf(
			&text, "%-16s %s\n", rows.cells.data[i].text, rows.cells.data[i + 1].text);
	if (rc == 0)
		rc = shown_output(r->output, stdout, &text, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	sheet_fini(&rows);
	return rc ? EXIT_OURS : 0;
}

int do_block(int argc, char **argv)
{
	struct block_request request = {0};
	struct error e = {0};
	bool any = false;
	int rest = option_parse(block_options, &request, argc, argv, &e);

	if (rest >= 0 && request.help)
		return option_usage(usage, block_options, stdout);
	if (rest >= 0 && request.cores)
		return list_cores(&request);
	if (rest < 0 || check(&request, argc, argv, rest, &e) || run(&request, &any, &e))
		return say_failure(&e);
	return any ? 0 : EXIT_INCOMPLETE;
}
