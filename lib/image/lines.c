/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of addresses. A unit's table is decoded when it is first needed. Rows take 24 bytes each:
 * when there are more than MOST_ROWS, only those of the last table are kept. Callers ask in order
 * of address, and for the same addresses again in the next pass, so answers are kept. Where tables
 * are needed by turns all the same, more rows are kept the more were decoded again. Tables that
 * overlap, of which each unit could have its own, have more bytes than the section: the last ones
 * are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "image/debug.h"
#include "image/line_table.h"
#include "image/private.h"

#define MOST_ROWS   (1u << 17)
#define ROWS_REPAID 8 /* as many times a row that is kept for that may have been decoded again */

/* A table of .debug_line; units may share one. */
struct decoded {
	struct {
		uint64_t offset;
	} key;
	struct line_table table;
	bool read; /* it has its rows */
};

struct file {
	struct {
		uint64_t unit, number;
	} key;
	char *path; /* NULL: there is none */
};

static bool lines_is_code(void *debug, uint64_t low, uint64_t high)
{
	return debug_is_code(debug, low, high);
}

static void drop_others(struct debug *d, const struct decoded *kept)
{
	d->rows = 0;
	for (size_t i = 0; i < d->lines.count; i++) {
		struct decoded *other = table_at(&d->lines, i);

		if (other == kept)
			continue;
		line_table_drop_rows(&other->table);
		other->read = false;
	}
}

static void count_rows(struct debug *d, const struct decoded *t, bool again)
{
	size_t count = t->table.rows.count;

	if (again)
		d->rows_again += count;
	if (d->rows > MOST_ROWS + d->rows_again / ROWS_REPAID)
		drop_others(d, t);
	d->rows += count;
}

static int lines_decode(struct debug *d, struct unit *u, struct decoded *to)
{
	Dwarf_Attribute a;
	const bool again = to->table.bytes;
	const struct span lines = elf_file_find(d->elf, ".debug_line");
	const struct line_sections sections = {
		.lines = lines,
		.most = lines.size - (again ? 0 : d->lines_bytes),
		.strings = elf_file_find(d->elf, ".debug_str"),
		.line_strings = elf_file_find(d->elf, ".debug_line_str"),
		.alt_strings =
			d->alt_elf ? elf_file_find(d->alt_elf, ".debug_str") : (struct span){0},
		.directory = entry_string(dwarf_attr(&u->die, DW_AT_comp_dir, &a)),
		.is_code = lines_is_code,
		.context = d,
	};

	line_table_fini(&to->table);
	to->read = line_table_read(&to->table, &sections, to->key.offset) == 0;
	if (!to->read)
		return error_nomem(NULL);
	if (to->table.bytes > sections.most) {
		to->table.bytes = 0;
		image_complain(d->image,
			"some lines are not known: its tables of lines overlap (it is damaged)");
	}
	if (!again)
		d->lines_bytes += to->table.bytes;
	count_rows(d, to, again);
	return 0;
}

/* The table of a unit, whose rows may be left out; NULL: it has none. */
static const struct line_table *lines_table(struct debug *d, struct unit *u, bool rows)
{
	struct decoded key = {0}, *own;
	size_t before = d->lines.count;
	Dwarf_Attribute a;

	if (dwarf_formudata(dwarf_attr(&u->die, DW_AT_stmt_list, &a), &key.key.offset) != 0)
		return NULL;
	d->lines.entry_size = sizeof(struct decoded);
	d->lines.key_size = sizeof(key.key);
	own = table_add(&d->lines, &key.key);
	if (!own)
		return NULL;
	if ((d->lines.count != before || (rows && !own->read)) && lines_decode(d, u, own))
		return NULL;
	return &own->table;
}

/* "a/./b" and "a//b" become "a/b": compilers differ. */
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

/* The directory of a file may be the unit's, or relative to it. */
static char *full_path(struct unit *u, const struct line_file *f)
{
	bool below = f->name[0] != '/' && f->directory && f->directory[0], same;
	Dwarf_Attribute a;
	const char *unit = entry_string(dwarf_attr(&u->die, DW_AT_comp_dir, &a));
	const char *first = below ? f->directory : f->name;
	size_t length = unit ? strlen(unit) : 0;
	struct strbuf path = {0};
	char *text;

	same = length && strncmp(first, unit, length) == 0 &&
	       (first[length] == '/' || (below && !first[length]));
	if (first[0] != '/' && length && !same)
		strbuf_printf(&path, "%s/", unit);
	if (below)
		strbuf_printf(&path, "%s/", f->directory);
	strbuf_puts(&path, f->name);
	text = strbuf_take(&path);
	if (text)
		drop_dots(text);
	return text;
}

/* A line that was found, or is missing. */
struct answer {
	struct {
		uint64_t address;
	} key;
	struct image_line line;
};

static const char *file_of(
	struct debug *d, struct unit *u, const struct line_table *t, uint64_t number)
{
	struct file key = {.key = {dwarf_dieoffset(&u->die), number}}, *f;
	size_t before = d->files.count;

	if (number >= t->files.count)
		return NULL;
	d->files.entry_size = sizeof(struct file);
	d->files.key_size = sizeof(key.key);
	f = table_add(&d->files, &key.key);
	if (!f)
		return NULL;
	if (d->files.count != before && t->files.data[number].name)
		f->path = full_path(u, &t->files.data[number]);
	return f->path;
}

const char *lines_file(struct debug *d, struct unit *u, uint64_t number)
{
	const struct line_table *t = lines_table(d, u, false);

	return t ? file_of(d, u, t, number) : NULL;
}

static void find_of_lines(
	struct debug *d, struct unit *u, uint64_t address, struct image_line *line)
{
	const struct line_table *t = lines_table(d, u, true);
	const struct line_row *row;
	bool begins;

	row = t ? line_table_find(t, address, &begins) : NULL;
	if (row)
		*line = (struct image_line){
			.file = file_of(d, u, t, row->file),
			.line = row->line,
			.column = row->column,
			.discriminator = row->discriminator,
			.begins = begins,
		};
}

int lines_find(struct debug *d, struct unit *u, uint64_t address, struct image_line *line)
{
	struct answer key = {.key = {address}}, *answer;
	size_t before;

	d->answers.entry_size = sizeof(struct answer);
	d->answers.key_size = sizeof(key.key);
	before = d->answers.count;
	answer = table_add(&d->answers, &key.key);
	if (!answer)
		return -1;
	if (d->answers.count != before)
		find_of_lines(d, u, address, &answer->line);
	*line = answer->line;
	return line->file ? 0 : -1;
}

void lines_fini(struct debug *d)
{
	for (size_t i = 0; i < d->files.count; i++)
		free(((struct file *)table_at(&d->files, i))->path);
	table_fini(&d->files);
	table_fini(&d->answers);
	for (size_t i = 0; i < d->lines.count; i++)
		line_table_fini(&((struct decoded *)table_at(&d->lines, i))->table);
	table_fini(&d->lines);
}
