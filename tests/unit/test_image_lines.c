/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of lines: those of this program as libdw decodes them, and small ones written here. */
#include "../tap.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"
#include "image/line_table.h"

/* ---- libdw's rows ---- */

struct compared {
	size_t rows, differ;
};

static bool same_text(const char *a, const char *b)
{
	const char *x = a ? strrchr(a, '/') : NULL, *y = b ? strrchr(b, '/') : NULL;

	return strcmp(x ? x : "", y ? y : "") == 0;
}

static void compare_row(struct image *image, Dwarf_Line *row, Dwarf_Addr at, struct compared *c)
{
	int number, column;
	unsigned discriminator;
	struct image_line line;

	dwarf_lineno(row, &number);
	dwarf_linecol(row, &column);
	dwarf_linediscriminator(row, &discriminator);
	(void)image_line_at(image, at, &line);
	c->rows++;
	if ((int)line.line == number && (int)line.column == column &&
		line.discriminator == discriminator &&
		same_text(line.file, dwarf_linesrc(row, NULL, NULL)))
		return;
	if (c->differ++ < 5)
		fprintf(stderr, "# %#lx: %s:%u:%u, libdw %s:%d:%d\n", (long)at,
			line.file ? line.file : "?", line.line, line.column,
			dwarf_linesrc(row, NULL, NULL), number, column);
}

/* The last row of each address, if it does not end a sequence. Padding, and functions that
 * sanitizers add, have rows as well, but no unit says that it has this code. */
static void compare_unit(struct image *image, Dwarf *dwarf, Dwarf_Die *unit, struct compared *c)
{
	Dwarf_Addr at, next;
	Dwarf_Die owner;
	Dwarf_Lines *lines;
	size_t count;
	bool ends;

	if (dwarf_getsrclines(unit, &lines, &count) != 0)
		return;
	for (size_t i = 0; i + 1 < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		dwarf_lineaddr(row, &at);
		dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &next);
		dwarf_lineendsequence(row, &ends);
		if (!ends && at != next && at > 0x1000 && dwarf_addrdie(dwarf, at, &owner))
			compare_row(image, row, at, c);
	}
}

static void test_this_program(void)
{
	const struct image_identity id = {.path = "/proc/self/exe"};
	const struct image_search where = {0};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct image *image = image_open(&id, &where, NULL);
	struct compared c = {0};
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die unit;

	while (dwarf && image && dwarf_get_units(dwarf, cu, &cu, &version, &type, &unit, NULL) == 0)
		compare_unit(image, dwarf, &unit, &c);
	ok(c.rows > 1000 && c.differ == 0, "this program: %zu of %zu rows differ from libdw's",
		c.differ, c.rows);
	image_close(image);
	dwarf_end(dwarf);
	close(fd);
}

/* ---- tables written here ---- */

/* Version 2: line base -5, range 14, first special operation 13. */
static const uint8_t whole[] = {
	/* length, version, length of the header */
	0x70, 0, 0, 0, 2, 0, 0x21, 0, 0, 0,
	/* the header */
	1, 1, (uint8_t)-5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 'd', 0, 0, 'a', '.', 'c', 0,
	1, 0, 0, 'b', '.', 'c', 0, 0, 0, 0, 0,
	/* code that the linker removed: its rows begin at 0 */
	0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 99, 1, 2, 0x80, 0x40, 0, 1, 1,
	/* a sequence at 0x1000: line 10, a discriminator of 25 bits, then 4 bytes and a line on */
	0, 9, 2, 0, 0x10, 0, 0, 0, 0, 0, 0, 3, 9, 0, 6, 4, 0x80, 0x80, 0x80, 0x80, 1, 5, 7, 1,
	13 + 6 + 4 * 14,
	/* file 2, no statement, on the same address; 32 bytes on its end */
	4, 2, 6, 13 + 5, 2, 32, 0, 1, 1,
	/* another one before it */
	0, 9, 2, 0, 0x08, 0, 0, 0, 0, 0, 0, 13 + 5, 2, 1, 0, 1, 1};

