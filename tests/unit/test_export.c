/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exports of a program with known names: what is inlined, what recurs deeply, what goes wrong; and
 * the progress that is shown meanwhile. */
#include "../tap.h"

#include <unistd.h>
#include <zlib.h>

#include "export/export.h"
#include "export/protobuf.h"
#include "prof_fake.h"

enum { MAIN = 0x1010, SEARCH = 0x1110, SEARCH_INLINED = 0x1190, COMPARE = 0x1210, SORT = 0x1310 };

struct run {
	struct experiment x;
	struct prof_input input;
	struct prof_request q;
	struct prof_data d;
	struct fake_names names;
};

static void begin(struct run *r)
{
	memset(r, 0, sizeof(*r));
	experiment_init(&r->x, NULL);
	fake_image(&r->x);
	fake_metric(&r->x, "time", -1, 1000000, METRIC_CLOCK | METRIC_STACKS, LABEL_MEASURED);
	r->input = (struct prof_input){.experiment = &r->x, .file = "app.usertime.1"};
	r->q = (struct prof_request){.inputs = &r->input, .count = 1};
}

static void end(struct run *r)
{
	experiment_fini(&r->x);
}

/* The export; yours to free, NULL with *e set. */
static char *export_text(struct run *r, const char *format, const char *const *metrics,
	size_t *length, struct error *e)
{
	const struct export_request want = {
		.creator = "test", .metrics = metrics, .progress = r->q.progress};
	const struct export_format *f = export_format_find(format, e);
	struct export_profile *x;
	char *text = NULL;
	FILE *out;

	if (!f || profile_data_init(&r->d, &r->q, e))
		return NULL;
	r->d.names = (struct prof_names){&fake_ops, &r->names};
	x = export_new(&r->d, &want, f, e);
	if (x) {
		out = open_memstream(&text, length);
		export_write(x, out, e);
		fclose(out);
	}
	export_free(x);
	profile_data_fini(&r->d);
	return text;
}

static void is_folded(struct run *r, const char *want, const char *name)
{
	struct error e = {0};
	size_t length;
	char *text = export_text(r, "folded", NULL, &length, &e);

	is_str(text, want, "%s %s", name, e.message);
	free(text);
}

static void test_inlined(void)
{
	struct run r;

	begin(&r);
	fake_samples(&r.x, 0, 0, 0, 5, PATH(MAIN));
	fake_samples(&r.x, 0, 0, 0, 7, PATH(MAIN, SEARCH));
	fake_samples(&r.x, 0, 0, 0, 2, PATH(MAIN + 4, SEARCH_INLINED));
	fake_samples(&r.x, 0, 0, 0, 3, PATH(MAIN, SEARCH_INLINED, SORT));
	is_folded(&r, "main 5\nmain;search 9\nmain;search;sort 3\n",
		"inlined functions are part of the real one, paths are of functions");
	r.q.inlines = true;
	is_folded(&r, "main 5\nmain;search 7\nmain;search;compare 2\nmain;search;compare;sort 3\n",
		"with -inlines they are frames");
	r.q.only = (const char *const[]){"compare", NULL};
	is_folded(&r, "main;search;compare 2\n", "and what -only means");
	end(&r);
}

/* A function that calls itself so often that nothing may be done by recursion of ours. */
static void test_deep(void)
{
	enum { DEPTH = 20000 };
	struct run r;
	long node = EXPERIMENT_ROOT;
	struct error e = {0};
	size_t length = 0;

	begin(&r);
	for (int i = 0; i < DEPTH; i++)
		node = experiment_node(&r.x, (uint32_t)node, 1, SORT);
	experiment_add(&r.x, 0, 0, 0, (uint32_t)node, 3);
	free(export_text(&r, "folded", NULL, &length, &e));
	is_int(length, (PROF_DEEP + 1) * 5 + 2, "the outermost names and the innermost");
	r.q.whole = true;
	for (const struct export_format *f = export_formats; f->name; f++) {
		char *text = export_text(&r, f->name, NULL, &length, &e);

		ok(text && length > 0, "%s: %d calls deep: %zu bytes %s", f->name, DEPTH, length,
			e.message);
		if (strcmp(f->name, "folded") == 0)
			is_int(length, DEPTH * 5 + 2, "a line of that many names");
		if (strcmp(f->name, "callgrind") == 0)
			ok(strstr(text, "calls=1 0x1300 49\n* * 3000000\n"),
				"the call that recurs counts once");
		free(text);
	}
	end(&r);
}

