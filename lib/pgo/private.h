/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this module share. */
#ifndef PGO_PRIVATE_H
#define PGO_PRIVATE_H

#include "image/image.h"
#include "image/probes.h"
#include "isa/isa.h"
#include "pgo/pgo.h"

enum pgo_kind { PGO_NOTHING, PGO_CLOCK, PGO_BRANCHES, PGO_EXACT };

/* table entries; addresses 0 are outside of the image */
struct pgo_arc {
	struct {
		uint64_t from, to;
	} key;
	uint64_t count;
};

/* pgo_counts.c: the image's rows. Tables are sorted by key. */
struct pgo_counts {
	enum pgo_kind kind;
	struct table ranges;   /* first to last instruction */
	struct table branches; /* taken: from a branch to its target */
	struct table falls;    /* not taken: from a branch to what follows it */
	uint64_t bursts, transfers;
};
int pgo_counts_init(
	struct pgo_counts *c, const struct prof_data *d, uint32_t image, struct error *e);
void pgo_counts_fini(struct pgo_counts *c);
/* The kind that a profile of this image would have, and its executions there. */
enum pgo_kind pgo_counts_kind(const struct prof_data *d, uint32_t image, double *executions);

/* Adds to the count of an arc; -1 when memory is out. */
int pgo_arc_add(struct table *t, uint64_t from, uint64_t to, uint64_t count);
/* By both addresses. */
void pgo_arcs_sort(struct table *t);

static inline const struct pgo_arc *pgo_arc_at(const struct table *t, size_t i)
{
	return (const struct pgo_arc *)(const void *)t->entries + i;
}

/* pgo_code.c: functions, and the instructions of those that were executed. */
struct pgo_insn {
	uint64_t address, count;
	uint32_t function;
	uint32_t classes; /* enum insn_class */
	uint8_t length;
};

struct pgo_function {
	uint64_t begin, size;
	const char *name; /* the symbol, borrowed from the image */
	uint64_t entries; /* branches that enter it */
	uint64_t heat;    /* executed instructions */
	bool warm;        /* it has executions, and its code is decoded */
};

struct pgo_code {
	VEC(struct pgo_function) functions; /* in order of address */
	VEC(struct pgo_insn) insns;         /* of warm ones, likewise */
};
int pgo_code_init(struct pgo_code *code, const struct pgo_counts *c, struct image *file,
	struct pgo_coverage *coverage, struct error *e);
/* Sums of functions, and their entries, when counts of instructions are final. */
void pgo_code_finish(
	struct pgo_code *code, const struct pgo_counts *c, struct pgo_coverage *coverage);
void pgo_code_fini(struct pgo_code *code);
/* Index of the function that has address; -1: none. */
long pgo_function_at(const struct pgo_code *code, uint64_t address);
/* The function that a branch enters, by a call, a jump from another function, or one of its own
 * that cannot be a loop; NULL: none. */
const struct pgo_function *pgo_entered(const struct pgo_code *code, const struct pgo_arc *b);
/* The instruction that begins at address; NULL: none of a warm function. */
const struct pgo_insn *pgo_insn_at(const struct pgo_code *code, uint64_t address);

/* pgo_ties.c: counts of instructions that differ by less than the chance of the bursts become one;
 * branches follow. -1 when memory is out. */
int pgo_ties(struct pgo_code *code, struct pgo_counts *c);

/* Branches that were not taken, which branch records have among the others, become falls; what is
 * not of a branch is dropped from those. */
int pgo_code_part_falls(const struct pgo_code *code, struct pgo_counts *c);

struct pgo {
	struct prof_data *data;
	const struct pgo_format *format;
	uint32_t image;
	struct image *file;
	struct pgo_counts counts;
	struct pgo_code code;
	struct pgo_coverage coverage;
	struct image_probes probes;
};

/* pgo_tree.c: executions by function, line, discriminator and inlined call, as compilers want them.
 */
