/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the instructions that a command executes at user level, by single-stepping it: a count
 *that owes nothing to the model.
 *
 *	steps -leaves			prints what cpuid and xgetbv answer here
 *	steps [-as FILE] -o FILE command...
 *
 * -as gives the command the processor of FILE (written by -leaves, run under Valgrind), so that the
 * C library chooses the same functions as there, and hides the vdso, as Valgrind does.
 *
 * A string instruction with a repeat prefix traps after each iteration, with the program counter
 * still on it until the last: it counts as one.  Only the command's first thread is followed.  The
 * report, a line each: instructions, repeats (traps that were further iterations), distinct
 * (instructions executed at least once), vdso (those of the count that were in the vdso); then each
 * address and how often it was executed.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE 27
#define AT_RSEQ_ALIGN        28
#endif

enum { LEAVES_MAX = 4096, SUBLEAVES = 32, SEEN = 1 << 20 };
#define XGETBV_LEAF 0xffffffffu /* stands for xgetbv(0) in the table */

enum kind { PLAIN, REPEATED_STRING, CPUID, XGETBV };

struct leaf {
	uint32_t leaf, subleaf, a, b, c, d;
};

struct seen {
	uint64_t address, count;
	enum kind kind;
};

static struct leaf leaves[LEAVES_MAX];
static size_t leaf_count;
static struct seen seen[SEEN];
static uint64_t instructions, repeats, distinct, in_vdso, vdso_from, vdso_to;

static void die(const char *what)
{
	fprintf(stderr, "steps: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* ---- the processor ---- */

static void print_leaves(void)
{
	static const uint32_t from[] = {0, 0x80000000u, 0x40000000u},
			      to[] = {0x24, 0x80000021u, 0x40000001u};
	uint32_t low, high;

	for (size_t i = 0; i < 3; i++)
		for (uint32_t leaf = from[i]; leaf <= to[i]; leaf++)
			for (uint32_t sub = 0; sub < SUBLEAVES; sub++) {
				uint32_t a, b, c, d;

				__cpuid_count(leaf, sub, a, b, c, d);
				printf("%x %x %x %x %x %x\n", leaf, sub, a, b, c, d);
			}
	__cpuid(1, low, high, high, high);
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	printf("%x 0 %x 0 0 %x\n", XGETBV_LEAF, low, high);
}

static void read_leaves(const char *path)
{
	FILE *f = fopen(path, "r");
	struct leaf l;

	if (!f)
		die(path);
	while (leaf_count < LEAVES_MAX &&
		fscanf(f, "%x %x %x %x %x %x", &l.leaf, &l.subleaf, &l.a, &l.b, &l.c, &l.d) == 6)
		leaves[leaf_count++] = l;
	fclose(f);
}

/* Subleaves beyond those that were asked for answer as the last did. */
static const struct leaf *find_leaf(uint32_t leaf, uint32_t subleaf)
{
	if (leaf != XGETBV_LEAF && subleaf >= SUBLEAVES)
		subleaf = SUBLEAVES - 1;
	for (size_t i = 0; i < leaf_count; i++)
		if (leaves[i].leaf == leaf && leaves[i].subleaf == subleaf)
			return &leaves[i];
	return NULL;
}

/* In place of the instruction that the command stands at.  False: the processor's own answer it is.
 */
static int answer(pid_t pid, enum kind kind)
{
	struct user_regs_struct r;
	const struct leaf *l;
	struct leaf room;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		die("registers");
	l = kind == CPUID ? find_leaf((uint32_t)r.rax, (uint32_t)r.rcx)
			  : find_leaf(XGETBV_LEAF, (uint32_t)r.rcx);
	if (!l)
		return 0;
	/* The state that xsave writes is the real processor's: it must have its room. */
	if (kind == CPUID && (uint32_t)r.rax == 0xd && (uint32_t)r.rcx == 0) {
		uint32_t a, d;

		__cpuid_count(0xd, 0, a, room.b, room.c, d);
		room.a = l->a, room.d = l->d;
		l = &room;
	}
	r.rax = l->a;
	r.rdx = l->d;
	if (kind == CPUID)
		r.rbx = l->b, r.rcx = l->c;
	r.rip += kind == CPUID ? 2 : 3;
	if (ptrace(PTRACE_SETREGS, pid, NULL, &r))
		die("registers");
	return 1;
}

/* ---- instructions ---- */

static int string_operation(uint8_t opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
	       (opcode >= 0x6c && opcode <= 0x6f);
}

static enum kind classify(pid_t pid, uint64_t address)
{
	uint8_t text[16] = {0};
	struct iovec to = {text, sizeof(text)}, from = {(void *)address, sizeof(text)};
	size_t at = 0;
	int repeat = 0;

	/* Near the end of a page less may be had. */
	if (process_vm_readv(pid, &to, 1, &from, 1, 0) < 0) {
		to.iov_len = from.iov_len =
			4096 - (address & 4095) < 16 ? 4096 - (address & 4095) : 1;
		if (process_vm_readv(pid, &to, 1, &from, 1, 0) < 0)
			return PLAIN;
	}
	if (text[0] == 0x0f && text[1] == 0xa2)
		return CPUID;
	if (text[0] == 0x0f && text[1] == 0x01 && text[2] == 0xd0)
		return XGETBV;
	for (; at < 4; at++) {
		if (text[at] == 0xf2 || text[at] == 0xf3)
			repeat = 1;
		else if (text[at] != 0x66 && text[at] != 0x67 && (text[at] & 0xf0) != 0x40)
			break;
	}
	return repeat && string_operation(text[at]) ? REPEATED_STRING : PLAIN;
}

static struct seen *find(pid_t pid, uint64_t address)
{
	for (uint64_t i = address * 0x9e3779b97f4a7c15u >> 40;; i++) {
		struct seen *s = &seen[i % SEEN];

		if (s->address == address)
			return s;
		if (s->address)
			continue;
		if (++distinct == SEEN) {
			errno = ENOSPC;
			die("distinct instructions");
		}
		s->address = address;
		s->kind = classify(pid, address);
		return s;
	}
}

/* ---- the command ---- */

static uint64_t word(pid_t pid, uint64_t address)
{
	errno = 0;
	uint64_t value = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, address, NULL);

	if (errno)
		die("the command's stack");
	return value;
}

/* What Valgrind takes out of the auxiliary vector: the vdso, and what its processor has not. */
static void hide_auxiliary(pid_t pid)
{
	static const uint64_t hidden[] = {
		AT_SYSINFO_EHDR, AT_HWCAP2, AT_RSEQ_FEATURE_SIZE, AT_RSEQ_ALIGN};
	uint64_t at = (uint64_t)ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rsp), NULL);

	at += 8 * (word(pid, at) + 2); /* the arguments and their end */
	while (word(pid, at))
		at += 8;
	for (at += 8; word(pid, at) != AT_NULL; at += 16)
		for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
			if (word(pid, at) == hidden[i] &&
				ptrace(PTRACE_POKEDATA, pid, at, (void *)AT_IGNORE))
				die("the command's stack");
}

