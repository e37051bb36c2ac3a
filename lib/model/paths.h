/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call path of each thread. Records come later than the moment they describe, so the program's
 * own stack cannot be read: a shadow stack is kept, from the calls and returns in records and the
 * stack pointer after each (model/trace.h).
 *
 * A call pushes a frame. Any change of the stack pointer to above a frame's return address (a
 * return, longjmp, an exception) ends that frame. So the stack pointer alone determines which
 * frames are over, and the next call or return corrects missed ones. A tail call, which takes over
 * its caller's frame, is not visible; nor is it to unwinders.
 *
 * A thread may have several stacks. Each signal handler has one, which continues the path of the
 * interrupted code; a program that switches stacks (coroutines) has one for each recent stack. A
 * stack that was left is recognised by the return address at its place, or by its range.
 *
 * Paths become nodes (caller's node, address of the call) only on request, at samples; so a call
 * costs no more than its frame. Memory for nodes is the caller's, and bounded. A path without room
 * for a node is PATH_LOST.
 */
#ifndef MODEL_PATHS_H
#define MODEL_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "model/trace.h"

enum {
	PATH_ROOT = 0,          /* the root: has no caller */
	PATH_LOST = 0xffffffff, /* no room for it */
	PATH_FRAMES_MAX = 1 << 20,
	PATH_STACKS_MAX = 256, /* of a thread */
};

struct path_node {
	uint64_t address; /* of the instruction that called; of one that a signal interrupted */
	uint32_t parent;
	uint32_t image;  /* independent of `place` */
	uint32_t next;   /* the hash's */
	uint16_t length; /* of that instruction; 0: it was interrupted */
	uint16_t gone;   /* its code was replaced by other code */
};

/* [0] is the root. */
struct path_nodes {
	struct path_node *node; /* room for `limit`, [0] included; need not be zeroed */
	uint32_t limit, count;  /* 0 counts as 1 */
	uint32_t *hash;         /* `limit` of them, a power of two, zeroed */
	/* The image whose code is at an address now. */
	uint32_t (*place)(uint64_t address);
};

struct path_frame {
	uint64_t stack_pointer; /* address of the return address */
	uint64_t caller;        /* address of the call */
	uint32_t node;          /* 0: not requested yet */
	uint16_t length;        /* of the call: the return address follows it */
};

struct path_stack {
	struct path_frame *frames;
	uint32_t count, room;
	uint32_t base;        /* index + 1 of the stack that this one's path continues; 0: none */
	uint32_t beyond;      /* frames that found no room */
	uint64_t high;        /* the stack pointer is never above; 0: not known yet */
	uint64_t missing;     /* stack pointer of the first frame beyond */
	uint64_t used;        /* when it was last the current one; 0: free */
	uint64_t interrupted; /* of a handler: address of the instruction */
	uint32_t node;        /* its node, 0: not requested yet */
	uint8_t handler;
};

/* One thread's.  All zero but `memory` is one that begins. */
struct paths {
	struct path_nodes *nodes;
	struct path_stack *stacks;
	uint32_t stack_count, current; /* current: index + 1; 0: none yet */
	uint64_t time;
	/* realloc(3), which never fails; size 0 releases. */
	void *(*memory)(void *old, size_t size);
	/* May these two addresses belong to different stacks? Used only if they are far apart. */
	int (*apart)(uint64_t a, uint64_t b);
};

void paths_fini(struct paths *p);

/* The thread continues with the stack pointer at sp. Called when it begins, and before a signal
 * handler runs; later calls are allowed and change nothing. */
void paths_enter(struct paths *p, uint64_t sp);
/* A record that ended in a call, a return or a jump through a register, whose block writes the
 * stack pointer (model_block.stack). Other records need no call. */
void paths_record(struct paths *p, const struct model_segment *segment, const uint64_t *record);
/* A signal's handler is about to run in place of the instruction at address; it has returned. */
void paths_signal(struct paths *p, uint64_t address);
void paths_signal_end(struct paths *p);

/* The node of the thread's position: of the call of the current function. */
uint32_t paths_node(struct paths *p);

/* Code at from..from+length was unmapped: from now on, places there are new ones. */
void paths_gone(struct path_nodes *n, uint64_t from, uint64_t length);
/* Clears all nodes; call paths_forget for each thread. */
void path_nodes_reset(struct path_nodes *n);
void paths_forget(struct paths *p);

#endif
