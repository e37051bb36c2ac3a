/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that do to their process what Valgrind and the tool live by: each way prints what it
 * saw, which must be the same natively and under the modelled processor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static char **words;
static int word_count;

static const char *word(int i)
{
	return i < word_count ? words[i] : "";
}

static int number(int i)
{
	return atoi(word(i));
}

static int status_of(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- signals ---- */

static sigjmp_buf back;
static volatile int handled;

static void jump(int s)
{
	handled++;
	siglongjmp(back, s);
}

/* A fault in the middle of a block, and on with the next one. */
static int faults(void)
{
	volatile int after = 0;
	struct sigaction a = {.sa_handler = jump};

	sigaction(SIGSEGV, &a, NULL);
	sigaction(SIGFPE, &a, NULL);
	for (volatile int i = 0; i < 200; i++) {
		if (sigsetjmp(back, 1))
			continue;
		if (i & 1)
			*(volatile int *)(intptr_t)(8 + 4096 * i) = 1;
		else
			after += *(volatile int *)(intptr_t)(16 + 4096 * i);
		after++;
	}
	printf("%d faults, %d after them\n", handled, after);
	return 0;
}

static void skip_load(int s, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)s, (void)info;
	handled++;
	u->uc_mcontext.gregs[REG_RIP] += 2; /* mov (%rax),%eax */
	u->uc_mcontext.gregs[REG_RAX] = 7 * u->uc_mcontext.gregs[REG_RBX];
}

/* The handler changes the registers and goes on behind what faulted. */
static int repair(void)
{
	struct sigaction a = {.sa_sigaction = skip_load, .sa_flags = SA_SIGINFO};
	long sum = 0;

	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < 100; i++) {
		long v = i;

		/* The handler sees what the block did before the fault, and what it changes stays.
		 */
		__asm__ volatile("lea 3(%%rax), %%rbx; xor %%eax, %%eax; mov (%%rax), %%eax;"
				 "add %%rbx, %%rax"
				 : "+a"(v)::"rbx", "memory", "cc");
		sum += v;
	}
	printf("%d repaired, sum %ld\n", handled, sum);
	return 0;
}

static void skip_rest(int s, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)s, (void)info;
	u->uc_mcontext.gregs[REG_RIP] = u->uc_mcontext.gregs[REG_R12];
}

/* Word 3 times: a fault, and behind it in the same block nothing, or eight loads that the handler
 * skips. */
static int skips(void)
{
	struct sigaction a = {.sa_sigaction = skip_rest, .sa_flags = SA_SIGINFO};
	const int more = number(2), n = number(3);

	sigaction(SIGSEGV, &a, NULL);
	for (int i = 0; i < n; i++) {
		if (more)
			__asm__ volatile("lea 1f(%%rip), %%r12; xor %%eax, %%eax;"
					 "mov -8(%%rsp), %%rcx; mov (%%rax), %%rcx;"
					 "mov -8(%%rsp), %%rcx; mov -16(%%rsp), %%rcx;"
					 "mov -8(%%rsp), %%rcx; mov -16(%%rsp), %%rcx;"
					 "mov -8(%%rsp), %%rcx; mov -16(%%rsp), %%rcx;"
					 "mov -8(%%rsp), %%rcx; mov -16(%%rsp), %%rcx;"
					 "1:" ::
						 : "rax", "rcx", "r12", "memory", "cc");
		else
			__asm__ volatile("lea 1f(%%rip), %%r12; xor %%eax, %%eax;"
					 "mov -8(%%rsp), %%rcx; mov (%%rax), %%rcx;"
					 "1:" ::
						 : "rax", "rcx", "r12", "memory", "cc");
	}
	return 0;
}

static void make_quotient(int s, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)s, (void)info;
	handled += (int)u->uc_mcontext.gregs[REG_R11]; /* set in the same block */
	u->uc_mcontext.gregs[REG_RIP] += 2;            /* div %ecx */
	u->uc_mcontext.gregs[REG_R10] += 5;
}

static int divide(void)
{
	struct sigaction a = {.sa_sigaction = make_quotient, .sa_flags = SA_SIGINFO};
	long sum = 0;

	sigaction(SIGFPE, &a, NULL);
	for (long i = 0; i < 50; i++) {
		long got;

		__asm__ volatile(
			"mov %1, %%r11; lea 1(%1), %%r10; xor %%ecx, %%ecx; xor %%edx, %%edx;"
			"div %%ecx; mov %%r10, %0"
			: "=r"(got)
			: "r"(i)
			: "r10", "r11", "ecx", "edx", "eax", "cc");
		sum += got;
	}
	printf("%d in handlers, sum %ld\n", handled, sum);
	return 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
static int recurse(volatile char *up)
{
	volatile char here[4096];

	here[0] = up[0];
	return recurse(here) + here[0];
}

#pragma GCC diagnostic pop

static int overflow(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction a = {.sa_handler = jump, .sa_flags = SA_ONSTACK};
	volatile char begin = 1;

	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &a, NULL);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			recurse(&begin);
	printf("%d overflows\n", handled);
	return 0;
}

