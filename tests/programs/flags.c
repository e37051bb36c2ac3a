/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags: flags that are read in another superblock than set: behind jumps, calls, returns, in code
 * that is replaced while it runs.
 *
 * usage: flags
 * Prints a line for each way: its name and a sum of what was read.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

#define ROUNDS 3000

/* Each: what it read, of two numbers. */
#define WAYS(way)                                                                                  \
	way(jump, "cmp %esi, %edi; jmp 1f; 1: setl %al; movzbl %al, %eax; ret") way(far_jumps,     \
		"cmp %esi, %edi; jmp 1f; 1: mov %edi, %eax; jmp 2f; 2: lea 1(%rax), %ecx; "        \
		"jmp 3f; 3: jbe 4f; mov %ecx, %eax; 4: ret") way(both_ways,                        \
		"cmp %esi, %edi; jg 1f; je 2f; mov $1, %eax; ret; "                                \
		"1: jo 3f; mov $2, %eax; ret; 2: mov $3, %eax; ret; 3: mov $4, %eax; ret")         \
		way(one_way,                                                                       \
			"cmp %esi, %edi; jl 1f; test %edi, %edi; sets %al; movzbl %al, %eax; "     \
			"ret; "                                                                    \
			"1: seto %al; movzbl %al, %eax; ret") way(called, "mov %edi, %eax; add "   \
									  "%esi, %eax; call 1f; "  \
									  "ret; 1: adc $0, %eax; " \
									  "ret") way(returned,     \
			"call 1f; sbb %eax, %eax; ret; 1: cmp %esi, %edi; ret") way(indirect,      \
			"lea 1f(%rip), %rdx; sub %esi, %edi; jmp *%rdx; 1: setp %al; "             \
			"movzbl %al, %eax; ret") way(pushed,                                       \
			"lea 1f(%rip), %rdx; push %rdx; sub %esi, %edi; ret; 1: seta %al; "        \
			"movzbl %al, %eax; ret") way(kept_carry,                                   \
			"add %esi, %edi; jmp 1f; 1: inc %edi; jmp 2f; 2: dec %esi; jmp 3f; "       \
			"3: mov %edi, %eax; adc %esi, %eax; ret") way(shift_by_none,               \
			"cmp %esi, %edi; mov $0, %ecx; jmp 1f; 1: shl %cl, %edi; jmp 2f; "         \
			"2: cmovl %esi, %edi; mov %edi, %eax; ret") way(shift,                     \
			"mov %esi, %ecx; cmp %esi, %edi; jmp 1f; 1: shr %cl, %edi; jmp 2f; "       \
			"2: sbb $3, %edi; mov %edi, %eax; ret") way(rotated,                       \
			"add %esi, %edi; jmp 1f; 1: rcl $1, %edi; jmp 2f; 2: ror $3, %edi; jmp "   \
			"3f; "                                                                     \
			"3: setc %al; movzbl %al, %eax; add %edi, %eax; ret") way(counted,         \
			"cmp %esi, %edi; mov $3, %ecx; 1: loop 1b; setb %al; movzbl %al, %eax; "   \
			"ret") way(none_compared,                                                  \
			"cmp %esi, %edi; xor %ecx, %ecx; cmp %esi, %edi; jmp 1f; "                 \
			"1: repe cmpsb; setb %al; movzbl %al, %eax; ret") way(stored,              \
			"imul %esi, %edi; jmp 1f; 1: pushfq; pop %rax; and $0x801, %eax; ret")     \
			way(loaded, "add %esi, %edi; jmp 1f; 1: lahf; movzbl %ah, %eax; and "      \
				    "$0xd5, %eax; ret")                                            \
				way(bit, "cmp %esi, %edi; jmp 1f; 1: bt $3, %edi; jmp 2f; 2: "     \
					 "setc %al; sete %cl; "                                    \
					 "lea (%rax,%rcx,2), %eax; and $3, %eax; ret")             \
					way(unread, "cmp %esi, %edi; jmp 1f; 1: mov %edi, %eax; "  \
						    "jmp 2f; 2: xor %esi, %eax; ret")

#define CODE(name, text)                                                                           \
	__asm__(".text; .type flags_" #name ", @function; flags_" #name ": " text);                \
	int flags_##name(int a, int b);
WAYS(CODE)

/* The second page of these is replaced. */
__asm__(".text; .p2align 12\n"
	".type flags_first, @function; flags_first: cmp %esi, %edi; jmp flags_second\n"
	".p2align 12\n"
	".type flags_second, @function; flags_second: xor %eax, %eax; test %edi, %edi; ret\n"
	".p2align 12\n"
	"flags_page: setl %al; movzbl %al, %eax; ret\n"
	".p2align 12\n");
int flags_first(int a, int b);
extern char flags_second[], flags_page[];

static unsigned sum_of(int (*way)(int, int))
{
	uint64_t state = 1;
	unsigned sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		/* Often equal, small or of both signs. */
		sum = sum * 31 +
		      (unsigned)way((int)(state >> 33) >> (state >> 60),
			      i % 5 ? (int)(state >> 20) : (int)(state >> 33) >> (state >> 60));
	}
	return sum;
}

static void show(const char *name, int (*way)(int, int))
{
	printf("%-14s %08x\n", name, sum_of(way));
}

static void write_over(void)
{
	mprotect(flags_second, 4096, PROT_READ | PROT_WRITE);
	memcpy(flags_second, flags_page, 16);
	mprotect(flags_second, 4096, PROT_READ | PROT_EXEC);
}

/* The page of the file, mapped once more; the file's page that follows, mapped there. */
static void map_over(long page)
{
	FILE *maps = fopen("/proc/self/maps", "r"), *self = fopen("/proc/self/exe", "r");
	unsigned long begin, end, offset;
	char line[512];

	while (maps && self && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx r-xp %lx", &begin, &end, &offset) != 3 ||
			(uintptr_t)flags_first < begin || (uintptr_t)flags_first >= end)
			continue;
		mmap(flags_second, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			fileno(self), (off_t)(offset + ((uintptr_t)flags_second - begin)) + page);
		break;
	}
}

int main(void)
{
#define SHOW(name, text) show(#name, flags_##name);
	WAYS(SHOW)
	show("before", flags_first);
	map_over(4096);
	show("mapped over", flags_first);
	map_over(0);
	show("mapped back", flags_first);
	write_over();
	show("written over", flags_first);
	return 0;
}

#else
int main(void)
{
	return 77;
}
#endif
