/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a thread in copies. The thread stops where there is no copy yet, where an instruction
 * must not be copied (a system call is done in the original, by a single step), for signals, whose
 * handlers are then followed, and when the time of the burst is over.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "branches/cache.h"

#define WAIT_STEP (20 * (uint64_t)MILLISECOND) /* for a system call */
#define WAIT_LONG SECOND
#define LEFT_OVER (50 * (uint64_t)MICROSECOND)
/* Results of system calls that only tracers see: ERESTARTSYS to ERESTART_RESTARTBLOCK. */
#define RESTART_FIRST 512
#define RESTART_LAST  516

#define TRAP_BIT (1ull << (SIGTRAP - 1))

#define RINGS_APART (20 * (uint64_t)MICROSECOND)

enum { OVER = -1, ON, END }; /* over: the thread is no longer held; end: it is */

/* The length of a burst. */
struct course {
	struct cache *cache;
	struct held *held;
	uint64_t left;  /* ns in copies */
	uint64_t began; /* CPU time of the thread when it last began to run copies */
	uint64_t rings; /* next tick of the timer */
	bool interrupted;
	uint64_t begin; /* of the next run; 0: unknown */
};

static int get_registers(struct held *f)
{
	if (ptrace(PTRACE_GETREGS, f->tid, NULL, &f->before) != 0)
		return -1;
	f->registers = f->before;
	f->held = true;
	f->b->counts[TALLY_STOPS]++;
	return 0;
}

/* A stop after a single step, or at the first instruction of a handler. */
bool cached_stepped(pid_t tid, int status)
{
	siginfo_t info;

	return status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP &&
	       ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
	       (info.si_code == TRAP_BRKPT || info.si_code == TRAP_TRACE ||
		       info.si_code == SIGTRAP);
}

/* A call that a stop has interrupted begins again: when the thread continues, the kernel takes two
 * from its address, wherever that is then. */
static bool begins_again(const struct user_regs_struct *r)
{
	return (long)r->orig_rax >= 0 && (long)r->rax <= -RESTART_FIRST &&
	       (long)r->rax >= -RESTART_LAST;
}

/* One instruction of the original, or the entry of a handler. END: it is a call, and not yet done.
 */
static int cached_step(struct held *f, long deliver)
{
	uint64_t began = branches_now(CLOCK_MONOTONIC), until = began + WAIT_STEP;
	uint64_t spent = hold_spent(f);
	struct branches *b = f->b;
	struct thread *t;
	int status, rc;

	if (step_apply(f->tid, &f->before, &f->registers) ||
		ptrace(PTRACE_SINGLESTEP, f->tid, NULL, (void *)deliver) != 0)
		return OVER;
	f->held = f->stale = false;
	b->stepping = f->tid;
	for (;;) {
		rc = tracer_wait(b, until, f->tid, &status);
		if (rc == 0 && branches_now(CLOCK_MONOTONIC) < until)
			continue; /* another thread requests a stop: soon */
		if (rc <= 0)
			break;
		if (cached_stepped(f->tid, status)) {
			b->stepping = 0;
			t = tracer_find(b, f->tid);
			f->until += branches_now(CLOCK_MONOTONIC) - began;
			f->most += hold_spent(f) - spent;
			tracer_mend_mask(t, true);
			if (get_registers(f))
				return OVER;
			f->stale = begins_again(&f->registers);
			return f->stale ? END : ON;
		}
		if (status >> 16 == PTRACE_EVENT_EXEC || status >> 16 == PTRACE_EVENT_STOP) {
			b->stepping = 0;
			t = tracer_find(b, f->tid);
			/* The step is done, and its trap comes later. */
			if (t && status >> 16 == PTRACE_EVENT_STOP)
				t->stepping = trap_waits(f->tid);
			tracer_deal(b, f->tid, status);
			return OVER;
		}
		/* A signal, which enters its handler, or a thread's creation. */
		tracer_deal(b, f->tid, status);
		if (!tracer_find(b, f->tid))
			break;
	}
	b->stepping = 0;
	t = rc == 0 ? tracer_find(b, f->tid) : NULL;
	if (t)
		t->stepping = true; /* it will stop some time */
	return OVER;
}

static bool touches_code(const struct followed *p, uint64_t begin, uint64_t size)
{
	for (size_t i = 0; i < p->areas.count; i++)
		if (begin < p->areas.data[i].end && begin + size > p->areas.data[i].begin)
			return true;
	return false;
}

