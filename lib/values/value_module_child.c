/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of a user's module. */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/table.h"
#include "values/value_module.h"

#define MEMORY  (1ull << 30) /* bytes it may use more than at its beginning */
#define SECONDS 1            /* of CPU time for a window */
#define SOCKET  3

struct chosen { /* table entry: what vp_select said of an instruction */
	struct {
		uint64_t address;
	} key;
	uint8_t bytes[INSN_BYTES], length;
	unsigned selected;
};

struct child {
	int (*version)(void);
	int (*open)(const char *text, struct vp_config *config);
	unsigned (*select)(const struct vp_insn *insn);
	void (*sample)(struct vp_context *x);
	void (*window)(struct vp_context *x);
	const char *(*name)(unsigned kind);
	const char *(*value_name)(unsigned kind, uint64_t value);
	struct table chosen;
	/* the window */
	struct value_trace *trace;
	unsigned *selected;
	uint64_t *caller;
	bool *entered;
	uint32_t count, room;
	struct vp_insn insn;
	struct vp_registers before, after;
	struct value_module_value values[VALUE_MODULE_MOST];
	uint32_t valued;
};

/* ---- what it may do ---- */

static void set_limit(int what, rlim_t value)
{
	const struct rlimit r = {value, value};

	setrlimit(what, &r);
}

static void limit_memory(void)
{
	uint64_t size = proc_own_memory(0);

	if (size)
		set_limit(RLIMIT_AS, (rlim_t)(size + MEMORY));
}

/* Nothing of ours is left to it but what it says: on standard error, with those of ssrun. */
static void enter_module(int from)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_NAME, "values");
	setpgid(0, 0); /* ^C is for ssrun */
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	dup2(from, SOCKET);
	syscall(SYS_close_range, SOCKET + 1, ~0u, 0);
	set_limit(RLIMIT_CORE, 0);
	limit_memory();
}

/* SIGPROF ends it when CPU time is over. */
static void set_timer(int seconds)
{
	const struct itimerval t = {.it_value.tv_sec = seconds};

	setitimer(ITIMER_PROF, &t, NULL);
}

/* ---- the socket: the end of ssrun is ours ---- */

static void child_read(void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t done = recv(SOCKET, at, size, 0);

		if (done <= 0)
			_exit(0);
		at += done;
		size -= (size_t)done;
	}
}

static void child_write(const void *from, size_t size)
{
	const char *at = from;

	while (size) {
		ssize_t done = send(SOCKET, at, size, MSG_NOSIGNAL);

		if (done <= 0)
			_exit(0);
		at += done;
		size -= (size_t)done;
	}
}

/* ---- the module ---- */

/* Functions and objects are of different types in ISO C. */
static void find_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	memcpy(function, &found, sizeof(found));
}

static void take_names(const struct child *c, struct value_module_hello *h)
{
	const char *name;

	for (unsigned k = 0; k < VP_KINDS; k++) {
		name = c->name ? c->name(k) : NULL;
		snprintf(h->names[k], sizeof(h->names[k]), "%s", name ? name : "");
		for (unsigned v = 0; c->value_name && v < VP_NAMED; v++) {
			name = c->value_name(k, v);
			snprintf(h->value_names[k][v], VALUE_MODULE_NAME, "%s", name ? name : "");
		}
	}
}

static bool load_module_file(
	struct child *c, const char *path, const char *text, struct value_module_hello *h)
{
	static const char *const needed[] = {"vp_version", "vp_open", "vp_select", "vp_sample"};
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(h->message, sizeof(h->message), "%s", dlerror());
		return false;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!dlsym(library, needed[i])) {
			snprintf(h->message, sizeof(h->message),
				"it has no function %s: see vprof(3)", needed[i]);
			return false;
		}
	find_function(library, "vp_version", &c->version);
	find_function(library, "vp_open", &c->open);
	find_function(library, "vp_select", &c->select);
	find_function(library, "vp_sample", &c->sample);
	find_function(library, "vp_window", &c->window);
	find_function(library, "vp_name", &c->name);
	find_function(library, "vp_value_name", &c->value_name);
	if (c->version() < 1 || c->version() > VP_VERSION) {
		snprintf(h->message, sizeof(h->message),
			"it is of version %d, this is version %d: compile it again", c->version(),
			VP_VERSION);
		return false;
	}
	if (c->open(text, &h->config)) {
		snprintf(h->message, sizeof(h->message), "its vp_open refuses '%s'", text);
		return false;
	}
	take_names(c, h);
	return true;
}

/* ---- what it calls ---- */

static void context_add(struct vp_context *x, unsigned kind, uint64_t value)
{
	struct child *c = x->host;

	if (c->valued < VALUE_MODULE_MOST)
		c->values[c->valued++] = (struct value_module_value){x->number, kind, value};
}

/* Byte for byte, what was there last. */
static bool known_byte(const struct child *c, unsigned number, uint64_t address, uint8_t *to)
{
	for (unsigned i = number + 1; i-- > 0;) {
		const struct value_trace *t = &c->trace[i];
		uint64_t offset = address - t->address;
		unsigned size = t->size < 8 ? t->size : 8;

		if (offset >= size)
			continue;
		if (i < number && t->flags & VP_STORES)
			*to = (uint8_t)(t->stored >> 8 * offset);
		else if (t->flags & VP_LOADS)
			*to = (uint8_t)(t->loaded >> 8 * offset);
		else
			continue;
		return true;
	}
	return false;
}

