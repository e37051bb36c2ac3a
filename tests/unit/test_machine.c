/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/machine: the format and its errors, our descriptions, the host from copies of /sys and
 * recorded cpuid leaves. */
#include "../tap.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "machine/private.h"

#include "build_data.h"
#include "machine_print.h"

static struct machine m;
static struct error e;

static int parse(const char *text)
{
	memset(&e, 0, sizeof(e));
	return machine_parse(text, strlen(text), "x.machine", &m, &e);
}

static void format(void)
{
	struct machine defaults;

	is_int(parse("[machine]\nname t1 # a comment\ndescription  Two words \nclock 1.5 "
		     "GHz\n[caches]\n"
		     "L1D 4-cycle 48K 64-byte 12-way\nL2\tnone\nLL none\n[tlbs]\nDTLB 64-entry "
		     "full\nSTLB none"),
		0, "a description, values in any order, no newline at its end: %s", e.message);
	is_str(m.name, "t1", "name");
	is_str(m.description, "Two words", "text without the blanks around it");
	ok(m.model.clock_hz == 1500000000, "clock");
	ok(m.model.l1d.size == 49152 && m.model.l1d.ways == 12 && m.model.l1d.line == 64 &&
			m.model.l1d.latency == 4,
		"L1D");
	ok(m.model.l2.size == 0 && m.model.ll.size == 0, "no L2, no LL");
	ok(m.model.dtlb.ways == 64 && m.model.stlb.entries == 0, "TLBs");
	machine_defaults(&defaults);
	ok(m.model.width == defaults.model.width && m.model.l1i.size == defaults.model.l1i.size,
		"what is left out has its default");
	is_int(parse("[caches]\nL1D-policy tree-plru\nLL-inclusion exclusive\n[tlbs]\nlarge-pages "
		     "kernel\nDTLB-2M 4-way 32-entry\nITLB-2M split\nSTLB-2M "
		     "shared\n[prefetch]\nL1I-next 1-line\nL1D-next off\nL1D-stride 4-ahead "
		     "64-entry\nL2-adjacent on\nL2-stream 32-entry 20-ahead 2-lines"),
		0, "policies, inclusion, large pages and prefetchers: %s", e.message);
	ok(m.model.policy[MODEL_L1D] == MODEL_TREE_PLRU && m.model.policy[MODEL_L2] == MODEL_LRU &&
			m.model.ll_inclusion == MODEL_EXCLUSIVE &&
			m.model.l2_inclusion == MODEL_NEITHER,
		"tree-plru, and exclusive");
	ok(m.model.large_pages == MODEL_PAGES_KERNEL && m.model.large_dtlb.entries == 32 &&
			m.model.large_dtlb.ways == 4 && m.model.large_itlb.entries == 0 &&
			m.model.large_itlb.ways == MODEL_LARGE_SPLIT &&
			m.model.large_stlb.ways == MODEL_LARGE_SHARED,
		"entries of large pages");
	ok(m.model.l1i_next.lines == 1 && !m.model.l1d_next.lines &&
			m.model.l1d_stride.entries == 64 && m.model.l1d_stride.ahead == 4 &&
			m.model.l2_adjacent == 1 && m.model.l2_stream.entries == 32 &&
			m.model.l2_stream.ahead == 20 && m.model.l2_stream.lines == 2,
		"prefetchers");
	is_int(parse("[machine]\r\nclock 195MHz\r\n"), 0, "lines that end in CR LF");
	ok(m.model.clock_hz == 195000000, "and a clock without a blank");
	is_int(machine_parse("[machine]\ncores 4junk", 17, "x", &m, &e), 0,
		"the text ends where its length says");
	is_int(m.model.cores, 4, "and not at a NUL");
}

/* A machine is the same after printing and reading, whatever is in it. */
static unsigned random_state = 12345;
static unsigned below(unsigned limit)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % limit;
}

static void random_cache(struct model_cache_config *c, bool optional)
{
	memset(c, 0, sizeof(*c));
	if (optional && below(4) == 0)
		return;
	c->line = 16u << below(5);
	c->ways = below(5) ? 1u << below(5) : 12;
	c->size = c->ways * c->line << below(12);
	c->latency = below(500);
}

static void random_tlb(struct model_tlb_config *t, bool optional)
{
	memset(t, 0, sizeof(*t));
	if (optional && below(4) == 0)
		return;
	t->ways = 1 + below(24);
	t->entries = t->ways << below(8);
}

