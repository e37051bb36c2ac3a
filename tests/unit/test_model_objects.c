/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which objects misses are about, by line and by instruction; and whether sharing is false. */
#include "../tap.h"
#include "model_machine.h"

#include "model/watch.h"

#define OBJECT_BITS 28 /* each lies in memory of its own */

static struct run run;
static struct objects objects;
static struct model_watch watch;

static uint32_t find(void *context, uint64_t address, uint64_t *start)
{
	(void)context;
	*start = address >> OBJECT_BITS << OBJECT_BITS;
	return (uint32_t)(address >> OBJECT_BITS);
}

static uint32_t image(void *context, uint64_t instruction)
{
	(void)context, (void)instruction;
	return 1;
}

static void *memory(void *old, size_t size)
{
	if (size)
		return realloc(old, size);
	free(old);
	return NULL;
}

static void begin(void)
{
	struct model_config config = zen4();

	memset(&objects, 0, sizeof(objects));
	memset(&watch, 0, sizeof(watch));
	objects.find = find;
	objects.image = image;
	objects.memory = memory;
	objects_init(&objects);
	watch.objects = &objects;
	run_begin(&run, &config);
	model_set_watch(run.model, &watch);
	run_thread(&run, 1);
	run_thread(&run, 0);
}

static void end(void)
{
	struct objects_table *tables[] = {
		&objects.places, &objects.touches, &objects.lines, &objects.ends, &objects.holders};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		free(tables[i]->entries);
		free(tables[i]->slots);
	}
	free(objects.sizes);
	free(objects.live);
	free(objects.live_key);
	run_end(&run);
}

static uint64_t base(unsigned object)
{
	return (uint64_t)object << OBJECT_BITS;
}

static unsigned column(unsigned event)
{
	unsigned i = 0;

	while (objects_event(i) != event)
		i++;
	return i;
}

static uint64_t at_places(unsigned object, unsigned event)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < objects.places.count; i++) {
		const struct objects_place *p = (const void *)objects.places.entries;

		sum += p[i].key[0] == object ? p[i].counts[column(event)] : 0;
	}
	return sum;
}

static const struct objects_touch *touch_of(unsigned object, uint64_t instruction)
{
	for (uint32_t i = 0; i < objects.touches.count; i++) {
		const struct objects_touch *t = (const void *)objects.touches.entries;

		if (t[i].key[0] == object && t[i].key[1] == instruction)
			return &t[i];
	}
	return NULL;
}

static const struct objects_line *line(uint32_t i)
{
	return (const struct objects_line *)(const void *)objects.lines.entries + i;
}

/* ---- counts ---- */

static void by_object(void)
{
	const struct objects_touch *t;

	begin();
	for (unsigned i = 0; i < 1000; i++) {
		model_instruction(run.model, 0x401000, 4, 0, 1, 0);
		model_load(run.model, base(1) + 16 + i * 280, 4);
		model_instruction(run.model, 0x401004, 4, 0, 1, 0);
		model_load(run.model, base(2) + 8, 8);
	}
	model_sync(run.model);
	is_int(at_places(1, EV_L1D_MISSES) + at_places(2, EV_L1D_MISSES),
		(long long)run.counts[EV_L1D_MISSES], "lines of all objects have all misses");
	is_int(at_places(1, EV_DTLB_WALKS) + at_places(2, EV_DTLB_WALKS),
		(long long)run.counts[EV_DTLB_WALKS], "and all walks");
	is_int(at_places(2, EV_L1D_MISSES), 1, "what is found again misses once");
	t = touch_of(1, 0x401000);
	ok(t && t->counts[column(EV_L1D_MISSES)] == at_places(1, EV_L1D_MISSES),
		"the instruction that touches it has them too");
	ok(t && t->apart == 280 && t->least == 16 && t->most == 16 + 999 * 280,
		"and says how large what it goes over is, and which part it is about");
	t = touch_of(2, 0x401004);
	ok(t && t->apart == 0 && t->least == 8 && t->most == 8, "one place has no distance");
	objects.off = 1;
	model_load(run.model, base(3), 8);
	is_int(at_places(3, EV_L1D_MISSES), 0, "what does not count is not counted");
	end();
}

static void coarse(void)
{
	uint32_t kept = 0;
	bool grain = true;

	begin();
	for (unsigned i = 0; i < 100000; i++) {
		model_instruction(run.model, 0x401000, 4, 0, 1, 0);
		model_load(run.model, base(1) + i * 64, 8);
		if (i % 1000 == 0)
			model_load(run.model, base(2) + i, 8);
	}
	model_sync(run.model);
	for (uint32_t i = 0; i < objects.places.count; i++) {
		const struct objects_place *p = (const void *)objects.places.entries;

		kept += p[i].key[0] == 1;
		grain &= p[i].key[2] == (p[i].key[0] == 1 ? 6 : 0);
	}
	ok(kept <= OBJECTS_LINES_MAX, "lines of a large object: %u", kept);
	ok(grain, "are counted by 64 at once, those of a small one each");
	is_int(at_places(1, EV_L1D_MISSES) + at_places(2, EV_L1D_MISSES),
		(long long)run.counts[EV_L1D_MISSES], "and nothing is lost");
	end();
}

