/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of model/wire/profile.h: the file, images, and the executed code. */
#include <stdlib.h>
#include <string.h>

#include "model/rows.h"
#include "model/trace.h"
#include "model/wire/profile.h"
#include "model/wire/shared.h"
#include "sources/profile.h"
#include "sources/profile_read.h"

#define SUPERBLOCK_MAX 4096 /* instructions */

/* ---- images ---- */

static int read_image(struct reading_file *f, struct cursor *c)
{
	struct experiment_image im = {0};
	struct mapping *m;
	uint64_t kind = get_uint(c), start = get_uint(c), length = get_uint(c), bias;
	const uint8_t *path, *build_id;
	size_t path_length;
	long found;

	get_uint(c); /* the offset in the file: what addresses need is the bias */
	bias = get_uint(c);
	path_length = get_count(c, 1 << 20);
	path = get_raw(c, path_length);
	im.build_id_length = (uint32_t)get_count(c, EXPERIMENT_BUILD_ID_MAX);
	build_id = get_raw(c, im.build_id_length);
	if (c->bad || kind > EXPERIMENT_IMAGE_ANONYMOUS || !path || !build_id)
		return c->bad = true, 0;
	im.kind = (enum experiment_image_kind)kind;
	im.pid = im.kind == EXPERIMENT_IMAGE_ANONYMOUS ? f->header->pid : 0;
	im.path = strndup((const char *)path, path_length);
	memcpy(im.build_id, build_id, im.build_id_length);
	found = im.path ? experiment_image(&f->p->x, &im, NULL) : -1;
	free(im.path);
	if (found < 0)
		return out_of_memory(f);
	m = vec_push(&f->mappings);
	if (!m)
		return out_of_memory(f);
	*m = (struct mapping){start, length, bias, (uint32_t)found};
	return 0;
}

static bool holds(const struct mapping *m, uint64_t address)
{
	return address - m->start < m->length;
}

/* The mapping of a fixed target: mostly that of the branch. */
static const struct mapping *mapping_at(
	const struct reading_file *f, const struct mapping *near, uint64_t address)
{
	if (holds(near, address))
		return near;
	for (size_t i = 0; i < f->mappings.count; i++)
		if (holds(&f->mappings.data[i], address))
			return &f->mappings.data[i];
	return mapping_of(f, 0);
}

/* ---- superblocks ---- */

struct insn {
	const struct mapping *mapping;
	uint64_t address;
	uint32_t length;
	uint8_t what, branch;
	uint16_t class_bits, uops, flops, loads, stores;
	uint64_t executions, repeated, branches, taken; /* executions: that were a record's last */
	uint64_t all_loads, all_stores;                 /* likewise */
	uint32_t index;                                 /* in the profile's */
};

struct superblock {
	const struct mapping *mapping;
	uint64_t address;
	size_t insn_count;
	struct insn insns[SUPERBLOCK_MAX];
};

static int add_edge(struct reading_file *f, const struct mapping *from_mapping, uint64_t from,
	const struct mapping *to_mapping, uint64_t to, uint32_t kind, bool taken, uint64_t count)
{
	struct experiment_edge edge = {.key = {.from = from - from_mapping->bias,
					       .to = to - to_mapping->bias,
					       .from_image = from_mapping->image,
					       .to_image = to_mapping->image,
					       .kind = kind,
					       .taken = taken}};

	edge.count = count;
	return count && experiment_row(&f->p->x, EXPERIMENT_EDGES, &edge) < 0 ? out_of_memory(f)
									      : 0;
}

static void read_insn(
	struct reading_file *f, struct cursor *c, struct superblock *b, struct insn *d)
{
	bool first = d == b->insns;

