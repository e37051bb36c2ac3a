/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See profile.h. The model's data goes into tables by address, or by address and image if it is
 * kept: when an image is unmapped, data by address alone is first assigned to its images.
 */
#include "valgrind/profile.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_xarray.h"

#include "model/wire/profile.h"
#include "valgrind/blocks.h"
#include "valgrind/dataspace.h"
#include "valgrind/images.h"
#include "valgrind/slices.h"
#include "valgrind/stacks.h"
#include "valgrind/tally.h"
#include "valgrind/tool.h"

#define ROWS_MAX     (1u << 23) /* pieces of rows: address space, not memory */
#define ROWS_MIN     (1u << 12)
#define CARRIES_MAX  4096u
#define LINE_BITS    6
#define PHASES_MAX   65535u
#define CALIPERS_MAX (64u << 20) /* bytes of them that are kept */

enum profile_kind profile_kind;

static struct model_watch watch;
static const HChar *kind_text, *sample_text;
static ULong slice_cycles;
static Bool stacks_wanted, dataspace_wanted;
static struct tally samples; /* by address; image and path; sampler, thread and phase */
static ULong lost_samples[MODEL_SAMPLERS_MAX];
static struct tally data; /* by line, sampler */
static XArray *threads;   /* of struct model_watch_thread *, by number */
static XArray *names;     /* of Int, by number: the kernel's */
static UInt running, phase;
static struct bytes calipers;
static ULong calipers_lost;
/* The counts while samples did not count, or were cleared; and the counts when that began. */
static uint64_t uncounted[EVENT_LIMIT], suspended_at[EVENT_LIMIT];
static Bool suspended, ended;

/* ---- options ---- */

Bool profile_option(const HChar *argument)
{
	if VG_STR_CLO (argument, "--model-profile", kind_text)
		return True;
	if VG_STR_CLO (argument, "--model-sample", sample_text)
		return True;
	if VG_BOOL_CLO (argument, "--model-stacks", stacks_wanted)
		return True;
	if VG_BOOL_CLO (argument, "--model-dataspace", dataspace_wanted)
		return True;
	if VG_BINT_CLO (argument, "--model-slices", slice_cycles, 0, 1ll << 62)
		return True;
	return False;
}

/* EVENT:PERIOD or EVENT:PERIOD:skid, separated by commas. */
static Bool read_samplers(const HChar *text)
{
	while (*text) {
		HChar *end;
		Long event = VG_(strtoll10)(text, &end), period;
		Bool skid = False;

		if (end == text || *end != ':')
			return False;
		text = end + 1;
		period = VG_(strtoll10)(text, &end);
		if (end == text || event < 0 || period < 1)
			return False;
		if (VG_(strncmp)(end, ":skid", 5) == 0) {
			skid = True;
			end += 5;
		}
		if (watch_add_sampler(&watch, (unsigned)event, (uint64_t)period, skid))
			return False;
		text = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return False;
	}
	return True;
}

static void make_rows(void)
{
	UInt limit = ROWS_MAX;

	while (!watch.rows.row && limit >= ROWS_MIN) {
		watch.rows.row = VG_(am_shadow_alloc)(limit * sizeof(*watch.rows.row));
		watch.rows.limit = limit;
		limit /= 2;
	}
	if (!watch.rows.row)
		VG_(out_of_memory_NORETURN)("perfexmodel", ROWS_MIN * sizeof(*watch.rows.row));
	watch.rows.carry_limit = CARRIES_MAX;
	watch.rows.carry = VG_(calloc)("carries", CARRIES_MAX, sizeof(*watch.rows.carry));
}

static void take_sample(void *context, unsigned sampler, const struct model_insn *insn,
	uint64_t address, uint64_t times)
{
	UInt image = insn ? images_at(insn->address) : 0;
	UInt node = watch.paths ? paths_node(watch.paths) : PATH_ROOT;
	ULong what = (ULong)sampler | (ULong)running << 8 | (ULong)phase << 32;
	ULong lost = samples.lost;

	(void)context;
	if (suspended)
		return;
	tally_add(&samples, insn ? insn->address : 0, (ULong)node << 32 | image, what, times);
	lost_samples[sampler] += samples.lost - lost;
	if (address && profile_kind != PROFILE_SAMPLES)
		tally_add(&data, address >> LINE_BITS, sampler, 0, times);
}

