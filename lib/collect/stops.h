/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock's samples by stops of threads (ptrace, lib/branches), where the kernel forbids
 * perf_event_open: containers with the usual filters of system calls, and kernels that are closed
 * to ordinary users. Their records become those that the kernel would write.
 */
#ifndef COLLECT_STOPS_H
#define COLLECT_STOPS_H

#include "collect/collect.h"
#include "collect/sampler.h"

/* Whether stops are the way: perf_event_open is forbidden (*why), and all that is wanted is one
 * clock of CPU time, of a command or a process. */
bool stops_serve(const struct collect_request *r, struct error *why);
/* Describes the metric in s->experiment. */
int stops_begin(struct sampler *s, struct error *e);
/* To the user: samples are by stops. why: from stops_serve. */
void stops_say(const struct collect_request *r, const struct sampler *s, const struct error *why);
/* Neither the kernel's samples nor stops are possible. Returns -1. */
int stops_refused(const struct error *why, const struct error *ptrace, struct error *e);
/* Adds what is wanted to a request of lib/branches. */
void stops_request(
	const struct collect_request *r, const struct sampler *s, struct branches_request *request);
/* A record of lib/branches of the kinds that stops have, in the kernel's form, to take. -1: that
 * failed. */
int stops_record(const struct branch_record *from,
	int (*take)(void *context, const struct record *r), void *context);

#endif
