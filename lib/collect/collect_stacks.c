/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame costs two lookups: the meaning of its address in the address space (places), and the
 * node under its caller's. Consecutive samples of a thread share most of their paths, so only
 * the frames inside the shared part are looked up.
 */
#include "collect/collect_stacks.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/proc.h"

/* All registers with DWARF numbers; the values of sample_regs_user's bits. */
#if defined(__x86_64__)
#define MACHINE   IMAGE_X86_64
#define REGISTERS 0xff01ffu
#elif defined(__aarch64__)
#define MACHINE   IMAGE_AARCH64
#define REGISTERS 0x1ffffffffu
#else
#define MACHINE   IMAGE_OTHER
#define REGISTERS 0u
#endif

/* Places of old address spaces are kept: beyond this number, the table is emptied. */
#define PLACES_MAX ((size_t)1 << 20)

struct place {
	struct {
		uint64_t pc;
		uint32_t space, reserved;
	} key;
	bool sought, known;
	uint32_t image; /* in the experiment */
	uint64_t address;
};

uint64_t stacks_registers(void)
{
	return REGISTERS;
}

void stacks_init(struct stacks *s, struct spaces *spaces)
{
	memset(s, 0, sizeof(*s));
	s->spaces = spaces;
	s->machine = MACHINE;
	s->places = (struct table){.entry_size = sizeof(struct place),
		.key_size = sizeof(((struct place *)NULL)->key)};
}

void stacks_fini(struct stacks *s)
{
	if (s->unwinder)
		unwind_free(s->unwinder);
	s->unwinder = NULL;
	table_fini(&s->places);
}

/* ---- one address ----------------------------------------------------------------------------- */

static int stack_find_place(struct stacks *s, struct process *p, struct place *place)
{
	const struct mapping *m = spaces_find(p, place->key.pc);
	struct collect_images *images = s->spaces->images;
	long image;

	place->sought = true;
	place->known = m != NULL;
	if (!m && s->python && python_is_code(s->python, p->pid, place->key.pc, &place->image)) {
		place->known = true;
		place->address = place->key.pc;
	}
	if (!m)
		return 0;
	image = m->image;
	if (images_look(images, (size_t)image))
		return -1;
	place->address = spaces_address(s->spaces, m, place->key.pc);
	if (images->list.data[image].identity.kind == EXPERIMENT_IMAGE_ANONYMOUS) {
		/* After a fork, the mapping is still the parent's. */
		image = images_anonymous(images, p->pid);
		p->jitted = true;
	}
	if (image >= 0)
		image = images_register(images, (size_t)image, s->spaces->experiment);
	place->image = (uint32_t)image;
	return image < 0 ? -1 : 0;
}

/* The meaning of pc to the process; valid until the next call. NULL: memory is out. */
static const struct place *stack_place_of(struct stacks *s, struct process *p, uint64_t pc)
{
	struct place key = {.key = {.pc = pc, .space = p->space}}, *place;

	if (s->places.count >= PLACES_MAX)
		table_fini(&s->places);
	place = table_add(&s->places, &key.key);
	if (place && !place->sought && stack_find_place(s, p, place)) {
		place->sought = false;
		return NULL;
	}
	return place;
}

static long user_node(
	struct stacks *s, struct process *p, uint32_t parent, uint64_t pc, bool *known)
{
	const struct place *place = stack_place_of(s, p, pc);

	if (!place)
		return -1;
	*known = place->known;
	return experiment_node(s->spaces->experiment, parent, place->image, place->address);
}

static long kernel_node(struct stacks *s, uint32_t parent, uint64_t pc)
{
	struct experiment *x = s->spaces->experiment;
	long image = images_kernel(s->spaces->images);

	if (image >= 0)
		image = images_register(s->spaces->images, (size_t)image, x);
	return image < 0 ? -1 : experiment_node(x, parent, (uint32_t)image, pc);
}

static unsigned mode_of(const struct record *r)
{
	return r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
}

