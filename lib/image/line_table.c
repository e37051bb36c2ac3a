/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/line_table.h"

#include <dwarf.h>
#include <string.h>

#include "image/section_reader.h"

/* clang keeps numbers of calls' pseudo-probes where discriminators are, above all of those. */
enum { DISCRIMINATOR_MAX = (1 << 24) - 1, OPERATIONS = 256 };

struct header {
	unsigned version, offset_size, address_size;
	unsigned shortest, operations; /* bytes of the shortest instruction; operations in one */
	bool statement;
	int base;
	unsigned range, first_special;
	uint8_t operands[OPERATIONS];
	struct section_reader program;
};

/* One of the values that an entry of a list consists of. */
struct content {
	unsigned type, form;
};

struct entry {
	const char *name;
	uint64_t directory;
};

static const char *reader_string(struct section_reader *r)
{
	const char *text = r->bad ? NULL : elf_file_span_string(r->left, 0);
	size_t size = text ? strlen(text) + 1 : 0;

	r->bad |= !text;
	if (size) {
		r->left.data += size;
		r->left.size -= size;
	}
	return text;
}

static void reader_skip(struct section_reader *r, uint64_t size)
{
	if (r->bad || size > r->left.size) {
		r->bad = true;
		return;
	}
	if (size) { /* what is empty may be nowhere */
		r->left.data += size;
		r->left.size -= size;
	}
}

/* ---- the header ---- */

static uint64_t read_length(struct section_reader *r, unsigned *offset_size)
{
	uint64_t length = section_reader_bytes(r, 4);

	*offset_size = length == UINT32_MAX ? 8 : 4;
	return length == UINT32_MAX ? section_reader_bytes(r, 8) : length;
}

/* A number, or with *text a string. */
static uint64_t read_form(struct section_reader *r, const struct line_sections *s,
	const struct header *h, unsigned form, const char **text)
{
	switch (form) {
	case DW_FORM_string:
		*text = reader_string(r);
		return 0;
	case DW_FORM_strp:
		*text = elf_file_span_string(s->strings, section_reader_bytes(r, h->offset_size));
		return 0;
	case DW_FORM_line_strp:
		*text = elf_file_span_string(
			s->line_strings, section_reader_bytes(r, h->offset_size));
		return 0;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		*text = elf_file_span_string(
			s->alt_strings, section_reader_bytes(r, h->offset_size));
		return 0;
	case DW_FORM_data1:
		return section_reader_bytes(r, 1);
	case DW_FORM_data2:
		return section_reader_bytes(r, 2);
	case DW_FORM_data4:
		return section_reader_bytes(r, 4);
	case DW_FORM_data8:
		return section_reader_bytes(r, 8);
	case DW_FORM_udata:
		return section_reader_uleb(r);
	case DW_FORM_data16:
		reader_skip(r, 16);
		return 0;
	case DW_FORM_block:
		reader_skip(r, section_reader_uleb(r));
		return 0;
	default:
		r->bad = true;
		return 0;
	}
}

static int add_file(struct line_table *t, const struct entry *e)
{
	const struct line_file f = {
		e->directory < t->directories.count ? t->directories.data[e->directory] : NULL,
		e->name};

	return vec_add(&t->files, f);
}

/* A list of directories or of files, of version 5. */
static int read_contents(struct line_table *t, struct section_reader *r,
	const struct line_sections *s, const struct header *h, bool files)
{
	struct content contents[UINT8_MAX];
	unsigned count = (unsigned)section_reader_bytes(r, 1);
	uint64_t entries;

	for (unsigned i = 0; i < count; i++) {
		contents[i].type = (unsigned)section_reader_uleb(r);
		contents[i].form = (unsigned)section_reader_uleb(r);
	}
	entries = section_reader_uleb(r);
	if (!count && entries)
		r->bad = true;
	for (uint64_t i = 0; i < entries && !r->bad; i++) {
		struct entry e = {0};

		for (unsigned k = 0; k < count; k++) {
			const char *text = NULL;
			uint64_t number = read_form(r, s, h, contents[k].form, &text);

			if (contents[k].type == DW_LNCT_path)
				e.name = text;
			else if (contents[k].type == DW_LNCT_directory_index)
				e.directory = number;
		}
		if (files ? add_file(t, &e) : vec_add(&t->directories, e.name))
			return -1;
	}
	return 0;
}

