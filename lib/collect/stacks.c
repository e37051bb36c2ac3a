/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/stacks.h"

#include <linux/perf_event.h>
#include <string.h>

/* All registers that DWARF numbers have names for; the values of sample_regs_user's bits. */
#if defined(__x86_64__)
#define MACHINE   IMAGE_X86_64
#define REGISTERS 0xff01ffu
#define SP        7
#elif defined(__aarch64__)
#define MACHINE   IMAGE_AARCH64
#define REGISTERS 0x1ffffffffu
#define SP        31
#else
#define MACHINE   IMAGE_OTHER
#define REGISTERS 0u
#define SP        0
#endif

uint64_t stacks_registers(void)
{
	return REGISTERS;
}

void stacks_init(struct stacks *s, struct spaces *spaces)
{
	memset(s, 0, sizeof(*s));
	s->spaces = spaces;
}

void stacks_fini(struct stacks *s)
{
	if (s->unwinder)
		unwinder_free(s->unwinder);
	s->unwinder = NULL;
}

static long add_node(struct stacks *s, uint32_t parent, long image, uint64_t address)
{
	struct experiment *x = s->spaces->experiment;
	long index = image < 0 ? -1 : images_register(s->spaces->images, (size_t)image, x);

	return index < 0 ? -1 : experiment_node(x, parent, (uint32_t)index, address);
}

/* callers: pc is a return address, so the call is before it. */
static long user_node(
	struct stacks *s, struct process *p, uint32_t parent, uint64_t pc, bool caller, bool *known)
{
	const struct mapping *m = spaces_find(p, caller ? pc - 1 : pc);
	uint64_t address;
	long image;

	*known = m != NULL;
	if (!m)
		return experiment_node(s->spaces->experiment, parent, 0, 0);
	image = m->image;
	address = spaces_address(s->spaces, m, caller ? pc - 1 : pc);
	if (s->spaces->images->list.data[image].identity.kind == EXPERIMENT_IMAGE_ANONYMOUS) {
		/* After a fork the mapping is the parent's still. */
		image = images_anonymous(s->spaces->images, p->pid);
		p->jitted = true;
	}
	return add_node(s, parent, image, address);
}

static long kernel_node(struct stacks *s, uint32_t parent, uint64_t pc)
{
	return add_node(s, parent, images_kernel(s->spaces->images), pc);
}

static bool in_kernel(const struct record *r)
{
	return (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

struct stack_node stacks_flat(struct stacks *s, struct process *p, const struct record *r)
{
	struct stack_node n = {0};
	bool known = true;

	if (in_kernel(r))
		n.node = kernel_node(s, EXPERIMENT_ROOT, r->sample.ip);
	else
		n.node = user_node(s, p, EXPERIMENT_ROOT, r->sample.ip, false, &known);
	n.unmapped = !known;
	return n;
}

/* ---- call paths ------------------------------------------------------------------------------ */

struct find {
	struct stacks *stacks;
	struct process *process;
};

static struct image *find_image(void *context, uint64_t pc, uint64_t *bias)
{
	struct find *f = context;
	const struct mapping *m = spaces_find(f->process, pc);

	if (!m)
		return NULL;
	*bias = pc - spaces_address(f->stacks->spaces, m, pc);
	return images_open(f->stacks->spaces->images, m->image);
}

/* By call frame rules; how many pcs, innermost first. */
static size_t unwind_sample(
	struct stacks *s, struct process *p, const struct record_sample *sample, bool *complete)
{
	struct unwind_state state = {.stack = sample->stack, .stack_size = sample->stack_size};
	struct find find = {s, p};
	int whole = 0;
	size_t n;

	if (!s->unwinder)
		s->unwinder = unwinder_new(NULL);
	if (!s->unwinder)
		return 0;
	unwind_from_perf(&state, MACHINE, REGISTERS, sample->registers);
	state.stack_address = state.registers[SP];
	n = unwind(s->unwinder, &state, find_image, &find, s->pcs, STACK_DEPTH, &whole,
		&s->interrupted);
	*complete = whole != 0;
	return n;
}

/* The kernel's chain: what is behind PERF_CONTEXT_USER, or _KERNEL. */
static size_t chain_part(
	const struct record_sample *sample, uint64_t context, uint64_t *pcs, size_t room)
{
	uint64_t now = 0;
	size_t n = 0;

	for (size_t i = 0; i < sample->chain_length && n < room; i++) {
		uint64_t word = sample->chain[i];

		if (word >= (uint64_t)PERF_CONTEXT_MAX)
			now = word;
		else if (now == context)
			pcs[n++] = word;
	}
	return n;
}

struct stack_node stacks_path(struct stacks *s, struct process *p, const struct record *r)
{
	const struct record_sample *sample = &r->sample;
	struct stack_node n = {.node = EXPERIMENT_ROOT};
	uint64_t kernel[STACK_DEPTH / 4];
	size_t users, kernels = 0;
	bool complete = true, known = true, leaf = !in_kernel(r);

	s->interrupted = 0;
	if (sample->registers && sample->stack)
		users = unwind_sample(s, p, sample, &complete);
	else
		users = chain_part(sample, (uint64_t)PERF_CONTEXT_USER, s->pcs, STACK_DEPTH);
	if (!leaf)
		kernels = chain_part(sample, (uint64_t)PERF_CONTEXT_KERNEL, kernel,
			sizeof(kernel) / sizeof(kernel[0]));
	if (!users && !kernels)
		return stacks_flat(s, p, r);
	/* A chain of frame pointers may end in what is no code: what is beyond is not true. */
	for (size_t i = 1; i < users; i++)
		if (!spaces_find(p, s->pcs[i] - 1)) {
			users = i;
			complete = false;
		}
	for (size_t i = users; i-- > 0 && n.node >= 0;) {
		bool caller = i > 0 && !(i < 64 && (s->interrupted >> i & 1));

		n.node = user_node(s, p, (uint32_t)n.node, s->pcs[i], caller, &known);
	}
	for (size_t i = kernels; i-- > 0 && n.node >= 0;)
		n.node = kernel_node(s, (uint32_t)n.node, kernel[i] - (i > 0));
	n.unmapped = leaf && !known;
	n.broken = !complete;
	return n;
}
