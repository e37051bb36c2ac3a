/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/probe.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/random.h"

#define LATER_NS     5e6
#define SHARED_LINES 256

typedef double (*runner)(struct rig *r, int argument);

struct probe {
	const char *name;
	runner run;
	int argument;
	bool ns;
};

/* ---- memory ---- */

/* Fewer if each takes longer. */
static size_t accesses(const struct rig *r, int place)
{
	size_t lines = r->layout[place].count;

	return lines <= 1024 ? 32768 : lines <= 8192 ? 8192 : place == PLACE_MEMORY ? 1024 : 4096;
}

/* The lines of the last level must not be in L2, where a cyclic order leaves some. */
static void probe_prepare(struct rig *r, int place)
{
	if (place == PLACE_LL)
		kernel_sweep(&r->evict, r->evict.count, 0);
}

/* What is flushed must be flushable. */
static bool have(int place)
{
	return place != PLACE_MEMORY || KERNELS_HAVE_FLUSH;
}

static double chase(struct rig *r, int place)
{
	size_t n = accesses(r, place);
	double begin;

	if (place == PLACE_MEMORY)
		kernel_flush_chase(r->at[place], n);
	probe_prepare(r, place);
	begin = rig_now_ns();
	r->at[place] = kernel_chase(r->at[place], n);
	r->own_ns = rig_now_ns() - begin;
	return have(place) ? (double)n : 0;
}

static double chains(struct rig *r, int place)
{
	size_t n = 2 * accesses(r, place);
	double begin;

	if (place == PLACE_MEMORY)
		for (int i = 0; i < CHAINS; i++)
			kernel_flush_chase(r->chains[place][i], n / CHAINS);
	probe_prepare(r, place);
	begin = rig_now_ns();
	kernel_chains(r->chains[place], n);
	r->own_ns = rig_now_ns() - begin;
	return have(place) ? (double)n : 0;
}

static double independent(struct rig *r, int place)
{
	size_t n = 2 * accesses(r, place);
	double begin;

	if (place == PLACE_MEMORY)
		kernel_flush_independent(&r->layout[place], n, r->random);
	probe_prepare(r, place);
	begin = rig_now_ns();
	kernel_independent(&r->layout[place], n, &r->random);
	r->own_ns = rig_now_ns() - begin;
	return have(place) ? (double)n : 0;
}

static double probe_sweep(struct rig *r, int place)
{
	size_t n = 4 * accesses(r, place);
	double begin;

	if (place == PLACE_MEMORY)
		kernel_flush_sweep(&r->layout[place], n, r->swept[place]);
	begin = rig_now_ns();
	r->swept[place] = kernel_sweep(&r->layout[place], n, r->swept[place]);
	r->own_ns = rig_now_ns() - begin;
	return have(place) ? (double)n : 0;
}

static double probe_stores(struct rig *r, int place)
{
	size_t n = 4 * accesses(r, place);

	r->swept[place] = kernel_sweep_stores(&r->layout[place], n, r->swept[place]);
	return (double)n;
}

static double whole_free(struct rig *r, int offset)
{
	kernel_loads_at(r->scratch, (size_t)offset, 65536);
	return 65536;
}

static double whole_chain(struct rig *r, int offset)
{
	kernel_chain_at(r->scratch + 65536, (size_t)offset, 32768);
	return 32768;
}

/* ---- core ---- */

static double probe_mix(struct rig *r, int argument)
{
	(void)argument;
	kernel_mix(r->scratch, 24 * 32768);
	return 24 * 32768;
}

/* New random bits each time: predictors learn even long series. */
static const uint8_t *conditions(struct rig *r, int random)
{
	uint64_t *words = (uint64_t *)r->coins;

	if (!random)
		return r->even;
	for (size_t i = 0; i < COINS / sizeof(*words); i++)
		words[i] = random_next(&r->random);
	return r->coins;
}

static double branches(struct rig *r, int random)
{
	const uint8_t *bytes = conditions(r, random);
	double begin = rig_now_ns();

	kernel_branches(bytes, COINS);
	r->own_ns = rig_now_ns() - begin;
	return COINS;
}

static double branches_early(struct rig *r, int random)
{
	const uint8_t *bytes = conditions(r, random);
	double begin = rig_now_ns();

	kernel_branches_early((const uint64_t *)bytes, COINS);
	r->own_ns = rig_now_ns() - begin;
	return COINS;
}

enum { SMALL, LARGE };

static double divides_chain(struct rig *r, int size)
{
	(void)r;
	kernel_divides_chain(
		size == SMALL ? 1000003 : 0xfedcba9876543210u, size == SMALL ? 1009 : 3, 8192);
	return 8192;
}

