/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfexmodel's life: the callbacks of Valgrind's core.
 *
 * The model's counts go directly into the current thread's slot of the shared file. Counts that the
 * model keeps elsewhere are written there (model_sync) whenever a thread stops running the
 * program's code: at each system call, and every 100,000 superblocks at the latest.
 */
#include "valgrind/tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "model/wire/requests.h"
#include "pub_tool_clreq.h"
#include "valgrind/core.h"
#include "valgrind/dataspace.h"
#include "valgrind/executed.h"
#include "valgrind/profile.h"
#include "valgrind/sampled.h"
#include "valgrind/slices.h"
#include "valgrind/stacks.h"
#include "valgrind/thunk.h"

#define SET_NAME   15               /* PR_SET_NAME of prctl(2) */
#define CODE_BYTES ((SizeT)8 << 20) /* for code of segments */

/* A thread, by Valgrind's number for it; Valgrind reuses its numbers, ours are unique. */
struct thread {
	UInt number; /* in order of creation */
	UInt slot;
	Bool named;
	uint64_t repeating; /* see model_repeating */
};

static const HChar *config_path, *counts_directory, *generation = "";
static Bool fast;
static struct model_config config;
struct model *model;
static struct thread *threads; /* VG_N_THREADS of them */
static UInt threads_created;
static ThreadId running; /* the thread to whose counts the model adds */

/* ---- for all files of the tool ---- */

void *tool_memory(void *old, size_t size)
{
	if (size)
		return VG_(realloc)("memory", old, size);
	VG_(free)(old);
	return NULL;
}

Bool tool_readable(Addr a, SizeT size)
{
	return a + size > a && VG_(am_is_valid_for_client)(a, size, VKI_PROT_READ);
}

Int tool_read(const HChar *path, void *buffer, Int room)
{
	Int fd = VG_(fd_open)(path, VKI_O_RDONLY, 0), n = -1;

	if (fd >= 0) {
		n = VG_(read)(fd, buffer, room);
		VG_(close)(fd);
	}
	return n;
}

/* ---- threads ---- */

static void make_current(ThreadId tid)
{
	running = tid;
	model_switch_thread(model, threads[tid].number, counts_of(threads[tid].slot));
	profile_thread(tid, threads[tid].number);
	model_set_repeating(model, threads[tid].repeating);
}

static void add_thread(ThreadId tid)
{
	threads[tid] = (struct thread){.number = threads_created++, .slot = counts_add_thread()};
}

static void thread_created(ThreadId parent, ThreadId child)
{
	add_thread(child);
	stacks_thread(child);
	turns_add(child, threads[child].number, parent == VG_INVALID_THREADID);
}

static void thread_ended(ThreadId tid)
{
	model_sync(model);
	counts_end_thread(threads[tid].slot);
	turns_end(tid);
	dataspace_thread_ended(tid);
}

static void starts_running(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (tid != running) {
		if (running != VG_INVALID_THREADID) {
			model_sync(model);
			threads[running].repeating = model_repeating(model);
		}
		make_current(tid);
	}
	sampled_resume();
	stacks_enter(tid);
	if (!threads[tid].named) {
		threads[tid].named = True;
		counts_name_thread(threads[tid].slot, VG_(gettid)());
		profile_name_thread(threads[tid].number, VG_(gettid)());
	}
}

static void stops_running(ThreadId tid, ULong blocks)
{
	trace_stop(tid, VG_(get_IP)(tid));
	model_sync(model);
	slices_look();
	profile_tick(blocks);
}

static void signal_delivered(ThreadId tid, Int number, Bool alternate_stack)
{
	(void)number, (void)alternate_stack;
	/* After a fault: by the time that the thread has stopped, its counter is the handler's. */
	trace_stop(tid, VG_(get_IP)(tid));
	stacks_signal(tid);
	if (executed_only)
		executed_interrupted(tid);
	threads[tid].repeating = 0;
	if (tid == running)
		model_set_repeating(model, 0);
}

/* ---- processes ---- */

static void before_fork(ThreadId tid)
{
	(void)tid;
	sampled_sync();
	model_sync(model);
	threads[running].repeating = model_repeating(model);
}

