/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_watch.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { METRIC_USER, METRIC_SYSTEM };

#define TRIM_LEAST 4096 /* processes and images that are not worth trimming */

struct waiting { /* table entry */
	struct {
		uint64_t build_id; /* hash */
		uint64_t offset;   /* in the file */
		uint32_t metric, reserved;
	} key;
	uint64_t count;
	char *path;
	uint8_t build_id[EXPERIMENT_BUILD_ID_MAX];
	uint32_t build_id_length;
};

#define WAITING_MOST 4096

/* ---- an interval ---- */

static int watch_metric(struct watch *w, const char *name, const char *short_name)
{
	const struct experiment_metric m = {.event = -1,
		.name = (char *)(uintptr_t)name,
		.short_name = (char *)(uintptr_t)short_name,
		.unit = (char *)"ns",
		.source = (char *)"os",
		.note = (char *)"",
		.label = LABEL_MEASURED,
		.flags = METRIC_CLOCK | METRIC_SKID,
		.period = w->clock.period};

	return experiment_metric(&w->experiment, &m, NULL) < 0 ? -1 : 0;
}

/* The experiment that is there was ended, or never begun. */
static int interval_begin(struct watch *w, const struct watch_clock *clock, uint64_t now)
{
	struct experiment *x = &w->experiment;

	w->clock = *clock;
	w->began = now;
	if (experiment_init(x, NULL))
		return -1;
	free(x->type);
	x->type = strdup("monitor");
	x->began = now;
	x->runs = 1;
	for (size_t i = 0; i < w->images.list.count; i++)
		w->images.list.data[i].index = -1;
	return x->type && watch_metric(w, "CPU time", "time") == 0 &&
			       watch_metric(w, "CPU time in the kernel", "system") == 0
		       ? 0
		       : -1;
}

static void waiting_fini(struct watch *w)
{
	for (size_t i = 0; i < w->waiting.count; i++)
		free(((struct waiting *)table_at(&w->waiting, i))->path);
	table_fini(&w->waiting);
}

int monitor_watch_init(struct watch *w, const struct watch_clock *clock, uint64_t now)
{
	memset(w, 0, sizeof(*w));
	images_init(&w->images, NULL);
	w->images.fleeting = true;
	spaces_init(&w->spaces, &w->experiment, &w->images);
	w->spaces.unlisted = true;
	w->waiting = TABLE_OF(struct waiting);
	w->random = now | 1;
	return interval_begin(w, clock, now);
}

void monitor_watch_fini(struct watch *w)
{
	spaces_fini(&w->spaces);
	images_fini(&w->images);
	experiment_fini(&w->experiment);
	if (w->recording)
		experiment_fini(&w->record);
	vec_fini(&w->last);
	vec_fini(&w->seen);
	waiting_fini(w);
}

int monitor_watch_record(struct watch *w)
{
	if (experiment_init(&w->record, NULL))
		return -1;
	w->recording = true;
	w->record.complete = true;
	return 0;
}

void monitor_watch_recorded(struct watch *w, struct experiment *x)
{
	*x = w->record;
	w->recording = false;
}

bool monitor_watch_fills(const struct watch *w)
{
	return w->experiment.nodes.count + w->waiting.count >= WATCH_ADDRESSES / 4 * 3 ||
	       w->experiment.images.count + w->waiting.count >= WATCH_IMAGES / 4 * 3;
}

bool monitor_watch_full(const struct watch *w)
{
	return w->experiment.nodes.count >= WATCH_ADDRESSES;
}

/* ---- samples ---- */

/* [0,1) */
static double watch_chance(struct watch *w)
{
	return (double)(random_next(&w->random) >> 11) * 0x1p-53;
}

/* How many periods does it count for, in the mean? The kernel leaves interrupts out where there are
 * too many; what passed beyond theirs, the processor was idle. -1: memory is out. */
