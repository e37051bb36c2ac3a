/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keys of -tui do: where they lead, what sorting, filtering and searching find, in slices as
 * at once; answers that are preliminary or late; a million rows.
 */
#include "../tap.h"

#include "build_data.h"
#include "tui/draw.h"
#include "tui/panes.h"
#include "tui_fake.h"

static struct tui_fake fake;
static struct tui t;

static void begin(const char *report)
{
	struct tui_source source;

	tui_fake_init(&fake, false);
	source = tui_fake_source(&fake);
	tui_init(&t, &source, 0, 0, 24, 80, true);
	tui_fake_run(&t);
	if (strcmp(report, "procedures") != 0) {
		tui_open(&t, (size_t)tui_report_find(&t, report), NULL);
		tui_fake_run(&t);
	}
}

static void end(void)
{
	tui_fini(&t);
	tui_fake_fini(&fake);
}

static const char *title(void)
{
	static char room[200];

	tui_title(&t, tui_top(&t), room, sizeof(room));
	return room;
}

static const char *procedure(void)
{
	const struct report_row *r = tui_page_current(tui_top(&t));

	return r && r->role == REPORT_TOTAL ? "TOTAL" : r && r->procedure ? r->procedure : "";
}

#define SEARCH "search(int, employee const*)"

static void test_ways(void)
{
	begin("procedures");
	is_str(procedure(), SEARCH, "the most costly function first");
	tui_fake_keys(&t, "\r");
	is_str(title(), "lines of " SEARCH, "Right: its lines");
	is_int(tui_page_current(tui_top(&t))->line, 18, "at the most costly of them");
	tui_fake_keys(&t, "\r");
	is_str(title(), "dis of " SEARCH, "Right: its instructions");
	is_int(tui_page_current(tui_top(&t))->line, 18, "at those of that line");
	tui_fake_keys(&t, "\r");
	is_str(title(), "calc of " SEARCH, "Right: its cycles");
	tui_fake_keys(&t, "\r");
	is_str(title(), "calc of " SEARCH, "no deeper");
	tui_fake_keys(&t, "\033\033\033");
	is_str(title(), "procedures", "Esc, three times: out again");
	tui_fake_keys(&t, "\033");
	ok(!t.quit, "Esc does not end the program");
	tui_fake_keys(&t, "jjb");
	is_str(title(), "butterfly", "callers");
	ok(strncmp(procedure(), "compare", 7) == 0, "of the function that was chosen");
	is_int(tui_page_current(tui_top(&t))->role, REPORT_HEAD, "its own row");
	tui_fake_keys(&t, "k\r");
	is_str(procedure(), SEARCH, "Right on a caller: its own row");
	is_int(tui_page_current(tui_top(&t))->role, REPORT_HEAD, "there too");
	tui_fake_keys(&t, "qq");
	ok(t.quit, "q from the first view ends it");
	end();
	begin("dso");
	tui_fake_keys(&t, "\r");
	is_str(title(), "procedures of app", "an image: its functions");
	tui_fake_keys(&t, "G");
	tui_fake_keys(&t, "gG\r");
	is_str(title(), "procedures of app", "a total leads nowhere");
	end();
}

static void test_menus(void)
{
	begin("procedures");
	tui_fake_keys(&t, "v");
	is_str(title(), "reports", "the menu of reports");
	tui_fake_keys(&t, "jjjj\n");
	is_str(title(), "calltree", "the fifth is taken");
	is_int(t.pages.count, 2, "the menu is gone");
	tui_key(&t, TUI_KEY_TAB);
	tui_fake_run(&t);
	is_str(title(), "dso", "Tab: the next one");
	is_int(t.pages.count, 2, "in its place");
	tui_key(&t, TUI_KEY_BACKTAB);
	tui_fake_run(&t);
	is_str(title(), "calltree", "and back");
	tui_fake_keys(&t, "8");
	is_str(title(), "summary", "by number");
	tui_fake_keys(&t, "qq|j ");
	tui_fake_keys(&t, "\033");
	ok(tui_top(&t)->hidden[1], "a column is hidden");
	tui_fake_keys(&t, "i");
	ok(tui_top(&t)->ask.switches & 1, "-inclusive");
	ok(tui_top(&t)->strips.count > 4 && t.switches & 1, "with its column, and kept");
	tui_fake_keys(&t, "o ");
	ok(!(t.switches & 1), "off again, in the menu of switches");
	end();
}

