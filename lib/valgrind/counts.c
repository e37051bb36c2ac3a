/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that the counts live in (sources/model_shared.h), from the tool's side.  It is allocated on the disk
 * before it is used, so that a full one shows as an error here and not as a SIGBUS later.
 *
 * Where there is no room, counting goes on in private memory: the program must run to its end all the same.
 */
#include "valgrind/tool.h"

#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "pub_tool_aspacemgr.h"
#include "valgrind/core.h"

#define PAGE		  4096
#define FIRST_SIZE	  (2 * PAGE)
#define LOCK_EXCLUSIVE	  2 /* LOCK_EX of flock(2) */
#define GENERATIONS_TRIED 100000

static struct model_shared *shared;
static SizeT mapped; /* bytes; 0: private memory */
static Int descriptor = -1;

static SysRes system_call(UWord number, UWord a, UWord b, UWord c, UWord d)
{
	return VG_(do_syscall)(number, a, b, c, d, 0, 0, 0, 0);
}

static UInt slots_in(SizeT size)
{
	return (UInt)((size - sizeof(struct model_shared)) / sizeof(struct model_shared_slot));
}

/* The program may have lowered the limit on the size of files; ours are no output of its own. */
static SysRes allocate(Int fd, SizeT size)
{
	struct vki_rlimit old, raised;
	SysRes r;

	VG_(getrlimit)(VKI_RLIMIT_FSIZE, &old);
	raised = old;
	raised.rlim_cur = raised.rlim_max;
	VG_(setrlimit)(VKI_RLIMIT_FSIZE, &raised);
	if (raised.rlim_max < size)
		r = VG_(mk_SysRes_Error)(VKI_EFBIG);
	else
		r = system_call(__NR_fallocate, (UWord)fd, 0, 0, size);
	if (sr_isError(r) && sr_Err(r) == VKI_EOPNOTSUPP) {
		static const HChar zeros[PAGE];

		r = VG_(mk_SysRes_Success)(0);
		for (SizeT at = 0; at < size && !sr_isError(r); at += PAGE)
			r = system_call(__NR_pwrite64, (UWord)fd, (UWord)zeros, PAGE, at);
	}
	VG_(setrlimit)(VKI_RLIMIT_FSIZE, &old);
	return r;
}

static struct model_shared *map(Int fd, SizeT size)
{
	SysRes r = VG_(am_shared_mmap_file_float_valgrind)(
		size, VKI_PROT_READ | VKI_PROT_WRITE, fd, 0);

	return sr_isError(r) ? NULL : (struct model_shared *)sr_Res(r);
}

/* A new file for this process: its descriptor, or -1.  *path is set then, to be freed. */
static Int create(const HChar *directory, UInt *generation, HChar **path)
{
	HChar *name = VG_(malloc)("path", VG_(strlen)(directory) + 64);
	SysRes r;

	for (UInt n = 0; n < GENERATIONS_TRIED; n++) {
		VG_(sprintf)(name, "%s/%s%d.%u", directory, MODEL_SHARED_PREFIX, VG_(getpid)(), n);
		r = VG_(open)(name, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0600);
		if (!sr_isError(r)) {
			*generation = n;
			*path = name;
			return VG_(safe_fd)((Int)sr_Res(r));
		}
		if (sr_Err(r) != VKI_EEXIST)
			break;
	}
	VG_(free)(name);
	return -1;
}

static void fill(UInt generation, const HChar *command)
{
	shared->version = MODEL_SHARED_VERSION;
	shared->state = MODEL_STATE_RUNNING;
	shared->pid = VG_(getpid)();
	shared->ppid = VG_(getppid)();
	shared->generation = generation;
	shared->slot_count = slots_in(mapped ? mapped : FIRST_SIZE);
	VG_(strncpy)(shared->command, VG_(basename)(command), sizeof(shared->command) - 1);
	shared->slots[0].state = MODEL_SLOT_FOLDED;
	__atomic_store_n(&shared->magic, MODEL_SHARED_MAGIC, __ATOMIC_RELEASE);
}

