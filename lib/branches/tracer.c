/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creation, end and stops of threads. Every stopped thread is handled and continued at once,
 * except the one that a burst waits for.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "branches/private.h"
#include "process/seize.h"

#define OPTIONS_LAUNCHED                                                                           \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |     \
		PTRACE_O_TRACESYSGOOD)
/* A command that cannot be executed ends before the loop handles its stops: from exec on. */
#define OPTIONS   (OPTIONS_LAUNCHED | PTRACE_O_TRACEEXIT)
#define CALL_STOP (SIGTRAP | 0x80)
#define WAITED    (__WALL | __WNOTHREAD)

#define FLAG_TRAP 0x100

/* Results of system calls that only tracers see. */
#define RESTART_NO_HANDLER 514

struct thread *tracer_find(struct branches *b, pid_t tid)
{
	for (size_t i = b->threads.count; i-- > 0;)
		if (b->threads.data[i].tid == tid)
			return &b->threads.data[i];
	return NULL;
}

bool tracer_any(const struct branches *b)
{
	return b->threads.count > 0;
}

static struct thread *tracer_begins(struct branches *b, pid_t tid)
{
	pid_t pid = (pid_t)proc_status_number(tid, "Tgid", -1);
	struct followed *p = process_add(b, pid > 0 ? pid : tid);
	struct thread *t;

	if (!p)
		return NULL;
	t = vec_push(&b->threads);
	if (!t)
		return NULL;
	t->tid = tid;
	t->call_file = -1;
	t->process = p;
	p->threads++;
	return t;
}

static void tracer_ends(struct branches *b, pid_t tid)
{
	struct thread *t = tracer_find(b, tid);
	struct followed *p = t ? t->process : NULL;

	if (!t)
		return;
	stopped_ended(b, t);
	process_close(&t->call_file);
	*t = b->threads.data[--b->threads.count];
	if (--p->threads == 0)
		process_remove(b, p);
}

/* ---- state that our stops must not change ---- */

void tracer_mend_call(pid_t tid, struct user_regs_struct *r)
{
	if ((long)r->orig_rax < 0 || (long)r->rax != -EINTR)
		return;
	/* Unless a handler runs now, the call begins again; otherwise it fails with EINTR. */
	r->rax = (unsigned long long)-RESTART_NO_HANDLER;
	ptrace(PTRACE_POKEUSER, tid, (void *)offsetof(struct user_regs_struct, rax),
		(void *)(uintptr_t)r->rax);
}

#define BIT(signal) (1ull << ((signal)-1))

void tracer_mend_mask(struct thread *t, bool entered)
{
	/* A program that blocks these as well blocks everything. */
	const uint64_t all =
		BIT(SIGILL) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS) | BIT(SIGABRT);
	uint64_t mask;

	if (!t->trap_blocked && !entered)
		return;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(mask), &mask) != 0)
		return;
	if (!(mask & BIT(SIGTRAP)) && ((t->trap_blocked && !entered) || (mask & all) == all)) {
		mask |= BIT(SIGTRAP);
		ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask);
	}
	t->trap_blocked = mask & BIT(SIGTRAP);
}

void tracer_block_trap(struct thread *t)
{
	t->trap_blocked = true;
	tracer_mend_mask(t, false);
}

/* ---- stops at breakpoints ---- */

struct site *tracer_site(
	struct branches *b, pid_t tid, int status, struct user_regs_struct *registers)
{
	uint64_t address;

	if (status >> 16 || WSTOPSIG(status) != SIGTRAP || !b->sites.count ||
		ptrace(PTRACE_GETREGS, tid, NULL, registers) != 0)
		return NULL;
	address = registers->rip - 1;
	return table_find(&b->sites, &address);
}

/*
 * The current cost of a stop: now and then a thread executes the breakpoint twice; the cost is the
 * CPU time between. True: the thread is to continue at the breakpoint.
 */
static bool tracer_probe(struct branches *b, struct thread *t, struct site *s)
{
	uint64_t now;

	s->stops++;
	if (b->sited != t->process)
		return false;
	if (s->probed == t->tid) {
		now = hold_time(t->process, t->tid);
		if (now > s->before) {
			b->probes.ns += (double)(now - s->before);
			b->probes.count++;
		}
		s->probed = 0;
		return false;
	}
	if (s->probed || !b->probe_every || s->hits % b->probe_every)
		return false;
	s->probed = t->tid;
	s->before = hold_time(t->process, t->tid);
	return true;
}

