/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/model_filling.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/tables.h"
#include "image/image.h"

#define ANONYMOUS "[anonymous]"

struct known_thread {
	struct {
		int32_t pid, tid;
	} key;
	uint32_t index;
};

/* Cycles are not counted by instruction. */
static bool model_fill_is_time(int event)
{
	return event == EV_CYCLES || event == EV_CYCLES_16 || event == EV_FRONTEND_STALLS ||
	       event == EV_BACKEND_STALLS;
}

bool model_samples(const struct collect_metric *m)
{
	return !(m->flags & METRIC_EXACT) || (m->flags & METRIC_STACKS) ||
	       (m->spec.event && model_fill_is_time(m->spec.event->number));
}

/* ---- images ---- */

/* kinds of profiles, as experiments have them */
static const enum experiment_image_kind kinds[] = {
	[PROFILE_IMAGE_UNKNOWN] = EXPERIMENT_IMAGE_UNKNOWN,
	[PROFILE_IMAGE_ELF] = EXPERIMENT_IMAGE_ELF,
	[PROFILE_IMAGE_FILE] = EXPERIMENT_IMAGE_FILE,
	[PROFILE_IMAGE_ANONYMOUS] = EXPERIMENT_IMAGE_ANONYMOUS,
};

/* Size and fingerprint of the file as it is now; a file that has changed, or is gone, has none. */
static void identify(struct experiment_image *to)
{
	struct experiment_image now = {.path = to->path};
	size_t length = 0;

	if ((to->kind != EXPERIMENT_IMAGE_ELF && to->kind != EXPERIMENT_IMAGE_FILE) ||
		image_identify(
			to->path, now.build_id, &length, &now.size, &now.fingerprint, NULL) != 0 ||
		length != to->build_id_length || memcmp(now.build_id, to->build_id, length) != 0)
		return;
	to->size = now.size;
	to->fingerprint = now.fingerprint;
}

long model_fill_image(struct filling *f, uint32_t i)
{
	const struct profile_image *from = &f->p->images.data[i];
	struct experiment_image to = {.kind = kinds[from->kind],
		.path = from->kind == PROFILE_IMAGE_ANONYMOUS ? (char *)ANONYMOUS : from->path,
		.build_id_length = (uint32_t)from->build_id_length,
		.pid = from->pid};

	if (f->image[i] >= 0)
		return f->image[i];
	memcpy(to.build_id, from->build_id, from->build_id_length);
	if (!from->by_name)
		identify(&to);
	return f->image[i] = experiment_image(f->x, &to, f->e);
}

/* ---- processes, threads, phases ---- */

static bool same_process(const struct profile *p, size_t a, size_t b)
{
	return p->processes.data[a].pid == p->processes.data[b].pid;
}

/* Process images with one number are one process, with the last one's name. */
static int fill_processes(struct filling *f)
{
	const struct profile *p = f->p;

	for (size_t i = 0, next; i < p->processes.count; i = next) {
		struct experiment_process to = {.rank = -1, .status = -1};
		long index;

		for (next = i + 1; next < p->processes.count && same_process(p, i, next); next++)
			;
		to.pid = p->processes.data[i].pid;
		to.ppid = p->processes.data[i].ppid;
		to.command = (char *)p->processes.data[next - 1].command;
		to.end = p->processes.data[next - 1].complete ? f->x->elapsed : 0;
		index = experiment_process(f->x, &to, f->e);
		if (index < 0)
			return -1;
		for (size_t k = i; k < next; k++)
			f->process[k] = (uint32_t)index;
	}
	return 0;
}

static long model_fill_thread_of(struct filling *f, uint32_t process, pid_t pid, pid_t tid)
{
	struct known_thread key = {.key = {pid, tid}}, *known = table_add(&f->threads, &key.key);
	struct experiment_thread to = {
		.process = f->process[process], .tid = tid, .name = (char *)""};
	long index;

	if (!known)
		return error_nomem(f->e);
	if (!known->index) {
		index = experiment_thread(f->x, &to, f->e);
		if (index < 0)
			return -1;
		known->index = (uint32_t)index;
	}
	return known->index;
}

/* The time of a point, by the model's clock: that of the thread that has run for longest. */
static uint64_t time_of(const struct filling *f, const struct profile_caliper *c)
{
	uint64_t cycles = 0;

	for (size_t i = 0; i < c->threads.count; i++)
		if (c->threads.data[i].counts[EV_CYCLES] > cycles)
			cycles = c->threads.data[i].counts[EV_CYCLES];
	return f->clock_hz ? (uint64_t)((double)cycles * 1e9 / (double)f->clock_hz) : 0;
}

