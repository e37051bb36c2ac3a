/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data-space profiling: which data the misses are about (Zagha et al., section 5: future work
 * there). The caller numbers the objects: variables, heap blocks by their allocation site, stacks
 * (from 1 on; 0: unknown). Counted here:
 * - by line of an object (struct objects_place).  An object of more than OBJECTS_LINES_MAX lines
 *   is counted by 4, 16 ... of them, so that memory does not grow with the size of data;
 * - by instruction (struct objects_touch), with the least offset that it touched and the greatest
 *   common divisor of all distances from there.  For an instruction that walks an array of
 *   structures these give the size of a structure and the member;
 * - by line that several cores use (struct objects_line): which of its bytes each touches, by
 *   which instructions, at both ends.
 *
 * Is sharing false? After Dubois et al. ("The detection and elimination of useless misses"): a core
 * that got a line from another core needed it if, while it has the line, it touches a byte that
 * another core wrote since it lost the line. Otherwise it needed only other bytes of the line. So
 * bytes that are written once, before threads work in parallel, do not make sharing true; nor do
 * reads of bytes that are no longer written. A transfer also counts as needed if another core
 * touches what this core wrote, before this core gets the line again.
 *
 * Counts are taken where the model counts each event. Hits cost nothing, except in shared lines,
 * which stay WATCHED (hierarchy.c). All memory is allocated from `memory` and grows with the number
 * of distinct items, up to limits; what exceeds them is counted as lost.
 */
#ifndef MODEL_OBJECTS_H
#define MODEL_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "events/numbers.h"

enum {
	OBJECTS_COLUMNS = 10,     /* events that are counted */
	OBJECTS_LINE_BITS = 6,    /* lines of objects_place, whatever the machine's are */
	OBJECTS_LINES_MAX = 4096, /* of an object, at one size */
	OBJECTS_MASK_WORDS = 2,   /* of 64 bytes each; of larger units, of as many as fit */
};

struct model;

/* Which event is counted in a column. */
unsigned objects_event(unsigned column);

/* Entries begin with their keys. */
struct objects_place {
	uint64_t key[3]; /* object; line, or 2^k of them, from that of its first byte (signed); k */
	uint64_t counts[OBJECTS_COLUMNS];
};

struct objects_touch {
	uint64_t key[3]; /* object; instruction; its image, as given by `image` */
	uint64_t counts[OBJECTS_COLUMNS];
	int64_t least, most; /* offsets in the object */
	uint64_t apart;      /* greatest common divisor of distances; 0: always at the same place */
};

/* A unit of coherence that cores took from each other. */
struct objects_line {
	uint64_t key[3]; /* object of the first such access; the unit's offset in it; bytes */
	uint64_t requests;
	uint64_t needed,
		useless;  /* times that a core got it from another; those whose kind is known */
	uint64_t address; /* 0: its object does not exist any more */
	uint32_t first, holders; /* ends and holders, index + 1 */
};

/* One instruction of one thread that accesses the line. */
struct objects_end {
	uint64_t key[3];                  /* line's index; thread << 32 | object; instruction */
	uint64_t requests, loads, stores; /* requests: that took the line from others */
	uint64_t read[OBJECTS_MASK_WORDS], written[OBJECTS_MASK_WORDS]; /* bytes of the unit */
	uint32_t next, image;
};

/* State of a line for one core. */
struct objects_holder {
	uint64_t key[3];                      /* line's index; core */
	uint64_t foreign[OBJECTS_MASK_WORDS]; /* written by others since it lost the line */
	uint64_t pending[OBJECTS_MASK_WORDS]; /* the same, when it got the line last */
	uint64_t written[OBJECTS_MASK_WORDS]; /* by itself, since then */
	uint32_t next;
	/* From another; it needed it, or another what it wrote; it has had the line before. */
	uint8_t got, needed, known;
};

/* A hash table; entries are in order of insertion. */
struct objects_table {
	char *entries;
	uint32_t *slots; /* index + 1 */
	uint32_t size, count, limit, mask;
	uint64_t lost;
};

struct objects_size { /* of an object */
	uint32_t lines, shift;
};

struct objects {
	/* Set by the caller.  find: the object that has the byte, and where it begins. */
	uint32_t (*find)(void *context, uint64_t address, uint64_t *start);
	uint32_t (*image)(void *context, uint64_t instruction);
	/* realloc(3), which never fails; size 0 releases. */
	void *(*memory)(void *old, size_t size);
	void *context;
	uint32_t off;  /* nothing counts for now */
	uint64_t code; /* the instruction passed to find */
	struct objects_table places, touches, lines, ends, holders;
	struct objects_size *sizes; /* by object */
	uint32_t size_count;
	/* Lines by address: index + 1. */
	uint64_t *live_key;
	uint32_t *live, live_mask, live_used;
	uint64_t unit; /* bytes, once there is a line */
};

void objects_init(struct objects *o);
/* Clears all counts. */
void objects_reset(struct objects *o);

/* n of an event happened to the byte at address, by the model's current instruction. */
void objects_count(
	struct objects *o, const struct model *m, unsigned event, uint64_t n, uint64_t address);
/* Bytes from..from+length no longer belong to an object, or belong to another. */
void objects_gone(struct objects *o, uint64_t from, uint64_t length);

/* The kinds of a line as if all cores gave it up now. */
void objects_kinds(const struct objects *o, const struct objects_line *line, uint64_t *needed,
	uint64_t *useless);

/* For coherence.c and hierarchy.c. Is the unit watched? */
int objects_knows(const struct objects *o, uint64_t unit);
/* The current access took the unit from other cores; fetched: this one did not have it. */
void objects_request(struct objects *o, const struct model *m, uint64_t unit, int fetched);
/* The current access goes there, whether or not it sends requests to other cores. */
void objects_access(struct objects *o, const struct model *m, uint64_t unit, int store);

#endif