static void bye(void)
{
	printf("atexit ran\n");
}

static void leave(int s)
{
	exit(s);
}

static int exit_in_handler(void)
{
	atexit(bye);
	signal(SIGTERM, leave);
	kill(getpid(), SIGTERM);
	return 0;
}

static void note(int s)
{
	(void)s;
	handled++;
}

/* Signals from a timer, into loops and into system calls. */
static int timer(void)
{
	struct itimerval every = {{0, 3000}, {0, 3000}};
	struct sigaction a = {.sa_handler = note};

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	while (handled < 30)
		if (handled & 1)
			pause();
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	printf("at least 30: %d\n", handled >= 30);
	return 0;
}

static void nest(int s)
{
	handled++;
	if (handled < 50)
		raise(s);
}

static int nested(void)
{
	struct sigaction a = {.sa_handler = nest, .sa_flags = SA_NODEFER};

	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	printf("%d deep\n", handled);
	return 0;
}

static int dies(void)
{
	int s = number(2);

	if (s == SIGSEGV)
		*(volatile int *)8 = 1;
	else if (s == SIGFPE)
		return 1 / (number(3) * 0);
	else if (s == SIGILL)
		__builtin_trap();
	else if (s == SIGABRT)
		abort();
	raise(s);
	return 0;
}

/* ---- code that comes and goes ---- */

static int libraries(void)
{
	int sum = 0;

	for (int i = 0; i < number(2); i++) {
		void *l = dlopen(word(3 + (i & 1)), RTLD_NOW);
		int (*f)(int) = l ? (int (*)(int))dlsym(l, "f") : NULL;

		sum = (sum * 31 + (f ? f(i) : -1)) & 0xffffff;
		if (l)
			dlclose(l);
	}
	printf("sum %d\n", sum);
	return 0;
}

static void put_code(unsigned char *at, int value)
{
	at[0] = 0xb8; /* mov $value,%eax; ret */
	memcpy(at + 1, &value, 4);
	at[5] = 0xc3;
}

static int rewrite(unsigned char *writable, unsigned char *executable, int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++) {
		put_code(writable, i);
		sum = sum * 31 + (unsigned)((int (*)(void))executable)();
	}
	return (int)(sum & 0xffffff);
}

static int self_modifying(void)
{
	unsigned char *p = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("sum %d\n", rewrite(p, p, 3000));
	return 0;
}

/* As some JIT compilers do it: one mapping to write, another one of the same memory to execute. */
static int twice_mapped(void)
{
	int fd = memfd_create("code", 0);
	unsigned char *w, *x;

	if (ftruncate(fd, 4096) != 0)
		return 1;
	w = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	x = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	printf("sum %d\n", rewrite(w, x, 1000));
	return 0;
}

/* mprotect to and fro, as others do. */
static int write_xor_execute(void)
{
	unsigned char *p =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned sum = 0;

	for (int i = 0; i < 1000; i++) {
		mprotect(p, 4096, PROT_READ | PROT_WRITE);
		put_code(p, i);
		mprotect(p, 4096, PROT_READ | PROT_EXEC);
		sum = sum * 31 + (unsigned)((int (*)(void))p)();
	}
	printf("sum %u\n", sum & 0xffffff);
	return 0;
}

__attribute__((noinline, aligned(4096))) static int patched(void)
{
	__asm__ volatile("movl $1, %%eax; movl $2, %%eax" ::: "eax");
	return 5;
}

/* The program's own code, from its file. */
static int patch_text(void)
{
	unsigned char *page = (unsigned char *)((uintptr_t)patched & ~(uintptr_t)4095);
	int before = patched();

	mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
	put_code((unsigned char *)(uintptr_t)patched, 9);
	printf("%d then %d\n", before, patched());
	return 0;
}

