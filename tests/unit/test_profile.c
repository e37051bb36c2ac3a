/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles: what the reader makes of the tool's files, whatever their order, and damaged ones;
 * blocks from edges; estimates of an imitated processor. */
#include <stdlib.h>

#include "../tap.h"
#include "model/trace.h"
#include "model_machine.h"
#include "profile_bytes.h"
#include "sources/multiplex.h"
#include "sources/profile.h"

#define BIAS 0x555500000000

static void image(struct out *o, uint64_t start, uint64_t bias, const char *path, const char *id)
{
	OUT_V(o, EXPERIMENT_IMAGE_ELF, start, 0x1000, 0x1000, bias);
	out_s(o, path);
	out_s(o, id);
}

/*
 * At 0x1000: load; compare and branch, taken (a times) to 0x1900 or not (b times); store; return.
 * The load misses the first level 5 times.
 */
static void superblock(struct out *o, uint64_t bias, uint64_t a, uint64_t b)
{
	struct out shape = {.length = 0};

	OUT_V(&shape, 1, bias + 0x1000, MODEL_SHAPE_INDIRECT, 4);
	OUT_V(&shape, 4, MODEL_INSN_LOADS, 1);
	OUT_V(&shape, 2, MODEL_INSN_BRANCH | MODEL_INSN_UOPS, MODEL_CONDITIONAL, 2);
	OUT_V(&shape, 3, MODEL_INSN_STORES | MODEL_INSN_CLASS, MODEL_FP, 1);
	OUT_V(&shape, 1, MODEL_INSN_BRANCH | MODEL_INSN_LOADS, MODEL_RETURN, 1);
	out_v(&shape, 2);
	/* To the target. */
	OUT_V(&shape, 2, 0, 0, 1);
	out_z(&shape, 0x900);
	OUT_V(&shape, 1, 1, 2 * MODEL_CONDITIONAL + 1);
	out_z(&shape, 0x900);
	/* Through. */
	OUT_V(&shape, 4, 1, 0, 0, 2, 1, 2 * MODEL_CONDITIONAL);
	out_z(&shape, 0x900);
	OUT_V(&shape, 3, 2 * MODEL_RETURN + 1);
	out_z(&shape, 0);
	out_v(o, shape.length);
	out_raw(o, shape.data, shape.length);
	OUT_V(o, a, b, 1, 0, 1, EV_L1D_MISSES, 5);
}

static void process(struct out *o, int32_t pid, uint64_t bias, uint64_t a, uint64_t b)
{
	out_begin(o, pid, MODEL_STATE_FINISHED);
	out_section(o, MODEL_SECTION_INDIRECT);
	OUT_V(o, 1, bias + 0x1009, 1, bias + 0x1800, b);
	out_section_end(o);
	out_section(o, MODEL_SECTION_IMAGES);
	image(o, bias + 0x1000, bias, "/bin/it", "0123");
	out_section_end(o);
	out_section(o, MODEL_SECTION_BLOCKS);
	superblock(o, bias, a, b);
	out_section_end(o);
	out_section(o, MODEL_SECTION_THREADS);
	OUT_V(o, (uint64_t)pid, (uint64_t)pid + 1);
	out_section_end(o);
	out_section(o, MODEL_SECTION_EVENTS);
	OUT_V(o, EV_L1D_MISSES, 101, 0);
	out_section_end(o);
	out_section(o, MODEL_SECTION_SAMPLES);
	OUT_V(o, 0, 1, 0, 1, bias + 0x1000, 3);
	out_section_end(o);
	out_section(o, MODEL_SECTION_DATA);
	OUT_V(o, 0, 0x7f0040, 3);
	out_section_end(o);
	out_section(o, MODEL_SECTION_CALIPERS);
	out_s(o, "half");
	OUT_V(o, (uint64_t)pid, 1, (uint64_t)pid, 1, EV_INSTRUCTIONS, 500);
	out_section_end(o);
	out_section(o, 77); /* of a later version */
	OUT_V(o, 1, 2, 3);
	out_section_end(o);
	out_section(o, MODEL_SECTION_LOST);
	OUT_V(o, 1, 2, 3, 4, 5);
	out_section_end(o);
	out_end(o);
}

