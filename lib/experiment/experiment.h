/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An experiment: the samples and counts of one run (or the sum of several).
 *
 * Samples are histograms over nodes. A node is an address of an image reached by a call path: node
 * 0 is the root, each other has a parent, the node of its caller. A program counter without call
 * stack is a child of the root; so flat profiles and call trees are one structure, and the own
 * (exclusive) samples of an address are those of all nodes with this address. In callers, the
 * address is that of the call instruction (return address less one), so that it belongs to the
 * calling line.
 *
 * Addresses are those that the image's own program headers give (as objdump shows), wherever it
 * was loaded. Images are the same if their kind, path and identity are. Code that a process
 * generated (JIT) is an image of that process, with the addresses of memory.
 *
 * The structure owns all it points to; entries of tables move when something is added. Index 0 of
 * images, processes, threads and phases always exists: "unknown", "all together", "before the
 * first point".
 */
#ifndef EXPERIMENT_EXPERIMENT_H
#define EXPERIMENT_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"
#include "events/label.h"
#include "experiment/tables.h"

#define EXPERIMENT_BUILD_ID_MAX 64
#define EXPERIMENT_ROOT         0 /* node, image, process, thread, phase */

enum experiment_image_kind {
	EXPERIMENT_IMAGE_UNKNOWN,
	EXPERIMENT_IMAGE_ELF,
	EXPERIMENT_IMAGE_FILE,      /* mapped from a file that is not an ELF image, or with a
				       build-id, from one that was removed unread: offsets in it */
	EXPERIMENT_IMAGE_ANONYMOUS, /* made by a process (JIT): addresses of memory */
	EXPERIMENT_IMAGE_KERNEL,    /* the kernel and its modules: addresses of memory */
	EXPERIMENT_IMAGE_VDSO,
	EXPERIMENT_IMAGE_KINDS
};
extern const char *const experiment_image_kinds[EXPERIMENT_IMAGE_KINDS]; /* "elf" */

struct experiment_image {
	enum experiment_image_kind kind;
	char *path; /* as the process saw it; "[kernel]", "[vdso]", "[anonymous]" likewise */
	uint8_t build_id[EXPERIMENT_BUILD_ID_MAX];
	uint32_t build_id_length; /* bytes; 0: it has none */
	uint64_t size;            /* bytes of the file; 0: not known */
	uint64_t fingerprint;     /* of its contents, if there is no build-id; 0: none */
	pid_t pid;                /* of an anonymous one, else 0 */
};

enum experiment_metric_flag {
	METRIC_STACKS = 1 << 0, /* nodes are call paths */
	METRIC_EXACT = 1 << 1,  /* each event was counted: period is 1 and counts have no error */
	METRIC_SKID = 1 << 2,  /* an interrupt took the address: it is that of the instruction after
				  the one that waited (prof -dis moves it) */
	METRIC_CLOCK = 1 << 3, /* its unit is ns of time, on CPU or (METRIC_WALL) elapsed */
	METRIC_WALL = 1 << 4,
	METRIC_KERNEL = 1 << 5, /* samples in the kernel are included */
	METRIC_BOTH = 1 << 6,   /* the same event at another period as the nearest metric before it
				   without this flag */
	METRIC_DATA = 1 << 7,   /* data space is counted, too (experiment/data.h) */
	METRIC_BRANCHES = 1 << 8, /* branches are recorded, too (experiment/branches.h) */
	METRIC_VALUES = 1 << 9,   /* values are, too (experiment/values.h) */
};

/* Reasons why samples have no meaningful address. */
enum experiment_reason {
	EXPERIMENT_NO_MAPPING, /* outside all known mappings */
	EXPERIMENT_NO_STACK,   /* the call path breaks off: address known, callers not */
	EXPERIMENT_NO_ROOM,    /* a table of the source was full */
	EXPERIMENT_REASONS
};

