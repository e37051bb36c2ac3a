/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Experiment files: what is written is read again, whatever order it came in; what is truncated or
 * corrupted is noticed; what makes no sense is refused. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include "../tap.h"
#include "experiment/dump.h"
#include "experiment/private.h"
#include "experiment_random.h"

static void test_round_trip(void)
{
	bool same = true, twice = true;
	size_t nodes = 0, samples = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct experiment x, y;
		struct error e = {0};
		size_t n = 0, m = 0;
		char *a, *b;

		random_experiment(&x, seed, (uint32_t)(seed * seed * 4));
		a = random_bytes(&x, &n);
		b = random_bytes(&x, &m);
		twice &= a && b && n == m && memcmp(a, b, n) == 0;
		free(b);
		if (experiment_parse(&y, a, n, NULL, &e)) {
			printf("# %s\n", e.message);
			same = false;
		} else {
			same &= x.samples.count == y.samples.count &&
				x.nodes.count == y.nodes.count && y.runs == 1 &&
				experiment_node(&y, 0, 0, 1) >= 0;
			experiment_fini(&y);
			experiment_parse(&y, a, n, NULL, &e);
			b = random_bytes(&y, &m);
			same &= n == m && memcmp(a, b, n) == 0;
			free(b);
			nodes += y.nodes.count;
			samples += y.samples.count;
			experiment_fini(&y);
		}
		experiment_fini(&x);
		free(a);
	}
	ok(twice, "an experiment is the same file each time");
	ok(same && nodes > 10000 && samples > 10000, "what is read is what was written");
}

static void test_copy(void)
{
	bool same = true;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct experiment x, copy;
		struct error e = {0};
		size_t n = 0, m = 0;
		char *a, *b;

		random_experiment(&x, seed, 40);
		x.folded.threads = x.data.lost = seed;
		same &= experiment_copy(&copy, &x, &e) == 0;
		b = random_bytes(&copy, &m);
		experiment_fini(&copy);
		a = random_bytes(&x, &n);
		experiment_fini(&x);
		same &= a && b && n == m && memcmp(a, b, n) == 0;
		free(a);
		free(b);
	}
	ok(same, "a copy has all that the experiment has");
}

/* The same content added in another order: addresses, threads, images. */
static char *either_way(bool reversed, size_t *size)
{
	char *bytes;
	static const char *const paths[] = {"/b", "/a", "/c"};
	struct experiment x;
	struct error e;

	experiment_init(&x, &e);
	for (int i = 0; i < 3; i++) {
		struct experiment_image image = {
			.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)paths[reversed ? 2 - i : i]};

		experiment_image(&x, &image, &e);
	}
	for (int i = 0; i < 2; i++)
		experiment_metric(&x, &random_metrics[reversed ? 1 - i : i], &e);
	experiment_metric(&x, &random_metrics[2], &e); /* behind what it belongs to, or not */
	if (reversed) {
		struct experiment_metric last = x.metrics.data[2];

		x.metrics.data[2] = x.metrics.data[1];
		x.metrics.data[1] = last;
	}
	for (int k = 0; k < 1000; k++) {
		int i = reversed ? 999 - k : k;
		uint32_t image = (uint32_t)(i % 3), metric = (uint32_t)(i % 2);
		long caller = experiment_node(&x, 0, reversed ? 3 - image : 1 + image, 7);
		long node = experiment_node(
			&x, (uint32_t)caller, reversed ? 1 + image : 3 - image, (uint64_t)i * 64);

		experiment_add(&x, reversed ? (metric ? 0 : 2) : metric, 0, 0, (uint32_t)node, 1);
		experiment_add(&x, reversed ? 1 : 2, 0, 0, (uint32_t)caller, 3);
	}
	bytes = random_bytes(&x, size);
	experiment_fini(&x);
	return bytes;
}

static void test_order(void)
{
	size_t n, m;
	char *a = either_way(false, &n), *b = either_way(true, &m);

	ok(n == m && memcmp(a, b, n) == 0, "content alone decides what is written");
	free(a);
	free(b);
}

