/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of addresses, from the tables that libdw decodes as a whole. Their rows take 40 bytes each
 * and are kept as long as the handle used to decode them. So the handle of the entries is used for
 * the first MOST_ROWS only. Then another one is used, which is reopened each time that it has
 * decoded as many. Callers ask in order of address, and for the same addresses again in the next
 * pass, so answers are kept.
 *
 * Rows of functions that the linker removed begin at 0. libdw sorts all rows of a unit by address,
 * so they hide lines of the unit's own code if its addresses are below such a function's length.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "image/debug.h"
#include "image/private.h"

#define MOST_ROWS (1u << 16)

struct file {
	struct {
		uint64_t unit, number;
	} key;
	char *path; /* NULL: there is none */
};

static void close_handle(struct debug *d)
{
	if (d->lines != d->dwarf)
		dwarf_end(d->lines);
	d->lines = NULL;
}

/* The unit in the handle for lines. */
static Dwarf_Die *reopened(struct debug *d, struct unit *u, Dwarf_Die *die)
{
	if (d->lines && d->rows > MOST_ROWS && u->lines_in != d->handle)
		close_handle(d);
	if (!d->lines) {
		d->lines = d->handle ? dwarf_begin_elf(d->elf->elf, DWARF_C_READ, NULL) : d->dwarf;
		d->rows = 0;
		d->handle++;
		if (d->lines && d->alt)
			dwarf_setalt(d->lines, d->alt);
	}
	return d->lines ? dwarf_offdie(d->lines, dwarf_dieoffset(&u->die), die) : NULL;
}

/* The rows of a unit; NULL: it has none. */
static Dwarf_Lines *decoded(struct debug *d, struct unit *u, Dwarf_Die *die, size_t *count)
{
	Dwarf_Lines *lines;
	bool read = reopened(d, u, die) && dwarf_getsrclines(die, &lines, count) == 0;

	if (!read && d->lines && !d->cut_sought) {
		d->cut_sought = true;
		d->cut = discriminators_cut(d->elf);
		if (d->cut) { /* a handle remembers failures */
			close_handle(d);
			read = reopened(d, u, die) && dwarf_getsrclines(die, &lines, count) == 0;
		}
	}
	if (!read)
		return NULL;
	if (u->lines_in != d->handle)
		d->rows += *count;
	u->lines_in = d->handle;
	return lines;
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

/* libdw prefixes a file's directory, but not the unit's to a relative one. */
static char *full_path(struct unit *u, const char *name)
{
	Dwarf_Attribute a;
	const char *directory = entry_string(dwarf_attr(&u->die, DW_AT_comp_dir, &a));
	size_t length = directory ? strlen(directory) : 0;
	struct strbuf path = {0};
	char *text;

	if (name[0] != '/' && length &&
		(strncmp(name, directory, length) != 0 || name[length] != '/'))
		strbuf_printf(&path, "%s/", directory);
	strbuf_puts(&path, name);
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

static const char *file_of(struct debug *d, struct unit *u, Dwarf_Files *files, size_t number)
{
	struct file key = {.key = {dwarf_dieoffset(&u->die), number}}, *f;
	const char *name;
	size_t before = d->files.count;

	d->files.entry_size = sizeof(struct file);
	d->files.key_size = sizeof(key.key);
	f = table_add(&d->files, &key.key);
	if (!f)
		return NULL;
	if (d->files.count != before) {
		name = dwarf_filesrc(files, number, NULL, NULL);
		/* before DWARF 5, number 0 is not a file */
		f->path = name && strcmp(name, "???") != 0 ? full_path(u, name) : NULL;
	}
	return f->path;
}

const char *lines_file(struct debug *d, struct unit *u, uint64_t number)
{
	struct file key = {.key = {dwarf_dieoffset(&u->die), number}}, *f;
	Dwarf_Files *files;
	size_t count;
	Dwarf_Die die;

	f = d->files.count ? table_find(&d->files, &key.key) : NULL;
	if (f)
		return f->path;
	if (!decoded(d, u, &die, &count) || dwarf_getsrcfiles(&die, &files, &count) != 0 ||
		number >= count)
		return NULL;
	return file_of(d, u, files, (size_t)number);
}

/* The last row at or before address; NULL: none. */
static Dwarf_Line *row_before(Dwarf_Lines *lines, size_t count, uint64_t address, size_t *index)
{
	Dwarf_Addr at;
	size_t low = vec_search(
		i, count, dwarf_lineaddr(dwarf_onesrcline(lines, i), &at) == 0 && at <= address);

	*index = low;
	return low ? dwarf_onesrcline(lines, low - 1) : NULL;
}

/* Does any of the rows at this address begin a statement? end: after the last of them. */
static bool lines_begins(Dwarf_Lines *lines, size_t end, uint64_t address)
{
	while (end-- > 0) {
		Dwarf_Line *row = dwarf_onesrcline(lines, end);
		bool statement, ends;
		Dwarf_Addr at;

		if (dwarf_lineaddr(row, &at) != 0 || at != address ||
			dwarf_lineendsequence(row, &ends) != 0 || ends)
			return false;
		if (dwarf_linebeginstatement(row, &statement) == 0 && statement)
			return true;
	}
	return false;
}

static void find_of_lines(
	struct debug *d, struct unit *u, uint64_t address, struct image_line *line)
{
	size_t count, end, number;
	int row_line, column;
	Dwarf_Files *files;
	Dwarf_Line *row;
	Dwarf_Lines *lines;
	Dwarf_Die die;
	bool ends;

	lines = decoded(d, u, &die, &count);
	row = lines ? row_before(lines, count, address, &end) : NULL;
	if (!row || dwarf_lineendsequence(row, &ends) != 0 || ends ||
		dwarf_line_file(row, &files, &number) != 0)
		return;
	line->file = file_of(d, u, files, number);
	if (dwarf_lineno(row, &row_line) == 0)
		line->line = (unsigned)row_line;
	if (dwarf_linecol(row, &column) == 0)
		line->column = (unsigned)column;
	if (dwarf_linediscriminator(row, &line->discriminator) != 0)
		line->discriminator = 0;
	line->begins = lines_begins(lines, end, address);
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
	close_handle(d);
}
