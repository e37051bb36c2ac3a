/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch records in software, for processors without branch records in hardware. A process of this
 * library (apart.c; for visits a thread) follows the threads of a program with ptrace. At random
 * moments of their CPU time there is
 *
 * - a burst: a thread runs copies of its code that count every transfer of control (cache.h). Where
 *   copies are not possible, the burst follows the thread from one transfer to the next, for some
 *   hundred of them;
 * - a window: a breakpoint at one instruction counts its executions for some milliseconds.
 *
 * Bursts begin where time is spent, and their shares of one branch's targets are unbiased. The
 * place and length of a window are chosen before its moment, and nothing that happens in it ends
 * it.
 *
 * Breakpoints (int3) are put only on instructions that transfer control. A thread that reaches one
 * is stopped, the tracer does what the instruction does (step.c) and continues the thread after
 * it. So no breakpoint is taken out to be passed, no other thread is stopped, and no thread passes
 * uncounted. A single step is not used instead: in a virtual machine it costs an exit to the
 * hypervisor, an int3 does not.
 *
 * Between bursts, some instructions of a program lead through stubs that count
 * (anchors.h). What they count decides how much each
 * burst stands for (native.c, weigh.h).
 *
 * What the program can notice: a few dozen microseconds at the creation of a thread, some at each
 * signal; a debugger in it cannot trace the same threads; a set-user-id program in it runs without
 * its privileges, unless the tracer is root. Breakpoints exist, and threads are in copies, only
 * during bursts and windows. If our process is killed (SIGKILL) then, the tracer puts the program
 * back. If the tracer itself is killed, the program dies of SIGTRAP when it gets to a breakpoint or
 * to the end of the copies.
 *
 * What a stop changes is put back (tracer.c): a trap unblocks SIGTRAP, so it is blocked again where
 * it was; an interrupted system call begins again unless a handler runs; a fork's breakpoints are
 * taken out before the child runs.
 *
 * Only code of files that is mapped privately and not writable is followed, not generated code.
 * Processes that block, catch or ignore SIGTRAP, have a shadow stack or run 32-bit code are left
 * alone.
 */
#ifndef BRANCHES_BRANCHES_H
#define BRANCHES_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"

/* Bursts per second of CPU time, unless that costs too much or another rate is requested. */
#define BRANCHES_RATE 300

enum branch_record_kind {
	BRANCH_RUN,   /* instructions from begin to the transfer at end, which went to `to` */
	BRANCH_QUIET, /* a burst of process pid: samples from begin to end (times) are not the
			 program's own */
	BRANCH_SITE,  /* a number, id, for the instruction at begin */
	BRANCH_RATE,  /* of site id: hits in ns of CPU time in some windows; span: ns of CPU time in
			 which windows were possible */
	BRANCH_WAY,   /* a number, id, for the run from begin to end that went to `to` */
	BRANCH_MET,   /* of run id: hits in all bursts; of timed bursts: how many included it
			 (windows), the sum of its rates and of their squares */
	BRANCH_STUB,  /* samples from begin to end (addresses) belong to the instruction at `to` */
	BRANCH_LOAD,  /* a load at begin took this number of ticks of the time-stamp counter (hits),
			 in  timed burst id; windows: enum branch_load_form; end and to: bytes
			 of the instruction; span: branch_load_insn */
	BRANCH_VALUES, /* what a burst has logged: values */
	BRANCH_TALLY,  /* id: enum experiment_tally_kind, hits: the increase */
	/* With request.period, what the kernel would report, of thread id: */
	BRANCH_SAMPLE, /* hits samples at begin, on processor windows - 1 (0: not wanted): sample
			  (NULL: only its address is known) */
	BRANCH_BORN,   /* it begins, of a process with parent begin */
	BRANCH_ENDED,
	BRANCH_NAMED,  /* text */
	BRANCH_EXECED, /* of the process, which is named text now */
	BRANCH_MAPS,   /* text: the contents of /proc/PID/maps */
};

/* How many registers a sample has: rax rbx rcx rdx rsi rdi rbp rsp rip r8 to r15, as
 * perf_event_open(2) has them. */
#define BRANCHES_REGISTERS 17

struct branch_sample {
	uint64_t registers[BRANCHES_REGISTERS];
	size_t size; /* of the stack, from rsp on; 0: it is not wanted, or unreadable */
	uint8_t stack[];
};

/* Of a timed load: bytes of the instruction and of its memory; the general register that it writes
 * (255: none) and how many bits of it. The lowest byte is first. */
static inline uint64_t branch_load_insn(
	unsigned length, unsigned size, unsigned result, unsigned result_bits)
{
	return length | size << 8 | result << 16 | result_bits << 24;
}

/* How registers reach a timed load, which is part of what its copy takes. */
enum branch_load_form {
	BRANCH_LOAD_PLAIN,
	BRANCH_LOAD_RESTORED, /* its address is that of a register that was just restored */
	BRANCH_LOAD_FORMS
};

/* What was logged of one thing that an instruction works on: kinds and classes are those of
 * experiment/values.h. Its values follow those of the place before, in order. */
struct branch_value_place {
	uint64_t pc;
	uint32_t count; /* of its values */
	uint8_t kind, operand, bits, class;
};

struct branch_values {
	size_t places;
	const struct branch_value_place *place;
	const uint64_t *value;
	/* both follow */
};

