/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/dataspace.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "valgrind/images.h"
#include "valgrind/spans.h"
#include "valgrind/stacks.h"
#include "valgrind/tool.h"
#include "valgrind/valgrind_variables.h"

#define OBJECTS_MAX 1000000u
#define SEVERAL     64u /* blocks begin at different places in their lines */

struct object {
	enum model_object_kind kind;
	UInt image, thread, node;
	Addr address;
	ULong size;
	const HChar *name;
	ULong blocks, bytes;
	UInt begins; /* where in a line; SEVERAL */
	UInt next;   /* the hash's */
};

/* A thread's stack is below `high`, in one mapping with its stack pointer. */
struct stack {
	Addr high, end; /* end: of that mapping, when the thread began */
	UInt number;
	Bool live;
};

#define HASH_SIZE (1u << 16)

Bool dataspace_kept;
static struct objects counts;
static XArray *objects; /* number 1 is the first */
static UInt *hash;
static OSet *areas;          /* of struct span: mapped by the program itself */
static struct stack *stacks; /* by Valgrind's number of the thread */
static UInt stacks_used;     /* as many of them were ever in use */
static Addr break_low, break_high;
static ThreadId running;
static ULong lost_objects;

/* ---- objects ---- */

static struct object *object_at(UInt number)
{
	return VG_(indexXA)(objects, (Word)number - 1);
}

static UInt object_count(void)
{
	return (UInt)VG_(sizeXA)(objects);
}

static Bool dataspace_same(const struct object *a, const struct object *b)
{
	return a->kind == b->kind && a->image == b->image && a->address == b->address &&
	       a->size == b->size && a->thread == b->thread && a->node == b->node &&
	       VG_(strcmp)(a->name, b->name) == 0;
}

UInt dataspace_object(enum model_object_kind kind, UInt image, Addr address, ULong size,
	UInt thread, UInt node, const HChar *name)
{
	struct object o = {.kind = kind,
		.image = image,
		.address = address,
		.size = size,
		.thread = thread,
		.node = node,
		.name = name};
	ULong h = (address + kind * 7) * 0x9e3779b97f4a7c15u ^
		  (image + ((ULong)node << 20) + ((ULong)thread << 44)) * 0xc2b2ae3d27d4eb4fu;
	UInt *slot = &hash[(h >> 32) % HASH_SIZE];

	for (UInt i = *slot; i; i = object_at(i)->next)
		if (dataspace_same(object_at(i), &o))
			return i;
	if (object_count() >= OBJECTS_MAX) {
		lost_objects++;
		return 0;
	}
	o.name = *name ? VG_(strdup)("object", name) : "";
	o.next = *slot;
	VG_(addToXA)(objects, &o);
	return *slot = object_count();
}

void dataspace_add_block(UInt object, Addr a, SizeT size)
{
	struct object *o = object ? object_at(object) : NULL;
	UInt begins = (UInt)(a % (1u << OBJECTS_LINE_BITS));

	if (!o)
		return;
	if (o->blocks && o->begins != begins)
		begins = SEVERAL;
	o->begins = begins;
	o->blocks++;
	o->bytes += size;
}

/* ---- stacks ---- */

static Addr thread_pointer(ThreadId tid)
{
	Addr fs = 0;

	VG_(get_shadow_regs_area)
	(tid, (UChar *)&fs, 0, offsetof(VexGuestAMD64State, guest_FS_CONST), sizeof(fs));
	return fs;
}

/* Code of the function whose frame contains the address, and the frame's place. */
static Addr frame_code(ThreadId tid, Addr address, Addr *place)
{
	const struct paths *p = stacks_of(tid);
	const struct path_stack *s = p->current ? &p->stacks[p->current - 1] : NULL;
	UInt low = 0, high = s ? s->count : 0;

	/* Frames are in descending order of their stack pointers. */
	while (low < high) {
		UInt middle = low + (high - low) / 2;

		if (s->frames[middle].stack_pointer >= address)
			low = middle + 1;
		else
			high = middle;
	}
	*place = low ? s->frames[low - 1].stack_pointer : 0;
	if (s && low < s->count)
		return s->frames[low].caller;
	return tid == running && dataspace_objects()->code ? dataspace_objects()->code
							   : VG_(get_IP)(tid);
}

