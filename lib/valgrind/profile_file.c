/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile's file, open from the beginning: the program may change its root, its user or its
 * directory. A new profile is written where the last one is not, then the header changes to it.
 */
#include "valgrind/profile.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "model/wire/profile.h"
#include "valgrind/blocks.h"
#include "valgrind/core.h"
#include "valgrind/tool.h"

#define DATA_START 4096u
/* Superblocks from one profile to the next while the program runs: some seconds. */
#define SAVE_EVERY      (1ull << 25)
#define LIMIT_FILE_SIZE 1 /* RLIMIT_FSIZE of setrlimit(2); the headers for tools lack it */

static struct model_profile_header header;
static Int descriptor = -1;
static ULong saved_at; /* superblocks */

static ULong profile_file_instructions(void)
{
	ULong n = 0;

	for (UInt i = 0; i < counts_slots(); i++)
		n += counts_of(i)[EV_INSTRUCTIONS];
	return n;
}

void profile_open(const HChar *command)
{
	HChar name[64];

	if (profile_kind == PROFILE_NONE)
		return;
	if (descriptor >= 0)
		VG_(close)(descriptor);
	VG_(sprintf)(name, "%s%d.%u", MODEL_PROFILE_PREFIX, VG_(getpid)(), counts_generation());
	descriptor = counts_open_beside(name, VKI_O_RDWR | VKI_O_CREAT | VKI_O_TRUNC);
	if (descriptor < 0)
		counts_note_unprofiled();
	VG_(memset)(&header, 0, sizeof(header));
	header.version = MODEL_PROFILE_VERSION;
	header.pid = VG_(getpid)();
	header.ppid = VG_(getppid)();
	header.generation = counts_generation();
	VG_(strncpy)(header.command, VG_(basename)(command), sizeof(header.command) - 1);
}

static Bool write_at(const void *data, SizeT size, ULong at)
{
	SizeT done = 0;

	while (done < size) {
		SysRes r = VG_(do_syscall)(__NR_pwrite64, (UWord)descriptor, (UWord)data + done,
			size - done, at + done, 0, 0, 0, 0);

		if (sr_isError(r) && sr_Err(r) == VKI_EINTR)
			continue;
		if (sr_isError(r) || sr_Res(r) == 0)
			return False;
		done += sr_Res(r);
	}
	return True;
}

/* After the header if the last profile leaves room there, else after that. */
static ULong profile_file_place(SizeT size)
{
	if (!header.length || DATA_START + size <= header.offset)
		return DATA_START;
	return header.offset + header.length;
}

static Bool profile_file_write_profile(const struct bytes *b)
{
	ULong at = profile_file_place(b->length);

	if (!write_at(b->data, b->length, at))
		return False;
	header.magic = MODEL_PROFILE_MAGIC;
	header.offset = at;
	header.length = b->length;
	header.sequence++;
	return write_at(&header, sizeof(header), 0);
}

void profile_save(enum model_shared_state state)
{
	struct bytes b = {0};
	struct vki_rlimit old, raised;

	if (descriptor < 0)
		return;
	/* Where nothing is modelled, the counts follow from the profile. */
	if (profile_kind == PROFILE_BLOCKS)
		blocks_sum(counts_of(0));
	profile_write_sections(&b);
	header.instructions = profile_file_instructions();
	header.state = state;
	/* The program may have lowered its limit on the size of files; ours are not output of the
	 * program.
	 */
	VG_(getrlimit)(LIMIT_FILE_SIZE, &old);
	raised = old;
	raised.rlim_cur = raised.rlim_max;
	VG_(setrlimit)(LIMIT_FILE_SIZE, &raised);
	if (profile_file_place(b.length) + b.length > raised.rlim_max ||
		!profile_file_write_profile(&b))
		counts_note_unprofiled();
	VG_(setrlimit)(LIMIT_FILE_SIZE, &old);
	VG_(free)(b.data);
}

void profile_tick(ULong blocks)
{
	if (descriptor < 0 || blocks - saved_at < SAVE_EVERY)
		return;
	saved_at = blocks;
	profile_save(MODEL_STATE_RUNNING);
}
