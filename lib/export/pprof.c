/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.proto, as Google's pprof reads it. Each metric is two sample types, the number of
 * samples and the units that they stand for; an exact metric is one. Locations are addresses of
 * images, mappings the images' segments, so that pprof finds the code.
 */
#include <stdlib.h>
#include <string.h>

#include "export/gzip.h"
#include "export/private.h"
#include "export/protobuf.h"

enum { /* fields, by message */
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	LABEL_NUMBER = 3,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
};

struct mapping {
	uint64_t start, limit, offset;
	uint32_t image;
	bool named, lined;
};

typedef VEC(uint64_t) numbers;

struct writer {
	const struct export_profile *x;
	struct gzip gzip;
	struct strbuf message, inner; /* scratch */
	VEC(struct mapping) mappings;
	uint32_t *mapping; /* [location] */
	numbers ids, values;
	bool failed;
};

/* Ends the current message: it becomes a field of the profile. */
static void emit(struct writer *w, unsigned field)
{
	struct strbuf out = {0};

	protobuf_message(&out, field, &w->message);
	w->failed = w->failed || out.failed || w->message.failed || w->inner.failed;
	gzip_add(&w->gzip, strbuf_text(&out), out.length);
	strbuf_fini(&out);
	w->message.length = 0;
}

static void emit_integer(struct writer *w, unsigned field, uint64_t value)
{
	struct strbuf out = {0};

	protobuf_integer(&out, field, value);
	w->failed = w->failed || out.failed;
	gzip_add(&w->gzip, strbuf_text(&out), out.length);
	strbuf_fini(&out);
}

static uint64_t string(struct writer *w, const char *text)
{
	long index = profile_string(w->x->data, text);

	w->failed = w->failed || index < 0;
	return index < 0 ? 0 : (uint64_t)index;
}

static void value_type(struct writer *w, const char *name, const char *unit)
{
	protobuf_integer(&w->message, TYPE_NAME, string(w, name));
	protobuf_integer(
		&w->message, TYPE_UNIT, string(w, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit));
}

static void sample_types(struct writer *w)
{
	const struct export_profile *x = w->x;
	struct strbuf name = {0};

	for (size_t m = 0; m < x->metrics.count; m++) {
		const struct export_metric *of = &x->metrics.data[m];

		if (!of->exact) {
			name.length = 0;
			if (x->metrics.count > 1)
				strbuf_printf(&name, "%s_samples", of->name);
			else
				strbuf_puts(&name, "samples");
			value_type(w, strbuf_text(&name), "count");
			emit(w, PROFILE_SAMPLE_TYPE);
		}
		value_type(w, of->name, of->unit);
		emit(w, PROFILE_SAMPLE_TYPE);
	}
	strbuf_fini(&name);
}

/* Is it the program that this fact of the run names, or begins with? */
static bool pprof_is_named(const struct export_profile *x, size_t image, const char *fact)
{
	const struct prof_data *d = x->data;
	const char *text = d->request->count
				   ? experiment_fact_find(d->request->inputs[0].experiment, fact)
				   : NULL;
	size_t length, slash;

	if (!text)
		return false;
	length = strcspn(text, " ");
	for (slash = length; slash > 0 && text[slash - 1] != '/'; slash--)
		;
	return strlen(d->images.data[image].name) == length - slash &&
	       memcmp(d->images.data[image].name, text + slash, length - slash) == 0;
}

/* Rank of an image as the main program: by name; not a library; by samples. */
static double pprof_rank_of(const struct export_profile *x, size_t image, const uint64_t *samples)
{
	const struct prof_data *d = x->data;
	double rank = 0;

	if (d->images.data[image].image->kind != EXPERIMENT_IMAGE_ELF)
		return -1;
	if (pprof_is_named(x, image, "program") || pprof_is_named(x, image, "command"))
		rank += 4;
	if (!strstr(d->images.data[image].name, ".so"))
		rank += 2;
	return rank + (double)samples[image] / (1 + (double)samples[d->images.count]);
}

/* The main program comes first: pprof takes the first image for the program. -1: there is none,
 * -2: memory is out. */
static long pprof_program(const struct export_profile *x)
{
	const struct prof_data *d = x->data;
	uint64_t *samples = calloc(d->images.count + 1, sizeof(*samples)); /* the sum last */
	double best = -1;
	long found = -1;

	if (!samples)
		return -2;
	for (size_t i = 1; i < d->nodes.count; i++) {
		uint64_t n = d->node_counts.data[i * d->metrics.count];

		samples[profile_place_at(d, profile_tree_node_at(d, i)->key.place)->key.image] += n;
		samples[d->images.count] += n;
	}
	for (size_t i = 0; i < d->images.count; i++) {
		double rank = pprof_rank_of(x, i, samples);

		if (rank > best) {
			best = rank;
			found = (long)i;
		}
	}
	free(samples);
	return found;
}

