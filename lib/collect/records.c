/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/records.h"

#include <linux/perf_event.h>
#include <string.h>

/* Not in the headers of every distribution. */
#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

struct cursor {
	const char *at, *end;
	bool failed;
};

static const void *take(struct cursor *c, size_t size)
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
	const void *p = take(c, sizeof(word));

	if (p)
		memcpy(&word, p, sizeof(word));
	return word;
}

static uint32_t take_half(struct cursor *c)
{
	uint32_t half = 0;
	const void *p = take(c, sizeof(half));

	if (p)
		memcpy(&half, p, sizeof(half));
	return half;
}

/* Text to the end of the record, which must have its NUL. */
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

/* What every record but a sample has at its end. */
static void take_trailer(struct cursor *c, const struct record_format *f, struct record *r)
{
	uint64_t type = f->sample_type;
	size_t size = 8 * (size_t)(!!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) +
				   !!(type & PERF_SAMPLE_IDENTIFIER));
	struct cursor t = {.end = c->end};

	if ((size_t)(c->end - c->at) < size) {
		c->failed = true;
		return;
	}
	c->end -= size;
	t.at = c->end;
	if (type & PERF_SAMPLE_TID) {
		r->pid = (pid_t)take_half(&t);
		r->tid = (pid_t)take_half(&t);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = take_word(&t);
	if (type & PERF_SAMPLE_IDENTIFIER)
		r->id = take_word(&t);
}

static void parse_stack(struct cursor *c, struct record_sample *s)
{
	uint64_t size = take_word(c), used = 0;

	if (size > (size_t)(c->end - c->at)) {
		c->failed = true;
		return;
	}
	s->stack = take(c, (size_t)size);
	if (size)
		used = take_word(c);
	s->stack_size = (size_t)(used < size ? used : size);
}

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
	if (type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t n = take_word(c);

		if (n > (size_t)(c->end - c->at) / 8) {
			c->failed = true;
			return;
		}
		s->chain_length = (size_t)n;
		s->chain = take(c, 8 * s->chain_length);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		uint64_t abi = take_word(c);
		const uint64_t *registers =
			abi != PERF_SAMPLE_REGS_ABI_NONE ? take(c, 8 * (size_t)f->registers) : NULL;

		s->registers = abi == PERF_SAMPLE_REGS_ABI_64 ? registers : NULL;
	}
	if (type & PERF_SAMPLE_STACK_USER && !c->failed)
		parse_stack(c, s);
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
	id = take(c, 24); /* device, inode, generation; or a build-id with its length first */
	if (id && (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		m->build_id_length = id[0] <= 20 ? id[0] : 20;
		m->build_id = id + 4;
	} else if (id) {
		memcpy(&m->inode, id + 8, sizeof(m->inode));
	}
	take(c, 8); /* protection, flags */
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
	r->pid = (pid_t)take_half(c);
	r->fork.ppid = (pid_t)take_half(c);
	r->tid = (pid_t)take_half(c);
	r->fork.ptid = (pid_t)take_half(c);
}

static void parse_lost(struct cursor *c, struct record *r)
{
	r->id = take_word(c);
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
		take(c, 8);
	r->turn.out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
	r->turn.preempted = r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
}

uint64_t record_time(const void *data, size_t size, const struct record_format *format)
{
	const struct perf_event_header *h = data;
	size_t identifier = format->sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0, at;
	uint64_t time;

	if (h->type == PERF_RECORD_SAMPLE)
		at = sizeof(*h) + identifier + 16; /* behind address and thread */
	else
		at = size - identifier - 8;
	if (size < sizeof(*h) + 8 || at > size - 8)
		return 0;
	memcpy(&time, (const char *)data + at, sizeof(time));
	return time;
}

int record_parse(
	const void *data, size_t size, const struct record_format *format, struct record *r)
{
	static void (*const parsers[])(struct cursor *, struct record *) = {
		[PERF_RECORD_MMAP2] = parse_mapping,
		[PERF_RECORD_COMM] = parse_comm,
		[PERF_RECORD_FORK] = parse_task,
		[PERF_RECORD_EXIT] = parse_task,
		[PERF_RECORD_LOST] = parse_lost,
		[PERF_RECORD_THROTTLE] = parse_throttle,
		[PERF_RECORD_UNTHROTTLE] = parse_throttle,
		[PERF_RECORD_SWITCH] = parse_turn,
		[PERF_RECORD_SWITCH_CPU_WIDE] = parse_turn,
	};
	const struct perf_event_header *h = data;
	struct cursor c = {.at = (const char *)data + sizeof(*h), .end = (const char *)data + size};

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
