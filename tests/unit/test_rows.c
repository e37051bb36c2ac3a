/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of rows: one that no experiment has, described here, is added up, settled, merged,
 * written, read and printed; and all of that once with each allocation failing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "inject.h"
#include "rows/coding.h"
#include "rows/rows.h"

/* ---- a table of values that instructions saw: all that there is to say of it ---- */

enum { PLACES = ROW_NUMBER + 1 };

struct value {
	struct {
		int64_t value;
		uint32_t place, kind;
	} key;
	uint64_t count, seen[2];
	double seconds;
	char *name;
};

static const char *const kinds[] = {"load", "store"};

/* The least name stays. */
static void add_value(void *to, void *row)
{
	struct value *a = to, *b = row;
	char *name = a->name;

	if (!a->name || strcmp(b->name, a->name) < 0) {
		a->name = b->name;
		b->name = name;
	}
}

static const struct row_field value_fields[] = {
	{ROW_KEY(value, place), .coding = ROW_RISE, .reference = PLACES},
	{ROW_KEY(value, kind), .limit = 2, .names = kinds, .names_count = 2},
	{ROW_KEY(value, value), .coding = ROW_SINT},
	{ROW_FIELD(value, count), .positive = 1},
	{ROW_FIELD(value, seen), .coding = ROW_WORDS},
	{ROW_FIELD(value, seconds), .coding = ROW_REAL},
	{ROW_FIELD(value, name), .coding = ROW_TEXT, .own = 1},
};

static const struct row_kind values_kind = {
	ROW_KIND(value, value_fields, 3), .type = "VALU", .word = "value", .add = add_value};

/* ---- what is done with it ---- */

static int add(struct table *t, uint32_t place, uint32_t kind, int64_t value, uint64_t count,
	const char *name)
{
	const struct value row = {.key = {value, place, kind},
		.count = count,
		.seen = {count, 1},
		.seconds = 0.5,
		.name = (char *)name};

	return row_add(t, &values_kind, &row) < 0 ? -1 : 0;
}

static char *printed(const struct table *t)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	row_dump(t, &values_kind, out);
	fclose(out);
	return text;
}

static void is_printed(const struct table *t, const char *want, const char *what)
{
	char *text = printed(t);

	is_str(text, want, "%s", what);
	free(text);
}

static int fill_first(struct table *t)
{
	return row_init(t, &values_kind) || add(t, 2, 1, -5, 3, "b") || add(t, 0, 0, 7, 1, "c") ||
			       add(t, 2, 1, -5, 4, "a") || add(t, 1, 0, 9, 0, "never")
		       ? -1
		       : 0;
}

static int fill_second(struct table *t)
{
	return row_init(t, &values_kind) || add(t, 1, 1, -5, UINT64_MAX, "z") ||
			       add(t, 0, 0, -7, 2, "y")
		       ? -1
		       : 0;
}

#define FIRST                                                                                      \
	"value place 1 load value 7 count 1 seen 00000000000000010000000000000001 seconds 0.5 "    \
	"name \"c\"\n"                                                                             \
	"value place 5 store value -5 count 7 seen 00000000000000010000000000000007 seconds 1 "    \
	"name \"a\"\n"
#define SUM                                                                                        \
	"value place 1 load value -7 count 2 seen 00000000000000010000000000000002 seconds 0.5 "   \
	"name \"y\"\n"                                                                             \
	"value place 1 load value 7 count 1 seen 00000000000000010000000000000001 seconds 0.5 "    \
	"name \"c\"\n"                                                                             \
	"value place 5 store value -5 count 18446744073709551615 seen "                            \
	"0000000000000001ffffffffffffffff seconds 1.5 name \"a\"\n"

/* Places of the second table are others' numbers. */
static const uint32_t first_places[] = {1, 3, 5}, second_places[] = {1, 5};

static void test_all(void)
{
	struct row_numbers n = {.to = {[PLACES] = first_places}, .limit = {[PLACES] = 6}};
	const struct row_numbers same = {.limit = {[PLACES] = 6}};
	struct strbuf bytes = {0};
	struct table a, b, read;
	uint32_t to[4];
	struct cursor c;

	fill_first(&a);
	fill_second(&b);
	is_int(a.count, 3, "rows of one key are one");
	is_int(row_settle(&a, &values_kind, &n, to), 0, "rows are settled");
	is_printed(&a, FIRST, "in order, renumbered, and without what was never counted");
	ok(to[0] == 1 && to[1] == 0, "it is known where they went");
	n.to[PLACES] = second_places;
	is_int(row_merge(&a, &b, &values_kind, &n, to), 0, "others are added");
	ok(to[0] == 1 && to[1] == 2, "to the row with their key, or behind");
	row_settle(&a, &values_kind, &same, NULL);
	is_printed(&a, SUM, "the sum");

	for (size_t i = 0; i < a.count; i++)
		row_put(&a, &values_kind, i, &bytes);
	row_init(&read, &values_kind);
	c = (struct cursor){
		.at = (uint8_t *)bytes.data, .end = (uint8_t *)bytes.data + bytes.length};
	row_get(&read, &values_kind, &same, &c);
	ok(!c.bad, "what is written is read");
	is_printed(&read, SUM, "and is the same");
	row_fini(&read, &values_kind);

	row_init(&read, &values_kind);
	c = (struct cursor){
		.at = (uint8_t *)bytes.data, .end = (uint8_t *)bytes.data + bytes.length};
	row_get(&read, &values_kind, &(struct row_numbers){.limit = {[PLACES] = 5}}, &c);
	ok(c.bad && !c.nomem, "a row that refers to none is refused");
	row_fini(&read, &values_kind);
	for (size_t length = 1; length < bytes.length; length++) {
		row_init(&read, &values_kind);
		c = (struct cursor){
			.at = (uint8_t *)bytes.data, .end = (uint8_t *)bytes.data + length};
		row_get(&read, &values_kind, &same, &c);
		if (!c.bad && read.count == a.count)
			ok(false, "%zu bytes are enough", length);
		row_fini(&read, &values_kind);
	}
	strbuf_fini(&bytes);
	row_fini(&a, &values_kind);
	row_fini(&b, &values_kind);
}