static void test_names(void)
{
	struct run r;
	struct error e = {0};
	size_t length;

	begin(&r);
	fake_metric(&r.x, "time", -1, 10, 0, LABEL_MODEL);
	fake_samples(&r.x, 0, 0, 0, 5, PATH(MAIN));
	fake_samples(&r.x, 1, 0, 0, 4, PATH(MAIN));
	{
		char *text = export_text(
			&r, "folded", (const char *const[]){"time.2", NULL}, &length, &e);

		is_str(text, "main 4\n", "two metrics of one name are told apart");
		free(text);
		text = export_text(&r, "json", (const char *const[]){"dsc", NULL}, &length, &e);
		ok(!text, "a metric that is not there");
		is_str(e.message, "the experiment has no metric 'dsc'", "says so");
		free(text);
	}
	r.names.state = PROF_IMAGE_REPLACED;
	is_folded(&r, "0x1010 [app] 5\n", "a replaced image has addresses");
	end(&r);
}

static void test_gzip_is_whole(void)
{
	struct run r;
	struct error e = {0};
	size_t length = 0;
	unsigned char raw[4096];
	char *text;
	z_stream z = {0};

	begin(&r);
	fake_samples(&r.x, 0, 0, 0, 5, PATH(MAIN));
	text = export_text(&r, "pprof", NULL, &length, &e);
	inflateInit2(&z, 16 + MAX_WBITS);
	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned)length;
	z.next_out = raw;
	z.avail_out = sizeof(raw);
	is_int(inflate(&z, Z_FINISH), Z_STREAM_END, "gzip, with its checksum");
	is_int(z.avail_in, 0, "and nothing behind it");
	is_int(raw[0], 1 << 3 | 2, "begins with a sample type");
	inflateEnd(&z);
	free(text);
	end(&r);
}

static void test_protobuf(void)
{
	struct strbuf s = {0};
	const uint64_t values[] = {0, 1, 300, UINT64_MAX};

	protobuf_integer(&s, 1, 150);
	is_int(s.length, 3, "a field and a varint");
	ok(memcmp(s.data, "\x08\x96\x01", 3) == 0, "of seven bits a byte");
	protobuf_integer(&s, 2, 0);
	is_int(s.length, 3, "0 is left out");
	s.length = 0;
	protobuf_packed(&s, 4, values, 4);
	is_int((unsigned char)s.data[1], 1 + 1 + 2 + 10, "packed: bytes");
	s.length = 0;
	protobuf_string(&s, 6,
		"a\xff"
		"b");
	ok(s.length == 8 && memcmp(s.data + 2,
				    "a\\xff"
				    "b",
				    6) == 0,
		"what is no UTF-8 is escaped");
	s.length = 0;
	protobuf_string(&s, 6, "");
	ok(s.length == 2 && s.data[1] == 0, "an empty text is there");
	strbuf_fini(&s);
}

/* As on a terminal, where the work has taken over a second already. */
static void test_progress(void)
{
	FILE *shown = tmpfile();
	int keep = dup(STDERR_FILENO);
	struct progress progress = {.enabled = true};
	struct error e = {0};
	char text[512] = "";
	struct run r;
	size_t length;

	begin(&r);
	fake_samples(&r.x, 0, 0, 0, 5, PATH(MAIN));
	r.q.progress = &progress;
	dup2(fileno(shown), STDERR_FILENO);
	free(export_text(&r, "json", NULL, &length, &e));
	progress_end(&progress);
	dup2(keep, STDERR_FILENO);
	close(keep);
	rewind(shown);
	ok(fread(text, 1, sizeof(text) - 1, shown) > 0, "something is shown");
	ok(strstr(text, "% adding samples up"), "what takes long says what it does");
	ok(!progress.drawn && strstr(text, "\r    "), "and leaves nothing");
	fclose(shown);
	end(&r);
}

int main(void)
{
	test_inlined();
	test_deep();
	test_names();
	test_gzip_is_whole();
	test_protobuf();
	test_progress();
	return done();
}