/* The child begins with no counts, one thread, and the model's caches as they were. */
static void in_child(ThreadId tid)
{
	counts_forked(VG_(args_the_exename));
	model_clock_forked(model);
	sampled_forked();
	profile_reset();
	stacks_forked(tid);
	dataspace_forked(tid);
	profile_open(VG_(args_the_exename));
	threads_created = 0;
	running = VG_INVALID_THREADID;
	add_thread(tid);
	turns_forked(tid);
	touched_forked();
	make_current(tid);
}

/* Valgrind does not let programs lower their hard limit on descriptors. */
static void before_limit(UInt number, const UWord *arguments)
{
	const struct vki_rlimit *new;
	UWord at = arguments[number == __NR_prlimit64 ? 2 : 1];
	UWord resource = arguments[number == __NR_prlimit64 ? 1 : 0];

	if ((number != __NR_prlimit64 && number != __NR_setrlimit) ||
		resource != VKI_RLIMIT_NOFILE ||
		(number == __NR_prlimit64 && arguments[0] &&
			arguments[0] != (UWord)VG_(getpid)()) ||
		!tool_readable(at, sizeof(*new)))
		return;
	new = (const struct vki_rlimit *)at;
	if (new->rlim_cur <= new->rlim_max &&new->rlim_max < (UWord)VG_(fd_hard_limit))
		VG_(fd_hard_limit) = (Int) new->rlim_max;
}

/* They belong to the thread that runs. */
static void count_faults(void)
{
	counts_of(threads[running].slot)[EV_PAGE_FAULTS] += touched_count();
}

static void before_system_call(ThreadId tid, UInt number, UWord *arguments, UInt count)
{
	(void)tid, (void)count;
	turns_system_call(number, arguments);
	touched_before(number, arguments);
	if (number == __NR_execve || number == __NR_execveat)
		count_faults();
	exec_before(number, arguments);
	before_limit(number, arguments);
}

static void after_system_call(
	ThreadId tid, UInt number, UWord *arguments, UInt count, SysRes result)
{
	(void)count;
	exec_after(number);
	touched_after(number, result);
	resume_sigaction(number, arguments, sr_isError(result));
	if (!executed_only) {
		pages_system_call(number, arguments, result);
		model_system_call(model);
	}
	dataspace_system_call(tid, number, arguments, result);
}

/* The previous mappings are gone. */
static void memory_unmapped(Addr a, SizeT length)
{
	changing_beside(a, length);
	profile_unmapped(a, length);
}

static void memory_mapped(Addr a, SizeT length, Bool r, Bool w, Bool x, ULong handle)
{
	(void)r, (void)w, (void)x, (void)handle;
	memory_unmapped(a, length);
}

static void tool_finish(Int status)
{
	(void)status;
	count_faults();
	sampled_sync();
	model_sync(model);
	model_clock_finish(model);
	profile_save(MODEL_STATE_FINISHED);
	counts_set_state(MODEL_STATE_FINISHED);
	log_end();
}

/* ---- client requests ---- */

static UWord answer_read(UWord number, ThreadId tid, UWord array, UWord count)
{
	uint64_t *to = (uint64_t *)array;

	if (count > EVENT_LIMIT)
		count = EVENT_LIMIT;
	if (fast) /* most counts are estimates, made when the run is over */
		return 0;
	if (!VG_(am_is_valid_for_client)(array, count * sizeof(*to), VKI_PROT_WRITE))
		return 0;
	count_faults();
	model_sync(model);
	if (number == MODEL_REQUEST_READ_PROCESS)
		counts_sum(to, (UInt)count);
	else
		VG_(memcpy)(to, counts_of(threads[tid].slot), count * sizeof(*to));
	return count;
}

static UWord answer_caliper(ThreadId tid, UWord text)
{
	const HChar *name = exec_string(text);

	if (profile_kind == PROFILE_NONE || !name)
		return 0;
	model_sync(model);
	profile_caliper(counts_tid(threads[tid].slot), name);
	return 1;
}

static UWord answer_sampling(UWord what)
{
	if (profile_kind == PROFILE_NONE)
		return 0;
	model_sync(model);
	profile_sampling((enum model_sampling)what);
	return 1;
}

