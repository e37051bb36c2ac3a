/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of the threads' turns, the same in each run. Valgrind runs one thread at a time, the
 * one that holds its big lock. Which one gets it next is a race of wake-ups in the kernel, and so
 * counts of programs with threads would differ from run to run. This lock replaces it (by the
 * linker's --wrap).
 *
 * A turn is given only when all threads are settled: each waits for a turn, or sleeps in a system
 * call of its own, as shown by /proc/self/task (a thread that has been woken is not asleep from
 * that moment on), or has ended. Of those that wait, the next in order of creation after the last
 * one runs. So the order depends on the program alone, as long as nothing from outside (time,
 * input, other processes) wakes its threads.
 *
 * Turns are short (turn_blocks): on real processors threads run in parallel, and lines that they
 * share move to and fro between their caches; with Valgrind's own turns of 100,000 superblocks that
 * would hardly occur.
 *
 * Cost: nothing with one thread; else some microseconds per thread at the end of each turn in which
 * there was a system call that may wake another thread.
 */
#include "valgrind/tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "libvex_guest_amd64.h"
#include "libvex_trc_values.h"
#include "valgrind/core.h"
#include "valgrind/sampled.h"

/* Of the core (pub_core_dispatch_asm.h): a jump is to be chained to its target. */
#define CHAIN_ME_SLOWLY 49
#define CHAIN_ME_FAST   51

Int turn_blocks = 300;

enum turn_state {
	NOBODY,   /* no such thread */
	STARTING, /* created, not yet here */
	RUNNING,  /* it has the turn */
	WAITING,  /* for its turn */
	OUTSIDE,  /* in a system call, or on the way there or back */
	ENDING,   /* on its way out */
};

struct turn {
	Int state, lwp;
	UInt number;
	Bool asleep; /* OUTSIDE, and the kernel said so: since then it had no turn */
	Int wake;    /* futex: changes when there is something to do */
};

static struct turn *turns; /* by Valgrind's number of the thread; NULL before the first is known */
static Int owner;          /* kernel's number of the thread that has the turn, 0: none */
static Int looking;        /* that of the thread that looks for the next one, 0: none */
static UInt last_number;
static Bool company; /* there is more than one thread */
/* All threads were settled, and nothing has been done since then that could wake one: those that
 * were asleep need not be asked about again. */
static Bool calm;
static UInt used; /* turns[used] and above were never touched */
/* Spin lock on all of this: the number of the process that holds it. A fork may copy it while a
 * thread that the child does not have holds it, so the child ignores its parent's. */
static Int guard;

static void yield(void)
{
	VG_(do_syscall)(__NR_sched_yield, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void turns_enter(void)
{
	Int pid = VG_(getpid)();

	for (;;) {
		Int holder = __atomic_load_n(&guard, __ATOMIC_RELAXED);

		if (holder != pid && __atomic_compare_exchange_n(&guard, &holder, pid, False,
					     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		yield();
	}
}

static void turns_leave(void)
{
	__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);
}

static void turns_wake(struct turn *t)
{
	__atomic_fetch_add(&t->wake, 1, __ATOMIC_RELEASE);
	VG_(do_syscall)(__NR_futex, (UWord)&t->wake, 1 /* FUTEX_WAKE */, 1, 0, 0, 0, 0, 0);
}

static void turns_sleep(struct turn *t, Int seen)
{
	VG_(do_syscall)
	(__NR_futex, (UWord)&t->wake, 0 /* FUTEX_WAIT */, (UWord)seen, 0, 0, 0, 0, 0);
}

static struct turn *turn_of(Int lwp)
{
	for (UInt i = 1; i < used; i++)
		if (turns[i].state != NOBODY && turns[i].lwp == lwp)
			return &turns[i];
	return NULL;
}

/* The kernel's letter for a thread's state; 0: it does not exist any more. */
static HChar kernel_state(Int lwp)
{
	HChar text[512], *at;
	Int n;

	VG_(sprintf)(text, "/proc/self/task/%d/stat", lwp);
	n = tool_read(text, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = VG_(strrchr)(text, ')'); /* after the command's name */
	return at && at[1] ? at[2] : 0;
}

/* Can this thread not change the order any more?  Frees the turns of threads that have ended. */
static Bool settled(struct turn *t)
{
	HChar letter;

	if (t->state == NOBODY || t->state == WAITING)
		return True;
	if (t->state == STARTING)
		return False;
	letter = kernel_state(t->lwp);
	if (letter == 0 || letter == 'Z' || letter == 'X') {
		t->state = NOBODY;
		return True;
	}
	t->asleep = t->state == OUTSIDE && (letter == 'S' || letter == 'T' || letter == 't');
	return t->asleep;
}

/*
 * Are all threads settled?  One that was seen asleep may since have been woken, but only by a
 * thread that has had a turn since then and is on its way to be settled: one that wakes needs a
 * turn before it can wake another.  So those on their way are asked first; when all of them are
 * settled, one look at the others is right.
 */
static Bool all_settled(void)
{
	for (UInt i = 1; i < used; i++)
		if (!turns[i].asleep && !settled(&turns[i]))
			return False;
	for (UInt i = 1; !calm && i < used; i++)
		if (!settled(&turns[i]))
			return False;
	calm = True;
	return True;
}

/* The thread that runs next; NULL: not known yet. Only when no thread has the turn. */
static struct turn *next_turn(void)
{
	struct turn *least = NULL, *next = NULL;

	if (!all_settled())
		return NULL;
	for (UInt i = 1; i < used; i++) {
		struct turn *t = &turns[i];

		if (t->state != WAITING)
			continue;
		if (!least || t->number < least->number)
			least = t;
		if (t->number > last_number && (!next || t->number < next->number))
			next = t;
	}
	return next ? next : least;
}

/* While no thread has the turn, the first one that waits looks for the next; the others sleep.  If
 * each thread of a crowd that is woken at once looked, they would hinder those that are on their
 * way. */
static void wait_for_turn(struct turn *me)
{
	while (owner != me->lwp) {
		Bool looks = !owner && (!looking || looking == me->lwp);
		struct turn *next = looks ? next_turn() : NULL;
		Int seen = __atomic_load_n(&me->wake, __ATOMIC_ACQUIRE);

		if (looks)
			looking = next ? 0 : me->lwp;
		if (next) {
			owner = next->lwp;
			if (next != me)
				turns_wake(next);
			continue;
		}
		turns_leave();
		if (looks)
			yield();
		else
			turns_sleep(me, seen);
		turns_enter();
	}
}

/* ---- in place of Valgrind's lock ---- */

struct sched_lock;
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void);
void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock);
void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock);
int __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock);
void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who);
void __real_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who);