/* A thread that is not in a burst: it is counted and continued. */
static bool pass_site(struct branches *b, struct thread *t, int status)
{
	struct user_regs_struct before, registers;
	struct site *s = tracer_site(b, t->tid, status, &before);

	if (!s)
		return false;
	registers = before;
	registers.rip = s->key.address;
	tracer_mend_mask(t, true);
	if (tracer_probe(b, t, s)) {
		step_apply(t->tid, &before, &registers);
		return true;
	}
	if (process_memory(t->process) < 0 ||
		step_transfer(&s->transfer, t->process->memory, &registers)) {
		/* The thread carries it out itself. */
		sites_clear(b);
		registers.rip = before.rip - 1;
	} else {
		s->hits++;
	}
	step_apply(t->tid, &before, &registers);
	return true;
}

/*
 * It executed a breakpoint just before it was removed, or one in a copy of another process. Where
 * another instruction is now than the one that it executed, ours was removed, whether it is still
 * known or not.
 */
static bool pass_gone(struct branches *b, struct thread *t, int status)
{
	struct user_regs_struct before, registers;
	const struct gone *gone;
	uint8_t there;

	if (status >> 16 || WSTOPSIG(status) != SIGTRAP || !trap_is_breakpoint(t->tid) ||
		ptrace(PTRACE_GETREGS, t->tid, NULL, &before) != 0 ||
		process_memory(t->process) < 0 ||
		!process_read(t->process->memory, before.rip - 1, &there, 1))
		return false;
	if (there == 0xcc) {
		gone = sites_gone(b, before.rip - 1);
		if (!gone || gone->pid == t->process->pid ||
			!process_write(t->process->memory, gone->address, &gone->first, 1))
			return false;
	} else if (there == 0x03) { /* perhaps of cd 03, the long form of int3 */
		if (!sites_gone(b, before.rip - 1))
			return false;
	}
	tracer_mend_mask(t, true);
	registers = before;
	registers.rip = before.rip - 1;
	step_apply(t->tid, &before, &registers);
	return true;
}

/* The end of a single step that is not awaited: the program does not step itself. */
static bool pass_step(struct thread *t, int status)
{
	struct user_regs_struct r;
	uint8_t last;

	if (!cached_stepped(t->tid, status) || ptrace(PTRACE_GETREGS, t->tid, NULL, &r) != 0 ||
		r.eflags & FLAG_TRAP || process_memory(t->process) < 0 ||
		(process_read(t->process->memory, r.rip - 1, &last, 1) &&
			(last == 0xf1 || last == 0x9d || last == 0xcf))) /* int1, popf, iret */
		return false;
	tracer_mend_mask(t, true);
	return true;
}

/* A trap of ours, whatever it is of. */
static bool pass_trap(struct branches *b, struct thread *t, int status)
{
	return t && (pass_site(b, t, status) || pass_gone(b, t, status) || pass_step(t, status));
}

/* ---- events ---- */

static void born(struct branches *b, pid_t tid)
{
	struct thread *t = tracer_begins(b, tid);
	struct followed *from;
	pid_t parent;

	parent = t ? (pid_t)proc_status_number(tid, "PPid", -1) : -1;
	if (t)
		stopped_born(b, t, parent);
	if (!t || t->process->pid != tid)
		return;
	process_renew(b, t->process);
	/* vfork: our changes of memory would be made in the parent. */
	t->process->uncached = process_shares(parent, tid);
	from = process_find(b, parent);
	if (from) {
		from->forks++;
		sites_clean(b, t->process, parent);
		anchors_clean(t->process, from);
	}
}

/* One of several threads has called exec, and has the process's own number now. */
static void tracer_execed(struct branches *b, pid_t tid)
{
	unsigned long former = 0;
	struct thread *t;
	struct followed *p;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former) == 0 && (pid_t)former != tid)
		tracer_ends(b, (pid_t)former);
	t = tracer_find(b, tid);
	if (!t)
		t = tracer_begins(b, tid);
	p = t ? t->process : NULL;
	for (size_t i = b->threads.count; p && i-- > 0;)
		if (b->threads.data[i].process == p && b->threads.data[i].tid != tid) {
			process_close(&b->threads.data[i].call_file);
			b->threads.data[i] = b->threads.data[--b->threads.count];
			p->threads--;
		}
	if (p) {
		process_renew(b, p);
		stopped_execed(b, p);
	}
}