static struct out first, second;

/* The events of the instruction at address; how often it was executed. */
static uint64_t insn_at(const struct profile *p, uint64_t address, uint64_t *n)
{
	for (size_t i = 0; i < p->insns.count; i++) {
		const struct profile_insn *d = table_at(&p->insns, i);

		profile_counts(p, i, n);
		if (d->key.address == address)
			return d->executions;
	}
	return 0;
}

static void test_sum(void)
{
	struct profile p;
	struct error e = {0};
	uint64_t n[EVENT_LIMIT];

	process(&first, 100, BIAS, 7, 2);
	process(&second, 200, BIAS + 0x10000, 10, 20);
	ok(profile_init(&p, &e) == 0 && profile_add(&p, first.data, first.length, &e) == 0 &&
			profile_add(&p, second.data, second.length, &e) == 0 &&
			profile_finish(&p, &e) == 0,
		"two processes are read");
	is_int(p.damaged, 0, "whole");
	is_int(p.x.images.count, 2, "one image besides the unknown, though at two addresses");
	is_str(p.x.images.data[1].path, "/bin/it", "its path");
	is_int(p.insns.count, 4, "four instructions");
	is_int(insn_at(&p, 0x1000, n), 39, "executed whichever way the block ended");
	is_int(n[EV_LOADS], 39, "loads follow from executions");
	is_int(n[EV_L1D_MISSES], 10, "misses do not");
	insn_at(&p, 0x1004, n);
	is_int(n[EV_CONDITIONAL_BRANCHES], 39, "conditional branches");
	is_int(n[EV_TAKEN_BRANCHES], 17, "of which taken");
	is_int(n[EV_MICRO_OPS], 78, "two micro-operations each");
	is_int(insn_at(&p, 0x1006, n), 22, "behind the branch not taken");
	is_int(n[EV_FP_INSTRUCTIONS], 22, "floating point");
	is_int(n[EV_STORES], 22, "stores");
	insn_at(&p, 0x1009, n);
	is_int(n[EV_RETURNS], 22, "returns");
	is_int(p.lost.data, 8, "what was lost adds up");
	profile_fini(&p);
}

static uint64_t edge_count(const struct profile *p, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < p->x.edges.count; i++) {
		const struct experiment_edge *edge = table_at(&p->x.edges, i);

		if (edge->key.from == from && edge->key.to == to)
			return edge->count;
	}
	return 0;
}

static void test_edges(void)
{
	struct profile p;
	profile_blocks blocks = {0};

	profile_init(&p, NULL);
	profile_add(&p, first.data, first.length, NULL);
	profile_finish(&p, NULL);
	is_int(edge_count(&p, 0x1004, 0x1900), 7, "taken");
	is_int(edge_count(&p, 0x1004, 0x1006), 2, "not taken");
	is_int(edge_count(&p, 0x1009, 0x1800), 2, "return, by address");
	is_int(((struct experiment_edge *)table_at(&p.x.edges, p.x.edges.count - 1))->key.kind,
		MODEL_RETURN, "and its kind");
	profile_find_blocks(&p, &blocks, NULL);
	is_int(blocks.count, 2, "two blocks");
	is_int(blocks.data[0].count, 2, "the first ends with the branch");
	vec_fini(&blocks);
	profile_fini(&p);
}

static void test_samples(void)
{
	struct profile p;
	const struct profile_sample *s;

	profile_init(&p, NULL);
	profile_add(&p, first.data, first.length, NULL);
	profile_finish(&p, NULL);
	is_int(p.samples.count, 1, "one place was sampled");
	s = table_at(&p.samples, 0);
	is_int(s->key.address, 0x1000, "where");
	is_int(s->key.tid, 101, "by whom");
	is_int(s->count, 3, "how often");
	is_int(((struct profile_data *)table_at(&p.data, 0))->key.address, 0x7f0040, "which data");
	is_str(((struct profile_caliper *)table_at(&p.calipers, 0))->name, "half",
		"a caliper point");
	is_int(((struct profile_thread *)table_at(&p.threads, 0))->counts[EV_INSTRUCTIONS], 500,
		"and its counts");
	profile_fini(&p);
}

