/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executes single instructions of another process here: general registers, flags and, where an
 * instruction uses it, extended state are loaded from a struct machine_state, the instruction is
 * executed, and all is saved again. Each is a copy ("thunk") that ends with a jump back.
 *
 * The code below is a template that is copied after the state, so that it and all thunks reach the
 * state relative to the program counter. While a thunk runs, the stack pointer is the program's:
 * signals that could come then are blocked or handled on a stack of their own. An instruction that
 * faults is left by the handler, which goes on at machine_template_failed with the stack from
 * before.
 *
 * Extended state is loaded and saved around each instruction that uses it. That costs some 100 ns,
 * but state in registers would not survive any other code between two instructions.
 */
#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isa/redirect.h"
#include "values/fault.h"
#include "values/private.h"

#define STATE_BYTES 0x8000u
#define CODE_BYTES  (4u << 20)

/* x87, SSE, AVX, mask registers, upper halves of zmm0 to zmm15, zmm16 to zmm31. */
#define COMPONENTS     0xe7u
#define COMPONENT_X87  1u
#define COMPONENT_AVX  4u
#define COMPONENT_HIGH 7   /* its number */
#define VECTOR_AT      160 /* of xmm0 */

#define JUMP_BYTES 5
#define ROOM_LEAST 64 /* bytes: any instruction fits */

_Static_assert(offsetof(struct machine_state, flags) == 128, "template");
_Static_assert(offsetof(struct machine_state, host_stack) == 136, "template");
_Static_assert(offsetof(struct machine_state, target) == 144, "template");
_Static_assert(offsetof(struct machine_state, mask) == 152, "template");
_Static_assert(offsetof(struct machine_state, host_mxcsr) == 156, "template");
_Static_assert(offsetof(struct machine_state, host_control) == 160, "template");
_Static_assert(offsetof(struct machine_state, avx) == 162, "template");
_Static_assert(offsetof(struct machine_state, extended) == 4096, "template");
_Static_assert(sizeof(struct machine_state) <= STATE_BYTES, "template");

extern const uint8_t machine_template[], machine_template_back[], machine_template_failed[],
	machine_template_end[];

__asm__(".pushsection .rodata\n"
	".balign 64\n"
	".globl machine_template, machine_template_back, machine_template_failed, "
	"machine_template_end\n"
	".hidden machine_template, machine_template_back, machine_template_failed, "
	"machine_template_end\n"
	"machine_template:\n"
	".set machine_s, machine_template - 0x8000\n"
	"	push %rbx\n	push %rbp\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, machine_s+136(%rip)\n"
	"	cmpl $0, machine_s+152(%rip)\n"
	"	je 1f\n"
	"	stmxcsr machine_s+156(%rip)\n"
	"	fnstcw machine_s+160(%rip)\n"
	"	mov machine_s+152(%rip), %eax\n"
	"	xor %edx, %edx\n"
	"	xrstor64 machine_s+4096(%rip)\n"
	"1:	pushq machine_s+128(%rip)\n"
	"	popfq\n"
	"	mov machine_s+0(%rip), %rax\n"
	"	mov machine_s+8(%rip), %rcx\n"
	"	mov machine_s+16(%rip), %rdx\n"
	"	mov machine_s+24(%rip), %rbx\n"
	"	mov machine_s+40(%rip), %rbp\n"
	"	mov machine_s+48(%rip), %rsi\n"
	"	mov machine_s+56(%rip), %rdi\n"
	"	mov machine_s+64(%rip), %r8\n"
	"	mov machine_s+72(%rip), %r9\n"
	"	mov machine_s+80(%rip), %r10\n"
	"	mov machine_s+88(%rip), %r11\n"
	"	mov machine_s+96(%rip), %r12\n"
	"	mov machine_s+104(%rip), %r13\n"
	"	mov machine_s+112(%rip), %r14\n"
	"	mov machine_s+120(%rip), %r15\n"
	"	mov machine_s+32(%rip), %rsp\n"
	"	jmp *machine_s+144(%rip)\n"
	"machine_template_back:\n"
	"	mov %rsp, machine_s+32(%rip)\n"
	"	mov machine_s+136(%rip), %rsp\n"
	"	mov %rax, machine_s+0(%rip)\n"
	"	mov %rcx, machine_s+8(%rip)\n"
	"	mov %rdx, machine_s+16(%rip)\n"
	"	mov %rbx, machine_s+24(%rip)\n"
	"	mov %rbp, machine_s+40(%rip)\n"
	"	mov %rsi, machine_s+48(%rip)\n"
	"	mov %rdi, machine_s+56(%rip)\n"
	"	mov %r8, machine_s+64(%rip)\n"
	"	mov %r9, machine_s+72(%rip)\n"
	"	mov %r10, machine_s+80(%rip)\n"
	"	mov %r11, machine_s+88(%rip)\n"
	"	mov %r12, machine_s+96(%rip)\n"
	"	mov %r13, machine_s+104(%rip)\n"
	"	mov %r14, machine_s+112(%rip)\n"
	"	mov %r15, machine_s+120(%rip)\n"
	"	pushfq\n"
	"	popq machine_s+128(%rip)\n"
	"	cld\n"
	"	cmpl $0, machine_s+152(%rip)\n"
	"	je 3f\n"
	"	mov machine_s+152(%rip), %eax\n"
	"	xor %edx, %edx\n"
	"	xsave64 machine_s+4096(%rip)\n"
	"2:	testb $1, machine_s+152(%rip)\n"
	"	je 4f\n"
	"	fninit\n"
	"	fldcw machine_s+160(%rip)\n"
	"4:	cmpb $0, machine_s+162(%rip)\n"
	"	je 5f\n"
	"	vzeroupper\n"
	"5:	ldmxcsr machine_s+156(%rip)\n"
	"3:	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n"
	"machine_template_failed:\n"
	"	cld\n"
	"	cmpl $0, machine_s+152(%rip)\n"
	"	je 3b\n"
	"	jmp 2b\n"
	"machine_template_end:\n"
	".popsection\n");

