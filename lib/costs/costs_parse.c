/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of cost tables, perfex-costs(5): line based, one pass, without side effects but the
 * table, which is written only if the whole text is right.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "costs/costs.h"

#define NS_MAX    1e12 /* a quarter of an hour: more is a typing error */
#define CLOCK_MAX 1e12

struct word {
	const char *text;
	size_t length;
};

enum header {
	HEADER_NAME,
	HEADER_PROCESSOR,
	HEADER_CLOCK,
	HEADER_DATE,
	HEADER_METHOD,
	HEADER_COUNT
};
static const char *const header_name[HEADER_COUNT] = {
	[HEADER_NAME] = "name",
	[HEADER_PROCESSOR] = "processor",
	[HEADER_CLOCK] = "clock",
	[HEADER_DATE] = "date",
	[HEADER_METHOD] = "method",
};

struct parser {
	const char *name;     /* name of the text in errors */
	const char *line;     /* start of the current line */
	const char *at, *end; /* the rest of it */
	unsigned number;      /* of the line */
	unsigned event_line[EVENT_LIMIT], header_line[HEADER_COUNT]; /* where first given; 0: not */
	bool described[COST_SOURCES_MAX];                            /* by this text */
	struct cost_table *t;
	struct error *e;
};

/* An error at `where` in the current line. */
__attribute__((format(printf, 3, 4))) static int fail(
	struct parser *p, const char *where, const char *format, ...)
{
	char message[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	return error_set(p->e, ERR_PARSE, "%s:%u:%zu: %s", p->name, p->number,
		(size_t)(where - p->line) + 1, message);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word of the line; length 0 at its end or before a comment. */
static struct word next_word(struct parser *p)
{
	struct word w;

	while (p->at < p->end && is_blank(*p->at))
		p->at++;
	w.text = p->at;
	if (p->at < p->end && *p->at == '#')
		p->at = p->end;
	else
		while (p->at < p->end && !is_blank(*p->at))
			p->at++;
	w.length = *w.text == '#' ? 0 : (size_t)(p->at - w.text);
	return w;
}

static bool word_is(struct word w, const char *text)
{
	return strlen(text) == w.length && memcmp(w.text, text, w.length) == 0;
}

/* For messages: words may be of any length and hold any byte. */
static const char *costs_shown(struct word w, char *buffer, size_t size)
{
	size_t n = w.length < size - 1 ? w.length : size - 1;

	for (size_t i = 0; i < n; i++)
		buffer[i] = w.text[i] >= ' ' && w.text[i] < 127 ? w.text[i] : '?';
	buffer[n] = '\0';
	return buffer;
}

/* A plain decimal number in [0, limit]: no signs, infinities, NaN or hexadecimal. */
static int costs_parse_number(
	struct parser *p, struct word w, const char *what, double limit, double *value)
{
	char text[64], *end;

	if (w.length == 0) {
		fail(p, w.text, "missing %s", what);
		return error_hint(p->e, "a row is: EVENT typical minimum maximum cycles|ns");
	}
	costs_shown(w, text, sizeof(text));
	if (text[0] == '-')
		return fail(p, w.text, "the %s '%s' is negative", what, text);
	if (w.length >= sizeof(text) || strspn(text, "0123456789.eE+-") != w.length ||
		(text[0] != '.' && (text[0] < '0' || text[0] > '9')))
		return fail(p, w.text, "'%s' is not a number: expected the %s", text, what);
	*value = strtod(text, &end);
	if (*end)
		return fail(p, w.text, "'%s' is not a number: expected the %s", text, what);
	if (!(*value <= limit))
		return fail(p, w.text, "the %s %s is above the maximum %g", what, text, limit);
	return 0;
}

static int unknown_event(struct parser *p, struct word w)
{
	char name[64];
	struct nearest near;
	size_t count;
	const struct event *table = event_table(&count);

	nearest_init(&near, costs_shown(w, name, sizeof(name)));
	for (size_t i = 0; i < count; i++)
		nearest_offer(&near, table[i].short_name);
	for (int i = 0; i < HEADER_COUNT; i++)
		nearest_offer(&near, header_name[i]);
	fail(p, w.text, "unknown event '%s'", name);
	return nearest_hint(&near, p->e, "perfex -list lists the events");
}

/* The number of the event with this number or short name; -1 with the error set. */
static int parse_event(struct parser *p, struct word w)
{
	size_t count;
	const struct event *table = event_table(&count);
	int number = 0;

	for (size_t i = 0; i < count; i++)
		if (word_is(w, table[i].short_name))
			return table[i].number;
	for (size_t i = 0; i < w.length; i++) {
		if (w.text[i] < '0' || w.text[i] > '9' || i > 3)
			return unknown_event(p, w);
		number = number * 10 + (w.text[i] - '0');
	}
	return number < EVENT_LIMIT && event_by_number(number) ? number : unknown_event(p, w);
}

/* The rest of the line, trimmed, into one of the table's texts. */
static int parse_text(struct parser *p, const char *what, char *out, size_t size)
{
	const char *begin = p->at, *end = p->end;

	while (begin < end && is_blank(*begin))
		begin++;
	while (end > begin && is_blank(end[-1]))
		end--;
	if (begin == end)
		return fail(p, begin, "the %s is missing", what);
	if ((size_t)(end - begin) >= size)
		return fail(p, begin, "the %s is longer than %zu bytes", what, size - 1);
	memcpy(out, begin, (size_t)(end - begin));
	out[end - begin] = '\0';
	return 0;
}

/* One tag for all figures, or one for each, with slashes between. Without any, none is stated. */
static int parse_sources(struct parser *p, struct word w, struct cost *cost)
{
	const char *at = w.text, *end = w.text + w.length;
	char shown[32];
	int n = 0, from;

	for (; w.length && n < COST_FIGURES && at <= end; n++) {
		size_t length = 0;

		while (at + length < end && at[length] != '/')
			length++;
		from = cost_source_number(p->t, at, length);
		if (from < 0) {
			fail(p, at, "the source '%s' is no tag",
				costs_shown((struct word){at, length}, shown, sizeof(shown)));
			return error_hint(p->e, "take guess, measured, or a tag of up to 15 "
						"letters, with a line 'source TAG text'");
		}
		cost->from[n] = (uint8_t)from;
		at += length + 1;
	}
	if (at <= end && w.length)
		return fail(p, at, "more than three sources");
	if (n == 2)
		return fail(p, w.text, "two sources: give one, or typical/minimum/maximum");
	if (n == 1)
		cost->from[COST_MINIMUM] = cost->from[COST_MAXIMUM] = cost->from[COST_TYPICAL];
	return 0;
}

/* source TAG text */
static int parse_source(struct parser *p)
{
	struct word tag = next_word(p);
	int number = cost_source_number(p->t, tag.text, tag.length);

	if (number < COST_FROM_SOURCE) {
		fail(p, tag.text, "a source needs a tag of its own, and a text");
		return error_hint(p->e, "write it as in: source guide Optimization Guide, 57647");
	}
	number -= COST_FROM_SOURCE;
	if (p->described[number])
		return fail(p, tag.text, "a second source '%s'", p->t->source[number].tag);
	p->described[number] = true;
	return parse_text(p, "text of the source", p->t->source[number].text,
		sizeof(p->t->source[number].text));
}

static int parse_row(struct parser *p, struct word event)
{
	static const char *const column[] = {"typical cost", "minimum cost", "maximum cost"};
	struct cost cost = {.known = true};
	struct word word[3], unit, more;
	double value[3];
	int number = parse_event(p, event);

	if (number < 0)
		return -1;
	if (p->event_line[number])
		return fail(p, event.text,
			"a second row for event %d (%s); the first is in line %u", number,
			event_by_number(number)->short_name, p->event_line[number]);
	for (int i = 0; i < 3; i++) {
		word[i] = next_word(p);
		if (costs_parse_number(p, word[i], column[i], NS_MAX, &value[i]))
			return -1;
	}
	cost.typical = value[0];
	cost.minimum = value[1];
	cost.maximum = value[2];
	if (cost.minimum > cost.typical)
		return fail(p, word[1].text, "the minimum cost %g is above the typical cost %g",
			cost.minimum, cost.typical);
	if (cost.maximum < cost.typical)
		return fail(p, word[2].text, "the maximum cost %g is below the typical cost %g",
			cost.maximum, cost.typical);
	unit = next_word(p);
	if (unit.length == 0) {
		fail(p, unit.text, "missing unit");
		return error_hint(p->e, "end the row with 'cycles' or 'ns'");
	}
	if (word_is(unit, "ns")) {
		cost.unit = COST_NS;
	} else if (!word_is(unit, "cycles")) {
		char text[32];

		return fail(
			p, unit.text, "unknown unit '%s'", costs_shown(unit, text, sizeof(text)));
	}
	if (parse_sources(p, next_word(p), &cost))
		return -1;
	more = next_word(p);
	if (more.length)
		return fail(
			p, more.text, "unexpected words after the row: comments begin with '#'");
	p->event_line[number] = p->number;
	p->t->cost[number] = cost;
	return 0;
}

static int parse_clock(struct parser *p)
{
	static const struct {
		const char *name;
		double hz;
	} unit[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
	struct word number = next_word(p), word, more;
	double value;

	if (costs_parse_number(p, number, "clock rate", CLOCK_MAX, &value))
		return error_hint(p->e, "write it as in: clock 2600 MHz");
	word = next_word(p);
	more = next_word(p);
	if (more.length)
		return fail(p, more.text,
			"unexpected words after the clock: write it as in clock 2600 MHz");
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (!word_is(word, unit[i].name))
			continue;
		value *= unit[i].hz;
		if (!(value > 0) || value > CLOCK_MAX)
			return fail(p, number.text, "%g Hz is not a processor's clock", value);
		p->t->clock_hz = value;
		return 0;
	}
	fail(p, word.text, "missing or unknown unit of the clock");
	return error_hint(p->e, "write Hz, kHz, MHz or GHz, as in: clock 2600 MHz");
}

static int parse_date(struct parser *p)
{
	static const char shape[] = "dddd-dd-dd";
	char *date = p->t->date;
	const char *begin;

	while (p->at < p->end && is_blank(*p->at))
		p->at++;
	begin = p->at;
	if (parse_text(p, "date", date, sizeof(p->t->date)))
		return -1;
	for (size_t i = 0; i < sizeof(shape); i++)
		if (shape[i] == 'd' ? date[i] < '0' || date[i] > '9' : date[i] != shape[i])
			return fail(p, begin, "a date is YYYY-MM-DD");
	return 0;
}

static int parse_name(struct parser *p)
{
	struct word w = next_word(p), more = next_word(p);

	if (more.length)
		return fail(p, more.text, "a name is one word");
	p->at = w.text;
	p->end = w.text + w.length;
	return parse_text(p, "name", p->t->name, sizeof(p->t->name));
}

static int parse_header(struct parser *p, enum header header, const char *where)
{
	if (p->header_line[header])
		return fail(p, where, "a second '%s'; the first is in line %u", header_name[header],
			p->header_line[header]);
	p->header_line[header] = p->number;
	switch (header) {
	case HEADER_NAME:
		return parse_name(p);
	case HEADER_PROCESSOR:
		return parse_text(p, "processor", p->t->processor, sizeof(p->t->processor));
	case HEADER_CLOCK:
		return parse_clock(p);
	case HEADER_DATE:
		return parse_date(p);
	default:
		return parse_text(p, "method", p->t->method, sizeof(p->t->method));
	}
}

static int parse_line(struct parser *p)
{
	struct word w;

	for (const char *c = p->at; c < p->end; c++)
		if ((unsigned char)*c < ' ' && *c != '\t')
			return fail(p, c, "a control character: cost tables are plain text");
	w = next_word(p);
	if (w.length == 0)
		return 0;
	if (word_is(w, "source"))
		return parse_source(p);
	for (int i = 0; i < HEADER_COUNT; i++)
		if (word_is(w, header_name[i]))
			return parse_header(p, i, w.text);
	return parse_row(p, w);
}

/* Adds a file to the list of t's files; names that do not fit are left out. */
static void add_origin(struct cost_table *t, const char *name)
{
	size_t n = strlen(t->origin);

	if (n + strlen(name) + 3 < sizeof(t->origin))
		snprintf(t->origin + n, sizeof(t->origin) - n, "%s%s", n ? ", " : "", name);
}

int costs_parse(
	const char *text, size_t length, const char *name, struct cost_table *t, struct error *e)
{
	struct cost_table parsed = *t;
	struct parser p = {.name = name, .t = &parsed, .e = e};
	const char *end = text + length, *at = text;
	char line[1024];

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((newline ? newline : end) - at);

		p.number++;
		p.line = line;
		if (n >= sizeof(line))
			return fail(&p, line + sizeof(line) - 1,
				"a line of more than %zu bytes: is this a cost table?",
				sizeof(line) - 1);
		memcpy(line, at, n);
		if (n > 0 && line[n - 1] == '\r') /* edited elsewhere */
			n--;
		line[n] = '\0';
		p.at = line;
		p.end = line + n;
		if (parse_line(&p))
			return -1;
		at = newline ? newline + 1 : end;
	}
	for (size_t i = 0; i < parsed.source_count; i++)
		if (!parsed.source[i].text[0]) {
			error_set(e, ERR_PARSE, "%s: the source '%s' is not described", name,
				parsed.source[i].tag);
			return error_hint(e, "add a line: source %s TEXT", parsed.source[i].tag);
		}
	add_origin(&parsed, name);
	*t = parsed;
	return 0;
}
