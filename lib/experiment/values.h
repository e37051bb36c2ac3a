/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Value samples: what values instructions worked on, at random moments of a run.
 *
 * A site is one thing that an instruction has a value for: its result, a store's value, an address
 * ... At a moment, a window of consecutive instructions is looked at, so a site gets several
 * values at one moment; these are alike, and intervals must know it. For that, a site keeps the
 * number of moments and the sum of squares of its counts by moment, and each of its frequent values
 * two more sums (values/interval.h).
 *
 * Frequent values come from lists of limited length (values/sites.h): count - error <= truth <=
 * count. A row has what adds up: `sure` = count - error, and `over` = count - the site's `least`,
 * which is the count that a value outside of the list may have. So sums of files have the bounds
 * that a merged list has, in any order.
 *
 * Sums of many files keep at most VALUES_KEPT rows of a site. What is left out must not depend on
 * the order and grouping of files, so it does not depend on sums: each row has a grade, by the
 * value's share in its own file and then by a hash of the value, and rows of different grades are
 * not added up. A site has the lowest grade at which all rows from there on are few enough; adding
 * files only makes it higher, so rows below it are in no sum. A value that is frequent in one file
 * is left out after all that are not, so at worst the sum lacks the runs in which it was rare.
 */
#ifndef EXPERIMENT_VALUES_H
#define EXPERIMENT_VALUES_H

#include "experiment/experiment.h"

/* Of sites; numbers are those of the file. */
enum experiment_value_kind {
	VALUE_RESULT = 1, /* of the first register written; of a vector, its lowest element */
	VALUE_OPERAND,    /* before execution, of what divides or shifts */
	VALUE_LOAD,       /* from memory, of what does more than move it */
	VALUE_STORE,      /* to memory */
	VALUE_ADDRESS,    /* of memory */
	VALUE_ARGUMENT,   /* at a function's entry, if it reads it: operand 0 to 5 and, of vector
			     registers, 8 to 15 */
	VALUE_RETURN,     /* at a return, if the caller reads it */
	VALUE_LATENCY,    /* of a load, ns by bins (values/latencies.h) */
	VALUE_DISTANCE,   /* stores between a load and the store that it gets its value from */
	VALUE_CALLER,     /* reserved */
	VALUE_OPERATION,  /* enum experiment_value_operation */
	VALUE_ACCESS,     /* enum experiment_value_access */
	VALUE_BRANCH,     /* 1: taken, 0: not; of indirect ones, the target */
	VALUE_PARTNER,    /* address of the store that a load (or, of VALUE_DEAD, an earlier store)
			     has to do with; operand: a bit number of enum experiment_value_access */
	VALUE_STRIDE,     /* of addresses: the difference to the one before at the same moment */
	VALUE_LEVEL,      /* where a load gets its data from: VALUE_LEVELS; of bursts */
	VALUE_WATCH,      /* enum experiment_value_watch: what became of an access watched */
	VALUE_REUSE,      /* of these, ns of CPU time until the next access: a power of two */
	VALUE_NEXT,       /* and that access; operand: a bit number of VALUE_WATCH */
	VALUE_KINDS
};

/* Of levels 1 to 4 (L1, L2, the last cache, memory): those that were not distinguished are one. */
#define VALUE_LEVELS(first, last) ((uint64_t)(first) | (uint64_t)(last) << 4)
#define VALUE_LEVEL_MEMORY        4

/* Kinds of a user's module are from here on; facts have their names, by number from 0. */
#define VALUE_USER            32
#define VALUE_USER_KINDS      128
#define EXPERIMENT_VALUE_NAME "values.kind.%d"
/* And of their values below VALUE_NAMED, by the value. */
#define VALUE_NAMED            16
#define EXPERIMENT_VALUE_NAMED "values.kind.%d.%d"

/* Facts, by level: the last that is one with it, and the mean time of its loads. */
#define EXPERIMENT_VALUE_LEVEL  "values.level.%d"
#define EXPERIMENT_VALUE_LEVELS "values.level.1" /* always there */

/* A fact: values are those that bursts have logged, not those of windows. */
#define EXPERIMENT_VALUE_SOURCE "values.source"
#define EXPERIMENT_VALUE_BURSTS "bursts"