struct stack_node stacks_flat(struct stacks *s, struct process *p, const struct record *r)
{
	struct stack_node n = {0};
	bool known = true;

	if (mode_of(r) == PERF_RECORD_MISC_KERNEL) {
		n.node = kernel_node(s, EXPERIMENT_ROOT, r->sample.ip);
	} else if (mode_of(r) == PERF_RECORD_MISC_USER) {
		n.node = user_node(s, p, EXPERIMENT_ROOT, r->sample.ip, &known);
	} else { /* of a guest: its addresses are unknown */
		known = false;
		n.node = experiment_node(s->spaces->experiment, EXPERIMENT_ROOT, 0, 0);
	}
	n.unmapped = !known;
	return n;
}

/* ---- callers --------------------------------------------------------------------------------- */

struct find {
	struct stacks *stacks;
	struct process *process;
};

static struct image *stack_find_image(void *context, uint64_t pc, uint64_t *bias)
{
	struct find *f = context;
	struct spaces *spaces = f->stacks->spaces;
	const struct mapping *m = spaces_find(f->process, pc);

	if (!m || images_look(spaces->images, m->image))
		return NULL;
	*bias = pc - spaces_address(spaces, m, pc);
	return images_open(spaces->images, m->image);
}

/* Of a process that runs. */
static size_t stack_code(void *context, uint64_t pc, uint8_t *bytes, size_t size)
{
	const struct find *f = context;

	return proc_peek(f->process->pid, pc, bytes, size);
}

/* By call frame rules; returns the number of pcs, innermost first. */
static size_t unwind_sample(
	struct stacks *s, struct process *p, const struct record_sample *sample, bool *complete)
{
	struct unwind_state state = {.space = p->space,
		.stack = sample->stack,
		.stack_size = sample->stack_size,
		.code = s->python ? stack_code : NULL};
	struct find find = {s, p};
	int whole = 0;
	size_t n;

	if (!s->unwinder)
		s->unwinder = unwind_new(NULL);
	if (!s->unwinder)
		return 0;
	unwind_from_perf(&state, s->machine, sample->register_mask, sample->registers);
	state.stack_address = state.registers[s->machine == IMAGE_AARCH64 ? 31 : 7];
	n = unwind(s->unwinder, &state, stack_find_image, &find, s->pcs, STACK_DEPTH, &whole,
		&s->interrupted);
	*complete = whole != 0;
	return n;
}

/* The kernel's chain: the part after PERF_CONTEXT_USER, or _KERNEL. */
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

/* ---- paths ----------------------------------------------------------------------------------- */

/* The number of frames from `at` on that two paths share. */
static size_t stack_shared(const uint64_t *a, const uint64_t *b, size_t at, size_t count)
{
	size_t i = at;

	while (i < count && a[i] == b[i])
		i++;
	return i - at;
}

static size_t stack_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * A chain of frame pointers may end outside of code: frames beyond are wrong. Frames before
 * `known` are those of the last path, which was cut at last.cut; the innermost is not a caller and
 * is kept. -1: memory is out.
 */
static int cut_path(struct stacks *s, struct process *p, struct stack_path *path, size_t known)
{
	for (size_t i = path->users ? path->users - 1 : 0; i > known; i--) {
		const struct place *place = stack_place_of(s, p, path->pcs[i - 1]);

		if (!place)
			return -1;
		if (!place->known) {
			path->cut = i;
			return 0;
		}
		s->found[i - 1].image = place->image;
		s->found[i - 1].address = place->address;
	}
	return 0;
}

/* Nodes from frame `at` on; that of the innermost, or -1. */
static long add_nodes(
	struct stacks *s, struct process *p, struct stack_path *path, size_t at, bool *known)
{
	size_t count = path->users + path->kernels;
	long node = at > path->cut ? (long)path->nodes[at - 1] : EXPERIMENT_ROOT;