static double divides_free(struct rig *r, int size)
{
	(void)r;
	kernel_divides_free(size == SMALL ? 1000003 : 0xfedcba9876543210u, 1009, 16384);
	return 16384;
}

#define SIMPLE(name, call, n)                                                                      \
	static double name(struct rig *r, int argument)                                            \
	{                                                                                          \
		(void)r;                                                                           \
		(void)argument;                                                                    \
		call;                                                                              \
		return n;                                                                          \
	}
SIMPLE(fp_divides_chain, kernel_fp_divides_chain(16384), 16384)
SIMPLE(fp_divides_free, kernel_fp_divides_free(32768), 32768)
SIMPLE(fp_adds_chain, kernel_fp_adds_chain(65536), 65536)
SIMPLE(forward_chain, kernel_forward_chain(r->scratch + 131072, 16384), 16384)
SIMPLE(forward_fail_chain, kernel_forward_fail_chain(r->scratch + 131072, 16384), 16384)
SIMPLE(forward_free, kernel_forward_free(r->scratch + 131072, 32768), 32768)
SIMPLE(forward_fail_free, kernel_forward_fail_free(r->scratch + 131072, 32768), 32768)
SIMPLE(system_call, for (int i = 0; i < 512; i++) syscall(SYS_getppid), 512)

static double store_load(struct rig *r, int distance)
{
	kernel_store_load(r->scratch + 131072, (size_t)distance, 65536);
	return 65536;
}

static double locked(struct rig *r, int lines)
{
	kernel_locked(r->scratch + 131072, (size_t)lines, 16384);
	return 16384;
}

static double unlocked(struct rig *r, int lines)
{
	kernel_unlocked(r->scratch + 131072, (size_t)lines, 32768);
	return 32768;
}

/* A call of the code; short code several times. */
static double code(struct rig *r, int place)
{
	const struct layout *l = &r->code[place];
	size_t times = l->count ? 16384 / l->count : 0;
	void (*call)(void);

	if (!l->count)
		return 0;
	times = times ? times : 1;
	memcpy(&call, &l->base, sizeof(call));
	for (size_t i = 0; i < times; i++)
		call();
	return (double)(times * l->count);
}

/* ---- for constants of the modelled host ---- */

/* All lines in turn, so that the next round is as far from its last use as can be. */
static double scattered(struct rig *r, int argument)
{
	const size_t n = 2048;
	double begin;

	(void)argument;
	if (!r->scattered || !KERNELS_HAVE_FLUSH)
		return 0;
	kernel_flush_chase(r->scattered, n);
	begin = rig_now_ns();
	r->scattered = kernel_chase(r->scattered, n);
	r->own_ns = rig_now_ns() - begin;
	return (double)n;
}

/* The nearer levels have other lines then. */
static void ll_only(struct rig *r)
{
	for (int i = 0; i < 2; i++)
		kernel_sweep(&r->evict, r->evict.count, 0);
}

static double ll_chase_ns(struct rig *r, size_t few)
{
	double begin;

	ll_only(r);
	begin = rig_now_ns();
	kernel_chase(r->at[PLACE_LL], few);
	return rig_now_ns() - begin;
}

/*
 * Which part of the lines of the last level is gone five milliseconds after they were used, because
 * others replaced them. They are used in order, and few are looked for: a chase through all of them
 * takes as long again where most are gone, so that it would find lines of twice that age. The same
 * lines are timed again where all are there, and where none is: other memory may take longer, or
 * less, by a fifth.
 */
static double ll_gone(struct rig *r, int argument)
{
	const struct layout *l = &r->layout[PLACE_LL];
	size_t few = l->count / 16 & ~(size_t)7;
	double begin, later, there, none;

	(void)argument;
	if (!KERNELS_HAVE_FLUSH)
		return 0;
	for (int i = 0; i < 2; i++)
		kernel_sweep(l, l->count, 0);
	ll_only(r);
	for (begin = rig_now_ns(); rig_now_ns() - begin < LATER_NS;)
		kernel_adds(64000);
	later = ll_chase_ns(r, few);
	there = ll_chase_ns(r, few);
	kernel_flush_chase(r->at[PLACE_LL], few);
	none = ll_chase_ns(r, few);
	r->own_ns = none > there ? fmin(fmax((later - there) / (none - there), 0), 1) : 1;
	r->at[PLACE_LL] = kernel_chase(r->at[PLACE_LL], few);
	return 1;
}

