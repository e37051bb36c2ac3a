/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/records.h"

#include <linux/perf_event.h>
#include <string.h>

/* Not in the headers of every distribution. */
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif
#define BUILD_ID_MOST  20 /* bytes of one in a record */
#define BUILD_ID_USUAL 16 /* at least, but for short hashes of some linkers */

#define FORMAT_LOST ((uint64_t)1 << 4) /* PERF_FORMAT_LOST */

struct cursor {
	const char *at, *end;
	bool failed, swapped, build_ids; /* the last two as in the format */
};

static const void *record_take(struct cursor *c, size_t size)
{
	const char *at = c->at;

	if (c->failed || (size_t)(c->end - c->at) < size) {
		c->failed = true;
		return NULL;
	}
	c->at += size;
	return at;
}

static uint64_t take_word(struct cursor *c)
{
	uint64_t word = 0;
	const void *p = record_take(c, sizeof(word));

	if (p)
		memcpy(&word, p, sizeof(word));
	return c->swapped ? __builtin_bswap64(word) : word;
}

static uint32_t take_half(struct cursor *c)
{
	uint32_t half = 0;
	const void *p = record_take(c, sizeof(half));

	if (p)
		memcpy(&half, p, sizeof(half));
	return c->swapped ? __builtin_bswap32(half) : half;
}

/* Takes n words, and swaps their bytes in place. All records before words end at multiples of 8. */
static const uint64_t *take_words(struct cursor *c, uint64_t n)
{
	uint64_t *words;

	if (c->failed || n > (size_t)(c->end - c->at) / 8 || (uintptr_t)c->at % 8) {
		c->failed = true;
		return NULL;
	}
	words = (uint64_t *)(uintptr_t)record_take(c, 8 * (size_t)n);
	for (size_t i = 0; words && c->swapped && i < n; i++)
		words[i] = __builtin_bswap64(words[i]);
	return words;
}

/* Text to the end of the record, which must contain its NUL. */
static const char *take_text(struct cursor *c)
{
	const char *at = c->at;
	size_t left = (size_t)(c->end - c->at);

	if (c->failed || left == 0 || !memchr(at, '\0', left)) {
		c->failed = true;
		return "";
	}
	c->at = c->end;
	return at;
}

/* ---- the end of records other than samples --------------------------------------------------- */

/* In this order. */
static const uint64_t trailer[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};

/* Bytes from the field of `type` (0: of all) to the end. */
static size_t trailer_size(const struct record_format *f, uint64_t type)
{
	size_t size = 0;
	bool counted = type == 0;

	for (size_t i = 0; i < sizeof(trailer) / sizeof(trailer[0]); i++) {
		counted = counted || trailer[i] == type;
		if (counted && (f->sample_type & trailer[i]))
			size += 8;
	}
	return f->bare ? 0 : size;
}

