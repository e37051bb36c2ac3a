/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: the menu of what can be done with a line of a report, over the report. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/actions.h"

static const char *const kind_names[TUI_CHOICES] = {
	[TUI_CHOICE_THREAD] = "thread",
	[TUI_CHOICE_PROCESS] = "process",
	[TUI_CHOICE_COMMAND] = "command",
	[TUI_CHOICE_CPU] = "CPU",
	[TUI_CHOICE_IMAGE] = "image",
	[TUI_CHOICE_PHASE] = "phase",
};

static const char *const kind_plurals[TUI_CHOICES] = {
	[TUI_CHOICE_THREAD] = "threads",
	[TUI_CHOICE_PROCESS] = "processes",
	[TUI_CHOICE_COMMAND] = "commands",
	[TUI_CHOICE_CPU] = "CPUs",
	[TUI_CHOICE_IMAGE] = "images",
	[TUI_CHOICE_PHASE] = "phases",
};

/* What a report says of a procedure, an image ...; of others, its own name. */
static const struct {
	const char *report, *text;
} views[] = {
	{"lines", "source lines"},
	{"dis", "instructions"},
	{"calc", "executions and cycles"},
	{"why", "cycles by cause"},
	{"butterfly", "callers and callees"},
	{"calltree", "place in the call tree"},
	{"procedures", "functions"},
	{"datalines", "cache lines"},
	{"stalls", "longest waits"},
};

static const char *view_text(const char *report)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
		if (strcmp(views[i].report, report) == 0)
			return views[i].text;
	return report;
}

__attribute__((format(printf, 5, 6))) static void menu_add(struct tui *t, struct tui_page *menu,
	const struct tui_item *item, const char *keys, const char *format, ...)
{
	struct tui_item *slot = vec_push(&menu->items);
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (slot && tui_page_line(menu, "%-6s %s", keys, text) == 0) {
		*slot = *item;
		return;
	}
	menu->items.count -= slot != NULL;
	tui_say(t, "out of memory");
}

static void menu_key(struct tui *t, struct tui_page *menu, int key, const char *text)
{
	char room[8];

	menu_add(t, menu, &(struct tui_item){.key = key}, tui_key_name(key, room), "%s", text);
}

/* The reports of the row: first that which `enter` opens. */
static void menu_views(struct tui *t, struct tui_page *menu, struct tui_page *p)
{
	const struct report_row *r = tui_page_current(p);
	const char *procedure = tui_subject(t, p), *image = r ? r->image : NULL;
	const char *of = procedure ? procedure : r && r->procedure ? r->procedure : image;
	long first = tui_into(t, p);
	struct strbuf room = {0};
	char text[300];

	t->message[0] = '\0';
	of = tui_short_name(of, &room);
	if (first >= 0) {
		snprintf(text, sizeof(text), "%s%s%.240s", view_text(t->source.reports[first].name),
			of[0] ? " of " : "", of);
		menu_key(t, menu, TUI_KEY_RIGHT, text);
	}
	for (const struct tui_action *a = t->actions; a->name && procedure; a++) {
		long report = a->report && a->fits ? tui_report_find(t, a->report) : -1;

		if (report < 0 || report == first || (size_t)report == p->ask.report)
			continue;
		snprintf(text, sizeof(text), "%s of %.240s", view_text(a->report), of);
		menu_key(t, menu, a->keys[0], text);
	}
	strbuf_fini(&room);
}

/* Is text this name, or does it begin with it: "4712 gzip -c file"? */
static bool menu_begins(const char *text, const char *name)
{
	size_t n = strlen(name);

	return text && *name && strncmp(text, name, n) == 0 && (!text[n] || text[n] == ' ');
}

/* Is the row of this image, process, thread ...? Rows of processes have them in place of an image,
 * and lists that are divided by them ("process 4712 gzip") beside it. */
static bool menu_of_row(const struct report_row *r, const struct tui_choice *c)
{
	char whole[TUI_WORD + 16];

	if (c->kind == TUI_CHOICE_IMAGE)
		return r->image && strcmp(c->name, r->image) == 0;
	snprintf(whole, sizeof(whole), "%s %s", kind_names[c->kind], c->name);
	return menu_begins(r->thread, whole) || menu_begins(r->image, whole) ||
	       (c->kind == TUI_CHOICE_PROCESS && menu_begins(r->image, c->name));
}

/* All reports: of what this row is of, unless that is all there is. */
static void menu_own_limits(struct tui *t, struct tui_page *menu, const struct report_row *r,
	const struct tui_choice *choices, size_t count)
{
	size_t of_kind[TUI_CHOICES] = {0};

	for (size_t i = 0; i < count; i++)
		of_kind[choices[i].kind]++;
	for (size_t i = 0; r && i < count; i++)
		if (of_kind[choices[i].kind] > 1 && menu_of_row(r, &choices[i]))
			menu_add(t, menu, &(struct tui_item){.choice = &choices[i]}, "",
				"all reports: only %s %s", kind_names[choices[i].kind],
				choices[i].name);
}

