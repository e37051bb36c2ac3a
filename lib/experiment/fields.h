/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of rows that add up, described once: what fields a row has, in the order of its file,
 * which of them are its key, and what they refer to.  That description orders, renumbers, writes,
 * reads and prints them.
 *
 * The fields of the key come first; rows are sorted by them, in that order.
 */
#ifndef EXPERIMENT_FIELDS_H
#define EXPERIMENT_FIELDS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/table.h"
#include "experiment/coding.h"

enum row_coding {
	ROW_UINT,
	ROW_SINT,
	ROW_STEP,     /* sint: what it is more than in the row before (at first, 0) */
	ROW_DISTANCE, /* sint: what it is more than the field `from` of the same row */
	ROW_REAL,     /* a double, finite and not negative, no key: 8 bytes, the least first */
};

enum row_reference { ROW_NUMBER, ROW_IMAGE, ROW_REFERENCES };

struct row_field {
	const char *name;
	uint8_t offset, size; /* bytes; size 4 or 8 */
	uint8_t key;
	uint8_t coding, from; /* enum row_coding */
	uint8_t reference;    /* enum row_reference */
	uint8_t hex;          /* printed so */
	uint8_t positive;     /* 0 makes no sense */
};

struct row_kind {
	const char *type; /* of its section */
	const char *word; /* for -dump */
	const struct row_field *fields;
	size_t field_count, size, key_size;     /* bytes */
	void (*add)(void *to, const void *row); /* rows of one key */
};

/* Of each kind of reference, by enum row_reference. */
struct row_numbers {
	const uint32_t *to[ROW_REFERENCES]; /* new numbers; NULL: they stay */
	size_t limit[ROW_REFERENCES];       /* for row_get: how many there are */
};

void row_init(struct table *t, const struct row_kind *k);
/* Adds a row to the one with its key; its index, -1 when memory is out. */
long row_add(struct table *t, const struct row_kind *k, const void *row);
/* What strcmp would return, by their keys. */
int row_order(const struct row_kind *k, const void *a, const void *b);
/* Renumbers and sorts; rows of one key add up.  to (may be NULL): the new number of each row.  -1
 * when memory is out. */
int row_settle(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, uint32_t *to);
/* Adds b's rows, renumbered, to a's; to (may be NULL): row of a for each of b.  -1 when memory is
 * out. */
int row_merge(struct table *a, const struct table *b, const struct row_kind *k,
	const struct row_numbers *n, uint32_t *to);
void row_put(const struct table *t, const struct row_kind *k, size_t row, struct strbuf *to);
/* Reads a row behind the last; false: it makes no sense, or (*nomem) memory is out. */
bool row_get(struct table *t, const struct row_kind *k, const struct row_numbers *n,
	struct cursor *c, bool *nomem);
/* A line. */
void row_dump(const struct table *t, const struct row_kind *k, size_t row, FILE *out);

#endif