/* Points are sorted by process. */
static int fill_phases(struct filling *f)
{
	const struct profile *p = f->p;

	for (size_t i = 0; i < p->calipers.count; i++) {
		const struct profile_caliper *c = &p->calipers.data[i];
		struct experiment_phase to = {.time = time_of(f, c), .name = c->name};
		long thread = model_fill_thread_of(
			f, (uint32_t)c->process, p->processes.data[c->process].pid, c->tid);
		long index;

		if (thread < 0)
			return -1;
		to.thread = (uint32_t)thread;
		index = experiment_phase(f->x, &to, f->e);
		if (index < 0)
			return -1;
		if (!f->first_phase[c->process])
			f->first_phase[c->process] = (uint32_t)index;
	}
	return 0;
}

/* phase: of that process, 0 before its first point. */
static uint32_t phase_of(const struct filling *f, uint32_t process, uint64_t phase)
{
	return phase && f->first_phase[process] ? f->first_phase[process] + (uint32_t)phase - 1 : 0;
}

/* ---- call paths ---- */

/* Marks the paths that are used, and their parents. */
static void mark_paths(const struct filling *f, bool *wanted)
{
	for (size_t i = 0; i < f->p->samples.count; i++) {
		const struct profile_sample *s = table_at(&f->p->samples, i);

		if (s->key.node != PROFILE_PATH_LOST)
			wanted[s->key.node] = true;
	}
	row_mark(&f->p->objects, &experiment_objects_kind, EXPERIMENT_NODES, wanted);
	for (size_t i = f->p->nodes.count; i-- > 1;)
		if (wanted[i])
			wanted[((struct profile_node *)table_at(&f->p->nodes, i))->key.parent] =
				true;
}

static int fill_paths(struct filling *f)
{
	bool *wanted = calloc(f->p->nodes.count, sizeof(*wanted));
	int rc = wanted ? 0 : error_nomem(f->e);

	if (wanted)
		mark_paths(f, wanted);
	for (size_t i = 1; rc == 0 && i < f->p->nodes.count; i++) {
		const struct profile_node *n = table_at(&f->p->nodes, i);
		long image, node;

		if (!wanted[i])
			continue;
		image = model_fill_image(f, n->key.image);
		/* The last byte of the call; for a path that a signal interrupted, the first
		 * byte. */
		node = image < 0
			       ? -1
			       : experiment_node(f->x, f->node[n->key.parent], (uint32_t)image,
					 n->key.address + (n->key.length ? n->key.length - 1 : 0));
		if (node < 0)
			rc = error_nomem(f->e);
		else
			f->node[i] = (uint32_t)node;
	}
	free(wanted);
	return rc;
}

/* ---- samples ---- */

static bool is_sampler(const struct collect_metric *m, const struct profile_sampler *s)
{
	return model_samples(m) && m->spec.event &&
	       profile_sampled_as((uint32_t)m->spec.event->number) == s->event &&
	       m->period == s->period && !(m->flags & METRIC_SKID) == !s->skid;
}

static int add_sample(struct filling *f, size_t metric, const struct profile_sample *s)
{
	struct experiment_metric *to = &f->x->metrics.data[metric];
	bool stacks = to->flags & METRIC_STACKS, lost = s->key.node == PROFILE_PATH_LOST;
	long image = model_fill_image(f, s->key.image), node;
	long thread = model_fill_thread_of(f, s->key.process, s->key.pid, s->key.tid);

	if (image < 0 || thread < 0)
		return -1;
	node = experiment_node(
		f->x, stacks && !lost ? f->node[s->key.node] : 0, (uint32_t)image, s->key.address);
	if (node < 0 ||
		experiment_add(f->x, (uint32_t)metric, (uint32_t)thread,
			phase_of(f, s->key.process, s->key.phase), (uint32_t)node, s->count))
		return error_nomem(f->e);
	to->reasons[EXPERIMENT_NO_MAPPING] += s->key.image ? 0 : s->count;
	to->reasons[EXPERIMENT_NO_STACK] += stacks && lost ? s->count : 0;
	return 0;
}

