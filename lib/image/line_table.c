/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Line tables: DWARF 5, section 6.2.  A program is run once, and every so many rows its state is
 * kept; a line is found by running it again from the state before it.  So a table costs about one
 * byte a row, and a lookup some ten instructions of the program.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "image/line_header.h"

#define ROWS_APART 32

/* A row, as registers of the state machine. */
struct row {
	uint64_t address;
	uint32_t line, file;
	uint16_t column;
	bool statement;
};

struct mark {
	struct row row;
	uint32_t next; /* offset in the program of what follows the row */
};

struct sequence {
	uint32_t first, count; /* marks */
};

struct line_table {
	struct line_header header;
	VEC(struct mark) marks;
	VEC(struct sequence) sequences;
	struct intervals ranges; /* of sequences */
	char **paths;            /* of files, made when asked for */
	const char *directory;   /* of the unit */
};

enum step { STEP_ON, STEP_ROW, STEP_END };

static void row_reset(struct row *r, const struct line_header *h)
{
	*r = (struct row){.file = 1, .line = 1, .statement = h->default_statement};
}

static enum step extended(struct cursor *c, const struct line_header *h, struct row *r)
{
	uint64_t length = cursor_uleb(c);
	struct cursor body = cursor_part(c, length);

	switch (cursor_u8(&body)) {
	case DW_LNE_end_sequence:
		return c->bad ? STEP_ON : STEP_END;
	case DW_LNE_set_address:
		r->address = cursor_fixed(&body, length == 5 ? 4 : 8);
		break;
	default: /* files defined late, discriminators, what is not known */
		break;
	}
	(void)h;
	return STEP_ON;
}

static void advance(struct row *r, const struct line_header *h, uint64_t operations)
{
	r->address += operations * h->minimum_instruction;
}

/* One opcode. */
static inline enum step step(struct cursor *c, const struct line_header *h, struct row *r)
{
	uint8_t op = cursor_u8(c);

	if (op >= h->opcode_base) {
		unsigned adjusted = (unsigned)op - h->opcode_base;

		advance(r, h, adjusted / h->line_range);
		r->line += (uint32_t)(h->line_base + (int)(adjusted % h->line_range));
		return STEP_ROW;
	}
	switch (op) {
	case 0:
		return extended(c, h, r);
	case DW_LNS_copy:
		return STEP_ROW;
	case DW_LNS_advance_pc:
		advance(r, h, cursor_uleb(c));
		break;
	case DW_LNS_advance_line:
		r->line += (uint32_t)cursor_sleb(c);
		break;
	case DW_LNS_set_file:
		r->file = (uint32_t)cursor_uleb(c);
		break;
	case DW_LNS_set_column:
		r->column = (uint16_t)cursor_uleb(c);
		break;
	case DW_LNS_negate_stmt:
		r->statement = !r->statement;
		break;
	case DW_LNS_const_add_pc:
		advance(r, h, (255u - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		r->address += cursor_u16(c);
		break;
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_set_isa:
		(void)cursor_uleb(c);
		break;
	default:
		for (unsigned n = h->operands[op]; n > 0; n--)
			(void)cursor_uleb(c);
		break;
	}
	return STEP_ON;
}

static int add_mark(struct line_table *t, const struct row *r, const struct cursor *c)
{
	struct mark *m = vec_push(&t->marks);

	if (!m)
		return -1;
	m->row = *r;
	m->next = (uint32_t)(c->at - t->header.program.at);
	return 0;
}

/* The sequence that began with mark `first` ends at address; what no code has is dropped. */
static int end_sequence(struct line_table *t, struct debug *d, size_t first, uint64_t end)
{
	struct sequence *s;
	uint64_t low;

	if (first == t->marks.count)
		return 0;
	low = t->marks.data[first].row.address;
	if (!debug_is_code(d, low, end)) {
		t->marks.count = first;
		return 0;
	}
	s = vec_push(&t->sequences);
	if (!s)
		return -1;
	*s = (struct sequence){(uint32_t)first, (uint32_t)(t->marks.count - first)};
	return intervals_add(&t->ranges, low, end, (uint32_t)(t->sequences.count - 1));
}

/* Addresses of a sequence only grow; where they do not, another begins. */
static int run(struct line_table *t, struct debug *d)
{
	struct cursor c = t->header.program;
	size_t first = 0, since = 0;
	uint64_t last = 0;
	struct row r;

	row_reset(&r, &t->header);
	while (!c.bad && c.at != c.end) {
		enum step s = step(&c, &t->header, &r);

		if (s == STEP_ON || c.bad)
			continue;
		if (s == STEP_END || (first != t->marks.count && r.address < last)) {
			if (end_sequence(t, d, first, s == STEP_END ? r.address : last + 1))
				return -1;
			first = t->marks.count;
		}
		if (s == STEP_END) {
			row_reset(&r, &t->header);
		} else if (first == t->marks.count || ++since >= ROWS_APART) {
			if (add_mark(t, &r, &c))
				return -1;
			since = 0;
		}
		last = r.address;
	}
	return end_sequence(t, d, first, last + 1);
}

struct line_table *line_table_of(struct unit *u, struct debug *d)
{
	struct line_table *t;

	if (u->lines_sought || !unit_read(u) || u->line_offset == OFFSET_NONE)
		return u->lines;
	u->lines_sought = true;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->directory = u->directory;
	if (line_header_read(&t->header, u) || run(t, d)) {
		line_table_free(t);
		return NULL;
	}
	intervals_settle(&t->ranges);
	return u->lines = t;
}

static void take(struct line_table *t, const struct row *r, struct image_line *line)
{
	line->file = line_table_file(t, r->file);
	line->line = r->line;
	line->column = r->column;
}

/* The last mark at or before address. */
static const struct mark *mark_before(
	const struct line_table *t, const struct sequence *s, uint64_t address)
{
	uint32_t low = s->first, high = s->first + s->count;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->marks.data[middle].row.address <= address)
			low = middle;
		else
			high = middle;
	}
	return &t->marks.data[low];
}