struct experiment_metric {
	int32_t event;    /* number in the event table (events/numbers.h), -1: none of these */
	char *name;       /* "CPU time", "Secondary data cache misses" */
	char *short_name; /* "time", "dsc": the head of its column */
	char *unit;       /* plural: "ns", "misses" */
	char *source;     /* "os", "pmu", "model": its source, in one word */
	char *note;       /* machine of the model, encoding on the PMU ...; "" */
	enum label label;
	uint32_t flags;     /* enum experiment_metric_flag */
	uint32_t skid;      /* instructions, requested of the model */
	uint64_t period;    /* units per sample; a count of n stands for n * period units */
	uint64_t total;     /* units, counted besides the samples; 0: unknown */
	uint64_t lost;      /* samples that the kernel dropped */
	uint64_t throttled; /* times that the kernel slowed sampling down */
	uint64_t reasons[EXPERIMENT_REASONS]; /* samples among those of the histograms;
						 EXPERIMENT_NO_ROOM not */
};

typedef VEC(struct experiment_metric) experiment_metrics;

/* The data of misses; experiment/data.h. */
struct experiment_data {
	experiment_metrics metrics; /* the counted events; without samples */
	uint64_t lost;              /* times that a table was full */
};

struct experiment_process {
	pid_t pid, ppid;
	int32_t rank;        /* of MPI; -1: none */
	int32_t status;      /* wait status; -1: unknown */
	uint64_t begin, end; /* ns since the experiment began; end 0: still running at its end */
	char *command;       /* name, last exec's */
	char *arguments;     /* its, cut after some; "": not known */
};

struct experiment_thread {
	uint32_t process;
	pid_t tid;
	char *name;
	uint32_t cpu; /* CPU + 1, of samples taken there; 0: of all others. A thread has a row with
			 0, and where CPUs are recorded one for each. */
};

struct experiment_phase {
	uint64_t time;   /* ns since the experiment began: its beginning */
	uint32_t thread; /* process that passed the point; 0: from outside */
	char *name;
};

/* table entries ("key" first, see base/table.h) */
struct experiment_node {
	struct {
		uint64_t address;
		uint32_t parent, image;
	} key;
};

struct experiment_sample {
	struct {
		uint32_t metric, thread, phase, node;
	} key;
	uint64_t count;
};

/* Exact flow (ideal): from the branch, or the last instruction before the target, to the target. */
struct experiment_edge {
	struct {
		uint64_t from, to;
		uint32_t from_image, to_image;
		uint32_t kind; /* enum model_branch_kind, or PROFILE_FALL */
		uint32_t taken;
	} key;
	uint64_t count;
};

/* Names of addresses that are in no file: JIT, kernel, vdso. */
struct experiment_symbol {
	struct {
		uint64_t address;
		uint32_t image, reserved;
	} key;
	uint64_t length;
	char *name; /* as found, mangled */
};

/* Facts on the run, printed as they are: "command", "host", "cpu", "kernel", "version" ... */
struct experiment_fact {
	char *key, *value;
	bool several; /* merged runs differed in it: value is the least of them (strcmp) */
};

/* Processes and threads that merging removed from the tables (experiment/merge.h); all zero as
 * recorded. */
struct experiment_folded {
	uint64_t processes, threads;
	uint64_t failed;             /* processes with a status that is known and not 0 */
	uint64_t ranks;              /* processes that had one */
	int32_t rank_low, rank_high; /* the least and the greatest; 0, 0 where ranks is 0 */
};

