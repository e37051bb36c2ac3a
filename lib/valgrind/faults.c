/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The linker puts two functions here in front of others (--wrap): of VEX, the one that writes an
 * instruction of the host; of the core, the one that sets handlers of its own.
 *
 * A store of the program counter is known by its bytes: movq $constant, offset(%rbp). If VEX writes
 * it otherwise, as for addresses above 2 GB, it stays. In front of a call it is written after all,
 * since the fault may be in the function that is called.
 *
 * While the program handles faults (resume.c) all stores stay: a fault takes a search then.
 */
#include "valgrind/faults.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "libvex_guest_amd64.h"
#include "valgrind/core.h"
#include "valgrind/tool.h"

#define SIGNALS     32 /* those of faults are below */
#define STORE_BYTES 11
#define CALL_BYTES  3                /* call *%r11 */
#define CORE_BYTES  (8 + CALL_BYTES) /* the core's function before it, a constant of 64 bits */

/* From this byte of the translation on, the program counter is: */
struct fault_mark {
	UInt from, counter;
};

struct fault_code {
	VgHashNode node; /* by key */
	UInt size, count;
	struct fault_mark marks[];
};

Addr faults_superblock;
static VgHashTable *codes;
/* The translation that is being made. */
static struct fault_mark *marks;
static UInt mark_count, mark_room;
static UInt written; /* bytes of it */
static Bool pending; /* the last mark is not stored */

/* ---- translation ---- */

void faults_translate(void)
{
	mark_count = written = 0;
	pending = False;
}

void faults_keep(Addr key)
{
	struct fault_code *c;

	faults_discard(key);
	c = VG_(malloc)("faults", sizeof(*c) + mark_count * sizeof(*marks));
	c->node.key = key;
	c->size = written;
	c->count = mark_count;
	VG_(memcpy)(c->marks, marks, mark_count * sizeof(*marks));
	if (!codes)
		codes = VG_(HT_construct)("faults");
	VG_(HT_add_node)(codes, c);
	mark_count = 0;
}

void faults_discard(Addr key)
{
	struct fault_code *c = codes ? VG_(HT_remove)(codes, key) : NULL;

	if (c)
		VG_(free)(c);
}

static void mark(UInt counter)
{
	if (mark_count == mark_room) {
		mark_room = mark_room ? 2 * mark_room : 256;
		marks = VG_(realloc)("marks", marks, mark_room * sizeof(*marks));
	}
	marks[mark_count++] = (struct fault_mark){written, counter};
	pending = True;
}

static const UChar store[STORE_BYTES - sizeof(UInt)] = {
	0x48, 0xc7, 0x85, offsetof(VexGuestAMD64State, guest_RIP)};

static Bool is_store(const UChar *code, Int length)
{
	return length == STORE_BYTES && VG_(memcmp)(code, store, sizeof(store)) == 0;
}

/* Not that to the core, with which a superblock ends. */
static Bool calls_a_function(const UChar *code, Int length, const void *slow, const void *fast)
{
	const UChar *end = code + length;
	Addr to = 0;

	if (length < CALL_BYTES || VG_(memcmp)(end - CALL_BYTES, "\x41\xff\xd3", CALL_BYTES) != 0)
		return False;
	if (length >= CORE_BYTES)
		VG_(memcpy)(&to, end - CORE_BYTES, sizeof(to));
	return to != (Addr)slow && to != (Addr)fast;
}

Int __real_emit_AMD64Instr(Bool *counts, UChar *to, Int room, const void *instruction, Bool mode64,
	VexEndness endness, const void *slow, const void *fast, const void *indirect,
	const void *assisted);
Int __wrap_emit_AMD64Instr(Bool *counts, UChar *to, Int room, const void *instruction, Bool mode64,
	VexEndness endness, const void *slow, const void *fast, const void *indirect,
	const void *assisted);

