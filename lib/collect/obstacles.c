/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/obstacles.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"
#include "collect/blocking_calls.h"
#include "collect/call_sites.h"
#include "collect/data_samples.h"
#include "experiment/data.h"
#include "experiment/file.h"

#define ROWS_MOST  4096 /* obstacles with names of a run; others have the reason and the call */
#define SITES_MOST ((size_t)1 << 16)
#define ARGUMENTS  6

enum site_state { SITE_NEW, SITE_NO_CALL, SITE_CALL, SITE_KNOWN, SITE_SEVERAL };

struct site {
	struct {
		uint64_t pc; /* after the instruction */
		uint32_t space, reserved;
	} key;
	enum site_state state;
	long number; /* of KNOWN */
};

struct futex {
	struct {
		uint64_t address;
		uint32_t space, reserved;
	} key;
	uint32_t image;
	uint64_t place; /* there */
	bool sought;
};

struct call {
	const struct obstacle_thread *thread;
	long number;
	uint64_t arguments[ARGUMENTS];
	bool blocked; /* its memory is as the call has it */
};

void obstacles_init(struct obstacles *o, const struct spaces *spaces)
{
	memset(o, 0, sizeof(*o));
	o->experiment = spaces->experiment;
	o->spaces = spaces;
	descriptors_init(&o->descriptors);
	o->sites = TABLE_OF(struct site);
	o->futexes = TABLE_OF(struct futex);
	o->processor = -1;
}

void obstacles_fini(struct obstacles *o)
{
	descriptors_fini(&o->descriptors);
	table_fini(&o->sites);
	table_fini(&o->futexes);
}

/* ---- what a call waits for ---- */

static long obstacles_row(struct obstacles *o, enum experiment_pause_reason reason,
	const char *call, const char *name, uint32_t image, uint64_t address)
{
	if (o->experiment->obstacles.count >= ROWS_MOST)
		return experiment_obstacle(o->experiment, reason, call, "", 0, 0);
	return experiment_obstacle(o->experiment, reason, call, name, image, address);
}

long obstacles_plain(struct obstacles *o, enum experiment_pause_reason reason, const char *call)
{
	return experiment_obstacle(o->experiment, reason, call, "", 0, 0);
}

long obstacles_processor(struct obstacles *o)
{
	if (o->processor < 0)
		o->processor = obstacles_plain(o, PAUSE_PROCESSOR, "");
	return o->processor;
}

long obstacles_child(struct obstacles *o, const char *call, uint64_t number)
{
	return obstacles_row(o, PAUSE_CHILD, call, "", 0, number);
}

static bool obstacles_peek(const struct call *c, uint64_t address, void *to, size_t size)
{
	return proc_peek(c->thread->process->pid, address, to, size) == size;
}

static long of_descriptor(struct obstacles *o, const struct call *c, const struct blocking_call *b,
	int number, enum experiment_pause_reason reason)
{
	const struct descriptor *d =
		descriptors_find(&o->descriptors, c->thread->process->pid, number);

	if (!d)
		return -1;
	/* It may be too late to look. A call of sockets is one anyway. */
	if (d->reason == PAUSE_UNKNOWN && reason == PAUSE_FILE)
		reason = PAUSE_CALL;
	if (d->reason != PAUSE_UNKNOWN && reason != PAUSE_POLL && reason != PAUSE_IPC)
		reason = d->reason;
	return obstacles_row(o, reason, b->name, d->name, 0, 0);
}

/* pthread_join waits while the word has the thread's number. */
static bool waits_for_end(const struct obstacles *o, const struct call *c)
{
	enum { COMMAND = 0x7f, WAIT = 0, WAIT_BITSET = 9 };
	unsigned command = (unsigned)c->arguments[1] & COMMAND;

	return c->number == SYS_futex && (command == WAIT || command == WAIT_BITSET) &&
	       spaces_has_thread(o->spaces, c->thread->process, (pid_t)c->arguments[2]);
}

/* In a variable of an image, the address is the image's. */
static long of_futex(struct obstacles *o, const struct call *c, const struct blocking_call *b)
{
	const struct process *p = c->thread->process;
	struct futex key = {.key = {c->arguments[0], p->space, 0}}, *f;
	struct experiment_object object = {0};
	uint64_t start;

	if (waits_for_end(o, c))
		return obstacles_row(
			o, b->reason, b->name, "end of thread", 0, (uint32_t)c->arguments[2]);
	if (o->futexes.count >= SITES_MOST)
		table_fini(&o->futexes);
	f = table_add(&o->futexes, &key.key);
	if (!f)
		return -1;
	if (!f->sought) {
		if (data_find(o->spaces, p, f->key.address, &object, &start))
			return -1;
		f->sought = true;
		f->image = object.key.image;
		f->place = f->key.address;
		if (f->image)
			f->place += object.key.address - start;
	}
	return obstacles_row(o, b->reason, b->name, "", f->image, f->place);
}