static void take_trailer(struct cursor *c, const struct record_format *f, struct record *r)
{
	uint64_t type = f->sample_type;
	size_t size = trailer_size(f, 0);
	struct cursor t = {.end = c->end, .swapped = c->swapped};

	if ((size_t)(c->end - c->at) < size) {
		c->failed = true;
		return;
	}
	c->end -= size;
	t.at = c->end;
	if (f->bare)
		return;
	if (type & PERF_SAMPLE_TID) {
		r->pid = (pid_t)take_half(&t);
		r->tid = (pid_t)take_half(&t);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = take_word(&t);
	if (type & PERF_SAMPLE_ID)
		r->id = take_word(&t);
	if (type & PERF_SAMPLE_STREAM_ID)
		take_word(&t);
	if (type & PERF_SAMPLE_CPU)
		r->cpu = (uint32_t)take_word(&t);
	if (type & PERF_SAMPLE_IDENTIFIER)
		r->id = take_word(&t);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Words of one value of PERF_SAMPLE_READ. */
static size_t value_words(uint64_t read_format)
{
	return 1 + !!(read_format & PERF_FORMAT_ID) + !!(read_format & FORMAT_LOST);
}

static size_t time_words(uint64_t read_format)
{
	return (size_t) !!(read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

static void parse_read(struct cursor *c, const struct record_format *f, struct record_sample *s)
{
	uint64_t n = 1, words = value_words(f->read_format);

	if (f->read_format & PERF_FORMAT_GROUP) {
		n = take_word(c);
		if (c->failed || n > (size_t)(c->end - c->at) / 8) {
			c->failed = true;
			return;
		}
		take_words(c, time_words(f->read_format));
		s->read = take_words(c, n * words);
	} else { /* the times are between the value and its id */
		s->read = take_words(c, words + time_words(f->read_format));
	}
	s->read_count = s->read ? (size_t)n : 0;
}

void record_value(const struct record_sample *s, const struct record_format *format, size_t i,
	uint64_t *value, uint64_t *id)
{
	uint64_t f = format->read_format;
	const uint64_t *at = s->read + i * value_words(f);

	*value = at[0];
	*id = 0;
	if (f & PERF_FORMAT_ID)
		*id = at[1 + (f & PERF_FORMAT_GROUP ? 0 : time_words(f))];
}

static void parse_branches(struct cursor *c, const struct record_format *f, struct record_sample *s)
{
	uint64_t n = take_word(c);

	if (f->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		take_word(c);
	if (n > UINT64_MAX / 3) {
		c->failed = true;
		return;
	}
	s->branches = take_words(c, 3 * n);
	s->branch_count = s->branches ? (size_t)n : 0;
}

static void parse_registers(
	struct cursor *c, const struct record_format *f, struct record_sample *s)
{
	uint64_t abi = take_word(c);
	const uint64_t *registers = NULL;

	if (abi != PERF_SAMPLE_REGS_ABI_NONE)
		registers = take_words(c, (uint64_t)__builtin_popcountll(f->registers));
	s->registers = abi == PERF_SAMPLE_REGS_ABI_64 ? registers : NULL;
	s->register_mask = f->registers;
}

static void parse_stack(struct cursor *c, struct record_sample *s)
{
	uint64_t size = take_word(c), used = 0;

	if (c->failed || size > (size_t)(c->end - c->at)) {
		c->failed = true;
		return;
	}
	s->stack = record_take(c, (size_t)size);
	if (size)
		used = take_word(c);
	s->stack_size = (size_t)(used < size ? used : size);
}

static void record_parse_raw(struct cursor *c, struct record_sample *s)
{
	uint32_t size = take_half(c);

	s->raw = record_take(c, size);
	s->raw_size = s->raw ? size : 0;
}

/* In the kernel's order; fields after the stack are not used. */
static void parse_sample(struct cursor *c, const struct record_format *f, struct record *r)
{
	uint64_t type = f->sample_type;
	struct record_sample *s = &r->sample;

	memset(s, 0, sizeof(*s));
	if (type & PERF_SAMPLE_IDENTIFIER)
		r->id = take_word(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = take_word(c);
	if (type & PERF_SAMPLE_TID) {
		r->pid = (pid_t)take_half(c);
		r->tid = (pid_t)take_half(c);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = take_word(c);
	if (type & PERF_SAMPLE_ADDR)
		s->address = take_word(c);
	if (type & PERF_SAMPLE_ID)
		r->id = take_word(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		take_word(c);
	if (type & PERF_SAMPLE_CPU) {
		r->cpu = take_half(c);
		take_half(c);
		s->cpu = r->cpu + 1;
	}
	if (type & PERF_SAMPLE_PERIOD)
		s->period = take_word(c);
	if (type & PERF_SAMPLE_READ)
		parse_read(c, f, s);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->chain_length = (size_t)take_word(c);
		s->chain = take_words(c, s->chain_length);
	}
	if (type & PERF_SAMPLE_RAW)
		record_parse_raw(c, s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		parse_branches(c, f, s);
	if (type & PERF_SAMPLE_REGS_USER)
		parse_registers(c, f, s);
	if (type & PERF_SAMPLE_STACK_USER)
		parse_stack(c, s);
}

/* ---- others ---------------------------------------------------------------------------------- */

/*
 * Whether what a mapping has in place of device and inode is a build-id. Linux 6.18 sets the flag
 * in records of events that do not ask for build-ids, too, if another event of the process does.
 * Then the length is a device's major number, which is rarely that of a build-id.
 */
static bool is_build_id(const struct cursor *c, const struct record *r, const uint8_t *id)
{
	uint8_t least = c->build_ids ? 1 : BUILD_ID_USUAL;

	return r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && id[0] >= least &&
	       id[0] <= BUILD_ID_MOST && !(id[1] | id[2] | id[3]);
}

static void parse_mapping(struct cursor *c, struct record *r)
{
	struct record_mapping *m = &r->mapping;
	const uint8_t *id;

	memset(m, 0, sizeof(*m));
	r->pid = (pid_t)take_half(c);
	r->tid = (pid_t)take_half(c);
	m->address = take_word(c);
	m->length = take_word(c);
	m->offset = take_word(c);
	m->data = r->misc & PERF_RECORD_MISC_MMAP_DATA;
	if (r->type == PERF_RECORD_MMAP2) {
		struct cursor inode = *c;

		id = record_take(
			c, 24); /* device, inode, generation; or a build-id, its length first */
		if (id && is_build_id(c, r, id)) {
			m->build_id_length = id[0];
			m->build_id = id + 4;
		} else if (id) {
			record_take(&inode, 8);
			m->inode = take_word(&inode);
			m->generation = take_word(&inode);
		}
		record_take(c, 8); /* protection, flags */
	}
	m->path = take_text(c);
}

static void parse_comm(struct cursor *c, struct record *r)
{
	r->pid = (pid_t)take_half(c);
	r->tid = (pid_t)take_half(c);
	r->comm.name = take_text(c);
	r->comm.exec = r->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void parse_task(struct cursor *c, struct record *r)
{
	uint64_t time;

	r->pid = (pid_t)take_half(c);
	r->fork.ppid = (pid_t)take_half(c);
	r->tid = (pid_t)take_half(c);
	r->fork.ptid = (pid_t)take_half(c);
	time = take_word(c);
	if (!r->time)
		r->time = time;
}

static void parse_lost(struct cursor *c, struct record *r)
{
	r->id = take_word(c);
	r->lost = take_word(c);
}

static void parse_lost_samples(struct cursor *c, struct record *r)
{
	r->lost = take_word(c);
}

static void parse_throttle(struct cursor *c, struct record *r)
{
	take_word(c); /* time */
	r->id = take_word(c);
}

static void parse_turn(struct cursor *c, struct record *r)
{
	if (r->type == PERF_RECORD_SWITCH_CPU_WIDE)
		record_take(c, 8);
	r->turn.out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
	r->turn.preempted = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
}

static void parse_symbol(struct cursor *c, struct record *r)
{
	uint16_t kinds[2] = {0}; /* type, flags */
	const void *p;

	r->symbol.address = take_word(c);
	r->symbol.length = take_half(c);
	p = record_take(c, sizeof(kinds));
	if (p)
		memcpy(kinds, p, sizeof(kinds));
	if (c->swapped)
		kinds[1] = __builtin_bswap16(kinds[1]);
	r->symbol.gone = kinds[1] & 1;
	r->symbol.name = take_text(c);
}

/* ---- a record -------------------------------------------------------------------------------- */

static uint64_t word_at(const void *data, size_t size, size_t at, bool swapped)
{
	uint64_t word;

	if (size < sizeof(struct perf_event_header) + 8 || at > size - 8)
		return 0;
	memcpy(&word, (const char *)data + at, sizeof(word));
	return swapped ? __builtin_bswap64(word) : word;
}

uint64_t record_time(const void *data, size_t size, const struct record_format *format)
{
	const struct perf_event_header *h = data;
	uint64_t type = format->sample_type;

	if (h->type == PERF_RECORD_SAMPLE) {
		size_t before = (size_t) !!(type & PERF_SAMPLE_IDENTIFIER) +
				!!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID);

		return type & PERF_SAMPLE_TIME
			       ? word_at(data, size, sizeof(*h) + 8 * before, format->swapped)
			       : 0;
	}
	if (!(type & PERF_SAMPLE_TIME) || format->bare)
		return 0;
	return word_at(data, size, size - trailer_size(format, PERF_SAMPLE_TIME), format->swapped);
}

uint64_t record_id(const void *data, size_t size, const struct record_format *format)
{
	const struct perf_event_header *h = data;
	uint64_t type = format->sample_type;
	size_t at;

	if (!(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return 0;
	if (h->type != PERF_RECORD_SAMPLE) {
		at = size - trailer_size(format, type & PERF_SAMPLE_IDENTIFIER
							 ? PERF_SAMPLE_IDENTIFIER
							 : PERF_SAMPLE_ID);
		return format->bare ? 0 : word_at(data, size, at, format->swapped);
	}
	at = sizeof(*h);
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		at += 8 * ((size_t) !!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID) +
				  !!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ADDR));
	return word_at(data, size, at, format->swapped);
}

int record_parse(
	const void *data, size_t size, const struct record_format *format, struct record *r)
{
	static void (*const parsers[])(struct cursor *, struct record *) = {
		[PERF_RECORD_MMAP] = parse_mapping,
		[PERF_RECORD_MMAP2] = parse_mapping,
		[PERF_RECORD_COMM] = parse_comm,
		[PERF_RECORD_FORK] = parse_task,
		[PERF_RECORD_EXIT] = parse_task,
		[PERF_RECORD_LOST] = parse_lost,
		[PERF_RECORD_LOST_SAMPLES] = parse_lost_samples,
		[PERF_RECORD_THROTTLE] = parse_throttle,
		[PERF_RECORD_UNTHROTTLE] = parse_throttle,
		[PERF_RECORD_SWITCH] = parse_turn,
		[PERF_RECORD_SWITCH_CPU_WIDE] = parse_turn,
		[PERF_RECORD_KSYMBOL] = parse_symbol,
	};
	const struct perf_event_header *h = data;
	struct cursor c = {.at = (const char *)data + sizeof(*h),
		.end = (const char *)data + size,
		.swapped = format->swapped,
		.build_ids = format->build_ids};

	memset(r, 0, sizeof(*r));
	if (size < sizeof(*h) || size % 8)
		return -1;
	r->type = h->type;
	r->misc = h->misc;
	if (h->type == PERF_RECORD_SAMPLE) {
		parse_sample(&c, format, r);
		return c.failed ? -1 : 0;
	}
	take_trailer(&c, format, r);
	if (c.failed || h->type >= sizeof(parsers) / sizeof(parsers[0]) || !parsers[h->type])
		return -1;
	parsers[h->type](&c, r);
	return c.failed ? -1 : 0;
}
