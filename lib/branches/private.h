/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of this directory. Everything but the queue belongs to the tracing thread.
 */
#ifndef BRANCHES_PRIVATE_H
#define BRANCHES_PRIVATE_H

#include <pthread.h>
#include <sched.h>
#include <sys/user.h>
#include <time.h>

#include "base/table.h"
#include "base/vec.h"
#include "branches/branches.h"
#include "experiment/branches.h"

#define MICROSECOND 1000u
#define MILLISECOND 1000000u
#define SECOND      1000000000u
#define TICK        (2 * MILLISECOND) /* see tracer_tick */

/* ---- code ---- */

enum transfer_kind {
	TRANSFER_NONE,      /* cannot be followed */
	TRANSFER_CONDITION, /* jcc: condition as in its opcode */
	TRANSFER_COUNT,     /* loopne, loope, loop, jrcxz: condition 0 to 3 */
	TRANSFER_JUMP,
	TRANSFER_CALL,
	TRANSFER_RETURN,
};

enum transfer_target { TARGET_DIRECT, TARGET_REGISTER, TARGET_MEMORY };

struct transfer {
	uint8_t kind, target;       /* the enums above */
	uint8_t condition;          /* 0 to 15 */
	uint8_t reg;                /* of TARGET_REGISTER */
	uint8_t base, index, scale; /* of TARGET_MEMORY: enum insn_register or REG_NONE */
	uint8_t segment;            /* 0, or the prefix: 0x64 fs, 0x65 gs */
	uint8_t first;              /* byte of the instruction */
	uint8_t wide;               /* of TRANSFER_COUNT: all of rcx counts */
	uint16_t drop;              /* bytes that a return pops beyond its address */
	uint64_t next;              /* address after it */
	uint64_t to;                /* of TARGET_DIRECT */
	int64_t displacement;       /* or the whole address, if there is no base */
};

/* Table entry: from an address to the first transfer after it. */
struct block {
	struct {
		uint64_t begin;
	} key;
	uint64_t end; /* address of the transfer */
	bool idle;    /* nothing, or only nops, before the transfer */
	bool enters;  /* it contains a system call */
	struct transfer transfer;
};

/* ---- processes and threads ---- */

struct area { /* of code that may be followed */
	uint64_t begin, end, offset;
	uint64_t device, inode; /* both 0: the vdso */
};

struct code_range {
	uint64_t begin, end;
};

struct followed { /* a process */
	pid_t pid;
	int memory;                  /* /proc/PID/mem; -1 */
	int maps_file, status_file;  /* likewise */
	clockid_t clock;             /* CPU time of all its threads */
	uint64_t used;               /* the last value of it */
	uint64_t user, ticks;        /* likewise, for samples by stops (stopped.c) */
	uint64_t since;              /* its value when this address space began */
	bool refused;                /* not to be followed */
	bool unwritten;              /* its memory is only read */
	bool filtered;               /* a filter looks at its system calls */
	uint64_t maps;               /* a hash of its /proc/PID/maps when that was read */
	uint64_t code;               /* of its executable mappings then; 0: not known */
	struct {                     /* mappings that the owner knows (stopped.c) */
		uint64_t hash, time; /* 0: none; when they were read */
		VEC(struct code_range) code;
	} told;
	VEC(struct area) areas;
	struct table blocks;   /* decoded; valid as long as the maps are unchanged */
	struct cache *cache;   /* NULL: there is none yet */
	struct cache *logging; /* of bursts that log values; likewise */
	bool uncached;         /* not possible */
	unsigned threads, forks;
};

struct thread {
	pid_t tid;
	struct followed *process;
	int call_file;     /* /proc/TID/syscall; -1 */
	bool trap_blocked; /* SIGTRAP was, at the last check */
	bool stepping;     /* the end of its step is no longer awaited */
	bool leaving;      /* it is stopped, to be detached from, */
	int word;          /* with this status */
};

/* ---- breakpoints ---- */

/* Table entry: an inserted one. */
struct site {
	struct {
		uint64_t address;
	} key;
	struct transfer transfer;
	uint64_t hits;   /* by other threads than that of a burst */
	uint64_t stops;  /* of a window, to count hits */
	pid_t probed;    /* thread that executes it twice, to measure the cost of a stop */
	uint64_t before; /* CPU time of that thread then */
};

/* One that was removed, or may remain in a copy of the process. */
struct gone {
	uint64_t address;
	uint64_t time; /* when */
	pid_t pid;
	uint8_t first;
};

