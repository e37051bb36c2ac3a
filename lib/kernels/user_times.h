/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the system takes of a program's time at user level. The kernel divides a thread's time
 * between user and system by what each tick finds. A hypervisor's part of a system call, or of the
 * first access to a page, is found at user level where the kernel does not see it: microseconds
 * where it keeps page tables of its own, next to nothing where the processor does that. Such a
 * hypervisor also leaves no translations in the TLBs. And any hypervisor interrupts a program for
 * work of its own.
 */
#ifndef KERNELS_USER_TIMES_H
#define KERNELS_USER_TIMES_H

/* Nanoseconds at user level; NaN: not measured. With ticks, as exact as their number: with 60, 7%
 * of all time that the operation takes. */
struct user_times {
	double call_ns;  /* of a system call that does next to nothing */
	double fault_ns; /* of a first store to a page of fresh memory, and of giving it back */
	double walk_ns;  /* of a page's first translation after a system call, beyond any other */
	double stolen; /* part of a thread's time in which it does not run, unseen by the kernel */
};

/* Takes so long for each, on a thread of its own. */
struct user_times user_times_measure(double seconds);

#endif
