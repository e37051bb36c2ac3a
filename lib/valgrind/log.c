/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file for Valgrind's own messages. Valgrind opens it on the program's lowest free descriptor,
 * and leaves that open beside the one that it uses. In the child of a fork Valgrind exits if it
 * cannot open another (after a chroot or a change of user), although the program itself would
 * continue.
 */
#include "valgrind/tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "valgrind/core.h"

void __real_vgPlain_logging_atfork_child(ThreadId tid);
void __wrap_vgPlain_logging_atfork_child(ThreadId tid);

static void log_name_of(HChar *name)
{
	VG_(sprintf)(name, "%s%d", MODEL_LOG_PREFIX, VG_(getpid)());
}

void log_tidy(void)
{
	struct vg_stat ours, other;

	if (VG_(fstat)(VG_(log_output_sink).fd, &ours))
		return;
	for (Int fd = 0; fd < VG_(log_output_sink).fd; fd++) {
		if (VG_(fstat)(fd, &other))
			break; /* the first free one; the log has the lowest that was free when it
				  was opened */
		if (other.dev == ours.dev && other.ino == ours.ino) {
			VG_(close)(fd);
			break;
		}
	}
}

/* A log of its own where that can be, else the parent's. */
__attribute__((used)) void __wrap_vgPlain_logging_atfork_child(ThreadId tid)
{
	HChar name[64];
	Int fd;

	(void)tid;
	log_name_of(name);
	fd = counts_open_beside(name, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC);
	if (fd < 0)
		return;
	VG_(close)(VG_(log_output_sink).fd);
	VG_(log_output_sink).fd = fd;
}

void log_end(void)
{
	struct vg_stat st;
	HChar name[64];

	log_name_of(name);
	if (VG_(fstat)(VG_(log_output_sink).fd, &st) == 0 && st.size == 0)
		counts_unlink_beside(name);
}