/* Numbers of every length, at the end of a section and before others. */
static void test_numbers(void)
{
	size_t wrong = 0;

	for (int bits = 0; bits <= 64; bits++)
		for (int delta = -1; delta <= 1; delta++) {
			uint64_t v = (bits < 64 ? 1ull << bits : 0) + (uint64_t)delta;
			struct strbuf s = {0};
			struct cursor c;

			for (int after = 0; after < 12; after++) {
				s.length = 0;
				put_uint(&s, v);
				strbuf_repeat(&s, (char)0xff, (size_t)after);
				c = (struct cursor){.at = (uint8_t *)s.data};
				c.end = c.at + s.length;
				wrong += get_uint(&c) != v || c.bad || c.end - c.at != after;
			}
			s.length = 0;
			put_sint(&s, (int64_t)v);
			c = (struct cursor){.at = (uint8_t *)s.data};
			c.end = c.at + s.length;
			wrong += (uint64_t)unzigzag(get_uint(&c)) != v || c.at != c.end;
			c = (struct cursor){.at = (uint8_t *)s.data};
			c.end = c.at + s.length - 1;
			wrong += get_uint(&c) != 0 || !c.bad;
			strbuf_fini(&s);
		}
	is_int(wrong, 0, "numbers of all lengths");
}

static void test_size(void)
{
	struct experiment x;
	struct chance c = chance_seed(3);
	struct error e;
	size_t n, count;
	char *a;

	experiment_init(&x, &e);
	experiment_image(&x, &(struct experiment_image){.path = (char *)"/bin/x"}, &e);
	experiment_metric(&x, &random_metrics[0], &e);
	for (int i = 0; i < 50000; i++)
		experiment_add(&x, 0, 0, 0,
			(uint32_t)experiment_node(&x, 0, 1, 0x1000 + chance_below(&c, 4000000)),
			1 + chance_below(&c, 20));
	count = x.nodes.count;
	a = random_bytes(&x, &n);
	ok(n < 6 * count, "a program counter takes %.1f bytes, below 6", (double)n / (double)count);
	free(a);
	experiment_fini(&x);
}

static void test_truncated(void)
{
	struct experiment x, y;
	struct error e = {0};
	size_t n, whole = 0, partial = 0, refused = 0, wrong = 0, last = 0;
	char *a;

	random_experiment(&x, 5, 300);
	a = random_bytes(&x, &n);
	for (size_t size = 0; size < n; size++) {
		struct experiment_damage damage = {0};
		char *copy = malloc(size + 1); /* so that sanitizers see its end */

		memcpy(copy, a, size);
		if (experiment_parse(&y, copy, size, &damage, &e)) {
			refused++;
			wrong += e.message[0] == '\0';
		} else {
			if (damage.damaged)
				partial++;
			else
				whole++;
			wrong += y.samples.count < last || !damage.message[0];
			last = y.samples.count;
			experiment_fini(&y);
		}
		if (size % 7 == 0 && experiment_parse(&y, copy, size, NULL, &e) == 0)
			wrong++;
		free(copy);
	}
	ok(whole == 0 && partial > n / 2 && refused > 12 && wrong == 0 && last == x.samples.count,
		"a truncated file is read up to its last whole section, and it is said");
	free(a);
	experiment_fini(&x);
}

static void test_corrupted(void)
{
	struct experiment x, y;
	struct error e = {0};
	size_t n, unnoticed = 0;
	char *a;

	random_experiment(&x, 6, 200);
	a = random_bytes(&x, &n);
	for (size_t i = 0; i < n; i++)
		for (int bit = 0; bit < 8; bit += 3) {
			struct experiment_damage damage = {0};

			a[i] ^= (char)(1 << bit);
			if (experiment_parse(&y, a, n, &damage, &e) == 0) {
				/* The minor version says nothing. */
				unnoticed += !damage.damaged && i != 10 && i != 11;
				experiment_fini(&y);
			}
			a[i] ^= (char)(1 << bit);
		}
	is_int(unnoticed, 0, "no wrong bit goes unnoticed");
	ok(experiment_parse(&y, a, n, NULL, &e) == 0, "and without them it is whole");
	experiment_fini(&y);
	free(a);
	experiment_fini(&x);
}

/* ---- files made by hand ---- */

