/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files: whatever they hold, they are refused with a message, or every question about them ends
 * with an answer that means what its header promises. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/elf_file.h"
#include "image/fingerprint.h"
#include "image/image.h"
#include "image/probes.h"
#include "image/unwind.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct walk {
	struct image *image;
	uint64_t last, addresses[16];
	size_t count;
};

static int look_at(void *context, const struct image_symbol *s)
{
	struct walk *w = context;

	if (s->size == 0 || !*s->name || !s->demangled || s->address < w->last)
		abort();
	w->last = s->address;
	if (w->count < 16)
		w->addresses[w->count++] = s->address + s->size / 2;
	return w->count == 16;
}

static struct image *find(void *context, uint64_t pc, uint64_t *bias)
{
	(void)pc;
	*bias = 0;
	return context;
}

static struct image *find_none(void *context, uint64_t pc, uint64_t *bias)
{
	(void)context;
	(void)pc;
	*bias = 0;
	return NULL;
}

/* What a process has where there is no image: the end of a trampoline, or what is none. */
static size_t code_of(void *context, uint64_t pc, uint8_t *bytes, size_t size)
{
	static const uint8_t ends[][5] = {
		{0x48, 0x83, 0xc4, 0x08, 0xc3}, {0x5d, 0xc3}, {0x90, 0x90, 0x90, 0x90, 0x90}};

	(void)context;
	if (pc % 7 == 0 || size > sizeof(ends[0]))
		return 0;
	memcpy(bytes, ends[pc % 3], size);
	return size;
}

static void unwind_at(struct image *image, uint64_t pc)
{
	/* Frames that are linked, and then the end. */
	static const uint64_t stack[32] = {[4] = 0x10050, 0x1010, [10] = 0x10080, 0x1800};
	struct unwinder *u = unwind_new(NULL);
	struct unwind_state s = {.known = UINT64_MAX >> 31,
		.stack = (const uint8_t *)stack,
		.stack_address = 0x10000,
		.stack_size = sizeof(stack)};
	uint64_t pcs[8], values[64], interrupted;
	int complete;

	s.machine = image_machine(image);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		s.registers[i] = 0x10000 + 8u * (unsigned)i;
	s.registers[image_machine(image) == IMAGE_AARCH64 ? 32 : 16] = pc;
	if (u && unwind(u, &s, find, image, pcs, 8, &complete, NULL) > 8)
		abort();
	/* As perf records them; without rules, by the frame pointer. */
	for (int i = 0; i < 64; i++)
		values[i] = 0x10000 + 8u * (unsigned)(i % 32);
	values[6] = values[29] = 0x10020; /* frame pointers of both machines; stack pointers */
	values[7] = values[31] = 0x10000;
	unwind_from_perf(&s, s.machine, pc % 2 ? UINT64_MAX : 0xff0fff, values);
	if (u && unwind(u, &s, find, NULL, pcs, 8, &complete, &interrupted) > 8)
		abort();
	s.code = code_of;
	if (u && unwind(u, &s, find_none, NULL, pcs, 8, &complete, NULL) > 8)
		abort();
	unwind_free(u);
}

/* What is no regular file, and what is not there. */
static void open_others(void)
{
	static const char *const paths[] = {"/dev/null", "/", "/proc/self/fd/none"};
	const struct image_search where = {0};
	uint64_t bytes, fingerprint;
	uint8_t build_id[64];
	size_t length;

	for (int i = 0; i < 3; i++) {
		const struct image_identity id = {.path = paths[i]};
		struct error e = {0};

		if (image_open(&id, &where, &e) || !*e.message)
			abort();
		e = (struct error){0};
		if (image_identify(paths[i], build_id, &length, &bytes, &fingerprint, &e) &&
			!*e.message)
			abort();
	}
}

static void ask_data(struct image *image, uint64_t address)
{
	struct image_variable v;
	struct image_member m;
	struct image_line line;

	if (image_variable_at(image, address, &v) == 0 &&
		(address - v.address >= v.size || !v.name || !*v.name))
		abort();
	(void)image_section_at(image, address, &v);
	(void)image_variable_line(image, address, &line);
	if (image_variable_member(image, address, 8, 24, 8, &m) == 0 && !*m.path)
		abort();
	if (image_structure_member(image, address, 24, 8, &m) == 0 && !*m.path)
		abort();
	for (uint64_t apart = 4; apart <= 64; apart *= 2)
		if (image_pointed_member(image, address, (int)(apart % 7), apart, 4, &m) == 0 &&
			!*m.path)
			abort();
}

static void ask_sources(struct image *image, uint64_t address)
{
	struct image_source sources[4];
	size_t n = image_sources_at(image, address, sources, 4);

	for (size_t i = 0; i < n && i < 4; i++)
		if (sources[i].name && strlen(sources[i].name) > (1u << 20))
			abort();
	(void)image_from_clang(image, address);
}

/* Variables that seeds have, each part of them. */
static void ask_variables(struct image *image)
{
	static const char *const names[] = {
		"first", "second", "hidden", "table", "alone", "open_ended", "flexible", "none"};
	struct image_variable v;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (image_variable_find(image, names[i], &v))
			continue;
		for (uint64_t k = 0; k < v.size && k < 256; k += 4) {
			struct image_member m;

			ask_data(image, v.address + k);
			(void)image_variable_member(image, v.address + k, 4, 0, 0, &m);
			(void)image_variable_member(image, v.address + k, 16, 48, 48, &m);
		}
	}
}