static int in_time(struct watch *w, const struct record *r)
{
	uint64_t *last, passed, most = r->sample.period * w->clock.period;

	while (w->last.count <= r->cpu)
		if (!vec_push(&w->last))
			return -1;
	last = &w->last.data[r->cpu];
	passed = r->time - *last;
	*last = r->time;
	if (r->sample.period > 1 && passed > w->clock.period)
		return (int)((double)(passed < most ? passed : most) / (double)w->clock.period +
			     watch_chance(w));
	/* interrupts come late, and the next one then seems early */
	return passed >= w->clock.period / 10 * 9 ||
	       (double)passed > watch_chance(w) * (double)w->clock.period;
}

/* The user's address; false: there is none. */
static bool user_address(const struct watch *w, const struct record *r, uint64_t *pc, bool *system)
{
	const uint64_t *registers = r->sample.registers;
	bool user = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;

	*system = !user && !w->clock.tick;
	*pc = r->sample.ip;
	if (user && !w->clock.tick)
		return true;
	if (!registers)
		return false;
	*pc = registers[__builtin_popcountll(r->sample.register_mask) - 1];
#if defined(__x86_64__)
	*system = *system || registers[0] == *pc;
#endif
	return true;
}

/* The metric like m, added if there is none: its period may be another. */
static long metric_like(struct experiment *x, const struct experiment_metric *m)
{
	for (size_t i = 0; i < x->metrics.count; i++)
		if (x->metrics.data[i].period == m->period &&
			strcmp(x->metrics.data[i].name, m->name) == 0)
			return (long)i;
	return experiment_metric(x, m, NULL);
}

static int watch_add(struct experiment *x, uint32_t metric, const struct experiment_image *image,
	uint64_t address, uint64_t count)
{
	long i = experiment_image(x, image, NULL), node;

	node = i < 0 ? -1 : experiment_node(x, EXPERIMENT_ROOT, (uint32_t)i, address);
	return node < 0 ? -1 : experiment_add(x, metric, 0, 0, (uint32_t)node, count);
}

static int watch_recorded(
	struct watch *w, const struct mapping *m, uint64_t address, uint32_t metric, uint64_t count)
{
	long like = metric_like(&w->record, &w->experiment.metrics.data[metric]);

	if (w->record.nodes.count >= WATCH_ADDRESSES)
		return 0;
	return like < 0 ? -1
			: watch_add(&w->record, (uint32_t)like,
				  &w->images.list.data[m->image].identity, address, count);
}

static int note_seen(struct watch *w, uint32_t image, pid_t pid)
{
	while (w->seen.count <= image)
		if (!vec_push(&w->seen))
			return -1;
	w->seen.data[image] = pid;
	return 0;
}

static int watch_place(struct watch *w, const struct mapping *m, uint64_t pc, bool system,
	uint64_t count, pid_t pid)
{
	uint64_t address = spaces_address(&w->spaces, m, pc);
	uint32_t metric = system ? METRIC_SYSTEM : METRIC_USER;
	long image = images_register(&w->images, m->image, &w->experiment), node;

	node = image < 0
		       ? -1
		       : experiment_node(&w->experiment, EXPERIMENT_ROOT, (uint32_t)image, address);
	if (node < 0 || note_seen(w, m->image, pid) ||
		(w->recording && watch_recorded(w, m, address, metric, count)))
		return -1;
	return experiment_add(&w->experiment, metric, 0, 0, (uint32_t)node, count);
}

/* If no file with the build-id was read, the places of its segments are not known, and the address
 * is the offset in the file. */
static int waited_add(struct experiment *x, uint32_t metric, const struct waiting *s,
	const struct collect_build *b, uint64_t count)
{
	struct experiment_image unread = {.kind = EXPERIMENT_IMAGE_FILE,
		.path = s->path,
		.build_id_length = s->build_id_length};

	memcpy(unread.build_id, s->build_id, sizeof(unread.build_id));
	return watch_add(x, metric, b ? &b->identity : &unread,
		b ? segments_address(&b->segments, s->key.offset) : s->key.offset, count);
}