static void random_hierarchy(struct model_config *c)
{
	struct model_tlb_config *large[] = {&c->large_itlb, &c->large_dtlb, &c->large_stlb};

	for (int i = 0; i < MODEL_LEVELS; i++)
		c->policy[i] = below(3) ? MODEL_LRU : below(MODEL_POLICIES);
	c->l2_inclusion = below(MODEL_INCLUSIONS);
	c->ll_inclusion = below(MODEL_INCLUSIONS);
	c->large_pages = below(MODEL_PAGES_MODES);
	for (int i = 0; i < 3; i++) {
		random_tlb(large[i], true);
		if (!large[i]->entries)
			large[i]->ways = below(2);
	}
	c->l1i_next.lines = below(17);
	c->l1d_next.lines = below(17);
	if (below(2))
		c->l1d_stride = (struct model_prefetcher){1 + below(256), 1 + below(64), 0};
	if (below(2))
		c->l1d_stream =
			(struct model_prefetcher){1 + below(256), 1 + below(64), 1 + below(16)};
	c->l2_adjacent = below(2);
	if (below(2))
		c->l2_stream =
			(struct model_prefetcher){1 + below(256), 1 + below(64), 1 + below(16)};
}

static void random_machine(struct machine *r)
{
	machine_defaults(r);
	snprintf(r->name, sizeof(r->name), "m%u", below(1000));
	snprintf(r->description, sizeof(r->description), "%s",
		below(2) ? "" : "two  words, \xc3\xa9 and more");
	random_cache(&r->model.l1i, false);
	random_cache(&r->model.l1d, false);
	random_cache(&r->model.l2, true);
	random_cache(&r->model.ll, true);
	random_tlb(&r->model.itlb, false);
	random_tlb(&r->model.dtlb, false);
	random_tlb(&r->model.stlb, true);
	random_hierarchy(&r->model);
	r->model.stlb_latency = r->model.stlb.entries ? below(50) : 0;
	r->model.page_size = 4096u << below(8);
	r->model.clock_hz = 1000000 + (uint64_t)below(1 << 20) * 12345;
	r->model.width = 1 + below(32);
	r->model.misses = below(65);
	r->model.predictor_bits = 4 + below(17);
	r->model.predictor_kind = below(2);
	r->model.cores = 1 + below(MODEL_CORES_MAX);
}

static void round_trip(void)
{
	int accepted = 0, same = 0;

	for (int i = 0; i < 2000; i++) {
		struct strbuf text = {0};
		struct machine r, again;
		struct machine_fault fault;

		random_machine(&r);
		if (machine_find_fault(&r, &fault))
			continue;
		accepted++;
		machine_print(&r, &text);
		if (machine_parse(strbuf_text(&text), text.length, "printed", &again, &e) == 0 &&
			memcmp(&r.model, &again.model, sizeof(r.model)) == 0 &&
			strcmp(r.name, again.name) == 0 &&
			strcmp(r.description, again.description) == 0 &&
			strcmp(r.costs, again.costs) == 0)
			same++;
		else if (accepted - same < 3)
			printf("# %s in\n%s\n", e.message, strbuf_text(&text));
		strbuf_fini(&text);
	}
	ok(accepted > 200 && same == accepted,
		"%d of %d random machines are the same after printing and reading", same, accepted);
}

static void cut_short(void)
{
	char *path = file_data_path("machines/zen4.machine", &e), *text, *part;
	size_t length, n, refused = 0;

	text = path ? file_read(path, 0, &length, &e) : NULL;
	if (!ok(text != NULL, "zen4.machine is there"))
		return;
	for (n = 0; n <= length; n++) {
		part = malloc(
			n ? n
			  : 1); /* exactly as long, so that a sanitizer sees any reading beyond */
		memcpy(part, text, n);
		refused += machine_parse(part, n, "part", &m, &e) != 0;
		free(part);
	}
	ok(refused > 0 && refused < length,
		"every beginning of it is read or refused (%zu of %zu refused)", refused,
		length + 1);
	free(text);
	free(path);
}