#define GONE_MAX 1024 /* more than a burst puts */

/* Where breakpoints count. */
struct candidate {
	struct {
		uint64_t device, inode, offset;
	} key;
	pid_t pid;        /* where it was recorded */
	uint64_t address; /* there */
	uint32_t id;
	bool lost;      /* no longer mapped */
	uint64_t met;   /* in bursts */
	uint64_t since; /* CPU time of the program at its first record */
	uint64_t hits, ns, windows;
};

struct pace {
	uint64_t next;      /* moment, CPU time of the program */
	uint64_t end;       /* of its stratum */
	double gap;         /* mean, ns of CPU time, requested */
	double share;       /* share of the program's time allowed */
	double cost, count; /* ns and number of the latest */
	double spent;       /* ns, on all */
};

/* Cost of stops in open windows, measured in them. */
struct probes {
	double ns;
	uint64_t count;
};

typedef VEC(struct branch_record) branch_queue;

struct branches {
	struct branches_request request;
	pthread_t tracing;
	bool started;
	pid_t owner; /* our process */
	/* shared */
	_Atomic int holder; /* of the lock of what follows (branches.c) */
	pid_t apart;        /* the process of the tracer; 0: it is a thread */
	bool over;          /* it has done all */
	bool zombie;        /* our child has ended, and we have not waited for it */
	_Atomic uint64_t charged, charged_others, reserved, beside; /* ns */
	branch_queue queue;
	VEC(char) notices; /* texts, each with its 0 */
	uint64_t horizon;  /* 0: up to now */
	bool stop, ended, settled;
	int status, wake; /* wake: an eventfd */
	struct rusage usage;
	struct error begun;
	/* the caller's */
	branch_queue taken;
	VEC(char) noticed;
	size_t notice;
	/* the tracing thread's */
	VEC(struct followed *) processes;
	VEC(struct thread) threads;
	struct table sites;
	struct followed *sited; /* the process that contains them */
	struct gone gone[GONE_MAX];
	size_t gone_count;
	struct table candidates;
	uint32_t ids, run_ids;
	uint32_t bursts_timed;      /* with timed loads, so far */
	struct logging {            /* of values, in some of the bursts (burst.c) */
		double place, next; /* of the last burst; of the next one that logs; in strata */
		struct pace logged, others; /* their costs */
	} logging;
	pid_t stepping;        /* is single-stepping */
	struct cache *caching; /* of the current burst */
	bool orphaned;         /* and its process has ended */
	uint64_t transfers;    /* recorded, with the candidates' met */
	uint64_t used;         /* CPU time of the program */
	uint64_t used_told, next_telling;
	unsigned still;               /* naps without progress of any process */
	uint64_t napped, used_napped; /* when the last nap began; the CPU time then */
	double rate;                  /* CPU time of the program in a second, of the last naps */
	struct pace bursts, windows, turns, clock;
	bool hurried;        /* the next turn is early: */
	uint64_t next_turn;  /* the moment of the one after it */
	double spent_before; /* of bursts.spent: in earlier runs, above their share of these */
	bool fitted;         /* bursts have what the rest leaves of the budget */
	struct sampling {
		bool began;     /* our own child has called exec */
		long processor; /* of the thread that is stopped */
		/* CPU time of the program, ns: by the kernel's ticks, in user mode and all; in
		 * bursts. */
		uint64_t user, ticks, bursts;
		/* Of each mode: ns that samples stand for, and stops. */
		double told[2];
		uint64_t stops[2];
	} sampling;
	/* CPU time that records have cost besides, ns: of the owner for them, of interrupted
	 * threads, of anchors that count. */
	uint64_t elsewhere;
	double most; /* ns that the next burst may take */
	struct branches_costs costs;
	bool calibrated; /* costs are known, or could not be measured */
	struct probes probes;
	struct held *calling; /* in a window: unpinned before it enters the kernel by a call */
	unsigned probe_every; /* hits */
	double scale_hits, scale_ns; /* of windows: hits, and ns times the share of all transfers */
	uint64_t chance;
	uint64_t counts[TALLY_KINDS]; /* not yet recorded */
	uint64_t told[TALLY_KINDS];   /* recorded */
	cpu_set_t processors;
	bool more;     /* another event may be pending */
	bool alone;    /* the owner is gone */
	timer_t ticks; /* wake us during a burst */
	bool timed, ticking;
	bool warned;
};

