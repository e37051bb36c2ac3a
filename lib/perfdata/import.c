/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts records of a file to an experiment, with the same code as for the kernel's records in
 * ssrun. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"
#include "collect/collect_symbols.h"
#include "collect/sampler.h"
#include "perfdata/private.h"

#define MAP_MAX ((size_t)512 << 20) /* bytes of a JIT compiler's list of names */
/* PERF_RECORD_MISC_LOST_SAMPLES_BPF: left out by a filter on purpose. */
#define MISC_FILTERED (1 << 15)

struct import {
	struct perfdata file;
	struct experiment *x;
	struct sampler sampler;
	const struct image_search *where; /* NULL: nothing of this host is looked at */
	bool same_host;
	uint64_t first, last;      /* times */
	struct progress *progress; /* may be NULL */
	uint64_t records;          /* so far */
	VEC(uint64_t) chain;       /* made of branches */
};

/* ---- in pipes: events, before their samples ---------------------------------------------------
 */

static int import_take_events(struct import *im)
{
	struct experiment *x = im->x;

	while (x->metrics.count < im->file.events.count) {
		struct experiment_metric placeholder = {.event = -1, .period = 1};
		struct sampler_event *event = vec_push(&im->sampler.events);
		long metric = experiment_metric(x, &placeholder, NULL);

		if (!event || metric < 0)
			return -1;
		*event = (struct sampler_event){.metric = (uint32_t)metric, .stacks = true};
	}
	return 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static int import_add_word(struct import *im, uint64_t word)
{
	uint64_t *slot = vec_push(&im->chain);

	if (slot)
		*slot = word;
	return slot ? 0 : -1;
}

/* Call stacks recorded by the processor (perf record --call-graph lbr): each branch is a call, so
 * the sources of the branches are the chain of the user's side. */
static int chain_of_branches(struct import *im, struct record *r)
{
	struct record_sample *s = &r->sample;
	bool user = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;

	im->chain.count = 0;
	for (size_t i = 0; i < s->chain_length; i++) {
		if (s->chain[i] == (uint64_t)PERF_CONTEXT_USER)
			break; /* the branches are more complete */
		if (import_add_word(im, s->chain[i]))
			return -1;
	}
	if (import_add_word(im, (uint64_t)PERF_CONTEXT_USER) ||
		import_add_word(im, user ? s->ip : s->branches[1]))
		return -1;
	for (size_t i = 0; i < s->branch_count; i++) /* a call returns to the next address */
		if (import_add_word(im, s->branches[3 * i] + 1))
			return -1;
	s->chain = im->chain.data;
	s->chain_length = im->chain.count;
	return 0;
}

static int deliver(struct import *im, struct record *r, uint64_t period)
{
	struct perfdata_event *event = &im->file.events.data[r->event];

	event->samples++;
	event->stacked = event->stacked || r->sample.chain_length || r->sample.stack;
	event->sum += (double)period;
	if (event->samples == 1 || period < event->least)
		event->least = period;
	if (period > event->most)
		event->most = period;
	return sampler_take(&im->sampler, r);
}

/* A sample that read its group (perf record -e '{a,b}:S') is one of each event that has counted
 * something since. */
static int deliver_group(struct import *im, struct record *r)
{
	const struct record_format format = im->file.events.data[r->event].format;

	for (size_t i = 0; i < r->sample.read_count; i++) {
		uint64_t value, id, period;
		struct perfdata_id *known;

		record_value(&r->sample, &format, i, &value, &id);
		known = perfdata_find_id(&im->file, id);
		if (!known)
			continue;
		period = value - known->value;
		known->value = value;
		r->event = known->event;
		if (period && deliver(im, r, period))
			return -1;
		if (period)
			r->sample.branch_count = 0; /* they are of one moment */
	}
	return 0;
}

static int import_on_sample(struct import *im, const struct record *record)
{
	const struct perfdata_event *event = &im->file.events.data[record->event];
	struct record r = *record;

	uint64_t branches = event->attr.branch_sample_type;

	if ((branches & PERF_SAMPLE_BRANCH_CALL_STACK) && r.sample.branch_count &&
		chain_of_branches(im, &r))
		return -1;
	/* Between some branches only, code is not straight. */
	if ((branches & PERF_SAMPLE_BRANCH_CALL_STACK) || !(branches & PERF_SAMPLE_BRANCH_ANY))
		r.sample.branch_count = 0;
	if (r.sample.read_count && (event->attr.read_format & PERF_FORMAT_ID))
		return deliver_group(im, &r);
	return deliver(im, &r, r.sample.period);
}

/* ---- other records --------------------------------------------------------------------------- */

/* The kernel's own mapping is named after a symbol, and its offset is that symbol's address. */
static void on_kernel_mapping(struct import *im, const struct record_mapping *m)
{
	static const char prefix[] = "[kernel.kallsyms]";
	struct perfdata *p = &im->file;

	if (p->kernel_address || strncmp(m->path, prefix, sizeof(prefix) - 1) != 0)
		return;
	snprintf(p->kernel_symbol, sizeof(p->kernel_symbol), "%s", m->path + sizeof(prefix) - 1);
	p->kernel_address = m->offset;
}

static int on_mapping(struct import *im, const struct record *record)
{
	const struct perfdata_build_id *id;
	struct record r = *record;

	if ((r.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL) {
		on_kernel_mapping(im, &r.mapping);
		return 0;
	}
	id = r.mapping.build_id_length ? NULL : perfdata_find_build_id(&im->file, r.mapping.path);
	if (id) {
		r.mapping.build_id = id->bytes;
		r.mapping.build_id_length = id->length;
	}
	return sampler_take(&im->sampler, &r);
}

static int on_symbol(struct import *im, const struct record *r)
{
	struct perfdata_symbol *own;

	if (r->symbol.gone)
		return 0;
	own = vec_push(&im->file.symbols);
	if (!own)
		return -1;
	*own = (struct perfdata_symbol){
		r->symbol.address, r->symbol.length, strdup(r->symbol.name)};
	return own->name ? 0 : -1;
}

static int import_on_record(void *context, const struct record *r, uint64_t offset)
{
	struct import *im = context;
	struct perfdata_event *event;

	if (im->progress && im->records++ % 4096 == 0)
		progress_step(im->progress, (double)offset / (double)(im->file.size + 1),
			"reading samples");
	if (im->x->metrics.count < im->file.events.count && import_take_events(im))
		return -1;
	if (r->time && !im->first)
		im->first = im->last = im->sampler.spaces.began = r->time;
	if (r->time > im->last)
		im->last = r->time;
	event = &im->file.events.data[r->event];
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return import_on_sample(im, r);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return on_mapping(im, r);
	case PERF_RECORD_KSYMBOL:
		return on_symbol(im, r);
	case PERF_RECORD_LOST:
		event->lost += r->lost;
		return 0;
	case PERF_RECORD_LOST_SAMPLES:
		event->lost_samples += r->misc & MISC_FILTERED ? 0 : r->lost;
		return 0;
	default:
		return sampler_take(&im->sampler, r);
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The list of a JIT compiler is where every user may write: as in perf, it must be ours or root's.
 * Below a directory that was named (-root), it may be of any user. */
static char *read_perf_map(const char *path, bool named)
{
	uid_t owner = geteuid();
	struct stat st;
	size_t length;

	if (named && lstat(path, &st) == 0)
		owner = st.st_uid;
	return file_read_owned(path, owner, MAP_MAX, &length, NULL);
}

/* The symbols of a JIT compiler are in perf's usual place, if it ran on this host. */
static int import_on_leaving(void *context, struct process *p)
{
	struct import *im = context;
	const char *root = im->where && im->where->root ? im->where->root : "";
	char *path = NULL, *text;
	long image;
	int rc;

	if (!p->jitted || !im->where || (!im->same_host && !*root))
		return 0;
	p->jitted = false;
	image = images_anonymous(&im->sampler.images, p->pid);
	if (image >= 0)
		image = images_register(&im->sampler.images, (size_t)image, im->x);
	if (image < 0 || asprintf(&path, "%s/tmp/perf-%d.map", root, (int)p->pid) < 0)
		return -1;
	text = read_perf_map(path, *root != '\0');
	rc = text ? symbols_perf_map(im->x, (uint32_t)image, text) : 0;
	free(text);
	free(path);
	return rc;
}

/* Records the kernel's identity, for naming its functions later. */
static int identify_kernel(struct import *im)
{
	const struct perfdata_build_id *id = perfdata_find_build_id(&im->file, "[kernel.kallsyms]");
	long image = images_kernel(&im->sampler.images);
	struct experiment_image *identity;

	if (image < 0)
		return -1;
	identity = &im->sampler.images.list.data[image].identity;
	if (id) {
		memcpy(identity->build_id, id->bytes, id->length);
		identity->build_id_length = id->length;
	}
	return 0;
}

static int name_kernel(struct import *im)
{
	long image = images_kernel(&im->sampler.images);

	if (image < 0)
		return -1;
	image = im->sampler.images.list.data[image].index;
	return image < 0 || !im->where
		       ? 0
		       : perfdata_name_kernel(&im->file, im->x, (uint32_t)image, im->where);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static int add_facts(struct import *im, struct error *e)
{
	static const char *const keys[PERFDATA_TEXTS] = {[PERFDATA_HOST] = "host",
		[PERFDATA_KERNEL] = "kernel",
		[PERFDATA_VERSION] = "perf",
		[PERFDATA_ARCH] = "machine",
		[PERFDATA_CPU] = "cpu"};
	const struct perfdata *p = &im->file;
	char text[96];

	for (size_t i = 0; i < PERFDATA_TEXTS; i++)
		if (p->texts[i] && experiment_fact(im->x, keys[i], p->texts[i], e))
			return -1;
	if (p->command && experiment_fact(im->x, "command", p->command, e))
		return -1;
	snprintf(text, sizeof(text), "%" PRIu32, p->processors);
	if (p->processors && experiment_fact(im->x, "cpus", text, e))
		return -1;
	snprintf(text, sizeof(text), "%" PRIu64 " bytes of traces of the processor (AUX)", p->aux);
	return p->aux ? experiment_fact(im->x, "skipped", text, e) : 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void file_fini(struct perfdata *p)
{
	for (size_t i = 0; i < p->events.count; i++)
		free(p->events.data[i].name);
	for (size_t i = 0; i < p->build_ids.count; i++)
		free(p->build_ids.data[i].path);
	for (size_t i = 0; i < p->symbols.count; i++)
		free(p->symbols.data[i].name);
	for (size_t i = 0; i < PERFDATA_TEXTS; i++)
		free(p->texts[i]);
	free(p->command);
	vec_fini(&p->events);
	vec_fini(&p->build_ids);
	vec_fini(&p->symbols);
	table_fini(&p->ids);
	table_fini(&p->paths);
}

static enum image_machine machine_of(const struct perfdata *p)
{
	static const struct {
		const char *name;
		enum image_machine machine;
	} machines[] = {{"x86_64", IMAGE_X86_64}, {"aarch64", IMAGE_AARCH64}};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (p->texts[PERFDATA_ARCH] &&
			strcmp(p->texts[PERFDATA_ARCH], machines[i].name) == 0)
			return machines[i].machine;
	return IMAGE_OTHER;
}

static int import_begin(struct import *im, struct error *e)
{
	struct utsname host;
	enum image_machine machine;
	const char *name = im->file.texts[PERFDATA_HOST];

	sampler_init_past(
		&im->sampler, im->x, im->where, im->where && perfdata_same_kernel(&im->file));
	im->sampler.spaces.leaving = import_on_leaving;
	im->sampler.spaces.context = im;
	im->same_host = uname(&host) == 0 && (!name || strcmp(name, host.nodename) == 0);
	machine = machine_of(&im->file);
	if (machine != IMAGE_OTHER)
		im->sampler.stacks.machine = machine;
	return identify_kernel(im) || import_take_events(im) ? error_nomem(e) : 0;
}

static int import_end(struct import *im, struct error *e)
{
	struct perfdata *p = &im->file;

	if (sampler_end(&im->sampler, im->last, e))
		return -1;
	if (name_kernel(im))
		return error_nomem(e);
	if (p->counts && im->x->samples.count == 0) {
		error_set(e, ERR_UNSUPPORTED, "it is a file of perf stat, which has no samples");
		return error_hint(e, "record samples with perf record");
	}
	if (p->events.count == 0) {
		error_set(e, ERR_PARSE, "%s",
			p->damage.damaged ? p->damage.message : "it has no events");
		return error_hint(e, "perf record was stopped before it began: record it again");
	}
	if (import_take_events(im)) /* of those without any record */
		return error_nomem(e);
	if (p->malformed)
		perfdata_damage(p, "%" PRIu64 " records are malformed and left out", p->malformed);
	im->x->elapsed = im->last - im->first;
	if (p->realtime && im->first)
		im->x->began = p->realtime + (im->first - p->clock);
	im->x->complete = !p->damage.damaged;
	return perfdata_metrics(p, im->x, e) || perfdata_type(p, im->x, e) || add_facts(im, e) ? -1
											       : 0;
}

int perfdata_parse_parts(struct experiment *x, struct perfdata_part *parts, size_t count,
	const struct image_search *where, struct progress *progress,
	struct experiment_damage *damage, struct error *e)
{
	struct import im = {.x = x, .where = where, .progress = progress};
	struct perfdata *p = &im.file;
	int rc;

	p->data = parts[0].data;
	p->size = parts[0].size;
	p->ids = (struct table){.entry_size = sizeof(struct perfdata_id), .key_size = 8};
	p->paths = (struct table){.entry_size = 16, .key_size = 8};
	if (experiment_init(x, e))
		return -1;
	rc = perfdata_header(p, e);
	if (rc == 0) {
		p->parts = parts + 1;
		p->part_count = p->directory ? count - 1 : 0;
		rc = import_begin(&im, e);
		if (rc == 0 && perfdata_stream(p, import_on_record, &im))
			rc = error_nomem(e);
		if (rc == 0)
			rc = import_end(&im, e);
		sampler_fini(&im.sampler);
	}
	if (rc == 0 && p->damage.damaged && !damage)
		rc = error_set(e, ERR_PARSE, "%s", p->damage.message);
	if (damage)
		*damage = p->damage;
	vec_fini(&im.chain);
	file_fini(p);
	if (rc)
		experiment_fini(x);
	return rc;
}

int perfdata_parse(struct experiment *x, const void *data, size_t size,
	const struct image_search *where, struct experiment_damage *damage, struct error *e)
{
	struct perfdata_part part = {data, size};

	return perfdata_parse_parts(x, &part, 1, where, NULL, damage, e);
}
