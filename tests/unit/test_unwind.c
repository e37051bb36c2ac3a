/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks from copies of registers and stack, taken in this process, against those of the C
 * library's own unwinder (backtrace) at the same place: known chains, stacks at the moments of a
 * timer's signals, signal frames, stubs, the vdso.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "../tap.h"
#include "image/unwind.h"

#define DEPTH      64
#define STACK_COPY 65536
#define SAMPLES    100
#define WANTED     60 /* of a timer */

#if defined(__x86_64__)

struct sample {
	struct unwind_state state;
	void *want[DEPTH];
	int want_count, skip; /* skip: frames of want that are not of the state */
	uint8_t stack[STACK_COPY];
};

static struct sample samples[SAMPLES];
static volatile int sample_count;
static __thread uint64_t stack_end;

/* ---- the images of this process ---- */

static struct loaded {
	uint64_t bias, low, high;
	struct image *image;
} loaded[32];
static int loaded_count;

static int load(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded *l = &loaded[loaded_count];
	struct image_identity id = {.path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe"};

	(void)size, (void)context;
	l->low = UINT64_MAX;
	l->high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		l->low = low < l->low ? low : l->low;
		if (low + info->dlpi_phdr[i].p_memsz > l->high)
			l->high = low + info->dlpi_phdr[i].p_memsz;
	}
	l->bias = info->dlpi_addr;
	if (strncmp(id.path, "linux-vdso", 10) == 0)
		l->image = image_open_memory(
			(const void *)getauxval(AT_SYSINFO_EHDR), l->high - l->low, "[vdso]", NULL);
	else
		l->image = image_open(&id, NULL, NULL);
	loaded_count += loaded_count < 31;
	return 0;
}

static void unload(void)
{
	while (loaded_count > 0)
		image_close(loaded[--loaded_count].image);
}

static struct image *find(void *context, uint64_t pc, uint64_t *bias)
{
	(void)context;
	for (int i = 0; i < loaded_count; i++)
		if (pc >= loaded[i].low && pc < loaded[i].high) {
			*bias = loaded[i].bias;
			return loaded[i].image;
		}
	return NULL;
}

static const char *name_of(uint64_t pc)
{
	uint64_t bias;
	struct image *image = find(NULL, pc, &bias);
	const struct image_symbol *s = image ? image_symbol_at(image, pc - bias) : NULL;

	return s ? s->name : "?";
}

/* ---- taking samples ---- */

static void note_stack_end(void)
{
	pthread_attr_t attributes;
	void *address;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	pthread_attr_getstack(&attributes, &address, &size);
	pthread_attr_destroy(&attributes);
	stack_end = (uint64_t)address + size;
}

/* Whole frames, guarded parts and all, which the sanitizers do not like to see copied. */
static __attribute__((noinline, no_sanitize("address"))) void copy_stack(
	uint8_t *to, uint64_t sp, size_t size)
{
	const volatile uint64_t *from = (const volatile uint64_t *)sp;

	for (size_t i = 0; i < size / sizeof(*from); i++) {
		uint64_t word = from[i];

		__builtin_memcpy(to + i * sizeof(word), &word, sizeof(word));
	}
}

static void take(struct sample *s, const ucontext_t *uc)
{
	static const struct {
		int from, to;
	} registers[] = {
		{REG_RAX, 0},
		{REG_RDX, 1},
		{REG_RCX, 2},
		{REG_RBX, 3},
		{REG_RSI, 4},
		{REG_RDI, 5},
		{REG_RBP, 6},
		{REG_RSP, 7},
		{REG_R8, 8},
		{REG_R9, 9},
		{REG_R10, 10},
		{REG_R11, 11},
		{REG_R12, 12},
		{REG_R13, 13},
		{REG_R14, 14},
		{REG_R15, 15},
		{REG_RIP, 16},
	};
	uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];

	for (size_t i = 0; i < sizeof(registers) / sizeof(*registers); i++)
		s->state.registers[registers[i].to] =
			(uint64_t)uc->uc_mcontext.gregs[registers[i].from];
	s->state.known = 0x1ffff;
	s->state.stack_address = sp;
	s->state.stack_size = stack_end - sp < STACK_COPY ? stack_end - sp : STACK_COPY;
	copy_stack(s->stack, sp, s->state.stack_size);
	s->state.stack = s->stack;
}