static long of_child(struct obstacles *o, const struct call *c, const struct blocking_call *b)
{
	int64_t number = (int32_t)c->arguments[b->at];

	if (b->at == 1 && (int)c->arguments[0] != 1 /* P_PID */)
		number = 0;
	return obstacles_row(o, b->reason, b->name, number > 0 ? "" : "any child", 0,
		number > 0 ? (uint64_t)number : 0);
}

/* Of one descriptor it is that which is waited for; without any, time. */
static long of_poll(struct obstacles *o, const struct call *c, const struct blocking_call *b)
{
	uint64_t n = c->arguments[1];
	struct pollfd one;
	char text[48];

	if (n == 0)
		return obstacles_plain(o, PAUSE_SLEEP, b->name);
	if (n == 1 && c->blocked && obstacles_peek(c, c->arguments[0], &one, sizeof(one)))
		return of_descriptor(o, c, b, one.fd, PAUSE_FILE);
	snprintf(text, sizeof(text), "%llu descriptor%s", (unsigned long long)n, n == 1 ? "" : "s");
	return obstacles_row(o, b->reason, b->name, text, 0, 0);
}

static long of_path(struct obstacles *o, const struct call *c, const struct blocking_call *b)
{
	uint64_t at = c->arguments[b->at];
	char text[256] = "";

	/* It may end before a page that cannot be read. */
	for (size_t n = sizeof(text) - 1; c->blocked && n >= 16; n /= 2)
		if (obstacles_peek(c, at, text, n)) {
			text[n] = '\0';
			break;
		}
	return obstacles_row(o, b->reason, b->name, text, 0, 0);
}

static long of_call(struct obstacles *o, const struct call *c)
{
	const struct blocking_call *b = blocking_call_find(c->number);
	char text[32];

	if (!b) {
		snprintf(text, sizeof(text), "system call %ld", c->number);
		return obstacles_plain(o, PAUSE_CALL, text);
	}
	switch (b->object) {
	case BLOCKING_DESCRIPTOR:
		return of_descriptor(o, c, b, (int)c->arguments[b->at], b->reason);
	case BLOCKING_FUTEX:
		return of_futex(o, c, b);
	case BLOCKING_CHILD:
		return of_child(o, c, b);
	case BLOCKING_POLL:
		return of_poll(o, c, b);
	case BLOCKING_PATH:
		return of_path(o, c, b);
	default:
		return obstacles_plain(o, b->reason, b->name);
	}
}

/* Does it say more of a thread that is blocked? */
static bool call_needs_memory(long number)
{
	const struct blocking_call *b = blocking_call_find(number);

	return b && (b->object == BLOCKING_POLL || b->object == BLOCKING_PATH);
}

/* ---- by registers ---- */

#if defined(__x86_64__)
/* Bits of a sample's registers: ax bx cx dx si di bp sp ip, then r8 to r15. */
enum { AX = 0, PC = 8 };
static const unsigned char argument_bits[ARGUMENTS] = {5, 4, 3, 18, 16, 17};
#elif defined(__aarch64__)
enum { X8 = 8, PC = 32 };
static const unsigned char argument_bits[ARGUMENTS] = {0, 1, 2, 3, 4, 5};
#else
enum { PC = 63 };
static const unsigned char argument_bits[ARGUMENTS];
#endif

static bool obstacle_register(const struct record_sample *s, unsigned bit, uint64_t *to)
{
	uint64_t below = ((uint64_t)1 << bit) - 1;

	if (!s->registers || !(s->register_mask >> bit & 1))
		return false;
	memcpy(to, &s->registers[__builtin_popcountll(s->register_mask & below)], sizeof(*to));
	return true;
}

