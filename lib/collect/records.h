/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of the kernel's ring buffers (perf_event_open(2)), taken apart.  A record parsed borrows
 * from the bytes that it was parsed from.
 */
#ifndef COLLECT_RECORDS_H
#define COLLECT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What all events of a session have in common. */
struct record_format {
	uint64_t sample_type; /* of PERF_SAMPLE_{IDENTIFIER,IP,TID,TIME,CALLCHAIN,REGS_USER,
				 STACK_USER} */
	unsigned registers;   /* of each sample with REGS_USER */
};

struct record_mapping {
	uint64_t address, length, offset;
	const char *path; /* NUL-terminated */
	const uint8_t *build_id;
	size_t build_id_length; /* 0: the kernel did not tell */
	uint64_t inode;         /* 0 with a build-id */
};

struct record_sample {
	uint64_t ip;
	const uint64_t *chain; /* with PERF_CONTEXT_* among them; not aligned to more than 8 */
	size_t chain_length;
	const uint64_t *registers; /* NULL: none (a kernel thread) */
	const uint8_t *stack;
	size_t stack_size;
};

struct record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	pid_t pid, tid; /* whose it is; of FORK the new ones */
	uint64_t time;  /* 0: not known */
	uint64_t id;    /* of the event; 0: not known */
	union {
		struct record_sample sample;
		struct record_mapping mapping; /* PERF_RECORD_MMAP2 */
		struct {
			const char *name;
			bool exec;
		} comm;
		struct {
			pid_t ppid, ptid;
		} fork; /* and EXIT */
		uint64_t lost;
		struct {
			bool out, preempted;
		} turn; /* PERF_RECORD_SWITCH, _SWITCH_CPU_WIDE */
	};
};

/* One record of size bytes, header and all, aligned to 8.  -1: it is malformed, or of a kind that
 * says nothing here (then type is set). */
int record_parse(
	const void *data, size_t size, const struct record_format *format, struct record *r);

/* Its time alone; 0 for what is too short to have one.  Formats must have IP, TID and TIME. */
uint64_t record_time(const void *data, size_t size, const struct record_format *format);

#endif
