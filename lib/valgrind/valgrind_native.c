/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that the modelled one executes and Valgrind cannot run: its exec would fail, or the
 * program would not work. They run natively instead, and are reported as not counted.
 * (process/executable.c decides the same for the first program.)
 */
#include "valgrind/tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "valgrind/core.h"

/* The depth to which the kernel follows scripts whose interpreters are scripts. */
#define SCRIPT_DEPTH 5
#define ELF_CLASS    4 /* offset in the file */
#define ELF_CLASS_64 2
#define ELF_MACHINE  18
#define ELF_X86_64   62

static Bool has_capabilities(const HChar *path)
{
	SysRes r;

	if (VG_(geteuid)() == 0)
		return False;
	r = VG_(do_syscall)(
		__NR_getxattr, (UWord)path, (UWord) "security.capability", 0, 0, 0, 0, 0, 0);
	return !sr_isError(r) && sr_Res(r) > 0;
}

static Bool native_blank(HChar c)
{
	return c == ' ' || c == '\t';
}

/* The path after #!, NUL-terminated in place. */
static const HChar *native_interpreter(HChar *head, Int length)
{
	HChar *at = head + 2, *end;

	head[length] = '\0';
	while (native_blank(*at))
		at++;
	for (end = at; *end && *end != '\n' && !native_blank(*end); end++)
		;
	*end = '\0';
	return at;
}

static const HChar *native_look_at(const HChar *path, UInt depth, Bool *script)
{
	HChar head[256 + 1];
	struct vg_stat st;
	Int n;

	if (sr_isError(VG_(stat)(path, &st)) || !VKI_S_ISREG(st.mode))
		return NULL;
	n = tool_read(path, head, sizeof(head) - 1);
	if (n >= 2 && head[0] == '#' && head[1] == '!') {
		*script = True;
		return depth ? native_look_at(native_interpreter(head, n), depth - 1, script)
			     : NULL;
	}
	if ((st.mode & (VKI_S_ISUID | VKI_S_ISGID)) || has_capabilities(path))
		return "privileged";
	if (n < 0)
		return "unreadable";
	if (n > ELF_MACHINE && VG_(memcmp)(head, "\177ELF", 4) == 0 &&
		(head[ELF_CLASS] != ELF_CLASS_64 || head[ELF_MACHINE] != ELF_X86_64))
		return "not x86-64";
	return NULL;
}

const HChar *native_needs;

const HChar *native_why(const HChar *path, Bool *script)
{
	struct vg_stat st;
	HChar byte;

	if (sr_isError(VG_(stat)(path, &st)))
		return NULL; /* it fails as it would */
	/* The tool is started again by paths, with files that only its own user may read. */
	if (tool_read(VG_(name_of_launcher), &byte, 1) < 0 || tool_read(native_needs, &byte, 1) < 0)
		return "another root directory or user, without access to the model";
	return native_look_at(path, SCRIPT_DEPTH, script);
}