/* What the code before pc says: is it a call, and of which number? It may begin a mapping. */
static void read_site(struct site *s, pid_t pid)
{
	uint8_t code[CALL_SITE_BYTES];
	size_t size = sizeof(code);

	while (size >= 4 && proc_peek(pid, s->key.pc - size, code, size) != size)
		size /= 2;
	if (size < 4)
		return;
	if (!call_site(code, size, &s->number))
		s->state = SITE_NO_CALL;
	else
		s->state = s->number < 0 ? SITE_CALL : SITE_KNOWN;
}

static struct site *obstacles_site(struct obstacles *o, const struct process *p, uint64_t pc)
{
	struct site key = {.key = {pc, p->space, 0}}, *s;

	if (o->sites.count >= SITES_MOST)
		table_fini(&o->sites);
	s = table_add(&o->sites, &key.key);
	if (s && s->state == SITE_NEW)
		read_site(s, p->pid);
	return s;
}

/* The number of the call that the thread is in; -1: unknown; -2: in none. */
static long obstacle_number(const struct site *s, const struct record_sample *sample)
{
#if defined(__x86_64__)
	uint64_t ax;

	/* The kernel has this in place of the number while the call lasts. */
	if (s->state == SITE_NO_CALL || !obstacle_register(sample, AX, &ax) ||
		ax != (uint64_t)-ENOSYS)
		return s->state == SITE_NEW ? -1 : -2;
	return s->state == SITE_KNOWN ? s->number : -1;
#elif defined(__aarch64__)
	uint64_t number;

	if (s->state == SITE_NO_CALL)
		return -2;
	return s->state == SITE_CALL && obstacle_register(sample, X8, &number) ? (long)number : -1;
#else
	(void)s;
	(void)sample;
	return -1;
#endif
}

long obstacles_by_registers(struct obstacles *o, const struct obstacle_thread *t,
	const struct record_sample *sample, bool *sure)
{
	struct call c = {.thread = t};
	const struct site *s;
	uint64_t pc;

	*sure = true;
	if (!sample->registers && sample->chain_length && t->process->mappings.count == 0)
		return obstacles_plain(o, PAUSE_KERNEL, "");
	*sure = false;
	if (!obstacle_register(sample, PC, &pc))
		return obstacles_plain(o, PAUSE_UNKNOWN, "");
	s = obstacles_site(o, t->process, pc);
	if (!s)
		return -1;
	c.number = obstacle_number(s, sample);
	if (c.number < 0)
		return obstacles_plain(o, PAUSE_UNKNOWN, "");
	for (size_t i = 0; i < ARGUMENTS; i++)
		if (!obstacle_register(sample, argument_bits[i], &c.arguments[i]))
			return obstacles_plain(o, PAUSE_UNKNOWN, "");
	*sure = !call_needs_memory(c.number);
	return of_call(o, &c);
}

/* ---- by /proc ---- */

/* Outside of a call: a fault, or stopped. */
static long obstacle_state(struct obstacles *o, const struct obstacle_thread *t)
{
	switch (proc_stat(t->tid, PROC_STAT_STATE)) {
	case 'D':
		return obstacles_plain(o, PAUSE_FAULT, "");
	case 'T':
	case 't':
		return obstacles_plain(o, PAUSE_STOPPED, "");
	default:
		return -2;
	}
}

static void obstacle_learn(struct obstacles *o, const struct process *p, uint64_t pc, long number)
{
	struct site *s = obstacles_site(o, p, pc);

	if (!s || s->state == SITE_SEVERAL)
		return;
	if (s->state == SITE_KNOWN && s->number != number) {
		s->state = SITE_SEVERAL; /* syscall(3) */
		return;
	}
	s->state = SITE_KNOWN;
	s->number = number;
}

long obstacles_by_proc(struct obstacles *o, const struct obstacle_thread *t)
{
	struct call c = {.thread = t, .blocked = true};
	unsigned long long a[ARGUMENTS], pc;
	char text[256];

	if (!proc_read(t->tid, "syscall", text, sizeof(text)))
		return -2;
	if (sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %*x %llx", &c.number, &a[0], &a[1],
		    &a[2], &a[3], &a[4], &a[5], &pc) != 2 + ARGUMENTS)
		return strncmp(text, "-1 ", 3) == 0 ? obstacle_state(o, t) : -2;
	for (size_t i = 0; i < ARGUMENTS; i++)
		c.arguments[i] = a[i];
	obstacle_learn(o, t->process, pc, c.number);
	return of_call(o, &c);
}

/* ---- at the end ---- */

