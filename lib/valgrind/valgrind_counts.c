/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file with the counts (model/wire/shared.h), in the tool. It is allocated on the disk before
 * it is used, so that a full disk is an error here and not a SIGBUS later.
 *
 * If there is no room, counting continues in private memory: the program must run to its end
 * anyway.
 */
#include "valgrind/tool.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "pub_tool_aspacemgr.h"
#include "valgrind/core.h"

#define PAGE              4096
#define FIRST_SIZE        (4 * PAGE)
#define SLOTS_KEPT        256
#define JOURNAL           1
#define GENERATIONS_TRIED 100000
/* Of the kernel's interface; the headers for tools do not have them. */
#define LOCK_EXCLUSIVE  2  /* LOCK_EX of flock(2) */
#define LIMIT_FILE_SIZE 1  /* RLIMIT_FSIZE of setrlimit(2) */
#define NOT_SUPPORTED   95 /* EOPNOTSUPP */

/* Address space for as many slots as there can be threads; the file is mapped over the front of it,
 * so that slots never move. */
static struct model_shared *shared;
static SizeT reserved;      /* bytes */
static SizeT mapped;        /* bytes of the front that there are */
static Int descriptor = -1; /* of the file; -1: private memory */
static Int beside = -1;     /* of the directory */

static SysRes system_call(UWord number, UWord a, UWord b, UWord c, UWord d)
{
	return VG_(do_syscall)(number, a, b, c, d, 0, 0, 0, 0);
}

static UInt slots_in(SizeT size)
{
	return (UInt)((size - sizeof(struct model_shared)) / sizeof(struct model_shared_slot));
}

static Bool write_zeros(Int fd, SizeT size)
{
	static const HChar zeros[PAGE];

	for (SizeT at = 0; at < size; at += PAGE)
		if (sr_isError(system_call(__NR_pwrite64, (UWord)fd, (UWord)zeros, PAGE, at)))
			return False;
	return True;
}

/* Space on the disk for bytes from..to of the file. The program may have lowered the limit on the
 * size of files; ours are not output of the program. */
static Bool counts_allocate(Int fd, SizeT from, SizeT to)
{
	struct vki_rlimit old, raised;
	Bool good = False;
	SysRes r;

	VG_(getrlimit)(LIMIT_FILE_SIZE, &old);
	raised = old;
	raised.rlim_cur = raised.rlim_max;
	VG_(setrlimit)(LIMIT_FILE_SIZE, &raised);
	if (raised.rlim_max >= to) {
		r = system_call(__NR_fallocate, (UWord)fd, 0, from, to - from);
		good = !sr_isError(r) ||
		       (sr_Err(r) == NOT_SUPPORTED && from == 0 && write_zeros(fd, to));
	}
	VG_(setrlimit)(LIMIT_FILE_SIZE, &old);
	return good;
}

/* Puts the file, or without one private memory, at the front of the address space kept for it. */
static Bool counts_map(Int fd, SizeT size)
{
	UWord flags =
		VKI_MAP_FIXED | (fd >= 0 ? VKI_MAP_SHARED : VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS);
	SysRes r = VG_(do_syscall)(__NR_mmap, (UWord)shared, size, VKI_PROT_READ | VKI_PROT_WRITE,
		flags, (UWord)(Word)fd, 0, 0, 0);

	if (sr_isError(r))
		return False;
	descriptor = fd;
	mapped = size;
	return True;
}

static SysRes open_beside(const HChar *name, Int flags)
{
	return system_call(__NR_openat, (UWord)beside, (UWord)name, (UWord)flags, 0600);
}

Int counts_open_beside(const HChar *name, Int flags)
{
	SysRes r = open_beside(name, flags);

	return sr_isError(r) ? -1 : VG_(safe_fd)((Int)sr_Res(r));
}

void counts_unlink_beside(const HChar *name)
{
	system_call(__NR_unlinkat, (UWord)beside, (UWord)name, 0, 0);
}