static void each_of_ours(const char *name, void *context)
{
	int status = machine_find(name, &m, &e);
	struct strbuf text = {0};
	struct machine again;
	char table[80], *path;

	(*(int *)context)++;
	ok(status == 0 && strcmp(m.name, name) == 0, "%s: %s", name,
		status ? e.message : m.description);
	snprintf(table, sizeof(table), "costs/%s.costs", m.costs);
	path = file_data_path(table, NULL);
	ok(path && m.description[0], "%s has a cost table, %s, and a description", name, m.costs);
	free(path);
	machine_print(&m, &text);
	ok(machine_parse(strbuf_text(&text), text.length, name, &again, &e) == 0 &&
			memcmp(&m.model, &again.model, sizeof(m.model)) == 0 &&
			strcmp(m.name, again.name) == 0 && strcmp(m.costs, again.costs) == 0 &&
			strcmp(m.description, again.description) == 0,
		"%s is the same after printing and reading", name);
	strbuf_fini(&text);
	ok(model_check(&m.model) == NULL, "%s can be modelled", name);
	ok(model_size(&m.model) < 200u << 20, "%s takes %zu bytes to model", name,
		model_size(&m.model));
	ok(strstr(m.origin, name) != NULL, "%s says where it is from: %s", name, m.origin);
}

static void ours(void)
{
	static const char *const wanted[] = {"adl", "emr", "generic", "gnr", "icx", "neoverse-n1",
		"neoverse-n2", "neoverse-v2", "r10000", "rpl", "skl", "spr", "zen2", "zen3", "zen4",
		"zen5"};
	struct machine defaults;
	int count = 0;

	is_int(machine_walk(each_of_ours, &count, &e), 0, "our descriptions can be listed");
	ok(count >= 16, "%d of them", count);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		is_int(machine_find(wanted[i], &m, &e), 0, "%s is one", wanted[i]);
	machine_find("generic", &m, &e);
	machine_defaults(&defaults);
	ok(memcmp(&m.model, &defaults.model, sizeof(m.model)) == 0,
		"generic is what the defaults are");
	machine_find("r10000", &m, &e);
	ok(m.model.clock_hz == 195000000 && m.model.ll.size == 0 && m.model.l1d.line == 32 &&
			m.model.l2.line == 128 && m.model.predictor_kind == 0 &&
			m.model.predictor_bits == 9,
		"r10000 has no third level, lines of 32 and 128 bytes and two-bit counters");
	is_int(machine_find("zen9", &m, &e), -1, "an unknown name is refused");
	ok(e.code == ERR_NOT_FOUND && strstr(e.hint, "'zen"), "with the nearest: %s", e.hint);
	is_int(machine_find("./nowhere.machine", &m, &e), -1, "so is a path to nothing");
	ok(e.code == ERR_NOT_FOUND && strstr(e.message, "nowhere"), "by its name: %s", e.message);
	is_int(machine_find("/", &m, &e), -1, "and a directory: %s", e.message);
}

static void cachegrind(void)
{
	char why[200];

	is_int(machine_find("cachegrind:I1=16384,2,32:D1=32K,full,64", &m, &e), -1, "%s",
		e.message);
	is_int(machine_find("cachegrind:I1=16384,2,32:D1=32K,8,64:LL=1M,16,64", &m, &e), 0,
		"a cachegrind machine: %s", e.message);
	ok(m.model.flavour == MODEL_CACHEGRIND && m.model.l1i.size == 16384 &&
			m.model.l1i.ways == 2 && m.model.l1i.line == 32 &&
			m.model.l1d.size == 32768 && m.model.l2.size == 0 &&
			m.model.ll.size == 1 << 20,
		"has its geometry and semantics");
	is_int(machine_find("cachegrind", &m, &e), 0, "without figures it is this host's: %s",
		e.message);
	ok(m.model.ll.size && !machine_check_cache(&m.model.ll, MODEL_CACHEGRIND, why, sizeof(why)),
		"with a power of two of sets in LL, whatever this host's has");
	is_int(machine_find("cachegrind:D2=1,2,3", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1=", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1=16384,2", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1=16384,2,32,1", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1=0,1,64", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1=49152,8,64", &m, &e), -1, "%s", e.message);
	is_int(machine_find("cachegrind:I1=99999999999999999999999,8,64", &m, &e), -1, "%s",
		e.message);
	is_int(machine_find("cachegrind:I1=16384,0,64", &m, &e), -1, "%s", e.message);
}

int main(void)
{
	build_data();
	format();
	round_trip();
	cut_short();
	ours();
	cachegrind();
	return done();
}