static int fill_samples(struct filling *f, size_t metric)
{
	const struct collect_metric *m = &f->m->list.data[metric];

	for (size_t i = 0; i < f->p->samplers.count; i++)
		if (is_sampler(m, &f->p->samplers.data[i]))
			f->x->metrics.data[metric].reasons[EXPERIMENT_NO_ROOM] =
				f->p->samplers.data[i].lost;
	for (size_t i = 0; i < f->p->samples.count; i++) {
		const struct profile_sample *s = table_at(&f->p->samples, i);

		if (is_sampler(m, &f->p->samplers.data[s->key.sampler]) && add_sample(f, metric, s))
			return -1;
	}
	return 0;
}

/* ---- exact counts ---- */

static int fill_exact(struct filling *f, size_t metric)
{
	int event = f->m->list.data[metric].spec.event->number;

	for (size_t i = 0; i < f->p->insns.count; i++) {
		const struct profile_insn *d = table_at(&f->p->insns, i);
		uint64_t counts[EVENT_LIMIT];
		long image, node;

		profile_counts(d, counts);
		if (!counts[event])
			continue;
		image = model_fill_image(f, d->key.image);
		node = image < 0 ? -1 : experiment_node(f->x, 0, (uint32_t)image, d->key.address);
		if (node < 0 ||
			experiment_add(f->x, (uint32_t)metric, 0, 0, (uint32_t)node, counts[event]))
			return error_nomem(f->e);
		f->x->metrics.data[metric].reasons[EXPERIMENT_NO_MAPPING] +=
			d->key.image ? 0 : counts[event];
	}
	return 0;
}

static int fill_edges(struct filling *f)
{
	for (size_t i = 0; i < f->p->edges.count; i++) {
		struct experiment_edge edge = *(struct experiment_edge *)table_at(&f->p->edges, i);
		long from = model_fill_image(f, edge.key.from_image);
		long to = model_fill_image(f, edge.key.to_image);

		if (from < 0 || to < 0)
			return -1;
		edge.key.from_image = (uint32_t)from;
		edge.key.to_image = (uint32_t)to;
		if (experiment_row(f->x, EXPERIMENT_EDGES, &edge) < 0)
			return error_nomem(f->e);
	}
	return 0;
}

/* ---- all of it ---- */

/* The total of a metric is its count while samples were enabled. */
static uint64_t total_of(
	const struct filling *f, const struct collect_metric *m, const uint64_t *totals)
{
	int event = m->spec.event->number;
	uint64_t without = model_samples(m) ? f->p->uncounted[event] : 0;

	return totals[event] > without ? totals[event] - without : 0;
}

static int model_fill_fill(struct filling *f, const uint64_t *totals)
{
	bool exact = false, stacks = false;

	for (size_t i = 0; i < f->m->list.count; i++) {
		exact |= !model_samples(&f->m->list.data[i]);
		stacks |= (f->m->list.data[i].flags & METRIC_STACKS) != 0;
	}
	stacks |= f->p->objects.count > 1;
	if (fill_processes(f) || fill_phases(f) || (stacks && fill_paths(f)))
		return -1;
	for (size_t i = 0; i < f->m->list.count; i++) {
		const struct collect_metric *m = &f->m->list.data[i];

		if (model_samples(m) ? fill_samples(f, i) : fill_exact(f, i))
			return -1;
		f->x->metrics.data[i].total = total_of(f, m, totals);
	}
	if (f->p->objects.count > 1 && model_fill_data(f))
		return -1;
	return exact ? fill_edges(f) : 0;
}

int model_fill(struct experiment *x, const struct collect_metrics *m, const struct profile *p,
	const uint64_t *totals, uint64_t clock_hz, struct error *e)
{
	struct filling f = {.x = x, .m = m, .p = p, .clock_hz = clock_hz, .e = e};
	int rc;

	f.threads = (struct table){.entry_size = sizeof(struct known_thread),
		.key_size = sizeof(((struct known_thread *)0)->key)};
	f.image = malloc(p->images.count * sizeof(*f.image));
	f.node = calloc(p->nodes.count, sizeof(*f.node));
	f.process = calloc(p->processes.count + 1, sizeof(*f.process));
	f.first_phase = calloc(p->processes.count + 1, sizeof(*f.first_phase));
	for (size_t i = 0; f.image && i < p->images.count; i++)
		f.image[i] = i ? -1 : 0;
	rc = f.image && f.node && f.process && f.first_phase ? model_fill_fill(&f, totals)
							     : error_nomem(e);
	free(f.image);
	free(f.node);
	free(f.process);
	free(f.first_phase);
	table_fini(&f.threads);
	return rc;
}