/* Causes: from the first one on, with what is likely on a narrow screen, too. */
static void test_causes(void)
{
	struct strbuf out = {0};

	begin("procedures");
	tui_fake_keys(&t, "y");
	is_int((long)tui_top(&t)->cursor, 0, "causes open at their top");
	tui_draw(&t);
	tui_screen_text(&t.screen, false, &out);
	ok(strstr(strbuf_text(&out), " likely "), "80 columns have what is likely");
	ok(strstr(strbuf_text(&out), " only this "), "beside the rest");
	strbuf_fini(&out);
	end();
}

/* The line of the menu that begins so; the cursor goes there. */
static bool at_item(const char *text)
{
	struct tui_page *p = tui_top(&t);

	for (size_t i = 0; i < p->lines.count; i++)
		if (strncmp(p->lines.data[i], text, strlen(text)) == 0) {
			p->cursor = i;
			return true;
		}
	return false;
}

static void test_row_menu(void)
{
	begin("procedures");
	tui_fake_keys(&t, "\n");
	is_str(title(), "menu: " SEARCH, "Enter: a menu of the row");
	ok(strncmp(tui_top(&t)->lines.data[0], "Right  source lines of search", 29) == 0,
		"first what Right does: %s", tui_top(&t)->lines.data[0]);
	ok(at_item("d      instructions of"), "annotated");
	ok(at_item("w      write"), "written");
	ok(at_item("b      callers and callees of"), "its callers");
	tui_fake_keys(&t, "\n");
	is_str(title(), "butterfly", "which Enter chooses");
	is_int((long)t.pages.count, 2, "the menu is gone");
	tui_fake_keys(&t, "\033\nb");
	is_str(title(), "butterfly", "or the key beside the line");
	tui_fake_keys(&t, "\033\n\n");
	is_str(title(), "lines of " SEARCH, "Enter twice: in");
	tui_fake_keys(&t, "\033\n\033");
	is_str(title(), "procedures", "Esc leaves the menu");
	tui_fake_keys(&t, "\n");
	ok(!at_item("       all reports: choose one of 1 processes"), "no choice among one");
	ok(at_item("       all reports: choose one of 2 threads ..."), "one thread of all");
	tui_fake_keys(&t, "\n");
	is_str(title(), "menu: thread", "which one");
	ok(strncmp(tui_top(&t)->lines.data[0], " 62.5% thread 4712 worker", 25) == 0,
		"the busiest first: %s", tui_top(&t)->lines.data[0]);
	tui_fake_keys(&t, "\n");
	is_str(title(), "procedures, thread:4712", "all reports are of it");
	is_str(fake.whom, "thread:4712", "as was asked for");
	tui_fake_keys(&t, "\n");
	ok(at_item("       all reports: only image app"), "and of the row's image");
	tui_fake_keys(&t, "\n");
	is_str(title(), "procedures, thread:4712, app", "both");
	tui_fake_keys(&t, "\n");
	ok(at_item("Z "), "and back");
	tui_fake_keys(&t, "\n");
	is_str(title(), "procedures", "to the whole run");
	is_str(fake.whom, "", "of all threads");
	tui_resize(&t, 10, 80);
	tui_fake_keys(&t, "\nG");
	tui_draw(&t);
	tui_fake_keys(&t, "\033");
	end();
}

static const char *second(void)
{
	static char room[200];

	if (!t.second)
		return "";
	tui_title(&t, t.second, room, sizeof(room));
	return room;
}

