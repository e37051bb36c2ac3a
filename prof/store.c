/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof store: profiles by image and day. */
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/option.h"
#include "base/plural.h"
#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "experiment/branches.h"
#include "load/load.h"
#include "prof.h"

enum { DAYS = 14, WEEKS = 12, QUOTA_MEGABYTES = 256 };

struct store_command_line {
	const char *directory, *day;
	unsigned long days, weeks, quota;
	bool sweep, json, csv, help;
	word_list words;
};

#define FIELD(field) .offset = offsetof(struct store_command_line, field)

const struct option_row store_options[] = {
	{"store", "DIR", "the store (default: $PERFEX_STORE, else ~/.local/share/perfex/store)",
		OPTION_STRING, FIELD(directory)},
	{"day", "YYYYMMDD", "add: file under this day (default: that of the experiment)",
		OPTION_STRING, FIELD(day)},
	{"gc", NULL, "add days up to weeks, and remove what is old", FIELD(sweep)},
	{"days", "N", "-gc: days older than this become weeks (14)", OPTION_COUNT, FIELD(days)},
	{"weeks", "N", "-gc: weeks older than this are removed (12)", OPTION_COUNT, FIELD(weeks)},
	{"quota", "MEGABYTES", "-gc: images unseen for longest go when there is more (256)",
		OPTION_COUNT, FIELD(quota)},
	{"json", NULL, "JSON, schema prof.store/1", FIELD(json)},
	{"csv", NULL, "comma-separated values", FIELD(csv)},
	{"help", NULL, "list the options", FIELD(help)},
	{.help = "prof store"},
};

static const char usage[] =
	"usage: prof store [options] [list | show IMAGE | files IMAGE | add FILE ... | -gc]\n"
	"Keeps what experiments say of each image, by build-id and day.  Try: prof store add FILE, "
	"then prof -export llvm $(prof store files PROGRAM)\n\n";

static int store_print(
	const struct store_command_line *l, const char *key, struct sheet *rows, struct error *e)
{
	struct strbuf text = {0};
	int rc = rows->failed ? error_nomem(e) : 0;

	if (rc == 0 && l->json)
		rc = sheet_document("prof.store/1", NULL, key, rows, &text, e);
	else
		sheet_csv(rows, &text);
	if (rc == 0)
		rc = shown_output(NULL, stdout, &text, e);
	strbuf_fini(&text);
	return rc;
}

static int list_images(
	const struct store_command_line *l, const store_images *images, struct error *e)
{
	static const char *const columns[] = {
		"path", "id", "files", "bytes", "first_day", "last_day", NULL};
	struct sheet rows = {.columns = columns};
	bool any = false;
	int rc = 0;

	for (size_t i = 0; i < images->count; i++) {
		const struct store_image *image = &images->data[i];

		if (!image->files.count)
			continue;
		any = true;
		if (l->json || l->csv) {
			sheet_text(&rows, image->path);
			sheet_text(&rows, image->id);
			sheet_number(&rows, (double)image->files.count);
			sheet_number(&rows, (double)image->bytes);
			sheet_number(&rows, image->first);
			sheet_number(&rows, image->last);
		} else {
			shown_print("%-12.12s  %08u..%08u  %4zu file%s  %8" PRIu64 " bytes  %s",
				image->id, image->first, image->last, image->files.count,
				image->files.count == 1 ? " " : "s", image->bytes, image->path);
		}
	}
	if (l->json || l->csv)
		rc = store_print(l, "images", &rows, e);
	else if (!any)
		shown_print("the store is empty");
	sheet_fini(&rows);
	return rc;
}

static int show_image(
	const struct store_command_line *l, const struct store_image *image, struct error *e)
{
	static const char *const columns[] = {
		"file", "day", "week", "runs", "samples", "bursts", "branches", "bytes", NULL};
	struct sheet rows = {.columns = columns};
	int rc = 0;

	if (!l->json && !l->csv)
		shown_print("%s  %s", image->id, image->path);
	for (size_t i = 0; i < image->files.count && rc == 0; i++) {
		const struct store_file *f = &image->files.data[i];
		struct experiment_damage damage = {0};
		struct store_sums sums = {0};

		rc = store_sum_file(f->path, &sums, &damage, e);
		if (rc == 0 && damage.damaged)
			say("%s: %s; what comes before is counted", f->path, damage.message);
		if (rc == 0 && (l->json || l->csv)) {
			sheet_text(&rows, f->path);
			sheet_number(&rows, f->day);
			sheet_bool(&rows, f->week);
			sheet_number(&rows, (double)sums.runs);
			sheet_number(&rows, (double)sums.samples);
			sheet_number(&rows, (double)sums.bursts);
			sheet_number(&rows, (double)sums.branches);
			sheet_number(&rows, (double)f->bytes);
		} else if (rc == 0) {
			shown_print("%08u%s  %" PRIu64 " runs  %" PRIu64 " samples  %" PRIu64
				    " bursts  %" PRIu64 " branches",
				f->day, f->week ? " week" : "     ", sums.runs, sums.samples,
				sums.bursts, sums.branches);
		}
	}
	if (rc == 0 && (l->json || l->csv))
		rc = store_print(l, "files", &rows, e);
	sheet_fini(&rows);
	return rc;
}

