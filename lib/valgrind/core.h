/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of Valgrind's core that the headers for tools do not declare. They are in the static
 * library and the same in Valgrind 3.15 to 3.22 at least, but without guarantee. The build checks
 * the version.
 */
#ifndef VALGRIND_CORE_H
#define VALGRIND_CORE_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

/* A system call as it is, outside all of Valgrind's bookkeeping. */
extern SysRes VG_(do_syscall)(UWord number, UWord a1, UWord a2, UWord a3, UWord a4, UWord a5,
	UWord a6, UWord a7, UWord a8);
/* What sigaction(2) does for the program: *to: as it was; NULL of both is allowed. */
extern SysRes VG_(do_sys_sigaction)(
	Int number, const vki_sigaction_toK_t *action, vki_sigaction_fromK_t *to);
/* Moves a descriptor to where the program cannot reach it, close-on-exec. */
extern Int VG_(safe_fd)(Int oldfd);
extern void VG_(discard_translations)(Addr start, ULong range, const HChar *who);
/* The program's descriptors are below, Valgrind's from there on. */
extern Int VG_(fd_hard_limit);
extern Bool VG_(clo_trace_children);
extern const HChar *VG_(name_of_launcher);
extern struct {
	Int fd, type;
	HChar *name;
} VG_(log_output_sink);
extern const HChar *VG_(args_the_exename);
extern XArray *VG_(args_for_valgrind); /* of HChar * */
extern Int VG_(cl_exec_fd);            /* the program's executable, open */

#endif