static int context_read(const struct vp_context *x, uint64_t address, void *to, size_t size)
{
	uint8_t *bytes = to;

	for (size_t i = 0; i < size; i++)
		if (!known_byte(x->host, x->number, address + i, &bytes[i]))
			return -1;
	return 0;
}

static int context_at(struct vp_context *x, unsigned number)
{
	struct child *c = x->host;
	const struct value_trace *t;

	if (number >= c->count)
		return -1;
	t = &c->trace[number];
	c->insn = (struct vp_insn){.address = t->pc,
		.bytes = t->bytes,
		.length = t->length,
		.flags = t->flags,
		.size = t->size,
		.result = t->result,
		.result_bits = t->result_bits};
	memcpy(&c->before, t->general, sizeof(c->before));
	memcpy(&c->after, t[1].general, sizeof(c->after));
	x->insn = &c->insn;
	x->selected = c->selected[number];
	x->number = number;
	x->count = c->count;
	x->before = &c->before;
	x->after = &c->after;
	x->address = t->address;
	x->loaded = t->loaded;
	x->stored = t->stored;
	x->next = t[1].pc;
	x->latency = t->latency;
	x->caller = c->caller[number];
	x->entered = c->entered[number];
	return 0;
}

/* ---- windows ---- */

static unsigned child_choose(struct child *c, const struct vp_insn *insn)
{
	struct chosen *found = table_add(&c->chosen, &insn->address);

	if (!found)
		_exit(1);
	if (found->length != insn->length || memcmp(found->bytes, insn->bytes, insn->length) != 0) {
		found->length = (uint8_t)insn->length;
		memcpy(found->bytes, insn->bytes, insn->length);
		found->selected = c->select(insn);
	}
	return found->selected;
}

/* The calls that functions of the window were entered by. */
static void note_callers(struct child *c)
{
	uint64_t stack[64];
	unsigned depth = 0;

	for (uint32_t i = 0; i < c->count; i++) {
		const struct value_trace *t = &c->trace[i];

		c->entered[i] = i && c->trace[i - 1].flags & VP_CALLS;
		c->caller[i] = depth && depth <= 64 ? stack[depth - 1] : 0;
		if (t->flags & VP_CALLS) {
			if (depth < 64)
				stack[depth] = t->pc;
			depth++;
		} else if (t->flags & VP_RETURNS && depth) {
			depth--;
		}
	}
}

static void make_room(struct child *c)
{
	if (c->trace && c->selected && c->caller && c->entered && c->count <= c->room)
		return;
	free(c->trace);
	free(c->selected);
	free(c->caller);
	free(c->entered);
	c->room = c->count;
	c->trace = calloc(c->room + (size_t)1, sizeof(*c->trace));
	c->selected = calloc(c->room, sizeof(*c->selected));
	c->caller = calloc(c->room, sizeof(*c->caller));
	c->entered = calloc(c->room, sizeof(*c->entered));
	if (!c->trace || !c->selected || !c->caller || !c->entered)
		_exit(1);
}

static void child_look(struct child *c)
{
	struct vp_context x = {
		.add = context_add, .read = context_read, .at = context_at, .host = c};

	c->valued = 0;
	memset(c->selected, 0, c->count * sizeof(*c->selected));
	note_callers(c);
	for (uint32_t i = 0; i < c->count; i++) {
		context_at(&x, i);
		c->selected[i] = x.selected = child_choose(c, x.insn);
		if (x.selected)
			c->sample(&x);
	}
	context_at(&x, c->count - 1);
	if (c->window)
		c->window(&x);
}

static void child_answer(struct child *c)
{
	const struct value_module_answer a = {
		VALUE_MODULE_MAGIC, c->valued, clock_of(CLOCK_PROCESS_CPUTIME_ID)};

	child_write(&a, sizeof(a));
	child_write(c->values, c->valued * sizeof(*c->values));
}

_Noreturn void value_module_child(int socket, const char *path, const char *text)
{
	struct value_module_hello *hello = calloc(1, sizeof(*hello));
	struct child *c = calloc(1, sizeof(*c));
	struct value_module_head head;

	enter_module(socket);
	if (!c || !hello)
		_exit(1);
	c->chosen = TABLE_OF(struct chosen);
	child_read(&hello->config, sizeof(hello->config));
	set_timer(10 * SECONDS);
	hello->magic = VALUE_MODULE_MAGIC;
	hello->open = load_module_file(c, path, text, hello);
	child_write(hello, sizeof(*hello));
	for (;;) {
		set_timer(0);
		child_read(&head, sizeof(head));
		if (head.magic != VALUE_MODULE_MAGIC || !head.count)
			_exit(1);
		c->count = head.count;
		make_room(c);
		child_read(c->trace, (c->count + (size_t)1) * sizeof(*c->trace));
		set_timer(SECONDS);
		child_look(c);
		child_answer(c);
	}
}