/* What the operands of one execution of an operation were, of bits. */
enum experiment_value_operation {
	VALUE_OPERAND_ZERO = 1 << 0,     /* of an addition, multiplication, shift count */
	VALUE_OPERAND_ONE = 1 << 1,      /* of a multiplication, divisor */
	VALUE_OPERAND_POWER = 1 << 2,    /* of two, not one: of a multiplication, divisor */
	VALUE_OPERAND_NARROW = 1 << 3,   /* a 64-bit division would fit into 32 bits */
	VALUE_OPERAND_DENORMAL = 1 << 4, /* of any element of any operand */
	VALUE_OPERAND_NAN = 1 << 5,
	VALUE_OPERAND_INFINITE = 1 << 6,
	VALUE_OPERAND_FP_ZERO = 1 << 7, /* all elements of an operand are 0 */
};
#define VALUE_OPERATIONS 8 /* bits */

/* What one access to memory was, of bits. */
enum experiment_value_access {
	VALUE_READS = 1 << 0,
	VALUE_WRITES = 1 << 1,
	VALUE_SPLITS_LINE = 1 << 2,
	VALUE_SPLITS_PAGE = 1 << 3,
	VALUE_FORWARDED = 1 << 4, /* one of the last stores has all bytes of the load */
	VALUE_BLOCKED = 1 << 5,   /* it has some of them */
	VALUE_ALIAS = 1 << 6,     /* it has the same low 12 bits of addresses, at other addresses */
	VALUE_REDUNDANT = 1 << 7, /* the same value was loaded from there before in the window */
	VALUE_SILENT = 1 << 8,    /* a store of what is there already */
	VALUE_DEAD = 1 << 9,      /* a store whose bytes were overwritten before they were read */
	VALUE_USED = 1 << 10,     /* and one whose bytes were read; else the window ended */
	VALUE_CHASES = 1 << 11,   /* its base is what it loaded the time before */
};
#define VALUE_ACCESSES 12 /* bits */

/* An access to memory whose address was watched, and the thread's next one to the same bytes. */
enum experiment_value_watch {
	VALUE_WATCH_LOAD = 1 << 0,     /* it was a load, or */
	VALUE_WATCH_STORE = 1 << 1,    /* a store */
	VALUE_WATCH_SILENT = 1 << 2,   /* of what was there already */
	VALUE_WATCH_DEAD = 1 << 3,     /* a store, then a store of all its bytes */
	VALUE_WATCH_USED = 1 << 4,     /* a store, then a load */
	VALUE_WATCH_RELOADED = 1 << 5, /* a load, then a load */
	VALUE_WATCH_REPLACED = 1 << 6, /* a load, then a store */
	VALUE_WATCH_OPEN = 1 << 7,     /* nothing, as long as it was watched */
};
#define VALUE_WATCHES 8 /* bits */

/* A fact: whose accesses to watched addresses were seen. */
#define EXPERIMENT_VALUE_WATCH      "values.watch"
#define EXPERIMENT_VALUE_WATCH_ALL  "thread and kernel"
#define EXPERIMENT_VALUE_WATCH_USER "thread"

/* How values are to be read. */
enum experiment_value_class {
	VALUE_INTEGER,
	VALUE_PLACE,  /* in an image: of code or data */
	VALUE_FLOAT,  /* of `bits` */
	VALUE_VECTOR, /* the lowest 64 bits */
	VALUE_BITS,   /* of the enumerations above */
	VALUE_CLASSES
};

/*
 * In a site's form: its values are not kept, but how they are distributed. Then a value is the rank
 * by frequency, from 1 on, high is all ones up to the greatest value's width, and bits are all that
 * such a value may have. What is not data of the program is kept as it is: places of code, and what
 * operations, accesses and branches were like.
 */
#define VALUE_SHAPE 0x10000u

extern const char *const experiment_value_kinds[VALUE_KINDS];

