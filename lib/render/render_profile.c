/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/profile.h"

#include <stdlib.h>

#include "base/json.h"
#include "events/event.h"
#include "model/retire.h"
#include "render/number.h"

static const char *const image_kinds[] = {
	[EXPERIMENT_IMAGE_UNKNOWN] = "unknown",
	[EXPERIMENT_IMAGE_ELF] = "elf",
	[EXPERIMENT_IMAGE_FILE] = "file",
	[EXPERIMENT_IMAGE_ANONYMOUS] = "anonymous",
};

/* By enum model_branch_kind. */
static const char *const edge_kinds[] = {
	"conditional", "jump", "call", "indirect jump", "indirect call", "return"};

static const char *edge_kind(uint32_t kind)
{
	return kind < sizeof(edge_kinds) / sizeof(edge_kinds[0]) ? edge_kinds[kind] : "next";
}

static void render_profile_begin(struct json *j, const char *type)
{
	json_object(j, NULL);
	json_string(j, "type", type);
}

static void end(struct json *j)
{
	json_end_object(j);
	putc('\n', j->out);
	j->filled[0] = false;
}

/* "counts": by short name, those that are not zero. */
static void counts(struct json *j, const uint64_t *n)
{
	json_object(j, "counts");
	for (int i = 0; i < EV_COUNT; i++) {
		const struct event *event = n[i] ? event_by_number(i) : NULL;

		if (event)
			json_integer(j, event->short_name, (long long)n[i]);
	}
	json_end_object(j);
}

/* By enum model_cause. */
static const char *const causes[MODEL_CAUSES] = {"base", "dependency", "unit", "divider", "l2",
	"last-level", "memory", "intervention", "dtlb", "forward", "alias", "store-buffer",
	"locked", "serialising", "fetch-l2", "fetch-last-level", "fetch-memory",
	"fetch-intervention", "itlb", "taken", "mispredict"};

/* "stalls": cycles by cause, of the retirement clock. */
static void stalls(struct json *j, const struct profile_report *r, size_t insn)
{
	bool any = false;

	for (size_t i = profile_report_first_count(r, insn); i < r->profile->counts.count; i++) {
		const struct profile_count *c = table_at(&r->profile->counts, i);

		if (c->key.insn != insn)
			break;
		if (c->key.item < MODEL_ROW_CAUSES ||
			c->key.item >= MODEL_ROW_CAUSES + MODEL_CAUSES)
			continue;
		if (!any)
			json_object(j, "stalls");
		any = true;
		json_number(j, causes[c->key.item - MODEL_ROW_CAUSES], (double)c->n / RETIRE_CYCLE);
	}
	if (any)
		json_end_object(j);
}

static void render_profile_head(const struct profile_report *r, struct json *j)
{
	render_profile_begin(j, "profile");
	json_string(j, "schema", "perfex.profile/1");
	json_array(j, "command");
	for (size_t i = 0; r->command && r->command[i]; i++)
		json_string(j, NULL, r->command[i]);
	json_end_array(j);
	json_string(j, "label", label_name(LABEL_MODEL));
	json_string(j, "machine", r->machine ? r->machine->name : "");
	json_string(j, "kind", r->blocks_only ? "blocks" : "instructions");
	end(j);
}

static void processes(const struct profile *p, struct json *j)
{
	for (size_t i = 0; i < p->processes.count; i++) {
		const struct profile_process *process = table_at(&p->processes, i);

		render_profile_begin(j, "process");
		json_integer(j, "process", (long long)i);
		json_integer(j, "pid", process->key.pid);
		json_integer(j, "ppid", process->ppid);
		json_integer(j, "image", process->key.generation);
		json_string(j, "command", process->command);
		json_bool(j, "complete", process->complete);
		json_integer(j, "instructions", (long long)process->instructions);
		end(j);
	}
}