__attribute__((used)) Int __wrap_emit_AMD64Instr(Bool *counts, UChar *to, Int room,
	const void *instruction, Bool mode64, VexEndness endness, const void *slow,
	const void *fast, const void *indirect, const void *assisted)
{
	Int length = __real_emit_AMD64Instr(
		counts, to, room, instruction, mode64, endness, slow, fast, indirect, assisted);

	if (!resume_handles && is_store(to, length)) {
		UInt counter;

		VG_(memcpy)(&counter, to + sizeof(store), sizeof(counter));
		mark(counter);
		return 0;
	}
	if (pending && calls_a_function(to, length, slow, fast) && room - length >= STORE_BYTES) {
		VG_(memmove)(to + STORE_BYTES, to, (SizeT)length);
		VG_(memcpy)(to, store, sizeof(store));
		VG_(memcpy)(to + sizeof(store), &marks[mark_count - 1].counter, sizeof(UInt));
		length += STORE_BYTES;
		pending = False;
	}
	written += (UInt)length;
	return length;
}

/* ---- faults ---- */

Bool __real_vgPlain_search_transtab(Addr *code, void *section, void *entry, Addr guest, Bool cache);

static Bool contains(const struct fault_code *c, Addr host, UInt *at)
{
	Addr code = 0;

	if (!__real_vgPlain_search_transtab(&code, NULL, NULL, c->node.key, False) || host < code ||
		host >= code + c->size)
		return False;
	*at = (UInt)(host - code);
	return True;
}

static void faults_find(Addr host, ThreadId tid)
{
	const struct fault_code *c;
	UInt at = 0, i;
	ULong counter;

	VG_(HT_ResetIter)(codes);
	while ((c = VG_(HT_Next)(codes)) != NULL && !contains(c, host, &at))
		;
	if (!c)
		return;
	for (i = 0; i < c->count && c->marks[i].from <= at; i++)
		;
	faults_superblock = c->node.key;
	if (!i)
		return;
	counter = c->marks[i - 1].counter;
	VG_(set_shadow_regs_area)
	(tid, 0, offsetof(VexGuestAMD64State, guest_RIP), sizeof(counter), (const UChar *)&counter);
}

typedef void handler(Int signal, vki_siginfo_t *info, struct vki_ucontext *context);
static handler *handlers[SIGNALS]; /* the core's */

static void faults_handler(Int signal, vki_siginfo_t *info, struct vki_ucontext *context)
{
	ThreadId tid = VG_(get_running_tid)();

	faults_superblock = 0;
	if (codes && !resume_handles && tid != VG_INVALID_THREADID)
		faults_find(context->uc_mcontext.rip, tid);
	handlers[signal](signal, info, context);
}

static Bool is_fault(Int signal)
{
	return signal == VKI_SIGSEGV || signal == VKI_SIGBUS || signal == VKI_SIGFPE ||
	       signal == VKI_SIGILL || signal == VKI_SIGTRAP;
}

Int __real_vgPlain_sigaction(
	Int signal, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old);
Int __wrap_vgPlain_sigaction(
	Int signal, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old);

__attribute__((used)) Int __wrap_vgPlain_sigaction(
	Int signal, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *old)
{
	vki_sigaction_toK_t ours;
	handler *before;
	Int failed;

	if (!is_fault(signal))
		return __real_vgPlain_sigaction(signal, action, old);
	before = handlers[signal];
	if (action) {
		ours = *action;
		if (ours.ksa_handler != VKI_SIG_DFL && ours.ksa_handler != VKI_SIG_IGN) {
			handlers[signal] = (handler *)(void (*)(void))ours.ksa_handler;
			ours.ksa_handler = (void *)(Addr)faults_handler;
		}
	}
	failed = __real_vgPlain_sigaction(signal, action ? &ours : NULL, old);
	if (!failed && old && (Addr)old->ksa_handler == (Addr)faults_handler)
		old->ksa_handler = (void *)(Addr)before;
	return failed;
}