/* table entries ("key" first, see base/table.h) */
struct experiment_value_site {
	struct {
		uint64_t address; /* of the instruction or, of arguments, the function */
		uint32_t image, kind, operand;
		uint32_t form; /* VALUE_SHAPE | bits << 8 | enum experiment_value_class */
	} key;
	uint64_t count, moments; /* values seen; moments in which there was one */
	uint64_t squares;        /* sum over moments of the square of the values in it */
	uint64_t least;          /* count that a value which is not listed may have */
	uint64_t zeros;
	uint64_t pairs;                /* values with another before them at the same moment */
	uint64_t repeats;              /* of these, equal to the one before */
	uint64_t high, low_complement; /* the greatest value, and of all complements */
	uint64_t bits[2];              /* the union of all values' bits, and of all complements' */
	uint64_t cut;                  /* rows of values with lower grades were left out */
};

struct experiment_value {
	struct {
		uint64_t value; /* of VALUE_PLACE with an image, relative to it */
		uint32_t site, image, grade, reserved;
	} key;
	uint64_t over, sure; /* see above */
	uint64_t squares;    /* sum over moments of the square of this value's count */
	uint64_t products;   /* and of it times the site's count */
};

#define VALUES_KEPT        256 /* rows of a site in a sum */
#define VALUE_GRADES       256
#define VALUE_GRADE_HASHES 32 /* grades of a class of shares: below 1/64, 1/32 ... 1, and 1 */

/* Its sites and values become empty tables.  -1 when memory is out. */
int experiment_values_renew(struct experiment *x);
/* Of a value that may have occurred `count` times in a site with `all` values. */
uint32_t experiment_value_grade(uint64_t value, uint64_t count, uint64_t all);
/* The least grade at which rows are few enough, by the number of rows of each grade. */
uint64_t experiment_value_cut(const uint32_t rows[VALUE_GRADES]);
/* The greatest share [0,1] that a value whose other rows are kept may have in those left out. */
double experiment_value_cut_share(uint64_t cut);
/* Leaves out what sums do not keep. -1: memory is out. */
int experiment_cut_values(struct experiment *x);

/* What a tally counts; numbers are those of the file. */
enum experiment_value_tally_kind {
	VALUE_TALLY_MOMENTS,      /* with at least an instruction */
	VALUE_TALLY_EMPTY,        /* without: in system calls, for instance */
	VALUE_TALLY_INSTRUCTIONS, /* interpreted, those left out included */
	VALUE_TALLY_VALUES,
	VALUE_TALLY_ENDED_CALL,    /* windows that ended early: at a system call */
	VALUE_TALLY_ENDED_FAULT,   /* at an instruction that would fault, or memory missing */
	VALUE_TALLY_ENDED_REFUSED, /* at one that is not interpreted */
	VALUE_TALLY_ENDED_ROOM,    /* at too many pages */
	VALUE_TALLY_PROGRAM_NS,    /* CPU time of all threads that could be followed */
	VALUE_TALLY_COST_NS,       /* CPU time of moments, of threads and of ssrun */
	VALUE_TALLY_STOP_NS,       /* of this, of threads */
	VALUE_TALLY_WATCHED,       /* accesses whose addresses were watched */
	VALUE_TALLY_WATCH_MISSED,  /* of these, not seen: another one came first, or none */
	VALUE_TALLY_WATCH_UNKNOWN, /* of these, followed by an unknown one */
	VALUE_TALLIES
};

struct experiment_value_tally {
	struct {
		uint32_t kind, reserved;
	} key;
	uint64_t count;
};

static inline const struct experiment_value_site *experiment_value_site_at(
	const struct experiment *x, size_t i)
{
	return (const struct experiment_value_site *)(const void *)x->value_sites.entries + i;
}

static inline const struct experiment_value *experiment_value_at(
	const struct experiment *x, size_t i)
{
	return (const struct experiment_value *)(const void *)x->values.entries + i;
}

static inline bool experiment_has_values(const struct experiment *x)
{
	return x->value_sites.count || x->value_tallies.count;
}

/* Whether a site's values are data of the program; and whether an experiment has such values. */
bool experiment_value_is_secret(const struct experiment_value_site *site);
bool experiment_has_secrets(const struct experiment *x);
/* Adds to the one of that kind; -1 when memory is out. */
int experiment_add_value_tally(
	struct experiment *x, enum experiment_value_tally_kind kind, uint64_t count);
/* 0: there is none. */
/* Takes in the CPU time of this process up to now (cost_until). -1: memory is out. */
int experiment_count_cost(struct experiment *x);
uint64_t experiment_value_tally(const struct experiment *x, enum experiment_value_tally_kind kind);

#endif