static Bool client_request(ThreadId tid, UWord *block, UWord *result)
{
	if (!VG_IS_TOOL_USERREQ('P', 'X', block[0]))
		return False;
	switch (block[0]) {
	case MODEL_REQUEST_VERSION:
		*result = MODEL_REQUEST_VERSION_NUMBER;
		return True;
	case MODEL_REQUEST_READ_THREAD:
	case MODEL_REQUEST_READ_PROCESS:
		*result = answer_read(block[0], tid, block[1], block[2]);
		return True;
	case MODEL_REQUEST_CALIPER:
		*result = answer_caliper(tid, block[1]);
		return True;
	case MODEL_REQUEST_SAMPLING:
		*result = answer_sampling(block[1]);
		return True;
	case MODEL_REQUEST_CLOCK:
		*result = config.clock_hz;
		return True;
	case MODEL_REQUEST_COUNTS_EVENT:
		*result = block[1] < EV_COUNT && model_counts_event(&config, (int)block[1]) &&
			  model_asked(&config, (unsigned)block[1]);
		return True;
	}
	return False;
}

/* ---- start ---- */

static Bool process_option(const HChar *argument)
{
	static const HChar *elsewhere; /* exec.c and the launcher look at it */

	if VG_STR_CLO (argument, "--model-config", config_path) {
	} else if VG_STR_CLO (argument, "--model-counts", counts_directory) {
	} else if VG_BOOL_CLO (argument, "--model-fast", fast) {
	} else if VG_BOOL_CLO (argument, "--model-host", identity_of_host) {
	} else if VG_BOOL_CLO (argument, "--model-passes", all_passes) {
	} else if VG_BINT_CLO (argument, "--model-turn", turn_blocks, 1, 100000) {
	} else if VG_STR_CLO (argument, "--model-path", elsewhere) {
	} else if VG_STR_CLO (argument, "--model-argv0", elsewhere) {
	} else if VG_STR_CLO (argument, "--model-generation", generation) {
	} else if (profile_option(argument)) {
	} else
		return False;
	(void)elsewhere;
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --model-config=FILE       what to model: a struct model_config\n"
	 "    --model-counts=DIRECTORY  where the counts go\n"
	 "    --model-fast=no|yes       model windows of the execution only\n"
	 "    --model-host=no|yes       cpuid names the maker of this processor\n"
	 "    --model-profile=KIND      blocks, samples or insns: a profile beside the counts\n"
	 "    --model-sample=EVENT:PERIOD[:skid],...  by number; with it, overflow samples\n"
	 "    --model-stacks=no|yes     with samples: their call paths\n"
	 "    --model-dataspace=no|yes  what data misses are about\n"
	 "    --model-slices=CYCLES     with it, the counts of slices of the run\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    --model-passes=no|yes     VEX checks and simplifies superblocks again\n");
}

__attribute__((noreturn)) static void give_up(const HChar *what, const HChar *which)
{
	VG_(fmsg)("perfexmodel: %s: %s\n", which, what);
	VG_(exit)(125);
}

static void read_config(void)
{
	const HChar *wrong;
	Int n;

	if (!config_path || !counts_directory)
		give_up("must be given", "--model-config and --model-counts");
	n = tool_read(config_path, &config, sizeof(config));
	if (n < 0)
		give_up("cannot open it", config_path);
	if (n != (Int)sizeof(config) || config.version != MODEL_CONFIG_VERSION)
		give_up("not a configuration of this version of the model", config_path);
	wrong = model_check(&config);
	if (wrong)
		give_up(wrong, config_path);
	if (asking_itself()) {
		config.parts = MODEL_PARTS_ALL;
		if (config.clock == MODEL_CLOCK_SAMPLED) /* it may ask for any part of the run */
			config.clock = MODEL_CLOCK_RETIREMENT;
	}
}

/* True in the first process image of the run: if the first refuses to start, the others continue
 * uncounted. */
static Bool first_image(void)
{
	HChar *path = VG_(malloc)("path", VG_(strlen)(counts_directory) + 16);
	SysRes r;

	VG_(sprintf)(path, "%s/started", counts_directory);
	r = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0600);
	if (!sr_isError(r))
		VG_(close)((Int)sr_Res(r));
	VG_(free)(path);
	return !sr_isError(r);
}

/* The kernel named the process after the tool. */
static void take_name(void)
{
	HChar name[16] = "";

	VG_(strncpy)(name, VG_(basename)(VG_(args_the_exename)), sizeof(name) - 1);
	VG_(do_syscall)(__NR_prctl, SET_NAME, (UWord)name, 0, 0, 0, 0, 0, 0);
}