static UInt in_stack(ThreadId tid, Addr address, Addr *start)
{
	const struct stack *s = &stacks[tid];
	Addr code, place, tp;

	if (!s->live)
		return 0;
	tp = thread_pointer(tid);
	if (address < tp + 4096 &&
		address >= (s->high <= tp && tp < s->end ? s->high : tp - 4096)) {
		*start = tp;
		return dataspace_object(MODEL_OBJECT_THREAD, 0, 0, 0, s->number, PATH_ROOT, "");
	}
	if (address >= s->high ||
		VG_(am_find_nsegment)(address) != VG_(am_find_nsegment)(VG_(get_SP)(tid)))
		return 0;
	code = frame_code(tid, address, &place);
	*start = place ? place : address;
	return dataspace_object(
		MODEL_OBJECT_STACK, images_at(code), code, 0, s->number, PATH_ROOT, "");
}

/* The loader touches a file's data before anything of its code runs. */
static void see_code(Addr a)
{
	const NSegment *s = VG_(am_find_nsegment)(a);

	if (s && s->kind == SkFileC && s->hasX)
		variables_see(a);
}

static void see_all_code(void)
{
	Int count;
	Addr *starts = VG_(get_segment_starts)(SkFileC, &count);

	for (Int i = 0; i < count; i++)
		see_code(starts[i]);
	VG_(free)(starts);
}

void dataspace_thread(ThreadId tid, UInt number)
{
	struct stack *s;

	if (!dataspace_kept)
		return;
	if (!stacks_used)
		see_all_code();
	running = tid;
	heap_thread(tid);
	s = &stacks[tid];
	if (s->live && s->number == number)
		return;
	s->live = True;
	s->number = number;
	if (stacks_used <= tid)
		stacks_used = tid + 1;
	s->high = VG_(get_SP)(tid);
	const NSegment *segment = VG_(am_find_nsegment)(s->high);
	s->end = segment ? segment->end + 1 : s->high;
	if (number == 0)
		s->high = s->end;
}

void dataspace_thread_ended(ThreadId tid)
{
	if (dataspace_kept)
		stacks[tid].live = False;
}

/* ---- objects by address ---- */

static UInt in_area(Addr address, Addr *start)
{
	const struct span *a = spans_at(areas, address);
	const NSegment *s;
	const HChar *name;

	if (a) {
		*start = a->start;
		return a->object;
	}
	if (address >= break_low && address < break_high) {
		*start = break_low;
		return dataspace_object(MODEL_OBJECT_BREAK, 0, 0, 0, 0, PATH_ROOT, "");
	}
	s = VG_(am_find_nsegment)(address);
	if (!s)
		return 0;
	*start = s->start;
	name = s->kind == SkFileC || s->kind == SkFileV ? VG_(am_get_filename)(s) : NULL;
	return dataspace_object(MODEL_OBJECT_MAPPING, 0, 0, 0, 0, PATH_ROOT, name ? name : "");
}

static uint32_t dataspace_find(void *context, uint64_t address, uint64_t *start)
{
	const struct module *m;
	Addr from = 0;
	UInt object = heap_find(address, &from);

	(void)context;
	if (!object && (m = variables_module(address)) != NULL) {
		const struct variable *v = variables_find(m, address);
		enum model_object_kind kind = v ? MODEL_OBJECT_VARIABLE : MODEL_OBJECT_IMAGE;

		if (!v)
			v = variables_section(m, address);
		from = m->bias + (v ? v->start : 0);
		object = dataspace_object(
			kind, m->image, v ? v->start : 0, v ? v->size : 0, 0, PATH_ROOT, "");
	}
	if (!object)
		object = in_stack(running, address, &from);
	for (ThreadId tid = 1; !object && tid < stacks_used; tid++)
		if (tid != running)
			object = in_stack(tid, address, &from);
	if (!object)
		object = in_area(address, &from);
	*start = from;
	return object;
}

