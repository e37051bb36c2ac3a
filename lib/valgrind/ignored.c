/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that the program ignores by default do not disturb threads that wait for each other.
 *
 * The kernel drops the signal of a child's end, for example, where the program does not ask for it.
 * But the core catches all signals. So threads of the program would be woken, and wait again, at
 * the end of the queue: another thread would get the lock next than without the signal, which comes
 * at no certain time. While a thread waits in futex(2), these signals are blocked. They are
 * handled, which means nothing, at the next other call.
 */
#include "valgrind/core.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* The core's entry into system calls of the program that may block. It has this name in the
 * library. */
UWord __real_vgModuleLocal_do_syscall_for_client_WRK(Word number, void *guest_state,
	const vki_sigset_t *mask, const vki_sigset_t *restore, Word mask_bytes);
UWord __wrap_vgModuleLocal_do_syscall_for_client_WRK(Word number, void *guest_state,
	const vki_sigset_t *mask, const vki_sigset_t *restore, Word mask_bytes);

static void ignored_block(vki_sigset_t *mask)
{
	static const Int signals[] = {VKI_SIGCHLD, VKI_SIGURG, VKI_SIGWINCH};

	for (UInt i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		vki_sigaction_fromK_t now;
		SysRes r = VG_(do_sys_sigaction)(signals[i], NULL, &now);

		if (!sr_isError(r) && now.ksa_handler == VKI_SIG_DFL)
			mask->sig[0] |= 1ul << (signals[i] - 1);
	}
}

__attribute__((used)) UWord __wrap_vgModuleLocal_do_syscall_for_client_WRK(Word number,
	void *guest_state, const vki_sigset_t *mask, const vki_sigset_t *restore, Word mask_bytes)
{
	vki_sigset_t waiting = *mask;

	if (number == __NR_futex) {
		ignored_block(&waiting);
		mask = &waiting;
	}
	return __real_vgModuleLocal_do_syscall_for_client_WRK(
		number, guest_state, mask, restore, mask_bytes);
}