static bool from_1(void *context, uint64_t low, uint64_t high)
{
	(void)context;
	return low > 0 && high > low;
}

static const struct line_row *row_at(const struct line_table *t, uint64_t address)
{
	static const struct line_row none;
	bool begins;
	const struct line_row *row = line_table_find(t, address, &begins);

	return row ? row : &none;
}

static void test_whole(void)
{
	struct line_sections s = {.lines = {whole, sizeof(whole)},
		.most = sizeof(whole),
		.directory = "/unit",
		.is_code = from_1};
	struct line_table t;
	bool begins;

	is_int(whole[0] + 4, sizeof(whole), "the table's length");
	is_int(line_table_read(&t, &s, 0), 0, "a table of version 2");
	is_int(t.files.count, 3, "no file 0, and two");
	is_str(t.files.data[1].directory, "d", "the directory of the first");
	is_str(t.files.data[2].directory, "/unit", "directory 0 is the unit's");
	is_int(t.sequences.count, 2, "removed code is dropped");
	is_int(row_at(&t, 0x500)->line, 0, "... and hides nothing");
	is_int(row_at(&t, 0x1003)->line, 10, "a row goes up to the next");
	is_int(row_at(&t, 0x1003)->column, 7, "its column");
	is_int(row_at(&t, 0x1003)->discriminator, 0, "a discriminator that is none");
	is_int(row_at(&t, 0x1004)->file, 2, "of several at an address the last");
	(void)line_table_find(&t, 0x1004, &begins);
	ok(begins, "... and one of them begins a statement");
	(void)line_table_find(&t, 0x1005, &begins);
	ok(!begins, "nothing begins between them");
	is_int(row_at(&t, 0x1024)->line, 0, "the end of a sequence");
	is_int(row_at(&t, 0x800)->line, 1, "sequences in any order");
	is_int(t.bytes, sizeof(whole) - 4, "its bytes after its length");
	line_table_fini(&t);
	s.most = sizeof(whole) - 5;
	is_int(line_table_read(&t, &s, 0), 0, "one that is longer than it may be");
	is_int(t.files.count + t.sequences.count, 0, "... is not read");
	is_int(t.bytes, sizeof(whole) - 4, "... but its bytes are known");
	line_table_fini(&t);
}

/* What was cut or changed makes other rows, or none, and no more. */
static void test_damage(void)
{
	uint8_t *bytes = malloc(sizeof(whole));
	struct line_table t;
	uint32_t random = 1;
	bool bounded = true;

	for (size_t cut = 0; cut < sizeof(whole); cut++) {
		uint8_t *part = malloc(cut + 1);
		const struct line_sections s = {
			.lines = {part, cut}, .most = cut, .is_code = from_1};

		memcpy(part, whole, cut);
		bounded = line_table_read(&t, &s, cut % 7) == 0 && bounded;
		line_table_fini(&t);
		free(part);
	}
	for (int round = 0; bytes && round < 20000; round++) {
		const struct line_sections s = {
			.lines = {bytes, sizeof(whole)}, .most = sizeof(whole), .is_code = from_1};

		memcpy(bytes, whole, sizeof(whole));
		for (int k = 0; k < 3; k++) {
			random = random * 1664525u + 1013904223u;
			bytes[(random >> 8) % sizeof(whole)] = (uint8_t)(random >> 24);
		}
		bounded =
			line_table_read(&t, &s, 0) == 0 && t.rows.count <= sizeof(whole) && bounded;
		for (uint64_t a = 0; a < 0x1100; a += 0x101)
			(void)row_at(&t, a);
		line_table_fini(&t);
	}
	ok(bounded, "damaged tables");
	free(bytes);
}

int main(void)
{
	test_this_program();
	test_whole();
	test_damage();
	return done();
}
