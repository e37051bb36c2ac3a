/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events: their attributes, of any size and byte order, and ids. */
#include <stdlib.h>

#include "perfdata/private.h"

/* The bits after read_format are a bitfield: compilers of big-endian machines begin each byte with
 * its highest bit, and bytes have the same order on both. */
static uint64_t turn_bits(uint64_t bits)
{
	unsigned char bytes[8];

	memcpy(bytes, &bits, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		unsigned char turned = 0;

		for (unsigned k = 0; k < 8; k++)
			turned |= (unsigned char)((bytes[i] >> k & 1u) << (7 - k));
		bytes[i] = turned;
	}
	memcpy(&bits, bytes, sizeof(bytes));
	return bits;
}

#define AT(member) offsetof(struct perf_event_attr, member)

static void turn_attr(struct perf_event_attr *attr)
{
	static const unsigned char words[] = {AT(config), AT(sample_period), AT(sample_type),
		AT(read_format), AT(config1), AT(config2), AT(branch_sample_type),
		AT(sample_regs_user), AT(sample_regs_intr)};
	static const unsigned char halves[] = {AT(type), AT(size), AT(wakeup_events), AT(bp_type),
		AT(sample_stack_user), AT(clockid), AT(aux_watermark)};
	char *bytes = (char *)attr;
	uint64_t word;
	uint32_t half;

	for (size_t i = 0; i < sizeof(words); i++) {
		memcpy(&word, bytes + words[i], sizeof(word));
		word = __builtin_bswap64(word);
		memcpy(bytes + words[i], &word, sizeof(word));
	}
	for (size_t i = 0; i < sizeof(halves); i++) {
		memcpy(&half, bytes + halves[i], sizeof(half));
		half = __builtin_bswap32(half);
		memcpy(bytes + halves[i], &half, sizeof(half));
	}
	memcpy(&word, bytes + AT(read_format) + 8, sizeof(word));
	word = turn_bits(word);
	memcpy(bytes + AT(read_format) + 8, &word, sizeof(word));
}

long perfdata_add_event(struct perfdata *p, const char *attr, size_t size)
{
	struct perfdata_event *event = vec_push(&p->events);
	struct perf_event_attr *own;

	if (!event)
		return -1;
	own = &event->attr;
	memcpy(own, attr, size < sizeof(*own) ? size : sizeof(*own));
	if (p->swapped)
		turn_attr(own);
	event->format = (struct record_format){.sample_type = own->sample_type,
		.read_format = own->read_format,
		.branch_type = own->branch_sample_type,
		.registers = own->sample_regs_user,
		.bare = !own->sample_id_all,
		.build_ids = own->build_id,
		.swapped = p->swapped};
	return (long)p->events.count - 1;
}

int perfdata_add_ids(struct perfdata *p, uint32_t event, const char *ids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct perfdata_id key = {.key = {perfdata_u64(p, ids + 8 * i)}}, *id;

		id = table_add(&p->ids, &key.key);
		if (!id)
			return -1;
		id->event = event;
	}
	return 0;
}

struct perfdata_id *perfdata_find_id(const struct perfdata *p, uint64_t id)
{
	struct perfdata_id key = {.key = {id}};

	return table_find(&p->ids, &key.key);
}

int perfdata_keep_text(char **to, const char *text, size_t length, char instead)
{
	char *own = strndup(text, length);

	if (!own)
		return -1;
	for (char *c = own; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = instead;
	free(*to);
	*to = own;
	return 0;
}

int perfdata_set_name(struct perfdata *p, uint32_t event, const char *name, size_t length)
{
	return perfdata_keep_text(&p->events.data[event].name, name, length, '?');
}