static void begin_file(struct strbuf *out, unsigned major)
{
	char version[4] = {(char)major, (char)(major >> 8), 0, 0};

	strbuf_add(out, CODING_MAGIC, 8);
	strbuf_add(out, version, 4);
}

static void section(struct strbuf *out, const char *type, const void *data, size_t length)
{
	uint8_t head[12];
	uLong sum;

	memcpy(head, type, 4);
	put_fixed(head + 4, length, 4);
	sum = crc32(crc32(0, NULL, 0), head, 8);
	if (length)
		sum = crc32(sum, data, (uInt)length);
	put_fixed(head + 8, sum, 4);
	strbuf_add(out, (const char *)head, 12);
	if (length)
		strbuf_add(out, data, length);
}

#define RUN "\x01t\0\0\1\1\0\0\0\0\0\0"

static int parse(struct strbuf *out, struct experiment *x, struct error *e)
{
	memset(e, 0, sizeof(*e));
	return experiment_parse(x, out->data, out->length, NULL, e);
}

/* Is a file with this section refused? */
static bool refused(const char *type, const char *data, size_t length)
{
	/* one metric, one image */
	static const char metric[] = "\x13\1\1a\1a\1u\1s\0\1\0\0\1\0\0\0\0\0",
			  image[] = "\7\1\1p\0\0\0\0";
	struct strbuf out = {0};
	struct experiment x;
	struct error e;
	bool bad;

	begin_file(&out, 1);
	section(&out, "RUN ", RUN, sizeof(RUN) - 1);
	if (strcmp(type, "IMAG") != 0 && strcmp(type, "FACT") != 0)
		section(&out, "IMAG", image, sizeof(image) - 1);
	if (strcmp(type, "IMAG") != 0 && strcmp(type, "FACT") != 0)
		section(&out, "METR", metric, sizeof(metric) - 1);
	section(&out, type, data, length);
	bad = experiment_parse(&x, out.data, out.length, &(struct experiment_damage){0}, &e);
	if (bad && (!strstr(e.message, "makes no sense") || !strstr(e.message, type))) {
		bad = false;
	}
	if (!bad)
		experiment_fini(&x);
	strbuf_fini(&out);
	return bad;
}

#define REFUSED(type, data) refused(type, data, sizeof(data) - 1)
#define ONE                 "\0\0\0\0\0\0\xf0\x3f" /* a number of eight bytes */

static void test_versions(void)
{
	struct strbuf out = {0};
	struct experiment x;
	struct error e;

	begin_file(&out, 1);
	section(&out, "RUN ", RUN "later fields", sizeof(RUN "later fields") - 1);
	section(&out, "NEWS", "whatever", 8);
	section(&out, "FACT", "\7\1k\1v\0zz", 8);
	section(&out, "END ", "\3more", 5);
	ok(parse(&out, &x, &e) == 0, "sections and fields of later versions are passed over");
	is_str(experiment_fact_find(&x, "k"), "v", "and what is known is read");
	is_str(x.type, "t", "type");
	experiment_fini(&x);
	section(&out, "NEWS", "", 0);
	ok(parse(&out, &x, &e) && strstr(e.message, "12 bytes after its end"),
		"nothing may follow the end");
	strbuf_fini(&out);
	begin_file(&out, 2);
	ok(parse(&out, &x, &e) && e.code == ERR_UNSUPPORTED && strstr(e.message, "version 2.0"),
		"a later version of the whole is refused: %s", e.message);
	strbuf_fini(&out);
	strbuf_puts(&out, "#!/bin/sh\necho something else\n");
	ok(parse(&out, &x, &e) && strstr(e.message, "not an experiment file"), "%s", e.message);
	ok(!experiment_is_file(out.data, out.length), "experiment_is_file says so, too");
	strbuf_fini(&out);
}