	memset(d, 0, sizeof(*d));
	d->mapping = first ? b->mapping : d[-1].mapping;
	d->address = first ? b->address : d[-1].address + d[-1].length;
	d->length = get_byte(c);
	d->what = get_byte(c);
	if (d->what & MODEL_INSN_ELSEWHERE) {
		d->address += (uint64_t)get_sint(c);
		d->mapping = mapping_of(f, get_uint(c));
	}
	if (d->what & MODEL_INSN_CLASS)
		d->class_bits = (uint16_t)get_uint(c);
	d->branch = d->what & MODEL_INSN_BRANCH ? (uint8_t)get_uint(c) : MODEL_NO_BRANCH;
	d->uops = d->what & MODEL_INSN_UOPS ? (uint16_t)get_uint(c) : 1;
	if (d->what & MODEL_INSN_FLOPS)
		d->flops = (uint16_t)get_uint(c);
	if (d->what & MODEL_INSN_LOADS)
		d->loads = (uint16_t)get_uint(c);
	if (d->what & MODEL_INSN_STORES)
		d->stores = (uint16_t)get_uint(c);
}

/* A branch that `ended` records went through. */
static int read_outcome(struct reading_file *f, struct cursor *c, struct superblock *b,
	uint64_t ended, size_t *insn)
{
	uint64_t how;
	uint64_t target;
	struct insn *d;
	const struct mapping *to;

	*insn = get_count(c, b->insn_count ? b->insn_count - 1 : 0);
	how = get_uint(c);
	target = b->address + (uint64_t)get_sint(c);
	if (c->bad || how / 2 > MODEL_RETURN || !b->insn_count)
		return c->bad = true, 0;
	d = &b->insns[*insn];
	d->branches += ended;
	d->taken += how & 1 ? ended : 0;
	if (how / 2 >= MODEL_INDIRECT_JUMP)
		return 0; /* among the indirect ones */
	if (!(how & 1))
		target = d->address + d->length;
	to = mapping_at(f, d->mapping, target);
	return add_edge(f, d->mapping, d->address, to, target, (uint32_t)(how / 2), how & 1, ended);
}

/* ended: how often. */
static int read_segment(
	struct reading_file *f, struct cursor *c, struct superblock *b, uint64_t ended)
{
	size_t insns = get_count(c, b->insn_count), outcomes, insn = SIZE_MAX;
	uint64_t loads = get_uint(c), stores = get_uint(c);
	bool fixed = get_uint(c) != 0;
	uint64_t next = fixed ? b->address + (uint64_t)get_sint(c) : 0;
	const struct insn *d;

	outcomes = get_count(c, 255);
	for (size_t i = 0; i < outcomes && !c->bad; i++)
		if (read_outcome(f, c, b, ended, &insn))
			return -1;
	if (c->bad || !insns)
		return 0;
	d = &b->insns[insns - 1];
	b->insns[insns - 1].executions += ended;
	b->insns[insns - 1].all_loads += ended * loads;
	b->insns[insns - 1].all_stores += ended * stores;
	if (!fixed || insn == insns - 1)
		return 0;
	/* A further iteration of a repeated string instruction. */
	if (next == d->address)
		b->insns[insns - 1].repeated += ended;
	return add_edge(f, d->mapping, d->address, mapping_at(f, d->mapping, next), next,
		PROFILE_FALL, false, ended);
}

static int merge_insns(struct reading_file *f, struct superblock *b)
{
	uint64_t executions = 0, to_loads, to_stores;

	for (size_t i = b->insn_count; i-- > 0;) {
		struct insn *d = &b->insns[i];
		struct profile_insn key = {.key = {.address = d->address - d->mapping->bias,
						   .image = d->mapping->image,
						   .length = d->length}};
		struct profile_insn *to;

		/* Executions of records that continued after it made all of its accesses. */
		to_loads = d->all_loads + executions * d->loads;
		to_stores = d->all_stores + executions * d->stores;
		executions += d->executions;
		to = table_add(&f->p->insns, &key.key);
		if (!to)
			return out_of_memory(f);
		d->index = (uint32_t)table_number(&f->p->insns, to);
		to->executions += executions;
		to->branches += d->branches;
		to->taken += d->taken;
		to->class_bits = d->class_bits;
		to->branch = d->branch;
		to->repeated += d->repeated;
		to->uops = d->uops;
		to->flops = d->flops;
		to->loads += to_loads;
		to->stores += to_stores;
	}
	return 0;
}

