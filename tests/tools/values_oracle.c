/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values_oracle WINDOWS LENGTH COMMAND...: stops the command at random moments, interprets LENGTH
 * instructions from outside (lib/values), then lets the thread execute as many by single steps, and
 * compares all registers: general ones, flags, x87, vectors and masks. A window may begin where the
 * one before ended. Standard output of the command is dropped. Prints one line; the exit status is
 * 1 if a window differed.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "values/values.h"

#define ROW        24 /* windows that follow each other */
#define FLAGS      0xcd5u
#define MOMENT_NS  3000000u
#define SHOWN      8
#define COMPONENTS 8

struct oracle {
	struct values *v;
	struct value_window window;
	pid_t pid;
	int memory;
	struct user_regs_struct before, after;
	_Alignas(64) uint8_t state[VALUES_STATE], own[VALUES_STATE];
	unsigned long windows, instructions, differ, ends[VALUES_ROOM + 1], seen;
	uint64_t chance;
	int deliver; /* a signal that came between single steps */
};

static uint64_t draw(struct oracle *o)
{
	o->chance ^= o->chance << 13;
	o->chance ^= o->chance >> 7;
	o->chance ^= o->chance << 17;
	return o->chance * 0x2545f4914f6cdd1du >> 16;
}

static size_t get_state(pid_t pid, void *to)
{
	struct iovec io = {to, VALUES_STATE};

	return ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &io) == 0 ? io.iov_len : 0;
}

static void show_instruction(const struct oracle *o, uint64_t at, const char *what)
{
	uint8_t bytes[15] = {0};

	if (pread(o->memory, bytes, sizeof(bytes), (off_t)at) <= 0)
		return;
	fprintf(stderr, "%s at %" PRIx64 ":", what, at);
	for (size_t k = 0; k < sizeof(bytes); k++)
		fprintf(stderr, " %02x", bytes[k]);
	fputc('\n', stderr);
}

/* Registers of x87 without the addresses of its last instruction and operand; then components. */
static bool states_differ(const uint8_t *a, const uint8_t *b)
{
	if (memcmp(a, b, 5) || memcmp(a + 24, b + 24, 4) || memcmp(a + 160, b + 160, 256))
		return true;
	for (int k = 0; k < 8; k++)
		if (memcmp(a + 32 + 16 * k, b + 32 + 16 * k, 10))
			return true;
	for (unsigned k = 2; k < COMPONENTS; k++) {
		unsigned size, at, c, d;

		__cpuid_count(0xd, k, size, at, c, d);
		if (size && k != 3 && k != 4 && memcmp(a + at, b + at, size))
			return true;
	}
	return false;
}

static bool compare(struct oracle *o, size_t size)
{
	struct user_regs_struct own = o->before;
	const uint64_t *a, *b;
	bool differ = false;

	values_registers(o->v, &own, o->own);
	own.eflags = (own.eflags & FLAGS) | (o->after.eflags & ~(uint64_t)FLAGS);
	own.orig_rax = o->after.orig_rax;
	a = (const uint64_t *)(const void *)&own;
	b = (const uint64_t *)(const void *)&o->after;
	for (size_t k = 0; k < sizeof(own) / sizeof(*a); k++)
		if (a[k] != b[k] && o->differ < SHOWN) {
			fprintf(stderr,
				"register %zu: %" PRIx64 ", and by single steps %" PRIx64 "\n", k,
				a[k], b[k]);
		}
	differ = memcmp(&own, &o->after, sizeof(own)) != 0;
	if (states_differ(o->own, o->state)) {
		fprintf(stderr, "extended state of %zu bytes differs\n", size);
		differ = true;
	}
	return differ;
}