/* After the name. */
static void read_old_file(struct section_reader *r, struct entry *e)
{
	e->directory = section_reader_uleb(r);
	(void)section_reader_uleb(r); /* time */
	(void)section_reader_uleb(r); /* size */
}

/* Before version 5, directory 0 is the unit's and there is no file 0. */
static int read_old_lists(
	struct line_table *t, struct section_reader *r, const struct line_sections *s)
{
	struct entry e = {0};

	if (vec_add(&t->directories, s->directory) || add_file(t, &e))
		return -1;
	while ((e.name = reader_string(r)) && e.name[0])
		if (vec_add(&t->directories, e.name))
			return -1;
	while ((e.name = reader_string(r)) && e.name[0]) {
		read_old_file(r, &e);
		if (add_file(t, &e))
			return -1;
	}
	return 0;
}

/* h->program is bad if the header is. */
static int line_table_header(struct line_table *t, struct header *h, const struct line_sections *s,
	struct section_reader unit)
{
	struct section_reader r;
	uint64_t length;

	h->version = (unsigned)section_reader_bytes(&unit, 2);
	h->program.bad = true;
	if (h->version < 2 || h->version > 5)
		return 0;
	if (h->version == 5)
		(void)section_reader_bytes(&unit, 2); /* sizes of addresses and selectors */
	length = section_reader_bytes(&unit, h->offset_size);
	r = unit;
	reader_skip(&unit, length);
	if (unit.bad)
		return 0;
	r.left.size = length;
	h->shortest = (unsigned)section_reader_bytes(&r, 1);
	h->operations = h->version >= 4 ? (unsigned)section_reader_bytes(&r, 1) : 1;
	h->statement = section_reader_bytes(&r, 1);
	h->base = (int8_t)section_reader_bytes(&r, 1);
	h->range = (unsigned)section_reader_bytes(&r, 1);
	h->first_special = (unsigned)section_reader_bytes(&r, 1);
	for (unsigned i = 1; i < h->first_special; i++)
		h->operands[i] = (uint8_t)section_reader_bytes(&r, 1);
	if (r.bad || !h->range || !h->first_special)
		return 0;
	h->operations = h->operations ?: 1;
	h->program = unit;
	if (h->version < 5)
		return read_old_lists(t, &r, s);
	return read_contents(t, &r, s, h, false) || read_contents(t, &r, s, h, true) ? -1 : 0;
}

/* ---- the program ---- */

struct state {
	struct line_table *table;
	const struct header *h;
	const struct line_sections *sections;
	struct line_row row;
	uint64_t operation; /* in an instruction of several */
	size_t first;       /* row of the sequence */
};

static void state_begin(struct state *s)
{
	s->row = (struct line_row){.file = 1, .line = 1, .begins = s->h->statement};
	s->operation = 0;
	s->first = s->table->rows.count;
}

static void state_advance(struct state *s, uint64_t by)
{
	if (s->h->operations == 1) {
		s->row.address += s->h->shortest * by;
		return;
	}
	s->operation += by;
	s->row.address += s->h->shortest * (s->operation / s->h->operations);
	s->operation %= s->h->operations;
}

/* The rows since the last one, if this image has such code. */
static int state_end(struct state *s, uint64_t high)
{
	struct line_table *t = s->table;
	const struct line_sequence q = {s->first, t->rows.count - s->first};
	uint64_t low = q.count ? t->rows.data[q.first].address : 0;

	if (q.count && low < high && s->sections->is_code(s->sections->context, low, high))
		return intervals_add(&t->ranges, low, high, (uint32_t)t->sequences.count) ||
				       vec_add(&t->sequences, q)
			       ? -1
			       : 0;
	t->rows.count = s->first;
	return 0;
}

static int state_add(struct state *s)
{
	struct line_table *t = s->table;

	/* damage: what comes next is another sequence */
	if (t->rows.count > s->first && t->rows.data[t->rows.count - 1].address > s->row.address) {
		if (state_end(s, t->rows.data[t->rows.count - 1].address))
			return -1;
		s->first = t->rows.count;
	}
	if (vec_add(&t->rows, s->row))
		return -1;
	s->row.discriminator = 0;
	return 0;
}

static int run_special(struct state *s, unsigned operation)
{
	unsigned adjusted = operation - s->h->first_special;

	state_advance(s, adjusted / s->h->range);
	s->row.line += (unsigned)(s->h->base + (int)(adjusted % s->h->range));
	return state_add(s);
}