static void test_split(void)
{
	struct tui_pane panes[TUI_PANES];

	begin("procedures");
	is_str(second(), "", "one view at first");
	tui_fake_keys(&t, "s");
	is_str(second(), "lines of " SEARCH, "s: the source below");
	is_int((long)tui_page_current(t.second)->line, 18, "at its most costly line");
	is_int(tui_panes(&t, panes), 2, "two panes");
	ok(panes[1].row > 0 && panes[1].columns == 80, "one below the other");
	tui_fake_keys(&t, "j");
	is_str(second(), "lines of sort", "it follows the cursor");
	is_str(title(), "procedures", "which stays in the list");
	tui_fake_keys(&t, "J");
	ok(t.second->cursor > 0, "J scrolls it");
	tui_fake_keys(&t, "ks");
	is_str(second(), "dis of " SEARCH, "s again: instructions");
	tui_resize(&t, 30, 120);
	tui_fake_run(&t);
	tui_panes(&t, panes);
	ok(panes[1].column == 60 && panes[1].row == 0, "beside, from 120 columns on");
	tui_fake_keys(&t, "\r");
	is_str(title(), "lines of " SEARCH, "Right: into the source");
	is_str(second(), "dis of " SEARCH, "with the instructions");
	tui_fake_keys(&t, "\r");
	is_str(second(), "lines of " SEARCH, "which have the source beside them");
	tui_fake_keys(&t, "qqs");
	is_str(second(), "", "s once more: one view");
	tui_fake_keys(&t, "sG");
	is_str(second(), "", "nor has the total");
	tui_resize(&t, 10, 80);
	tui_fake_keys(&t, "g");
	is_str(second(), "", "nor has a low screen");
	fake.failing = 1;
	tui_resize(&t, 30, 80);
	tui_fake_keys(&t, "jk");
	tui_draw(&t);
	ok(t.second && t.second->failed, "a second view that fails says why");
	end();
}

static void test_trees(void)
{
	size_t few, all;

	begin("calltree");
	few = tui_top(&t)->rows.count;
	all = tui_top(&t)->table->rows.count;
	ok(few < all && few > 2, "a tree begins with closed branches: %zu of %zu", few, all);
	tui_fake_keys(&t, "E");
	is_int((long)tui_top(&t)->rows.count, (long)all, "E opens all");
	tui_fake_keys(&t, "q1/leaf\nt");
	is_str(title(), "calltree", "from a function");
	ok(strstr(procedure(), "leaf"), "its branches are open: %s", procedure());
	end();
	begin("calltree");
	tui_fake_keys(&t, "/leaf\n");
	ok(strstr(procedure(), "leaf"), "a search finds what is hidden");
	tui_fake_keys(&t, "/nothing like it\n");
	ok(strstr(t.message, "not found"), "but not what is not there");
	end();
}

/* As the reasons of -waits are: a branch that is about no function. */
static void test_places_none(void)
{
	struct tui_page *p;
	struct report_row *r = NULL;
	size_t closed;

	begin("calltree");
	tui_fake_keys(&t, "C");
	p = tui_top(&t);
	for (size_t i = 0; i < p->rows.count && !r; i++)
		if (p->rows.collapsed[tui_rows_at(&p->rows, i)]) {
			p->cursor = i;
			r = &((struct report_table *)(uintptr_t)p->table)
				     ->rows.data[tui_rows_at(&p->rows, i)];
		}
	if (!ok(r != NULL, "a closed branch"))
		return;
	r->procedure = r->file = NULL;
	closed = p->rows.count;
	tui_fake_keys(&t, "\r");
	is_str(title(), "calltree", "Right on it opens no view");
	ok(tui_top(&t)->rows.count > closed, "but what is below it");
	tui_fake_keys(&t, "\r");
	ok(strstr(t.message, "nothing to open"), "again: there is nothing else");
	end();
}

