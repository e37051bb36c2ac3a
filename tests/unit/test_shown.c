/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of every byte, in every place of every table and in every format: no control character but
 * newlines and tabs comes out, and no name makes a line of its own. */
#include "../tap.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "base/utf8.h"
#include "export/protobuf.h"
#include "render/block.h"
#include "render/counts.h"
#include "render/prof.h"
#include "rows/rows.h"
#include "tui/screen.h"

/* All bytes, an escape sequence, and characters of two to four bytes: control and others. */
static char hostile[500];
/* Turning text, lines' ends, spaces without width, tags; first and last of some ranges. */
static const uint32_t odd[] = {0xad, 0x61c, 0x200b, 0x200e, 0x200f, 0x2028, 0x202a, 0x202e, 0x2060,
	0x2066, 0x2069, 0x206f, 0xfeff, 0xfff9, 0xe0001, 0xe007f};
static const char valid[] = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82";

static void put_utf8(char *to, uint32_t c)
{
	if (c < 0x800)
		sprintf(to, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
	else if (c < 0x10000)
		sprintf(to, "%c%c%c", 0xe0 | c >> 12, 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
	else
		sprintf(to, "%c%c%c%c", 0xf0 | c >> 18, 0x80 | (c >> 12 & 0x3f),
			0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
}

static void make_hostile(void)
{
	size_t n = 0;

	for (int c = 1; c < 256; c++)
		hostile[n++] = (char)c;
	strcpy(hostile + n, "\033]0;title\a\033[31m\xc2\x9b");
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		put_utf8(hostile + strlen(hostile), odd[i]);
	strcat(hostile, valid);
}

static bool is_odd(const char *text)
{
	char one[5];

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		put_utf8(one, odd[i]);
		if (strncmp(text, one, strlen(one)) == 0)
			return true;
	}
	return false;
}

/* What a terminal would obey, or what is not UTF-8; NULL: there is none. */
static const char *bad_byte(const char *text, size_t length)
{
	for (const char *at = text; at < text + length;) {
		int n = utf8_length(at);
		unsigned char c = (unsigned char)*at;

		if (n == 0 || c == 0x7f || (c < ' ' && c != '\n' && c != '\t') ||
			(n == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0) || is_odd(at))
			return at;
		at += n;
	}
	return NULL;
}

static size_t lines_of(const struct strbuf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->length; i++)
		n += text->data[i] == '\n';
	return n;
}

static void test_text(void)
{
	struct strbuf out = {0}, room = {0};
	char *written = NULL;
	size_t length;
	FILE *f;

	is_int((long long)shown_span("a\tb \xc3\xa9\033c"), 6, "the span that stays");
	shown_puts(&out, "a\tb\033[2m\n\x7f\xc2\x9b\xff\xc3\xa9\xe2\x82|\\");
	is_str(strbuf_text(&out), "a\tb\\x1b[2m\\x0a\\x7f\\xc2\\x9b\\xff\xc3\xa9\\xe2\\x82|\\",
		"escapes");
	out.length = 0;
	shown_puts(&out, "\xd7\x90\xe2\x80\xae\xf3\xa0\x80\x81\xe2\x80\x8d\xe2\x80\xaa");
	is_str(strbuf_text(&out), "\xd7\x90\\u202e\\U000e0001\xe2\x80\x8d\\u202a",
		"characters that turn text, or have no form; letters that run from the right stay");
	out.length = 0;
	shown_printf(&out, "%s %5d %s", "\a", 7, hostile);
	ok(!bad_byte(strbuf_text(&out), out.length) && !strchr(strbuf_text(&out), '\n'),
		"formatted, and longer than usual");
	is_str(strbuf_text(&out) + out.length - strlen(valid), valid, "valid text stays");
	out.length = 0;
	shown_puts(&out, "");
	is_str(strbuf_text(&out), "", "an empty text in a buffer that is used again");
	is_str(shown_text("plain", &room), "plain", "text that needs no escape");
	ok(!room.data, "is not copied");
	is_str(shown_text("\r", &room), "\\x0d", "text that does");
	strbuf_fini(&room);
	out.length = 0;
	strbuf_printf(&out, "a\n\tb%sc%s\033[2m\r", SHOWN_DIM, SHOWN_DIM_END);
	strbuf_putc(&out, '\0');
	strbuf_puts(&out, "\xe2\x80\xae");
	f = open_memstream(&written, &length);
	is_int(shown_write(f, &out), 0, "written");
	fclose(f);
	is_str(written, "a\n\tb\033[2mc\033[0m\\x1b[2m\\x0d\\x00\\u202e",
		"the last resort: only changes of brightness pass");
	free(written);
	strbuf_fini(&out);
}

static void add_rows(struct report_table *t, const char *name)
{
	const struct report_row row = {.procedure = name,
		.image = name,
		.file = name,
		.thread = name,
		.note = name,
		.text = name,
		.line = 7,
		.address = 16,
		.addressed = true,
		.parent = -1};

	for (int role = 0; role <= REPORT_BUBBLE; role++) {
		struct report_row own = row;

		for (int without = 0; without < 3; without++) {
			size_t at;

			own.role = (enum report_role)role;
			own.procedure = without == 1 ? NULL : name;
			own.file = without == 2 ? NULL : name;
			at = report_row_add(t, &own);
			report_cells(t, at)[0].quantity = quantity_exact(5, LABEL_MEASURED);
			report_cells(t, at)[0].weak = true;
			report_cells(t, at)[1].text = name;
			report_cells(t, at)[2].quantity = quantity_exact(5, LABEL_MODEL);
		}
	}
}

static void make_table(struct report_table *t, enum report_layout layout, const char *name)
{
	const struct report_column columns[] = {{.kind = REPORT_COUNT, .name = name},
		{.kind = REPORT_TEXT, .name = name},
		{.kind = REPORT_RATIO, .name = "ratio", .heading = name}};

	*t = (struct report_table){.report = "test", .title = name, .layout = layout};
	t->places = layout == REPORT_LIST ? name : NULL;
	report_columns_add(t, columns, 3);
	add_rows(t, name);
	report_head(t, name, "%s", name);
	report_head(t, NULL, "%s", name);
	report_summary(t, name, "%s", name);
	report_note(t, "%s", name);
}

enum format { TEXT, DIMMED, CSV, DOT, JSON, FORMATS };

static void render(const struct report_table *t, enum format format, struct strbuf *out)
{
	const struct prof_style style = {
		.dim = format == DIMMED, .utf8 = format == DIMMED, .intervals = true};

	if (format == CSV)
		render_prof_csv(t, out);
	else if (format == DOT)
		render_prof_dot(t, out);
	else if (format == JSON)
		render_prof_json(t, out, NULL);
	else
		render_prof_text(t, &style, out);
	for (size_t i = 0; format == DIMMED && i < out->length; i++)
		if (out->data[i] == SHOWN_DIM[0] || out->data[i] == SHOWN_DIM_END[0])
			out->data[i] = ' ';
}

static void test_tables(void)
{
	for (int layout = 0; layout <= REPORT_CAUSES; layout++)
		for (int format = 0; format < FORMATS; format++) {
			struct report_table t, plain;
			struct strbuf out = {0}, usual = {0};

			make_table(&t, (enum report_layout)layout, hostile);
			make_table(&plain, (enum report_layout)layout, "plain");
			render(&t, (enum format)format, &out);
			render(&plain, (enum format)format, &usual);
			ok(out.length && !bad_byte(out.data, out.length),
				"layout %d, format %d: nothing to obey", layout, format);
			is_int((long long)lines_of(&out), (long long)lines_of(&usual),
				"and as many lines as with other names");
			strbuf_fini(&out);
			strbuf_fini(&usual);
			report_table_fini(&t);
			report_table_fini(&plain);
		}
}

static void counts_with(struct counts_report *r, const char *name, const char *const *command)
{
	*r = (struct counts_report){.command = command,
		.runs = 1,
		.clock_hz = 1e9,
		.clock_from = "stated",
		.elapsed = quantity_exact(1, LABEL_MEASURED),
		.event_count = 2,
		.thread_count = 1,
		.costs = true};
	r->events = calloc(2, sizeof(*r->events));
	r->threads = calloc(1, sizeof(*r->threads));
	r->threads[0].counts = calloc(2, sizeof(struct count));
	r->threads[0].tid = 1;
	snprintf(r->threads[0].command, sizeof(r->threads[0].command), "%s", name);
	snprintf(r->machine, sizeof(r->machine), "%s", name);
	snprintf(r->source, sizeof(r->source), "%s", name);
	snprintf(r->machine_description, sizeof(r->machine_description), "%s", name);
	snprintf(r->cost_table, sizeof(r->cost_table), "%s", name);
	for (int i = 0; i < 2; i++) {
		r->events[i] = (struct event_row){.number = i - 1,
			.short_name = name,
			.name = name,
			.unit = name,
			.note = name};
		snprintf(r->events[i].count.why, sizeof(r->events[i].count.why), "%s", name);
		if (i)
			r->events[i].count.quantity = quantity_exact(5, LABEL_MODEL);
	}
}

static void test_counts(void)
{
	static const char *const names[] = {"plain", hostile};
	size_t lines[2][4];

	for (int h = 0; h < 2; h++)
		for (int format = 0; format < 4; format++) {
			const char *const command[] = {names[h], names[h], NULL};
			struct counts_report r;
			struct strbuf out = {0};

			counts_with(&r, names[h], command);
			r.costs = format != 3;
			if (format == 1)
				render_counts_csv(&r, &out);
			else if (format == 2)
				render_counts_json(&r, &out, NULL);
			else
				render_counts_text(&r, 0, &out);
			ok(out.length && !bad_byte(out.data, out.length),
				"counts, format %d: nothing to obey", format);
			lines[h][format] = lines_of(&out);
			is_int((long long)lines[h][format], (long long)lines[0][format], "lines");
			strbuf_fini(&out);
			free(r.threads[0].counts);
			free(r.threads);
			free(r.events);
		}
}

static void test_block(void)
{
	struct block_result result = {.class = BLOCK_OK, .state = ""};
	const struct block_row row = {
		.hex = hostile, .where = hostile, .function = hostile, .result = &result};
	struct strbuf out = {0};
	char *json = NULL;
	size_t length;
	FILE *f;

	render_block_text(&row, BLOCK_UNROLLED, &out);
	render_blocks_line(&row, true, &out);
	render_blocks_csv(&row, &out);
	f = open_memstream(&json, &length);
	render_block_json(&row, BLOCK_UNROLLED, f);
	fclose(f);
	strbuf_puts(&out, json);
	ok(!bad_byte(out.data, out.length), "blocks: nothing to obey");
	free(json);
	strbuf_fini(&out);
}

static void test_others(void)
{
	struct tui_screen screen = {.unicode = true};
	struct strbuf out = {0};
	char *text = NULL;
	size_t length;
	FILE *f;

	tui_screen_resize(&screen, 3, 2000);
	tui_put(&screen, 1, 0, 2000, 0, hostile, TUI_PLAIN);
	tui_screen_text(&screen, false, &out);
	ok(strstr(strbuf_text(&out), "\\x1b]0;title") && !bad_byte(out.data, out.length),
		"the interface's screen");
	tui_screen_fini(&screen);
	strbuf_fini(&out);
	f = open_memstream(&text, &length);
	row_quote(hostile, f);
	fclose(f);
	ok(!bad_byte(text, length) && !strchr(text, '\n'), "dumps");
	free(text);
	protobuf_string(&out, 1, hostile);
	/* After key and length, which are bytes of any value. */
	ok(out.length > 8 && !bad_byte(out.data + 3, out.length - 3), "texts of pprof");
	strbuf_fini(&out);
}

static void test_messages(void)
{
	char path[] = "/tmp/test_shown.XXXXXX", text[4096];
	int fd = mkstemp(path), before = dup(2);
	size_t n;
	FILE *f;

	dup2(fd, 2);
	say("%s", hostile);
	dup2(before, 2);
	f = fopen(path, "r");
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	unlink(path);
	ok(n > 300 && !bad_byte(text, n) && strchr(text, '\n') == text + n - 1, "messages");
}

int main(void)
{
	make_hostile();
	test_text();
	test_tables();
	test_counts();
	test_block();
	test_others();
	test_messages();
	return done();
}