void tracer_go(struct branches *b, pid_t tid, long deliver)
{
	bool pinned = b->calling && b->calling->tid == tid && b->calling->pinned;

	ptrace(b->stepping == tid ? PTRACE_SINGLESTEP
		: pinned          ? PTRACE_SYSCALL
				  : PTRACE_CONT,
		tid, NULL, (void *)deliver);
}

static void tracer_stopped(struct branches *b, pid_t tid, int status)
{
	int event = status >> 16, number = WSTOPSIG(status);
	struct thread *t = tracer_find(b, tid);
	long deliver = 0;

	if (event == PTRACE_EVENT_STOP && number != SIGTRAP) {
		/* The job is stopped (^Z): it remains so until SIGCONT. */
		ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return;
	}
	if (event == PTRACE_EVENT_STOP && !t) {
		born(b, tid);
	} else if (event == PTRACE_EVENT_STOP) {
		struct user_regs_struct registers;

		if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0)
			tracer_mend_call(tid, &registers);
	} else if (event == PTRACE_EVENT_EXEC) {
		ptrace(PTRACE_SETOPTIONS, tid, NULL, OPTIONS);
		tracer_execed(b, tid);
	} else if (event == PTRACE_EVENT_EXIT) {
		if (t && t->process->cache)
			native_peek(t->process->cache);
		if (t) {
			process_clock(b, t->process);
			stopped_leaves(b, t);
		}
	} else if (event == PTRACE_EVENT_CLONE && t && t->process->cache) {
		native_threads(t->process->cache);
	} else if (event == 0 && number == CALL_STOP) {
		if (b->calling && b->calling->tid == tid)
			hold_unpin(b->calling);
	} else if (t && t->stepping && cached_stepped(tid, status)) {
		t->stepping = false;
		tracer_mend_mask(t, true);
	} else if (event == 0 && !pass_trap(b, t, status)) {
		bool fault = t && t->process->cache && trap_is_fault(tid);

		if (!(t && t->process->cache && anchors_leave(t->process->cache, tid, fault)) ||
			!fault)
			deliver = number;
	}
	b->counts[TALLY_STOPS]++;
	tracer_go(b, tid, deliver);
}

void tracer_deal(struct branches *b, pid_t tid, int status)
{
	if (WIFSTOPPED(status))
		tracer_stopped(b, tid, status);
	else
		tracer_ends(b, tid);
}

/* 1: an event of *tid; 0: none. flags: WNOHANG, or 0 to wait for one. */
static int next_event(struct branches *b, int flags, pid_t *tid, int *status)
{
	struct rusage usage;

	do
		*tid = wait4(-1, status, flags | WAITED, &usage);
	while (*tid < 0 && errno == EINTR);
	if (*tid <= 0)
		return 0;
	if (!WIFSTOPPED(*status) && *tid == b->request.pid && !b->request.running)
		branches_child_ended(b, *status, &usage);
	return 1;
}

static void sleep_until(struct branches *b, uint64_t until)
{
	uint64_t now = branches_now(CLOCK_MONOTONIC), left = until > now ? until - now : 0;
	struct timespec time = {(time_t)(left / SECOND), (long)(left % SECOND)};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (b->apart)
		sigaddset(&set, APART_SIGNAL);
	if (sigtimedwait(&set, NULL, b->ticking ? NULL : &time) == APART_SIGNAL)
		b->alone = getppid() != b->owner;
}

void tracer_tick(struct branches *b, uint64_t first)
{
	const struct itimerspec time = {{0, first ? TICK : 0}, {0, (long)first}};

	b->ticking = b->timed && timer_settime(b->ticks, 0, &time, NULL) == 0 && first;
}

int tracer_wait(struct branches *b, uint64_t until, pid_t tid, int *status)
{
	for (;;) {
		pid_t who;
		int what;

		if (!b->more) {
			sleep_until(b, until);
			b->more = true;
		}
		while (next_event(b, WNOHANG, &who, &what)) {
			if (who == tid && WIFSTOPPED(what)) {
				*status = what;
				return 1;
			}
			tracer_deal(b, who, what);
			if (who == tid)
				return -1;
		}
		b->more = false;
		if (branches_stopping(b) || branches_now(CLOCK_MONOTONIC) >= until)
			return 0;
		if (!tracer_any(b))
			return 0;
	}
}