static void test_order(void)
{
	begin("procedures");
	tui_fake_keys(&t, "<");
	ok(strncmp(procedure(), "(unknown)", 9) == 0, "by name: %s", procedure());
	tui_fake_keys(&t, "I");
	tui_fake_keys(&t, "g");
	ok(strncmp(procedure(), "\xce\xb1", 2) == 0, "the other way round: %s", procedure());
	tui_fake_keys(&t, "G");
	while (tui_page_row(tui_top(&t), tui_top(&t)->cursor) < 0)
		tui_fake_keys(&t, "k");
	is_str(procedure(), "TOTAL", "the total stays below");
	tui_fake_keys(&t, "I>");
	is_int(tui_top(&t)->sort, -1, "as reported");
	tui_fake_keys(&t, "g");
	is_str(procedure(), SEARCH, "as before");
	tui_fake_keys(&t, "\\e\n");
	is_int(tui_top(&t)->rows.count, 4, "three rows have an e, and the total");
	tui_fake_keys(&t, "\\");
	for (int i = 0; i < 3; i++)
		tui_key(&t, TUI_KEY_BACKSPACE);
	tui_fake_keys(&t, "\\");
	tui_key(&t, TUI_CONTROL('u'));
	tui_fake_keys(&t, "\n");
	is_int(tui_top(&t)->rows.count, 7, "all of them again");
	tui_fake_keys(&t, "/LEAF\n");
	ok(strstr(procedure(), "leaf"), "found, in whatever case");
	tui_fake_keys(&t, "/main\nN");
	ok(strcmp(procedure(), "main") == 0, "the only one, from the other side");
	tui_fake_keys(&t, "/nothing like it\n");
	ok(strstr(t.message, "not found"), "not found: %s", t.message);
	end();
}

/* An instruction stays chosen where inlined functions get rows of their own. */
static void test_inlines(void)
{
	const struct report_row *r;
	uint64_t address;

	begin("procedures");
	tui_fake_keys(&t, "d");
	tui_fake_keys(&t, "G");
	while ((r = tui_page_current(tui_top(&t))) == NULL || r->role != REPORT_ROW)
		tui_fake_keys(&t, "k");
	address = r->address;
	for (int i = 0; i < 2; i++) {
		tui_fake_keys(&t, "u");
		r = tui_page_current(tui_top(&t));
		ok(r && r->address == address, "the last instruction, after %d", i);
	}
	end();
}

static void test_late(void)
{
	begin("procedures");
	fake.held = true;
	tui_fake_keys(&t, "l");
	ok(tui_top(&t)->waiting && !tui_top(&t)->table, "an answer that is late");
	tui_draw(&t);
	tui_fake_keys(&t, "jjkG?");
	tui_draw(&t);
	tui_fake_keys(&t, "qq");
	is_str(title(), "procedures", "nobody waits for it");
	is_int(fake.answers.count, 0, "it was dropped");
	tui_fake_keys(&t, "i");
	ok(tui_top(&t)->waiting && tui_top(&t)->table,
		"the old table stays until the new one is there");
	tui_fake_keys(&t, "jj");
	fake.held = false;
	tui_fake_run(&t);
	ok(!tui_top(&t)->waiting && tui_top(&t)->cursor > 0, "and the cursor on what it was on");
	fake.failing = 1;
	tui_fake_keys(&t, "d");
	ok(tui_top(&t)->failed && tui_top(&t)->lines.count, "a report that fails says why");
	tui_fake_keys(&t, "jk\\x\n/y\n\nw>");
	tui_draw(&t);
	end();
}

/* Where `hottest` goes in the view that is open, from its first line. */
static size_t hottest_line(void)
{
	size_t before = tui_top(&t)->cursor, found;

	tui_top(&t)->cursor = 0;
	t.hottest = 0;
	tui_fake_keys(&t, "H");
	found = tui_top(&t)->cursor;
	tui_top(&t)->cursor = before;
	return found;
}

