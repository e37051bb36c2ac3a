/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks lib/image about a file: image_query [-option ...] FILE QUESTION [ARGUMENT]
 *   identify | symbols | complaint [A,...] | find NAME | symbol A | line A | inlines A | code A |
 *   data A
 *   turns A,B: lines of 200 addresses from A and 200 from B on, by turns: how many rows of tables
 * were decoded again for that
 *   each: for addresses from standard input, one line each: function, line; frames, innermost first
 *   every N: symbol, line and inlines of N addresses spread over all functions, and how long it
 * took A is an address in hex, or a name with +0xOFFSET behind it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "image/archive.h"
#include "image/debug.h"
#include "image/image.h"
#include "image/private.h"

static void show_line(const struct image_line *l)
{
	printf("%s:%u:%u%s", l->file ? l->file : "?", l->line, l->column,
		l->begins ? " begins" : "");
}

static int show_symbol(void *context, const struct image_symbol *s)
{
	(void)context;
	printf("%" PRIx64 " %" PRIu64 " %s%s%s%s\n", s->address, s->size, s->demangled,
		s->demangled == s->name ? "" : " = ", s->demangled == s->name ? "" : s->name,
		s->guessed ? " (guessed)" : "");
	return 0;
}

static uint64_t address_of(struct image *image, const char *text)
{
	const char *plus = strchr(text, '+');
	char *name = plus ? strndup(text, (size_t)(plus - text)) : strdup(text);
	const struct image_symbol *s = name ? image_symbol_find(image, name) : NULL;

	free(name);
	if (s)
		return s->address + (plus ? strtoull(plus + 1, NULL, 16) : 0);
	return strtoull(text, NULL, 16);
}

static int ask_symbol(struct image *image, const char *argument)
{
	const struct image_symbol *s = image_symbol_at(image, address_of(image, argument));

	return s ? show_symbol(NULL, s) : !!puts("none");
}

static int ask_line(struct image *image, const char *argument)
{
	struct image_line l;
	int failed = image_line_at(image, address_of(image, argument), &l);

	show_line(&l);
	return !!putchar('\n') && failed;
}

static int ask_turns(struct image *image, const char *argument)
{
	char *other = strdup(argument), *first = strsep(&other, ",");
	uint64_t from[2] = {address_of(image, first), address_of(image, other ? other : "")};
	unsigned known = 0;
	struct image_line l;

	free(first);
	for (unsigned i = 0; i < 400; i++)
		known += image_line_at(image, from[i % 2] + i / 2, &l) == 0;
	printf("%u lines, %zu rows again\n", known, image->debug ? image->debug->rows_again : 0);
	return 0;
}

static int ask_inlines(struct image *image, const char *argument)
{
	struct image_frame frames[64];
	size_t n = image_inlines_at(image, address_of(image, argument), frames, 64);

	for (size_t i = 0; i < n && i < 64; i++) {
		printf("%s at ", frames[i].name);
		show_line(&frames[i].line);
		putchar('\n');
	}
	return n == 0;
}

static int ask_code(struct image *image, const char *argument)
{
	uint8_t bytes[16];
	size_t n = image_code(image, address_of(image, argument), bytes, sizeof(bytes));

	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
	return n == 0;
}

/* A variable that has the byte at an address, where it is declared, and which part of it that is.
 */
static int ask_data(struct image *image, const char *argument)
{
	uint64_t address = strtoull(argument, NULL, 16);
	struct image_variable v;
	struct image_member m;
	struct image_line l;

	if (image_variable_at(image, address, &v))
		return !!puts("none");
	(void)image_variable_line(image, v.address, &l);
	(void)image_variable_member(image, v.address, address - v.address, 0, 0, &m);
	printf("%s ", v.name);
	show_line(&l);
	printf(" %s%s\n", m.structure ? m.structure : "", m.path);
	return 0;
}

static int ask_find(struct image *image, const char *name)
{
	const struct image_symbol *s = image_symbol_find(image, name);

	return s ? show_symbol(NULL, s) : !!puts("none");
}

static int ask_symbols(struct image *image, const char *argument)
{
	(void)argument;
	return image_symbols(image, show_symbol, NULL);
}

static int ask_complaint(struct image *image, const char *argument)
{
	char *words = strdup(argument), *word, *rest = words;
	struct image_frame frames[1];
	const char *text;

	while ((word = strsep(&rest, ",")))
		if (*word)
			(void)image_inlines_at(image, address_of(image, word), frames, 1);
	free(words);
	text = image_complaint(image);
	puts(text ? text : "none");
	return 0;
}

/* In the format of addr2line -a -f -i -C. */
static int ask_each(struct image *image, const char *argument)
{
	char text[64];

	(void)argument;
	while (scanf("%63s", text) == 1) {
		uint64_t address = strtoull(text, NULL, 16);
		struct image_frame frames[64];
		const struct image_symbol *s = image_symbol_at(image, address);
		struct image_line l;
		size_t n = image_inlines_at(image, address, frames, 64);

		image_line_at(image, address, &l);
		printf("0x%" PRIx64 "\n%s\n%s:%u\n", address,
			n   ? frames[0].name
			: s ? s->demangled
			    : "??",
			l.file ? l.file : "??", l.line);
		for (size_t i = 1; i < n && i < 64; i++)
			printf("%s\n%s:%u\n", frames[i].name,
				frames[i].line.file ? frames[i].line.file : "??",
				frames[i].line.line);
	}
	return 0;
}