/* main at 0x1000 calls a function that calls at 0x1010; a handler interrupted 0x1020.  swapped: the
 * same, found in another order. */
static void with_paths(struct out *o, int32_t pid, bool swapped)
{
	out_begin(o, pid, MODEL_STATE_FINISHED);
	out_section(o, MODEL_SECTION_NODES);
	if (swapped)
		OUT_V(o, 0, 1, BIAS + 0x1020, 0);
	OUT_V(o, 0, 1, BIAS + 0x1000, 5);
	OUT_V(o, swapped ? 2 : 1, 1, BIAS + 0x1010, 5);
	if (!swapped)
		OUT_V(o, 0, 1, BIAS + 0x1020, 0);
	out_section_end(o);
	out_section(o, MODEL_SECTION_IMAGES);
	image(o, BIAS + 0x1000, BIAS, "/bin/it", "0123");
	out_section_end(o);
	out_section(o, MODEL_SECTION_THREADS);
	OUT_V(o, 7);
	out_section_end(o);
	out_section(o, MODEL_SECTION_EVENTS);
	OUT_V(o, EV_LOADS, 7, 0);
	out_section_end(o);
	out_section(o, MODEL_SECTION_PATH_SAMPLES);
	OUT_V(o, 0, 0, 0, 0, 1, BIAS + 0x1100, 1);               /* lost */
	OUT_V(o, 1, 0, 0, 0, 1, BIAS + 0x1100, 2);               /* of nobody */
	OUT_V(o, swapped ? 4 : 3, 0, 0, 0, 1, BIAS + 0x1100, 4); /* called at 0x1010 */
	OUT_V(o, swapped ? 2 : 4, 0, 0, 0, 1, BIAS + 0x1100, 8); /* in the handler */
	out_section_end(o);
	out_section(o, MODEL_SECTION_LOST);
	OUT_V(o, 5, 0, 0, 0, 0, 5);
	out_section_end(o);
	out_section(o, MODEL_SECTION_UNCOUNTED);
	OUT_V(o, 1, EV_LOADS, 100);
	out_section_end(o);
	out_end(o);
}

/* A heap object that two lines of code touch, one of them shared. */
static void test_objects(void)
{
	static struct out o;
	const struct experiment_object *object;
	const struct experiment_place *place;
	const struct experiment_touch *touch;
	const struct experiment_line *line;
	const struct experiment_end *end;
	struct profile p;

	out_objects(&o, 7);
	profile_init(&p, NULL);
	is_int(profile_add(&p, o.data, o.length, NULL), 0, "objects are read");
	is_int(profile_add(&p, o.data, o.length, NULL), 0, "and those of another process");
	profile_finish(&p, NULL);
	is_int(p.damaged, 0, "whole");
	is_int(p.x.objects.count, 3, "those that are the same are one; and the unknown one");
	object = table_at(&p.x.objects, 1);
	is_int(object->key.kind, EXPERIMENT_OBJECT_HEAP, "a block of the heap");
	is_int(object->blocks, 4, "the blocks of both");
	is_int(experiment_node_at(&p.x, object->key.node)->key.address, 0x1014,
		"by the call that allocated it");
	object = table_at(&p.x.objects, 2);
	is_int((long long)object->key.address, 0x1234,
		"addresses of code are those of program headers");
	is_int(p.x.places.count, 2, "counts by line, of each event");
	place = table_at(&p.x.places, 1);
	ok(place->key.line == -1 && place->count == 6 &&
			p.x.data.metrics.data[place->key.metric].event == 26,
		"with their lines and counts");
	touch = table_at(&p.x.touches, 0);
	ok(touch->least == -8 && touch->most == 272 && touch->apart == 280 &&
			touch->key.address == 0x1100,
		"by instruction, with offsets");
	line = table_at(&p.x.lines, 0);
	ok(p.x.lines.count == 1 && line->requests == 18 && line->key.object == 1,
		"lines are of their objects");
	end = table_at(&p.x.ends, 1);
	ok(p.x.ends.count == 2 && end->key.thread == 1 && end->written[0] == 0xff00, "both ends");
	is_int(p.x.data.lost, 4, "what found no room");
	profile_fini(&p);
	for (size_t n = sizeof(struct model_profile_header); n < o.length; n++) {
		profile_init(&p, NULL);
		profile_add(&p, o.data, n, NULL);
		profile_finish(&p, NULL);
		profile_fini(&p);
	}
	ok(true, "cut anywhere, it is read as far as it goes");
}

