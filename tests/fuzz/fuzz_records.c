/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the kernel's rings, program headers and lists of symbols: any bytes are taken apart
 * without harm.  The first byte says what the rest is. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect_symbols.h"
#include "collect/records.h"
#include "collect/segments.h"
#include "image/image.h"

#include "scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long sum;

static void take_record(const uint8_t *data, size_t size, bool deep)
{
	struct record_format f = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.registers = 0x1ffff};
	uint64_t *copy = malloc(size + 8);
	struct record r;

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (deep)
		f.sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN |
				 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (size >= 8)
		sum += record_time(copy, size, &f);
	if (record_parse(copy, size, &f, &r) == 0) {
		if (r.type == PERF_RECORD_MMAP2)
			sum += strlen(r.mapping.path);
		if (r.type == PERF_RECORD_COMM)
			sum += strlen(r.comm.name);
		for (size_t i = 0; r.type == PERF_RECORD_SAMPLE && i < r.sample.chain_length; i++)
			sum += r.sample.chain[i];
		for (size_t i = 0; r.type == PERF_RECORD_SAMPLE && i < r.sample.stack_size; i++)
			sum += r.sample.stack[i];
	}
	free(copy);
}

static void take_dump(const uint8_t *data, size_t size)
{
	struct experiment x;
	struct scratch file;

	if (experiment_init(&x, NULL))
		return;
	experiment_node(&x, EXPERIMENT_ROOT, 0, 0x1000);
	symbols_jitdump(&x, 0, data, size);
	if (scratch_open(&file, data, size) == 0) {
		symbols_jitdump_file(&x, 0, getpid(), file.path);
		scratch_close(&file);
	}
	experiment_fini(&x);
}

static void take_names(const uint8_t *data, size_t size, bool kernel)
{
	char *text = malloc(size + 1);
	struct experiment x;

	if (text && experiment_init(&x, NULL) == 0) {
		memcpy(text, data, size);
		text[size] = '\0';
		experiment_node(&x, EXPERIMENT_ROOT, 0, 0x1000);
		experiment_node(&x, EXPERIMENT_ROOT, 0, 0xffffffff81000010);
		if (kernel)
			symbols_kallsyms(&x, 0, text, 0);
		else
			symbols_perf_map(&x, 0, text);
		experiment_fini(&x);
	}
	free(text);
}

/* Names that the kernel and its object in our memory have, and a map of our own. */
static void take_own(const uint8_t *data, size_t size)
{
	struct image *vdso = image_open_memory(data, size, "vdso", NULL);
	struct experiment x;
	char path[40];
	FILE *map;

	if (experiment_init(&x, NULL) == 0) {
		experiment_node(&x, EXPERIMENT_ROOT, 0, 0x1000);
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		map = fopen(path, "wx");
		if (map) {
			fwrite(data, 1, size, map);
			fclose(map);
			symbols_jit(&x, 0, getpid());
			unlink(path);
		}
		symbols_vdso(&x, 0, vdso);
		experiment_fini(&x);
	}
	image_close(vdso);
}

static void take_kernel(void)
{
	static bool taken;
	struct experiment x;

	if (taken || experiment_init(&x, NULL))
		return;
	taken = true;
	experiment_node(&x, EXPERIMENT_ROOT, 0, 0xffffffff81000010);
	symbols_kernel(&x, 0);
	experiment_fini(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segments s = {0};

	if (size < 1)
		return 0;
	switch (data[0] < 0x80 ? data[0] % 5 : 5) {
	case 0:
	case 1:
		take_record(data + 1, size - 1, data[0] % 5);
		break;
	case 2:
		segments_parse(&s, data + 1, size - 1);
		sum += segments_address(&s, size);
		segments_fini(&s);
		take_own(data + 1, size - 1);
		break;
	case 5:
		take_dump(data + 1, size - 1);
		break;
	default:
		take_names(data + 1, size - 1, data[0] % 5 == 3);
		take_kernel();
	}
	return 0;
}