/* Here and now; getcontext's pc is in this function. */
static __attribute__((noinline, noclone)) int capture(void)
{
	struct sample *s = &samples[sample_count];
	ucontext_t uc;

	getcontext(&uc);
	take(s, &uc);
	s->want_count = backtrace(s->want, DEPTH);
	s->skip = 1; /* the pcs in this very function differ */
	sample_count++;
	return 1;
}

static void on_signal(int number, siginfo_t *info, void *uc)
{
	struct sample *s = &samples[sample_count];

	(void)number, (void)info;
	if (sample_count >= SAMPLES)
		return;
	take(s, uc);
	s->want_count = backtrace(s->want, DEPTH);
	s->skip = 0;
	sample_count++;
}

static void handle(int number, int flags)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};

	sigaction(number, &action, NULL);
}

/* ---- programs to look at ---- */

static volatile unsigned sink;
static int (*volatile innermost)(void) = capture;

static __attribute__((noinline, noclone)) int with_alloca(int n)
{
	volatile char *room = __builtin_alloca((size_t)(n * 37 + 8));

	room[0] = (char)n;
	return innermost() + room[0];
}

static __attribute__((noinline, noclone, aligned(64))) int with_realigned_stack(int n)
{
	volatile char wide[64] __attribute__((aligned(64)));

	wide[n & 63] = 1;
	return with_alloca(n) + wide[n & 63];
}

static __attribute__((noinline, noclone)) int recurse(int n)
{
	int r = n > 0 ? recurse(n - 1) : with_realigned_stack(5);

	__asm__ volatile("" ::: "memory");
	return r + n;
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) int with_frame_pointer(int n)
{
	int r = recurse(n);

	__asm__ volatile("" ::: "memory");
	return r + 1;
}

static int compare(const void *a, const void *b)
{
	static int once;

	if (!once++)
		sink += (unsigned)innermost();
	return *(const int *)a - *(const int *)b;
}

static jmp_buf back;

static void on_terminate(void)
{
	(void)innermost();
	longjmp(back, 1);
}

static void *in_thread(void *context)
{
	note_stack_end();
	sink += (unsigned)with_frame_pointer(*(int *)context);
	return NULL;
}

static __attribute__((noinline)) void raise_it(void)
{
	raise(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) unsigned busy(unsigned n)
{
	struct timespec t;
	char text[64];

	if (n > 1)
		return busy(n - 1) + busy(n - 2);
	clock_gettime(CLOCK_MONOTONIC, &t); /* vdso */
	snprintf(text, sizeof(text), "%ld", t.tv_nsec);
	return (unsigned)strlen(text) + (unsigned)abs(atoi(text));
}

/* ---- tests ---- */

/* Where our frame `at` stands in theirs; handlers come first there. */
static int their_place(const struct sample *s, uint64_t pc)
{
	for (int i = 0; i < s->want_count; i++)
		if ((uint64_t)s->want[i] == pc)
			return i;
	return -1;
}

static bool agrees(struct unwinder *u, struct sample *s, bool show)
{
	uint64_t pcs[DEPTH], interrupted;
	int complete, first;
	size_t n = unwind(u, &s->state, find, NULL, pcs, DEPTH, &complete, &interrupted);
	size_t skip = (size_t)s->skip;
	bool good;

	first = skip < n ? their_place(s, pcs[skip]) : -1;
	good = first >= 0 && complete && (size_t)(s->want_count - first) == n - skip &&
	       (interrupted & 1);
	for (size_t i = skip; good && i < n; i++)
		good = pcs[i] == (uint64_t)s->want[(size_t)first + i - skip];
	if (good || !show)
		return good;
	for (size_t i = 0; i < n; i++)
		printf("# ours %llx %s\n", (unsigned long long)pcs[i], name_of(pcs[i]));
	for (int i = 0; i < s->want_count; i++)
		printf("# theirs %llx %s\n", (unsigned long long)s->want[i],
			name_of((uint64_t)s->want[i]));
	return false;
}

static void chain_is(struct unwinder *u, struct sample *s, const char *want)
{
	uint64_t pcs[DEPTH];
	char got[512] = "";
	int complete;
	size_t n = unwind(u, &s->state, find, NULL, pcs, DEPTH, &complete, NULL);

	for (size_t i = 0; i < n; i++) {
		const char *name = name_of(pcs[i] - (i > 0));

		if (strlen(got) + strlen(name) + 2 < sizeof(got))
			strcat(strcat(got, i ? " " : ""), name);
		if (strcmp(name, "main") == 0)
			break;
	}
	is_str(got, want, "the chain %s", want);
}

static void test_known(struct unwinder *u)
{
	int numbers[100], two = 2;
	pthread_t thread;

	sample_count = 0;
	sink += (unsigned)with_frame_pointer(3);
	for (int i = 0; i < 100; i++)
		numbers[i] = i * 7919 % 100;
	qsort(numbers, 100, sizeof(*numbers), compare);
	ok(agrees(u, &samples[0], true), "recursion, alloca, a realigned stack, a frame pointer");
	chain_is(u, &samples[0],
		"capture with_alloca with_realigned_stack recurse recurse recurse recurse "
		"with_frame_pointer test_known main");
	ok(agrees(u, &samples[1], true), "a callback of qsort");
	if (pthread_create(&thread, NULL, in_thread, &two) == 0)
		pthread_join(thread, NULL);
	ok(agrees(u, &samples[2], true), "another thread, to its very beginning");
}

static void test_cxx(struct unwinder **u)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW);
	void (*set)(void (*handler)(void)) = NULL, (*terminate)(void) = NULL;

	if (library) {
		*(void **)&set = dlsym(library, "_ZSt13set_terminatePFvvE");
		*(void **)&terminate = dlsym(library, "_ZSt9terminatev");
	}
	if (!set || !terminate) {
		skip("libstdc++.so.6 is not there");
		return;
	}
	unwind_free(*u);
	*u = unwind_new(NULL);
	unload();
	dl_iterate_phdr(load, NULL);
	sample_count = 0;
	set(on_terminate);
	if (!setjmp(back))
		terminate();
	ok(agrees(*u, &samples[0], true), "C++ with its handlers of exceptions");
}