static int add_count(struct reading_file *f, uint32_t insn, uint32_t item, uint64_t n)
{
	const struct profile_count count = {.key = {insn, item}, .n = n};

	if (item == MODEL_ROW_EXECUTED) {
		((struct profile_insn *)table_at(&f->p->insns, insn))->executions += n;
		return 0;
	}
	return profile_row(f->p, PROFILE_COUNTS, &count) < 0 ? out_of_memory(f) : 0;
}

static int profile_read_read_rows(
	struct reading_file *f, struct cursor *c, const struct superblock *b)
{
	size_t rows = get_count(c, b->insn_count);

	for (size_t i = 0; i < rows && !c->bad; i++) {
		size_t insn = get_count(c, b->insn_count - 1), items = get_count(c, 255);

		for (size_t k = 0; k < items && !c->bad; k++) {
			uint64_t item = get_uint(c), n = get_uint(c);

			if (c->bad || item > 255)
				return c->bad = true, 0;
			if (add_count(f, b->insns[insn].index, (uint32_t)item, n))
				return -1;
		}
	}
	return 0;
}

static int read_superblock(struct reading_file *f, struct cursor *c, struct superblock *b)
{
	size_t shape_length = get_count(c, left(c)), segments, code = 0;
	const uint8_t *shape_text = get_raw(c, shape_length);
	struct cursor shape = {.at = shape_text,
		.end = shape_text ? shape_text + shape_length : NULL,
		.bad = !shape_text};
	uint64_t flags;

	b->mapping = mapping_of(f, get_uint(&shape));
	b->address = get_uint(&shape);
	flags = get_uint(&shape);
	b->insn_count = get_count(&shape, SUPERBLOCK_MAX);
	for (size_t i = 0; i < b->insn_count && !shape.bad; i++) {
		read_insn(f, &shape, b, &b->insns[i]);
		code += b->insns[i].length;
	}
	if (flags & MODEL_SHAPE_CODE)
		get_raw(&shape, code);
	segments = get_count(&shape, SUPERBLOCK_MAX);
	for (size_t i = 0; i < segments && !shape.bad && !c->bad; i++)
		if (read_segment(f, &shape, b, get_uint(c)))
			return -1;
	c->bad |= shape.bad;
	if (c->bad || !b->insn_count)
		return c->bad = true, 0;
	if (merge_insns(f, b))
		return -1;
	return profile_read_read_rows(f, c, b);
}

static int read_blocks(struct reading_file *f, struct cursor *c)
{
	struct superblock *b = malloc(sizeof(*b));
	int rc = 0;

	if (!b)
		return out_of_memory(f);
	while (left(c) && rc == 0)
		rc = read_superblock(f, c, b);
	free(b);
	return rc;
}

static uint8_t branch_kind(const struct reading_file *f, const struct mapping *m, uint64_t address)
{
	struct profile_insn key = {.key = {.address = address - m->bias, .image = m->image}};

	/* Its length is not known here; instructions are at most 15 bytes long. */
	for (uint32_t length = 1; length <= 15; length++) {
		const struct profile_insn *d;

		key.key.length = length;
		d = table_find(&f->p->insns, &key.key);
		if (d && d->branch != MODEL_NO_BRANCH)
			return d->branch;
	}
	return MODEL_INDIRECT_JUMP;
}

static int read_indirect(struct reading_file *f, struct cursor *c)
{
	const struct mapping *from_mapping = mapping_of(f, get_uint(c)), *to_mapping;
	uint64_t from = get_uint(c), to, count;

	to_mapping = mapping_of(f, get_uint(c));
	to = get_uint(c);
	count = get_uint(c);
	return c->bad ? 0
		      : add_edge(f, from_mapping, from, to_mapping, to,
				branch_kind(f, from_mapping, from), true, count);
}

/* ---- files ---- */

/* In the order in which they need each other, which is not that of the file. Each reads
 * one entry, or the whole section; none is called for an empty one. */