/* Whether a system call may change code mappings. */
static bool changes_code(const struct held *f)
{
	const struct user_regs_struct *r = &f->registers;

	switch (r->rax) {
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		return r->rdx & PROT_EXEC || touches_code(f->process, r->rdi, r->rsi);
	case SYS_mmap:
		return r->r10 & MAP_FIXED && touches_code(f->process, r->rdi, r->rsi);
	case SYS_munmap:
	case SYS_mremap:
		return touches_code(f->process, r->rdi, r->rsi);
	case SYS_shmat:
	case SYS_remap_file_pages:
		return true;
	default:
		return false;
	}
}

/* Whether SIGTRAP will be blocked after a system call: the trap after a single step unblocks it. */
static bool will_block_trap(const struct held *f, bool is_blocked)
{
	const struct user_regs_struct *r = &f->registers;
	uint64_t set;

	if (r->rax == SYS_rt_sigreturn) /* then its frame says so */
		return false;
	if (r->rax != SYS_rt_sigprocmask || !r->rsi || r->r10 != sizeof(set) ||
		!process_read(f->process->memory, r->rsi, &set, sizeof(set)))
		return is_blocked;
	if (r->rdi == SIG_SETMASK)
		return set & TRAP_BIT;
	if (!(set & TRAP_BIT))
		return is_blocked;
	return r->rdi == SIG_BLOCK || (r->rdi != SIG_UNBLOCK && is_blocked);
}

/* Executes an instruction of the original that is not copied. */
static int step_over(struct cache *c, struct held *f, uint64_t *begin)
{
	uint64_t address = f->registers.rip;
	uint64_t number = f->registers.rax, first = f->registers.rdi;
	bool enters, last, blocks;
	size_t length = copy_single(c, address, &enters);
	int rc;

	if (!length)
		return END;
	last = enters && changes_code(f);
	blocks = enters && will_block_trap(f, tracer_find(f->b, f->tid)->trap_blocked);
	if (enters)
		hold_unpin(f);
	rc = cached_step(f, 0);
	if (rc == ON && f->registers.rip != address + length)
		*begin = 0;
	if (rc == ON && enters) {
		if (blocks)
			tracer_block_trap(tracer_find(f->b, f->tid));
		hold_pin(f);
		calls_done(c, number, first);
	}
	return rc == ON && last ? END : rc;
}

/* It went to a target without a copy. */
static int miss(struct cache *c, struct held *f, uint64_t sum)
{
	uint64_t to = f->registers.rip;
	const struct copy *copy;

	copy_meet(c, sum, to);
	copy = copy_get(c, f, to, to);
	if (copy && !table_find(&c->pairs, &sum))
		copy_pair(c, sum, to, copy);
	doors_add(c, to);
	return ON;
}

static int cached_leave(struct cache *c, struct held *f, uint64_t *begin)
{
	struct place at;

	if (arena_at(c, f->registers.rip) < 0)
		return 0;
	if (leave_copies(c, &f->registers, &at))
		return -1;
	c->unfinished = at.undo & COUNTED && !at.turn ? at.copy + 1 : 0;
	c->unfinished_turn = at.undo & COUNTED ? at.turn : 0;
	*begin = 0;
	return 0;
}

/* At an int3 of ours. */
static int leave_exit(struct cache *c, struct held *f, const struct exit *e, uint64_t *begin)
{
	struct place at;
	uint64_t sum = 0;

	if (e->kind == EXIT_MISS) {
		const struct arena *a = &c->arenas[e->arena];

		f->registers.rip--;
		if (!arena_read(c, a, arena_slot_address(a, SLOT_TARGET), &sum, sizeof(sum)) ||
			leave_copies(c, &f->registers, &at))
			return OVER;
		if (!copy_site(c, sum)) /* another thread has changed it meanwhile */
			return END;
		*begin = at.address;
		return miss(c, f, sum);
	}
	f->registers.rip = e->address;
	*begin = e->begin;
	return e->kind == EXIT_STEP ? step_over(c, f, begin) : ON;
}

/* The time that the thread still has, which may have waited for a processor. The time of the stop
 * itself, and of other threads on the processor, is excluded. */
static uint64_t still_left(const struct course *r)
{
	const struct held *f = r->held;
	double ran = (double)(hold_time(f->process, f->tid) - r->began) - cache_stop_cost(f->b);

	if (ran <= 0)
		return r->left;
	return ran < (double)r->left ? r->left - (uint64_t)ran : 0;
}

/* Waits until the thread stops, however long: it must not go on in copies alone. Setting the timer
 * is expensive: so it rings at the burst's end if there was no stop, and is set again then. */
