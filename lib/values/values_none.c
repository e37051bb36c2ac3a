/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For processors whose instructions this library cannot execute. */
#include "values/latencies.h"
#include "values/values.h"

int values_levels_measure(struct latency_levels *l, latency_counts counts, struct error *e)
{
	(void)counts;
	(void)l;
	return error_set(e, ERR_UNSUPPORTED, "timed loads need x86-64");
}

struct values *values_new(const struct values_config *config, struct error *e)
{
	(void)config;
	error_set(e, ERR_UNSUPPORTED, "value samples need x86-64");
	return NULL;
}

bool values_interpret(struct values *v, const struct values_thread *t, struct value_window *window)
{
	(void)v;
	(void)t;
	(void)window;
	return false;
}

void values_registers(const struct values *v, struct user_regs_struct *registers, void *state)
{
	(void)v;
	(void)registers;
	(void)state;
}

void values_apply(struct values *v, int memory)
{
	(void)v;
	(void)memory;
}

void values_renew(struct values *v, pid_t pid)
{
	(void)v;
	(void)pid;
}

void values_free(struct values *v)
{
	(void)v;
}