static double decisions(struct rig *r, int taken)
{
	kernel_decisions(&r->random, taken ? UINT64_C(1) << 40 : 0, 8192);
	return 8192;
}

SIMPLE(pass, kernel_pass(r->scratch + 131072, r->scratch + 131072, 16384), 16384)
SIMPLE(pass_same, kernel_pass_same(r->scratch + 131072, 16384), 16384)
SIMPLE(pass_vector, kernel_pass_vector(r->scratch + 131072, r->scratch + 131072, 8192), 8192)
SIMPLE(addresses, kernel_addresses(16384), 16384)
SIMPLE(roots, kernel_roots(4096), 4096)
SIMPLE(returns, kernel_returns(8192), 8192)
SIMPLE(targets, kernel_targets(8192), 8192)
SIMPLE(pass_halves, kernel_pass_halves(r->scratch + 131072, r->scratch + 131072, 8192), 8192)

static double chase_scaled(struct rig *r, int argument)
{
	size_t zero = 0;

	(void)r;
	(void)argument;
	kernel_chase_scaled(&zero, 16384);
	return 16384;
}

SIMPLE(exchange, kernel_exchange(r->scratch + 131072, 64, 8192), 8192)

/* ---- two processors ---- */

struct partner {
	struct layout lines;
	bool write;
	int touched, timed; /* atomic */
};

/* Stays until we have finished: a processor without work would write back its caches. */
static void *touch(void *argument)
{
	struct partner *p = argument;

	if (p->write)
		kernel_sweep_stores(&p->lines, p->lines.count, 0);
	else
		kernel_sweep(&p->lines, p->lines.count, 0);
	__atomic_store_n(&p->touched, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&p->timed, __ATOMIC_ACQUIRE))
		;
	return NULL;
}

static bool on_cpu(int cpu, void *(*run)(void *), void *argument, pthread_t *thread)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int rc;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_attr_init(&attr))
		return false;
	rc = pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	if (rc == 0)
		rc = pthread_create(thread, &attr, run, argument);
	pthread_attr_destroy(&attr);
	return rc == 0;
}

/* The other processor writes, or reads, lines; then we read, or write, them. Only our part is
 * timed. */
enum transfer {
	TRANSFER_CHASE,
	TRANSFER_FREE,
	TRANSFER_SWEEP,
	SHARED_STORE,
	SHARED_LOCK,
	OWN_STORE,
	OWN_LOCK
};

