/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles for compilers: numbers in discriminators, the order of functions, hostile names. */
#include "../tap.h"

#include "pgo/private.h"

/* As LLVM's encoder does (llvm/IR/DebugInfoMetadata.h): 0 is "1", up to 31 five bits, else twelve.
 */
static uint32_t encode_one(uint32_t v, unsigned *bits)
{
	if (v == 0) {
		*bits = 1;
		return 1;
	}
	if (v <= 0x1f) {
		*bits = 7;
		return v << 1;
	}
	*bits = 14;
	return ((v & 0xfe0) << 1 | (v & 0x1f) | 0x20) << 1;
}

static void test_discriminators(void)
{
	static const uint32_t values[] = {0, 1, 2, 31, 32, 33, 100, 4095};
	bool base = true, factor = true;

	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 8; k++) {
			unsigned first, second;
			uint32_t packed = encode_one(values[i], &first);

			packed |= encode_one(values[k], &second) << first;
			base = base && pgo_discriminator_base(packed) == values[i];
			factor = factor &&
				 pgo_discriminator_factor(packed) == (values[k] ? values[k] : 1);
		}
	ok(base, "the base of a packed discriminator");
	ok(factor, "and its factor of duplication");
	is_int(pgo_discriminator_base(0), 0, "none: base 0");
	is_int(pgo_discriminator_factor(0), 1, "none: factor 1");
}

/* Functions of 16 bytes each; a calls c most, c calls b. */
static void test_cluster(void)
{
	struct pgo_function f[] = {{.begin = 0x100, .size = 16, .name = "a", .heat = 100},
		{.begin = 0x200, .size = 16, .name = "b", .heat = 50},
		{.begin = 0x300, .size = 16, .name = "c", .heat = 400},
		{.begin = 0x400, .size = 16, .name = "d", .heat = 300},
		{.begin = 0x500, .size = 16, .name = "never"},
		{.begin = 0x600, .size = 3 << 20, .name = "huge", .heat = 1000}};
	struct pgo_code code = {0};
	struct pgo_counts c = {.branches = TABLE_OF(struct pgo_arc)};
	uint32_t *order;
	size_t count = 0;

	code.functions.data = f;
	code.functions.count = 6;
	pgo_arc_add(&c.branches, 0x108, 0x300, 40);
	pgo_arc_add(&c.branches, 0x308, 0x200, 30);
	pgo_arc_add(&c.branches, 0x108, 0x200, 20);
	pgo_arc_add(&c.branches, 0x20a, 0x204, 999); /* a loop is no call */
	pgo_arc_add(&c.branches, 0, 0x400, 7);       /* from outside */
	pgo_arc_add(&c.branches, 0x108, 0x600, 90);
	pgo_arcs_sort(&c.branches);
	order = pgo_cluster(&code, &c, &count);
	is_int((long long)count, 5, "functions without executions are left out");
	ok(order && order[0] == 3, "the densest cluster is first");
	ok(order && order[1] == 0 && order[2] == 2 && order[3] == 1,
		"callees follow their most frequent callers");
	ok(order && order[4] == 5, "a cluster does not outgrow a large page");
	free(order);
	table_fini(&c.branches);
}

static void test_counts_saturate(void)
{
	struct table t = TABLE_OF(struct pgo_arc);

	pgo_arc_add(&t, 1, 2, UINT64_MAX - 1);
	pgo_arc_add(&t, 1, 2, 5);
	pgo_arc_add(&t, 3, 4, 0);
	is_int((long long)t.count, 1, "a row of 0 is none");
	ok(pgo_arc_at(&t, 0)->count == UINT64_MAX, "counts do not wrap");
	table_fini(&t);
}

/* Instructions of four bytes with these counts, by so many bursts; a branch leaves the first one.
 */
static uint64_t tied(uint64_t *counts, size_t n, uint64_t bursts, uint64_t branch)
{
	struct pgo_code code = {0};
	struct pgo_counts c = {.branches = TABLE_OF(struct pgo_arc), .bursts = bursts};

	for (size_t i = 0; i < n; i++) {
		const struct pgo_insn insn = {
			.address = 0x100 + 4 * i, .count = counts[i], .length = 4};

		if (vec_add(&code.insns, insn))
			return 0;
	}
	pgo_arc_add(&c.branches, 0x100, 0x900, branch);
	ok(pgo_ties(&code, &c) == 0, "counts are compared");
	for (size_t i = 0; i < n; i++)
		counts[i] = code.insns.data[i].count;
	branch = pgo_arc_at(&c.branches, 0)->count;
	vec_fini(&code.insns);
	table_fini(&c.branches);
	return branch;
}

static void test_ties(void)
{
	uint64_t a[] = {148400, 0, 149174, 150826, 151600, 170000, 7, 100000};
	uint64_t b[] = {148400, 149174};
	uint64_t branch = tied(a, 8, 266, 74200);

	ok(a[0] == 150000 && a[2] == 150000 && a[3] == 150000 && a[4] == 150000,
		"what differs by chance has the mean");
	ok(a[5] == 170000 && a[7] == 100000 && a[6] == 7 && a[1] == 0, "others keep their counts");
	is_int((long long)branch, 75000, "a branch keeps its share of the instruction");
	(void)tied(b, 2, 0, 5);
	ok(b[0] == 148400 && b[1] == 149174, "without bursts nothing is known of chance");
	(void)tied(b, 2, 1000000, 5);
	ok(b[0] == 148400 && b[1] == 149174, "many bursts tell more apart");
}

int main(void)
{
	test_ties();
	test_discriminators();
	test_cluster();
	test_counts_saturate();
	ok(pgo_name_fits("_ZN3abcE.__uniq.12") && !pgo_name_fits("a b") && !pgo_name_fits("a\nb") &&
			!pgo_name_fits("") && !pgo_name_fits(NULL) && !pgo_name_fits("a\033[2J"),
		"names that would be read as other rows are left out");
	ok(pgo_format_find("llvm") && !pgo_format_find("llv"), "formats by name");
	return done();
}