static int await(struct course *r, uint64_t until, int *status)
{
	struct held *f = r->held;
	uint64_t now;
	int rc;

	do {
		now = branches_now(CLOCK_MONOTONIC);
		if (r->rings <= now && until > now) {
			tracer_tick(f->b, until - now);
			r->rings = until;
		}
		rc = tracer_wait(f->b, until < r->rings ? until : r->rings, f->tid, status);
		now = branches_now(CLOCK_MONOTONIC);
		if (rc == 0 && now + RINGS_APART >= until && now < f->until)
			until = now + (still_left(r) > LEFT_OVER ? still_left(r) : 0);
	} while (rc == 0 && now + RINGS_APART < until && !branches_stopping(f->b));
	if (rc == 0) {
		if (ptrace(PTRACE_INTERRUPT, f->tid, NULL, NULL) != 0)
			return -1;
		while (rc == 0)
			rc = tracer_wait(
				f->b, branches_now(CLOCK_MONOTONIC) + WAIT_LONG, f->tid, status);
	}
	return rc < 0 ? -1 : 0;
}

/* The thread has stopped within copies. */
static int cached_stopped(struct course *r, int status)
{
	struct cache *c = r->cache;
	struct held *f = r->held;
	uint64_t *begin = &r->begin;
	const struct exit *e = NULL;
	uint64_t place;
	int signal = WSTOPSIG(status);

	r->interrupted = false;
	if (get_registers(f))
		return OVER;
	if (status >> 16 == PTRACE_EVENT_STOP && (trap_waits(f->tid) || trap_fault_waits(f->tid))) {
		f->held = false;
		if (!trap_take(f->tid, &status))
			return OVER;
		if (WIFSTOPPED(status))
			return cached_stopped(r, status);
		tracer_deal(f->b, f->tid, status);
		return OVER;
	}
	/* Else, it is about to execute what follows an exit. */
	if (status >> 16 == 0 && signal == SIGTRAP) {
		place = f->before.rip - 1;
		e = table_find(&c->exits, &place);
	}
	tracer_mend_mask(tracer_find(f->b, f->tid), false);
	if (e)
		return leave_exit(c, f, e, begin);
	if (cached_leave(c, f, begin))
		return OVER;
	r->interrupted = status >> 16 == PTRACE_EVENT_STOP && signal == SIGTRAP;
	c->interrupts += r->interrupted;
	if (r->interrupted)
		return END;
	if (status >> 16) {
		step_apply(f->tid, &f->before, &f->registers);
		f->held = false;
		tracer_deal(f->b, f->tid, status);
		return OVER;
	}
	/* A fault happens again, in the original. */
	return cached_step(f, trap_is_fault(f->tid) ? 0 : signal);
}

static int cached_run(struct course *r, const struct copy *copy)
{
	struct held *f = r->held;
	struct cache *c = r->cache;
	int status;

	doors_read(c);
	for (unsigned i = 0; i < c->arena_count; i++)
		if (calls_send(c, &c->arenas[i], !tracer_find(f->b, f->tid)->trap_blocked) ||
			arena_send(&c->arenas[i], c->process)) {
			c->refused = true;
			return END;
		}
	f->registers.rip = c->arenas[copy->arena].code + copy->at;
	r->began = hold_time(f->process, f->tid);
	timing_go(c);
	if (step_apply(f->tid, &f->before, &f->registers) ||
		ptrace(PTRACE_CONT, f->tid, NULL, NULL) != 0)
		return OVER;
	f->held = false;
	if (await(r, branches_now(CLOCK_MONOTONIC) + r->left, &status))
		return OVER;
	r->left = still_left(r);
	return cached_stopped(r, status);
}

int cached_follow(struct cache *c, struct held *f, uint64_t length)
{
	struct course r = {.cache = c, .held = f, .left = length};
	int rc = f->stale ? cached_step(f, 0) : ON;

	c->files = 0;
	c->callers = false;
	while (rc == ON && r.left && hold_spent(f) < f->most &&
		branches_now(CLOCK_MONOTONIC) < f->until && !branches_stopping(f->b)) {
		uint64_t address = f->registers.rip;
		const struct copy *copy;

		if (!r.begin &&
			table_find(&c->copies, &(struct copy){.key = {address, address}}.key))
			r.begin = address;
		copy = copy_get(c, f, address, r.begin);
		if (!copy || c->full)
			break;
		rc = cached_run(&r, copy);
		/* It had to wait for the processor. */
		if (rc == END && r.interrupted && r.left > LEFT_OVER &&
			!begins_again(&f->registers))
			rc = ON;
	}
	return rc == OVER;
}