/* For the model; zeroed. */
static void *model_memory(void)
{
	SizeT size = model_size(&config);
	Addr memory = (Addr)VG_(am_shadow_alloc)(size + 64);

	if (!memory)
		VG_(out_of_memory_NORETURN)("perfexmodel", size);
	return (void *)((memory + 63) & ~(Addr)63);
}

/* Misses of the host's TLB took as long as modelling. */
static void use_huge_pages(void)
{
	SizeT bytes;
	Addr begin = (Addr)model_scattered(model, &bytes);

	if (begin)
		huge_request(begin, bytes);
}

static void options_read(void)
{
	const HChar *why;

	read_config();
	why = profile_begin();
	if (why)
		give_up(why, "profile");
	if (config.parts == MODEL_PART_EXECUTION && profile_kind == PROFILE_NONE) {
		executed_begin(&config);
		fast = False; /* this is faster */
	}
	if (fast)
		config.parts = MODEL_PARTS_ALL; /* which windows are chosen depends on them */
	/* As in callgrind: a superblock executes exactly the program's instructions, with nothing
	 * speculated. Cachegrind keeps the defaults, and its misses must be imitated here; but
	 * paths need calls at the ends of superblocks. */
	if (config.flavour != MODEL_CACHEGRIND || stacks_kept) {
		VG_(clo_vex_control).iropt_unroll_thresh = 0;
		VG_(clo_vex_control).guest_chase = False;
	}
	precise_prefetches = config.flavour != MODEL_CACHEGRIND;
	/* Lines of LL matter too where a group is one reference to them. */
	instrument_fetch_line =
		config.flavour == MODEL_CACHEGRIND && config.ll.line < config.l1i.line
			? config.ll.line
			: config.l1i.line;
	instrument_dependences = config.clock != MODEL_CLOCK_FIRST_ORDER;
	thunk_begin();
	model = model_init(model_memory(), &config);
	model_set_code(model, VG_(am_shadow_alloc)(CODE_BYTES), CODE_BYTES);
	use_huge_pages();
	instrument_addresses = model_needs_addresses(model) != 0;
	threads = VG_(calloc)("threads", VG_N_THREADS, sizeof(*threads));
	precise_prefetches &= profile_kind != PROFILE_BLOCKS;
	model_set_watch(model, profile_watch());
	why = counts_open(
		counts_directory, VG_(args_the_exename), (UInt)VG_(strtoull10)(generation, NULL));
	if (first_image() && why)
		give_up(why, counts_directory);
	if (why)
		VG_(fmsg)("perfexmodel: %s: %s\n", counts_directory, why);
	if (fast)
		sampled_begin();
	else
		model_set_clock_sums(
			model, counts_clock()); /* the file is mapped there in children, too */
	if (fast || slices_on)
		trace_be_fine();
	profile_open(VG_(args_the_exename));
	VG_(atfork)(before_fork, NULL, in_child);
	log_tidy();
	touched_begin();
	if (!executed_only)
		pages_start();
	native_needs = config_path;
	take_name();
}

static void tool_start(void)
{
	VG_(details_name)("perfexmodel");
	VG_(details_version)(PERFEX_VERSION);
	VG_(details_description)("a modelled processor");
	VG_(details_copyright_author)("GNU GPL'd, by the authors of perfex");
	VG_(details_bug_reports_to)("the authors of perfex");
	VG_(details_avg_translation_sizeB)(500);
	VG_(basic_tool_funcs)(options_read, instrument, tool_finish);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_superblock_discards)(blocks_discard);
	VG_(needs_client_requests)(client_request);
	VG_(needs_syscall_wrapper)(before_system_call, after_system_call);
	VG_(track_pre_thread_ll_create)(thread_created);
	VG_(track_pre_thread_ll_exit)(thread_ended);
	VG_(track_start_client_code)(starts_running);
	VG_(track_stop_client_code)(stops_running);
	VG_(track_change_mem_mprotect)(changing_protection);
	VG_(track_pre_deliver_signal)(signal_delivered);
	VG_(track_new_mem_mmap)(memory_mapped);
	VG_(track_die_mem_munmap)(memory_unmapped);
}

VG_DETERMINE_INTERFACE_VERSION(tool_start)