static uint32_t image(void *context, uint64_t instruction)
{
	(void)context;
	return images_at(instruction);
}

void dataspace_see(Addr code)
{
	if (dataspace_kept)
		variables_see(code);
}

/* ---- what changes ---- */

/* Removes part of an area; the rest of the area stays. */
static void cut_areas(Addr a, SizeT length)
{
	struct span *found;

	while ((found = spans_over(areas, a, length)) != NULL) {
		struct span whole = *found;
		Addr end = whole.start + whole.size;

		spans_remove(areas, found);
		if (whole.start < a)
			spans_add(areas, whole.start, a - whole.start, whole.object);
		if (end > a + length)
			spans_add(areas, a + length, end - (a + length), whole.object);
	}
}

void dataspace_unmapped(Addr a, SizeT length)
{
	if (!dataspace_kept || !length)
		return;
	cut_areas(a, length);
	heap_unmapped(a, length);
	variables_unmapped(a, length);
	objects_gone(&counts, a, length);
}

static void dataspace_mapped(Addr a, SizeT length)
{
	const NSegment *s = VG_(am_find_nsegment)(a);
	const HChar *name =
		s && (s->kind == SkFileC || s->kind == SkFileV) ? VG_(am_get_filename)(s) : NULL;
	UInt node = paths_node(stacks_of(running)), object;

	cut_areas(a, length);
	object = dataspace_object(MODEL_OBJECT_MAPPING, 0, 0, 0, 0,
		node == PATH_LOST ? PATH_ROOT : node, name ? name : "");
	dataspace_add_block(object, a, length);
	spans_add(areas, a, length, object);
}

void dataspace_system_call(ThreadId tid, UInt number, const UWord *arguments, SysRes result)
{
	Addr at = sr_isError(result) ? 0 : sr_Res(result);

	if (!dataspace_kept || !at || tid != running)
		return;
	if (number == __NR_brk) {
		if (!break_low || at < break_low)
			break_low = at;
		if (at > break_high)
			break_high = at;
	} else if (number == __NR_mmap) {
		dataspace_mapped(at, VG_PGROUNDUP(arguments[1]));
		see_code(at);
	} else if (number == __NR_mremap) {
		dataspace_mapped(at, VG_PGROUNDUP(arguments[2]));
	}
}

/* ---- beginning, fork and end ---- */

static void reset_objects(void)
{
	if (objects)
		VG_(deleteXA)(objects);
	objects = VG_(newXA)(VG_(malloc), "objects", VG_(free), sizeof(struct object));
	VG_(memset)(hash, 0, HASH_SIZE * sizeof(*hash));
}

void dataspace_begin(void)
{
	dataspace_kept = True;
	hash = VG_(calloc)("objects", HASH_SIZE, sizeof(*hash));
	reset_objects();
	areas = spans_new();
	stacks = VG_(calloc)("stacks", VG_N_THREADS, sizeof(*stacks));
	counts.find = dataspace_find;
	counts.image = image;
	counts.memory = tool_memory;
	objects_init(&counts);
	heap_begin();
}

struct objects *dataspace_objects(void)
{
	return dataspace_kept ? &counts : NULL;
}

void dataspace_reset(void)
{
	if (dataspace_kept)
		objects_reset(&counts);
}

void dataspace_forked(ThreadId tid)
{
	struct span *a;

	if (!dataspace_kept)
		return;
	objects_reset(&counts);
	for (UInt i = 0; i < stacks_used; i++)
		if (i != tid)
			stacks[i].live = False;
	if (stacks[tid].live)
		stacks[tid].number = 0;
	reset_objects();
	heap_forked();
	VG_(OSetGen_ResetIter)(areas);
	while ((a = VG_(OSetGen_Next)(areas)) != NULL)
		a->object = dataspace_object(MODEL_OBJECT_MAPPING, 0, 0, 0, 0, PATH_ROOT, "");
}