static void test_nonsense(void)
{
	ok(!refused("PHAS", "", 0), "an empty section is none");
	ok(!REFUSED("NODE", "\x01\x01\x02"), "a node");
	ok(REFUSED("NODE", "\x01\x02\x02"), "a node of an image that is not there");
	ok(REFUSED("NODE", "\x03\x01\x02"), "a node that is its own parent");
	ok(REFUSED("NODE", "\x01\x01\x02\x00"), "a node twice");
	ok(REFUSED("NODE", "\x01\x01"), "half a node");
	ok(REFUSED("NODE", "\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "65 bits");
	ok(!REFUSED("SAMP", "\x00\x00\x00\x01\x00"), "samples of the root");
	ok(REFUSED("SAMP", "\x01\x00\x00\x01\x00"), "samples of no metric");
	ok(REFUSED("SAMP", "\x00\x01\x00\x01\x00"), "samples of no thread");
	ok(REFUSED("SAMP", "\x00\x00\x01\x01\x00"), "samples of no phase");
	ok(REFUSED("SAMP", "\x00\x00\x00\x01\x02"), "samples of no node");
	ok(REFUSED("SAMP", "\x00\x00\x00\x01\x01\x00"), "samples that are none");
	ok(REFUSED("SAMP", "\x00\x00\x00\xff\xff\xff\xff\x0f\x00"),
		"four billion samples announced");
	ok(REFUSED("SAMP", "\x00\x00\x00\x01\x00\x00\x00\x00\x01\x00"), "a histogram twice");
	ok(REFUSED("FACT", "\x7f"), "a record longer than its section");
	ok(REFUSED("FACT", "\x05\xff\xff\xff\xff\x0f"), "a text of four billion bytes");
	ok(REFUSED("FACT", "\x05\x02k\0\1v"), "a text with a zero in it");
	ok(REFUSED("FACT", "\5\1k\1v\0\5\1k\1v\0"), "a fact twice");
	ok(REFUSED("IMAG", "\7\1\1p\0\0\0\0\7\1\1p\0\0\0\0"), "an image twice");
	ok(REFUSED("IMAG", "\7\x09\1p\0\0\0\0"), "an image of no kind");
	ok(REFUSED("THRD", "\3\1\2\0"), "a thread of no process");
	ok(REFUSED("SYMB", "\x02\x02\x01\x01"
			   "a"),
		"a symbol of no image");
	ok(!REFUSED("SYMB", "\x01\x02\x01\x01"
			    "a"
			    "\x00\x02\x01\x01"
			    "b"),
		"symbols");
	ok(REFUSED("SYMB", "\x01\x02\x01\x01"
			   "a"
			   "\x00\x00\x01\x01"
			   "b"),
		"a symbol twice");
	ok(REFUSED("EDGE", "\x02\x02\x01\x01\x01\x00\x01"), "an edge of no image");
	ok(REFUSED("EDGE", "\x01\x02\x01\x01\x01\x00\x00"), "an edge never taken");
	ok(!REFUSED("BRUN", "\1\x20\x08\0\x10\3\1\x10\x08\1\x10\1"), "branch records");
	ok(!REFUSED("BRRA", "\1\x20\x08\0\x10\3\2" ONE ONE), "with rates");
	ok(REFUSED("BRRA", "\1\x20\x08\0\x10\3\2" ONE "\0\0\0\0\0\0\xf0\xbf"), "less than no rate");
	ok(REFUSED("BRRA", "\1\x20\x08\0\x10\3\2" ONE "\0\0\0\0\0\0\xf0\x7f"), "no end of a rate");
	ok(REFUSED("BRRA", "\1\x20\x08\0\x10\3\2" ONE "\0\0\0"), "half a rate");
	ok(REFUSED("BRUN", "\2\x20\x08\0\x10\3"), "a run of no image");
	ok(REFUSED("BRUN", "\1\x20\x08\2\x10\3"), "a run to no image");
	ok(REFUSED("BRUN", "\1\x20\x08\0\x10\0"), "a run never seen");
	ok(REFUSED("BRUN", "\1\x20\x08\0\x10\3\1\0\x08\0\x10\3"), "a run twice");
	ok(REFUSED("BRUN", "\1\x20\x08\0"), "half a run");
	ok(REFUSED("BRAT", "\1\x20\5\x50\0"), "a rate of no window");
	ok(REFUSED("BTAL", "\1\5\0\5"), "tallies out of order");
	ok(!REFUSED("WAIT", "\1\x20\6\x80\x20"), "a modelled wait");
	ok(REFUSED("WAIT", "\1\x20\6\0"), "a wait of no time");
	ok(REFUSED("WAIT", "\1\x20\6\1\1\0\5\1"), "waits out of order");
	ok(!REFUSED("OBST", "\4\1\x20\7\4read\6pipe 1"), "an obstacle");
	ok(REFUSED("OBST", "\4\2\x20\7\4read\6pipe 1"), "an obstacle in no image");
	ok(REFUSED("OBST", "\4\1\x20\7\4read\7pipe 1"), "half an obstacle");
	ok(REFUSED("OBST", "\4\1\x20\7\1r\1p\4\1\x20\7\1r\1q"), "an obstacle twice");
	ok(!REFUSED("PAUS", "\0\0\0\0\1\0\0\1\x20\x20"), "a pause");
	ok(REFUSED("PAUS", "\1\0\0\0\1\0\0\1\x20\x20"), "a pause at no obstacle");
	ok(REFUSED("PAUS", "\0\1\0\0\1\0\0\1\x20\x20"), "a pause of no thread");
	ok(REFUSED("PAUS", "\0\0\0\0\1\1\0\1\x20\x20"), "a pause ended by no thread");
	ok(REFUSED("PAUS", "\0\0\0\0\1\0\0\1\0\x20"), "a pause of no time");
	ok(!REFUSED("VSIT", "\1\x20\1\0\0\x9\3\x9\0\0\2\1\5\6\7\7\5"), "a site of values");
	ok(REFUSED("VSIT", "\1\x20\1\0\0\x9\3\x9\0\0\2\1\5\6\7\7\x81\2"), "a cut of no grade");
	ok(REFUSED("VSIT", "\2\x20\1\0\0\x9\3\x9\0\0\2\1\5\6\7\7\5"), "a site of no image");
	ok(REFUSED("VSIT", "\1\x20\1\0\0\x9\3"), "half a site");
	ok(REFUSED("VALU", "\0\0\7\1\1\1\1\1"), "a value of no site");
	ok(REFUSED("RUN ", RUN), "two runs");
	ok(REFUSED("END ", "\x07"), "an end that knows of more sections");
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif

/* As many records as fit into a megabyte, each as small as it can be, in an address space that is
 * not much larger. */
static void test_memory(void)
{
	static const struct {
		const char *type, *record;
		size_t length;
	} cases[] = {{"IMAG", "\0", 1}, {"PROC", "\7\0\0\0\0\0\0\0", 8}, {"NODE", "\2", 1},
		{"THRD", "\3\0\0\0", 4}, {"SAMP", "\0\0\0\1\0", 5}};
	struct rlimit old, limit;
	bool good = true;

	getrlimit(RLIMIT_AS, &old);
	limit = (struct rlimit){1u << 28, old.rlim_max};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf out = {0}, data = {0};
		struct experiment_damage damage;
		struct experiment x;
		struct error e = {0};

		while (data.length < 1u << 20)
			strbuf_add(&data, cases[i].record, cases[i].length);
		begin_file(&out, 1);
		section(&out, "RUN ", RUN, sizeof(RUN) - 1);
		section(&out, cases[i].type, data.data, data.length);
		strbuf_fini(&data);
#ifndef SANITIZED
		setrlimit(RLIMIT_AS, &limit);
#endif
		if (experiment_parse(&x, out.data, out.length, &damage, &e) == 0)
			experiment_fini(&x);
		good &= e.code != ERR_NOMEM;
		setrlimit(RLIMIT_AS, &old);
		strbuf_fini(&out);
	}
	(void)limit;
	ok(good, "a megabyte of hostile rows fits into 256 MiB");
}

static void test_files(void)
{
	char path[] = "/tmp/test_experiment.XXXXXX", full[] = "/dev/full";
	struct experiment x, y;
	struct error e = {0};
	int fd = mkstemp(path);

	close(fd);
	random_experiment(&x, 9, 3000);
	ok(experiment_write(&x, path, &e) == 0 && experiment_read(&y, path, NULL, &e) == 0,
		"through a file");
	is_int(y.samples.count, x.samples.count, "all samples");
	experiment_fini(&y);
	ok(truncate(path, 2000) == 0 && experiment_read(&y, path, NULL, &e) &&
			strstr(e.message, path) && strstr(e.message, "truncated"),
		"%s", e.message);
	unlink(path);
	ok(experiment_read(&y, path, NULL, &e) && e.code == ERR_NOT_FOUND, "%s", e.message);
	ok(experiment_write(&x, "/nowhere/x", &e) && e.code == ERR_NOT_FOUND, "%s", e.message);
	ok(experiment_write(&x, full, &e) && strstr(e.message, "No space left"), "%s", e.message);
	experiment_fini(&x);
}

static char *dump(const struct experiment *x, unsigned flags)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	experiment_dump(x, flags, out);
	fclose(out);
	return text;
}

/* The same run again: at another time, with other numbers of processes. */
static void test_dump(void)
{
	char *loud[2], *quiet[2];

	for (int again = 0; again < 2; again++) {
		struct experiment x;
		struct error e;

		random_experiment(&x, 4, 60);
		experiment_fact(&x, "host", again ? "here" : "there", &e);
		experiment_fact(&x, "note", "say \"\\a\nb\"", &e);
		x.began += again;
		x.elapsed += 7 * again;
		x.metrics.data[0].lost += again;
		for (size_t i = 1; i < x.processes.count; i++)
			x.processes.data[i].pid += again;
		for (size_t i = 1; i < x.threads.count; i++)
			x.threads.data[i].tid += 3 * again;
		for (size_t i = 1; i < x.phases.count; i++)
			x.phases.data[i].time += 5 * again;
		experiment_settle(&x, &e);
		loud[again] = dump(&x, 0);
		quiet[again] = dump(&x, DUMP_QUIET);
		experiment_fini(&x);
	}
	ok(strcmp(loud[0], loud[1]) != 0, "two runs differ");
	is_str(quiet[0], quiet[1], "but not when what changes from run to run is left out");
	ok(strstr(loud[0], "fact \"note\" \"say \\\"\\\\a\\x0ab\\\"\"\n") != NULL, "quotes");
	ok(strstr(quiet[0], " pid ") == NULL && strstr(quiet[0], "host") == NULL &&
			strstr(quiet[0], "sample metric") != NULL,
		"samples stay");
	for (int i = 0; i < 2; i++) {
		free(loud[i]);
		free(quiet[i]);
	}
}

static uint32_t add_image(struct experiment *x, const char *path)
{
	const struct experiment_image image = {
		.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)(uintptr_t)path};

	return (uint32_t)experiment_image(x, &image, NULL);
}