static void test_signals(struct unwinder *u)
{
	sample_count = 0;
	handle(SIGUSR1, 0);
	raise_it();
	ok(agrees(u, &samples[0], true), "where a signal came");
}

static int inner_signal(void)
{
	return capture();
}

static void on_signal_capture(int number)
{
	(void)number;
	sink += (unsigned)inner_signal();
}

static void test_signal_frame(struct unwinder *u)
{
	struct sigaction action = {.sa_handler = on_signal_capture};
	uint64_t pcs[DEPTH], interrupted;
	int complete;
	size_t n, marked = 0;

	sample_count = 0;
	sigaction(SIGUSR1, &action, NULL);
	raise_it();
	ok(agrees(u, &samples[0], true), "out of a handler to what it interrupted");
	n = unwind(u, &samples[0].state, find, NULL, pcs, DEPTH, &complete, &interrupted);
	for (size_t i = 1; i < n; i++)
		if (interrupted >> i & 1)
			marked++;
	is_int(marked, 1, "one frame was interrupted, and is marked");
}

static void test_timer(struct unwinder *u)
{
	static const struct itimerval on = {{0, 1000}, {0, 1000}}, off;
	int good = 0, shown = 0, vdso = 0;

	sample_count = 0;
	handle(SIGPROF, SA_RESTART);
	setitimer(ITIMER_PROF, &on, NULL);
	for (int i = 0; i < 1000000 && sample_count < WANTED; i++)
		sink += busy(12);
	setitimer(ITIMER_PROF, &off, NULL);
	ok(sample_count >= WANTED, "%d samples of a timer", sample_count);
	for (int i = 0; i < sample_count; i++) {
		uint64_t bias = 0;
		struct image *image = find(NULL, samples[i].state.registers[16], &bias);
		bool agreed = agrees(u, &samples[i], shown < 2);

		good += agreed;
		shown += !agreed;
		for (int k = 0; k < loaded_count; k++)
			vdso += loaded[k].image == image &&
				bias == (uint64_t)getauxval(AT_SYSINFO_EHDR);
	}
	is_int(good, sample_count, "all are as backtrace says (%d in the vdso)", vdso);
}