/* ---- sections ---- */

void dataspace_write_objects(struct bytes *to)
{
	for (UInt i = 1; dataspace_kept && i <= object_count(); i++) {
		const struct object *o = object_at(i);

		bytes_v(to, o->kind);
		bytes_v(to, o->image);
		bytes_v(to, o->address);
		bytes_v(to, o->size);
		bytes_v(to, o->thread);
		bytes_v(to, o->node);
		bytes_v(to, o->blocks);
		bytes_v(to, o->bytes);
		bytes_v(to, o->begins);
		bytes_s(to, o->name);
	}
}

static void write_counts(struct bytes *to, const uint64_t *n)
{
	UInt used = 0;

	for (UInt i = 0; i < OBJECTS_COLUMNS; i++)
		used += n[i] != 0;
	bytes_v(to, used);
	for (UInt i = 0; i < OBJECTS_COLUMNS; i++)
		if (n[i]) {
			bytes_v(to, objects_event(i));
			bytes_v(to, n[i]);
		}
}

void dataspace_write_places(struct bytes *to)
{
	for (UInt i = 0; i < counts.places.count; i++) {
		const struct objects_place *p =
			(const struct objects_place *)counts.places.entries + i;

		bytes_v(to, p->key[0]);
		bytes_z(to, (Long)p->key[1]);
		bytes_v(to, p->key[2]);
		write_counts(to, p->counts);
	}
}

void dataspace_write_touches(struct bytes *to)
{
	for (UInt i = 0; i < counts.touches.count; i++) {
		const struct objects_touch *t =
			(const struct objects_touch *)counts.touches.entries + i;

		bytes_v(to, t->key[0]);
		bytes_v(to, t->key[2]);
		bytes_v(to, t->key[1]);
		bytes_z(to, t->least);
		bytes_z(to, t->most);
		bytes_v(to, t->apart);
		write_counts(to, t->counts);
	}
}

static void dataspace_write_end(struct bytes *to, const struct objects_end *e)
{
	bytes_v(to, e->key[1] >> 32);
	bytes_v(to, e->key[1] & 0xffffffff);
	bytes_v(to, e->image);
	bytes_v(to, e->key[2]);
	bytes_v(to, e->requests);
	bytes_v(to, e->loads);
	bytes_v(to, e->stores);
	for (UInt i = 0; i < OBJECTS_MASK_WORDS; i++)
		bytes_v(to, e->read[i]);
	for (UInt i = 0; i < OBJECTS_MASK_WORDS; i++)
		bytes_v(to, e->written[i]);
}

void dataspace_write_lines(struct bytes *to)
{
	const struct objects_end *ends = (const struct objects_end *)counts.ends.entries;

	for (UInt i = 0; i < counts.lines.count; i++) {
		const struct objects_line *l =
			(const struct objects_line *)counts.lines.entries + i;
		uint64_t needed, useless;
		UInt count = 0;

		objects_kinds(&counts, l, &needed, &useless);
		for (UInt k = l->first; k; k = ends[k - 1].next)
			count++;
		bytes_v(to, l->key[0]);
		bytes_z(to, (Long)l->key[1]);
		bytes_v(to, l->key[2]);
		bytes_v(to, l->requests);
		bytes_v(to, needed);
		bytes_v(to, useless);
		bytes_v(to, count);
		for (UInt k = l->first; k; k = ends[k - 1].next)
			dataspace_write_end(to, &ends[k - 1]);
	}
}

ULong dataspace_lost(void)
{
	return counts.places.lost + counts.touches.lost + counts.lines.lost + counts.ends.lost +
	       lost_objects;
}
