/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls in copies. A call that is carried out in the original costs two stops, as much time
 * as thousands of instructions. So a copy checks the call, and does it itself if the program cannot
 * notice: the call does not block, so that nothing interrupts it; it changes no code, no thread and
 * nothing that a trap depends on; and it does not show the affinity, which is changed meanwhile.
 *
 * A call leaves its return address in rcx: the copy puts the original's there.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "branches/cache.h"

#define NUMBERS 512 /* of calls */
#define FILES   64  /* descriptors */
#define WAYS    16

_Static_assert(SLOT_CALLS + NUMBERS / 8 <= SLOT_WATCHED, "each call has a byte");

/* When a call may be done. */
enum {
	NEVER,
	ANY_TIME,
	OF_FILE,    /* its descriptor is that of a plain file */
	OF_MASK,    /* its set of signals lacks SIGTRAP, or there is none */
	OF_HANDLER, /* its signal is another than SIGTRAP */
	OF_SPACE,   /* it does not replace a mapping */
	OF_WAKING,  /* it does not wait */
};

static const uint8_t kinds[NUMBERS] = {
	[SYS_read] = OF_FILE,
	[SYS_write] = OF_FILE,
	[SYS_stat] = ANY_TIME,
	[SYS_fstat] = ANY_TIME,
	[SYS_lstat] = ANY_TIME,
	[SYS_lseek] = ANY_TIME,
	[SYS_mmap] = OF_SPACE,
	[SYS_brk] = ANY_TIME,
	[SYS_rt_sigaction] = OF_HANDLER,
	[SYS_rt_sigprocmask] = OF_MASK,
	[SYS_pread64] = OF_FILE,
	[SYS_pwrite64] = OF_FILE,
	[SYS_readv] = OF_FILE,
	[SYS_writev] = OF_FILE,
	[SYS_access] = ANY_TIME,
	[SYS_sched_yield] = ANY_TIME,
	[SYS_madvise] = ANY_TIME,
	[SYS_getpid] = ANY_TIME,
	[SYS_uname] = ANY_TIME,
	[SYS_getcwd] = ANY_TIME,
	[SYS_readlink] = ANY_TIME,
	[SYS_gettimeofday] = ANY_TIME,
	[SYS_getrlimit] = ANY_TIME,
	[SYS_getrusage] = ANY_TIME,
	[SYS_sysinfo] = ANY_TIME,
	[SYS_times] = ANY_TIME,
	[SYS_getuid] = ANY_TIME,
	[SYS_getgid] = ANY_TIME,
	[SYS_geteuid] = ANY_TIME,
	[SYS_getegid] = ANY_TIME,
	[SYS_getppid] = ANY_TIME,
	[SYS_getpgrp] = ANY_TIME,
	[SYS_rt_sigpending] = ANY_TIME,
	[SYS_sigaltstack] = ANY_TIME,
	[SYS_gettid] = ANY_TIME,
	[SYS_time] = ANY_TIME,
	[SYS_futex] = OF_WAKING,
	[SYS_clock_gettime] = ANY_TIME,
	[SYS_clock_getres] = ANY_TIME,
	[SYS_newfstatat] = ANY_TIME,
	[SYS_statx] = ANY_TIME,
};

/* Jumps that wait for the place that they lead to. */
struct ways {
	struct arena *arena;
	uint32_t jumps[WAYS];
	unsigned count;
};

static void ways_add(struct ways *w, struct out *o, const char *opcode)
{
	w->arena = o->arena;
	w->jumps[w->count++] = emit_jump(o, opcode, o->arena->used);
}

static void ways_end(const struct ways *w)
{
	for (unsigned i = 0; i < w->count; i++)
		emit_patch(w->arena, w->jumps[i], w->arena->used);
}

#define JUMP       "\xe9"
#define JUMP_BELOW "\x0f\x82"
#define JUMP_NOT   "\x0f\x83" /* below */
#define JUMP_EQUAL "\x0f\x84"
#define JUMP_OTHER "\x0f\x85"
#define JUMP_ABOVE "\x0f\x87"

/* The kind of call, from 1 on, is in ecx: goes where it is checked. */
static void emit_kinds(struct out *o, struct ways *kind, struct ways *never)
{
	emit(o, "\x48\x3d\x00\x02\x00\x00", 6); /* cmp $NUMBERS, %rax */
	ways_add(never, o, JUMP_NOT);
	emit_slot(o, "\x48\x8d\x0d", SLOT_CALLS); /* lea table(%rip), %rcx */
	emit(o, "\x0f\xb6\x0c\x01", 4);           /* movzbl (%rcx,%rax), %ecx */
	emit(o, "\x83\xf9\x01", 3);               /* cmp $1, %ecx */
	ways_add(never, o, JUMP_BELOW);
	ways_add(&kind[ANY_TIME], o, JUMP_EQUAL);
	emit(o, "\x83\xf9\x03", 3);
	ways_add(&kind[OF_FILE], o, JUMP_BELOW);
	ways_add(&kind[OF_MASK], o, JUMP_EQUAL);
	emit(o, "\x83\xf9\x05", 3);
	ways_add(&kind[OF_HANDLER], o, JUMP_BELOW);
	ways_add(&kind[OF_SPACE], o, JUMP_EQUAL);
}

