/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes of equal frequency, against what defines them: two arcs are equivalent when no directed
 * cycle passes one without the other.  And counts of random walks, which must be equal in a class.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "flow_walks.h"

enum { NODES = 14, ARCS = 40 };

/* Is there a cycle through arc `with` that does not pass `without`? */
static bool cycle(const struct analysis_pair *arcs, uint32_t n, uint32_t with, uint32_t without)
{
	bool reached[NODES] = {0}, more = true;

	reached[arcs[with].to] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n; i++)
			if (i != without && reached[arcs[i].from] && !reached[arcs[i].to])
				reached[arcs[i].to] = more = true;
	}
	return reached[arcs[with].from];
}

static unsigned disagreements(const struct analysis_pair *arcs, uint32_t n, const uint32_t *class)
{
	unsigned bad = 0;

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++) {
			bool same = !cycle(arcs, n, a, b) && !cycle(arcs, n, b, a);

			bad += same != (class[a] == class[b]);
		}
	return bad;
}

static void test_random(void)
{
	unsigned bad = 0, graphs = 0, joined = 0;

	for (int round = 0; round < 3000; round++) {
		struct analysis_pair arcs[ARCS];
		uint32_t class[ARCS], nodes = 2 + dice(NODES - 2), n = 0, count;
		uint32_t more = dice(ARCS - NODES);

		/* a ring, which makes it strongly connected, and chords of any kind */
		for (; n < nodes; n++)
			arcs[n] = (struct analysis_pair){n, (n + 1) % nodes};
		for (; more-- > 0 && n < ARCS; n++)
			arcs[n] = (struct analysis_pair){dice(nodes), dice(nodes)};
		for (uint32_t i = n; i-- > 1;) {
			uint32_t k = dice(i + 1);
			struct analysis_pair swap = arcs[i];

			arcs[i] = arcs[k];
			arcs[k] = swap;
		}
		count = analysis_cycle_classes(nodes, arcs, n, class);
		graphs++;
		joined += count < n;
		bad += disagreements(arcs, n, class);
		for (uint32_t i = 0; i < n; i++)
			bad += class[i] >= count;
	}
	is_int(bad, 0, "classes of %u random graphs are those of the definition", graphs);
	ok(joined > 100, "many of them have classes of several arcs (%u)", joined);
}

static unsigned unequal(const struct flow *f, const struct analysis_classes *c,
	const uint32_t *blocks, const uint32_t *edges)
{
	uint32_t *seen = calloc(c->count, sizeof(*seen));
	unsigned bad = 0;

	for (uint32_t i = 0; i < c->count; i++)
		seen[i] = UINT32_MAX;
	for (uint32_t i = 0; i < f->blocks.count; i++) {
		if (seen[c->block[i]] == UINT32_MAX)
			seen[c->block[i]] = blocks[i];
		bad += seen[c->block[i]] != blocks[i];
	}
	for (uint32_t i = 0; i < f->edges.count; i++) {
		if (seen[c->edge[i]] == UINT32_MAX)
			seen[c->edge[i]] = edges[i];
		bad += seen[c->edge[i]] != edges[i];
	}
	free(seen);
	return bad;
}

static void test_walks(void)
{
	unsigned bad = 0, stuck = 0, endless = 0;

	for (int round = 0; round < 500; round++) {
		uint8_t bytes[8 * 24];
		struct flow *f = flow_of(bytes, random_code(bytes, 2 + dice(22)));
		struct error e;
		struct analysis_classes *c = f ? analysis_classes_new(f, &e) : NULL;
		uint32_t *blocks = calloc(200, sizeof(*blocks)),
			 *edges = calloc(400, sizeof(*edges));

		if (!c || !blocks || !edges) {
			stuck++;
		} else {
			for (uint32_t i = 0; i < c->arcs.count; i++)
				endless += !c->arcs.data[i].into && c->arcs.data[i].artificial;
			stuck += !walk(f, c, blocks, edges);
			bad += unequal(f, c, blocks, edges);
		}
		free(blocks);
		free(edges);
		analysis_classes_free(c);
		flow_free(f);
	}
	is_int(stuck, 0, "every way through random code comes to an end");
	is_int(bad, 0, "walks pass blocks and edges of a class equally often");
	ok(endless > 20, "loops without end were among them (%u)", endless);
}

static void test_known(void)
{
	/* 0: test, jne 2; 1: nop; 2: dec, jne 0; 3: ret */
	static const uint8_t diamond[] = {
		0x85, 0xc0, 0x75, 0x01, 0x90, 0xff, 0xc8, 0x75, 0xf7, 0xc3};
	/* 0: nop; 1: jmp 1 */
	static const uint8_t idle[] = {0x90, 0xf3, 0x90, 0xeb, 0xfc};
	static const uint8_t unknown[] = {0x85, 0xc0, 0x75, 0x02, 0xff, 0xe0, 0xc3};
	struct error e;
	struct flow *f = flow_of(diamond, sizeof(diamond));
	struct analysis_classes *c = analysis_classes_new(f, &e);

	ok(c->block[0] == c->block[2], "a fork and its join are executed equally often");
	ok(c->block[0] != c->block[1], "what one way only passes is not");
	ok(c->block[3] != c->block[0], "nor is what comes after the loop");
	ok(c->block[3] == c->arc[0] && c->block[3] == c->arc[1],
		"but it is as often as the procedure is entered");
	ok(c->block[1] == c->edge[0] || c->block[1] == c->edge[1], "an edge is in a block's class");
	analysis_classes_free(c);
	flow_free(f);

	f = flow_of(idle, sizeof(idle));
	c = analysis_classes_new(f, &e);
	ok(c->arcs.count == 2 && c->arcs.data[1].artificial && c->arcs.data[1].block == 1,
		"a loop without end gets a way out");
	ok(!c->apart && c->block[0] != c->block[1], "and a class of its own");
	analysis_classes_free(c);
	flow_free(f);

	f = flow_of(unknown, sizeof(unknown));
	c = analysis_classes_new(f, &e);
	ok(c->apart && c->count == f->blocks.count + f->edges.count + c->arcs.count,
		"where edges are missing all are classes of their own");
	analysis_classes_free(c);
	flow_free(f);
}

int main(void)
{
	test_random();
	test_walks();
	test_known();
	return done();
}