/* The mapping of an address: its segment or, if unknown, the span of the image's addresses. */
static long mapping_of(struct writer *w, const struct export_location *l)
{
	const struct prof_names *n = &w->x->data->names;
	struct image_segment s = {0};
	bool known = n->ops->segment && n->ops->segment(n->context, l->image, l->address, &s) == 0;
	struct mapping *m;

	for (size_t i = 0; i < w->mappings.count; i++) {
		m = &w->mappings.data[i];
		if (m->image != l->image || (known && m->start != s.address))
			continue;
		if (!known && l->address < m->start)
			m->start = l->address;
		if (!known && l->address >= m->limit)
			m->limit = l->address + 1;
		return (long)i;
	}
	m = vec_push(&w->mappings);
	if (!m)
		return -1;
	*m = (struct mapping){.image = l->image,
		.start = known ? s.address : l->address,
		.limit = known ? s.address + s.size : l->address + 1,
		.offset = s.offset};
	return (long)w->mappings.count - 1;
}

/* Locations come in order of image, so few mappings are searched. */
static int find_mappings(struct writer *w)
{
	const struct export_profile *x = w->x;
	long main_image = pprof_program(x);

	w->mapping = calloc(x->locations.count + 1, sizeof(*w->mapping));
	if (!w->mapping || main_image == -2)
		return -1;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < x->locations.count; i++) {
			const struct export_location *l = &x->locations.data[i];
			long mapping;

			if ((l->image == main_image) != (turn == 0) ||
				x->data->images.data[l->image].image->kind ==
					EXPERIMENT_IMAGE_UNKNOWN)
				continue;
			mapping = mapping_of(w, l);
			if (mapping < 0)
				return -1;
			w->mapping[i] = (uint32_t)mapping + 1;
			w->mappings.data[mapping].named |= l->named;
			w->mappings.data[mapping].lined |= x->frames.data[l->first].file != 0;
		}
	return 0;
}

static void mappings(struct writer *w)
{
	for (size_t i = 0; i < w->mappings.count; i++) {
		const struct mapping *m = &w->mappings.data[i];
		const struct experiment_image *image = w->x->data->images.data[m->image].image;
		char id[2 * EXPERIMENT_BUILD_ID_MAX + 1] = "";

		for (size_t k = 0; k < image->build_id_length; k++)
			snprintf(id + 2 * k, 3, "%02x", image->build_id[k]);
		protobuf_integer(&w->message, MAPPING_ID, i + 1);
		protobuf_integer(&w->message, MAPPING_START, m->start);
		protobuf_integer(&w->message, MAPPING_LIMIT, m->limit);
		protobuf_integer(&w->message, MAPPING_OFFSET, m->offset);
		protobuf_integer(&w->message, MAPPING_FILE, string(w, image->path));
		protobuf_integer(&w->message, MAPPING_BUILD_ID, string(w, id));
		protobuf_integer(&w->message, MAPPING_HAS_FUNCTIONS, m->named);
		protobuf_integer(&w->message, MAPPING_HAS_FILES, m->lined);
		protobuf_integer(&w->message, MAPPING_HAS_LINES, m->lined);
		protobuf_integer(&w->message, MAPPING_HAS_INLINES, m->lined);
		emit(w, PROFILE_MAPPING);
	}
}

static void pprof_locations(struct writer *w)
{
	const struct export_profile *x = w->x;

	for (size_t i = 0; i < x->locations.count; i++) {
		const struct export_location *l = &x->locations.data[i];
		bool anywhere =
			x->data->images.data[l->image].image->kind == EXPERIMENT_IMAGE_UNKNOWN;

		protobuf_integer(&w->message, LOCATION_ID, i + 1);
		protobuf_integer(&w->message, LOCATION_MAPPING, w->mapping[i]);
		protobuf_integer(&w->message, LOCATION_ADDRESS, l->address);
		/* without a line, pprof shows the image */
		for (uint32_t k = 0; k < l->frames && (l->named || anywhere || l->frames > 1);
			k++) {
			const struct export_frame *f = &x->frames.data[l->first + k];

			w->inner.length = 0;
			protobuf_integer(&w->inner, LINE_FUNCTION, (uint64_t)f->function + 1);
			protobuf_integer(&w->inner, LINE_NUMBER, f->line);
			protobuf_message(&w->message, LOCATION_LINE, &w->inner);
		}
		emit(w, PROFILE_LOCATION);
	}
}

static void pprof_functions(struct writer *w)
{
	for (size_t i = 0; i < w->x->functions.count; i++) {
		const struct export_function *f = export_function_at(w->x, i);

		protobuf_integer(&w->message, FUNCTION_ID, i + 1);
		protobuf_integer(&w->message, FUNCTION_NAME, f->key.name);
		protobuf_integer(&w->message, FUNCTION_SYSTEM_NAME, f->key.symbol);
		protobuf_integer(&w->message, FUNCTION_FILE, f->key.file);
		protobuf_integer(&w->message, FUNCTION_LINE, f->key.line);
		emit(w, PROFILE_FUNCTION);
	}
}