/* -1: it has ended. */
static int stop_of(struct oracle *o, int *status)
{
	while (waitpid(o->pid, status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSTOPPED(*status) ? 0 : -1;
}

static int step(struct oracle *o)
{
	int status;

	for (;;) {
		if (ptrace(PTRACE_SINGLESTEP, o->pid, NULL, NULL) != 0 || stop_of(o, &status))
			return -1;
		if (WSTOPSIG(status) == SIGTRAP)
			return 0;
		o->deliver = WSTOPSIG(status);
		return 1;
	}
}

/* 1: another window may follow. */
static int one_window(struct oracle *o)
{
	struct values_thread thread = {
		.pid = o->pid, .memory = o->memory, .registers = &o->before, .state = o->state};
	int rc;

	if (ptrace(PTRACE_GETREGS, o->pid, NULL, &o->before) != 0)
		return -1;
	thread.size = get_state(o->pid, o->state);
	if (!thread.size || (long)o->before.orig_rax >= 0)
		return 0;
	if (!values_interpret(o->v, &thread, &o->window)) {
		o->ends[o->window.end]++;
		return 0;
	}
	o->ends[o->window.end]++;
	if (getenv("REFUSED") && o->window.end == VALUES_REFUSED)
		show_instruction(o, o->window.at, "refused");
	if (getenv("REFUSED") && o->window.end == VALUES_FAULT)
		show_instruction(o, o->window.at, "faults");
	for (unsigned k = 0; k < o->window.instructions; k++) {
		rc = step(o);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
	if (ptrace(PTRACE_GETREGS, o->pid, NULL, &o->after) != 0)
		return -1;
	thread.size = get_state(o->pid, o->state);
	o->windows++;
	o->instructions += o->window.instructions;
	o->seen += o->window.seen.count;
	if (compare(o, thread.size) && o->differ++ < SHOWN)
		show_instruction(o, o->before.rip, "after this window");
	return o->window.end == VALUES_WHOLE;
}

/* Of the address space that it has now: it may have called exec. */
static void open_memory(struct oracle *o)
{
	char path[64];

	if (o->memory > 0)
		close(o->memory);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)o->pid);
	o->memory = open(path, O_RDONLY | O_CLOEXEC);
}

static void oracle_run(struct oracle *o, unsigned long windows)
{
	int status, rc = 0;

	while (o->windows < windows && rc >= 0) {
		struct timespec nap = {0, (long)(draw(o) % MOMENT_NS)};

		nanosleep(&nap, NULL);
		/* It may have stopped for another reason: the interrupt would stop it again. */
		if (waitpid(o->pid, &status, __WALL | WNOHANG) <= 0 &&
			(ptrace(PTRACE_INTERRUPT, o->pid, NULL, NULL) != 0 || stop_of(o, &status)))
			return;
		if (!WIFSTOPPED(status))
			return;
		open_memory(o);
		if (status >> 16 == PTRACE_EVENT_STOP)
			for (int k = 0; k < ROW && (rc = one_window(o)) > 0; k++)
				;
		if (!(status >> 16))
			o->deliver = WSTOPSIG(status);
		ptrace(PTRACE_CONT, o->pid, NULL, (void *)(long)o->deliver);
		o->deliver = 0;
	}
}

/* Each step is a stop of one and a turn of the other: quicker on one processor. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((unsigned)sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

/* It waits until the pipe is closed. */
static pid_t begin(char **command, int pipe[2])
{
	pid_t pid = fork();
	char byte;

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, 1);
		close(pipe[1]);
		if (read(pipe[0], &byte, 1) < 0)
			_exit(127);
		close(pipe[0]);
		execvp(command[0], command);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv)
{
	static struct oracle o;
	struct values_config config = {0};
	struct error e;
	int status, gate[2];

	if (argc < 4 || pipe(gate))
		return 2;
	config.length = (unsigned)strtoul(argv[2], NULL, 10);
	o.chance = 0x9e3779b97f4a7c15u ^ (uint64_t)getpid() << 20;
	o.v = values_new(&config, &e);
	if (!o.v) {
		fprintf(stderr, "%s\n", e.message);
		return 2;
	}
	stay_here();
	o.pid = begin(argv + 3, gate);
	if (ptrace(PTRACE_SEIZE, o.pid, NULL, (void *)PTRACE_O_EXITKILL) != 0) {
		perror("PTRACE_SEIZE");
		return 2;
	}
	close(gate[1]);
	oracle_run(&o, strtoul(argv[1], NULL, 10));
	kill(o.pid, SIGKILL);
	waitpid(o.pid, &status, __WALL);
	printf("windows %lu instructions %lu values %lu differ %lu; whole %lu call %lu fault %lu "
	       "refused %lu room %lu\n",
		o.windows, o.instructions, o.seen, o.differ, o.ends[VALUES_WHOLE],
		o.ends[VALUES_CALL], o.ends[VALUES_FAULT], o.ends[VALUES_REFUSED],
		o.ends[VALUES_ROOM]);
	values_free(o.v);
	vec_fini(&o.window.seen);
	return o.differ || !o.windows ? 1 : 0;
}