/* A new file for this process, of this generation or a later one: its descriptor, or -1. */
static Int create(UInt *generation, HChar *name)
{
	for (UInt n = *generation; n - *generation < GENERATIONS_TRIED; n++) {
		SysRes r;

		VG_(sprintf)(name, "%s%d.%u", MODEL_SHARED_PREFIX, VG_(getpid)(), n);
		r = open_beside(name, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL);
		if (!sr_isError(r)) {
			*generation = n;
			return VG_(safe_fd)((Int)sr_Res(r));
		}
		if (sr_Err(r) != VKI_EEXIST)
			break;
	}
	return -1;
}

static void counts_fill(UInt generation, const HChar *command)
{
	shared->version = MODEL_SHARED_VERSION;
	shared->state = MODEL_STATE_RUNNING;
	shared->pid = VG_(getpid)();
	shared->ppid = VG_(getppid)();
	shared->generation = generation;
	shared->slot_count = slots_in(mapped);
	VG_(strncpy)(shared->command, VG_(basename)(command), sizeof(shared->command) - 1);
	shared->slots[0].state = MODEL_SLOT_FOLDED;
	shared->slots[JOURNAL].state = MODEL_SLOT_JOURNAL;
	__atomic_store_n(&shared->magic, MODEL_SHARED_MAGIC, __ATOMIC_RELEASE);
}

/* A file for this process, instead of the one mapped before. Returns NULL, or the error. */
static const HChar *begin_file(UInt *generation)
{
	HChar name[64];
	const HChar *why = NULL;
	Int fd = create(generation, name);

	if (fd < 0)
		return "cannot create a file for counts there";
	/* First the lock, then the content: a file with content and no lock is final. */
	system_call(__NR_flock, (UWord)fd, LOCK_EXCLUSIVE, 0, 0);
	if (!counts_allocate(fd, 0, FIRST_SIZE))
		why = "no room for a file of counts there";
	else if (!counts_map(fd, FIRST_SIZE))
		why = "cannot map a file of counts there";
	if (why) {
		counts_unlink_beside(name);
		VG_(close)(fd);
	}
	return why;
}

const HChar *counts_open(const HChar *directory, const HChar *command, UInt generation)
{
	const HChar *why;
	Int fd = VG_(fd_open)(directory, VKI_O_RDONLY, 0);

	beside = fd >= 0 ? VG_(safe_fd)(fd) : -1;
	reserved = VG_PGROUNDUP(
		sizeof(*shared) + (VG_N_THREADS + 2) * sizeof(struct model_shared_slot));
	shared = VG_(am_shadow_alloc)(reserved);
	if (!shared)
		VG_(out_of_memory_NORETURN)("perfexmodel", reserved);
	why = begin_file(&generation);
	if (why)
		counts_map(-1, reserved);
	counts_fill(generation, command);
	return why;
}

void counts_forked(const HChar *command)
{
	UInt generation = 0;
	SizeT before = mapped;

	/* The parent's lock belongs to its own descriptor as well, so closing this one leaves it.
	 */
	if (descriptor >= 0)
		VG_(close)(descriptor);
	if (begin_file(&generation)) {
		/* Counted in the parent's file, which is still mapped. */
		__atomic_fetch_add(&shared->lost_children, 1, __ATOMIC_RELAXED);
		counts_map(-1, reserved);
	} else if (before > mapped) {
		/* The rest of the parent's. */
		VG_(do_syscall)
		(__NR_mmap, (UWord)shared + mapped, before - mapped, VKI_PROT_READ | VKI_PROT_WRITE,
			VKI_MAP_FIXED | VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS, (UWord)-1, 0, 0, 0);
	}
	counts_fill(generation, command);
}