struct experiment {
	bool damaged; /* its file was: what came later in it is missing */
	char *type;   /* "pcsamp", "dsc_hwc" ...; several: joined by ',' */
	VEC(struct experiment_fact) facts;
	VEC(struct experiment_image) images;
	struct images_known { /* images by what identifies them (images_known.c) */
		struct table table;
		size_t until; /* images that it has: the first ones */
	} images_known;
	experiment_metrics metrics;
	VEC(struct experiment_process) processes;
	VEC(struct experiment_thread) threads;
	VEC(struct experiment_phase) phases;
	/* By number and by name (experiment/tables.h).  In nodes, parents come before their
	 * children. */
	union {
		struct table tables[EXPERIMENT_TABLES - EXPERIMENT_LISTS];
		struct {
#define EXPERIMENT_MEMBER(number, name) struct table name;
			EXPERIMENT_TABLE_LIST(EXPERIMENT_MEMBER)
		};
	};
	struct {                /* of slices (experiment/time_slices.h) */
		uint32_t shift; /* they are 2^shift ns wide */
		uint64_t room;  /* bits that they may take in a file; UINT64_MAX: not known yet */
	} slicing;
	uint64_t began;   /* ns since 1970, 0: not known */
	uint64_t elapsed; /* ns; of several runs, the sum */
	uint32_t runs;    /* files that were added up; 1 as recorded */
	bool complete;    /* the run was watched to its end */
	struct experiment_folded folded;
	struct experiment_data data; /* the data of misses (experiment/data.h) */
	/* While it is recorded with values: VALUE_TALLY_COST_NS has the CPU time of this process up
	 * to here, ns, and takes in the rest when it is written, but what samples of the clock take
	 * of that. 0: it has what it should. */
	uint64_t cost_until, cost_of_clock;
};

/* Creates index 0 of everything.  -1 when memory is out. */
int experiment_init(struct experiment *x, struct error *e);
void experiment_fini(struct experiment *x);
/* All that from holds, with the same index for everything; to is not initialised.  -1 when memory
 * is out, with to as after experiment_fini. */
int experiment_copy(struct experiment *to, const struct experiment *from, struct error *e);

/* All copy their arguments and return an index, or -1 with *e set. experiment_image returns an
 * equal one that exists. */
long experiment_image(struct experiment *x, const struct experiment_image *image, struct error *e);
long experiment_metric(
	struct experiment *x, const struct experiment_metric *metric, struct error *e);
long experiment_process(
	struct experiment *x, const struct experiment_process *process, struct error *e);
long experiment_thread(
	struct experiment *x, const struct experiment_thread *thread, struct error *e);
/* All but number 0; nothing may refer to them. */
void experiment_drop_processes(struct experiment *x);
/* Threads, those that merging folded among them. */
uint64_t experiment_thread_count(const struct experiment *x);
long experiment_phase(struct experiment *x, const struct experiment_phase *phase, struct error *e);
/* Of several names of one address, the least is kept. */
int experiment_symbol(struct experiment *x, uint32_t image, uint64_t address, uint64_t length,
	const char *name, struct error *e);
/* Sets a fact, replacing one of that key. */
int experiment_fact(struct experiment *x, const char *key, const char *value, struct error *e);
/* NULL: there is none. */
struct experiment_fact *experiment_fact_row(const struct experiment *x, const char *key);
/* NULL: there is none.  Borrowed until the next experiment_fact. */
const char *experiment_fact_find(const struct experiment *x, const char *key);
/* The fact that says of how many samples in python3's interpreter the functions of Python were
 * read: "85 of 726"; and the path of the image that these functions are in. */
#define PYTHON_READ_FACT "python"
#define PYTHON_IMAGE     "[python]"

/* The node of address in image called from parent; -1 when memory is out. */
long experiment_node(struct experiment *x, uint32_t parent, uint32_t image, uint64_t address);
/* Adds count samples.  -1 when memory is out. */
int experiment_add(struct experiment *x, uint32_t metric, uint32_t thread, uint32_t phase,
	uint32_t node, uint64_t count);

static inline const struct experiment_node *experiment_node_at(const struct experiment *x, size_t i)
{
	return (const struct experiment_node *)(const void *)x->nodes.entries + i;
}

static inline const struct experiment_sample *experiment_sample_at(
	const struct experiment *x, size_t i)
{
	return (const struct experiment_sample *)(const void *)x->samples.entries + i;
}
/* Of all metrics, processes and phases. */
uint64_t experiment_samples_sum(const struct experiment *x);

#endif