static double transfer(struct rig *r, int what)
{
	struct partner p = {
		.lines = {r->scratch + 262144, SHARED_LINES, 64}, .write = what <= TRANSFER_SWEEP};
	pthread_t thread;
	uint64_t seed = 0;
	double begin;

	if (r->other_cpu < 0)
		return 0;
	if (!((struct node *)p.lines.base)->next[0])
		kernel_chain_build(&p.lines, 0, &r->random);
	if (!p.write) /* ours, modified: the other's reading makes them shared */
		kernel_sweep_stores(&p.lines, SHARED_LINES, 0);
	if (what < OWN_STORE) {
		if (!on_cpu(r->other_cpu, touch, &p, &thread))
			return 0;
		while (!__atomic_load_n(&p.touched, __ATOMIC_ACQUIRE))
			;
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	begin = rig_now_ns();
	switch (what) {
	case TRANSFER_CHASE:
		kernel_chase(p.lines.base, SHARED_LINES);
		break;
	case TRANSFER_FREE:
		kernel_independent(&p.lines, SHARED_LINES, &seed);
		break;
	case TRANSFER_SWEEP:
		kernel_sweep(&p.lines, SHARED_LINES, 0);
		break;
	case SHARED_STORE:
	case OWN_STORE:
		kernel_sweep_stores(&p.lines, SHARED_LINES, 0);
		break;
	default:
		kernel_locked(p.lines.base + 56, SHARED_LINES, SHARED_LINES);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* stores have completed, too */
	r->own_ns = rig_now_ns() - begin;
	if (what < OWN_STORE) {
		__atomic_store_n(&p.timed, 1, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
	}
	return SHARED_LINES;
}

/* ---- the kernel ---- */

enum fault { FAULT_WRITE, FAULT_ZERO, FAULT_COPY };

static double fault(struct rig *r, int kind)
{
	enum { PAGES = 128, SIZE = 4096 };
	char *p = mmap(
		NULL, PAGES * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct layout l = {p, PAGES, SIZE};
	double begin;

	if (p == MAP_FAILED)
		return 0;
	madvise(p, PAGES * SIZE, MADV_NOHUGEPAGE);
	if (kind == FAULT_COPY) /* of the page of zeros */
		kernel_sweep(&l, PAGES, 0);
	begin = rig_now_ns();
	if (kind == FAULT_ZERO)
		kernel_sweep(&l, PAGES, 0);
	else
		kernel_sweep_stores(&l, PAGES, 0);
	r->own_ns = rig_now_ns() - begin;
	munmap(p, PAGES * SIZE);
	return PAGES;
}

#define ROUND_TRIPS 64

static double pipe_alone(struct rig *r, int argument)
{
	char c = 0;

	(void)argument;
	for (int i = 0; i < ROUND_TRIPS; i++)
		if (write(r->pipe_out[1], &c, 1) != 1 || read(r->pipe_out[0], &c, 1) != 1)
			return 0;
	return ROUND_TRIPS;
}

static void *probe_answer(void *argument)
{
	struct rig *r = argument;
	char c;

	for (int i = 0; i <= ROUND_TRIPS; i++)
		if (read(r->pipe_out[0], &c, 1) != 1 || write(r->pipe_back[1], &c, 1) != 1)
			break;
	return NULL;
}

/* Two threads on one processor, each waiting for the other: a switch per direction. */
static double context_switch(struct rig *r, int argument)
{
	pthread_t thread;
	double begin = 0;
	char c = 0;

	(void)argument;
	if (r->cpu < 0 || !on_cpu(r->cpu, probe_answer, r, &thread))
		return 0;
	for (int i = 0; i <= ROUND_TRIPS; i++) {
		if (i == 1)
			begin = rig_now_ns();
		if (write(r->pipe_out[1], &c, 1) != 1 || read(r->pipe_back[0], &c, 1) != 1)
			break;
	}
	r->own_ns = rig_now_ns() - begin;
	pthread_join(thread, NULL);
	return 2 * ROUND_TRIPS;
}

/* ---- the table: rows of one shape, one per probe ---- */

/* clang-format off */
#define PLACES(base, run) \
	[base + PLACE_L1] = {"first-level cache", run, PLACE_L1, false}, \
	[base + PLACE_L2] = {"second-level cache", run, PLACE_L2, false}, \
	[base + PLACE_LL] = {"last-level cache", run, PLACE_LL, false}, \
	[base + PLACE_MEMORY] = {"memory", run, PLACE_MEMORY, false}
#define ALL_PLACES(base, run) \
	PLACES(base, run), \
	[base + PLACE_STLB] = {"second-level TLB", run, PLACE_STLB, false}, \
	[base + PLACE_WALK] = {"page walks", run, PLACE_WALK, false}, \
	[base + PLACE_WALK_PACKED] = {"page walks", run, PLACE_WALK_PACKED, false}
#define CODE(place) [PROBE_CODE + place] = {"instruction fetch", code, place, false}

static const struct probe probe_table[PROBE_COUNT] = {
	[PROBE_MIX] = {"instructions", .run = probe_mix},
	ALL_PLACES(PROBE_CHASE, chase),
	ALL_PLACES(PROBE_CHAINS, chains),
	ALL_PLACES(PROBE_FREE, independent),
	ALL_PLACES(PROBE_SWEEP, probe_sweep),
	PLACES(PROBE_STORES, probe_stores),
	[PROBE_BRANCH_RANDOM] = {"branch misprediction", branches, .argument = 1},
	[PROBE_BRANCH_EVEN] = {"branch misprediction", .run = branches},
	[PROBE_EARLY_RANDOM] = {"branch misprediction", branches_early, .argument = 1},
	[PROBE_EARLY_EVEN] = {"branch misprediction", .run = branches_early},
	[PROBE_DIVIDE_CHAIN_SMALL] = {"divide", divides_chain, .argument = SMALL},
	[PROBE_DIVIDE_CHAIN_LARGE] = {"divide", divides_chain, .argument = LARGE},
	[PROBE_DIVIDE_FREE] = {"divide", divides_free, .argument = SMALL},
	[PROBE_FP_DIVIDE_CHAIN] = {"floating divide", .run = fp_divides_chain},
	[PROBE_FP_DIVIDE_FREE] = {"floating divide", .run = fp_divides_free},
	[PROBE_FP_ADD_CHAIN] = {"floating add", .run = fp_adds_chain},
	[PROBE_FORWARD_CHAIN] = {"store forwarding", .run = forward_chain},
	[PROBE_FORWARD_FAIL_CHAIN] = {"store forwarding", .run = forward_fail_chain},
	[PROBE_FORWARD_FREE] = {"store forwarding", .run = forward_free},
	[PROBE_FORWARD_FAIL_FREE] = {"store forwarding", .run = forward_fail_free},
	[PROBE_ALIAS] = {"4K aliasing", store_load, .argument = 4096},
	[PROBE_NO_ALIAS] = {"4K aliasing", store_load, .argument = 4096 + 2048},
	[PROBE_WHOLE_FREE] = {"split accesses", .run = whole_free},
	[PROBE_SPLIT_FREE] = {"split accesses", whole_free, .argument = 60},
	[PROBE_WHOLE_CHAIN] = {"split accesses", .run = whole_chain},
	[PROBE_SPLIT_CHAIN] = {"split accesses", whole_chain, .argument = 60},
	[PROBE_LOCK_CHAIN] = {"locked instructions", locked, .argument = 1},
	[PROBE_LOCK_FREE] = {"locked instructions", locked, .argument = 32},
	[PROBE_UNLOCKED_CHAIN] = {"locked instructions", unlocked, .argument = 1},
	[PROBE_UNLOCKED_FREE] = {"locked instructions", unlocked, .argument = 32},
	CODE(CODE_STRAIGHT_L1), CODE(CODE_STRAIGHT_L2), CODE(CODE_STRAIGHT_LL), CODE(CODE_JUMPS_L1),
	CODE(CODE_JUMPS_L2), CODE(CODE_JUMPS_STLB), CODE(CODE_JUMPS_WALK), CODE(CODE_JUMPS_WALK_PACKED),
	[PROBE_TRANSFER_CHASE] = {"lines of another core", transfer, .argument = TRANSFER_CHASE},
	[PROBE_TRANSFER_FREE] = {"lines of another core", transfer, .argument = TRANSFER_FREE},
	[PROBE_TRANSFER_SWEEP] = {"lines of another core", transfer, .argument = TRANSFER_SWEEP},
	[PROBE_SHARED_STORE] = {"shared lines", transfer, .argument = SHARED_STORE},
	[PROBE_SHARED_LOCK] = {"shared lines", transfer, .argument = SHARED_LOCK},
	[PROBE_OWN_STORE] = {"shared lines", transfer, .argument = OWN_STORE},
	[PROBE_OWN_LOCK] = {"shared lines", transfer, .argument = OWN_LOCK},
	[PROBE_FAULT] = {"page faults", fault, FAULT_WRITE, true},
	[PROBE_ZERO_FAULT] = {"page faults", fault, FAULT_ZERO, true},
	[PROBE_COPY_FAULT] = {"page faults", fault, FAULT_COPY, true},
	[PROBE_SYSTEM_CALL] = {"system calls", system_call, 0, true},
	[PROBE_PIPE] = {"system calls", pipe_alone, 0, true},
	[PROBE_SWITCH] = {"context switches", context_switch, 0, true},
	[PROBE_SCATTERED] = {"memory", .run = scattered},
	[PROBE_LL_GONE] = {"last-level cache", ll_gone, 0, true},
	[PROBE_DECISIONS] = {"branch misprediction", decisions, .argument = 1},
	[PROBE_NO_DECISIONS] = {"branch misprediction", .run = decisions},
	[PROBE_PASS] = {"store forwarding", .run = pass},
	[PROBE_PASS_HALVES] = {"store forwarding", .run = pass_halves},
	[PROBE_PASS_SAME] = {"store forwarding", .run = pass_same},
	[PROBE_PASS_VECTOR] = {"store forwarding", .run = pass_vector},
	[PROBE_CHASE_SCALED] = {"first-level cache", .run = chase_scaled},
	[PROBE_ADDRESSES] = {"instructions", .run = addresses},
	[PROBE_ROOTS] = {"square root", .run = roots},
	[PROBE_RETURNS] = {"taken branches", .run = returns},
	[PROBE_TARGETS] = {"taken branches", .run = targets},
	[PROBE_DIVIDE_FREE_LARGE] = {"divide", divides_free, .argument = LARGE},
	[PROBE_EXCHANGE] = {"locked instructions", .run = exchange},
};
/* clang-format on */

double probe_run(struct rig *r, int number)
{
	r->own_ns = -1;
	return probe_table[number].run(r, probe_table[number].argument);
}

void probe_warm(struct rig *r, int number)
{
	int place = probe_table[number].argument;

	if (number >= PROBE_CHASE && number < PROBE_STORES + 4 && place != PLACE_MEMORY)
		for (int i = 0; i < 2; i++)
			kernel_sweep(&r->layout[place], r->layout[place].count, 0);
	else
		probe_run(r, number);
}

bool probe_in_cycles(int number)
{
	return !probe_table[number].ns;
}

const char *probe_name(int number)
{
	return probe_table[number].name;
}