/* There is one lock only, and all of its state is here. */
__attribute__((used)) struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
	return (struct sched_lock *)&owner;
}

__attribute__((used)) void __wrap_vgModuleLocal_destroy_sched_lock(struct sched_lock *lock)
{
	(void)lock;
}

__attribute__((used)) void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	Int lwp = VG_(gettid)();
	struct turn *me;

	(void)lock;
	turns_enter();
	me = turn_of(lwp);
	if (me) {
		me->state = WAITING;
		wait_for_turn(me);
		me->state = RUNNING;
		last_number = me->number;
	} else {
		owner = lwp; /* the first thread, at the very start */
	}
	turns_leave();
}

__attribute__((used)) void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	struct turn *me;

	(void)lock;
	turns_enter();
	me = turn_of(VG_(gettid)());
	if (me && me->state == RUNNING) {
		me->state = OUTSIDE;
		me->asleep = False;
	}
	owner = 0;
	for (UInt i = 1; i < used; i++) {
		if (turns[i].state == WAITING) {
			turns_wake(&turns[i]); /* to find out which is next */
			break;
		}
	}
	turns_leave();
}

__attribute__((used)) int __wrap_vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock)
{
	(void)lock;
	return owner;
}

/* A new thread comes here first; only then is its number known. */
__attribute__((used)) void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who)
{
	if (turns) {
		turns_enter();
		if (turns[tid].state == STARTING) {
			turns[tid].lwp = VG_(gettid)();
			turns[tid].state = OUTSIDE;
		}
		turns_leave();
	}
	__real_vgPlain_acquire_BigLock(tid, who);
}

