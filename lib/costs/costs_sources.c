/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where each figure of a cost table comes from. */
#include <stdio.h>
#include <string.h>

#include "base/proc.h"
#include "costs/costs.h"

static const char *const plain[] = {
	[COST_FROM_UNSTATED] = "-",
	[COST_FROM_GUESS] = "guess",
	[COST_FROM_MEASURED] = "measured",
	[COST_FROM_ELSEWHERE] = "elsewhere",
};

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int cost_source_number(struct cost_table *t, const char *tag, size_t length)
{
	for (int i = 0; i < COST_FROM_SOURCE; i++)
		if (strlen(plain[i]) == length && memcmp(plain[i], tag, length) == 0)
			return i;
	if (length == 0 || length >= sizeof(t->source[0].tag) || !letter(*tag))
		return -1;
	for (size_t i = 0; i < t->source_count; i++)
		if (strlen(t->source[i].tag) == length && !memcmp(t->source[i].tag, tag, length))
			return COST_FROM_SOURCE + (int)i;
	if (t->source_count == COST_SOURCES_MAX)
		return -1;
	memset(&t->source[t->source_count], 0, sizeof(t->source[0]));
	memcpy(t->source[t->source_count].tag, tag, length);
	return COST_FROM_SOURCE + (int)t->source_count++;
}

const char *cost_source_tag(const struct cost_table *t, int from)
{
	return from < COST_FROM_SOURCE ? plain[from] : t->source[from - COST_FROM_SOURCE].tag;
}

void cost_sources_text(
	const struct cost_table *t, const struct cost *c, char text[COST_SOURCES_TEXT])
{
	const char *tag[COST_FIGURES];
	bool same;

	for (int i = 0; i < COST_FIGURES; i++)
		tag[i] = cost_source_tag(t, c->from[i]);
	same = c->from[0] == c->from[1] && c->from[0] == c->from[2];
	if (same)
		snprintf(text, COST_SOURCES_TEXT, "%s", c->from[0] ? tag[0] : "");
	else
		snprintf(text, COST_SOURCES_TEXT, "%s/%s/%s", tag[0], tag[1], tag[2]);
}

enum cost_mark cost_mark(const struct cost *c, bool here)
{
	switch (c->from[COST_TYPICAL]) {
	case COST_FROM_MEASURED:
		return here ? COST_MARK_MEASURED : COST_MARK_ELSEWHERE;
	case COST_FROM_ELSEWHERE:
		return COST_MARK_ELSEWHERE;
	case COST_FROM_GUESS:
	case COST_FROM_UNSTATED:
		return COST_MARK_GUESS;
	default:
		return COST_MARK_PUBLISHED;
	}
}

const char *cost_mark_word(enum cost_mark mark)
{
	static const char *const words[] = {"measured", "elsewhere", "published", "guess"};

	return words[mark];
}

void costs_disown(struct cost_table *t)
{
	for (int i = 0; i < EVENT_LIMIT; i++)
		for (int k = 0; k < COST_FIGURES; k++)
			if (t->cost[i].from[k] == COST_FROM_MEASURED)
				t->cost[i].from[k] = COST_FROM_ELSEWHERE;
}

void costs_name_processor(const char *description, char *out, size_t size)
{
	char name[61];

	if (proc_cpu_name(name, sizeof(name)))
		snprintf(out, size, "%s (%.60s)", name, description);
	else
		snprintf(out, size, "%s", description);
}

bool costs_measured_here(const struct cost_table *t, const char *description)
{
	char here[sizeof(t->processor)];

	costs_name_processor(description, here, sizeof(here));
	return t->date[0] && strcmp(t->processor, here) == 0;
}

void costs_provenance(const struct cost_table *t, const char *description, char *text, size_t size)
{
	static const char *const words[COST_MARKS] = {"measured on this processor",
		"measured on another processor", "published", "guessed"};
	bool here = costs_measured_here(t, description);
	int count[COST_MARKS] = {0};
	size_t n = 0;

	for (int i = 0; i < EVENT_LIMIT; i++)
		if (t->cost[i].known)
			count[cost_mark(&t->cost[i], here)]++;
	text[0] = '\0';
	for (int i = 0; i < COST_MARKS; i++)
		if (count[i] && n < size) {
			bool measured = i == COST_MARK_MEASURED,
			     named = i == COST_MARK_ELSEWHERE && !here && t->processor[0];

			n += (size_t)snprintf(text + n, size - n, "%s%d %s%s%s%s", n ? ", " : "",
				count[i], words[i],
				measured ? " on "
				: named  ? " ("
					 : "",
				measured ? t->date
				: named  ? t->processor
					 : "",
				named ? ")" : "");
		}
}