static void number_label(struct writer *w, const char *name, int64_t value)
{
	w->inner.length = 0;
	protobuf_integer(&w->inner, LABEL_KEY, string(w, name));
	protobuf_integer(&w->inner, LABEL_NUMBER, (uint64_t)value);
	protobuf_message(&w->message, SAMPLE_LABEL, &w->inner);
}

static void labels(struct writer *w, uint32_t group)
{
	const struct prof_group *g = export_group_at(w->x, group);

	if (!w->x->data->request->threads)
		return;
	if (g->command && g->command[0]) {
		w->inner.length = 0;
		protobuf_integer(&w->inner, LABEL_KEY, string(w, "thread"));
		protobuf_integer(&w->inner, LABEL_TEXT, string(w, g->command));
		protobuf_message(&w->message, SAMPLE_LABEL, &w->inner);
	}
	number_label(w, "pid", g->key.pid);
	number_label(w, "tid", g->key.tid);
	if (g->key.rank >= 0)
		number_label(w, "rank", g->key.rank);
}

static int pprof_add(numbers *list, uint64_t number)
{
	uint64_t *slot = vec_push(list);

	if (slot)
		*slot = number;
	return slot ? 0 : -1;
}

static int sample(struct writer *w, size_t node)
{
	const struct export_profile *x = w->x;
	const struct prof_data *d = x->data;
	uint32_t group = profile_place_at(d, profile_tree_node_at(d, node)->key.place)->key.group;

	w->ids.count = w->values.count = 0;
	for (size_t m = 0; m < x->metrics.count; m++)
		if ((!x->metrics.data[m].exact &&
			    pprof_add(&w->values, export_samples(x, node, m))) ||
			pprof_add(&w->values, export_units(x, node, m)))
			return -1;
	for (; node; node = profile_tree_node_at(d, node)->key.parent)
		if (pprof_add(&w->ids,
			    (uint64_t)x->location[profile_tree_node_at(d, node)->key.place] + 1))
			return -1;
	protobuf_packed(&w->message, SAMPLE_LOCATION, w->ids.data, w->ids.count);
	protobuf_packed(&w->message, SAMPLE_VALUE, w->values.data, w->values.count);
	labels(w, group);
	emit(w, PROFILE_SAMPLE);
	return 0;
}

static int pprof_samples(struct writer *w)
{
	const struct export_profile *x = w->x;

	for (size_t i = 1; i < x->data->nodes.count; i++) {
		if (export_any(x, i) && sample(w, i))
			return -1;
		progress_step(
			x->request->progress, (double)i / (double)x->data->nodes.count, "writing");
	}
	return 0;
}

static void comment(struct writer *w, const char *text)
{
	emit_integer(w, PROFILE_COMMENT, string(w, text));
}

/* Information without a field of its own: the kind of each number, and what is missing. */
static void about(struct writer *w)
{
	const struct export_profile *x = w->x;
	const struct prof_request *r = x->data->request;
	const struct experiment *run = r->count ? r->inputs[0].experiment : NULL;

	comment(w, x->request->creator);
	if (r->command)
		comment(w, r->command);
	for (size_t m = 0; m < x->metrics.count; m++)
		comment(w, x->metrics.data[m].text);
	for (size_t i = 0; i < x->notes.notes.count; i++)
		comment(w, x->notes.notes.data[i].value);
	if (run) {
		emit_integer(w, PROFILE_TIME, run->began);
		emit_integer(w, PROFILE_DURATION, run->elapsed);
	}
	for (size_t m = 0; m < x->metrics.count; m++) {
		const struct export_metric *of = &x->metrics.data[m];

		if (m == 0)
			emit_integer(w, PROFILE_DEFAULT_TYPE, string(w, of->name));
		if (of->exact)
			continue;
		value_type(w, of->name, of->unit);
		emit(w, PROFILE_PERIOD_TYPE);
		emit_integer(w, PROFILE_PERIOD, of->unit_size);
		break;
	}
}

static void strings(struct writer *w)
{
	const struct prof_data *d = w->x->data;

	for (size_t i = 0; i < d->strings.count; i++) {
		struct strbuf out = {0};

		protobuf_string(&out, PROFILE_STRING, profile_string_at(d, (uint32_t)i));
		w->failed = w->failed || out.failed;
		gzip_add(&w->gzip, strbuf_text(&out), out.length);
		strbuf_fini(&out);
	}
}

int export_pprof(const struct export_profile *x, FILE *out, struct error *e)
{
	struct writer w = {.x = x};
	int rc = find_mappings(&w);

	if (rc == 0 && gzip_begin(&w.gzip, out) == 0) {
		sample_types(&w);
		rc = pprof_samples(&w);
		mappings(&w);
		pprof_locations(&w);
		pprof_functions(&w);
		about(&w);
		strings(&w);
		gzip_end(&w.gzip);
	} else {
		rc = -1;
	}
	rc = w.failed ? -1 : rc;
	strbuf_fini(&w.message);
	strbuf_fini(&w.inner);
	vec_fini(&w.mappings);
	vec_fini(&w.ids);
	vec_fini(&w.values);
	free(w.mapping);
	return rc ? error_nomem(e) : 0;
}