/* apart.c: calls run in a process of its own that shares our memory and files, and returns when
 * that has ended. It gets APART_SIGNAL, which is blocked there, when our process ends. false: there
 * can be none, and run was not called. */
#define APART_SIGNAL SIGTERM
bool apart_run(void (*run)(struct branches *b), struct branches *b);

/* branches.c */
uint64_t branches_now(clockid_t clock);
/* -1: memory is out, and the record is lost. */
int branches_put(struct branches *b, const struct branch_record *r);
void branches_say(struct branches *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void branches_set_horizon(struct branches *b, uint64_t time);
bool branches_stopping(struct branches *b);
void branches_child_ended(struct branches *b, int status, const struct rusage *usage);
/* Uniform in (0, 1]. */
double branches_chance(struct branches *b);

/* tracer.c: events of threads.  The rest happens inside tracer_wait. */
int tracer_begin(struct branches *b, struct error *e);
/*
 * Handles events of threads until the time is `until` (CLOCK_MONOTONIC), or thread tid has stopped
 * or ended. 1: tid has stopped, and *status is not handled; -1: it has ended; 0: time is up, or
 * another thread requests a stop.
 */
int tracer_wait(struct branches *b, uint64_t until, pid_t tid, int *status);
/* Handles the events of other threads in tracer_wait. */
void tracer_deal(struct branches *b, pid_t tid, int status);
/* Continues it, with a signal or 0. */
void tracer_go(struct branches *b, pid_t tid, long deliver);
/* From now on a timer wakes tracer_wait, first after this number of ns (0: no longer), and
 * tracer_wait sets none of its own: in a virtual machine, setting it costs more than the rest of a
 * stop. */
void tracer_tick(struct branches *b, uint64_t first);
/* Whether any thread is left. */
bool tracer_any(const struct branches *b);
void tracer_end(struct branches *b);
struct thread *tracer_find(struct branches *b, pid_t tid);
/* Whether it stopped at a breakpoint of ours; then which, and its registers. */
struct site *tracer_site(
	struct branches *b, pid_t tid, int status, struct user_regs_struct *registers);
/* Blocks SIGTRAP again if our trap has unblocked it. */
void tracer_mend_mask(struct thread *t, bool entered);
/* Blocks it, as the program has done by a system call. */
void tracer_block_trap(struct thread *t);
/* Restarts a system call that our stop has interrupted. */
void tracer_mend_call(pid_t tid, struct user_regs_struct *registers);

/* process.c */
/* Transfers all of size bytes of the memory of a process (struct followed). */
bool process_read(int memory, uint64_t from, void *to, size_t size);
bool process_write(int memory, uint64_t to, const void *from, size_t size);
/* Do two processes, or threads, share their memory? */
bool process_shares(pid_t a, pid_t b);
struct followed *process_add(struct branches *b, pid_t pid);
struct followed *process_find(struct branches *b, pid_t pid);
void process_remove(struct branches *b, struct followed *p);
/* To be called when it has another address space. */
void process_renew(struct branches *b, struct followed *p);
/* Its memory, opened if need be; -1. */
int process_memory(struct followed *p);
/* Reads its mappings. -1: it is not to be followed. */
int process_look(struct branches *b, struct followed *p);
/* A filter of system calls that is not ours looks at this thread's: none may be carried out for us.
 */
bool process_filtered(const struct branches *b, struct followed *p, pid_t tid);
/* Whether bytes may be mapped for us: the program's own limits are far from that, and it has not
 * locked its memory, which would make all pages at once. */
bool process_has_room(const struct followed *p, uint64_t size);
const struct area *process_area(const struct followed *p, uint64_t address);
/* 0: it does not map this code. */
uint64_t process_address(
	const struct followed *p, uint64_t device, uint64_t inode, uint64_t offset);
/* Updates p->used. */
void process_clock(struct branches *b, struct followed *p);
/* For a thread to stop. */
#define WAIT_STOP (20 * (uint64_t)MILLISECOND)
/* Of a file in /proc, of which PROCESS_TEXT bytes are read. Never 0. */
uint64_t process_hash_of(const char *text);
#define PROCESS_TEXT ((size_t)4 << 20)
/* Whether a thread that we trace runs, or waits for a processor only. */
bool process_runs(const struct branches *b, struct thread *t);
/* Closes a descriptor, which is -1 then. */
void process_close(int *fd);

/* sites.c */
/* 0, or -1: other bytes are there than expected. */
int sites_put(struct branches *b, struct followed *p, uint64_t address, const struct transfer *t);
/* Removes all. */
void sites_clear(struct branches *b);
/* The address space that contained them has gone. */
void sites_forget(struct branches *b, const struct followed *p);
/* To be called for a copy of the process: it contains copies of them. */
void sites_clean(struct branches *b, struct followed *copy, pid_t parent);
/* Was one removed recently, from this process or from one that it may be a copy of? */
const struct gone *sites_gone(const struct branches *b, uint64_t address);

/* branches_block.c */
/* Of an instruction: of another meaning, or REX. */
bool branches_is_prefix(uint8_t byte);
/* The block at an address; NULL: it cannot be followed. Valid until the next
 * call. */
const struct block *branches_block(struct branches *b, struct followed *p, uint64_t begin);
/* Code without our breakpoints; returns bytes read. */
size_t branches_read_code(
	struct branches *b, struct followed *p, uint64_t at, uint8_t *bytes, size_t size);
struct insn;
/* Of a branch, by its opcode; TRANSFER_NONE: it cannot be followed. */
struct transfer branches_transfer(const uint8_t *bytes, const struct insn *insn);

/* step.c: carries out the transfer at registers->rip on registers and memory; -1: not possible,
 * and nothing was changed. */
int step_transfer(const struct transfer *t, int memory, struct user_regs_struct *registers);
/* Writes what step_transfer changes. */
int step_apply(
	pid_t tid, const struct user_regs_struct *before, const struct user_regs_struct *registers);

/* hold.c: a held thread. */
struct held {
	struct branches *b;
	pid_t tid;
	struct followed *process;
	struct user_regs_struct before,
		registers; /* registers of the thread; and those to be set */
	bool held;         /* it is stopped, and waits for us */
	bool stale;        /* in a system call: it continues elsewhere than at its stop */
	uint64_t until;
	uint64_t most; /* hold_spent up to which it may run copies */
	bool pinned;   /* to our processor; else to allowed */
	bool batch;    /* and scheduled as a batch job */
	cpu_set_t allowed;
};

/* Stops it anywhere before the time f->until, and hides the effects of the stop. -1: it does not
 * stop, or cannot be followed (f->held: it is stopped nevertheless). */
int hold_stop(struct held *f);
/* Stops all other threads of the process, while f is held; they are in the list. false: not all
 * stopped in time. Then, too, hold_release is to follow. */
typedef VEC(pid_t) hold_list;
bool hold_others(struct held *f, hold_list *list);
void hold_release(struct held *f, hold_list *list);
void hold_pin(struct held *f);
void hold_unpin(struct held *f);
void hold_quiet(struct branches *b, bool on);
/* CPU time of the tracer and of the thread together, which is stopped: unlike elapsed time, it does
 * not pass while both wait for a processor. */
uint64_t hold_spent(const struct held *f);
/* CPU time of a thread that is stopped. */
uint64_t hold_time(const struct followed *p, pid_t tid);

/* cache.h */
void cache_free(struct cache *c);
/* Whether its process can run copies, as far as known. */
bool cache_serves(const struct cache *c);
/* Undoes the patches of anchors in code that was read at this address. */
void anchors_mask(const struct cache *c, uint64_t at, uint8_t *bytes, size_t size);
/* A signal is about to be delivered to a thread. If that is in a stub, it is moved to the place in
 * the original. The instruction that has caused a fault is executed again, there. */
bool anchors_leave(struct cache *c, pid_t tid, bool fault);
/* To be called for a copy of a process: it contains copies of its patches. */
void anchors_clean(struct followed *copy, const struct followed *parent);
/* The program's own time is over until native_resume: a burst begins. */
void native_pause(struct cache *c);
/* All anchors are taken out, until the next burst. */
void native_take_out(struct cache *c);
/* Counts so far are read: the memory is about to go. */
void native_peek(struct cache *c);
/* The process, whose only thread is stopped, is about to have several. */
void native_threads(struct cache *c);
bool native_counts(const struct cache *c);
/* Whether some anchors are to be in place now and then: native_turn changes which. rest: up to the
 * next turn, only those that are always in place. */
bool native_takes_turns(const struct cache *c);
void native_turn(struct cache *c, struct held *f, bool rest);
/* Whether anchors count too much: others should come into place at once. */
bool native_overruns(struct cache *c);
/* How long those in place may stay there, ns: they may count as often as in the last burst. */
double native_lasts(const struct cache *c);
/* Evaluates everything so far: the process ends. */
void native_end(struct cache *c);
void cache_renew(struct cache *c);
/* Records the runs of a burst. */
void cache_tell(struct cache *c);
/* Whether a stop is the end of a single step. */
bool cached_stepped(pid_t tid, int status);

/* trap.c: whether a stopped thread has a trap of its own that is not yet reported, because another
 * stop has overtaken it. */
bool trap_waits(pid_t tid);
/* The same of a fault; and whether its stop is that of one. */
bool trap_fault_waits(pid_t tid);
bool trap_is_fault(pid_t tid);
/* Whether its stop is that of an int3 that it has executed: no process has sent it. */
bool trap_is_breakpoint(pid_t tid);
/* Makes the waiting trap, or fault, the thread's stop: *status was the stop's, and is the new
 * one's, or that of the thread's end. A stop of the job is repeated when the thread continues.
 * false: it is gone. */
bool trap_take(pid_t tid, int *status);

/* visit.c */
void branches_visit(struct branches *b, pid_t tid, long processor);
/* Stops a thread, has it looked at (on this processor; -1: anywhere), and lets it go on. */
void visit_stop(
	struct branches *b, pid_t tid, long processor, void (*look)(struct held *f, uint64_t time));

/* stopped.c: samples by stops, and what the owner must know of threads to understand them. */
/* As many samples of a thread that runs as the time since the last one is worth. */
void stopped_sample(struct branches *b, pid_t tid, long processor);
/* Before the first one. */
void stopped_begin(struct branches *b);
/* Updates the time of a process by mode. */
void stopped_modes(struct branches *b, struct followed *p);
/* No samples stand for the CPU time since it was `used`: it was a burst's. */
void stopped_skip(struct branches *b, uint64_t used);
void stopped_born(struct branches *b, const struct thread *t, pid_t parent);
void stopped_execed(struct branches *b, struct followed *p);
/* Its mappings have changed: the owner must know code before it gets records of it. Frees text. */
void stopped_maps(struct branches *b, struct followed *p, char *text);
/* It is about to end, and has a name still; it has ended. */
void stopped_leaves(struct branches *b, const struct thread *t);
void stopped_ended(struct branches *b, const struct thread *t);

/* burst.c, window.c */
void branches_burst(struct branches *b, pid_t tid);
/* Other anchors come into place, of a process that native_takes_turns; rest: as native_turn. */
void branches_turn(struct branches *b, pid_t tid, bool rest);
void branches_window(struct branches *b, struct followed *p);
void branches_window_met(struct branches *b, struct followed *p, uint64_t address, uint64_t times);
/* Records the counts of windows: once, at the end. */
void branches_window_tell(struct branches *b);

/* calibrate.c */
int branches_calibrate(struct branches *b);
/* Moves this thread to the processor that tid runs on; branches_pin_free undoes it. tid is stopped:
 * else we would wait there for its next system call, and every moment would be after one. */
void branches_pin_to(pid_t tid);
void branches_pin(long processor);
void branches_pin_free(struct branches *b);

/* budget.c: ns. */
/* Whether the share of moments is for all that they cost, our process's CPU time among it. */
bool budget_is_whole(const struct branches *b);
/* By the tracer and the stopped threads: of a moment, the difference. */
uint64_t budget_now(const struct branches *b);
/* Since the beginning, with what forks, evaluation and samples took. If it is whole, without what
 * our process takes, which its owner knows best. */
uint64_t budget_told(const struct branches *b);
/* With it, and with what is reserved for its end. */
uint64_t budget_whole(const struct branches *b);
/* What the budget is for: samples by stops have a share of their own. */
double budget_spent(const struct branches *b);
/* The same, always with our process. */
double budget_fitted(const struct branches *b);
/* What was charged since the last moment, which now counts. */
double budget_take_charges(struct branches *b);

/* pace.c: bursts and windows at their moments, until no thread is left. */
void branches_run(struct branches *b);
/* Its parts, for test_pace. Sets the first moments; asked: at rates that are asked for. */
void pace_begin(struct branches *b, bool asked);
/* Whether its moment has come. If it is too expensive now, it is put off. */
bool pace_due(const struct branches *b, struct pace *p);
/* Adds the cost of a moment. */
void pace_note(struct pace *p, double ns);
/* Its next moment: in the next stratum; in one that begins now if that is over already. */
void pace_draw(struct branches *b, struct pace *p);

#endif