static void test_paths(void)
{
	static struct out files[2];
	static const uint64_t addresses[] = {0, 0x1004, 0x1020, 0x1014}, lengths[] = {5, 0, 5};

	for (int order = 0; order < 2; order++) {
		struct profile p;
		uint64_t by_node[5] = {0};
		bool right = true;

		with_paths(&files[0], 7, order);
		with_paths(&files[1], 7, !order);
		profile_init(&p, NULL);
		for (int i = 0; i < 2; i++)
			profile_add(&p, files[i].data, files[i].length, NULL);
		profile_finish(&p, NULL);
		is_int(p.damaged, 0, "paths of two processes: whole");
		is_int(p.x.nodes.count, 4, "three paths, and the root");
		for (size_t i = 0; i < p.x.nodes.count && i < 4; i++)
			right &= experiment_node_at(&p.x, i)->key.address == addresses[i];
		ok(right, "callers before callees, in order of address");
		is_int(experiment_node_at(&p.x, 3)->key.parent, 1, "whose caller");
		right = p.calls.count == 3;
		for (size_t i = 0; right && i < 3; i++) {
			const struct profile_call *call = table_at(&p.calls, i);

			right = call->key.node == i + 1 && call->length == lengths[i];
		}
		ok(right, "how long each call is; 0 of the one that a signal interrupted");
		for (size_t i = 0; i < p.samples.count; i++) {
			const struct profile_sample *s = table_at(&p.samples, i);

			by_node[s->key.lost ? 4 : s->key.node] += s->count;
		}
		ok(by_node[0] == 4 && by_node[1] == 0 && by_node[2] == 16 && by_node[3] == 8 &&
				by_node[4] == 2,
			"samples go with their paths");
		is_int(((struct profile_sampled *)table_at(&p.samplers, 0))->lost, 10,
			"samples lost, of each event");
		is_int(p.uncounted[EV_LOADS], 200, "what did not count");
		profile_fini(&p);
	}
	/* One that calls itself its caller. */
	with_paths(&files[0], 7, false);
	for (size_t i = sizeof(struct model_profile_header); i < files[0].length - 4; i++)
		if (files[0].data[i] == MODEL_SECTION_NODES) {
			struct profile p;

			files[0].data[i + sizeof(struct model_profile_section)] = 1;
			profile_init(&p, NULL);
			profile_add(&p, files[0].data, files[0].length, NULL);
			is_int(p.damaged, 1, "a path that is its own caller is damage");
			profile_finish(&p, NULL);
			profile_fini(&p);
			break;
		}
}

static const struct profile_process *process_at(const struct profile *p, size_t i)
{
	return table_at(&p->processes, i);
}

