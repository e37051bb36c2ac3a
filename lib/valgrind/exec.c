/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program executes another: the tool is started again for that, through the launcher.
 *
 * Valgrind loses two things in this. argv[0] is replaced by the path; and /proc/self/exe is the
 * launcher when it is read. Both are passed in options of ours, which Valgrind passes to the new
 * image with all others: the launcher corrects the path, and the new image its argv[0].
 */
#include "valgrind/tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "valgrind/core.h"
#include "valgrind/launcher.h"
#include "valgrind/profile.h"
#include "valgrind/sampled.h"

static Bool is_exec(UInt number)
{
	return number == __NR_execve || number == __NR_execveat;
}

const HChar *exec_string(UWord address)
{
	for (UWord at = address; at < address + VKI_PATH_MAX; at++) {
		if ((at == address || at % VKI_PAGE_SIZE == 0) && !tool_readable(at, 1))
			return NULL;
		if (*(const HChar *)at == '\0')
			return (const HChar *)address;
	}
	return NULL;
}

static const HChar *program_argv0(UWord argv)
{
	if (!tool_readable(argv, sizeof(UWord)) || !*(UWord *)argv)
		return NULL;
	return exec_string(*(UWord *)argv);
}

/* Sets an option that the new image will be started with; value NULL: to nothing. */
static void set_option(const HChar *option, const HChar *value)
{
	SizeT length = VG_(strlen)(option);

	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
		HChar **word = VG_(indexXA)(VG_(args_for_valgrind), i);
		HChar *text;

		if (VG_(strncmp)(*word, option, length) != 0)
			continue;
		/* The old one is leaked: it may be the kernel's, and execs that fail are few. */
		text = VG_(malloc)("option", length + (value ? VG_(strlen)(value) : 0) + 1);
		VG_(sprintf)(text, "%s%s", option, value ? value : "");
		*word = text;
	}
}

/* Is this path the program's own executable, by way of /proc? */
static Bool is_proc_self(const HChar *path)
{
	HChar ours[64];

	VG_(sprintf)(ours, "/proc/%d/exe", VG_(getpid)());
	return VG_(strcmp)(path, "/proc/self/exe") == 0 || VG_(strcmp)(path, ours) == 0 ||
	       VG_(strcmp)(path, "/proc/thread-self/exe") == 0;
}

static const HChar *own_executable(HChar *buffer, SizeT size)
{
	HChar link[64];
	SSizeT n;

	VG_(sprintf)(link, "/proc/self/fd/%d", VG_(cl_exec_fd));
	n = VG_(readlink)(link, buffer, size - 1);
	if (n <= 0)
		return NULL;
	buffer[n] = '\0';
	return buffer;
}

void exec_before(UInt number, UWord *arguments)
{
	HChar buffer[VKI_PATH_MAX], generation[16];
	const HChar *path, *argv0, *why;
	Bool script = False;

	if (!is_exec(number))
		return;
	sampled_sync();
	model_sync(model);
	model_clock_finish(model);
	profile_save(MODEL_STATE_EXEC);
	/* perfex may have read and removed this image's files before the new one makes its own. */
	VG_(sprintf)(generation, "%u", counts_generation() + 1);
	set_option(OPTION_GENERATION, generation);
	counts_set_state(MODEL_STATE_EXEC);
	path = number == __NR_execve ? exec_string(arguments[0]) : NULL;
	if (!path)
		return;
	if (is_proc_self(path)) {
		path = own_executable(buffer, sizeof(buffer));
		set_option(OPTION_PATH, path);
		if (!path)
			return;
	}
	why = native_why(path, &script);
	if (why) {
		VG_(clo_trace_children) = False;
		counts_note_native(path, why);
		return;
	}
	argv0 = script ? NULL : program_argv0(arguments[1]);
	if (argv0 && VG_(strcmp)(argv0, path) != 0)
		set_option(OPTION_ARGV0, argv0);
}

/* Only when an exec failed: a successful one does not return. */
void exec_after(UInt number)
{
	if (!is_exec(number))
		return;
	VG_(clo_trace_children) = True;
	set_option(OPTION_PATH, NULL);
	set_option(OPTION_ARGV0, NULL);
	counts_note_native(NULL, NULL);
	counts_set_state(MODEL_STATE_RUNNING);
}

/* ---- in the new image ---- */

/* Valgrind loads the program here, and makes its stack afterwards, with argv[0] from
 * VG_(args_the_exename). */
Int __real_vgPlain_do_exec(const HChar *path, void *info);
Int __wrap_vgPlain_do_exec(const HChar *path, void *info);

__attribute__((used)) Int __wrap_vgPlain_do_exec(const HChar *path, void *info)
{
	Int result = __real_vgPlain_do_exec(path, info);
	SizeT length = VG_(strlen)(OPTION_ARGV0);

	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
		const HChar *word = *(HChar **)VG_(indexXA)(VG_(args_for_valgrind), i);

		if (VG_(strncmp)(word, OPTION_ARGV0, length) == 0 && word[length]) {
			VG_(args_the_exename) = VG_(strdup)("argv0", word + length);
			set_option(OPTION_ARGV0, NULL);
		}
	}
	return result;
}