static void use_private_memory(const HChar *command)
{
	mapped = 0;
	descriptor = -1;
	shared = VG_(calloc)("counts", 1, FIRST_SIZE);
	fill(0, command);
}

const HChar *counts_open(const HChar *directory, const HChar *command)
{
	HChar *path = NULL;
	UInt generation = 0;
	const HChar *why = NULL;

	descriptor = create(directory, &generation, &path);
	if (descriptor < 0) {
		why = "cannot create its file for counts";
	} else {
		/* First the lock, then the content: a file with content and no lock is final. */
		system_call(__NR_flock, (UWord)descriptor, LOCK_EXCLUSIVE, 0, 0);
		if (sr_isError(allocate(descriptor, FIRST_SIZE)))
			why = "no room for its file of counts";
		else if (!(shared = map(descriptor, FIRST_SIZE)))
			why = "cannot map its file of counts";
	}
	if (why) {
		if (descriptor >= 0) {
			VG_(unlink)(path);
			VG_(close)(descriptor);
		}
		use_private_memory(command);
	} else {
		mapped = FIRST_SIZE;
		fill(generation, command);
	}
	VG_(free)(path);
	return why;
}

void counts_forked(const HChar *directory, const HChar *command)
{
	struct model_shared *parents = shared;
	SizeT size = mapped;

	/* The parent's lock belongs to its own descriptor as well, so closing this one leaves it. */
	if (descriptor >= 0)
		VG_(close)(descriptor);
	if (counts_open(directory, command))
		__atomic_fetch_add(&parents->lost_children, 1, __ATOMIC_RELAXED);
	if (size)
		VG_(am_munmap_valgrind)((Addr)parents, size);
	else
		VG_(free)(parents);
}

/* Twice the size, all at the same place in the file.  False where there is no room. */
static Bool grow(void)
{
	SizeT size = 2 * mapped;
	struct model_shared *bigger;

	if (!mapped || sr_isError(allocate(descriptor, size)) || !(bigger = map(descriptor, size)))
		return False;
	VG_(am_munmap_valgrind)((Addr)shared, mapped);
	shared = bigger;
	mapped = size;
	shared->slot_count = slots_in(size);
	return True;
}

/* Adds all ended threads to slot 0; shared->folds is odd meanwhile, for who reads at the same time. */
static void fold_ended(void)
{
	__atomic_fetch_add(&shared->folds, 1, __ATOMIC_SEQ_CST);
	for (UInt i = 1; i < shared->slot_count; i++) {
		struct model_shared_slot *s = &shared->slots[i];

		if (s->state != MODEL_SLOT_ENDED)
			continue;
		for (UInt e = 0; e < EVENT_LIMIT; e++)
			shared->slots[0].counts[e] += s->counts[e];
		VG_(memset)(s, 0, sizeof(*s));
	}
	__atomic_fetch_add(&shared->folds, 1, __ATOMIC_SEQ_CST);
}

static UInt free_slot(void)
{
	for (UInt i = 1; i < shared->slot_count; i++)
		if (shared->slots[i].state == MODEL_SLOT_FREE)
			return i;
	return 0;
}

/* With no slot left and no room for more, threads share slot 0: their counts are in the sum at least. */
UInt counts_add_thread(void)
{
	UInt slot = free_slot();

	if (!slot) {
		fold_ended();
		slot = free_slot();
	}
	if (!slot && grow())
		slot = free_slot();
	if (slot)
		shared->slots[slot].state = MODEL_SLOT_LIVE;
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

uint64_t *counts_of(UInt slot)
{
	return shared->slots[slot].counts;
}

void counts_sum(uint64_t *counts, UInt n)
{
	VG_(memset)(counts, 0, n * sizeof(*counts));
	for (UInt i = 0; i < shared->slot_count; i++)
		for (UInt e = 0; e < n; e++)
			counts[e] += shared->slots[i].counts[e];
}

void counts_set_state(enum model_shared_state state)
{
	shared->state = state;
}

void counts_note_native(const HChar *program)
{
	if (!shared->native_programs++)
		VG_(strncpy)(shared->native_program, program, sizeof(shared->native_program) - 1);
}