/* A record does not wait. */
static int waited_recorded(struct watch *w, const struct waiting *s, uint64_t count)
{
	long like = metric_like(&w->record, &w->experiment.metrics.data[s->key.metric]);

	if (w->record.nodes.count >= WATCH_ADDRESSES || w->record.images.count >= WATCH_IMAGES)
		return 0;
	return like < 0 ? -1
			: waited_add(&w->record, (uint32_t)like, s,
				  builds_find(&w->images.builds, s->key.build_id), count);
}

/* Ends the wait of all. */
static int watch_waited(struct watch *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->waiting.count && rc == 0; i++) {
		const struct waiting *s = table_at(&w->waiting, i);
		const struct collect_build *b = builds_find(&w->images.builds, s->key.build_id);

		if (monitor_watch_full(w) || (!b && w->experiment.images.count >= WATCH_IMAGES))
			w->counts.dropped += s->count;
		else
			rc = waited_add(&w->experiment, s->key.metric, s, b, s->count);
	}
	waiting_fini(w);
	w->waiting = TABLE_OF(struct waiting);
	return rc;
}

/* A sample in a file that cannot be read. */
static int watch_wait(
	struct watch *w, const struct mapping *m, uint64_t pc, bool system, uint64_t count)
{
	const struct collect_image *image = &w->images.list.data[m->image];
	struct waiting *s, key = {.key = {.build_id = builds_id(&image->identity),
					  .offset = pc - m->begin + m->offset,
					  .metric = system ? METRIC_SYSTEM : METRIC_USER}};

	if (!key.key.build_id)
		return w->counts.gone += count, 0;
	if (w->waiting.count >= WAITING_MOST && watch_waited(w))
		return -1;
	s = table_add(&w->waiting, &key.key);
	if (!s)
		return -1;
	s->count += count;
	if (!s->path) {
		s->path = strdup(image->identity.path);
		s->build_id_length = image->identity.build_id_length;
		memcpy(s->build_id, image->identity.build_id, sizeof(s->build_id));
	}
	if (!s->path)
		return -1;
	return w->recording ? waited_recorded(w, s, count) : 0;
}

static int watch_sample(struct watch *w, const struct record *r)
{
	const struct collect_image *image;
	const struct mapping *m;
	struct process *p;
	uint64_t pc;
	bool system;
	int n = w->clock.tick ? in_time(w, r) : 1;
	uint64_t count = (uint64_t)n;

	w->counts.records++;
	if (n < 0)
		return -1;
	if (r->pid == 0)
		return w->counts.idle++, 0;
	if (!n)
		return w->counts.early++, 0;
	if (!user_address(w, r, &pc, &system))
		return w->counts.kernel += count, 0;
	if (system)
		w->counts.system += count;
	else
		w->counts.user += count;
	p = spaces_process(&w->spaces, r->pid, r->time);
	if (!p)
		return -1;
	m = spaces_find(p, pc);
	if (!m)
		return *(system ? &w->counts.between : &w->counts.unmapped) += count, 0;
	if (images_look_now(&w->images, m->image, r->pid, m->begin, m->end))
		return -1;
	image = &w->images.list.data[m->image];
	if (image->identity.kind == EXPERIMENT_IMAGE_ELF && image->segments.elf)
		return monitor_watch_full(w) ? (w->counts.dropped += count, 0)
					     : watch_place(w, m, pc, system, count, r->pid);
	if (image->identity.kind == EXPERIMENT_IMAGE_ELF ||
		image->identity.kind == EXPERIMENT_IMAGE_FILE)
		return watch_wait(w, m, pc, system, count);
	w->counts.generated += count;
	return 0;
}

static int watch_take(struct watch *w, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return watch_sample(w, r);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		w->counts.lost += r->lost;
		return 0;
	default:
		return spaces_record(&w->spaces, r);
	}
}