static const struct {
	enum model_profile_section_type type;
	int (*read)(struct reading_file *f, struct cursor *c);
	bool whole;
} readers[] = {
	{MODEL_SECTION_IMAGES, read_image, false},
	{MODEL_SECTION_THREADS, profile_read_threads, false},
	{MODEL_SECTION_EVENTS, profile_read_events, false},
	{MODEL_SECTION_BLOCKS, read_blocks, true},
	{MODEL_SECTION_INDIRECT, read_indirect, false},
	{MODEL_SECTION_SAMPLES, profile_read_samples, false},
	{MODEL_SECTION_NODES, profile_read_nodes, false},
	{MODEL_SECTION_PATH_SAMPLES, profile_read_path_samples, false},
	{MODEL_SECTION_DATA, profile_read_data, false},
	{MODEL_SECTION_SLICES, profile_read_slices, true},
	{MODEL_SECTION_CALIPERS, profile_read_calipers, false},
	{MODEL_SECTION_LOST, profile_read_lost, true},
	{MODEL_SECTION_UNCOUNTED, profile_read_uncounted, true},
	{MODEL_SECTION_OBJECTS, profile_read_objects, false},
	{MODEL_SECTION_OBJECT_PLACES, profile_read_object_places, false},
	{MODEL_SECTION_OBJECT_TOUCHES, profile_read_object_touches, false},
	{MODEL_SECTION_OBJECT_LINES, profile_read_object_lines, false},
	{MODEL_SECTION_OBJECTS_LOST, profile_read_objects_lost, true},
};

/* Sections of one type; false where something is damaged. */
static bool profile_read_read_sections(
	struct reading_file *f, struct cursor all, size_t reader, int *rc)
{
	for (;;) {
		struct model_profile_section head;
		const uint8_t *raw = get_raw(&all, sizeof(head)), *content;
		struct cursor c;

		if (!raw)
			return false;
		memcpy(&head, raw, sizeof(head));
		if (head.type == MODEL_SECTION_END)
			return true;
		content = head.length <= left(&all) ? get_raw(&all, (size_t)head.length) : NULL;
		if (!content)
			return false;
		if (head.type != readers[reader].type)
			continue;
		c = (struct cursor){.at = content, .end = content + head.length};
		while (*rc == 0 && left(&c)) {
			*rc = readers[reader].read(f, &c);
			if (readers[reader].whole)
				break;
		}
		if (*rc || c.bad)
			return false;
	}
}

static int add_process(struct reading_file *f)
{
	const struct model_profile_header *h = f->header;
	struct profile_process *process = table_append(&f->p->processes);

	if (!process)
		return out_of_memory(f);
	f->process = (uint32_t)f->p->processes.count - 1;
	process->key.pid = h->pid;
	process->key.generation = h->generation;
	process->ppid = h->ppid;
	process->complete = h->state == MODEL_STATE_FINISHED || h->state == MODEL_STATE_EXEC;
	process->instructions = h->instructions;
	memcpy(process->command, h->command, sizeof(h->command));
	return 0;
}

int profile_add(struct profile *p, const void *data, size_t size, struct error *e)
{
	struct model_profile_header header;
	struct reading_file f = {.p = p, .header = &header, .e = e};
	struct cursor all = {0};
	bool good = true;
	int rc = 0;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	if (header.magic == 0)
		return 0;
	if (header.magic != MODEL_PROFILE_MAGIC || header.version != MODEL_PROFILE_VERSION ||
		header.offset > size || header.length > size - header.offset) {
		p->damaged++;
		return 0;
	}
	all.at = (const uint8_t *)data + header.offset;
	all.end = all.at + header.length;
	rc = add_process(&f);
	for (size_t i = 0; rc == 0 && good && i < sizeof(readers) / sizeof(readers[0]); i++)
		good = profile_read_read_sections(&f, all, i, &rc);
	p->damaged += !good;
	vec_fini(&f.mappings);
	vec_fini(&f.samplers);
	vec_fini(&f.threads);
	vec_fini(&f.nodes);
	vec_fini(&f.objects);
	return f.nomem ? error_nomem(e) : 0;
}
