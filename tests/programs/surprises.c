/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * surprises filter|strict|parts|vfork|changing|exec|fault: what a program may do while it is looked
 * at. It ends by a filter of system calls if anybody maps memory in it, or by the strict mode of
 * that; maps memory, of which there may be no more; has children of vfork; writes code, changes it
 * after it ran, and unmaps it; calls exec; ends by a fault. It prints a number, and its status is
 * part of that.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static uint64_t work(uint64_t turns)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < turns; i++)
		sum = sum * 6364136223846793005u + i;
	return sum;
}

static uint64_t filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {4, code};
	uint64_t sum = 0;

	printf("filtered\n"); /* its buffer is there */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(9);
	for (int i = 0; i < 40; i++)
		sum += work(3000000);
	return sum;
}

static uint64_t strict(void)
{
	uint64_t sum = 0;

	printf("strict\n"); /* its buffer is there */
	fflush(stdout);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		exit(9);
	for (int i = 0; i < 40; i++)
		sum += work(3000000);
	printf("%llx\n", (unsigned long long)sum);
	fflush(stdout);
	syscall(SYS_exit, 0);
	return sum;
}

/* Of 30 MB, how many parts there is room for. */
static uint64_t parts(void)
{
	enum { PARTS = 40, PART = 3 << 18 };
	uint64_t sum = 0;

	for (int i = 0; i < PARTS; i++) {
		sum += work(3000000);
		sum += mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0) != MAP_FAILED;
	}
	return sum;
}

static uint64_t children(void)
{
	uint64_t sum = 0;
	int status = 0;

	for (int i = 0; i < 150; i++) {
		pid_t pid;

		sum += work(300000);
		pid = vfork(); /* NOLINT: what is tested */
		if (pid == 0 && i % 3 == 0)
			execl("/bin/true", "true", (char *)NULL);
		if (pid == 0)
			_exit(i & 15);
		waitpid(pid, &status, 0);
		sum += (uint64_t)status;
	}
	return sum;
}

static uint64_t changing(void)
{
	uint64_t sum = 0;
#ifdef __x86_64__
	for (int i = 0; i < 400; i++) {
		const uint8_t code[] = {
			0xb9, 0, 0, 4, 0,             /* mov $0x40000, %ecx */
			0x31, 0xc0,                   /* xor %eax, %eax */
			0x05, (uint8_t)i, 0, 0, 0,    /* add $i, %eax */
			0xff, 0xc9, 0x75, 0xf7, 0xc3, /* dec %ecx; jne; ret */
		};
		uint8_t *m = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uint32_t (*run)(void);

		if (m == MAP_FAILED)
			exit(9);
		memcpy(m, code, sizeof(code));
		memcpy(&run, &m, sizeof(run));
		sum += run();
		m[8] ^= 5;
		sum += run();
		munmap(m, PAGE);
	}
#endif
	return sum;
}

static uint64_t again(const char *name, int times)
{
	uint64_t sum = work(10000000);
	char left[12];

	snprintf(left, sizeof(left), "%d", times - 1);
	if (times)
		execl("/proc/self/exe", name, "exec", left, (char *)NULL);
	return sum;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t sum = 0;

	if (strcmp(what, "filter") == 0)
		sum = filter();
	else if (strcmp(what, "strict") == 0)
		sum = strict();
	else if (strcmp(what, "parts") == 0)
		sum = parts();
	else if (strcmp(what, "vfork") == 0)
		sum = children();
	else if (strcmp(what, "changing") == 0)
		sum = changing();
	else if (strcmp(what, "exec") == 0)
		sum = again(argv[0], argc > 2 ? atoi(argv[2]) : 20);
	else
		sum = work(100000000);
	if (strcmp(what, "fault") == 0)
		*(volatile int *)(uintptr_t)argc = 0;
	printf("%llx\n", (unsigned long long)sum);
	return (int)(sum & 31);
}
