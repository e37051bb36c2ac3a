/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers of signals that change the program counter or the registers with which the program
 * continues: runtimes do so to turn a fault into an exception, or to repair its cause. Valgrind
 * shows a handler the registers and then continues with its own copy; here, the handler's changes
 * are applied to the copy.
 *
 * The copy has all registers exactly only at the ends of superblocks. From the first handler on
 * that could read them after a fault, superblocks are translated so that they are exact at each
 * memory access, or at each instruction where a division may fault.
 */
#include "valgrind/tool.h"

#include "pub_tool_machine.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "libvex.h"
#include "libvex_guest_amd64.h"
#include "valgrind/core.h"
#include "valgrind/stacks.h"

void __real_vgPlain_sigframe_destroy(ThreadId tid, Bool info);
void __wrap_vgPlain_sigframe_destroy(ThreadId tid, Bool info);

/* In the frame on the program's stack, from its start: return address, ucontext. */
#define FRAME_REGISTERS (8 + 40)
/* Offsets of Valgrind's copies, in the order of struct sigcontext; the flags are not among them. */
#define REGISTER(name) offsetof(VexGuestAMD64State, guest_##name)
static const PtrdiffT registers[] = {
	REGISTER(R8),
	REGISTER(R9),
	REGISTER(R10),
	REGISTER(R11),
	REGISTER(R12),
	REGISTER(R13),
	REGISTER(R14),
	REGISTER(R15),
	REGISTER(RDI),
	REGISTER(RSI),
	REGISTER(RBP),
	REGISTER(RBX),
	REGISTER(RDX),
	REGISTER(RAX),
	REGISTER(RCX),
	REGISTER(RSP),
	REGISTER(RIP),
};
#define REGISTERS (sizeof(registers) / sizeof(registers[0]))

__attribute__((used)) void __wrap_vgPlain_sigframe_destroy(ThreadId tid, Bool info)
{
	Addr at = VG_(get_SP)(tid) + FRAME_REGISTERS;
	ULong wanted[REGISTERS], copy;
	Bool readable = info && tool_readable(at, sizeof(wanted));

	for (UInt i = 0; readable && i < REGISTERS; i++)
		wanted[i] = ((const ULong *)at)[i];
	__real_vgPlain_sigframe_destroy(tid, info);
	stacks_signal_end(tid);
	for (UInt i = 0; readable && i < REGISTERS; i++) {
		VG_(get_shadow_regs_area)(tid, (UChar *)&copy, 0, registers[i], sizeof(copy));
		if (copy != wanted[i])
			VG_(set_shadow_regs_area)
		(tid, 0, registers[i], sizeof(copy), (const UChar *)&wanted[i]);
	}
}

/* ---- exact registers ---- */

/* Indexed by signal. */
static const VexRegisterUpdates precision_of[] = {
	[VKI_SIGSEGV] = VexRegUpdAllregsAtMemAccess,
	[VKI_SIGBUS] = VexRegUpdAllregsAtMemAccess,
	[VKI_SIGFPE] = VexRegUpdAllregsAtEachInsn,
};

static VexRegisterUpdates least = VexRegUpd_INVALID;
Bool resume_handles;

void resume_precision(VexRegisterUpdates *precision)
{
	if (least > *precision)
		*precision = least;
}

void resume_sigaction(UInt number, const UWord *arguments, Bool failed)
{
	const struct vki_sigaction_base *action;
	UWord signal = arguments[0];

	if (number != __NR_rt_sigaction || failed ||
		signal >= sizeof(precision_of) / sizeof(precision_of[0]) ||
		precision_of[signal] <= least || !arguments[1])
		return;
	action = (const struct vki_sigaction_base *)arguments[1];
	if (!tool_readable(arguments[1], sizeof(*action)))
		return;
	if (action->sa_flags & VKI_SA_SIGINFO)
		least = precision_of[signal];
	else if (resume_handles || action->ksa_handler == VKI_SIG_DFL)
		return;
	resume_handles = True;
	VG_(discard_translations)(0, ~(ULong)0 >> 1, "perfexmodel");
}