static void render_profile_images(const struct profile *p, struct json *j)
{
	for (size_t i = 1; i < p->x.images.count; i++) {
		const struct experiment_image *im = &p->x.images.data[i];
		char id[2 * EXPERIMENT_BUILD_ID_MAX + 1] = "";

		for (size_t k = 0; k < im->build_id_length; k++)
			snprintf(id + 2 * k, 3, "%02x", im->build_id[k]);
		render_profile_begin(j, "image");
		json_integer(j, "image", (long long)i);
		json_string(j, "kind", image_kinds[im->kind]);
		json_string(j, "path", im->path);
		json_string(j, "build_id", id);
		if (im->pid)
			json_integer(j, "pid", im->pid);
		end(j);
	}
}

static void insns(const struct profile_report *r, struct json *j)
{
	for (size_t i = 0; i < r->profile->insns.count; i++) {
		const struct profile_insn *d = table_at(&r->profile->insns, i);
		uint64_t n[EVENT_LIMIT];

		profile_report_counts(r, i, n);
		render_profile_begin(j, "instruction");
		json_integer(j, "image", d->key.image);
		json_address(j, "address", d->key.address);
		json_integer(j, "length", d->key.length);
		json_integer(j, "executions", (long long)d->executions);
		counts(j, n);
		stalls(j, r, i);
		end(j);
	}
}

static void blocks(const struct profile_report *r, struct json *j)
{
	for (size_t i = 0; i < r->blocks.count; i++) {
		const struct profile_block *b = &r->blocks.data[i];
		const struct profile_insn *d = table_at(&r->profile->insns, b->first);

		render_profile_begin(j, "block");
		json_integer(j, "image", d->key.image);
		json_address(j, "address", d->key.address);
		json_integer(j, "instructions", (long long)b->count);
		json_integer(j, "executions", (long long)d->executions);
		end(j);
	}
}

static void edges(const struct profile *p, struct json *j)
{
	for (size_t i = 0; i < p->x.edges.count; i++) {
		const struct experiment_edge *edge = table_at(&p->x.edges, i);

		render_profile_begin(j, "edge");
		json_integer(j, "image", edge->key.from_image);
		json_address(j, "from", edge->key.from);
		json_integer(j, "to_image", edge->key.to_image);
		json_address(j, "to", edge->key.to);
		json_string(j, "kind", edge_kind(edge->key.kind));
		json_bool(j, "taken", edge->key.taken);
		json_integer(j, "count", (long long)edge->count);
		end(j);
	}
}

static const char *short_name(uint32_t number)
{
	const struct event *event = event_by_number((int)number);

	return event ? event->short_name : "";
}

static void render_profile_nodes(const struct profile *p, struct json *j)
{
	for (size_t i = 0; i < p->calls.count; i++) {
		const struct profile_call *call = table_at(&p->calls, i);
		const struct experiment_node *n = experiment_node_at(&p->x, call->key.node);

		render_profile_begin(j, "node");
		json_integer(j, "node", call->key.node);
		json_integer(j, "parent", n->key.parent);
		json_integer(j, "image", n->key.image);
		json_address(j, "address", n->key.address - (call->length ? call->length - 1 : 0));
		if (!call->length)
			json_bool(j, "interrupted", true);
		end(j);
	}
}