static int without_memory(struct error *e)
{
	const struct row_numbers same = {.limit = {[PLACES] = 6}};
	struct strbuf bytes = {0};
	struct table a = {0}, b = {0}, read = {0};
	uint32_t to[4];
	struct cursor c;
	int status = fill_first(&a) || fill_second(&b) || row_settle(&a, &values_kind, &same, to) ||
		     row_merge(&a, &b, &values_kind, &same, to) ||
		     row_settle(&a, &values_kind, &same, NULL);

	for (size_t i = 0; i < a.count && !status; i++)
		row_put(&a, &values_kind, i, &bytes);
	c = (struct cursor){
		.at = (uint8_t *)bytes.data, .end = (uint8_t *)bytes.data + bytes.length};
	if (!status)
		status = bytes.failed || row_init(&read, &values_kind);
	if (!status)
		row_get(&read, &values_kind, &same, &c);
	status |= c.bad;
	row_fini(&a, &values_kind);
	row_fini(&b, &values_kind);
	row_fini(&read, &values_kind);
	strbuf_fini(&bytes);
	return status ? error_nomem(e) : 0;
}

/* Many rows, of which the last ones are new: only these are sorted, and merged into the others. */
static void test_order(void)
{
	const struct row_numbers same = {0};
	struct table t;
	bool good = true;

	row_init(&t, &values_kind);
	for (uint32_t i = 0; i < 2000; i++)
		add(&t, i < 1500 ? 2 * i : (i * 7919) % 3000, 0, 1, 1, "x");
	row_settle(&t, &values_kind, &same, NULL);
	for (size_t i = 1; i < t.count; i++)
		good &= row_order(&values_kind, table_at(&t, i - 1), table_at(&t, i)) < 0;
	ok(good && t.count > 1500, "what is new finds its place among what is in order");
	row_fini(&t, &values_kind);
}

/* Rows whose keys fill 64 bits and more, many of them alike, and whose numbers are wanted. */
struct wide {
	struct {
		uint64_t address;
		uint32_t image, kind;
		int32_t change;
		uint32_t part;
	} key;
	uint64_t count;
};

static const struct row_field wide_fields[] = {
	{ROW_KEY(wide, image), .coding = ROW_RISE},
	{ROW_KEY(wide, address), .coding = ROW_STEP},
	{ROW_KEY(wide, kind)},
	{ROW_KEY(wide, change), .coding = ROW_SINT},
	{ROW_KEY(wide, part)},
	{ROW_FIELD(wide, count)},
};

static const struct row_kind wide_kind = {
	ROW_KIND(wide, wide_fields, 5), .type = "WIDE", .word = "wide", .fixed = 1};

/* Of so many digits, some of which are 0 in all rows. */
static struct wide draw_row(uint64_t *chance, uint64_t addresses)
{
	uint64_t a = random_next(chance), b = random_next(chance);

	return (struct wide){.key = {.address = a & addresses,
				     .image = b & 3,
				     .kind = b >> 8 & 1,
				     .change = (int32_t)(b >> 16 & 3) - 1,
				     .part = b >> 24 & 1 ? (uint32_t)(b >> 32) : 0},
		.count = 1};
}

static bool are_settled(const struct table *t, const struct wide *rows, size_t count,
	const uint32_t *to, uint64_t *sum)
{
	bool good = true;

	*sum = 0;
	for (size_t i = 1; i < t->count; i++) {
		*sum += ((const struct wide *)table_at(t, i))->count;
		good &= i == 1 || row_order(&wide_kind, table_at(t, i - 1), table_at(t, i)) < 0;
	}
	for (size_t i = 0; i < count; i++)
		good &= memcmp(table_at(t, to[i + 1]), &rows[i].key, sizeof(rows[i].key)) == 0;
	return good;
}

static void test_wide(void)
{
	static const uint64_t addresses[] = {7, 0xff00ff, 0xffffffff, 0xffff00ffffffff, UINT64_MAX};
	static const size_t counts[] = {1, 20, 3000};
	static struct wide rows[3000];
	static uint32_t to[3001];
	const struct row_numbers same = {0};
	uint64_t chance = 1, sum;
	struct table t;

	for (size_t i = 0; i < 15; i++) {
		size_t count = counts[i % 3];

		row_init(&t, &wide_kind);
		for (size_t k = 0; k < count; k++) {
			rows[k] = draw_row(&chance, addresses[i / 3]);
			*(struct wide *)table_append(&t) = rows[k];
		}
		row_settle(&t, &wide_kind, &same, to);
		ok(are_settled(&t, rows, count, to, &sum) && sum == count,
			"%zu rows with addresses of %#llx", count,
			(unsigned long long)addresses[i / 3]);
		row_fini(&t, &wide_kind);
	}
}

int main(void)
{
	test_all();
	test_order();
	test_wide();
	inject_each("a table of rows", without_memory, false);
	return done();
}