static void test_unused(void)
{
	struct experiment x;
	uint32_t images[3], caller, node;
	struct experiment_edge edge = {.count = 1};

	experiment_init(&x, NULL);
	for (int i = 0; i < 3; i++)
		images[i] = add_image(&x, (const char *[]){"/unused", "/path", "/edge"}[i]);
	experiment_node(&x, 0, images[0], 1);
	caller = (uint32_t)experiment_node(&x, 0, images[1], 2);
	experiment_node(&x, caller, images[0], 3);
	node = (uint32_t)experiment_node(&x, caller, images[1], 4);
	experiment_add(&x, 0, 0, 0, node, 5);
	edge.key.to_image = images[2];
	experiment_row(&x, EXPERIMENT_EDGES, &edge);
	is_int(experiment_drop_unused(&x, NULL), 0, "what nothing refers to is removed");
	is_int(x.nodes.count, 3, "nodes, but not those that lead to samples");
	is_int(experiment_node_at(&x, experiment_sample_at(&x, 0)->key.node)->key.address, 4,
		"samples keep their node");
	is_int(experiment_node_at(&x, 2)->key.parent, 1, "and that one its caller");
	is_int(x.images.count, 3, "images");
	is_str(x.images.data[experiment_node_at(&x, 1)->key.image].path, "/path", "of nodes");
	is_str(x.images.data[((struct experiment_edge *)table_at(&x.edges, 0))->key.to_image].path,
		"/edge", "and of other rows");
	experiment_fini(&x);
}

int main(void)
{
	test_round_trip();
	test_copy();
	test_order();
	test_numbers();
	test_size();
	test_truncated();
	test_corrupted();
	test_versions();
	test_nonsense();
	test_memory();
	test_files();
	test_dump();
	test_unused();
	return done();
}