/* Nodes are after their parents, probes in order of address and each of a node. */
static void ask_probes(struct image *image)
{
	struct image_probes p;
	struct error e = {0};

	if (image_probes_read(image, &p, &e)) {
		if (!*e.message || p.all.count)
			abort();
		return;
	}
	for (size_t i = 0; i < p.nodes.count; i++)
		if (p.nodes.data[i].parent != IMAGE_PROBE_ROOT && p.nodes.data[i].parent >= i)
			abort();
	for (size_t i = 0; i < p.all.count; i++)
		if (p.all.data[i].node >= p.nodes.count ||
			(i && p.all.data[i].address < p.all.data[i - 1].address))
			abort();
	image_probes_fini(&p);
}

static int look_at_block(void *context, const struct image_block *block)
{
	size_t *left = context;

	(void)block;
	return --*left == 0;
}

static void ask_blocks(struct image *image)
{
	size_t left = 1000;
	struct error e = {0};

	if (image_blocks(image, look_at_block, &left, &e) < 0 && !*e.message)
		abort();
}

static void ask(struct image *image, uint64_t address)
{
	const struct image_symbol *s = image_symbol_at(image, address);
	struct image_frame frames[4];
	struct image_line line;
	uint8_t code[16];
	size_t n;

	ask_data(image, address);
	if (s && (address < s->address || address - s->address >= s->size))
		abort();
	if ((image_line_at(image, address, &line) == 0) != (line.file != NULL))
		abort();
	ask_sources(image, address);
	n = image_inlines_at(image, address, frames, 4);
	for (size_t i = 0; i < n && i < 4; i++)
		if (!frames[i].name)
			abort();
	if (image_code(image, address, code, sizeof(code)) > sizeof(code))
		abort();
	unwind_at(image, address);
}

static int rising(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Functions of few addresses have the names that they have among all. */
static void ask_sparingly(
	struct walk *w, const uint8_t *data, size_t size, const struct image_identity *id)
{
	struct image *few = id->path ? image_open(id, NULL, NULL)
				     : image_open_memory(data, size, "input", NULL);

	if (!few || !w->count)
		goto out;
	qsort(w->addresses, w->count, sizeof(w->addresses[0]), rising);
	if (image_want_symbols(few, w->addresses, w->count))
		goto out;
	for (size_t i = 0; i < w->count; i++) {
		const struct image_symbol *all = image_symbol_at(w->image, w->addresses[i]);
		const struct image_symbol *s = image_symbol_at(few, w->addresses[i]);

		if (all && !all->guessed &&
			(!s || strcmp(s->name, all->name) != 0 || s->address != all->address))
			abort();
		if ((!all || all->guessed) && s && !s->guessed)
			abort();
	}
	(void)image_complaint(few);
out:
	image_close(few);
}

/* What is asked of files alone. */
static void ask_file(const char *path, const uint8_t *data, size_t size)
{
	uint8_t build_id[64];
	struct image_facts facts;
	uint64_t bytes, fingerprint;
	struct error e = {0};
	struct elf_file *f;
	size_t length;

	if (image_facts_read(path, &facts, &e) == 0)
		image_facts_fini(&facts);
	else if (!*e.message)
		abort();
	if (image_identify(path, build_id, &length, &bytes, &fingerprint, &e) == 0 &&
		(length > sizeof(build_id) || (!length && !fingerprint)))
		abort();
	/* In pieces from the file, and as a whole from memory, and as it is mapped. */
	if (!length && fingerprint &&
		(bytes != size || identify_fingerprint(data, size) != fingerprint))
		abort();
	f = elf_file_open(path, NULL);
	if (f && identify_file(f) != identify_fingerprint(data, size))
		abort();
	elf_file_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct image_search where = {0};
	struct image_identity id = {0};
	struct error e = {0};
	struct scratch file = {.fd = -1};
	struct image *image;
	struct walk w = {0};
	static bool opened;

	if (!opened)
		open_others();
	opened = true;
	if ((size % 2 || !size) && scratch_open(&file, data, size) == 0) {
		id.path = file.path;
		ask_file(file.path, data, size);
		image = image_open(&id, &where, &e);
	} else {
		image = image_open_memory(data, size, "input", &e);
	}
	w.image = image;
	if (!image) {
		if (e.code == ERR_NONE || !e.message[0])
			abort();
		scratch_close(&file);
		return 0;
	}
	ask_blocks(image);
	image_symbols(image, look_at, &w);
	ask_sparingly(&w, data, size, &id);
	scratch_close(&file);
	for (size_t i = 0; i < w.count; i++)
		ask(image, w.addresses[i]);
	for (uint64_t a = 0x1000; a < 0x3000; a += 0x155)
		ask(image, a);
	ask(image, 0);
	ask(image, UINT64_MAX);
	ask_variables(image);
	ask_probes(image);
	(void)image_symbol_find(image, "main");
	(void)image_is_whole(image);
	(void)image_complaint(image);
	image_close(image);
	return 0;
}
