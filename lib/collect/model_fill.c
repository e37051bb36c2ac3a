/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/model_fill.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/file.h"
#include "experiment/waits.h"
#include "image/image.h"
#include "model/retire.h"

#define ANONYMOUS "[anonymous]"

struct filling {
	struct experiment *x;
	const struct collect_metrics *m;
	const struct profile *p;
	uint32_t *process;     /* in x, of its processes */
	uint32_t *first_phase; /* in x, of each process: its first point's */
	struct table threads;
	uint64_t clock_hz;
	struct error *e;
};

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

/* Size and fingerprint of the file as it is now; a file that has changed, or is gone, has none. */
static void identify(struct experiment_image *to)
{
	struct experiment_image now = {.path = to->path};
	size_t length = 0;

	if (image_identify(to->path, now.build_id, &length, &now.size, &now.fingerprint, NULL) !=
			0 ||
		length != to->build_id_length || memcmp(now.build_id, to->build_id, length) != 0)
		return;
	to->size = now.size;
	to->fingerprint = now.fingerprint;
}

/* The profile has all images that had code; of a file without code, only its path is of use. */
static int fill_images(struct filling *f)
{
	struct experiment *x = f->x;
	bool *code;

	if (experiment_drop_unused(x, f->e))
		return -1;
	code = calloc(x->images.count, sizeof(*code));
	for (int i = EXPERIMENT_LISTS; code && i < EXPERIMENT_TABLES; i++)
		if (i != EXPERIMENT_OBJECTS)
			row_mark(experiment_table(x, i), experiment_kind(i), EXPERIMENT_IMAGES,
				code);
	for (size_t i = 1; code && i < x->images.count; i++) {
		struct experiment_image *image = &x->images.data[i];

		if (image->kind == EXPERIMENT_IMAGE_ELF ||
			(image->kind == EXPERIMENT_IMAGE_FILE && code[i]))
			identify(image);
		if (image->kind != EXPERIMENT_IMAGE_ANONYMOUS)
			continue;
		free(image->path);
		image->path = strdup(ANONYMOUS);
		if (!image->path)
			return free(code), error_nomem(f->e);
	}
	free(code);
	return code ? 0 : error_nomem(f->e);
}

/* ---- processes, threads, phases ---- */

static const struct profile_process *process_at(const struct filling *f, size_t i)
{
	return table_at(&f->p->processes, i);
}

/* Process images with one number are one process, with the last one's name. */
static int fill_processes(struct filling *f)
{
	for (size_t i = 0, next; i < f->p->processes.count; i = next) {
		struct experiment_process to = {.pid = process_at(f, i)->key.pid,
			.ppid = process_at(f, i)->ppid,
			.rank = -1,
			.status = -1};
		const struct profile_process *last;
		long index;

		for (next = i + 1;
			next < f->p->processes.count && process_at(f, next)->key.pid == to.pid;
			next++)
			;
		last = process_at(f, next - 1);
		to.command = (char *)last->command;
		to.end = last->complete ? f->x->elapsed : 0;
		index = experiment_process(f->x, &to, f->e);
		if (index < 0)
			return -1;
		for (size_t k = i; k < next; k++)
			f->process[k] = (uint32_t)index;
	}
	return 0;
}