struct spread {
	uint64_t *addresses;
	size_t count, wanted, seen, stride;
};

static int count_symbol(void *context, const struct image_symbol *s)
{
	struct spread *spread = context;

	(void)s;
	spread->seen++;
	return 0;
}

static int take_symbol(void *context, const struct image_symbol *s)
{
	struct spread *spread = context;

	if (spread->seen++ % spread->stride == 0 && spread->count < spread->wanted)
		spread->addresses[spread->count++] = s->address + s->size / 2;
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const char *what, double since, size_t known)
{
	double took = seconds() - since;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");

	printf("%-24s %8.3f s, %zu known", what, took, known);
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "RssAnon:", 8) == 0 || strncmp(line, "RssFile:", 8) == 0)
			printf(", %ld MB %s", strtol(line + 8, NULL, 10) / 1000,
				line[3] == 'A' ? "of memory" : "of files in memory");
	if (f)
		fclose(f);
	putchar('\n');
}

static int ask_every(struct image *image, const char *argument)
{
	struct spread s = {.wanted = strtoull(argument, NULL, 10)};
	double since = seconds();
	size_t known = 0;

	image_symbols(image, count_symbol, &s);
	report("all symbols, demangled", since, s.seen);
	s.stride = s.seen / (s.wanted ? s.wanted : 1) + !(s.seen / (s.wanted ? s.wanted : 1));
	s.seen = 0;
	s.addresses = calloc(s.wanted + 1, sizeof(*s.addresses));
	if (!s.addresses)
		return 1;
	image_symbols(image, take_symbol, &s);
	since = seconds();
	for (size_t i = 0; i < s.count; i++)
		known += image_symbol_at(image, s.addresses[i]) != NULL;
	report("symbols", since, known);
	since = seconds();
	known = 0;
	for (size_t i = 0; i < s.count; i++) {
		struct image_line l;

		known += image_line_at(image, s.addresses[i], &l) == 0;
	}
	report("lines", since, known);
	since = seconds();
	known = 0;
	for (size_t i = 0; i < s.count; i++) {
		struct image_frame frames[16];

		known += image_inlines_at(image, s.addresses[i], frames, 16) != 0;
	}
	report("inlined functions", since, known);
	free(s.addresses);
	return 0;
}

static const struct question {
	const char *name;
	int (*ask)(struct image *image, const char *argument);
} questions[] = {
	{"symbols", ask_symbols},
	{"complaint", ask_complaint},
	{"find", ask_find},
	{"symbol", ask_symbol},
	{"line", ask_line},
	{"turns", ask_turns},
	{"inlines", ask_inlines},
	{"code", ask_code},
	{"data", ask_data},
	{"each", ask_each},
	{"every", ask_every},
};

static int fail(const struct error *e)
{
	printf("error %d: %s\nhint: %s\n", (int)e->code, e->message, e->hint);
	return 2;
}

static size_t parse_hex(const char *text, uint8_t *bytes, size_t room)
{
	size_t n = 0;
	unsigned byte;

	for (; n < room && sscanf(text, "%2x", &byte) == 1; text += 2)
		bytes[n++] = (uint8_t)byte;
	return n;
}

static int identify(const char *path)
{
	uint8_t id[64];
	size_t length;
	uint64_t size, print;
	struct error e = {0};

	if (image_identify(path, id, &length, &size, &print, &e))
		return fail(&e);
	for (size_t i = 0; i < length; i++)
		printf("%02x", id[i]);
	printf(" %" PRIu64 " %" PRIx64 "\n", size, print);
	return 0;
}

int main(int argc, char **argv)
{
	const char *archives[2] = {NULL, NULL}, *add = NULL, *given = NULL;
	struct image_search where = {.archives = archives};
	struct image_identity id = {0};
	uint8_t build_id[64];
	struct image *image;
	struct error e = {0};
	int at = 1, status = 1;

	for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
		if (strcmp(argv[at], "-root") == 0)
			where.root = argv[at + 1];
		else if (strcmp(argv[at], "-debug") == 0)
			where.debug_directory = argv[at + 1];
		else if (strcmp(argv[at], "-archive") == 0)
			archives[0] = argv[at + 1];
		else if (strcmp(argv[at], "-add") == 0)
			add = argv[at + 1];
		else if (strcmp(argv[at], "-id") == 0)
			id.build_id_length =
				parse_hex(given = argv[at + 1], build_id, sizeof(build_id));
		else if (strcmp(argv[at], "-size") == 0)
			id.size = strtoull(argv[at + 1], NULL, 10);
		else if (strcmp(argv[at], "-fingerprint") == 0)
			id.fingerprint = strtoull(argv[at + 1], NULL, 16);
		else if (strcmp(argv[at], "-debuginfod") == 0)
			where.debuginfod = strcmp(argv[at + 1], "yes") == 0;
	}
	if (argc - at < 2)
		return 1;
	(void)given;
	id.path = argv[at];
	id.build_id = build_id;
	if (strcmp(argv[at + 1], "identify") == 0)
		return identify(id.path);
	if (add)
		return archive_add(add, &id, id.path, &e) ? fail(&e) : 0;
	image = image_open(&id, &where, &e);
	if (!image)
		return fail(&e);
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		if (strcmp(questions[i].name, argv[at + 1]) == 0)
			status = questions[i].ask(image, at + 2 < argc ? argv[at + 2] : "");
	image_close(image);
	return status;
}
