/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a session: final counts of those that ended, and their names.
 */
#ifndef SOURCES_THREAD_ROWS_H
#define SOURCES_THREAD_ROWS_H

#include "sources/bank.h"
#include "sources/source.h"

struct row {
	pid_t pid, tid;
	char command[16];
	bool ended;
	char why[96];              /* why it has no counters; "" if it has */
	struct bank_value *values; /* owned; once ended */
};

struct rows {
	VEC(struct row) list;
	size_t missed; /* threads that could not be counted: the sums are without them */
};

/* What source_ops.thread does, for a session that has a bank. */
int thread_rows_hear(struct rows *rows, struct bank *b, enum trace_news news, pid_t pid, pid_t tid,
	const char *command, struct error *e);
/* Adds a row to r for every thread; count turns one's values (per event of the bank) into its
 * counts. */
int thread_rows_report(struct rows *rows, struct bank *b, struct reading *r,
	void (*count)(void *session, const struct bank_value *values, struct count *counts),
	void *session, struct error *e);
/* If threads were missed, there is no sum: removes it from counts, and sets the reason. */
void thread_rows_judge(const struct rows *rows, struct count *counts, size_t count);
void thread_rows_fini(struct rows *rows);

#endif