/* The guest's code runs from here, until an event counter in its state, a superblock each, is down
 * to zero. */
void __wrap_vgPlain_disp_run_translations(HWord *result, volatile void *guest_state, Addr code);
void __real_vgPlain_disp_run_translations(HWord *result, volatile void *guest_state, Addr code);

__attribute__((used)) void __wrap_vgPlain_disp_run_translations(
	HWord *result, volatile void *guest_state, Addr code)
{
	volatile VexGuestAMD64State *guest = guest_state;

	if (company && guest->host_EvC_COUNTER > (UInt)turn_blocks)
		guest->host_EvC_COUNTER = (UInt)turn_blocks;
	sampled_enter(&guest->host_EvC_COUNTER);
	trace_enter((void *)guest_state);
	__real_vgPlain_disp_run_translations(result, guest_state, code);
	trace_leave();
	if (sampled_leave() && (result[0] == CHAIN_ME_SLOWLY || result[0] == CHAIN_ME_FAST)) {
		result[0] = VEX_TRC_JMP_BORING; /* another time */
		result[1] = 0;
	}
}

/* ---- callbacks for the tool ---- */

static void count_company(void)
{
	UInt n = 0;

	for (UInt i = 1; i < used; i++)
		n += turns[i].state != NOBODY && turns[i].state != ENDING;
	company = n > 1;
}

void turns_add(ThreadId tid, UInt number, Bool itself)
{
	turns_enter();
	if (!turns)
		turns = VG_(calloc)("turns", VG_N_THREADS, sizeof(*turns));
	if (used <= tid)
		used = tid + 1;
	turns[tid] = (struct turn){.state = itself ? RUNNING : STARTING,
		.lwp = itself ? VG_(gettid)() : 0,
		.number = number};
	calm = False;
	count_company();
	turns_leave();
}

/* Can this system call wake another thread?  Those that programs with many threads make often, and
 * that cannot, are listed. */
static Bool may_wake(UInt number, const UWord *arguments)
{
	const UWord flags = 128 | 256; /* FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME */
	UWord operation = arguments[1] & ~flags;

	switch (number) {
	case __NR_mmap:
	case __NR_munmap:
	case __NR_mprotect:
	case __NR_mremap:
	case __NR_madvise:
	case __NR_brk:
	case __NR_rt_sigprocmask: /* Valgrind's own: the kernel's mask stays */
	case __NR_set_robust_list:
	case __NR_rseq:
	case __NR_gettid:
	case __NR_getpid:
	case __NR_sched_yield:
	case __NR_clock_gettime:
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
		return False;
	case __NR_futex:
		return operation != 0 && operation != 9; /* FUTEX_WAIT, FUTEX_WAIT_BITSET */
	default:
		return True;
	}
}

void turns_system_call(UInt number, const UWord *arguments)
{
	if (may_wake(number, arguments))
		calm = False; /* only the thread that has the turn comes here */
}

void turns_end(ThreadId tid)
{
	turns_enter();
	/* One that never started has no kernel thread to wait for. */
	turns[tid].state = turns[tid].lwp ? ENDING : NOBODY;
	calm = False;
	count_company();
	turns_leave();
}

void turns_forked(ThreadId tid)
{
	VG_(memset)(turns, 0, VG_N_THREADS * sizeof(*turns));
	last_number = 0;
	looking = 0;
	owner = VG_(gettid)();
	turns_add(tid, 0, True);
}