/* ---- memory ---- */

static int map(struct machine *m, struct error *e)
{
	int fd = memfd_create("values", MFD_CLOEXEC);
	uint8_t *all;

	all = mmap(NULL, STATE_BYTES + CODE_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED || fd < 0 || ftruncate(fd, CODE_BYTES) != 0) {
		error_sys(e, errno, "cannot map memory for the interpreter");
		goto fail;
	}
	m->state = (struct machine_state *)(void *)all;
	m->write = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	m->code = mmap(all + STATE_BYTES, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED,
		fd, 0);
	if (m->write == MAP_FAILED || m->code == MAP_FAILED) {
		error_sys(e, errno, "this system does not let programs make code");
		error_hint(e, "value sampling executes instructions of the program in ssrun: a "
			      "security policy (SELinux, vm.memfd_noexec) forbids it");
		goto fail;
	}
	close(fd);
	return 0;
fail:
	if (fd >= 0)
		close(fd);
	return -1;
}

static int ask_processor(struct machine *m, struct error *e)
{
	uint32_t a, b, c, d, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 27))
		return error_set(e, ERR_UNSUPPORTED, "this processor has no xsave");
	__asm__ volatile("xgetbv" : "=a"(m->supported), "=d"(high) : "c"(0));
	m->supported &= COMPONENTS;
	m->state->avx = (m->supported & COMPONENT_AVX) != 0;
	if (m->supported >> COMPONENT_HIGH & 1) {
		__cpuid_count(0xd, COMPONENT_HIGH, a, b, c, d);
		m->high_at = b;
	}
	return 0;
}

int machine_init(struct machine *m, struct error *e)
{
	if (map(m, e) || ask_processor(m, e))
		return -1;
	memcpy(m->write, machine_template, (size_t)(machine_template_end - machine_template));
	m->first = (size_t)(machine_template_end - machine_template);
	m->back =
		(uint64_t)(uintptr_t)m->code + (uint64_t)(machine_template_back - machine_template);
	m->failed = (uint64_t)(uintptr_t)m->code +
		    (uint64_t)(machine_template_failed - machine_template);
	memcpy(&m->enter, &m->code, sizeof(m->enter));
	machine_clear(m);
	faults_handle(&(struct faulting){(uint64_t)(uintptr_t)m->code, CODE_BYTES, m->failed,
		&m->state->host_stack, &m->state->fault});
	m->handling = true;
	return 0;
}

void machine_fini(struct machine *m)
{
	if (m->handling)
		faults_leave();
	if (m->write && m->write != MAP_FAILED)
		munmap(m->write, CODE_BYTES);
	if (m->state)
		munmap(m->state, STATE_BYTES + CODE_BYTES);
	memset(m, 0, sizeof(*m));
}

void machine_clear(struct machine *m)
{
	m->used = m->first;
}

bool machine_has_room(const struct machine *m)
{
	return m->used + ROOM_LEAST <= CODE_BYTES;
}

void machine_bytes(const struct machine *m, uint64_t thunk, uint8_t *bytes, size_t length)
{
	memcpy(bytes, m->write + (thunk - (uint64_t)(uintptr_t)m->code), length);
}

uint64_t machine_add(
	struct machine *m, const uint8_t *bytes, size_t length, size_t displacement, unsigned shift)
{
	size_t at = (m->used + 15) & ~(size_t)15;
	uint64_t here = (uint64_t)(uintptr_t)m->code + at;
	uint8_t *to = m->write + at;
	int32_t distance;

	if (at + length + JUMP_BYTES > CODE_BYTES)
		return 0;
	memcpy(to, bytes, length);
	if (displacement) {
		distance = (int32_t)((int64_t)(uintptr_t)(m->state->operand + shift) -
				     (int64_t)(here + length));
		memcpy(to + displacement, &distance, sizeof(distance));
	}
	to[length] = 0xe9;
	distance = (int32_t)((int64_t)m->back - (int64_t)(here + length + JUMP_BYTES));
	memcpy(to + length + 1, &distance, sizeof(distance));
	m->used = at + length + JUMP_BYTES;
	return here;
}

bool machine_run(struct machine *m, uint64_t thunk, unsigned state)
{
	static _Thread_local bool stacked;

	if (!stacked)
		faults_take_stack();
	stacked = true;
	m->state->target = thunk;
	m->state->fault = 0;
	m->state->mask = !state              ? 0
			 : state & STATE_X87 ? m->supported
					     : m->supported & ~COMPONENT_X87;
	m->enter();
	return !m->state->fault;
}

uint64_t machine_vector(const struct machine *m, unsigned number)
{
	uint64_t value;

	if (number >= 16 && !m->high_at)
		return 0;
	memcpy(&value,
		m->state->extended +
			(number < 16 ? VECTOR_AT + 16 * number : m->high_at + 64 * (number - 16)),
		sizeof(value));
	return value;
}
