/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose names were chosen so that a known hash of them is one number: none is taken for
 * another, and each is found after few steps in its table.
 */
#include "../tap.h"

#include "colliding.h"
#include "experiment/merge.h"
#include "perfdata/private.h"
#include "prof_fake.h"

enum {
	NAMES = 3000,
	LONGEST = 300 /* slots in use without a gap; where all names want one slot, NAMES */
};

static size_t longest(const struct table *t)
{
	size_t most = 0, run = 0;

	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		run = t->slots[i] ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

/* ---- images of experiments ---- */

static uint64_t place_of(const char *path)
{
	uint64_t h = 0;

	while (*path)
		h = h * 31 + (unsigned char)*path++;
	return h;
}

/* A file with images [from, from + NAMES), and one sample in each. */
static char *forged_file(size_t from, size_t *size)
{
	struct strbuf out = {0};
	struct experiment x;
	struct error e;

	experiment_init(&x, &e);
	fake_metric(&x, "time", -1, 1000000, METRIC_CLOCK, LABEL_MEASURED);
	for (size_t i = from; i < from + NAMES; i++) {
		const struct colliding_text text = colliding_text(i);
		const struct experiment_image image = {
			.kind = EXPERIMENT_IMAGE_FILE, .path = (char *)(uintptr_t)text.text};
		long at = experiment_image(&x, &image, &e);

		experiment_add(&x, 0, 0, 0,
			(uint32_t)experiment_node(&x, 0, (uint32_t)at, place_of(text.text)), 1);
	}
	if (experiment_settle(&x, &e) || experiment_encode(&x, &out, &e))
		printf("# %s\n", e.message);
	experiment_fini(&x);
	*size = out.length;
	return strbuf_take(&out);
}

static void test_images(void)
{
	struct experiment sum, x;
	struct error e = {0};
	size_t right = 0;

	experiment_merge_begin(&sum, &e);
	for (size_t from = 0; from <= NAMES; from += NAMES / 2) {
		size_t size;
		char *bytes = forged_file(from, &size);

		ok(experiment_parse(&x, bytes, size, NULL, &e) == 0 &&
				experiment_merge(&sum, &x, 0, &e) == 0,
			"a forged file is read and added %s", e.message);
		experiment_fini(&x);
		free(bytes);
	}
	is_int(sum.images.count, 1 + 2 * NAMES, "images of three files, half of which two have");
	is_int(sum.images_known.table.count, 1 + 2 * NAMES, "each has an entry of its own");
	ok(longest(&sum.images_known.table) < LONGEST, "%zu slots are without a gap",
		longest(&sum.images_known.table));
	for (size_t i = 0; i < sum.samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(&sum, i);
		const struct experiment_node *n = experiment_node_at(&sum, s->key.node);

		right += n->key.address == place_of(sum.images.data[n->key.image].path) ? s->count
											: 0;
	}
	is_int(right, 3 * NAMES, "each sample is in the image where it was");
	experiment_fini(&sum);
}

/* An image that differs in bytes that are not in its path, or in none. */
static void test_same(void)
{
	struct experiment_image image = {.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)"/a"};
	struct experiment x;
	struct error e;

	experiment_init(&x, &e);
	is_int(experiment_image(&x, &image, &e), 1, "an image");
	is_int(experiment_image(&x, &image, &e), 1, "the same again");
	image.build_id_length = 20;
	is_int(experiment_image(&x, &image, &e), 2, "another build-id");
	image.build_id[19] = 1;
	is_int(experiment_image(&x, &image, &e), 3, "that differs in its last byte");
	image.size = 1;
	is_int(experiment_image(&x, &image, &e), 4, "another size");
	image.path = (char *)"/0";
	is_int(experiment_image(&x, &image, &e), 5, "another path");
	for (uint32_t i = 2; i < 6; i++)
		experiment_add(&x, 0, 0, 0, (uint32_t)experiment_node(&x, 0, i, i), 1);
	experiment_drop_unused(&x, &e);
	experiment_settle(&x, &e);
	is_int(experiment_image(&x, &image, &e), 1, "after they were sorted: its new number");
	image.path = (char *)"/a";
	is_int(experiment_image(&x, &image, &e), 4, "and that of another");
	is_int(x.images.count, 5, "none twice");
	experiment_fini(&x);
}

