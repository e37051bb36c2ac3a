/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data-space profiling: which data the misses are about (Zagha et al., section 5: what they wished
 * for).  The caller knows what lies where and numbers it: variables, blocks of the heap by where
 * they were allocated, stacks ("objects", from 1 on; 0: nobody knows).  Here it is counted,
 *   - by line of an object (struct objects_place).  An object of more than OBJECTS_LINES_MAX lines
 * is counted by 4, 16 ... of them, so that memory does not grow with the size of data;
 *   - by instruction (struct objects_touch), with the least offset that it touched and the greatest
 *     common divisor of all distances from there: one that goes over an array of structures says so
 *     how large these are and which member it is about;
 *   - by line that several cores want (struct objects_line): who touches which of its bytes, by
 *     which instructions, at both ends.
 *
 * Is sharing false?  After Dubois et al. ("The detection and elimination of useless misses"): a
 * core that gets a line from another needed it where, while it has the line, it touches a byte that
 * another has written since it lost it; else only its neighbours were wanted.  So what is written
 * once, before threads begin to work side by side, makes no sharing true, and who only reads what
 * nobody writes any more does neither.  Nor
 * was it in vain where another touches what the core wrote, before that gets the line again.
 *
 * Counts are the model's, where each event comes by: hits cost nothing, but those in lines that are
 * shared, which stay WATCHED (hierarchy.c).  All memory is got from `memory` and grows with what is
 * distinct, up to limits; what finds no room is counted as lost.
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
	uint64_t key[3]; /* object; instruction; its image, as `image` says */
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
	uint64_t address; /* where it is, 0: its object is gone */
	uint32_t first, holders; /* ends and holders, index + 1 */
};

/* One thread's instruction that goes there. */
struct objects_end {
	uint64_t key[3];                  /* line's index; thread << 32 | object; instruction */
	uint64_t requests, loads, stores; /* requests: that took the line from others */
	uint64_t read[OBJECTS_MASK_WORDS], written[OBJECTS_MASK_WORDS]; /* bytes of the unit */
	uint32_t next, image;
};

/* What a core knows of a line. */
struct objects_holder {
	uint64_t key[3];                      /* line's index; core */
	uint64_t foreign[OBJECTS_MASK_WORDS]; /* written by others since it lost the line */
	uint64_t pending[OBJECTS_MASK_WORDS]; /* the same, when it got the line last */
	uint64_t written[OBJECTS_MASK_WORDS]; /* by itself, since then */
	uint32_t next;
	/* From another; it needed it, or another what it wrote; it has had the line before. */
	uint8_t got, needed, known;
};

/* A hash table; entries lie in the order in which they came. */
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
	uint64_t code; /* the instruction that find is asked for */
	struct objects_table places, touches, lines, ends, holders;
	struct objects_size *sizes; /* by object */
	uint32_t size_count;
	/* Lines by address: index + 1. */
	uint64_t *live_key;
	uint32_t *live, live_mask, live_used;
	uint64_t unit; /* bytes, once there is a line */
};

void objects_init(struct objects *o);
/* Forgets all counts. */
void objects_reset(struct objects *o);

/* n of an event happened to the byte at address, by the model's current instruction. */
void objects_count(
	struct objects *o, const struct model *m, unsigned event, uint64_t n, uint64_t address);
/* Bytes from..from+length are no object's any more, or another's. */
void objects_gone(struct objects *o, uint64_t from, uint64_t length);

/* The kinds of a line as they would be if all that cores hold of it were over. */
void objects_kinds(const struct objects *o, const struct objects_line *line, uint64_t *needed,
	uint64_t *useless);

/* For coherence.c and hierarchy.c.  Is the unit one that is looked at? */
int objects_knows(const struct objects *o, uint64_t unit);
/* The current access took the unit from other cores; fetched: this one did not have it. */
void objects_request(struct objects *o, const struct model *m, uint64_t unit, int fetched);
/* The current access goes there, whether it asked others or not. */
void objects_access(struct objects *o, const struct model *m, uint64_t unit, int store);

#endif