const HChar *profile_begin(void)
{
	if (!kind_text || !*kind_text)
		return sample_text || slice_cycles ? "goes with --model-profile" : NULL;
	if (VG_(strcmp)(kind_text, "blocks") == 0)
		profile_kind = PROFILE_BLOCKS;
	else if (VG_(strcmp)(kind_text, "insns") == 0)
		profile_kind = PROFILE_INSNS;
	else if (VG_(strcmp)(kind_text, "samples") == 0)
		profile_kind = PROFILE_SAMPLES;
	else
		return "--model-profile is blocks, samples or insns";
	if (sample_text && !read_samplers(sample_text))
		return "--model-sample cannot be understood";
	watch.sample = take_sample;
	if (profile_kind != PROFILE_SAMPLES)
		targets_begin(&watch);
	if (profile_kind == PROFILE_INSNS)
		make_rows();
	if (dataspace_wanted && profile_kind != PROFILE_BLOCKS) {
		dataspace_begin();
		watch.objects = dataspace_objects();
	}
	if (stacks_wanted || watch.objects)
		stacks_begin();
	if (profile_kind != PROFILE_SAMPLES)
		blocks_keep(profile_kind == PROFILE_BLOCKS);
	slices_begin(slice_cycles);
	return NULL;
}

struct model_watch *profile_watch(void)
{
	return profile_kind == PROFILE_NONE ? NULL : &watch;
}

/* ---- threads and images ---- */

void profile_thread(ThreadId tid, UInt number)
{
	struct model_watch_thread *t = NULL;

	running = number;
	watch.paths = stacks_of(tid);
	dataspace_thread(tid, number);
	if (!watch.sampler_count)
		return;
	if (!threads)
		threads = VG_(newXA)(VG_(malloc), "watched", VG_(free), sizeof(t));
	while (VG_(sizeXA)(threads) <= (Word)number)
		VG_(addToXA)(threads, &t);
	t = *(struct model_watch_thread **)VG_(indexXA)(threads, number);
	if (!t) {
		t = VG_(malloc)("watched", sizeof(*t));
		watch_thread_init(&watch, t);
		*(struct model_watch_thread **)VG_(indexXA)(threads, number) = t;
	}
	watch.thread = t;
}

void profile_name_thread(UInt number, Int kernel_tid)
{
	Int none = 0;

	if (profile_kind == PROFILE_NONE)
		return;
	if (!names)
		names = VG_(newXA)(VG_(malloc), "names", VG_(free), sizeof(Int));
	while (VG_(sizeXA)(names) <= (Word)number)
		VG_(addToXA)(names, &none);
	*(Int *)VG_(indexXA)(names, number) = kernel_tid;
}

void profile_unmapped(Addr a, SizeT length)
{
	if (profile_kind == PROFILE_NONE)
		return;
	dataspace_unmapped(a, length);
	if (!images_overlap(a, length))
		return;
	blocks_tell_branches();
	targets_keep();
	stacks_gone(a, length);
	images_unmapped(a, length);
}

void profile_reset(void)
{
	if (profile_kind == PROFILE_NONE)
		return;
	for (Word i = 0; threads && i < VG_(sizeXA)(threads); i++)
		VG_(free)(*(void **)VG_(indexXA)(threads, i));
	if (threads)
		VG_(deleteXA)(threads);
	if (names)
		VG_(deleteXA)(names);
	threads = names = NULL;
	watch.thread = NULL;
	watch.paths = NULL;
	blocks_reset();
	rows_reset(&watch.rows);
	targets_reset();
	tally_reset(&samples);
	VG_(memset)(lost_samples, 0, sizeof(lost_samples));
	tally_reset(&data);
	slices_reset();
	calipers.length = 0;
	calipers_lost = 0;
	phase = 0;
	/* Suspended sampling stays suspended. */
	VG_(memset)(uncounted, 0, sizeof(uncounted));
	VG_(memset)(suspended_at, 0, sizeof(suspended_at));
}

/* ---- caliper points ---- */

void bytes_counts(struct bytes *to, const uint64_t *counts)
{
	UInt n = 0;

	for (UInt e = 0; e < EV_COUNT; e++)
		n += counts[e] != 0;
	bytes_v(to, n);
	for (UInt e = 0; e < EV_COUNT; e++)
		if (counts[e]) {
			bytes_v(to, e);
			bytes_v(to, counts[e]);
		}
}