/* Code that overwrites what comes next in its own block. */
static int near_modifying(void)
{
	static const unsigned char code[] = {
		0x40,
		0x88,
		0x3d,
		0x01,
		0x00,
		0x00,
		0x00, /* mov %dil, 1(%rip): the immediate below */
		0xb8,
		0x00,
		0x00,
		0x00,
		0x00, /* mov $0, %eax */
		0xc3,
	};
	unsigned char *p = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	memcpy(p, code, sizeof(code));
	for (int i = 0; i < 100; i++)
		sum += ((int (*)(int))p)(i);
	printf("sum %d\n", sum);
	return 0;
}

/* ---- wide vectors ---- */

static int avx2(void)
{
	int r[8] = {0};

	if (!__builtin_cpu_supports("avx2"))
		return 77;
	__asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0; vpsrld $28, %%ymm0, %%ymm1;"
			 "vpaddd %%ymm1, %%ymm1, %%ymm1; vpermq $0x1b, %%ymm1, %%ymm2;"
			 "vmovdqu %%ymm2, %0; vzeroupper"
			 : "=m"(r)::"xmm0", "xmm1", "xmm2");
	printf("%d %d\n", r[0], r[7]);
	return 0;
}

/* Valgrind cannot run it. */
static int avx512(void)
{
	printf("before\n");
	fflush(stdout);
	__asm__ volatile(".byte 0x62,0xf1,0x7d,0x48,0xef,0xc0"); /* vpxord %zmm0,%zmm0,%zmm0 */
	printf("after\n");
	return 0;
}

/* ---- stacks ---- */

static ucontext_t main_context, other[3];
static int turns;

static void coroutine(void)
{
	for (int i = 0; i < 200; i++) {
		int me = turns % 3;

		turns++;
		swapcontext(&other[me], &other[turns % 3]);
	}
}

static int contexts(void)
{
	for (int i = 0; i < 3; i++) {
		getcontext(&other[i]);
		other[i].uc_stack.ss_sp = malloc(65536);
		other[i].uc_stack.ss_size = 65536;
		other[i].uc_link = &main_context;
		makecontext(&other[i], coroutine, 0);
	}
	swapcontext(&main_context, &other[0]);
	printf("%d turns\n", turns);
	return 0;
}

/* ---- processes and threads ---- */

static int crowd(void)
{
	int n = number(2), done = 0, failed = 0, gate[2];

	if (pipe(gate) != 0)
		return 1;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		char c;

		if (pid == 0) {
			close(gate[1]);
			_exit(read(gate[0], &c, 1) == 0 ? i % 7 : 99);
		}
		failed += pid < 0;
	}
	close(gate[1]);
	for (int i = 0; i < n - failed; i++)
		done += status_of(-1);
	printf("%d failed, sum %d\n", failed, done);
	return 0;
}

static pthread_barrier_t all_there;

static void *attend(void *p)
{
	pthread_barrier_wait(&all_there);
	return p;
}

static int crowd_of_threads(void)
{
	int n = number(2), failed = 0;
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));

	pthread_barrier_init(&all_there, NULL, (unsigned)n + 1);
	for (int i = 0; i < n; i++)
		failed += pthread_create(&ids[i], NULL, attend, NULL) != 0;
	if (failed)
		return 2;
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	printf("%d threads\n", n);
	return 0;
}

static int spawns(void)
{
	char *const args[] = {"sh", "-c", "exit 3", NULL};
	int sum = 0;

	for (int i = 0; i < 5; i++) {
		pid_t pid;

		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, args, NULL) != 0)
			return 1;
		sum += status_of(pid);
	}
	printf("sum %d\n", sum);
	return 0;
}

static void *execute(void *p)
{
	(void)p;
	execl("/bin/echo", "echo", "from a thread", (char *)NULL);
	return NULL;
}

static int exec_in_thread(void)
{
	pthread_t id;

	pthread_create(&id, NULL, execute, NULL);
	pthread_join(id, NULL);
	return 1;
}

/* Threads leave by exit_group while others run. */
static void *busy(void *p)
{
	for (;;)
		handled++;
	return p;
}

static int exit_among_threads(void)
{
	pthread_t id;

	for (int i = 0; i < 8; i++)
		pthread_create(&id, NULL, busy, NULL);
	while (handled < 1000)
		;
	_exit(11);
}

/* ---- the process's surroundings ---- */

static int close_everything(void)
{
	int kept = dup2(1, 500);

	switch (number(2)) {
	case 0:
		for (int fd = 0; fd < 70000; fd++)
			if (fd != kept)
				close(fd);
		break;
	case 1:
		closefrom(501);
		close_range(0, 499, 0);
		break;
	default:
		close_range(0, 499, 0);
		syscall(SYS_close_range, 501, ~0U, 0);
	}
	dprintf(kept, "next are %d and %d\n", open("/dev/null", O_RDWR), dup(kept));
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	return 0;
}

