/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a file: where attributes, records and features are. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "perfdata/private.h"

#define PIPE_HEADER   16
#define OLD_HEADER    72 /* without features */
#define HEADER        104
#define SECTION       16
#define ATTR_LEAST    64
#define ATTR_MOST     4096
#define FEATURE_WORDS 4

/* Offsets in the header. */
enum { AT_SIZE = 8, AT_ATTR_SIZE = 16, AT_ATTRS = 24, AT_DATA = 40, AT_FEATURES = 72 };

static const char marks[2][8] = {"PERFILE2", "2ELIFREP"};

void perfdata_damage(struct perfdata *p, const char *format, ...)
{
	va_list ap;

	if (p->damage.damaged)
		return;
	p->damage.damaged = true;
	va_start(ap, format);
	vsnprintf(p->damage.message, sizeof(p->damage.message), format, ap);
	va_end(ap);
}

static bool begins_with(const void *data, size_t size, const char *mark)
{
	return size >= 8 && memcmp(data, mark, 8) == 0;
}

bool perfdata_is_file(const void *data, size_t size)
{
	return begins_with(data, size, marks[0]) || begins_with(data, size, marks[1]) ||
	       begins_with(data, size, "PERFFILE") || begins_with(data, size, "ELIFFREP");
}

struct section {
	uint64_t offset, size;
};

static struct section section_at(const struct perfdata *p, size_t at)
{
	return (struct section){perfdata_u64(p, p->data + at), perfdata_u64(p, p->data + at + 8)};
}

static bool is_inside(const struct perfdata *p, struct section s)
{
	return s.offset <= p->size && s.size <= p->size - s.offset;
}

static int nonsense(struct error *e, const char *what, uint64_t value)
{
	error_set(e, ERR_PARSE, "its header makes no sense: %s %" PRIu64, what, value);
	return error_hint(e, "the file is damaged or not written by perf: record it again, or "
			     "check it with perf report -i");
}

/* Attributes followed by the position of their ids. */
static int read_attrs(struct perfdata *p, struct error *e)
{
	struct section attrs = section_at(p, AT_ATTRS);
	uint64_t stride = perfdata_u64(p, p->data + AT_ATTR_SIZE);
	size_t left = p->size; /* bytes of ids: each belongs to one event */

	if (stride < ATTR_LEAST + SECTION || stride > ATTR_MOST)
		return nonsense(e, "attributes of bytes:", stride);
	if (!is_inside(p, attrs))
		return nonsense(e, "attributes lie beyond its end, at byte", attrs.offset);
	for (uint64_t i = 0; i < attrs.size / stride; i++) {
		const char *attr = p->data + attrs.offset + i * stride;
		uint32_t size = perfdata_u32(p, attr + 4);
		struct section ids;
		long event;

		/* The first kernels wrote 0 for the smallest size. */
		if (size < ATTR_LEAST || size > stride - SECTION)
			size = size < ATTR_LEAST ? ATTR_LEAST : (uint32_t)stride - SECTION;
		ids = section_at(p, (size_t)(attr - p->data) + stride - SECTION);
		if (!is_inside(p, ids) || ids.size > left)
			return nonsense(e,
				is_inside(p, ids) ? "events share ids, at byte"
						  : "ids lie beyond its end, at byte",
				ids.offset);
		left -= ids.size;
		event = perfdata_add_event(p, attr, size);
		if (event < 0 || perfdata_add_ids(p, (uint32_t)event, p->data + ids.offset,
					 (size_t)(ids.size / 8)))
			return error_nomem(e);
	}
	if (p->events.count)
		return 0;
	error_set(e, ERR_PARSE, "it has no events");
	return error_hint(e, "perf record was stopped before it began, or the file was damaged: "
			     "record it again");
}

/* The bits of features that there are. */
static void read_bits(const struct perfdata *p, uint64_t *bits)
{
	enum { HOSTNAME = 3 };

	for (size_t i = 0; i < FEATURE_WORDS; i++)
		bits[i] = perfdata_u64(p, p->data + AT_FEATURES + 8 * i);
	/* Big-endian machines of 32 bits write words of theirs; there is always a name. */
	if (p->swapped && !(bits[0] >> HOSTNAME & 1))
		for (size_t i = 0; i < FEATURE_WORDS; i++)
			bits[i] = bits[i] << 32 | bits[i] >> 32;
}

/* Their positions follow the records, in order. */
static int read_features(struct perfdata *p, struct error *e)
{
	uint64_t bits[FEATURE_WORDS];
	size_t at = p->end;

	read_bits(p, bits);
	for (unsigned i = 0; i < 64 * FEATURE_WORDS; i++) {
		struct section s;

		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		if (p->size - at < SECTION) {
			perfdata_damage(p,
				"truncated after byte %zu: what perf wrote of the host "
				"and of files is missing",
				p->size);
			return 0;
		}
		s = section_at(p, at);
		at += SECTION;
		if (!is_inside(p, s))
			perfdata_damage(
				p, "truncated after byte %zu: feature %u is missing", p->size, i);
		else if (perfdata_feature(p, i, p->data + s.offset, (size_t)s.size))
			return error_nomem(e);
	}
	return 0;
}

static int read_file(struct perfdata *p, uint64_t header, struct error *e)
{
	struct section data;

	if (p->size < header) {
		error_set(e, ERR_PARSE, "its header is truncated after byte %zu", p->size);
		return error_hint(e, "record it again");
	}
	if (read_attrs(p, e))
		return -1;
	data = section_at(p, AT_DATA);
	if (data.offset > p->size || data.offset < header)
		return nonsense(e, "records begin at byte", data.offset);
	p->begin = (size_t)data.offset;
	p->end = p->size;
	if (data.size == 0 && p->size > p->begin) {
		perfdata_damage(p,
			"perf record was not ended properly: what it writes at the end is missing");
		return 0;
	}
	if (data.size > p->size - p->begin) {
		perfdata_damage(p, "truncated after byte %zu of %" PRIu64, p->size,
			data.offset + data.size);
		return 0;
	}
	p->end = p->begin + (size_t)data.size;
	return header == HEADER ? read_features(p, e) : 0;
}

int perfdata_header(struct perfdata *p, struct error *e)
{
	uint64_t header;

	if (p->size < PIPE_HEADER || !perfdata_is_file(p->data, p->size)) {
		error_set(e, ERR_PARSE, "not a perf.data file");
		return error_hint(e, "record one with perf record");
	}
	if (!begins_with(p->data, p->size, marks[0]) && !begins_with(p->data, p->size, marks[1])) {
		error_set(e, ERR_UNSUPPORTED, "it has the first version of perf.data, of 2009");
		return error_hint(e, "record it again with a current perf");
	}
	/* A mark that reads backwards was written by the other byte order. */
	p->swapped =
		begins_with(p->data, p->size, marks[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__]);
	header = perfdata_u64(p, p->data + AT_SIZE);
	if (header == PIPE_HEADER) {
		p->pipe = true;
		p->begin = PIPE_HEADER;
		p->end = p->size;
		return 0;
	}
	if (header != HEADER && header != OLD_HEADER)
		return nonsense(e, "a header of bytes:", header);
	return read_file(p, header, e);
}
