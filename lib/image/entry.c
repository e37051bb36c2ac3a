/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/dwarf.h"

bool entries_begin(struct entries *s, struct unit *u, uint64_t offset)
{
	struct span info = dwarf_section(u->file, DEBUG_INFO);

	s->unit = u;
	s->abbrevs = abbrevs_of(u);
	s->start = info.data;
	if (!s->abbrevs || offset < u->first || offset >= u->end || u->end > info.size)
		return false;
	info.size = u->end;
	s->at = cursor_at(info, offset);
	return !s->at.bad;
}

bool entries_next(struct entries *s, struct entry *e)
{
	uint64_t code;

	if (s->at.at == s->at.end)
		return false;
	e->offset = (uint64_t)(s->at.at - s->start);
	code = cursor_uleb(&s->at);
	e->abbrev = NULL;
	if (code == 0)
		return !s->at.bad;
	e->abbrev = abbrev_find(s->abbrevs, code);
	if (!e->abbrev)
		return false;
	e->values = s->at;
	if (e->abbrev->size >= 0) {
		cursor_skip(&s->at, (uint64_t)e->abbrev->size);
		return !s->at.bad;
	}
	for (uint32_t i = 0; i < e->abbrev->count; i++) {
		const struct abbrev_spec *spec = &s->abbrevs->specs.data[e->abbrev->first + i];

		if (spec->size >= 0)
			cursor_skip(&s->at, (uint64_t)spec->size);
		else
			form_skip(&s->at, s->unit, spec->form);
	}
	return !s->at.bad;
}

void entry_values(const struct entries *s, const struct entry *e, const uint16_t *wanted,
	struct value *values)
{
	struct cursor c = e->values;

	for (size_t k = 0; wanted[k]; k++)
		values[k] = (struct value){0};
	for (uint32_t i = 0; i < e->abbrev->count && !c.bad; i++) {
		const struct abbrev_spec *spec = &s->abbrevs->specs.data[e->abbrev->first + i];
		size_t k = 0;

		while (wanted[k] && wanted[k] != spec->name)
			k++;
		if (wanted[k])
			values[k] = form_read(&c, s->unit, spec->form, spec->constant);
		else
			form_skip(&c, s->unit, spec->form);
	}
}

struct unit *value_reference(struct unit *u, const struct value *v, uint64_t *offset)
{
	struct dwarf_file *f = u->file;

	switch (v->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*offset = u->offset + v->u;
		return *offset >= u->first && *offset < u->end ? u : NULL;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		f = f->alt;
		break;
	case DW_FORM_ref_addr:
		break;
	default:
		return NULL;
	}
	*offset = v->u;
	u = f ? dwarf_unit_of(f, v->u) : NULL;
	return u && unit_read(u) ? u : NULL;
}
