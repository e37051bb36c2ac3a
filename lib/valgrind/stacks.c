/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/stacks.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "valgrind/core.h"
#include "valgrind/images.h"
#include "valgrind/tool.h"

#define NODES_MAX (1u << 21) /* address space, not memory */
#define NODES_MIN (1u << 12)

Bool stacks_kept;
static struct path_nodes nodes;
static struct paths *paths; /* by Valgrind's number of the thread */

static uint32_t stacks_place(uint64_t address)
{
	return images_at(address);
}

static int apart(uint64_t a, uint64_t b)
{
	return VG_(am_find_nsegment)(a) != VG_(am_find_nsegment)(b);
}

void stacks_begin(void)
{
	UInt limit = NODES_MAX;

	stacks_kept = True;
	while (!nodes.node && limit >= NODES_MIN) {
		nodes.node = VG_(am_shadow_alloc)(limit * sizeof(*nodes.node));
		nodes.limit = limit;
		limit /= 2;
	}
	if (nodes.node)
		nodes.hash = VG_(am_shadow_alloc)(nodes.limit * sizeof(*nodes.hash));
	if (!nodes.hash)
		VG_(out_of_memory_NORETURN)("perfexmodel", NODES_MIN * sizeof(*nodes.node));
	nodes.place = stacks_place;
	paths = VG_(calloc)("paths", VG_N_THREADS, sizeof(*paths));
}

void stacks_thread(ThreadId tid)
{
	if (!stacks_kept)
		return;
	paths_fini(&paths[tid]);
	paths[tid] = (struct paths){.nodes = &nodes, .memory = tool_memory, .apart = apart};
}

struct paths *stacks_of(ThreadId tid)
{
	return stacks_kept ? &paths[tid] : NULL;
}

void stacks_enter(ThreadId tid)
{
	if (stacks_kept)
		paths_enter(&paths[tid], VG_(get_SP)(tid));
}

void stacks_signal(ThreadId tid)
{
	if (stacks_kept)
		paths_signal(&paths[tid], VG_(get_IP)(tid));
}

void stacks_signal_end(ThreadId tid)
{
	if (stacks_kept)
		paths_signal_end(&paths[tid]);
}

void stacks_forked(ThreadId tid)
{
	if (!stacks_kept)
		return;
	for (UInt i = 0; i < VG_N_THREADS; i++)
		if (i != tid && paths[i].memory)
			paths_fini(&paths[i]);
	path_nodes_reset(&nodes);
	paths_forget(&paths[tid]);
}

void stacks_gone(Addr a, SizeT length)
{
	if (stacks_kept)
		paths_gone(&nodes, a, length);
}

void stacks_write(struct bytes *to)
{
	for (UInt i = 1; i < nodes.count; i++) {
		const struct path_node *n = &nodes.node[i];

		bytes_v(to, n->parent);
		bytes_v(to, n->image);
		bytes_v(to, n->address);
		bytes_v(to, n->length);
	}
}