/* ---- names of functions ---- */

static struct colliding_text shown[2];

static int named_symbol(void *names, uint32_t image, uint64_t address, struct image_symbol *symbol)
{
	uint64_t i = address / FAKE_SIZE;
	struct colliding_text *text = &shown[i % 2]; /* until the next call */

	(void)names;
	if (image != 1)
		return -1;
	*text = colliding_text(i);
	*symbol = (struct image_symbol){.address = i * FAKE_SIZE,
		.size = FAKE_SIZE,
		.name = text->text,
		.demangled = text->text};
	return 0;
}

static void test_names(void)
{
	const struct prof_names_ops ops = {.symbol = named_symbol,
		.line = fake_line,
		.inlines = fake_inlines,
		.state = fake_state};
	struct fake_names names = {0};
	struct prof_data d;
	struct experiment x;
	struct prof_input input = {&x, "forged", 0};
	struct prof_request q = {.inputs = &input, .count = 1};
	struct report_table table = {0};
	struct error e = {0};
	uint64_t entry[2], turns = 0; /* of strings: a hash, and how many others have it */

	experiment_init(&x, &e);
	fake_image(&x);
	fake_metric(&x, "time", -1, 1000000, METRIC_CLOCK, LABEL_MEASURED);
	for (uint64_t i = 0; i < NAMES; i++)
		fake_samples(&x, 0, 0, 0, 1, PATH(i * FAKE_SIZE + 1));
	ok(profile_data_init(&d, &q, &e) == 0, "a report of %d functions %s", NAMES, e.message);
	d.names = (struct prof_names){&ops, &names};
	ok(report_procedures(&d, &table, &e) == 0, "is made %s", e.message);
	is_int(table.rows.count, NAMES + 1, "each has a row");
	for (size_t i = 0; i < d.strings.count; i++) {
		memcpy(entry, table_at(&d.strings, i), sizeof(entry));
		turns += entry[1];
	}
	ok(d.strings.count >= NAMES && turns == 0, "%zu texts, %d of a hash that others have",
		d.strings.count, (int)turns);
	ok(longest(&d.strings) < LONGEST, "%zu slots are without a gap", longest(&d.strings));
	report_table_fini(&table);
	profile_data_fini(&d);
	experiment_fini(&x);
}

/* ---- build-ids of recordings of perf ---- */

static void test_build_ids(void)
{
	enum { AT_ID = 12, AT_PATH = 36 };
	struct perfdata p = {.paths = {.entry_size = 16, .key_size = 8}};
	size_t found = 0;

	for (uint32_t i = 0; i < NAMES; i++) {
		const struct colliding_text text = colliding_text(i);
		char record[AT_PATH + sizeof(text)] = "";

		memcpy(record + AT_ID, &i, sizeof(i));
		memcpy(record + AT_PATH, text.text, sizeof(text.text));
		perfdata_add_build_id(&p, record, sizeof(record));
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		const struct colliding_text text = colliding_text(i);
		const struct perfdata_build_id *id = perfdata_find_build_id(&p, text.text);

		found += id && memcmp(id->bytes, &i, sizeof(i)) == 0;
	}
	is_int(found, NAMES, "each path has its build-id");
	ok(longest(&p.paths) < LONGEST, "%zu slots are without a gap", longest(&p.paths));
	for (size_t i = 0; i < p.build_ids.count; i++)
		free(p.build_ids.data[i].path);
	vec_fini(&p.build_ids);
	table_fini(&p.paths);
}

int main(void)
{
	test_images();
	test_same();
	test_names();
	test_build_ids();
	return done();
}