static void render_profile_samples(const struct profile *p, struct json *j)
{
	for (size_t i = 0; i < p->samplers.count; i++) {
		const struct profile_sampler *s =
			&((struct profile_sampled *)table_at(&p->samplers, i))->key;

		render_profile_begin(j, "sampler");
		json_integer(j, "sampler", (long long)i);
		json_string(j, "event", short_name(s->event));
		json_integer(j, "period", (long long)s->period);
		json_bool(j, "skid", s->skid);
		end(j);
	}
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_sample *s = table_at(&p->samples, i);

		render_profile_begin(j, "sample");
		json_integer(j, "sampler", s->key.sampler);
		json_integer(j, "image", s->key.image);
		json_address(j, "address", s->key.address);
		json_integer(j, "process", s->key.process);
		json_integer(j, "pid", s->key.pid);
		json_integer(j, "tid", s->key.tid);
		json_integer(j, "phase", (long long)s->key.phase);
		if (p->stacks && !s->key.lost)
			json_integer(j, "node", s->key.node);
		json_integer(j, "count", (long long)s->count);
		end(j);
	}
	for (size_t i = 0; i < p->data.count; i++) {
		const struct profile_data *d = table_at(&p->data, i);

		render_profile_begin(j, "data");
		json_integer(j, "sampler", d->key.sampler);
		json_integer(j, "pid", d->key.pid);
		json_address(j, "line", d->key.address);
		json_integer(j, "count", (long long)d->count);
		end(j);
	}
}

static void calipers(const struct profile *p, struct json *j)
{
	size_t next = 0;

	for (size_t i = 0; i < p->calipers.count; i++) {
		const struct profile_caliper *c = table_at(&p->calipers, i);
		const struct profile_thread *t;

		render_profile_begin(j, "caliper");
		json_integer(j, "process", c->key.process);
		json_integer(j, "tid", c->tid);
		json_string(j, "name", c->name);
		json_array(j, "threads");
		for (; next < p->threads.count; next++) {
			t = table_at(&p->threads, next);
			if (t->key.caliper != i)
				break;
			json_object(j, NULL);
			json_integer(j, "tid", t->tid);
			counts(j, t->counts);
			json_end_object(j);
		}
		json_end_array(j);
		end(j);
	}
}

static void slices(const struct profile *p, struct json *j)
{
	for (size_t i = 0; i < p->slices.count; i++) {
		const struct profile_slice *s = table_at(&p->slices, i);

		render_profile_begin(j, "slice");
		json_integer(j, "process", s->key.process);
		counts(j, s->counts);
		end(j);
	}
}

static void multiplexed(const struct profile_report *r, struct json *j)
{
	for (size_t i = 0; i < r->multiplexed.count; i++) {
		const struct multiplexed *m = &r->multiplexed.data[i];
		const struct quantity exact = quantity_exact((double)m->exact, LABEL_MODEL);

		render_profile_begin(j, "multiplexed");
		json_string(j, "event", short_name((uint32_t)m->event));
		json_integer(j, "counters", (long long)r->counters);
		json_integer(j, "group", (long long)m->group);
		json_integer(j, "turns", (long long)m->turns);
		json_integer(j, "seen", (long long)m->seen);
		json_number(j, "running", m->running);
		json_number(j, "enabled", m->enabled);
		number_json(j, "exact", &exact);
		number_json(j, "estimate", &m->estimate);
		end(j);
	}
}

static void tail(const struct profile_report *r, struct json *j)
{
	const struct profile *p = r->profile;

	render_profile_begin(j, "end");
	json_integer(j, "instructions", (long long)r->instructions);
	json_integer(j, "profiled", (long long)r->profiled);
	json_object(j, "lost");
	json_integer(j, "samples", (long long)p->lost.samples);
	json_integer(j, "counts", (long long)p->lost.counts);
	json_integer(j, "targets", (long long)p->lost.targets);
	json_integer(j, "data", (long long)p->lost.data);
	json_integer(j, "calipers", (long long)p->lost.calipers);
	json_integer(j, "processes", (long long)(p->unprofiled + p->damaged));
	json_end_object(j);
	end(j);
}

void render_profile_json(const struct profile_report *r, FILE *out)
{
	const struct profile *p = r->profile;
	struct json j;

	json_init(&j, out);
	render_profile_head(r, &j);
	processes(p, &j);
	render_profile_images(p, &j);
	insns(r, &j);
	blocks(r, &j);
	edges(p, &j);
	render_profile_nodes(p, &j);
	render_profile_samples(p, &j);
	calipers(p, &j);
	slices(p, &j);
	multiplexed(r, &j);
	tail(r, &j);
}
