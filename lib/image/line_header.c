/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/line_header.h"

#define MOST_FORMATS 16

static int add_directory(struct line_header *h, const char *name)
{
	const char **slot = vec_push(&h->directories);

	if (!slot)
		return -1;
	*slot = name;
	return 0;
}

static int add_file(struct line_header *h, const char *name, uint64_t directory)
{
	struct line_file *slot = vec_push(&h->files);

	if (!slot)
		return -1;
	*slot = (struct line_file){name ? name : "", directory};
	return 0;
}

/* Versions 2 to 4: strings, ended by an empty one; directory 0 is the unit's. */
static int old_tables(struct line_header *h, struct cursor *c, const struct unit *u)
{
	const char *name;

	h->first_file = 1;
	if (add_directory(h, u->directory))
		return -1;
	while ((name = cursor_string(c)) && *name)
		if (add_directory(h, name))
			return -1;
	while ((name = cursor_string(c)) && *name) {
		uint64_t directory = cursor_uleb(c);

		(void)cursor_uleb(c); /* time */
		(void)cursor_uleb(c); /* size */
		if (add_file(h, name, directory))
			return -1;
	}
	return c->bad ? -1 : 0;
}

/* Version 5: a description of entries, and then the entries; for directories and for files. */
static int new_table(struct line_header *h, struct cursor *c, struct unit *u, bool files)
{
	uint8_t formats = cursor_u8(c);
	uint64_t content[MOST_FORMATS], form[MOST_FORMATS], count;

	if (formats > MOST_FORMATS)
		return -1;
	for (uint8_t i = 0; i < formats; i++) {
		content[i] = cursor_uleb(c);
		form[i] = cursor_uleb(c);
	}
	count = cursor_uleb(c);
	if (count > cursor_left(c))
		return -1;
	for (uint64_t n = 0; n < count && !c->bad; n++) {
		const char *name = NULL;
		uint64_t directory = 0;

		for (uint8_t i = 0; i < formats; i++) {
			struct value v = form_read(c, u, (uint16_t)form[i], 0);

			if (content[i] == DW_LNCT_path)
				name = value_string(u, &v);
			else if (content[i] == DW_LNCT_directory_index)
				directory = v.u;
		}
		if (files ? add_file(h, name, directory) : add_directory(h, name))
			return -1;
	}
	return c->bad ? -1 : 0;
}

static int read_parameters(struct line_header *h, struct cursor *c)
{
	h->minimum_instruction = cursor_u8(c);
	if (h->version >= 4)
		(void)cursor_u8(c); /* operations an instruction: 1 but for VLIW */
	h->default_statement = cursor_u8(c) != 0;
	h->line_base = (int8_t)cursor_u8(c);
	h->line_range = cursor_u8(c);
	h->opcode_base = cursor_u8(c);
	for (unsigned op = 1; op < h->opcode_base; op++)
		h->operands[op] = cursor_u8(c);
	return c->bad || h->line_range == 0 || h->opcode_base == 0 ? -1 : 0;
}

int line_header_read(struct line_header *h, struct unit *u)
{
	struct cursor all = cursor_at(dwarf_section(u->file, DEBUG_LINE), u->line_offset), c, head;
	struct unit as = *u; /* forms have the sizes of this table, not of the unit */

	c = dwarf_open_part(&all, &as.offset_size);
	h->version = cursor_u16(&c);
	if (c.bad || h->version < 2 || h->version > 5)
		return -1;
	if (h->version >= 5) {
		as.address_size = cursor_u8(&c);
		(void)cursor_u8(&c); /* size of segment selectors */
	}
	head = cursor_part(&c, cursor_fixed(&c, as.offset_size));
	h->program = c;
	if (read_parameters(h, &head))
		return -1;
	if (h->version < 5)
		return old_tables(h, &head, u);
	return new_table(h, &head, &as, false) || new_table(h, &head, &as, true) ? -1 : 0;
}

void line_header_fini(struct line_header *h)
{
	vec_fini(&h->directories);
	vec_fini(&h->files);
}