static int descriptors(void)
{
	int fd = open("/dev/null", O_RDONLY), pid = fork();

	if (pid == 0) {
		printf("the first free descriptor: %d, %d in a child\n", fd,
			open("/dev/null", O_RDONLY));
		return 0;
	}
	return status_of(pid);
}

static int limits(void)
{
	struct rlimit l;
	int made = 0;

	l.rlim_cur = l.rlim_max = 20;
	setrlimit(RLIMIT_NOFILE, &l);
	getrlimit(RLIMIT_NOFILE, &l);
	while (open("/dev/null", O_RDONLY) >= 0)
		made++;
	printf("limit %d, %s after more than ten: %d\n", (int)l.rlim_cur, strerror(errno),
		made > 10);
	if (fork() == 0)
		_exit(0);
	printf("child: %d\n", status_of(-1));
	return 0;
}

/* Takes memory until there is none. */
static int exhaust(void)
{
	int resource = strcmp(word(2), "data") == 0 ? RLIMIT_DATA : RLIMIT_AS;
	struct rlimit l = {600u << 20, 600u << 20}, got;
	size_t taken = 0;
	void *p;

	if (setrlimit(resource, &l) != 0)
		return 1;
	getrlimit(resource, &got);
	while ((p = malloc(1 << 20)) != NULL && taken < 3000) {
		memset(p, 1, 4096);
		taken++;
	}
	printf("limit %lu MB, %s after 300 MB or more: %d, and not after 600: %d\n",
		(unsigned long)got.rlim_cur >> 20, strerror(errno), taken >= 300, taken <= 600);
	return p ? 1 : 5;
}

static int other_root(void)
{
	char root[] = "/tmp/root.XXXXXX";
	int status;

	if (!mkdtemp(root) || chdir(root) != 0 || chroot(".") != 0)
		return 77;
	status = access("/bin", F_OK) == 0;
	if (fork() == 0) {
		volatile int n = 1000000;

		while (n)
			n--;
		_exit(4);
	}
	printf("%d, child %d\n", status, status_of(-1));
	execl("/here", "here", (char *)NULL);
	printf("exec: %s\n", strerror(errno));
	return 0;
}

static int other_user(void)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		return 77;
	if (fork() == 0)
		_exit(4);
	printf("child %d\n", status_of(-1));
	fflush(stdout);
	execl("/bin/echo", "echo", "as nobody", (char *)NULL);
	return 1;
}

static int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size);

	close(fd);
	return (int)n;
}

/* What a program may learn of itself. */
static int itself(void)
{
	char text[4096] = "", exe[4096] = "";
	int n = read_file("/proc/self/cmdline", text, sizeof(text) - 1);

	for (int i = 0; i < n - 1; i++)
		text[i] = text[i] ? text[i] : ' ';
	n = (int)readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	printf("%s\n%s %d\n", text, exe, n);
	n = read_file("/proc/self/comm", text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	printf("comm %s", text);
	return 0;
}

static int comm(void)
{
	char text[64] = "";
	int n = read_file("/proc/self/comm", text, sizeof(text) - 1);

	printf("%.*s", n, text);
	return 0;
}

static int stops(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		raise(SIGSTOP);
		_exit(6);
	}
	waitpid(pid, &status, WUNTRACED);
	printf("stopped %d\n", WIFSTOPPED(status));
	kill(pid, SIGCONT);
	return status_of(pid);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} ways[] = {
		{"faults", faults},
		{"repair", repair},
		{"skips", skips},
		{"divide", divide},
		{"overflow", overflow},
		{"exit-in-handler", exit_in_handler},
		{"timer", timer},
		{"nested", nested},
		{"dies", dies},
		{"libraries", libraries},
		{"self-modifying", self_modifying},
		{"twice-mapped", twice_mapped},
		{"write-xor-execute", write_xor_execute},
		{"patch-text", patch_text},
		{"near-modifying", near_modifying},
		{"avx2", avx2},
		{"avx512", avx512},
		{"contexts", contexts},
		{"crowd", crowd},
		{"crowd-of-threads", crowd_of_threads},
		{"spawns", spawns},
		{"exec-in-thread", exec_in_thread},
		{"exit-among-threads", exit_among_threads},
		{"close-everything", close_everything},
		{"descriptors", descriptors},
		{"limits", limits},
		{"exhaust", exhaust},
		{"other-root", other_root},
		{"other-user", other_user},
		{"itself", itself},
		{"comm", comm},
		{"stops", stops},
	};

	words = argv;
	word_count = argc;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run();
	return 99;
}
