/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of rows that add up, described once: the fields of a row, in the order of its file, which
 * of them are its key, and the tables that they refer to. This description is used to order,
 * renumber, add up, merge, write, read and print them.
 *
 * The fields of the key come first; rows are sorted by them, in that order. The other fields of two
 * rows with one key add up: numbers and reals to their sum (numbers stop at their greatest value,
 * so that sums are the same in any order), words to their union.
 *
 * A table owns the texts of its rows.
 */
#ifndef ROWS_ROWS_H
#define ROWS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/table.h"

struct cursor; /* rows/coding.h */

enum row_coding {
	ROW_UINT,
	ROW_SINT,
	ROW_RISE,     /* uint: the increase since the row before (at first, 0); never negative */
	ROW_STEP,     /* sint: the same, may be negative */
	ROW_DISTANCE, /* sint: the difference to the field `from` of the same row */
	ROW_REAL,     /* a double, finite and not negative, no key: 8 bytes, the least first */
	ROW_WORDS,    /* numbers of 64 bits, no key: each a uint */
	ROW_TEXT,     /* char *, no key: length and bytes */
	/* In records only (row_put_record): */
	ROW_LIST,  /* words after their number: later versions may have more */
	ROW_BYTES, /* length and bytes; their number is a uint32_t at offset `from` */
	ROW_FLAG,  /* bool: a uint, of which the lowest bit counts */
};

#define ROW_REFERENCES 40   /* tables that rows may refer to, number 0 left out */
#define ROW_SIZE_MAX   1024 /* bytes; those of described fields are the first 255 */
#define ROW_NUMBER     0    /* the field is a number and refers to nothing */

struct row_field {
	const char *name;
	uint8_t offset, size; /* bytes; size 4 or 8, of words 8 times their number */
	uint8_t coding, from; /* enum row_coding */
	uint8_t reference; /* of which table it is a row's number (then size is 4); or ROW_NUMBER */
	uint8_t hex;       /* printed so */
	uint8_t positive;  /* rows with 0 there are none: settling drops them */
	uint8_t own;       /* row_kind.add adds it up */
	uint8_t later;     /* in records, at their end: 0 and "" are not written, and so is what is
			      missing */
	uint32_t limit;    /* values are below it; 0: any that fit */
	/* Words that are printed in place of name and value, for values below names_count. */
	const char *const *names;
	uint32_t names_count;
};

struct row_kind {
	const char *type; /* of its section */
	const char *word; /* begins its lines in dumps */
	const struct row_field *fields;
	uint8_t field_count, keys; /* keys: the number of fields of the key */
	uint16_t size, key_size;   /* bytes of a row; size at most ROW_SIZE_MAX */
	uint8_t fixed;    /* rows at the beginning that every such table has: neither written nor
			     printed, and not sorted */
	bool numbered;    /* lines in dumps have the number of the row */
	bool referred_to; /* other tables refer to it: settling and merging must return the new
			     numbers of rows */
	/* Optional: what row_order would find, only faster. */
	int (*order)(const void *a, const void *b);
	/* Optional: for fields marked own. A new `to` is all zero after its key; texts of rows that
	 * stay may be exchanged. Called before the other fields are added. */
	void (*add)(void *to, void *row);
};

/* A field of struct `type`; and a kind of such structs, whose key is the member `key`. */
#define ROW_FIELD(type, field)                                                                     \
	.name = #field, .offset = offsetof(struct type, field),                                    \
	.size = sizeof(((struct type *)0)->field)
#define ROW_KEY(type, field) ROW_KEY_AS(type, field, #field)
#define ROW_KEY_AS(type, field, word)                                                              \
	.name = (word), .offset = offsetof(struct type, key.field),                                \
	.size = sizeof(((struct type *)0)->key.field)
#define ROW_KIND(type, list, key_fields)                                                           \
	ROW_RECORD(type, list), .keys = (key_fields), .key_size = sizeof(((struct type *)0)->key)
/* Of records, which have no key. */
#define ROW_RECORD(type, list)                                                                     \
	.fields = (list), .field_count = sizeof(list) / sizeof((list)[0]),                         \
	.size = sizeof(struct type)

/* For each table that rows refer to, by its reference. */
struct row_numbers {
	const uint32_t *to[ROW_REFERENCES]; /* new numbers; NULL: they stay */
	size_t limit[ROW_REFERENCES];       /* for row_get: how many there are */
};

/* Counts stay at their greatest value. */
static inline uint64_t row_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* With its fixed rows, all zero.  -1 when memory is out. */
int row_init(struct table *t, const struct row_kind *k);
void row_fini(struct table *t, const struct row_kind *k);
/* The same rows in the same places; to is not initialised.  -1 when memory is out; row_fini is due
 * then, too. */
int row_copy(struct table *to, const struct table *from, const struct row_kind *k);
/* Adds a row to the one with its key, and copies its texts; its index, -1 when memory is out. */
long row_add(struct table *t, const struct row_kind *k, const void *row);
/* What strcmp would return, by their keys. */
int row_order(const struct row_kind *k, const void *a, const void *b);
/* Which rows of another table are referred to: used[number] becomes true for each. */
void row_mark(const struct table *t, const struct row_kind *k, unsigned reference, bool *used);
/* Replaces each reference by its number in n. */
void row_renumber(struct table *t, const struct row_kind *k, const struct row_numbers *n);
/* Renumbers and sorts; rows of one key add up.  to (may be NULL): the new number of each row; of
 * dropped ones, any.  -1 when memory is out. */
int row_settle(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, uint32_t *to);
/*
 * Adds b's rows, renumbered, to a's; to (may be NULL): row of a for each of b. Rows may refer to
 * earlier ones of their own table, if n has `to` for it. -1 when memory is out.
 *
 * Rows are found by a finger: both tables are mostly in the same order, so the next row of b is
 * usually the next or one of the next of a. Otherwise it is looked up, and added if it is missing.
 */
int row_merge(struct table *a, const struct table *b, const struct row_kind *k,
	const struct row_numbers *n, uint32_t *to);
void row_put(const struct table *t, const struct row_kind *k, size_t row, struct strbuf *to);
/* Records: rows that contain their length, since later versions may add fields. scratch is empty,
 * before and after. */
void row_put_record(
	const void *row, const struct row_kind *k, struct strbuf *scratch, struct strbuf *to);
/* row is all zero. */
void row_get_record(
	void *row, const struct row_kind *k, const struct row_numbers *n, struct cursor *c);
/* Own copies in place of borrowed texts; false: memory is out, and none of them is owned. */
bool row_copy_texts(void *row, const struct row_kind *k);
void row_free_texts(void *row, const struct row_kind *k);
/* Appends rows, up to the cursor's end. The cursor becomes bad if they are invalid. */
void row_get(
	struct table *t, const struct row_kind *k, const struct row_numbers *n, struct cursor *c);
/* Lines, one per row. */
void row_dump(const struct table *t, const struct row_kind *k, FILE *out);
/* In quotes; quotes, backslashes and control characters escaped. */
void row_quote(const char *text, FILE *out);

#endif