/* Keys that come before the rows that they are for. */
static void test_held(void)
{
	begin("procedures");
	tui_key(&t, 'd');
	tui_key(&t, 'H');
	tui_key(&t, 'j');
	is_str(title(), "dis of " SEARCH, "the view is open at once");
	for (int i = 0; i < 4; i++)
		tui_fake_run(&t);
	is_int((long)tui_top(&t)->cursor, (long)hottest_line() + 1,
		"its most costly row, and one below");
	end();
	begin("procedures");
	tui_key(&t, 'd');
	tui_key(&t, 'H');
	tui_key(&t, TUI_KEY_ESCAPE);
	for (int i = 0; i < 4; i++)
		tui_fake_run(&t);
	is_str(title(), "procedures", "leaving forgets them");
	is_int((long)tui_top(&t)->cursor, 0, "for the view before, too");
	end();
	begin("procedures");
	tui_resize(&t, 12, 80);
	tui_fake_keys(&t, "d");
	ok(tui_top(&t)->cursor < (size_t)tui_body_rows(&t) / 2 ||
			tui_top(&t)->cursor - tui_top(&t)->top <= (size_t)tui_body_rows(&t) / 2,
		"the row that a view opens at is not below the middle");
	tui_fake_keys(&t, "/TOTAL\n");
	tui_fake_keys(&t, "g/ret\n");
	ok(tui_top(&t)->cursor >= tui_top(&t)->top, "what is found is in view");
	end();
	begin("procedures");
	tui_fake_keys(&t, "jjj\r");
	is_str(title(), "dis of (unknown)", "Right, without lines: to instructions");
	end();
	begin("procedures");
	tui_fake_keys(&t, "wabc");
	is_str(t.prompt.text, "abc", "the first character replaces the name that is offered");
	tui_fake_keys(&t, "\033w");
	tui_key(&t, TUI_KEY_BACKSPACE);
	tui_fake_keys(&t, "x");
	is_str(t.prompt.text, "prof.procedures.txx", "other keys edit it");
	end();
}

static void test_files(void)
{
	begin("procedures");
	tui_fake_keys(&t, "w\n");
	is_str(fake.wrote, "prof.procedures.txt", "a name is offered");
	ok(fake.text && strstr(fake.text, "\nExperiment  "), "the printed report");
	tui_fake_keys(&t, "w");
	tui_key(&t, TUI_CONTROL('u'));
	tui_fake_keys(&t, "x.json\n");
	ok(fake.text && strncmp(fake.text, "{\"schema\":\"prof.rows/1\"", 23) == 0,
		"JSON by its name");
	tui_fake_keys(&t, "\\sort\nw");
	tui_key(&t, TUI_CONTROL('u'));
	tui_fake_keys(&t, "x.csv\n");
	ok(fake.text && strstr(fake.text, "sort") && !strstr(fake.text, "search"),
		"CSV, of the rows that are shown");
	tui_fake_keys(&t, "w");
	tui_key(&t, TUI_CONTROL('u'));
	tui_fake_keys(&t, "there\nn\n");
	is_int(fake.written, 3, "a file that is there is left alone");
	tui_fake_keys(&t, "w");
	tui_key(&t, TUI_CONTROL('u'));
	tui_fake_keys(&t, "there\ny\n");
	is_int(fake.written, 4, "or replaced, when asked");
	tui_fake_keys(&t, "w");
	tui_key(&t, TUI_CONTROL('u'));
	tui_fake_keys(&t, "no/where\n");
	ok(t.wrong && strstr(t.message, "no such directory"), "an error is said: %s", t.message);
	end();
}

static void test_clicks(void)
{
	begin("procedures");
	tui_draw(&t);
	tui_click(&t, 4, 10, false);
	is_int(tui_top(&t)->cursor, 1, "a click moves");
	is_int(tui_line_at(&t, 0, 0), -1, "not in the title");
	tui_click(&t, 4, 10, true);
	tui_fake_run(&t);
	is_str(title(), "lines of sort", "two go in");
	tui_wheel(&t, 3);
	tui_wheel(&t, -300);
	is_int(tui_top(&t)->cursor, 0, "the wheel");
	end();
}

/* ---- many rows ---- */

static void many(struct report_table *table, size_t rows)
{
	struct report_column column = {.kind = REPORT_COUNT,
		.flags = REPORT_PERCENT,
		.name = "time",
		.unit = "",
		.label = LABEL_MODEL};
	static const char *const names[] = {"alpha", "beta", "gamma", "delta", "epsilon"};

	memset(table, 0, sizeof(*table));
	table->report = "many";
	table->layout = REPORT_LIST;
	report_column_add(table, &column);
	for (size_t i = 0; i < rows; i++) {
		struct report_row row = {
			.parent = -1, .procedure = names[i % 5], .line = (unsigned)i};
		long at = report_row_add(table, &row);

		report_cells(table, (size_t)at)->quantity =
			quantity_exact((double)(i * 7919 % rows), LABEL_MODEL);
	}
}