int monitor_watch_take(struct watch *w, const struct record *r)
{
	int rc;

	w->images.mapped = w->wall ? r->time + w->wall : 0;
	rc = watch_take(w, r);
	w->images.mapped = 0; /* of what /proc lists, no record says when it was mapped */
	return rc;
}

int monitor_watch_trim(struct watch *w)
{
	size_t most = 2 * w->trimmed_to > TRIM_LEAST ? 2 * w->trimmed_to : TRIM_LEAST;

	if (w->images.list.count <= most && w->spaces.processes.count <= most)
		return 0;
	if (spaces_trim(&w->spaces))
		return -1;
	w->seen.count = 0; /* images have other numbers now */
	w->trimmed_to = w->images.list.count > w->spaces.processes.count
				? w->images.list.count
				: w->spaces.processes.count;
	return 0;
}

/* ---- writing ---- */

static uint64_t samples_in(const struct experiment *x, const bool *unwritten, bool want)
{
	uint64_t n = 0;

	for (size_t i = 0; i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);

		if (unwritten[experiment_node_at(x, s->key.node)->key.image] == want)
			n += s->count;
	}
	return n;
}

/* What was not written of the old interval begins the new one. */
static int watch_keep(struct watch *w, const struct experiment *old, const bool *unwritten)
{
	struct experiment *x = &w->experiment;

	for (size_t i = 0; i < old->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(old, i);
		const struct experiment_node *n = experiment_node_at(old, s->key.node);
		long image, node, metric;

		if (!unwritten[n->key.image])
			continue;
		image = experiment_image(x, &old->images.data[n->key.image], NULL);
		node = image < 0 ? -1
				 : experiment_node(
					   x, EXPERIMENT_ROOT, (uint32_t)image, n->key.address);
		metric = metric_like(x, &old->metrics.data[s->key.metric]);
		if (node < 0 || metric < 0 ||
			experiment_add(x, (uint32_t)metric, 0, 0, (uint32_t)node, s->count))
			return -1;
	}
	return 0;
}

int monitor_watch_detach(struct watch *w, struct watch_part *part, const struct watch_clock *clock,
	uint64_t now, uint64_t elapsed)
{
	if (watch_waited(w))
		return -1;
	*part = (struct watch_part){.experiment = w->experiment};
	part->unwritten = calloc(part->experiment.images.count + 1, sizeof(*part->unwritten));
	if (!part->unwritten)
		return -1;
	part->experiment.elapsed = elapsed;
	part->experiment.complete = true;
	if (interval_begin(w, clock, now) == 0)
		return 0;
	free(part->unwritten);
	experiment_fini(&w->experiment);
	w->experiment = part->experiment;
	return -1;
}

void monitor_watch_put(struct watch_part *part, struct store *s)
{
	const struct experiment *x = &part->experiment;
	bool removed = store_add_removed(s, x, 0, &part->why) >= 0;
	size_t images;

	part->failed = removed ? 0 : -1;
	if (store_add(s, x, 0, &images, part->unwritten, &part->why))
		part->failed = -1;
	for (uint32_t i = 0; i < x->images.count; i++)
		if (x->images.data[i].kind == EXPERIMENT_IMAGE_FILE)
			part->unwritten[i] = !removed;
}

int monitor_watch_settle(struct watch *w, struct watch_part *part)
{
	const struct experiment *old = &part->experiment;
	int rc = 0;

	w->counts.stored += samples_in(old, part->unwritten, false);
	if (part->failed && old->nodes.count < WATCH_ADDRESSES)
		rc = watch_keep(w, old, part->unwritten);
	else if (part->failed)
		w->counts.dropped += samples_in(old, part->unwritten, true);
	experiment_fini(&part->experiment);
	free(part->unwritten);
	part->unwritten = NULL;
	return rc;
}