struct pgo_scope { /* table entry; 0 is the root, whose children are functions with code */
	struct {
		uint32_t parent, name;          /* name: string of the data */
		uint32_t offset, discriminator; /* of the inlined call in its parent */
	} key;
	uint64_t own, total; /* executed instructions: in it, and with what is inlined in it */
	uint64_t head;       /* entries */
	uint64_t checksum;   /* of pseudo-probes; 0: of lines */
};

struct pgo_line { /* table entry */
	struct {
		uint32_t scope, offset, discriminator, reserved;
	} key;
	uint64_t count; /* the greatest of its instructions; of a pseudo-probe, their sum */
};

struct pgo_call { /* table entry: a call at a line */
	struct {
		uint32_t scope, offset, discriminator, name;
	} key;
	uint64_t count;
};

struct pgo_tree {
	struct prof_data *data;
	struct table scopes, lines, calls;
	/* Finished: scopes by parent, offset, discriminator and name; those of the root by total
	 * and name. Lines and calls are sorted. */
	uint32_t *order;
};
struct pgo_scope *pgo_scope_add(
	struct pgo_tree *t, uint32_t parent, long name, uint32_t offset, uint32_t discriminator);
/* A string of the data: the name in the source, without suffixes of a compiler's copies; -1 when
 * memory is out. */
long pgo_source_name(struct prof_data *d, const char *name);
/* pgo_probes.c: the same by pseudo-probes; offsets are their numbers. */
int pgo_probes_grow(struct pgo_tree *t, struct pgo *p);

/* By lines, or by pseudo-probes where p has some and flat is not set. flat: gcc's discriminators
 * are dropped, which gcc 12 does not look up. */
int pgo_tree_init(struct pgo_tree *t, struct pgo *p, bool flat, struct error *e);
void pgo_tree_fini(struct pgo_tree *t);

/* Rows of a scope: [first, first + count) of the order, lines, calls. */
struct pgo_span {
	size_t first, count;
};
struct pgo_span pgo_scopes_of(const struct pgo_tree *t, uint32_t parent);
struct pgo_span pgo_lines_of(const struct pgo_tree *t, uint32_t scope);
struct pgo_span pgo_calls_of(const struct pgo_tree *t, const struct pgo_line *line);

static inline const struct pgo_scope *pgo_scope_at(const struct pgo_tree *t, size_t i)
{
	return (const struct pgo_scope *)(const void *)t->scopes.entries + i;
}

static inline const struct pgo_line *pgo_line_at(const struct pgo_tree *t, size_t i)
{
	return (const struct pgo_line *)(const void *)t->lines.entries + i;
}

static inline const struct pgo_call *pgo_call_at(const struct pgo_tree *t, size_t i)
{
	return (const struct pgo_call *)(const void *)t->calls.entries + i;
}

/* LLVM's discriminators hold a base, a factor of duplication and a copy in one number. */
uint32_t pgo_discriminator_base(uint32_t packed);
uint32_t pgo_discriminator_factor(uint32_t packed);

/* Names of files may hold anything: one with spaces or control characters would be read as another
 * row, and is left out. */
bool pgo_name_fits(const char *name);

/* pgo_cluster.c: functions in the order of call-chain clustering; to be freed by the caller, NULL
 * when memory is out. */
uint32_t *pgo_cluster(const struct pgo_code *code, const struct pgo_counts *c, size_t *count);

/* The writers, one file each. */
int pgo_write_llvm(struct pgo *p, FILE *out, struct error *e);
int pgo_write_afdo(struct pgo *p, FILE *out, struct error *e);
int pgo_write_bolt(struct pgo *p, FILE *out, struct error *e);
int pgo_write_profgen(struct pgo *p, FILE *out, struct error *e);
int pgo_write_order(struct pgo *p, FILE *out, struct error *e);
int pgo_write_sections(struct pgo *p, FILE *out, struct error *e);
int pgo_write_propeller(struct pgo *p, FILE *out, struct error *e);

#endif