/* All that a profile says, as bytes without padding or pointers. */
static uint64_t digest(const struct profile *p)
{
	uint64_t h = p->insns.count * 31 + p->x.edges.count;

#define MIX(x) h = (h ^ (uint64_t)(x)) * 0x9e3779b97f4a7c15u
	for (size_t i = 0; i < p->x.images.count; i++)
		for (const char *c = p->x.images.data[i].path; *c; c++)
			MIX(*c);
	for (size_t i = 0; i < p->insns.count; i++) {
		const struct profile_insn *d = table_at(&p->insns, i);

		MIX(d->key.address);
		MIX(d->key.image);
		MIX(d->executions);
	}
	for (size_t i = 0; i < p->counts.count; i++) {
		const struct profile_count *c = table_at(&p->counts, i);

		MIX(c->key.insn * 1000000 + c->key.item * 1000 + c->n);
	}
	for (size_t i = 0; i < p->x.edges.count; i++) {
		const struct experiment_edge *edge = table_at(&p->x.edges, i);

		MIX(edge->key.from * 3 + edge->key.to);
		MIX(edge->key.to_image);
		MIX(edge->count);
	}
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct profile_sample *s = table_at(&p->samples, i);

		MIX(s->key.pid);
		MIX(s->key.sampler);
		MIX(s->count);
	}
	for (size_t i = 0; i < p->calipers.count; i++) {
		const struct profile_caliper *c = table_at(&p->calipers, i);

		MIX(process_at(p, c->key.process)->key.pid);
	}
	return h;
}

static void other_process(struct out *o, int32_t pid, const char *path, uint32_t event)
{
	out_begin(o, pid, MODEL_STATE_RUNNING);
	out_section(o, MODEL_SECTION_IMAGES);
	image(o, BIAS + 0x1000, BIAS, path, "45");
	out_section_end(o);
	out_section(o, MODEL_SECTION_BLOCKS);
	superblock(o, BIAS, (uint64_t)pid, 3);
	out_section_end(o);
	out_section(o, MODEL_SECTION_EVENTS);
	OUT_V(o, event, 7, 1);
	out_section_end(o);
	out_section(o, MODEL_SECTION_SAMPLES);
	OUT_V(o, 0, 0, 0, 1, BIAS + 0x1004, 1);
	out_section_end(o);
	out_section(o, MODEL_SECTION_CALIPERS);
	out_s(o, "x");
	OUT_V(o, (uint64_t)pid, 0);
	out_section_end(o);
	out_end(o);
}

static void test_order(void)
{
	static struct out files[6];
	uint64_t seed = 11, want = 0;
	bool same = true;

	for (int i = 0; i < 6; i++)
		other_process(&files[i], 50 + i * 7 % 5 + 10 * i, i % 2 ? "/lib/b" : "/lib/a",
			(uint32_t)(i % 3 ? EV_LOADS : EV_STORES));
	for (int round = 0; round < 50; round++) {
		int order[6] = {0, 1, 2, 3, 4, 5};
		struct profile p;
		uint64_t got;

		for (int i = 5; round && i > 0; i--) {
			int k = (int)random_below(&seed, (uint64_t)i + 1), t = order[i];

			order[i] = order[k];
			order[k] = t;
		}
		profile_init(&p, NULL);
		for (int i = 0; i < 6; i++)
			profile_add(&p, files[order[i]].data, files[order[i]].length, NULL);
		profile_finish(&p, NULL);
		got = digest(&p);
		if (round == 0) {
			want = got;
			ok(!process_at(&p, 0)->complete,
				"a process that was killed is not complete");
		}
		same &= got == want;
		profile_fini(&p);
	}
	ok(same, "whatever the order of files, the sum is the same");
}

static void test_damage(void)
{
	uint64_t seed = 5;
	size_t damaged = 0, cut = 0;
	struct profile p;

	for (size_t size = 0; size < first.length; size++) {
		uint8_t *copy = malloc(size + 1);

		memcpy(copy, first.data, size);
		profile_init(&p, NULL);
		cut += profile_add(&p, copy, size, NULL) == 0 &&
		       (p.damaged == 1 || size < sizeof(struct model_profile_header));
		profile_finish(&p, NULL);
		profile_fini(&p);
		free(copy);
	}
	is_int(cut, first.length, "a file that is cut short anywhere is said to be damaged");
	for (int i = 0; i < 20000; i++) {
		uint8_t *copy = malloc(first.length);

		memcpy(copy, first.data, first.length);
		for (uint64_t k = random_below(&seed, 4); k < 4; k++)
			copy[sizeof(struct model_profile_header) +
				random_below(&seed,
					first.length - sizeof(struct model_profile_header))] =
				(uint8_t)random_next(&seed);
		profile_init(&p, NULL);
		if (profile_add(&p, copy, first.length, NULL))
			ok(false, "damage is no error");
		damaged += p.damaged;
		profile_finish(&p, NULL);
		profile_fini(&p);
		free(copy);
	}
	ok(damaged > 5000, "random bytes: %zu of 20000 seen to be damaged, all survived", damaged);
	memset(&second.data, 0, sizeof(struct model_profile_header));
	profile_init(&p, NULL);
	profile_add(&p, second.data, second.length, NULL);
	is_int(p.processes.count + p.damaged, 0, "a file with nothing in it yet is no damage");
	profile_fini(&p);
}

