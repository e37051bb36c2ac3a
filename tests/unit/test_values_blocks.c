/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_values_blocks [all | FILE]: blocks of real code, interpreted from outside and then executed
 * by the processor, from the same state: registers, flags, vectors and memory must be the same
 * after it.
 *
 * A child has the block in its memory; registers are random. Each page that the block touches is
 * mapped, with random bytes, when it faults natively, which the interpreter must foresee. What
 * faults without a page is left out, and the block goes on behind it.
 *
 * Blocks are runs of instructions of this program and its libraries, few of them by default; or
 * lines of hexadecimal code, up to a comma.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#define REG_RSP REG_RSP_OF_SIGNALS /* isa.h has this name, too */
#include <signal.h>
#undef REG_RSP
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../chance.h"
#include "../tap.h"
#include "isa/redirect.h"
#include "values/values.h"

#define CODE_AT    0x10000000u /* a call of the kernel, then the block */
#define BLOCK_AT   (CODE_AT + 64)
#define BLOCK_MOST 2048
#define HEAP_AT    0x20000000u /* where pointers point to */
#define PAGE       4096u
#define PAGES      64 /* of a block */
#define WINDOW     64
#define WINDOWS    48
#define HEADER     512
#define FLAGS      0xcd5u
#define TRAP_FLAG  0x100u
#define SHOWN      10
#define SOME       300 /* blocks of our own code */
#define RUN        12  /* instructions of each */

struct memory {
	uint8_t page[PAGES][PAGE];
};

static struct {
	struct values *v;
	struct value_window window;
	pid_t pid;
	int memory;
	struct user_regs_struct first; /* of the child, in its own code */
	_Alignas(64) uint8_t extended[VALUES_STATE], before[VALUES_STATE], after[VALUES_STATE],
		own[VALUES_STATE];
	size_t size; /* of extended */
	uint64_t page[PAGES];
	unsigned pages;
	uint64_t block[2]; /* begin and end */
	unsigned long blocks, windows, executed, refused, faulted, differ, lost;
} c;

/* ---- the child ---- */