void profile_caliper(Int kernel_tid, const HChar *name)
{
	UInt slots = counts_slots(), n = 0;

	if (profile_kind == PROFILE_NONE)
		return;
	if (calipers.length > CALIPERS_MAX) {
		calipers_lost++;
		return;
	}
	if (phase < PHASES_MAX)
		phase++;
	bytes_s(&calipers, name);
	bytes_v(&calipers, (ULong)kernel_tid);
	for (UInt i = 0; i < slots; i++)
		n += counts_of(i)[EV_INSTRUCTIONS] != 0;
	bytes_v(&calipers, n);
	for (UInt i = 0; i < slots; i++)
		if (counts_of(i)[EV_INSTRUCTIONS]) {
			bytes_v(&calipers, (ULong)counts_tid(i));
			bytes_counts(&calipers, counts_of(i));
		}
}

/* ---- what counts ---- */

static void suspend(const uint64_t *now)
{
	if (!suspended)
		VG_(memcpy)(suspended_at, now, sizeof(suspended_at));
	suspended = True;
	if (watch.objects)
		watch.objects->off = 1;
}

static void add_suspended(const uint64_t *now, uint64_t *to)
{
	for (UInt e = 0; suspended && e < EVENT_LIMIT; e++)
		to[e] += now[e] - suspended_at[e];
}

static void profile_write_clear(const uint64_t *now)
{
	VG_(memcpy)(uncounted, now, sizeof(uncounted));
	VG_(memcpy)(suspended_at, now, sizeof(suspended_at));
	tally_reset(&samples);
	tally_reset(&data);
	dataspace_reset();
	VG_(memset)(lost_samples, 0, sizeof(lost_samples));
}

void profile_sampling(enum model_sampling what)
{
	uint64_t now[EVENT_LIMIT];

	if (ended)
		return;
	counts_sum(now, EVENT_LIMIT);
	switch (what) {
	case MODEL_SAMPLING_SUSPEND:
		suspend(now);
		break;
	case MODEL_SAMPLING_RESTART:
		add_suspended(now, uncounted);
		suspended = False;
		if (watch.objects)
			watch.objects->off = 0;
		break;
	case MODEL_SAMPLING_CLEAR:
		profile_write_clear(now);
		break;
	case MODEL_SAMPLING_END:
		suspend(now);
		ended = True;
		break;
	}
}

/* ---- sections ---- */

static SizeT begin_section(struct bytes *to, enum model_profile_section_type type)
{
	struct model_profile_section head = {.type = type};

	bytes_raw(to, &head, sizeof(head));
	return to->length;
}

static void profile_write_end_section(struct bytes *to, SizeT start)
{
	struct model_profile_section *head =
		(struct model_profile_section *)(to->data + start - sizeof(*head));

	head->length = to->length - start;
}

static void write_images(struct bytes *to)
{
	for (UInt i = 1; i <= images_count(); i++) {
		const struct image *im = images_get(i);

		bytes_v(to, im->kind);
		bytes_v(to, im->start);
		bytes_v(to, im->end - im->start);
		bytes_v(to, im->file_offset);
		bytes_v(to, im->bias);
		bytes_s(to, im->path);
		bytes_v(to, im->build_id_length);
		bytes_raw(to, im->build_id, im->build_id_length);
	}
}

struct row_writing {
	struct bytes *to;
	UInt count;
};

static void count_item(void *context, unsigned item, uint64_t n)
{
	struct row_writing *w = context;

	(void)item, (void)n;
	w->count++;
}

static void write_item(void *context, unsigned item, uint64_t n)
{
	struct row_writing *w = context;

	bytes_v(w->to, item);
	bytes_v(w->to, n);
}

static void write_row(struct bytes *to, UInt row)
{
	struct row_writing w = {.to = to};

	rows_walk(&watch.rows, row, count_item, &w);
	bytes_v(to, w.count);
	rows_walk(&watch.rows, row, write_item, &w);
}

static void write_events(struct bytes *to)
{
	for (UInt i = 0; i < watch.sampler_count; i++) {
		bytes_v(to, watch.sampler[i].event);
		bytes_v(to, watch.sampler[i].period);
		bytes_v(to, watch.sampler[i].skid);
	}
}