static void test_table(void)
{
	struct table t = {.entry_size = 16, .key_size = 8};
	uint64_t seed = 9, sum = 0, want = 0;

	for (int i = 0; i < 50000; i++) {
		uint64_t key = random_below(&seed, 5000), *entry = table_add(&t, &key);

		entry[1] += key;
		want += key;
	}
	for (size_t i = 0; i < t.count; i++)
		sum += ((uint64_t *)table_at(&t, i))[1];
	is_int(sum, want, "a table finds again what it has");
	is_int(t.count, 5000, "and has each once");
	sum = 5000;
	ok(!table_find(&t, &sum), "and nothing else");
	table_fini(&t);
}

/* ---- multiplexing ---- */

/* Phases of random lengths: a program in step with the rotation cannot be judged by itself. */
static void slice(struct profile *p, uint64_t *seed)
{
	struct profile_slice *s = table_append(&p->slices);
	static uint64_t phase;

	if (random_below(seed, 40) == 0)
		phase = random_below(seed, 3);
	s->counts[EV_CYCLES] = 1000000 + random_below(seed, 1000);
	s->counts[EV_INSTRUCTIONS] = 1000000 + phase * 500000 + random_below(seed, 10000);
	for (int e = EV_L1D_MISSES; e <= EV_L2D_MISSES; e++)
		s->counts[e] = (phase + 1) * 1000 + random_below(seed, 200);
	s->counts[EV_LOADS] = s->counts[EV_INSTRUCTIONS] / 4 + random_below(seed, 1000);
	s->counts[EV_STORES] = s->counts[EV_INSTRUCTIONS] / 8 + random_below(seed, 1000);
	s->counts[EV_BRANCHES] = s->counts[EV_INSTRUCTIONS] / 5 + random_below(seed, 1000);
	s->counts[EV_MISPREDICTED_BRANCHES] = s->counts[EV_BRANCHES] / (100 - 20 * phase);
}

static void test_multiplex(void)
{
	size_t covered = 0, all = 0;
	struct error e = {0};

	for (uint64_t run = 1; run <= 60; run++) {
		multiplexed_events events = {0};
		struct profile p;
		uint64_t seed = run * 77;

		profile_init(&p, NULL);
		for (size_t i = 0; i < 600; i++)
			slice(&p, &seed);
		if (multiplex(&p, 4, &events, &e))
			ok(false, "%s", e.message);
		for (size_t i = 0; i < events.count; i++) {
			const struct multiplexed *m = &events.data[i];

			all++;
			covered += m->estimate.low <= (double)m->exact &&
				   (double)m->exact <= m->estimate.high;
		}
		if (run == 1) {
			is_int(events.count, 7, "all events but the anchor");
			is_int(events.data[6].group, 2, "three at a time besides the anchor");
			is_int(events.data[0].turns, 200, "each has its third of the turns");
			ok(events.data[0].estimate.label == LABEL_SCALED, "and is scaled");
		}
		vec_fini(&events);
		profile_fini(&p);
	}
	ok(covered * 100 >= all * 95, "%zu of %zu intervals hold the exact count", covered, all);
	ok(multiplex(NULL, 1, NULL, &e) < 0 && e.message[0], "one counter will not do");
}

int main(void)
{
	test_sum();
	test_edges();
	test_samples();
	test_paths();
	test_objects();
	test_order();
	test_damage();
	test_table();
	test_multiplex();
	return done();
}
