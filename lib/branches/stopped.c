/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of the clock by stops, where the kernel's clock may not be used: containers and kernels
 * that forbid perf_event_open to ordinary users. The owner has no records of the kernel then, so it
 * gets what it must know of threads and mappings from here, too.
 *
 * Moments are those of pace.c. A sample is where a thread continues: of time in the kernel, that is
 * after the system call.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "branches/private.h"
#include "process/seize.h"

#define LOOK_EVERY (200 * (uint64_t)MILLISECOND) /* at mappings */

static void clock_put(struct branches *b, struct branch_record r)
{
	r.time = r.time ? r.time : branches_now(CLOCK_MONOTONIC);
	if (branches_put(b, &r))
		free(r.owned);
}

/* ---- threads ---- */

void stopped_born(struct branches *b, const struct thread *t, pid_t parent)
{
	if (b->request.period)
		clock_put(b, (struct branch_record){.kind = BRANCH_BORN,
				     .pid = t->process->pid,
				     .id = (uint32_t)t->tid,
				     .begin = (uint64_t)parent});
}

void stopped_ended(struct branches *b, const struct thread *t)
{
	if (b->request.period)
		clock_put(b, (struct branch_record){.kind = BRANCH_ENDED,
				     .pid = t->process->pid,
				     .id = (uint32_t)t->tid});
}

static void clock_name(struct branches *b, enum branch_record_kind kind, pid_t pid, pid_t tid)
{
	char name[32];

	if (!b->request.period)
		return;
	proc_status(tid, "Name", name, sizeof(name));
	if (name[0])
		clock_put(b, (struct branch_record){.kind = kind,
				     .pid = pid,
				     .id = (uint32_t)tid,
				     .text = strdup(name)});
}

void stopped_leaves(struct branches *b, const struct thread *t)
{
	clock_name(b, BRANCH_NAMED, t->process->pid, t->tid);
}

void stopped_execed(struct branches *b, struct followed *p)
{
	if (!b->sampling.began && p->pid == b->request.pid) {
		process_clock(b, p);
		b->sampling.began = true;
		b->sampling.bursts = b->used;
	}
	p->told.hash = 0;
	clock_name(b, BRANCH_EXECED, p->pid, p->pid);
}

/* ---- samples ---- */

static bool clock_knows(const struct followed *p, uint64_t pc)
{
	for (size_t i = 0; i < p->told.code.count; i++)
		if (pc >= p->told.code.data[i].begin && pc < p->told.code.data[i].end)
			return true;
	return false;
}

static void remember_code(struct followed *p, const char *text)
{
	p->told.code.count = 0;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		struct code_range range;
		char mode[8];

		line += *line == '\n';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &range.begin, &range.end, mode) ==
				3 &&
			mode[2] == 'x' && vec_add(&p->told.code, range))
			return;
	}
}

/* NULL: its mappings could not be read. */
static void clock_tell(struct branches *b, struct followed *p, char *text, uint64_t time)
{
	uint64_t hash = text ? process_hash_of(text) : 0;

	p->told.time = time;
	if (!text || hash == p->told.hash) {
		free(text);
		return;
	}
	p->told.hash = hash;
	remember_code(p, text);
	clock_put(b, (struct branch_record){
			     .kind = BRANCH_MAPS, .pid = p->pid, .time = time, .text = text});
}

/* Mappings that are new since the last look come before the sample. */
static void clock_look(struct branches *b, struct followed *p, uint64_t pc, uint64_t time)
{
	if (p->told.hash && clock_knows(p, pc) && time < p->told.time + LOOK_EVERY)
		return;
	clock_tell(b, p, proc_text(proc_living(p->pid), "maps", PROCESS_TEXT), time);
}

void stopped_maps(struct branches *b, struct followed *p, char *text)
{
	clock_tell(b, p, text, branches_now(CLOCK_MONOTONIC));
}

static void registers_of(const struct user_regs_struct *r, uint64_t *to)
{
	const uint64_t all[BRANCHES_REGISTERS] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
		r->rbp, r->rsp, r->rip, r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14,
		r->r15};

	memcpy(to, all, sizeof(all));
}