/* Doubles the file. False if there is no room. */
static Bool counts_grow(void)
{
	SizeT size = 2 * mapped < reserved ? 2 * mapped : reserved;

	if (size == mapped || !counts_allocate(descriptor, mapped, size) ||
		!counts_map(descriptor, size))
		return False;
	shared->slot_count = slots_in(size);
	return True;
}

static void fold(UInt slot)
{
	struct model_shared_slot *s = &shared->slots[slot];
	uint64_t *sum = shared->slots[0].counts, *journal = shared->slots[JOURNAL].counts;

	for (UInt e = 0; e < EVENT_LIMIT; e++)
		journal[e] = sum[e] + s->counts[e];
	__atomic_store_n(&shared->folding, slot, __ATOMIC_SEQ_CST);
	VG_(memcpy)(sum, journal, sizeof(s->counts));
	VG_(memset)(s, 0, sizeof(*s));
	__atomic_store_n(&shared->folding, 0, __ATOMIC_SEQ_CST);
}

/* Adds all ended threads to slot 0; shared->folds is odd meanwhile, for concurrent readers. */
static void fold_ended(void)
{
	__atomic_fetch_add(&shared->folds, 1, __ATOMIC_SEQ_CST);
	for (UInt i = JOURNAL + 1; i < shared->slot_count; i++)
		if (shared->slots[i].state == MODEL_SLOT_ENDED)
			fold(i);
	__atomic_fetch_add(&shared->folds, 1, __ATOMIC_SEQ_CST);
}

static UInt free_slot(void)
{
	for (UInt i = JOURNAL + 1; i < shared->slot_count; i++)
		if (shared->slots[i].state == MODEL_SLOT_FREE)
			return i;
	return 0;
}

/*
 * New slots are made before those of ended threads are used again, up to SLOTS_KEPT.  With no slot
 * left and no room for more, threads share slot 0: their counts are in the sum at least.
 */
UInt counts_add_thread(void)
{
	UInt slot = free_slot();

	if (!slot && shared->slot_count < SLOTS_KEPT && counts_grow())
		slot = free_slot();
	if (!slot) {
		fold_ended();
		slot = free_slot();
	}
	if (!slot && counts_grow())
		slot = free_slot();
	if (slot) {
		VG_(memset)(&shared->slots[slot], 0, sizeof(shared->slots[slot]));
		shared->slots[slot].state = MODEL_SLOT_LIVE;
	}
	shared->thread_count++;
	return slot;
}

void counts_end_thread(UInt slot)
{
	if (slot)
		shared->slots[slot].state = MODEL_SLOT_ENDED;
}

void counts_name_thread(UInt slot, Int kernel_tid)
{
	if (slot)
		shared->slots[slot].tid = kernel_tid;
}

UInt counts_slots(void)
{
	return shared->slot_count;
}

Int counts_tid(UInt slot)
{
	return shared->slots[slot].tid;
}

UInt counts_generation(void)
{
	return shared->generation;
}

void counts_note_unprofiled(void)
{
	shared->lost_profiles++;
}

struct model_windows *counts_windows(void)
{
	return &shared->windows;
}

struct model_clock_sums *counts_clock(void)
{
	return &shared->clock;
}

uint64_t *counts_of(UInt slot)
{
	return shared->slots[slot].counts;
}

void counts_sum(uint64_t *counts, UInt n)
{
	VG_(memset)(counts, 0, n * sizeof(*counts));
	for (UInt i = 0; i < shared->slot_count; i++)
		for (UInt e = 0; i != JOURNAL && e < n; e++)
			counts[e] += shared->slots[i].counts[e];
}

void counts_set_state(enum model_shared_state state)
{
	shared->state = state;
}

void counts_note_native(const HChar *program, const HChar *why)
{
	static Bool noted;

	if (!program) {
		shared->native_programs -= noted;
		noted = False;
		return;
	}
	noted = True;
	if (!shared->native_programs++)
		VG_(snprintf)
	(shared->native_program, sizeof(shared->native_program), "%s: %s", VG_(basename)(program),
		why);
}