	for (size_t i = at > path->cut ? at : path->cut; i < count; i++) {
		uint32_t parent = (uint32_t)node;

		if (i + 1 < path->users)
			node = experiment_node(s->spaces->experiment, parent, s->found[i].image,
				s->found[i].address);
		else if (i < path->users)
			node = user_node(s, p, parent, path->pcs[i], known);
		else
			node = kernel_node(s, parent, path->pcs[i]);
		if (node < 0)
			return -1;
		path->nodes[i] = (uint32_t)node;
	}
	return node;
}

/* The last path of a thread; or of one of those that share its place. */
static struct stack_path *stack_path_of(struct stacks *s, const struct process *p, pid_t tid)
{
	return &s->last[(3 * p->space + (uint32_t)tid) % STACK_PATHS];
}

/* The node of s->pcs (users of them) that is the parent of the kernel's. */
static long path_node(struct stacks *s, struct process *p, pid_t tid, size_t users,
	const uint64_t *kernel, size_t kernels, struct stack_node *n)
{
	struct stack_path *last = stack_path_of(s, p, tid);
	size_t users_then = last->users, kernels_then = last->kernels, at = 0;
	uint64_t pcs[STACK_DEPTH * 2];
	bool known = true;
	long node;

	for (size_t i = 0; i < users; i++) {
		bool caller = i > 0 && !(i < 64 && (s->interrupted >> i & 1));

		pcs[users - 1 - i] = s->pcs[i] - caller;
	}
	for (size_t i = 0; i < kernels; i++)
		pcs[users + kernels - 1 - i] = kernel[i] - (i > 0);
	if (last->space == p->space)
		at = stack_shared(pcs, last->pcs, 0, stack_least(users, users_then));
	if (at == users && users == users_then && kernels)
		at += stack_shared(
			pcs, last->pcs, users, users + stack_least(kernels, kernels_then));
	else if (at == users || at == users_then) /* the last caller may not be code */
		at -= at > 0;
	if (at < last->cut || last->space != p->space)
		at = last->cut = 0;
	memcpy(last->pcs + at, pcs + at, (users + kernels - at) * sizeof(pcs[0]));
	last->users = users;
	last->kernels = kernels;
	last->space = 0; /* until it is complete */
	if (cut_path(s, p, last, at))
		return -1;
	node = add_nodes(s, p, last, at, &known);
	if (node >= 0)
		last->space = p->space;
	n->unmapped = !kernels && !known;
	n->broken = last->cut > 0;
	return node;
}

struct stack_node stacks_path(struct stacks *s, struct process *p, const struct record *r)
{
	const struct record_sample *sample = &r->sample;
	struct stack_node n = {0};
	uint64_t kernel[STACK_DEPTH / 4];
	size_t users, kernels = 0;
	bool complete = true, in_kernel = mode_of(r) == PERF_RECORD_MISC_KERNEL;

	if (!in_kernel && mode_of(r) != PERF_RECORD_MISC_USER)
		return stacks_flat(s, p, r);
	s->interrupted = 0;
	if (sample->registers && sample->stack)
		users = unwind_sample(s, p, sample, &complete);
	else
		users = chain_part(sample, (uint64_t)PERF_CONTEXT_USER, s->pcs, STACK_DEPTH);
	if (s->python && users) {
		long merged =
			python_merge(s->python, p, r->tid, r->time, s->pcs, users, STACK_DEPTH);

		if (merged < 0)
			return (struct stack_node){.node = -1};
		users = (size_t)merged;
	}
	if (in_kernel)
		kernels = chain_part(sample, (uint64_t)PERF_CONTEXT_KERNEL, kernel,
			sizeof(kernel) / sizeof(kernel[0]));
	if (!users && !kernels)
		return stacks_flat(s, p, r);
	/* The sample's own address waited, even if its chain begins elsewhere or is empty. */
	if (in_kernel) {
		kernel[0] = sample->ip;
		kernels += kernels == 0;
	} else {
		s->pcs[0] = sample->ip;
	}
	n.node = path_node(s, p, r->tid, users, kernel, kernels, &n);
	n.broken = n.broken || !complete;
	return n;
}