/* ---- beginning and end ---- */

static bool tracer_knows(void *context, pid_t tid)
{
	return tracer_find(context, tid);
}

static int tracer_seized(void *context, pid_t tid, struct error *e)
{
	return tracer_begins(context, tid) ? 0 : error_nomem(e);
}

int tracer_begin(struct branches *b, struct error *e)
{
	const struct seizer seizer = {b->request.running ? OPTIONS : OPTIONS_LAUNCHED,
		b->request.only_samples ? "samples"
		: b->request.visit      ? "value samples"
					: "branch records",
		tracer_knows, tracer_seized, b, b->request.began};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGCHLD};

	event._sigev_un._tid = gettid();
	b->timed = timer_create(CLOCK_MONOTONIC, &event, &b->ticks) == 0;
	return (b->request.running ? seize_process : seize_thread)(&seizer, b->request.pid, e);
}

/* Stops a thread anywhere, to leave it. Others go on meanwhile: one in vfork stops only when its
 * child has, which may be too new to be known. */
static bool tracer_halt(struct branches *b, pid_t tid)
{
	/* Of a main thread that has ended, the kernel says so when all others have. */
	bool ended = proc_stat(tid, PROC_STAT_STATE) == 'Z';
	struct thread *t = tracer_find(b, tid);
	pid_t who;
	int word;

	if (t && t->leaving)
		return true;
	if (!ended && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		return false;
	while (next_event(b, ended ? WNOHANG : 0, &who, &word)) {
		if (who != tid) {
			tracer_deal(b, who, word);
			continue;
		}
		t = tracer_find(b, tid);
		if (!t || !WIFSTOPPED(word))
			return false;
		t->leaving = true;
		t->word = word;
		return true;
	}
	return false;
}

/* Detaches from a thread; a signal that arrives then is passed on. */
static void tracer_let_go(struct branches *b, pid_t tid)
{
	struct user_regs_struct registers;
	struct thread *t;
	int word, event;
	long deliver = 0;

	if (!tracer_halt(b, tid))
		return;
	t = tracer_find(b, tid);
	word = t->word;
	event = word >> 16;
	if (t->process->threads == 1 && t->process->cache)
		native_take_out(t->process->cache);
	if (event == PTRACE_EVENT_STOP && WSTOPSIG(word) == SIGTRAP &&
		ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0)
		tracer_mend_call(tid, &registers);
	/* Another stop may overtake it again. */
	while (word >> 16 && trap_waits(tid))
		if (!trap_take(tid, &word) || !WIFSTOPPED(word))
			return;
	event = word >> 16;
	if (event == 0 && !(t->stepping && cached_stepped(tid, word)) && !pass_trap(b, t, word))
		deliver = WSTOPSIG(word);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)deliver);
}

/* A thread of the process that is not stopped yet. */
static struct thread *tracer_staying(struct branches *b, pid_t pid)
{
	for (size_t i = 0; i < b->threads.count; i++)
		if (b->threads.data[i].process->pid == pid && !b->threads.data[i].leaving)
			return &b->threads.data[i];
	return NULL;
}

/* Anchors are taken out while all threads of a process are stopped. */
static void take_out_of(struct branches *b, pid_t pid)
{
	struct followed *p;
	struct thread *t;

	while ((t = tracer_staying(b, pid))) {
		pid_t tid = t->tid;

		if (!tracer_halt(b, tid))
			tracer_ends(b, tid);
	}
	p = process_find(b, pid);
	if (p && p->cache)
		native_take_out(p->cache);
}

void tracer_end(struct branches *b)
{
	if (b->timed)
		timer_delete(b->ticks);
	sites_clear(b);
	/* Processes may end or begin meanwhile; new ones have one thread. */
	for (size_t i = b->processes.count; i-- > 0;) {
		struct followed *p = i < b->processes.count ? b->processes.data[i] : NULL;

		if (p && p->threads > 1 && p->cache && native_counts(p->cache))
			take_out_of(b, p->pid);
	}
	while (b->threads.count) {
		pid_t tid = b->threads.data[b->threads.count - 1].tid;

		tracer_let_go(b, tid);
		tracer_ends(b, tid);
	}
}