struct branch_record {
	enum branch_record_kind kind;
	pid_t pid;     /* process of these addresses */
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint64_t begin, end, to;
	uint32_t id, windows;
	uint64_t hits, ns, span;
	double rate, squares;                 /* executions per second of native CPU time */
	union {                               /* to be freed by the owner of the record */
		struct branch_values *values; /* of BRANCH_VALUES */
		struct branch_sample *sample; /* of BRANCH_SAMPLE */
		char *text;
		void *owned;
	};
};

/* A thread that is stopped at a random moment, outside of system calls. */
struct branches_visit {
	pid_t pid, tid;
	uint64_t time;                            /* CLOCK_MONOTONIC, ns */
	int memory;                               /* /proc/PID/mem, readable */
	const struct user_regs_struct *registers; /* NULL: it is in a system call */
	const void *state; /* extended registers, of PTRACE_GETREGSET, NT_X86_XSTATE */
	size_t size;       /* its bytes */
};

/* CPU time spent for moments beside the tracer's, ns: by our process, and by others. */
struct branches_charge {
	uint64_t own, others;
};

/* Bytes of the largest extended state. */
#define BRANCHES_STATE 16384

/* Of stops, ns: elapsed time; CPU time of the thread that stops, and of one that we interrupt. */
struct branches_costs {
	double elapsed, stopped, interrupted;
};

/* What one run of a command leaves to the next: zeroed before the first. What all of them may cost
 * is shared. */
struct branches_known {
	uint64_t used, spent; /* CPU time of the program and what following it cost, ns */
	double bursts_ns;     /* of it, bursts; */
	double bursts;        /* their number */
	struct branches_costs costs;
};

struct branches_request {
	pid_t pid;      /* to be followed, with all its descendants */
	bool running;   /* it is not our own child, stopped before its exec */
	uint64_t began; /* of a running one, by proc_began; 0: any */
	double rate; /* bursts and windows per second of CPU time; 0: the default, or fewer if that
			costs too much */
	uint64_t seed;
	/* Called by the tracer: a burst begins (on) or ends.  May be NULL. */
	void (*quiet)(void *context, bool on);
	/*
	 * Visits, in place of bursts and windows (NULL): at each moment a thread is stopped, this
	 * is called from the thread that traces, and the thread goes on. Nothing is written to the
	 * program, so it may handle SIGTRAP or have a shadow stack. Returns what was spent
	 * elsewhere for visits since the last one. Of records, there are tallies only.
	 */
	struct branches_charge (*visit)(void *context, const struct branches_visit *visit);
	void (*renewed)(void *context, pid_t pid); /* with visits: it has called exec, or is new */
	/* Bursts time loads, in copies only, and count nothing: there are BRANCH_LOAD and tallies.
	 */
	bool latency;
	bool values; /* some bursts log values, too: BRANCH_VALUES */
	/* Samples by stops, where the kernel's clock may not be used: a thread is stopped once in
	 * this CPU time of the program, ns, or more rarely if that costs too much; 0: none.
	 * stack_bytes: copied of each stack. */
	uint64_t period;
	uint32_t stack_bytes;
	bool processors;   /* of samples are wanted */
	bool only_samples; /* no bursts and windows; of tallies, only the program's CPU time */
	/* Of the program's time, what visits or timed bursts may cost with all that our process
	 * does besides; 0: those of pace.c. TALLY_COST_NS is without CPU time of our process. */
	double share;
	uint64_t before;              /* CPU time of our process that is none of this cost, ns */
	struct branches_known *known; /* of several runs of one command; NULL: it is run once */
	/* elapsed is 0: they are not known yet, and are written there once they were measured.
	 * NULL: they are measured, and forgotten. */
	struct branches_costs *costs;
	uint64_t sampled; /* the owner takes a sample once in this CPU time, ns; 0: never */
	void *context;
};

struct branches;

/* Begins to follow; a process or thread of its own does all the work. The caller has SIGCHLD
 * blocked in all threads and waits for none of the processes that are followed. NULL with *e: not
 * permitted, or not x86-64. */
struct branches *branches_new(const struct branches_request *r, struct error *e);
/* A descriptor that can be read when our own child has ended. */
int branches_descriptor(const struct branches *b);
/* Has our own child ended? */
bool branches_ended(struct branches *b, int *status, struct rusage *usage);
/* All records before this time are complete. */
uint64_t branches_horizon(struct branches *b);
/* Hands over complete records in order of time. *count records, borrowed until the next call. */
const struct branch_record *branches_take(struct branches *b, size_t *count);
/* What taken records have cost since then. */
void branches_charge(struct branches *b, struct branches_charge spent);
/* What it has spent on samples of the kernel's clock, which are no part of the budget of visits and
 * timed loads: ns of CPU time. */
void branches_beside(struct branches *b, uint64_t ns);
/* What our process will spend after the end, as far as that can be known: ns of CPU time. */
void branches_reserve(struct branches *b, uint64_t ns);
/* A message for the user: processes that are not followed, and why; NULL: none (left). Borrowed
 * until the next call. */
const char *branches_notice(struct branches *b);
/* Ends bursts and windows and detaches from all threads; records can still be taken. */
void branches_stop(struct branches *b);
void branches_free(struct branches *b);

#endif