static void profile_write_write_samples(struct bytes *to)
{
	if (stacks_kept)
		return;
	for (UInt i = 0; i < samples.size; i++) {
		const struct tally_entry *e = &samples.entries[i];

		if (!e->count)
			continue;
		bytes_v(to, e->key[2] & 0xff);
		bytes_v(to, e->key[2] >> 8 & 0xffffff);
		bytes_v(to, e->key[2] >> 32);
		bytes_v(to, e->key[1]);
		bytes_v(to, e->key[0]);
		bytes_v(to, e->count);
	}
}

static void write_path_samples(struct bytes *to)
{
	for (UInt i = 0; stacks_kept && i < samples.size; i++) {
		const struct tally_entry *e = &samples.entries[i];
		UInt node = (UInt)(e->key[1] >> 32);

		if (!e->count)
			continue;
		bytes_v(to, node == PATH_LOST ? 0 : 1ull + node);
		bytes_v(to, e->key[2] & 0xff);
		bytes_v(to, e->key[2] >> 8 & 0xffffff);
		bytes_v(to, e->key[2] >> 32);
		bytes_v(to, e->key[1] & 0xffffffff);
		bytes_v(to, e->key[0]);
		bytes_v(to, e->count);
	}
}

static void write_data(struct bytes *to)
{
	for (UInt i = 0; i < data.size; i++) {
		const struct tally_entry *e = &data.entries[i];

		if (!e->count)
			continue;
		bytes_v(to, e->key[1]);
		bytes_v(to, e->key[0] << LINE_BITS);
		bytes_v(to, e->count);
	}
}

static void write_objects_lost(struct bytes *to)
{
	if (dataspace_kept)
		bytes_v(to, dataspace_lost());
}

static void write_blocks(struct bytes *to)
{
	blocks_write(to, write_row);
}

static void write_threads(struct bytes *to)
{
	for (Word i = 0; names && i < VG_(sizeXA)(names); i++)
		bytes_v(to, (ULong) * (Int *)VG_(indexXA)(names, i));
}

static void write_calipers(struct bytes *to)
{
	bytes_raw(to, calipers.data, calipers.length);
}

static void write_lost(struct bytes *to)
{
	bytes_v(to, samples.lost);
	bytes_v(to, watch.rows.lost);
	bytes_v(to, targets_lost());
	bytes_v(to, data.lost);
	bytes_v(to, calipers_lost);
	for (UInt i = 0; i < watch.sampler_count; i++)
		bytes_v(to, lost_samples[i]);
}

static void write_uncounted(struct bytes *to)
{
	uint64_t now[EVENT_LIMIT], all[EVENT_LIMIT];

	counts_sum(now, EVENT_LIMIT);
	VG_(memcpy)(all, uncounted, sizeof(all));
	add_suspended(now, all);
	bytes_counts(to, all);
}

static void write_end(struct bytes *to)
{
	(void)to;
}

void profile_write_sections(struct bytes *to)
{
	/* The branches' targets may be in images that nothing else named. */
	static const struct {
		enum model_profile_section_type type;
		void (*write)(struct bytes *to);
	} sections[] = {
		{MODEL_SECTION_INDIRECT, targets_write},
		{MODEL_SECTION_OBJECTS, dataspace_write_objects},
		{MODEL_SECTION_OBJECT_PLACES, dataspace_write_places},
		{MODEL_SECTION_OBJECT_TOUCHES, dataspace_write_touches},
		{MODEL_SECTION_OBJECT_LINES, dataspace_write_lines},
		{MODEL_SECTION_OBJECTS_LOST, write_objects_lost},
		{MODEL_SECTION_NODES, stacks_write},
		{MODEL_SECTION_IMAGES, write_images},
		{MODEL_SECTION_BLOCKS, write_blocks},
		{MODEL_SECTION_EVENTS, write_events},
		{MODEL_SECTION_SAMPLES, profile_write_write_samples},
		{MODEL_SECTION_PATH_SAMPLES, write_path_samples},
		{MODEL_SECTION_DATA, write_data},
		{MODEL_SECTION_SLICES, slices_write},
		{MODEL_SECTION_THREADS, write_threads},
		{MODEL_SECTION_CALIPERS, write_calipers},
		{MODEL_SECTION_LOST, write_lost},
		{MODEL_SECTION_UNCOUNTED, write_uncounted},
		{MODEL_SECTION_END, write_end},
	};

	for (UInt i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		SizeT start = begin_section(to, sections[i].type);

		sections[i].write(to);
		profile_write_end_section(to, start);
	}
}
