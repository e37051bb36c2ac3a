/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user's module for values (speedshop/values.h), in a process of its own: what it does wrong
 * harms neither the program nor us. It gets one window after the other and returns the values that
 * it has chosen. It is killed when a window takes a second of CPU time or half a minute in all,
 * when it uses a gigabyte, or when its answers make no sense; then it is gone, and the reason is
 * kept.
 */
#ifndef VALUES_VALUE_MODULE_H
#define VALUES_VALUE_MODULE_H

#include <speedshop/values.h>

#include "values/values.h"

#define VALUE_MODULE_NAME 16 /* bytes of a value's name */

struct value_module {
	char *path, *text;
	pid_t pid; /* -1: it is gone */
	int socket;
	uint64_t windows;  /* that it has finished */
	uint64_t spent;    /* ns of CPU time that its process has used */
	struct error gone; /* why; code ERR_NONE: it is not, or was not needed any longer */
	char (*names)[32]; /* of its kinds, VP_KINDS of them; "": none */
	/* and of their lowest values */
	char (*value_names)[VP_NAMED][VALUE_MODULE_NAME];
	struct vp_config config;
};

/* which: PATH or PATH:TEXT. Loads it; to be called while there is one thread only. -1 with *e: it
 * cannot be used. */
int value_module_open(
	struct value_module *m, const char *which, const struct vp_config *config, struct error *e);
/* Appends what it has to say of a window to window->seen. Nothing if it is gone or goes now. */
void value_module_look(struct value_module *m, struct value_window *window);
/* Ends the process. */
void value_module_close(struct value_module *m);

/* value_module_child.c: does not return. */
_Noreturn void value_module_child(int socket, const char *path, const char *text);

/* ---- what goes through the socket ---- */

#define VALUE_MODULE_MAGIC 0x76706d31u
#define VALUE_MODULE_MOST  8192 /* values of a window */

struct value_module_hello { /* first, from the module; with open false, message says why */
	uint32_t magic, open;
	struct vp_config config;
	char message[160];
	char names[VP_KINDS][32];
	char value_names[VP_KINDS][VP_NAMED][VALUE_MODULE_NAME];
};

struct value_module_head { /* of a window: then count + 1 traces, the last one for registers */
	uint32_t magic, count;
};

struct value_module_answer { /* then count values */
	uint32_t magic, count;
	uint64_t spent; /* ns of CPU time, in all */
};

struct value_module_value {
	uint32_t number, kind; /* of the instruction in the window */
	uint64_t value;
};

#endif