static pid_t begin(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (mmap((void *)(uintptr_t)CODE_AT, PAGE, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			    0) != (void *)(uintptr_t)CODE_AT ||
			ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	return pid;
}

static int wait_stop(void)
{
	int status;

	while (waitpid(c.pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	return WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
}

static bool get_registers(struct user_regs_struct *r, uint8_t *state)
{
	struct iovec io = {state, VALUES_STATE};

	if (ptrace(PTRACE_GETREGS, c.pid, NULL, r) ||
		ptrace(PTRACE_GETREGSET, c.pid, (void *)NT_X86_XSTATE, &io))
		return false;
	c.size = io.iov_len;
	return true;
}

static bool set_registers(const struct user_regs_struct *r, uint8_t *state)
{
	struct iovec io = {state, c.size};

	return ptrace(PTRACE_SETREGS, c.pid, NULL, r) == 0 &&
	       ptrace(PTRACE_SETREGSET, c.pid, (void *)NT_X86_XSTATE, &io) == 0;
}

/* The signal that stopped it, SIGTRAP after an instruction; -1: it has ended. */
static int step(void)
{
	return ptrace(PTRACE_SINGLESTEP, c.pid, NULL, NULL) ? -1 : wait_stop();
}

static int64_t call(long number, uint64_t a, uint64_t b, uint64_t d, uint64_t r10)
{
	struct user_regs_struct r = c.first;

	r.rip = CODE_AT;
	r.rax = (uint64_t)number;
	r.rdi = a;
	r.rsi = b;
	r.rdx = d;
	r.r10 = r10;
	r.r8 = UINT64_MAX;
	r.r9 = 0;
	r.orig_rax = UINT64_MAX;
	if (ptrace(PTRACE_SETREGS, c.pid, NULL, &r) || step() != SIGTRAP ||
		ptrace(PTRACE_GETREGS, c.pid, NULL, &r))
		return -1;
	return (int64_t)r.rax;
}

/* ---- memory ---- */

static bool map_page(uint64_t address)
{
	uint64_t bytes[PAGE / 8], page = address & ~(uint64_t)(PAGE - 1);

	if (c.pages == PAGES || page < 2 * PAGE || page >> 47 ||
		(page >= CODE_AT - PAGE && page <= CODE_AT + PAGE) ||
		call(SYS_mmap, page, PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE) != (int64_t)page)
		return false;
	for (size_t k = 0; k < PAGE / 8; k++)
		bytes[k] = k % 4 ? chance_mixed() : HEAP_AT + (chance_mixed() >> 36);
	c.page[c.pages++] = page;
	values_renew(c.v, c.pid);
	return pwrite(c.memory, bytes, PAGE, (off_t)page) == PAGE;
}

static void unmap_pages(void)
{
	while (c.pages)
		call(SYS_munmap, c.page[--c.pages], PAGE, 0, 0);
	values_renew(c.v, c.pid);
}

static void read_pages(struct memory *m)
{
	for (unsigned k = 0; k < c.pages; k++)
		if (pread(c.memory, m->page[k], PAGE, (off_t)c.page[k]) != PAGE)
			memset(m->page[k], 0, PAGE);
}

static void write_pages(const struct memory *m)
{
	for (unsigned k = 0; k < c.pages; k++)
		if (pwrite(c.memory, m->page[k], PAGE, (off_t)c.page[k]) != PAGE)
			c.lost++;
}

/* ---- a window ---- */

static void show(const char *what, uint64_t at)
{
	uint8_t bytes[INSN_LENGTH_MAX] = {0};
	char text[INSN_TEXT_MAX];

	if (pread(c.memory, bytes, sizeof(bytes), (off_t)at) > 0)
		printf("# %s: %s\n", what,
			isa_text(ISA_X86_64, bytes, sizeof(bytes), at, ISA_ATT, text));
}

/* x87 without its last instruction and operand; then the other components. */
static bool states_differ(const uint8_t *a, const uint8_t *b)
{
	if (memcmp(a, b, 5) || memcmp(a + 24, b + 24, 4) || memcmp(a + 160, b + 160, 256))
		return true;
	for (int k = 0; k < 8; k++)
		if (memcmp(a + 32 + 16 * k, b + 32 + 16 * k, 10))
			return true;
	for (unsigned k = 2; k < 8; k++) {
		unsigned size, at, x, y;

		__cpuid_count(0xd, k, size, at, x, y);
		if (size && k != 3 && k != 4 && memcmp(a + at, b + at, size))
			return true;
	}
	return false;
}

static bool registers_differ(const struct user_regs_struct *before, struct user_regs_struct *after)
{
	struct user_regs_struct own = *before;

	values_registers(c.v, &own, c.own);
	own.eflags = (own.eflags & FLAGS) | (after->eflags & ~(unsigned long long)FLAGS);
	own.orig_rax = after->orig_rax;
	return memcmp(&own, after, sizeof(own)) != 0 || states_differ(c.own, c.after);
}

/* Without what single steps push with the flags. */
static bool memory_differs(const struct memory *a, const struct memory *b)
{
	for (unsigned k = 0; k < c.pages; k++)
		for (unsigned i = 0; i < PAGE; i++)
			if ((a->page[k][i] ^ b->page[k][i]) & ~(TRAP_FLAG >> 8))
				return true;
	return false;
}

static void found(const char *what, uint64_t at)
{
	if (c.differ++ >= SHOWN)
		return;
	printf("# %s; the block:", what);
	for (uint64_t k = c.block[0]; k < c.block[1]; k++) {
		uint8_t byte;

		if (pread(c.memory, &byte, 1, (off_t)k) == 1)
			printf("%02x", byte);
	}
	printf("\n");
	show("there", at);
}

/* Of the instruction at pc; 0: not valid. */
static unsigned length_at(uint64_t pc)
{
	uint8_t bytes[INSN_LENGTH_MAX];
	struct insn i;

	return pread(c.memory, bytes, sizeof(bytes), (off_t)pc) == sizeof(bytes) &&
			       isa_decode(ISA_X86_64, bytes, sizeof(bytes), pc, &i)
		       ? i.length
		       : 0;
}

static bool leave_out(struct user_regs_struct *r, uint8_t *state)
{
	unsigned length = length_at(r->rip);

	r->rip += length;
	return length && set_registers(r, state);
}

/* The interpreter says that the next instruction faults. */
static bool after_fault(struct user_regs_struct *r)
{
	uint64_t pc = r->rip;
	siginfo_t info;
	int signal = step();

	if (signal < 0)
		return false;
	if (signal == SIGTRAP) {
		found("the interpreter faults, the processor does not", pc);
		return get_registers(r, c.before);
	}
	memset(&info, 0, sizeof(info));
	ptrace(PTRACE_GETSIGINFO, c.pid, NULL, &info);
	if (signal == SIGSEGV && info.si_code == SEGV_MAPERR &&
		map_page((uint64_t)(uintptr_t)info.si_addr))
		return set_registers(r, c.before);
	c.faulted++;
	return leave_out(r, c.before);
}

static bool steps(unsigned count)
{
	for (unsigned k = 0; k < count; k++) {
		int signal = step();

		if (signal == SIGTRAP)
			continue;
		if (signal > 0)
			found("the processor faults, the interpreter does not", c.block[0]);
		return false;
	}
	return true;
}

/* False: the block has ended. */
static bool one_window(struct user_regs_struct *r)
{
	static struct memory before, native, ours;
	struct values_thread thread = {.pid = c.pid,
		.memory = c.memory,
		.registers = r,
		.state = c.before,
		.size = c.size};
	struct user_regs_struct after;

	read_pages(&before);
	values_interpret(c.v, &thread, &c.window);
	c.windows++;
	if (c.window.instructions) {
		if (!steps(c.window.instructions) || !get_registers(&after, c.after))
			return false;
		read_pages(&native);
		write_pages(&before);
		values_apply(c.v, c.memory);
		read_pages(&ours);
		write_pages(&native);
		if (registers_differ(r, &after) || memory_differs(&native, &ours)) {
			found("another state", after.rip);
			return false;
		}
		c.executed += c.window.instructions;
		*r = after;
		memcpy(c.before, c.after, c.size);
	}
	if (r->rip < c.block[0] || r->rip >= c.block[1])
		return false;
	if (c.window.end == VALUES_FAULT)
		return after_fault(r);
	if (c.window.end == VALUES_REFUSED) {
		if (c.refused++ < SHOWN)
			show("refused", r->rip);
		return leave_out(r, c.before);
	}
	return c.window.end == VALUES_WHOLE;
}

/* ---- a block ---- */

static uint64_t some_number(void)
{
	uint64_t any = chance_mixed();

	return any % 4 == 0 ? any >> any % 61 : HEAP_AT + (any >> 36);
}

static void randomise(struct user_regs_struct *r, uint8_t *state)
{
	uint64_t components = 0xe7, number;
	uint32_t low, high;

	*r = c.first;
	r->rax = some_number();
	r->rbx = some_number();
	r->rcx = some_number();
	r->rdx = some_number();
	r->rsi = some_number();
	r->rdi = some_number();
	r->rbp = some_number();
	r->rsp = HEAP_AT + (chance_mixed() >> 36 & ~15ull);
	r->r8 = some_number();
	r->r9 = some_number();
	r->r10 = some_number();
	r->r11 = some_number();
	r->r12 = some_number();
	r->r13 = some_number();
	r->r14 = some_number();
	r->r15 = some_number();
	r->eflags = 0x202 | (chance_mixed() & 0x8d5);
	r->rip = BLOCK_AT;
	r->orig_rax = UINT64_MAX;
	memcpy(state, c.extended, c.size);
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	components &= low;
	for (unsigned k = 160; k < 832; k += 8) {
		if (k >= 416 && k < 576)
			continue;
		number = chance_mixed();
		/* Half of them are numbers of a usual size. */
		if (k % 16 == 0 && number % 2)
			number = 0x3ff0000000000000u | number >> 12;
		memcpy(state + k, &number, 8);
	}
	memcpy(state + HEADER, &components, 8);
}

static void one_block(const uint8_t *bytes, size_t size)
{
	static const uint8_t end[INSN_LENGTH_MAX] = {0x0f, 0x05};
	struct user_regs_struct r;

	if (!size || size > BLOCK_MOST)
		return;
	c.block[0] = BLOCK_AT;
	c.block[1] = BLOCK_AT + size;
	if (pwrite(c.memory, bytes, size, BLOCK_AT) != (ssize_t)size ||
		pwrite(c.memory, end, sizeof(end), (off_t)c.block[1]) != sizeof(end))
		return;
	unmap_pages();
	randomise(&r, c.before);
	map_page(r.rsp);
	if (!set_registers(&r, c.before)) {
		c.lost++;
		return;
	}
	c.blocks++;
	for (int k = 0; k < WINDOWS && one_window(&r); k++)
		;
}

/* Whether an instruction may be in a block: its result is the same each time. */
static bool is_of_a_block(const uint8_t *bytes, size_t size, struct insn *i)
{
	struct isa_redirect r;

	return isa_redirect(bytes, size, BLOCK_AT, i, &r) && !r.unknown &&
	       !(i->classes &
		       (INSN_BRANCH | INSN_SYSCALL | INSN_PRIVILEGED | INSN_STOPS | INSN_SEGMENT));
}

/* Every step-th run of instructions. */
static void sweep(const uint8_t *bytes, size_t size, unsigned step, size_t *run)
{
	for (size_t at = 0, from = 0, count = 0; at + INSN_LENGTH_MAX < size;) {
		struct insn i = {0};
		bool in = is_of_a_block(bytes + at, size - at, &i);

		if (in && count < RUN) {
			at += i.length;
			count++;
			continue;
		}
		if (count > 1 && (*run)++ % step == 0)
			one_block(bytes + from, at - from);
		if (!in)
			at += i.length ? i.length : 1;
		from = at;
		count = 0;
	}
}

static void own_code(unsigned step, size_t *run)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[8];
	uint64_t begins, ends;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begins, &ends, mode) == 3 &&
			strncmp(mode, "r-x", 3) == 0 && !strstr(line, "[v") &&
			!strstr(line, "memfd"))
			sweep((const uint8_t *)(uintptr_t)begins, ends - begins, step, run);
	if (maps)
		fclose(maps);
}