static bool falling(const struct tui_rows *r)
{
	for (size_t i = 1; i < r->count; i++)
		if (report_cells(r->table, tui_rows_at(r, i - 1))->quantity.value <
			report_cells(r->table, tui_rows_at(r, i))->quantity.value)
			return false;
	return true;
}

static void test_many(size_t count)
{
	struct report_table table;
	struct tui_rows r = {0};
	struct prof_strip by = {.part = PROF_PART_VALUE};
	size_t slices = 0;
	int rc;

	many(&table, count);
	tui_rows_set(&r, &table);
	is_int(r.count, count, "all rows at once");
	tui_rows_start(&r, &(struct tui_order){.by = &by});
	while ((rc = tui_rows_work(&r, 1)) > 0)
		slices++;
	ok(rc == 0 && slices > count / 10000, "sorted in %zu slices", slices);
	ok(falling(&r) && r.count == count, "in order, none lost");
	tui_rows_start(&r, &(struct tui_order){.filter = "GAMMA", .by = &by});
	tui_rows_work(&r, UINT64_MAX);
	ok(falling(&r) && r.count == count / 5, "filtered and sorted at once: %zu", r.count);
	tui_rows_start(&r, &(struct tui_order){.by_place = true});
	tui_rows_work(&r, 1);
	tui_rows_start(&r, &(struct tui_order){0});
	tui_rows_work(&r, UINT64_MAX);
	ok(r.count == count && tui_rows_at(&r, 77) == 77,
		"given up in the middle, and as reported");
	tui_rows_fini(&r);
	report_table_fini(&table);
}

static uint64_t shown_samples(void)
{
	const struct report_table *table = tui_top(&t)->table;
	size_t row = 0;

	while (table->rows.data[row].role != REPORT_TOTAL)
		row++;
	return report_cells(table, row)[0].samples;
}

static void test_times(void)
{
	char line[64];

	begin("procedures");
	tui_fake_keys(&t, "z");
	ok(strstr(t.message, "timeline"), "times are selected in the timeline");
	tui_fake_keys(&t, "T");
	is_str(title(), "timeline", "T opens it");
	end();
	begin("timeline");
	is_int(shown_samples(), 964, "the whole run at first");
	is_int(tui_top(&t)->table->times.bins, 37, "in so many columns");
	tui_fake_keys(&t, "z");
	ok(strstr(t.message, "nothing is selected"), "nothing is selected");
	tui_fake_keys(&t, "))))[))))]");
	tui_times_text(tui_top(&t), line, sizeof(line));
	ok(strncmp(line, "    [===^    ", 13) == 0, "a selection is drawn: %s", line);
	ok(strstr(t.message, "0.1342 to 0.302 s"), "and said");
	tui_fake_keys(&t, "((((((((((((((((");
	tui_times_text(tui_top(&t), line, sizeof(line));
	ok(strncmp(line, "^   [===]    ", 13) == 0, "the cursor stops at the beginning: %s", line);
	tui_fake_keys(&t, "z");
	is_str(title(), "timeline, 0.13421772 to 0.30198988 s", "the view is of these times");
	ok(shown_samples() < 200 && shown_samples() > 100, "with their samples: %d",
		(int)shown_samples());
	tui_fake_keys(&t, "1");
	ok(strstr(title(), "procedures, 0.134"), "so are other reports");
	ok(shown_samples() < 200, "with these samples");
	tui_fake_keys(&t, "q[))]z");
	ok(tui_top(&t)->table->times.width < 0.01, "a part of the part");
	tui_fake_keys(&t, "Z");
	is_str(title(), "timeline", "and back to the whole");
	is_int(shown_samples(), 964, "with all samples");
	tui_fake_keys(&t, "Z");
	ok(strstr(t.message, "already"), "which is all there is");
	end();
}

int main(void)
{
	const char *rows = getenv("ROWS");

	build_data();
	test_ways();
	test_menus();
	test_row_menu();
	test_causes();
	test_split();
	test_trees();
	test_places_none();
	test_times();
	test_order();
	test_inlines();
	test_late();
	test_held();
	test_files();
	test_clicks();
	test_many(rows ? strtoul(rows, NULL, 10) : 200000);
	return done();
}
