/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine descriptions: any text is either refused with a message, or survives being printed and
 * read again, and what it describes can be modelled. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "machine/private.h"

#include "../unit/machine_print.h"
#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A few hundred of everything, from two threads, at addresses near and far. */
static void model_a_little(const struct machine *m)
{
	size_t bytes = model_size(&m->model);
	uint64_t counts[2][EVENT_LIMIT] = {{0}}, x = 12345;
	struct model *model;
	void *memory;

	if (bytes > 4 << 20 || posix_memalign(&memory, 64, bytes))
		return;
	memset(memory, 0, bytes);
	model = model_init(memory, &m->model);
	for (int i = 0; i < 400; i++) {
		uint64_t address, code;

		x = x * 6364136223846793005u + 1442695040888963407u;
		address = x >> (16 + i % 40);
		code = 0x400000 + (x >> 33) % 65536;
		if (i % 50 == 0)
			model_switch_thread(model, i / 50 % 2, counts[i / 50 % 2]);
		model_instruction(model, code, 4, i % 64 < 9 ? 1u << i % 64 : 0, 1, 0);
		model_load(model, address, 1 + i % 70);
		model_store(model, address ^ 64, 8);
		model_prefetch(model, address + 4096);
		model_branch(
			model, (enum model_branch_kind)(i % 6), code, code + 4, code ^ 64, i & 1);
	}
	model_sync(model);
	if (!counts[0][EV_INSTRUCTIONS])
		abort();
	free(memory);
}

/* A name leads to no other directory. */
static void look_for(const uint8_t *data, size_t size)
{
	char name[100];
	struct machine m;
	struct error e = {0};

	if (size >= sizeof(name))
		size = sizeof(name) - 1;
	memcpy(name, data, size);
	name[size] = '\0';
	if (machine_ours(name, &m, &e) != 1 && strchr(name, '/'))
		abort();
	machine_ours_missing(name, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = {0}, again = {0};
	struct machine m, twin;
	struct scratch file;
	struct error e = {0};

	look_for(data, size);
	if (machine_parse((const char *)data, size, "input", &m, &e)) {
		if (!e.message[0] || e.code == ERR_NONE)
			abort();
		return 0;
	}
	machine_print(&m, &text);
	if (machine_parse(strbuf_text(&text), text.length, "input", &twin, &e))
		abort();
	machine_print(&twin, &again);
	if (strcmp(strbuf_text(&text), strbuf_text(&again)) ||
		memcmp(&m.model, &twin.model, sizeof(m.model)))
		abort();
	strbuf_fini(&text);
	strbuf_fini(&again);
	if (model_check(&m.model))
		abort();
	model_a_little(&m);
	if (scratch_open(&file, data, size) == 0) {
		if (machine_load(file.path, &twin, &e))
			abort();
		scratch_close(&file);
	}
	return 0;
}