int line_table_find(struct line_table *t, uint64_t address, struct image_line *line)
{
	const struct interval *i = intervals_find(&t->ranges, address);
	struct cursor c = t->header.program;
	struct row r, found;
	bool begins;

	if (!i)
		return -1;
	found = mark_before(t, &t->sequences.data[i->value], address)->row;
	cursor_skip(&c, mark_before(t, &t->sequences.data[i->value], address)->next);
	begins = found.address == address && found.statement;
	r = found;
	while (!c.bad && c.at != c.end) {
		enum step s = step(&c, &t->header, &r);

		if (s == STEP_END ||
			(s == STEP_ROW && (r.address > address || r.address < found.address)))
			break;
		if (s == STEP_ROW) {
			found = r;
			begins = begins || (r.address == address && r.statement);
		}
	}
	take(t, &found, line);
	line->begins = begins;
	return line->file ? 0 : -1;
}

/* "a/./b" and "a//b" are "a/b": compilers do not agree on these. */
static void drop_dots(char *path)
{
	char *to = path;

	for (const char *from = path; *from; from++) {
		bool after_slash = to != path && to[-1] == '/';

		while (after_slash && (*from == '/' || (from[0] == '.' && from[1] == '/')))
			from += *from == '/' ? 1 : 2;
		*to++ = *from;
		if (!*from)
			return;
	}
	*to = '\0';
}

const char *line_table_file(struct line_table *t, uint64_t number)
{
	const struct line_header *h = &t->header;
	const struct line_file *f;
	const char *directory;
	struct strbuf path = {0};

	if (number < h->first_file || number - h->first_file >= h->files.count)
		return NULL;
	number -= h->first_file;
	if (!t->paths && !(t->paths = calloc(h->files.count, sizeof(*t->paths))))
		return NULL;
	if (t->paths[number])
		return t->paths[number];
	f = &h->files.data[number];
	directory = f->directory < h->directories.count ? h->directories.data[f->directory] : NULL;
	if (f->name[0] != '/') {
		if (!directory)
			directory = t->directory;
		else if (directory[0] != '/' && t->directory && directory != t->directory)
			strbuf_printf(&path, "%s/", t->directory);
		if (directory && *directory)
			strbuf_printf(&path, "%s/", directory);
	}
	strbuf_puts(&path, f->name);
	t->paths[number] = strbuf_take(&path);
	if (t->paths[number])
		drop_dots(t->paths[number]);
	return t->paths[number];
}

void line_table_free(struct line_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->paths && i < t->header.files.count; i++)
		free(t->paths[i]);
	free(t->paths);
	line_header_fini(&t->header);
	vec_fini(&t->marks);
	vec_fini(&t->sequences);
	intervals_fini(&t->ranges);
	free(t);
}