static void blocks_of(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[2 * BLOCK_MOST + 64];
	uint8_t bytes[BLOCK_MOST];

	while (file && fgets(line, sizeof(line), file)) {
		size_t n = 0, at = 0;
		unsigned byte;

		while (n < sizeof(bytes) && sscanf(line + 2 * n, "%2x", &byte) == 1 &&
			strspn(line + 2 * n, "0123456789abcdef") >= 2)
			bytes[n++] = (uint8_t)byte;
		/* A block may end with what is not executed here. */
		for (struct insn i; at < n && is_of_a_block(bytes + at, n - at, &i); at += i.length)
			;
		one_block(bytes, at);
	}
	ok(file != NULL, "%s can be read", path);
	if (file)
		fclose(file);
}

/* Instructions with the last opcode byte of a string instruction; and string instructions. */
static void likenesses(void)
{
	static const uint8_t code[][7] = {
		{0x0f, 0xae, 0x44, 0x24, 0x40},       /* fxsave 0x40(%rsp) */
		{0x48, 0x0f, 0xae, 0x44, 0x24, 0x40}, /* fxsave64 */
		{0x0f, 0xae, 0x4c, 0x24, 0x40},       /* fxrstor */
		{0x0f, 0xae, 0x54, 0x24, 0x40},       /* ldmxcsr */
		{0x0f, 0xae, 0x5c, 0x24, 0x40},       /* stmxcsr */
		{0x0f, 0xae, 0x64, 0x24, 0x40},       /* xsave */
		{0x0f, 0xae, 0x6c, 0x24, 0x40},       /* xrstor */
		{0x0f, 0xae, 0x7c, 0x24, 0x40},       /* clflush */
		{0x0f, 0xa4, 0x44, 0x24, 0x40, 0x03}, /* shld $3, %eax, 0x40(%rsp) */
		{0x0f, 0xa5, 0x44, 0x24, 0x40},       /* shld %cl, %eax, 0x40(%rsp) */
		{0x0f, 0xac, 0x44, 0x24, 0x40, 0x03}, /* shrd */
		{0x0f, 0xad, 0x44, 0x24, 0x40},       /* shrd */
		{0x0f, 0xaf, 0x44, 0x24, 0x40},       /* imul 0x40(%rsp), %eax */
		{0xa4},                               /* movsb */
		{0x48, 0xa7},                         /* cmpsq */
		{0x66, 0xab},                         /* stosw */
		{0xac},                               /* lodsb */
		{0xaf},                               /* scasl */
	};

	for (size_t k = 0; k < sizeof(code) / sizeof(code[0]); k++) {
		struct insn i;

		if (isa_decode(ISA_X86_64, code[k], sizeof(code[k]), BLOCK_AT, &i))
			one_block(code[k], i.length);
	}
}