/* The stack ends where its mapping does. */
static size_t read_stack(const struct followed *p, uint64_t from, uint8_t *to, size_t size)
{
	while (size && !process_read(p->memory, from, to, size))
		size /= 2;
	return size;
}

/* Clocks of a process: of the ticks in user mode, and of all, as getrusage has them. */
#define USER_CLOCK(clock) (((clock) & ~(clockid_t)3) | 1)
#define TICK_CLOCK(clock) ((clock) & ~(clockid_t)3)
/* Ticks before that say less than the stops. */
#define TICKS_FEW (40.0 * MILLISECOND)

enum mode { MODE_USER, MODE_KERNEL };

static uint64_t clock_step(clockid_t clock, uint64_t *last)
{
	uint64_t now = branches_now(clock), step = now > *last ? now - *last : 0;

	*last += step;
	return step;
}

void stopped_modes(struct branches *b, struct followed *p)
{
	b->sampling.user += clock_step(USER_CLOCK(p->clock), &p->user);
	b->sampling.ticks += clock_step(TICK_CLOCK(p->clock), &p->ticks);
}

void stopped_begin(struct branches *b)
{
	/* What a running process did before says nothing of its modes now. */
	for (size_t i = 0; i < b->processes.count; i++)
		stopped_modes(b, b->processes.data[i]);
	b->sampling.user = b->sampling.ticks = 0;
	b->sampling.began = b->request.running;
	b->sampling.bursts = b->used;
	b->sampling.told[MODE_USER] = (0.5 - branches_chance(b)) * (double)b->request.period;
}

void stopped_skip(struct branches *b, uint64_t used)
{
	b->sampling.bursts += b->used - used;
	/* where an exec in it has begun this anew */
	if (b->sampling.bursts > b->used)
		b->sampling.bursts = b->used;
}

/*
 * How many samples the time in this mode lacks so far. Of a thread that sleeps often, too many
 * stops are in the kernel: we wake up together with it, and if both are on one processor, it waits
 * for us. So the time of each mode is taken from the kernel's ticks.
 */
static uint64_t clock_owed(const struct branches *b, enum mode mode)
{
	const struct sampling *s = &b->sampling;
	double stops = (double)(s->stops[MODE_USER] + s->stops[MODE_KERNEL]);
	double user = ((double)s->user + TICKS_FEW * (double)s->stops[MODE_USER] / stops) /
		      ((double)s->ticks + TICKS_FEW);
	double share = mode == MODE_USER ? user : 1 - user;
	double owed =
		(share * (double)(b->used - s->bursts) - s->told[mode]) / (double)b->request.period;

	return owed > -0.5 ? (uint64_t)(owed + 0.5) : 0;
}

/* NULL: memory is out. */
static struct branch_sample *new_sample(const struct held *f)
{
	uint32_t wanted = f->b->request.stack_bytes;
	struct branch_sample *s = calloc(1, sizeof(*s) + wanted);

	if (!s)
		return NULL;
	registers_of(&f->registers, s->registers);
	s->size = read_stack(f->process, f->registers.rsp, s->stack, wanted);
	return s;
}

/* A sample counts as often as there are periods in the time since the last one of its mode. */
static void stop_look_at(struct held *f, uint64_t time)
{
	struct branches *b = f->b;
	enum mode mode = f->stale ? MODE_KERNEL : MODE_USER;
	uint64_t count;

	if (!b->sampling.began)
		return;
	b->sampling.stops[mode]++;
	count = clock_owed(b, mode);
	b->sampling.told[mode] += (double)(count * b->request.period);
	if (!count)
		return;
	clock_look(b, f->process, f->registers.rip, time);
	clock_put(b,
		(struct branch_record){.kind = BRANCH_SAMPLE,
			.pid = f->process->pid,
			.id = (uint32_t)f->tid,
			.time = time,
			.begin = f->registers.rip,
			.hits = count,
			.windows = b->request.processors ? (uint32_t)b->sampling.processor + 1 : 0,
			.sample = new_sample(f)});
}

void stopped_sample(struct branches *b, pid_t tid, long processor)
{
	b->sampling.processor = processor;
	visit_stop(b, tid, -1, stop_look_at);
}
