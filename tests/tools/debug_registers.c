/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_registers COMMAND...: executes a command while no debug register of any processor is free.
 * Exit status 77: they could not be taken (not permitted, or there are none).
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REGISTERS 4

static uint64_t taken;

static int take_register(int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&taken,
		.bp_len = sizeof(taken),
		.pinned = 1};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < processors; cpu++)
		for (int k = 0; k < REGISTERS; k++)
			if (take_register(cpu) < 0)
				return 77;
	if (argc < 2)
		return 2;
	execvp(argv[1], argv + 1);
	return 127;
}
