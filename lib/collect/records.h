/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the kernel (perf_event_open(2)), from its ring buffers or from files that perf wrote
 * of them, taken apart.  A record parsed borrows from the bytes that it was parsed from.
 */
#ifndef COLLECT_RECORDS_H
#define COLLECT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How an event has its samples written, by its attributes (struct perf_event_attr). */
struct record_format {
	uint64_t sample_type; /* PERF_SAMPLE_* */
	uint64_t read_format; /* PERF_FORMAT_* */
	uint64_t branch_type; /* PERF_SAMPLE_BRANCH_* */
	uint64_t registers;   /* a bit for each of a sample with REGS_USER */
	bool bare;            /* records other than samples have no process and time */
	bool swapped;         /* of the other byte order; records are swapped in place */
	bool build_ids;       /* it asks for build-ids of mappings */
};

struct record_mapping {
	uint64_t address, length, offset;
	const char *path; /* NUL-terminated */
	const uint8_t *build_id;
	size_t build_id_length; /* 0: unknown */
	uint64_t inode;         /* 0 with a build-id, or unknown */
	uint64_t generation;    /* of the inode, which is used again; 0: unknown */
	bool data;              /* not executable */
};

struct record_sample {
	uint64_t ip;
	uint64_t address;      /* of the data that were accessed; 0: unknown */
	const uint64_t *chain; /* with PERF_CONTEXT_* among them; not aligned to more than 8 */
	size_t chain_length;
	const uint64_t *registers; /* NULL: none (a kernel thread) */
	uint64_t register_mask;    /* a bit for each of them */
	const uint8_t *stack;
	size_t stack_size;
	const uint8_t *raw; /* of a tracepoint, in its format; NULL: none */
	size_t raw_size;
	const uint64_t *branches; /* from, to, flags of each, the last one taken first */
	size_t branch_count;
	uint32_t cpu;         /* + 1; 0: unknown */
	uint64_t period;      /* units of the event since the last sample; 0: unknown */
	const uint64_t *read; /* values of the event or its group, see record_value */
	size_t read_count;    /* of values; 0: none */
};

struct record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	pid_t pid, tid; /* its process and thread; of FORK the new ones */
	uint32_t cpu;   /* 0: perhaps unknown */
	uint64_t time;  /* 0: unknown */
	uint64_t id;    /* of the event; 0: unknown */
	uint32_t event; /* the event's number, set by the readers of rings and files, not by
			   record_parse */
	union {
		struct record_sample sample;
		struct record_mapping mapping; /* PERF_RECORD_MMAP, _MMAP2 */
		struct {
			const char *name;
			bool exec;
		} comm;
		struct {
			pid_t ppid, ptid;
		} fork;        /* and EXIT */
		uint64_t lost; /* PERF_RECORD_LOST, _LOST_SAMPLES */
		struct {
			uint64_t address, length;
			const char *name;
			bool gone;
		} symbol; /* PERF_RECORD_KSYMBOL: new code in the kernel */
		struct {
			bool out;
			bool preempted; /* it could have gone on */
		} turn;                 /* PERF_RECORD_SWITCH, _SWITCH_CPU_WIDE */
	};
};

/* Parses one record of size bytes, including its header, aligned to 8; its header is of this
 * host's byte order. -1: it is malformed, or of an unused kind (then type is set). */
int record_parse(
	const void *data, size_t size, const struct record_format *format, struct record *r);

/* Its time only; 0 if it is too short to have one, or has none. */
uint64_t record_time(const void *data, size_t size, const struct record_format *format);
/* The id of its event only, likewise. */
uint64_t record_id(const void *data, size_t size, const struct record_format *format);

/* Value i of a sample's reading of its event's group (PERF_SAMPLE_READ), and the event's id. */
void record_value(const struct record_sample *s, const struct record_format *format, size_t i,
	uint64_t *value, uint64_t *id);

#endif
