/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values_truth MOST COMMAND...: executes a command of one thread by the interpreter of lib/values
 * alone, up to MOST instructions: its windows follow each other, and what they store is written to
 * the program. What is not interpreted (system calls ...) the program executes itself, by single
 * steps. Standard output of the command is dropped. Prints each site with its values, exactly
 * counted, most frequent first:
 *
 *   site PATH OFFSET KIND OPERAND COUNT VALUE:COUNT ... (16 at most; OFFSET and VALUE in hex)
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sort.h"
#include "base/table.h"
#include "experiment/values.h"
#include "values/values.h"

#define LISTED 16

struct exact { /* table entry */
	struct {
		uint64_t pc, value;
		uint32_t kind, operand;
	} key;
	uint64_t count;
};

static struct table values;
static struct values *v;
static pid_t pid;
static int memory = -1;
static unsigned long done;

static void count(const struct value_window *w)
{
	for (size_t i = 0; i < w->seen.count; i++) {
		const struct value_seen *s = &w->seen.data[i];
		struct exact key = {.key = {s->pc, s->value, s->kind, s->operand}}, *to;

		if (s->kind == VALUE_ADDRESS || s->kind == VALUE_PARTNER)
			continue;
		to = table_add(&values, &key.key);
		if (to)
			to->count++;
	}
}

/* -1: it has ended. */
static int wait_stop(int *signal)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	if (!WIFSTOPPED(status))
		return -1;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return 0;
}

static void open_memory(void)
{
	char path[64];

	if (memory >= 0)
		close(memory);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
	values_renew(v, pid);
}

/* Interprets a window, and makes the program what it would be after it. */
static int window(struct value_window *w)
{
	_Alignas(64) static uint8_t state[VALUES_STATE];
	struct user_regs_struct r;
	struct iovec io = {state, sizeof(state)};
	struct values_thread t = {.pid = pid, .memory = memory, .registers = &r, .state = state};

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r) != 0 ||
		ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &io) != 0)
		return -1;
	t.size = io.iov_len;
	if (!values_interpret(v, &t, w))
		return 0;
	count(w);
	done += w->instructions;
	values_apply(v, memory);
	values_registers(v, &r, state);
	r.orig_rax = (unsigned long long)-1;
	io.iov_len = t.size;
	return ptrace(PTRACE_SETREGS, pid, NULL, &r) != 0 ||
			       ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &io) != 0
		       ? -1
		       : 0;
}

/* ---- mappings ---- */

struct mapped {
	uint64_t begin, end, offset;
	char path[256];
};

static struct mapped maps[512];
static size_t mapped;

static void read_maps(void)
{
	char path[64], line[512], mode[8];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	mapped = 0;
	while (f && mapped < 512 && fgets(line, sizeof(line), f)) {
		struct mapped *m = &maps[mapped];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &m->begin,
			    &m->end, mode, &m->offset, m->path) == 5 &&
			mode[2] == 'x' && m->path[0] == '/')
			mapped++;
	}
	if (f)
		fclose(f);
}

static void run(unsigned long most)
{
	struct value_window w = {.pid = pid};
	int signal = 0;

	while (done < most && window(&w) == 0) {
		if (w.instructions && w.end == VALUES_WHOLE)
			continue;
		if (w.end == VALUES_CALL)
			read_maps(); /* it may be about to exit */
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(long)signal) != 0 ||
			wait_stop(&signal))
			break;
		done++;
		w.instructions = 0;
	}
	vec_fini(&w.seen);
}

/* ---- output ---- */

static int by_place(const void *pa, const void *pb)
{
	const struct exact *a = pa, *b = pb;

	return sort_rising(a->key.pc, b->key.pc) ?: sort_rising(a->key.kind, b->key.kind)
		       ?: sort_rising(a->key.operand, b->key.operand)
		       ?: sort_falling(a->count, b->count) ?: sort_rising(a->key.value, b->key.value);
}

static bool same_site(const struct exact *a, const struct exact *b)
{
	return a->key.pc == b->key.pc && a->key.kind == b->key.kind &&
	       a->key.operand == b->key.operand;
}

static void print_site(const struct exact *first, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += first[i].count;
	for (size_t i = 0; i < mapped; i++) {
		const struct mapped *m = &maps[i];

		if (first->key.pc < m->begin || first->key.pc >= m->end)
			continue;
		printf("site %s %" PRIx64 " %u %u %" PRIu64, m->path,
			first->key.pc - m->begin + m->offset, first->key.kind, first->key.operand,
			all);
		for (size_t k = 0; k < n && k < LISTED; k++)
			printf(" %" PRIx64 ":%" PRIu64, first[k].key.value, first[k].count);
		putchar('\n');
	}
}

static void print_all(void)
{
	const struct exact *e;

	table_sort(&values, by_place);
	e = (const struct exact *)(const void *)values.entries;
	for (size_t i = 0, n; i < values.count; i += n) {
		for (n = 1; i + n < values.count && same_site(&e[i], &e[i + n]); n++)
			;
		print_site(&e[i], n);
	}
}

static void begin(char **command)
{
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(command[0], command);
		_exit(127);
	}
}

int main(int argc, char **argv)
{
	const struct values_config config = {.length = 1000};
	struct error e;
	int signal;

	if (argc < 3)
		return 2;
	values = TABLE_OF(struct exact);
	v = values_new(&config, &e);
	if (!v) {
		fprintf(stderr, "%s\n", e.message);
		return 2;
	}
	begin(argv + 2);
	if (wait_stop(&signal))
		return 1;
	open_memory();
	run(strtoul(argv[1], NULL, 10));
	kill(pid, SIGKILL);
	print_all();
	fprintf(stderr, "%lu instructions\n", done);
	values_free(v);
	table_fini(&values);
	return 0;
}