/* What all reports can be limited to. */
static void menu_limits(struct tui *t, struct tui_page *menu, const struct tui_page *p)
{
	const struct tui_choice *choices = NULL;
	size_t count = t->source.ops->choices(t->source.context, &choices);

	menu_own_limits(t, menu, tui_page_current(p), choices, count);
	for (int kind = 0; kind < TUI_CHOICES; kind++) {
		size_t of_kind = 0;

		for (size_t i = 0; i < count; i++)
			of_kind += (int)choices[i].kind == kind;
		if (of_kind > 1)
			menu_add(t, menu, &(struct tui_item){.kind = (enum tui_choice_kind)kind},
				"", "all reports: choose one of %zu %s ...", of_kind,
				kind_plurals[kind]);
	}
	if (tui_has_zoom(t))
		menu_key(t, menu, 'Z', "all reports: of the whole run again");
}

/* The title is about this. */
static struct tui_page *menu_push(struct tui *t, const char *of)
{
	struct tui_page *menu = tui_push(t, TUI_PAGE_ACTIONS);

	if (menu && of)
		menu->ask.procedure = strdup(of);
	return menu;
}

static void menu_open(struct tui *t, struct tui_page *p)
{
	const struct report_row *r = tui_page_current(p);
	const char *of = tui_subject(t, p);
	struct tui_page *menu;

	if (!p->table) {
		tui_say(t, "nothing to open in this line");
		return;
	}
	menu = menu_push(t, of ? of : r && r->procedure ? r->procedure : r ? r->image : NULL);
	if (!menu)
		return;
	menu_views(t, menu, p);
	menu_limits(t, menu, p);
	menu_key(t, menu, 'T', "functions over time");
	menu_key(t, menu, 'w', "write this report to a file");
	menu_key(t, menu, 'v', "all reports");
}

static void menu_open_choices(struct tui *t, enum tui_choice_kind kind)
{
	const struct tui_choice *choices = NULL;
	size_t count = t->source.ops->choices(t->source.context, &choices);
	struct tui_page *menu = menu_push(t, kind_names[kind]);

	for (size_t i = 0; menu && i < count; i++) {
		char share[16];

		if (choices[i].kind != kind)
			continue;
		snprintf(share, sizeof(share), "%5.1f%%", choices[i].percent);
		menu_add(t, menu, &(struct tui_item){.choice = &choices[i]}, share, "%s %s",
			kind_names[kind], choices[i].name);
	}
}

static void menu_close(struct tui *t)
{
	while (t->pages.count > 1 && tui_top(t)->kind == TUI_PAGE_ACTIONS)
		tui_pop(t);
}

/* "thread:4712, libc.so.6" */
static void name_part(struct tui_part *part)
{
	const char *words[] = {part->whom, part->image, part->phase};
	char name[3 * (TUI_WORD + 2)] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (*words[i])
			n += (size_t)snprintf(
				name + n, sizeof(name) - n, "%s%s", n ? ", " : "", words[i]);
	memset(part->name, 0, sizeof(part->name));
	memcpy(part->name, name, n < TUI_WORD ? n : TUI_WORD - 1);
}

static void menu_choose(struct tui *t, const struct tui_choice *c)
{
	struct tui_part part = t->part;
	char *word = c->kind == TUI_CHOICE_IMAGE   ? part.image
		     : c->kind == TUI_CHOICE_PHASE ? part.phase
						   : part.whom;

	memset(word, 0, TUI_WORD);
	memcpy(word, c->word, strlen(c->word));
	name_part(&part);
	tui_limit(t, &part);
	tui_say(t, "all reports are of %s %s only; Z: of the whole run", kind_names[c->kind],
		c->name);
}

static void choose_item(struct tui *t)
{
	const struct tui_page *menu = tui_top(t);
	struct tui_item item;

	if (menu->cursor >= menu->items.count)
		return;
	item = menu->items.data[menu->cursor];
	if (!item.key && !item.choice) {
		menu_open_choices(t, item.kind);
		return;
	}
	menu_close(t);
	if (item.choice) {
		menu_choose(t, item.choice);
		return;
	}
	for (const struct tui_action *a = t->actions; a->name; a++)
		for (int i = 0; i < TUI_ACTION_KEYS && a->keys[i]; i++)
			if (a->keys[i] == item.key) {
				t->action = a;
				t->key = item.key;
				a->run(t);
				return;
			}
}

bool tui_menu_key(struct tui *t, int key)
{
	struct tui_page *menu = tui_top(t);

	if (menu->kind != TUI_PAGE_ACTIONS || key <= ' ' || key > '~')
		return false;
	for (size_t i = 0; i < menu->items.count; i++)
		if (menu->items.data[i].key == key) {
			menu->cursor = i;
			choose_item(t);
			return true;
		}
	return false;
}

void tui_do_menu(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	if (p->kind == TUI_PAGE_REPORT)
		menu_open(t, p);
	else
		tui_do_in(t);
}

void tui_do_in(struct tui *t)
{
	if (tui_top(t)->kind == TUI_PAGE_ACTIONS)
		choose_item(t);
	else
		tui_do_enter(t);
}
