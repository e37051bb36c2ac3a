/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of this module. */
#ifndef PERFDATA_PRIVATE_H
#define PERFDATA_PRIVATE_H

#include <linux/perf_event.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"
#include "collect/records.h"
#include "perfdata/perfdata.h"

struct perfdata_event {
	struct perf_event_attr attr; /* in this host's byte order; fields that the file lacks are 0
				      */
	struct record_format format;
	char *name; /* perf's; NULL: not given */
	/* of its samples */
	uint64_t samples, least, most; /* periods */
	double sum;                    /* of periods */
	bool stacked;                  /* some had callers */
	uint64_t lost, lost_samples;   /* by the two kinds of records that report losses */
};

/* An event on one processor or thread. */
struct perfdata_id {
	struct {
		uint64_t id;
	} key;
	uint32_t event;
	uint64_t value; /* when it was read last */
};

/* Of a file that was mapped: perf looked at it when the recording ended. */
struct perfdata_build_id {
	char *path;
	uint8_t bytes[20];
	uint8_t length;
	bool ambiguous; /* files of several build-ids had this path */
};

enum perfdata_text {
	PERFDATA_HOST,
	PERFDATA_KERNEL,
	PERFDATA_VERSION,
	PERFDATA_ARCH,
	PERFDATA_CPU,
	PERFDATA_TEXTS
};

/* Code that was added to the kernel during the recording. */
struct perfdata_symbol {
	uint64_t address, length;
	char *name;
};

/* Records in a file of their own. */
struct perfdata_part {
	const char *data;
	size_t size;
};

struct perfdata {
	const char *data; /* the whole file */
	size_t size;
	bool swapped; /* of the other byte order */
	bool pipe;    /* records all the way */
	VEC(struct perfdata_event) events;
	struct table ids; /* struct perfdata_id */
	VEC(struct perfdata_build_id) build_ids;
	struct table paths; /* of build_ids, by hash of the path */
	VEC(struct perfdata_symbol) symbols;
	char *texts[PERFDATA_TEXTS];
	char *command;
	uint32_t processors;      /* 0: not given */
	uint64_t clock, realtime; /* one moment by the records' clock and since 1970; 0: not given
				   */
	char kernel_symbol[64];   /* by which the kernel is found ... */
	uint64_t kernel_address;  /* and its address; 0: not given */
	size_t begin, end;        /* of the records in the file */
	bool counts;              /* it is of perf stat: nothing was sampled */
	bool directory;           /* most records are in files beside it ... */
	struct perfdata_part *parts; /* that are here */
	size_t part_count;
	uint64_t aux;       /* bytes of traces, left out */
	uint64_t malformed; /* records */
	struct experiment_damage damage;
};

/* ---- the file's bytes ---- */

static inline uint64_t perfdata_u64(const struct perfdata *p, const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap64(v) : v;
}

static inline uint32_t perfdata_u32(const struct perfdata *p, const void *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap32(v) : v;
}

static inline uint16_t perfdata_u16(const struct perfdata *p, const void *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return p->swapped ? __builtin_bswap16(v) : v;
}

/* Reports damage in the file; only the first report counts. */
void perfdata_damage(struct perfdata *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* header.c: the parts of a file before and after its records; of a pipe, only its mark. -1 with *e
 * set. */
int perfdata_header(struct perfdata *p, struct error *e);
/* attr.c: an event with its ids, from `size` bytes of attributes; its number, or -1 when memory is
 * out. */
long perfdata_add_event(struct perfdata *p, const char *attr, size_t size);
int perfdata_add_ids(struct perfdata *p, uint32_t event, const char *ids, size_t count);
/* The id's entry; NULL: unknown id. */
struct perfdata_id *perfdata_find_id(const struct perfdata *p, uint64_t id);
/* A copy of `length` bytes of text, with another character for control characters; the old text in
 * *to is freed. -1 when memory is out. */
int perfdata_keep_text(char **to, const char *text, size_t length, char instead);
int perfdata_set_name(struct perfdata *p, uint32_t event, const char *name, size_t length);
/* features.c: feature `number` in size bytes. -1: memory is out; invalid contents are ignored. */
int perfdata_feature(struct perfdata *p, unsigned number, const char *at, size_t size);
/* A record of a build-id, header and all. */
int perfdata_add_build_id(struct perfdata *p, const char *record, size_t size);
const struct perfdata_build_id *perfdata_find_build_id(const struct perfdata *p, const char *path);

/* stream.c: passes all records in the order of their times to call, each with its event; -1: memory
 * is out, or call returned it. */
int perfdata_stream(struct perfdata *p,
	int (*call)(void *context, const struct record *record, uint64_t offset), void *context);

/* import.c: perfdata_parse of a file and those beside it. */
struct progress;
int perfdata_parse_parts(struct experiment *x, struct perfdata_part *parts, size_t count,
	const struct image_search *where, struct progress *progress,
	struct experiment_damage *damage, struct error *e);

/* metrics.c: metric i of x is event i; finally their texts are those of experiments, and events
 * without samples are removed. -1 with *e set. */
int perfdata_metrics(const struct perfdata *p, struct experiment *x, struct error *e);
/* Sets the experiment's type by the events' names. */
int perfdata_type(const struct perfdata *p, struct experiment *x, struct error *e);

/* kernel.c: names for the kernel's addresses in image of x, where they can be known.  -1: memory is
 * out. */
bool perfdata_same_kernel(const struct perfdata *p);
int perfdata_name_kernel(const struct perfdata *p, struct experiment *x, uint32_t image,
	const struct image_search *where);

#endif