/* ---- sharing ---- */

/* Each of two threads adds to its own bytes, in turns. */
static void turns(uint64_t a, uint64_t b, unsigned size, bool store, int n)
{
	for (int turn = 0; turn < n; turn++) {
		uint64_t address = turn % 2 ? b : a;

		run_thread(&run, turn % 2);
		for (int i = 0; i < 20; i++) {
			model_instruction(run.model, 0x401000 + 0x100u * (turn % 2), 4, 0, 1, 0);
			model_load(run.model, address, size);
			if (store)
				model_store(run.model, address, size);
		}
	}
	model_sync(run.model);
}

static void kinds(uint32_t i, uint64_t *needed, uint64_t *useless)
{
	objects_kinds(&objects, line(i), needed, useless);
}

static uint64_t bytes_of(uint32_t thread, bool written)
{
	uint64_t mask = 0;

	for (uint32_t i = 0; i < objects.ends.count; i++) {
		const struct objects_end *e = (const void *)objects.ends.entries;

		if (e[i].key[1] >> 32 == thread)
			mask |= written ? e[i].written[0] : e[i].read[0];
	}
	return mask;
}

static void shared(void)
{
	uint64_t needed, useless;

	begin();
	turns(base(1) + 4, base(1) + 8, 4, true, 100);
	is_int(objects.lines.count, 1, "two counters in a line: one shared line");
	kinds(0, &needed, &useless);
	ok(needed == 0 && useless > 80, "nothing is needed (%d of %d)", (int)needed,
		(int)(needed + useless));
	ok(bytes_of(0, true) == 0xf0 && bytes_of(1, true) == 0xf00, "both ends, to the byte");
	is_int(at_places(1, EV_INTERVENTIONS),
		(long long)(run.counts[EV_INTERVENTIONS] + run.others[1][EV_INTERVENTIONS]),
		"interventions are the object's");
	end();

	begin();
	turns(base(1) + 4, base(1) + 4, 4, true, 100);
	kinds(0, &needed, &useless);
	ok(useless == 0 && needed > 80, "one counter: all is needed");
	end();

	begin();
	model_store(run.model, base(1), 8);
	turns(base(1), base(1), 8, false, 100);
	is_int(line(0)->requests, 1, "what is read only comes once");
	ok(bytes_of(0, true) == 0 && bytes_of(1, true) == 0, "and nobody writes it");
	end();

	begin();
	turns(base(1), base(1) + 64, 8, true, 100);
	is_int(objects.lines.count, 0, "a line apart: none");
	end();

	begin();
	for (int turn = 0; turn < 100; turn++) {
		run_thread(&run, turn % 2);
		model_instruction(run.model, 0x401000, 4, 0, 1, 0);
		model_store(run.model, base(1) + turn % 2 * 8, 8);
	}
	kinds(0, &needed, &useless);
	ok(needed == 0 && useless > 80, "who only writes beside another shares falsely");
	end();

	/* Words in one granule of eight bytes, beside what both read. */
	begin();
	turns(base(1) + 16, base(1) + 17, 1, true, 100);
	kinds(0, &needed, &useless);
	ok(needed == 0 && useless > 80, "neighbouring bytes are false sharing, too");
	end();
}

/* A producer writes what a consumer reads next. */
static void handed_over(void)
{
	uint64_t needed, useless;

	begin();
	for (int i = 0; i < 200; i++) {
		run_thread(&run, i % 2);
		model_instruction(run.model, 0x401000 + 0x100u * (i % 2), 4, 0, 1, 0);
		if (i % 2)
			model_load(run.model, base(1) + i / 2 % 8 * 8, 8);
		else
			model_store(run.model, base(1) + i / 2 % 8 * 8, 8);
	}
	kinds(0, &needed, &useless);
	ok(needed > 80 && useless < needed / 4, "a queue is true sharing (%d of %d needed)",
		(int)needed, (int)(needed + useless));
	end();
}

static void gone(void)
{
	uint64_t before, needed, useless;

	begin();
	turns(base(1), base(1) + 8, 8, true, 50);
	before = line(0)->requests;
	objects_gone(&objects, base(1), 4096);
	is_int(objects_knows(&objects, base(1)), 0, "a line whose object is gone is not watched");
	kinds(0, &needed, &useless);
	is_int(line(0)->requests, (long long)before, "but keeps what it was");
	turns(base(1), base(1) + 8, 8, true, 50);
	is_int(objects.lines.count, 1, "the next one there is the same line of the object");
	ok(line(0)->requests > before, "and adds to it");
	objects_reset(&objects);
	is_int(objects.lines.count + objects.places.count + objects.touches.count, 0,
		"all can be forgotten");
	turns(base(1), base(1) + 8, 8, true, 50);
	is_int(objects.lines.count, 1, "and begins anew");
	end();
}

int main(void)
{
	by_object();
	coarse();
	shared();
	handed_over();
	gone();
	return done();
}