static const char *kernel_name(const struct experiment *x, const struct experiment_node *n)
{
	for (size_t i = 0; i < x->symbols.count; i++) {
		const struct experiment_symbol *s = table_at(&x->symbols, i);

		if (s->key.image == n->key.image && n->key.address >= s->key.address &&
			n->key.address - s->key.address < s->length)
			return s->name;
	}
	return NULL;
}

/* What a function of the kernel waits for; UNKNOWN: that is not known. */
static enum experiment_pause_reason function_reason(const char *name)
{
	static const struct {
		const char *name;
		enum experiment_pause_reason reason;
	} functions[] = {{"exc_page_fault", PAUSE_FAULT}, {"do_user_addr_fault", PAUSE_FAULT},
		{"handle_mm_fault", PAUSE_FAULT}, {"do_page_fault", PAUSE_FAULT},
		{"handle_userfault", PAUSE_FAULT}, {"do_mem_abort", PAUSE_FAULT},
		{"do_signal_stop", PAUSE_STOPPED}, {"ptrace_stop", PAUSE_STOPPED},
		{"ptrace_stop.part.0", PAUSE_STOPPED}, {"get_signal", PAUSE_STOPPED},
		{"pipe_read", PAUSE_PIPE}, {"pipe_write", PAUSE_PIPE},
		{"anon_pipe_read", PAUSE_PIPE}, {"anon_pipe_write", PAUSE_PIPE},
		{"do_wait", PAUSE_CHILD}, {"futex_wait", PAUSE_FUTEX},
		{"do_nanosleep", PAUSE_SLEEP}, {"do_exit", PAUSE_CALL}};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(name, functions[i].name) == 0)
			return functions[i].reason;
	return PAUSE_UNKNOWN;
}

/* The call that a function of the kernel does; NULL: none. */
static const struct blocking_call *function_call(const char *name)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__arm64_sys_", "__do_sys_", "ksys_", "kernel_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], n) == 0)
			return blocking_call_named(name + n, strlen(name + n));
	}
	return NULL;
}

/* The obstacle by the kernel's frames from node on; -2: they do not show it. */
static long by_frames(struct obstacles *o, uint32_t node)
{
	const struct experiment *x = o->experiment;
	enum experiment_pause_reason reason = PAUSE_UNKNOWN;
	const struct blocking_call *call = NULL;

	for (; node != EXPERIMENT_ROOT && !call; node = experiment_node_at(x, node)->key.parent) {
		const struct experiment_node *n = experiment_node_at(x, node);
		const char *name;

		if (x->images.data[n->key.image].kind != EXPERIMENT_IMAGE_KERNEL)
			break;
		name = kernel_name(x, n);
		if (!name)
			continue;
		if (reason == PAUSE_UNKNOWN)
			reason = function_reason(name);
		call = function_call(name);
	}
	/* Without its descriptor, a call of any file is one. */
	if (reason == PAUSE_UNKNOWN && call)
		reason = call->reason == PAUSE_FILE ? PAUSE_CALL : call->reason;
	return reason == PAUSE_UNKNOWN ? -2 : obstacles_plain(o, reason, call ? call->name : "");
}

static const char *command_of(const struct experiment *x, uint64_t pid)
{
	const char *command = NULL;

	for (size_t i = 1; i < x->processes.count; i++)
		if ((uint64_t)x->processes.data[i].pid == pid)
			command = x->processes.data[i].command;
	return command;
}

static int name_child(const struct experiment *x, struct experiment_obstacle *row)
{
	const char *command = command_of(x, row->key.address);

	if (row->key.reason != PAUSE_CHILD || !row->key.address || !command)
		return 0;
	free(row->name);
	row->name = strdup(command);
	return row->name ? 0 : -1;
}

static int name_children(struct experiment *x)
{
	for (size_t i = 1; i < x->obstacles.count; i++)
		if (name_child(x, table_at(&x->obstacles, i)))
			return -1;
	return 0;
}

int obstacles_end(struct obstacles *o)
{
	struct experiment *x = o->experiment;

	for (size_t i = 0; i < x->pauses.count; i++) {
		struct experiment_pause *p = table_at(&x->pauses, i);
		long row;

		if (experiment_obstacle_at(x, p->key.obstacle)->key.reason != PAUSE_UNKNOWN)
			continue;
		row = by_frames(o, p->key.node);
		if (row == -1)
			return -1;
		if (row >= 0)
			p->key.obstacle = (uint32_t)row;
	}
	table_changed(&x->pauses);
	return experiment_drop_obstacles(x) || name_children(x) ? -1 : 0;
}