_Static_assert(NUMBERS == 0x200 && OF_MASK == 3 && OF_SPACE == 5, "as they are compared with");

/* They follow each other; the last falls through to the call. */
static void emit_checks(struct out *o, const struct ways *kind, struct ways *go, struct ways *never)
{
	emit(o, "\x89\xf1\x83\xe1\x7f", 5); /* mov %esi, %ecx; and $FUTEX_CMD_MASK's bits, %ecx */
	emit(o, "\x83\xf9\x01", 3);         /* cmp $FUTEX_WAKE, %ecx */
	ways_add(never, o, JUMP_OTHER);
	ways_add(go, o, JUMP);
	ways_end(&kind[OF_SPACE]);
	emit(o, "\x41\xf6\xc2\x10", 4); /* test $MAP_FIXED, %r10b */
	ways_add(never, o, JUMP_OTHER);
	ways_add(go, o, JUMP);
	ways_end(&kind[OF_HANDLER]);
	emit(o, "\x83\xff\x05", 3); /* cmp $SIGTRAP, %edi */
	ways_add(never, o, JUMP_EQUAL);
	ways_add(go, o, JUMP);
	ways_end(&kind[OF_FILE]);
	emit(o, "\x83\xff\x3f", 3); /* cmp $FILES - 1, %edi */
	ways_add(never, o, JUMP_ABOVE);
	emit_slot(o, MOV_TO_RCX, SLOT_FILES);
	emit(o, "\x48\x0f\xa3\xf9", 4); /* bt %rdi, %rcx */
	ways_add(never, o, JUMP_NOT);
	ways_add(go, o, JUMP);
	ways_end(&kind[OF_MASK]);
	emit(o, "\x48\x85\xf6", 3); /* test %rsi, %rsi */
	ways_add(go, o, JUMP_EQUAL);
	emit(o, "\xf6\x06\x10", 3); /* testb $(1 << (SIGTRAP - 1)), (%rsi) */
	ways_add(never, o, JUMP_OTHER);
}

_Static_assert(FUTEX_WAKE == 1 && MAP_FIXED == 0x10 && FILES == 0x40, "as they are compared with");

/* rcx and r11 are the call's to change, so the checks may use rcx. */
int calls_emit(struct out *o, uint64_t address, uint64_t begin)
{
	struct ways kind[OF_WAKING + 1] = {0}, go = {0}, never = {0}, on = {0};

	o->address = address;
	o->undo = 0;
	emit_kinds(o, kind, &never);
	emit_checks(o, kind, &go, &never);
	ways_end(&kind[ANY_TIME]);
	ways_end(&go);
	emit(o, CALL_BYTES, CALL_SIZE);
	o->address = address + CALL_SIZE;
	o->undo = CALLED;
	emit_wide(o, "\x48\xb9", address + CALL_SIZE); /* mov, %rcx */
	o->undo = 0;
	ways_add(&on, o, JUMP);
	ways_end(&never);
	if (emit_exit(o, EXIT_STEP, address, begin, 0))
		return -1;
	ways_end(&on);
	o->address = address + CALL_SIZE;
	return 0;
}

int calls_send(struct cache *c, struct arena *a, bool allowed)
{
	static const uint8_t none[NUMBERS];
	int memory = c->process->memory;

	if (a->calls != allowed && !process_write(memory, arena_slot_address(a, SLOT_CALLS),
					   allowed ? kinds : none, NUMBERS))
		return -1;
	a->calls = allowed;
	if (a->files != c->files && !process_write(memory, arena_slot_address(a, SLOT_FILES),
					    &c->files, sizeof(c->files)))
		return -1;
	a->files = c->files;
	return 0;
}

/* Files of /proc show what we change. Their size is 0. */
static bool is_plain(pid_t pid, int descriptor)
{
	char path[64];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, descriptor);
	return stat(path, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0;
}

void calls_done(struct cache *c, uint64_t number, uint64_t descriptor)
{
	int kind = number < NUMBERS ? kinds[number] : NEVER;

	if (kind == NEVER) /* it may have closed some */
		c->files = 0;
	if (kind == OF_FILE && descriptor < FILES && is_plain(c->pid, (int)descriptor))
		c->files |= 1ull << descriptor;
}