static int run_extended(struct state *s, struct section_reader *r)
{
	uint64_t length = section_reader_uleb(r), number;
	struct section_reader operands = *r;
	struct entry e;
	int rc;

	reader_skip(r, length);
	if (r->bad || !length)
		return 0;
	operands.left.size = length;
	switch (section_reader_bytes(&operands, 1)) {
	case DW_LNE_end_sequence:
		rc = state_end(s, s->row.address);
		state_begin(s);
		return rc;
	case DW_LNE_set_address:
		s->row.address = section_reader_bytes(&operands, length > 8 ? 8 : length - 1);
		s->operation = 0;
		return 0;
	case DW_LNE_define_file:
		e.name = reader_string(&operands);
		read_old_file(&operands, &e);
		return add_file(s->table, &e);
	case DW_LNE_set_discriminator:
		number = section_reader_uleb(&operands);
		s->row.discriminator = number > DISCRIMINATOR_MAX ? 0 : (uint32_t)number;
		return 0;
	default:
		return 0;
	}
}

static int run_standard(struct state *s, struct section_reader *r, unsigned operation)
{
	uint64_t number;

	switch (operation) {
	case DW_LNS_copy:
		return state_add(s);
	case DW_LNS_advance_pc:
		state_advance(s, section_reader_uleb(r));
		return 0;
	case DW_LNS_advance_line:
		s->row.line += (uint32_t)section_reader_sleb(r);
		return 0;
	case DW_LNS_set_file:
		s->row.file = (uint32_t)section_reader_uleb(r);
		return 0;
	case DW_LNS_set_column:
		number = section_reader_uleb(r);
		s->row.column = number > UINT16_MAX ? 0 : (uint16_t)number;
		return 0;
	case DW_LNS_negate_stmt:
		s->row.begins = !s->row.begins;
		return 0;
	case DW_LNS_const_add_pc:
		state_advance(s, (255 - s->h->first_special) / s->h->range);
		return 0;
	case DW_LNS_fixed_advance_pc:
		s->row.address += section_reader_bytes(r, 2);
		s->operation = 0;
		return 0;
	default: /* of later versions, or without effect here */
		for (unsigned i = 0; i < s->h->operands[operation]; i++)
			(void)section_reader_uleb(r);
		return 0;
	}
}

static int run_rows(struct line_table *t, const struct header *h, const struct line_sections *s)
{
	struct state state = {.table = t, .h = h, .sections = s};
	struct section_reader r = h->program;
	int rc = 0;

	state_begin(&state);
	while (!rc && !r.bad && r.left.size) {
		unsigned operation = *r.left.data++;

		r.left.size--;
		if (operation >= h->first_special)
			rc = run_special(&state, operation);
		else if (operation)
			rc = run_standard(&state, &r, operation);
		else
			rc = run_extended(&state, &r);
	}
	t->rows.count = state.first; /* of a sequence without end */
	return rc;
}

int line_table_read(struct line_table *t, const struct line_sections *s, uint64_t offset)
{
	struct section_reader r = {.left = s->lines};
	struct header h = {0};
	uint64_t length;
	int rc;

	*t = (struct line_table){0};
	reader_skip(&r, offset);
	length = read_length(&r, &h.offset_size);
	if (r.bad)
		return 0;
	if (length < r.left.size)
		r.left.size = length;
	t->bytes = r.left.size;
	if (t->bytes > s->most)
		return 0;
	rc = line_table_header(t, &h, s, r) || run_rows(t, &h, s) ? -1 : 0;
	intervals_settle(&t->ranges);
	return rc;
}

const struct line_row *line_table_find(const struct line_table *t, uint64_t address, bool *begins)
{
	const struct interval *i = intervals_find(&t->ranges, address);
	const struct line_sequence *q = i ? &t->sequences.data[i->value] : NULL;
	const struct line_row *rows = q ? t->rows.data + q->first : NULL;
	size_t count = q ? vec_search(k, q->count, rows[k].address <= address) : 0;

	*begins = false;
	for (size_t k = count; k-- > 0 && rows[k].address == address;)
		*begins = *begins || rows[k].begins;
	return count ? &rows[count - 1] : NULL;
}

void line_table_drop_rows(struct line_table *t)
{
	vec_fini(&t->rows);
	vec_fini(&t->sequences);
	intervals_fini(&t->ranges);
}

void line_table_fini(struct line_table *t)
{
	line_table_drop_rows(t);
	vec_fini(&t->directories);
	vec_fini(&t->files);
}