static void measure(struct unwinder *u)
{
	struct timespec a, b;
	size_t frames = 0;
	uint64_t pcs[DEPTH];
	int complete;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int round = 0; round < 100; round++)
		for (int i = 0; i < sample_count; i++)
			frames += unwind(
				u, &samples[i].state, find, NULL, pcs, DEPTH, &complete, NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (frames)
		printf("# %.0f ns a frame, %zu frames\n",
			((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
				(double)frames,
			frames);
}

/* A stub pushes a number behind its jump: its rule is an expression. */
static void test_stub(struct unwinder *u)
{
	uint64_t stack[8] = {0}, bias = 0, pcs[DEPTH];
	struct image *image = find(NULL, (uint64_t)test_stub, &bias);
	const struct image_symbol *stub = image_symbol_find(image, "getitimer@plt");
	struct unwind_state s = {.known = 1u << 16 | 1u << 7,
		.stack = (uint8_t *)stack,
		.stack_address = 0x7000,
		.stack_size = sizeof(stack)};
	struct itimerval now;
	int complete;

	getitimer(ITIMER_REAL, &now);
	if (!stub) {
		skip("this program calls without stubs");
		return;
	}
	s.registers[7] = 0x7000;
	s.registers[16] = stub->address + bias;
	stack[0] = (uint64_t)test_stub + 1;
	unwind(u, &s, find, NULL, pcs, 2, &complete, NULL);
	is_int(pcs[1], stack[0], "out of a stub before its push");
	if (stub->size < 16) {
		skip("its stubs push nothing");
		return;
	}
	s.registers[16] = stub->address + bias + 11;
	stack[1] = (uint64_t)test_stub + 2;
	unwind(u, &s, find, NULL, pcs, 2, &complete, NULL);
	is_int(pcs[1], stack[1], "... and behind it");
}

/* The end of a function that kept rbx on the stack, and a caller whose frame hangs on rbx. */
extern const char popped[], above[];
__asm__(".text\n"
	".type ending, @function\n"
	"ending: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset rbx, -16\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"popped: ret\n"
	".cfi_endproc\n"
	".size ending, . - ending\n"
	".type calling, @function\n"
	"calling: .cfi_startproc\n"
	".cfi_def_cfa rbx, 16\n"
	"call ending\n"
	"above: ret\n"
	".cfi_endproc\n"
	".size calling, . - calling\n");

static void test_epilogue(struct unwinder *u)
{
	uint64_t stack[8] = {(uint64_t)above, 0, 0, (uint64_t)test_epilogue + 1}, pcs[DEPTH];
	struct unwind_state s = {.known = 1u << 16 | 1u << 7 | 1u << 3,
		.stack = (uint8_t *)stack,
		.stack_address = 0x7000,
		.stack_size = sizeof(stack)};
	int complete;
	size_t n;

	s.registers[16] = (uint64_t)popped;
	s.registers[7] = 0x7000;
	s.registers[3] = 0x7010;
	n = unwind(u, &s, find, NULL, pcs, 3, &complete, NULL);
	ok(n == 3 && pcs[2] == stack[3], "a register that an epilogue has popped (%zu frames)", n);
}

static uint64_t no_code[4]; /* of no image: frame pointers */

static struct image *find_none(void *context, uint64_t pc, uint64_t *bias)
{
	(void)context, (void)pc, (void)bias;
	return NULL;
}

static void test_frame_pointers(struct unwinder *u)
{
	uint64_t stack[8] = {0, 0, 0x8020, 0x1111, 0, 0x2222, 0, 0}, pcs[DEPTH];
	struct unwind_state s = {.known = 1u << 16 | 1u << 7 | 1u << 6,
		.stack = (uint8_t *)stack,
		.stack_address = 0x8000,
		.stack_size = sizeof(stack)};
	int complete;
	size_t n;

	s.registers[16] = (uint64_t)no_code;
	s.registers[7] = 0x8000;
	s.registers[6] = 0x8010;
	n = unwind(u, &s, find_none, NULL, pcs, DEPTH, &complete, NULL);
	is_int(n, 3, "frame pointers where there are no rules");
	ok(n == 3 && pcs[1] == 0x1111 && pcs[2] == 0x2222 && complete, "... to the outermost");
	stack[2] = 0x8010; /* a frame that is its own caller */
	n = unwind(u, &s, find_none, NULL, pcs, DEPTH, &complete, NULL);
	ok(n == 2 && !complete, "a circle is left");
	n = unwind(u, &s, find_none, NULL, pcs, 1, &complete, NULL);
	ok(n == 1 && !complete, "depth is kept to");
	s.known = 0;
	is_int(unwind(u, &s, find_none, NULL, pcs, DEPTH, &complete, NULL), 0, "no pc, no frames");
}

/* Code after a call, as trampolines have it; elsewhere there is none. */
static size_t trampoline_code(void *context, uint64_t pc, uint8_t *bytes, size_t size)
{
	static const uint8_t frees[] = {0x48, 0x83, 0xc4, 0x08, 0xc3},
			     pops[] = {0x5d, 0xc3, 0, 0, 0};

	(void)context;
	if (size != sizeof(frees) || (pc != 0x1111 && pc != 0x2222))
		return 0;
	memcpy(bytes, pc == 0x1111 ? frees : pops, size);
	return size;
}

/* The frame pointer is that of a caller further out: only the code says where trampolines return.
 */
static void test_trampolines(struct unwinder *u)
{
	uint64_t stack[10] = {0x8030, 0x1111, 0, 0x2222, 0x8040, 0x3333, 0, 0, 0, 0}, pcs[DEPTH];
	struct unwind_state s = {.known = 1u << 16 | 1u << 7 | 1u << 6,
		.stack = (uint8_t *)stack,
		.stack_address = 0x8000,
		.stack_size = sizeof(stack),
		.code = trampoline_code};
	int complete;
	size_t n;

	s.registers[16] = (uint64_t)no_code;
	s.registers[7] = 0x8000;
	s.registers[6] = 0x8000;
	n = unwind(u, &s, find_none, NULL, pcs, DEPTH, &complete, NULL);
	ok(n == 4 && pcs[1] == 0x1111 && pcs[2] == 0x2222 && pcs[3] == 0x3333 && complete,
		"trampolines are left by their code (%zu frames)", n);
	s.code = NULL;
	n = unwind(u, &s, find_none, NULL, pcs, DEPTH, &complete, NULL);
	ok(n == 2, "without it they are not (%zu frames)", n);
}

static void test_short_copy(struct unwinder *u)
{
	uint64_t pcs[DEPTH];
	int complete;
	size_t whole, cut;

	sample_count = 0;
	sink += (unsigned)with_frame_pointer(3);
	whole = unwind(u, &samples[0].state, find, NULL, pcs, DEPTH, &complete, NULL);
	samples[0].state.stack_size = 2048; /* capture's own frame is large */
	cut = unwind(u, &samples[0].state, find, NULL, pcs, DEPTH, &complete, NULL);
	ok(cut >= 1 && cut <= whole && (!complete || cut == whole),
		"a copy that ends early: %zu of %zu", cut, whole);
	samples[0].state.stack_size = 0;
	is_int(unwind(u, &samples[0].state, find, NULL, pcs, DEPTH, &complete, NULL), 1,
		"without a copy: the pc");
	ok(!complete, "... and no claim to more");
}

static void test_perf_registers(void)
{
	uint64_t values[] = {10, 70, 80, 150};
	struct unwind_state s = {0};

	/* ax, sp, ip, r15 */
	unwind_from_perf(&s, IMAGE_X86_64, 1u << 0 | 1u << 7 | 1u << 8 | 1u << 23, values);
	is_int(s.registers[0], 10, "perf's rax");
	is_int(s.registers[7], 70, "perf's rsp");
	is_int(s.registers[16], 80, "perf's rip");
	is_int(s.registers[15], 150, "perf's r15");
	is_int(s.known, 1u << 0 | 1u << 7 | 1u << 16 | 1u << 15, "... and no others");
}

int main(void)
{
	struct unwinder *u = unwind_new(NULL);
	void *first[4];

	if (!u)
		return 1;
	(void)backtrace(first, 4); /* loads libgcc */
	note_stack_end();
	dl_iterate_phdr(load, NULL);
	test_perf_registers();
	test_known(u);
	test_cxx(&u);
	test_signals(u);
	test_signal_frame(u);
	test_timer(u);
	measure(u);
	test_stub(u);
	test_epilogue(u);
	test_frame_pointers(u);
#ifdef __x86_64__
	test_trampolines(u);
#endif
	test_short_copy(u);
	unwind_free(u);
	unload();
	return done();
}

#else

int main(void)
{
	skip("registers are taken on x86-64 only");
	return done();
}

#endif