static bool prepare(void)
{
	static const uint8_t kernel[] = {0x0f, 0x05};
	char path[64];

	c.pid = begin();
	if (c.pid < 0 || wait_stop() != SIGSTOP)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)c.pid);
	c.memory = open(path, O_RDWR | O_CLOEXEC);
	return c.memory >= 0 && get_registers(&c.first, c.extended) &&
	       pwrite(c.memory, kernel, sizeof(kernel), CODE_AT) == sizeof(kernel);
}

int main(int argc, char **argv)
{
	struct values_config config = {.length = WINDOW};
	bool all = argc > 1 && strcmp(argv[1], "all") == 0;
	struct error e = {0};
	size_t run = 0;

	c.v = values_new(&config, &e);
	if (!c.v) {
		skip(e.message);
		return done();
	}
	if (!prepare()) {
		skip("no child can be traced here");
		return done();
	}
	if (argc > 1 && !all) {
		blocks_of(argv[1]);
	} else {
		size_t runs = 0;

		own_code(UINT32_MAX, &runs);
		own_code(all ? 1 : (unsigned)(runs / SOME + 1), &run);
	}
	printf("# %lu blocks, %lu windows, %lu instructions, %lu left out since they fault, %lu "
	       "refused\n",
		c.blocks, c.windows, c.executed, c.faulted, c.refused);
	ok(c.executed > c.blocks && c.lost == 0, "blocks were executed");
	ok(c.refused * 1000 <= c.executed, "at most one instruction of a thousand is refused");
	likenesses();
	ok(c.differ == 0, "interpreted blocks do what the processor does");
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
	values_free(c.v);
	vec_fini(&c.window.seen);
	return done();
}
