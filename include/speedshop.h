/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libspeedshop: a program marks for ssrun where its phases begin and which parts are not to be
 * counted. See ssapi(3). Link with -lspeedshop.
 *
 * All of these may be called at any time, in any thread, from handlers of signals and in children
 * of forks. If no ssrun listens, each is a few instructions without effect.
 */
#ifndef SPEEDSHOP_H
#define SPEEDSHOP_H

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* A phase of this name ("" or NULL: without a name) begins, for the whole experiment. Only the
 * first 95 bytes of a name are used. Returns 1 if ssrun listens, else 0. */
int ssrt_caliper_point(const char *name);

/* Samples from here on, until ssrt_experiment_restart, do not count. */
void ssrt_experiment_suspend(void);
void ssrt_experiment_restart(void);
/* Samples until here do not count, as if the experiment began now. */
void ssrt_buffer_clear(void);
/* Both: clears, and restarts what was suspended. */
void ssrt_experiment_init(void);
/* The experiment is over: nothing counts from here on.  Two names for the same. */
void ssrt_experiment_shutdown(void);
void ssrt_experiment_stop(void);

/* Queries for ssrt_interface_routine. */
enum ssrt_op {
	SSRT_LISTENING = 0, /* 0: ssrun does not listen; 1: ssrun samples the program as it runs; 2:
			       on the model */
	SSRT_VERSION = 1    /* of this interface: 1 */
};

/* context is not used. Returns -1 for an unknown op. */
long ssrt_interface_routine(int op, void *context);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
