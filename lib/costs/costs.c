/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "costs/costs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"

#define SYSTEM_COSTS "/etc/perfex.costs"
#define FILE_LIMIT   (1u << 20)

int costs_load(const char *path, struct cost_table *t, struct error *e)
{
	size_t length;
	char *text = file_read(path, FILE_LIMIT, &length, e);
	int rc;

	if (!text)
		return error_hint(e, "perfex -t prints a cost table to start from; perfex "
				     "-calibrate measures one");
	rc = costs_parse(text, length, path, t, e);
	free(text);
	return rc;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static bool costs_plain_name(const char *name)
{
	return *name && strlen(name) < sizeof(((struct cost_table *)0)->name) &&
	       !strchr(name, '/') && *name != '.';
}

/* Our own table of that name.  1 if there is none. */
static int load_ours(const char *name, struct cost_table *t, struct error *e)
{
	char file[64];
	char *path;
	struct error nowhere;
	int rc;

	if (!costs_plain_name(name))
		return 1;
	snprintf(file, sizeof(file), "costs/%s.costs", name);
	path = file_data_path(file, &nowhere);
	if (!path) {
		if (e)
			*e = nowhere;
		return nowhere.code == ERR_NOT_FOUND ? 1 : -1;
	}
	rc = costs_load(path, t, e);
	free(path);
	return rc;
}

/* Reads the file into *t if it exists and is for t's processor or this machine. */
static int overlay(const char *path, bool host, struct cost_table *t, struct error *e)
{
	struct cost_table alone = {0};

	if (!exists(path))
		return 0;
	if (costs_load(path, &alone, e))
		return -1;
	if (!host && alone.name[0] && strcmp(alone.name, t->name) != 0)
		return 0;
	costs_disown(t); /* the header becomes the other table's */
	return costs_load(path, t, e);
}

static int overlay_users(bool host, struct cost_table *t, struct error *e)
{
	struct error nowhere;
	char *path = home_path(HOME_CONFIG, "costs", &nowhere);
	int rc;

	if (!path)
		return nowhere.code == ERR_NOMEM ? error_nomem(e) : 0;
	rc = overlay(path, host, t, e);
	free(path);
	return rc;
}

int costs_ours(const char *machine, struct cost_table *t, struct error *e)
{
	int rc = 1;

	memset(t, 0, sizeof(*t));
	if (machine && *machine)
		rc = load_ours(machine, t, e);
	if (rc > 0)
		rc = load_ours("generic", t, e);
	return rc ? -1 : 0; /* 1: e is file_data_path's, not installed */
}

int costs_find(
	const char *machine, bool host, const char *file, struct cost_table *t, struct error *e)
{
	if (costs_ours(machine, t, e) || overlay(SYSTEM_COSTS, host, t, e) ||
		overlay_users(host, t, e))
		return -1;
	return file ? costs_load(file, t, e) : 0;
}

/* The shortest decimal that reads back as the same number. */
static const char *costs_exact(double value, char *text, size_t size)
{
	if (value == floor(value) && value < 1e15) { /* not 1e+06 */
		snprintf(text, size, "%.0f", value);
		return text;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, size, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

/* A header line; characters that a header cannot contain (control characters) become blanks. */
static void costs_print_text(struct strbuf *out, const char *what, const char *text)
{
	if (!*text)
		return;
	if (*what)
		strbuf_printf(out, "%-10s", what);
	for (; *text; text++)
		strbuf_putc(out, (unsigned char)*text < ' ' && *text != '\t' ? ' ' : *text);
	strbuf_putc(out, '\n');
}

void costs_print_header(const struct cost_table *t, struct strbuf *out)
{
	char text[32];

	costs_print_text(out, "name", t->name);
	costs_print_text(out, "processor", t->processor);
	if (t->clock_hz > 0) { /* megahertz are easier to read, if exact */
		bool mega =
			strtod(costs_exact(t->clock_hz / 1e6, text, sizeof(text)), NULL) * 1e6 ==
			t->clock_hz;

		if (!mega)
			costs_exact(t->clock_hz, text, sizeof(text));
		strbuf_printf(out, "%-10s%s %s\n", "clock", text, mega ? "MHz" : "Hz");
	}
	costs_print_text(out, "date", t->date);
	costs_print_text(out, "method", t->method);
	for (size_t i = 0; i < t->source_count; i++) {
		strbuf_printf(out, "source    %s ", t->source[i].tag);
		costs_print_text(out, "", t->source[i].text);
	}
}

void costs_print_row(const struct cost_table *t, int number, struct strbuf *out)
{
	const struct cost *c = &t->cost[number];
	const struct event *event = event_by_number(number);
	char text[3][32], sources[COST_SOURCES_TEXT];

	if (event)
		strbuf_printf(out, "%-24s", event->short_name);
	else
		strbuf_printf(out, "%-24d", number);
	strbuf_printf(out, " %9s %9s %9s %s", costs_exact(c->typical, text[0], sizeof(text[0])),
		costs_exact(c->minimum, text[1], sizeof(text[1])),
		costs_exact(c->maximum, text[2], sizeof(text[2])),
		c->unit == COST_NS ? "ns" : "cycles");
	cost_sources_text(t, c, sources);
	if (*sources)
		strbuf_printf(out, " %s", sources);
}

void costs_print(const struct cost_table *t, struct strbuf *out)
{
	if (*t->origin) {
		strbuf_puts(out, "# from ");
		for (const char *c = t->origin; *c; c++)
			strbuf_putc(out, (unsigned char)*c < ' ' ? ' ' : *c);
		strbuf_putc(out, '\n');
	}
	costs_print_header(t, out);
	strbuf_printf(out, "\n%-24s %9s %9s %9s unit source\n", "# event", "typical", "minimum",
		"maximum");
	for (int i = 0; i < EVENT_LIMIT; i++) {
		if (!t->cost[i].known)
			continue;
		costs_print_row(t, i, out);
		strbuf_putc(out, '\n');
	}
}

double cost_seconds(const struct cost *c, double amount, double clock_hz)
{
	if (c->unit == COST_NS)
		return amount * 1e-9;
	return clock_hz > 0 ? amount / clock_hz : NAN;
}
