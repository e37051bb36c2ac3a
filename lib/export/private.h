/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of the writers of lib/export. */
#ifndef EXPORT_PRIVATE_H
#define EXPORT_PRIVATE_H

#include "base/strbuf.h"
#include "export/export.h"

struct export_metric {
	size_t index;       /* in the data's metrics */
	const char *name;   /* no two are equal */
	const char *text;   /* its description, in one line */
	const char *unit;   /* of its units: "ns", "misses" */
	uint64_t unit_size; /* units per sample */
	uint64_t samples;   /* exported */
	bool exact, clock;
};

/* Texts are strings of the data; 0: "". */
struct export_function { /* table entry */
	struct {
		uint64_t begin;                      /* address; 0: none of its own */
		uint32_t name, symbol;               /* demangled, and as linkers have it */
		uint32_t image, inlined, file, line; /* its beginning */
	} key;
};

struct export_frame {
	uint32_t function, file, line; /* line in the function */
};

/* An address of an image, with the functions around it: inlined ones first, the real one last. */
struct export_location {
	uint64_t address;
	size_t first; /* in frames */
	uint32_t frames;
	uint32_t image;
	bool named; /* it has a symbol */
};

/* One step of a call path. Nodes of the data become one step, or with -inlines one for each frame;
 * 0 is the root; parents come first. */
struct export_step {
	uint32_t parent, location, frame; /* frame: of the location, for this step */
	uint32_t function;
	uint32_t group; /* of the data */
	uint32_t node;  /* whose samples are its own; 0: it has none */
};

struct export_profile {
	struct prof_data *data;
	const struct export_format *format;
	const struct export_request *request;
	VEC(struct export_metric) metrics;
	VEC(struct export_location) locations;
	VEC(struct export_frame) frames;
	struct table functions;
	uint32_t *location; /* [place] */
	bool *wanted;       /* [place] */
	struct report_table notes;
};

/* names.c: locations, frames, functions, wanted. */
int export_name(struct export_profile *x, struct error *e);
/* metrics.c */
int export_choose(struct export_profile *x, struct error *e);
int export_describe(struct export_profile *x, struct error *e);

/* Of a node of the data, of the exported metric m: samples, and the units they stand for. */
static inline uint64_t export_samples(const struct export_profile *x, size_t node, size_t m)
{
	const struct prof_data *d = x->data;

	if (!node || !x->wanted[profile_tree_node_at(d, node)->key.place])
		return 0;
	return d->node_counts.data[node * d->metrics.count + x->metrics.data[m].index];
}

static inline uint64_t export_units(const struct export_profile *x, size_t node, size_t m)
{
	return export_samples(x, node, m) * x->metrics.data[m].unit_size;
}

static inline const struct export_function *export_function_at(
	const struct export_profile *x, size_t i)
{
	return (const struct export_function *)(const void *)x->functions.entries + i;
}

static inline const struct prof_group *export_group_at(const struct export_profile *x, size_t i)
{
	return (const struct prof_group *)(const void *)x->data->groups.entries + i;
}

static inline const char *export_text(const struct export_profile *x, uint32_t string)
{
	return profile_string_at(x->data, string);
}

/* names.c.  Any of the metrics? */
bool export_any(const struct export_profile *x, size_t node);
/* "app", or "(no symbol) [libc.so.6]": a name that is sufficient without an image. */
int export_full_name(struct strbuf *s, const struct export_profile *x, uint32_t function);
/* key[function]: its full name, a string of the data; -1 when memory is out. */
int export_name_keys(const struct export_profile *x, uint32_t *key);
/* "rank 3 app 1234/1235", of a thread. */
void export_thread_name(struct strbuf *s, const struct export_profile *x, uint32_t group);

/* steps.c: to be freed by the caller. */
struct export_steps {
	VEC(struct export_step) all;
};
int export_steps(struct export_steps *s, const struct export_profile *x);

/* branches.c: paths, with steps merged that the caller considers equal. */
struct export_branch { /* table entry; 0 is the root */
	struct {
		uint32_t parent, group, key;
	} key;
};
struct export_branches {
	struct table all;
	VEC(uint64_t) samples; /* [branch * metrics + metric] */
	uint32_t *order;       /* depth first, parents before children, those by key */
	uint32_t *function;    /* [branch]: one of the steps merged in it */
};
/* key[function]: functions with equal keys are one. */
int export_branches(struct export_branches *b, const struct export_profile *x, const uint32_t *key);
void export_branches_fini(struct export_branches *b);
static inline const struct export_branch *export_branch_at(
	const struct export_branches *b, size_t i)
{
	return (const struct export_branch *)(const void *)b->all.entries + i;
}

int export_paths(const struct export_profile *x, FILE *out, struct error *e);
int export_pprof(const struct export_profile *x, FILE *out, struct error *e);
int export_callgrind(const struct export_profile *x, FILE *out, struct error *e);
int export_folded(const struct export_profile *x, FILE *out, struct error *e);
int export_speedscope(const struct export_profile *x, FILE *out, struct error *e);
int export_json(const struct export_profile *x, FILE *out, struct error *e);

#endif