/* The images that the word names.  One without files is being written, or its files were removed:
 * as list, it has none. */
static int with_image(
	const struct store_command_line *l, const store_images *images, bool show, struct error *e)
{
	const char *word = l->words.data[1];
	size_t found = 0;

	if (!word || l->words.data[2])
		return error_set(e, ERR_PARSE, "name one image: its path, a glob, or a build-id");
	for (size_t i = 0; i < images->count; i++) {
		const struct store_image *image = &images->data[i];

		if (!image->files.count || !store_names(image, word))
			continue;
		found++;
		if (show && show_image(l, image, e))
			return -1;
		for (size_t k = 0; !show && k < image->files.count; k++)
			shown_print("%s", image->files.data[k].path);
	}
	if (found)
		return 0;
	error_set(e, ERR_NOT_FOUND, "the store has no image '%s'", word);
	return error_hint(e, "prof store list shows what it has");
}

static int add_files(
	const struct store_command_line *l, struct store *s, unsigned day, struct error *e)
{
	const struct load_request how = {.quiet = true};
	struct arguments a = {0};
	int rc = arguments_find(&a, (char *const *)(uintptr_t)(l->words.data + 1), e);

	for (size_t i = 0; rc == 0 && i < a.paths.count; i++) {
		struct experiment_damage damage = {0};
		struct experiment x;
		size_t images = 0;

		rc = load_file(&x, &how, a.paths.data[i], &damage, e);
		if (rc)
			break;
		if (damage.damaged)
			rc = error_set(e, ERR_PARSE, "%s: %s: it is not added", a.paths.data[i],
				damage.message);
		else
			rc = store_add(s, &x, day, &images, NULL, e);
		if (rc == 0)
			say("%s: %zu images", a.paths.data[i], images);
		experiment_fini(&x);
	}
	arguments_fini(&a);
	return rc;
}

static int sweep_store(const struct store_command_line *l, struct store *s, struct error *e)
{
	struct store_policy p = {.today = store_day_of((long)(time(NULL) / 86400)),
		.days = l->days ? (unsigned)l->days : DAYS,
		.weeks = l->weeks ? (unsigned)l->weeks : WEEKS,
		.quota = (uint64_t)(l->quota ? l->quota : QUOTA_MEGABYTES) << 20};
	struct store_swept swept = {0};

	if (store_sweep(s, &p, &swept, e))
		return -1;
	shown_print("%zu file%s added up by week, %zu removed, %zu image%s removed; %" PRIu64
		    " bytes are left",
		swept.folded, plural(swept.folded), swept.removed, swept.images,
		plural(swept.images), swept.bytes);
	return 0;
}

static int store_act(const struct store_command_line *l, struct store *s, struct error *e)
{
	const char *verb = l->words.data[0] ? l->words.data[0] : "list";
	unsigned day = l->day ? (unsigned)strtoul(l->day, NULL, 10) : 0;
	store_images images = {0};
	int rc;

	if (l->json && l->csv)
		return error_set(e, ERR_CONFLICT, "-csv and -json exclude each other");
	if (l->day && store_day_number(day) < 0)
		return error_set(e, ERR_PARSE, "-day: '%s' is not a day, as 20250131", l->day);
	if (strcmp(verb, "add") == 0)
		return store_open(s, l->directory, true, e) ? -1 : add_files(l, s, day, e);
	if (strcmp(verb, "list") != 0 && strcmp(verb, "show") != 0 && strcmp(verb, "files") != 0) {
		error_set(e, ERR_PARSE, "prof store has no command '%s'", verb);
		return error_hint(e, "list, show, files, add, or -gc");
	}
	if (store_open(s, l->directory, false, e))
		return -1;
	if (l->sweep)
		return sweep_store(l, s, e);
	rc = store_list(s, &images, e);
	if (rc == 0)
		rc = strcmp(verb, "list") == 0 ? list_images(l, &images, e)
					       : with_image(l, &images, *verb == 's', e);
	store_images_fini(&images);
	return rc;
}

int do_store(int argc, char **argv)
{
	struct store_command_line l = {.directory = NULL};
	struct store s = {.directory = NULL};
	struct error e = {0};
	int rc = option_parse_among(store_options, &l, argc, argv, &l.words, &e);

	if (rc == 0)
		rc = l.help ? option_usage(usage, store_options, stdout) : store_act(&l, &s, &e);
	store_close(&s);
	vec_fini(&l.words);
	return rc < 0 ? say_failure(&e) : rc;
}