static void find_vdso(pid_t pid)
{
	char path[64], line[512];
	unsigned long long from, to;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]") && sscanf(line, "%llx-%llx", &from, &to) == 2)
			vdso_from = from, vdso_to = to;
	fclose(f);
}

/* A step is two switches between us and the command: cheapest on one processor. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static pid_t begin(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		fprintf(stderr, "steps: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		die("wait");
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	return pid;
}

/* Returns the command's status. */
static int follow(pid_t pid)
{
	uint64_t last = 0;
	int status, signal = 0;

	for (;;) {
		uint64_t at = (uint64_t)ptrace(
			PTRACE_PEEKUSER, pid, offsetof(struct user, regs.rip), NULL);
		struct seen *s = find(pid, at);

		if (s->kind == REPEATED_STRING && at == last)
			repeats++;
		else
			s->count++, instructions++, in_vdso += at >= vdso_from && at < vdso_to;
		last = at;
		if ((s->kind == CPUID || s->kind == XGETBV) && answer(pid, s->kind))
			continue;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(uintptr_t)signal) ||
			waitpid(pid, &status, 0) < 0)
			die("step");
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
}

int main(int argc, char **argv)
{
	const char *out = NULL, *as = NULL;
	int at = 1, status;
	pid_t pid;
	FILE *f;

	if (argc == 2 && strcmp(argv[1], "-leaves") == 0) {
		print_leaves();
		return 0;
	}
	for (; at + 1 < argc && argv[at][0] == '-' && argv[at][1] != '-'; at += 2)
		if (strcmp(argv[at], "-o") == 0)
			out = argv[at + 1];
		else if (strcmp(argv[at], "-as") == 0)
			as = argv[at + 1];
		else
			break;
	at += at < argc && strcmp(argv[at], "--") == 0;
	if (!out || at >= argc || argv[at][0] == '-') {
		fprintf(stderr, "usage: steps -leaves | steps [-as FILE] -o FILE command...\n");
		return 125;
	}
	if (as)
		read_leaves(as);
	stay_here();
	pid = begin(argv + at);
	find_vdso(pid);
	if (as)
		hide_auxiliary(pid);
	status = follow(pid);
	f = fopen(out, "w");
	if (!f)
		die(out);
	fprintf(f, "instructions %llu\nrepeats %llu\ndistinct %llu\nvdso %llu\n",
		(unsigned long long)instructions, (unsigned long long)repeats,
		(unsigned long long)distinct, (unsigned long long)in_vdso);
	for (size_t i = 0; i < SEEN; i++)
		if (seen[i].count)
			fprintf(f, "%llx %llu\n", (unsigned long long)seen[i].address,
				(unsigned long long)seen[i].count);
	return fclose(f) || status;
}