static long model_fill_thread_of(struct filling *f, uint32_t process, pid_t tid)
{
	struct known_thread key = {.key = {process_at(f, process)->key.pid, tid}},
			    *known = table_add(&f->threads, &key.key);
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

/* The time of a point, by the model's clock: that of the thread that has run for longest. next: of
 * the threads of points. */
static uint64_t time_of(const struct filling *f, size_t caliper, size_t *next)
{
	uint64_t cycles = 0;

	for (; *next < f->p->threads.count; ++*next) {
		const struct profile_thread *t = table_at(&f->p->threads, *next);

		if (t->key.caliper != caliper)
			break;
		if (t->counts[EV_CYCLES] > cycles)
			cycles = t->counts[EV_CYCLES];
	}
	return f->clock_hz ? (uint64_t)((double)cycles * 1e9 / (double)f->clock_hz) : 0;
}

/* Points are sorted by process. */
static int fill_phases(struct filling *f)
{
	size_t next = 0;

	for (size_t i = 0; i < f->p->calipers.count; i++) {
		const struct profile_caliper *c = table_at(&f->p->calipers, i);
		struct experiment_phase to = {.time = time_of(f, i, &next), .name = c->name};
		long thread = model_fill_thread_of(f, c->key.process, c->tid);
		long index;

		if (thread < 0)
			return -1;
		to.thread = (uint32_t)thread;
		index = experiment_phase(f->x, &to, f->e);
		if (index < 0)
			return -1;
		if (!f->first_phase[c->key.process])
			f->first_phase[c->key.process] = (uint32_t)index;
	}
	return 0;
}

/* phase: of that process, 0 before its first point. */
static uint32_t phase_of(const struct filling *f, uint32_t process, uint64_t phase)
{
	return phase && f->first_phase[process] ? f->first_phase[process] + (uint32_t)phase - 1 : 0;
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
	bool stacks = to->flags & METRIC_STACKS;
	long thread = model_fill_thread_of(f, s->key.process, s->key.tid), node;

	if (thread < 0)
		return -1;
	node = experiment_node(
		f->x, stacks ? s->key.node : EXPERIMENT_ROOT, s->key.image, s->key.address);
	if (node < 0 ||
		experiment_add(f->x, (uint32_t)metric, (uint32_t)thread,
			phase_of(f, s->key.process, s->key.phase), (uint32_t)node, s->count))
		return error_nomem(f->e);
	to->reasons[EXPERIMENT_NO_MAPPING] += s->key.image ? 0 : s->count;
	to->reasons[EXPERIMENT_NO_STACK] += stacks && s->key.lost ? s->count : 0;
	return 0;
}

static int fill_samples(struct filling *f, size_t metric)
{
	const struct collect_metric *m = &f->m->list.data[metric];

	for (size_t i = 0; i < f->p->samplers.count; i++) {
		const struct profile_sampled *sampled = table_at(&f->p->samplers, i);

		if (is_sampler(m, &sampled->key))
			f->x->metrics.data[metric].reasons[EXPERIMENT_NO_ROOM] = sampled->lost;
	}
	for (size_t i = 0; i < f->p->samples.count; i++) {
		const struct profile_sample *s = table_at(&f->p->samples, i);
		const struct profile_sampled *by = table_at(&f->p->samplers, s->key.sampler);

		if (is_sampler(m, &by->key) && add_sample(f, metric, s))
			return -1;
	}
	return 0;
}

/* ---- exact counts ---- */

/* What the model itself puts into a process is no part of a native run. */
static bool is_preloaded(const struct filling *f, uint32_t image)
{
	const char *base = strrchr(f->x->images.data[image].path, '/');

	return base && strncmp(base, "/vgpreload_", 11) == 0;
}

static int fill_exact(struct filling *f, size_t metric)
{
	int event = f->m->list.data[metric].spec.event->number;

	for (size_t i = 0; i < f->p->insns.count; i++) {
		const struct profile_insn *d = table_at(&f->p->insns, i);
		uint64_t counts[EVENT_LIMIT];
		long node;

		profile_counts(f->p, i, counts);
		if (!counts[event] ||
			(f->m->list.data[metric].again && is_preloaded(f, d->key.image)))
			continue;
		node = experiment_node(f->x, EXPERIMENT_ROOT, d->key.image, d->key.address);
		if (node < 0 ||
			experiment_add(f->x, (uint32_t)metric, 0, 0, (uint32_t)node, counts[event]))
			return error_nomem(f->e);
		f->x->metrics.data[metric].reasons[EXPERIMENT_NO_MAPPING] +=
			d->key.image ? 0 : counts[event];
	}
	return 0;
}

/* ---- waits ---- */

_Static_assert((int)WAIT_CAUSES == MODEL_CAUSES && (int)WAIT_STEAL == MODEL_CAUSE_STEAL &&
		       EXPERIMENT_WAIT_PARTS == RETIRE_CYCLE,
	"waits are the model's");

/* Where the clock of the run charged cycles to causes. */
static int fill_waits(struct filling *f)
{
	for (size_t i = 0; i < f->p->counts.count; i++) {
		const struct profile_count *c = table_at(&f->p->counts, i);
		const struct profile_insn *d = table_at(&f->p->insns, c->key.insn);
		struct experiment_wait wait = {
			.key = {.address = d->key.address, .image = d->key.image}, .parts = c->n};

		if (c->key.item < MODEL_ROW_CAUSES ||
			c->key.item >= MODEL_ROW_CAUSES + MODEL_CAUSES || !d->key.image)
			continue;
		wait.key.cause = c->key.item - MODEL_ROW_CAUSES;
		if (experiment_row(f->x, EXPERIMENT_WAITS, &wait) < 0)
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
	if (fill_processes(f) || fill_phases(f))
		return -1;
	for (size_t i = 0; i < f->m->list.count; i++) {
		const struct collect_metric *m = &f->m->list.data[i];

		if (model_samples(m) ? fill_samples(f, i) : fill_exact(f, i))
			return -1;
		f->x->metrics.data[i].total = total_of(f, m, totals);
	}
	return fill_waits(f) || fill_images(f) ? -1 : 0;
}

/* What was read becomes x's. */
static void take_rows(struct experiment *x, struct experiment *from)
{
	struct experiment empty = *x;

	x->images = from->images;
	x->images_known = from->images_known;
	x->data = from->data;
	memcpy(x->tables, from->tables, sizeof(x->tables));
	from->images = empty.images;
	from->images_known = empty.images_known;
	from->data = empty.data;
	memcpy(from->tables, empty.tables, sizeof(from->tables));
}

int model_fill(struct experiment *x, const struct collect_metrics *m, struct profile *p,
	const uint64_t *totals, uint64_t clock_hz, struct error *e)
{
	struct filling f = {.x = x, .m = m, .p = p, .clock_hz = clock_hz, .e = e};
	int rc;

	f.threads = TABLE_OF(struct known_thread);
	f.process = calloc(p->processes.count + 1, sizeof(*f.process));
	f.first_phase = calloc(p->processes.count + 1, sizeof(*f.first_phase));
	take_rows(x, &p->x);
	rc = f.process && f.first_phase ? model_fill_fill(&f, totals) : error_nomem(e);
	free(f.process);
	free(f.first_phase);
	table_fini(&f.threads);
	return rc;
}
