/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the kernel taken apart; segments; address spaces as records build them up; names. */
#include <elf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../metrics.h"
#include "../tap.h"
#include <unistd.h>

#include "collect/collect_symbols.h"
#include "collect/data_samples.h"
#include "collect/kernel_names.h"
#include "collect/records.h"
#include "collect/segments.h"
#include "collect/spaces.h"
#include "experiment/data.h"

static const struct record_format flat = {
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME};
static const struct record_format deep = {
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
		       PERF_SAMPLE_STACK_USER,
	.registers = 3};

/* A record being written. */
struct writer {
	uint64_t words[64];
	size_t count;
};

static struct writer begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	struct writer w = {.count = 1};

	memcpy(&w.words[0], &h, sizeof(h));
	return w;
}

static void put(struct writer *w, uint64_t word)
{
	w->words[w->count++] = word;
}

static uint64_t pair(uint32_t a, uint32_t b)
{
	return (uint64_t)b << 32 | a;
}

static void put_text(struct writer *w, const char *text)
{
	size_t words = strlen(text) / 8 + 1;

	memset(&w->words[w->count], 0, words * 8);
	memcpy(&w->words[w->count], text, strlen(text));
	w->count += words;
}

static size_t end(struct writer *w)
{
	struct perf_event_header *h = (void *)w->words;

	h->size = (uint16_t)(8 * w->count);
	return h->size;
}

static void test_samples(void)
{
	struct writer w = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	struct record r;
	size_t size, accepted = 0;

	put(&w, 0x401000);
	put(&w, pair(7, 8));
	put(&w, 12345);
	size = end(&w);
	is_int(record_parse(w.words, size, &flat, &r), 0, "a flat sample");
	ok(r.sample.ip == 0x401000 && r.pid == 7 && r.tid == 8 && r.time == 12345, "its fields");
	is_int(record_time(w.words, size, &flat), 12345, "its time alone");
	is_int(record_parse(w.words, size - 8, &flat, &r), -1, "cut short");

	w = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put(&w, 99);
	put(&w, 0x401000);
	put(&w, pair(7, 8));
	put(&w, 12345);
	put(&w, 2);
	put(&w, (uint64_t)PERF_CONTEXT_USER);
	put(&w, 0x401000);
	put(&w, PERF_SAMPLE_REGS_ABI_64);
	put(&w, 11);
	put(&w, 22);
	put(&w, 16);
	put(&w, 0xaa);
	put(&w, 0xbb);
	put(&w, 8);
	size = end(&w);
	is_int(record_parse(w.words, size, &deep, &r), 0, "a sample with all that there is");
	ok(r.id == 99 && r.sample.chain_length == 2 && r.sample.registers[1] == 22, "its fields");
	is_int(r.sample.stack_size, 8, "as much stack as the kernel could copy");
	is_int(record_time(w.words, size, &deep), 12345, "its time behind the identifier");
	for (size_t cut = 8; cut < size; cut += 8)
		accepted += record_parse(w.words, cut, &deep, &r) == 0;
	is_int(accepted, 0, "no part of it is taken for a whole one");
	w.words[5] = UINT64_MAX / 8;
	is_int(record_parse(w.words, size, &deep, &r), -1, "a chain longer than the record");
	w.words[5] = 2;
	w.words[11] = UINT64_MAX - 7;
	is_int(record_parse(w.words, size, &deep, &r), -1, "a stack longer than the record");
}

/* The flag of build-ids is set, and what is there begins with this word, in place of the one that
 * the record has. */
static void test_build_ids(struct writer *w)
{
	struct record_format asks = flat;
	struct record r;

	asks.build_ids = true;
	w->words[5] = 8 | 0x11ull << 32;
	is_int(record_parse(w->words, end(w), &asks, &r), 0, "a mapping with a short build-id");
	is_int(r.mapping.build_id_length, 8, "is one where the event asks for them");
	is_int(record_parse(w->words, end(w), &flat, &r), 0, "the same of another event");
	is_int(r.mapping.build_id_length, 0, "is a device");
	w->words[5] = 254;
	w->words[6] = 4711;
	is_int(record_parse(w->words, end(w), &asks, &r), 0, "a length that no build-id has");
	ok(r.mapping.build_id_length == 0 && r.mapping.inode == 4711,
		"is a device, with its inode");
	w->words[5] = 20 | 1ull << 8;
	is_int(record_parse(w->words, end(w), &asks, &r), 0, "a length of more than a byte");
	is_int(r.mapping.build_id_length, 0, "is a device");
}

static void test_others(void)
{
	struct writer w = begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	struct record r;

	put(&w, pair(7, 8));
	put(&w, 0x400000);
	put(&w, 0x2000);
	put(&w, 0x1000);
	put(&w, 20 | 0x11ull << 32); /* length of the build-id, then its bytes */
	put(&w, 0);
	put(&w, 0);
	put(&w, 5);
	put_text(&w, "/bin/true");
	put(&w, pair(7, 8));
	put(&w, 777);
	is_int(record_parse(w.words, end(&w), &flat, &r), 0, "a mapping");
	ok(r.mapping.address == 0x400000 && r.mapping.length == 0x2000 &&
			r.mapping.offset == 0x1000 && r.time == 777,
		"its fields");
	is_str(r.mapping.path, "/bin/true", "its path");
	is_int(r.mapping.build_id_length, 20, "its build-id's length");
	is_int(r.mapping.build_id[0], 0x11, "its build-id");
	test_build_ids(&w);

	w = begin(PERF_RECORD_LOST, 0);
	put(&w, 5);
	put(&w, 1000);
	put(&w, pair(7, 8));
	put(&w, 777);
	is_int(record_parse(w.words, end(&w), &flat, &r), 0, "lost records");
	ok(r.id == 5 && r.lost == 1000, "of which event, and how many");

	w = begin(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put(&w, pair(7, 8));
	w.words[w.count++] = 0x4141414141414141u; /* no end */
	put(&w, pair(7, 8));
	put(&w, 777);
	is_int(record_parse(w.words, end(&w), &flat, &r), -1, "text that does not end");
	w.words[2] = 0x41;
	is_int(record_parse(w.words, end(&w), &flat, &r), 0, "text that does");
	ok(r.comm.exec, "of an exec");

	w = begin(4711, 0);
	put(&w, pair(7, 8));
	put(&w, 777);
	is_int(record_parse(w.words, end(&w), &flat, &r), -1, "a kind that nobody knows");
}

static void test_segments(void)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p[3];
	} file = {.h = {.e_phnum = 3,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phoff = sizeof(Elf64_Ehdr)}};
	struct segments s = {0};

	memcpy(file.h.e_ident, ELFMAG, SELFMAG);
	file.h.e_ident[EI_CLASS] = ELFCLASS64;
	file.p[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = 0x800, .p_vaddr = 0x400000};
	file.p[1] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_offset = 0x1234, .p_filesz = 0x1000, .p_vaddr = 0x502234};
	file.p[2] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = 0, .p_filesz = 0x9000};
	is_int(segments_parse(&s, &file, sizeof(file)), 0, "program headers");
	ok(s.elf && s.list.count == 2, "those that are loaded");
	is_int(segments_address(&s, 0x1300), 0x502300, "an offset in the second");
	is_int(segments_address(&s, 0x1000), 0x502000, "the page's beginning belongs to it");
	is_int(segments_address(&s, 0x100), 0x400100, "in the first");
	is_int(segments_address(&s, 0x90000), 0x90000, "in none");
	segments_fini(&s);
	file.h.e_phnum = 65535;
	file.h.e_phoff = UINT64_MAX - 5;
	is_int(segments_parse(&s, &file, sizeof(file)), 0, "headers that are elsewhere");
	is_int(s.list.count, 0, "are none");
	segments_fini(&s);
}

static void map(struct spaces *s, struct process *p, uint64_t address, uint64_t length,
	uint64_t offset, const char *path)
{
	struct record_mapping m = {
		.address = address, .length = length, .offset = offset, .path = path};

	if (spaces_map(s, p, &m))
		ok(false, "a mapping");
}

static const char *name_at(const struct spaces *s, const struct process *p, uint64_t pc)
{
	const struct mapping *m = spaces_find(p, pc);

	return m ? s->images->list.data[m->image].identity.path : "nothing";
}

enum { CHILD = 5000101 }; /* no process can have this number */

static void test_spaces(void)
{
	struct experiment x;
	struct collect_images images;
	struct spaces s;
	struct process *p, *child;
	struct record r = {.type = PERF_RECORD_FORK, .pid = CHILD, .tid = CHILD, .time = 50};
	struct error e;

	if (!ok(experiment_init(&x, &e) == 0, "an experiment"))
		return;
	images_init(&images, NULL);
	spaces_init(&s, &x, &images);
	s.began = 10;
	p = spaces_add(&s, 100, 1, false, 10);
	is_int(spaces_thread(&s, p, 100), 1, "its thread");
	map(&s, p, 0x1000, 0x4000, 0, "/nowhere/a");
	map(&s, p, 0x2000, 0x1000, 0, "/nowhere/b");
	is_str(name_at(&s, p, 0x1fff), "/nowhere/a", "before what was laid over it");
	is_str(name_at(&s, p, 0x2000), "/nowhere/b", "what was laid over it");
	is_str(name_at(&s, p, 0x3000), "/nowhere/a", "behind");
	is_int(spaces_address(&s, spaces_find(p, 0x3010), 0x3010), 0x2010,
		"where the offset goes on");
	map(&s, p, 0x1800, 0x2000, 0, "/nowhere/c");
	is_str(name_at(&s, p, 0x2000), "/nowhere/c", "b is gone");
	is_str(name_at(&s, p, 0x17ff), "/nowhere/a", "a is there, before");
	is_int(spaces_address(&s, spaces_find(p, 0x3800), 0x3800), 0x2800, "and behind");
	is_str(name_at(&s, p, 0x5000), "nothing", "beyond all");
	is_int(p->mappings.count, 3, "in three pieces");
	r.fork.ppid = r.fork.ptid = 100;
	is_int(spaces_record(&s, &r), 0, "a fork");
	child = spaces_process(&s, CHILD, 60);
	is_str(name_at(&s, child, 0x2000), "/nowhere/c", "has its parent's mappings");
	is_int(x.processes.data[child->index].ppid, 100, "and parent");
	r = (struct record){.type = PERF_RECORD_COMM, .pid = CHILD, .tid = CHILD, .time = 70};
	r.comm.name = "new";
	r.comm.exec = true;
	is_int(spaces_record(&s, &r), 0, "an exec");
	is_str(name_at(&s, child, 0x2000), "nothing", "empties it");
	is_str(x.processes.data[child->index].command, "new", "and names it");
	is_str(name_at(&s, p, 0x2000), "/nowhere/c", "not the parent");
	r = (struct record){.type = PERF_RECORD_EXIT, .pid = CHILD, .tid = CHILD, .time = 90};
	is_int(spaces_record(&s, &r), 0, "an exit");
	is_int(x.processes.data[2].end, 80, "at its time");
	child = spaces_process(&s, CHILD, 95);
	is_int(child->index, 2, "what follows it is the same process's");
	is_str(name_at(&s, child, 0x2000), "nothing", "which has no memory any more");
	is_int(spaces_thread(&s, child, CHILD), 2, "its thread also");
	r = (struct record){.type = PERF_RECORD_FORK, .pid = CHILD, .tid = CHILD, .time = 120};
	r.fork.ppid = r.fork.ptid = 100;
	is_int(spaces_record(&s, &r), 0, "its number is another's");
	is_int(spaces_process(&s, CHILD, 130)->index, 3, "which has a row of its own");
	is_int(x.processes.data[2].end, 80, "and the first ended when it did");
	spaces_fini(&s);
	images_fini(&images);
	experiment_fini(&x);
}

static long long sampled_data[16];

/* What the processor says was accessed, in this very process. */
static void test_data(void)
{
	struct experiment x;
	struct collect_images images;
	struct spaces s;
	const struct process *p;
	struct error e;
	const struct experiment_metric metric =
		METRIC_MISSES("pmu", "", LABEL_MEASURED, METRIC_DATA, 131);
	const struct experiment_touch *t;
	long node;

	sampled_data[0] = 1;
	if (!ok(experiment_init(&x, &e) == 0 && experiment_metric(&x, &metric, &e) == 0,
		    "an experiment with data"))
		return;
	images_init(&images, NULL);
	spaces_init(&s, &x, &images);
	p = spaces_add(&s, getpid(), 1, true, 10);
	node = experiment_node(&x, 0, 0, 0x1234);
	for (int i = 0; i < 3; i++)
		is_int(data_sample(&s, p, 0, (uint32_t)node, (uintptr_t)&sampled_data[2 * i]), 0,
			"a sample of a variable");
	is_int(data_sample(&s, p, 0, (uint32_t)node, (uintptr_t)&x), 0, "one of the stack");
	is_int(data_sample(&s, p, 0, (uint32_t)node, 0), 0, "one without an address");
	is_int(x.objects.count, 2, "the variable, and nobody's");
	is_int(experiment_object_at(&x, 1)->key.kind, EXPERIMENT_OBJECT_VARIABLE, "is one");
	is_int((long long)experiment_object_at(&x, 1)->key.size, sizeof(sampled_data),
		"of its size");
	t = experiment_touch_at(&x, 0);
	ok(t->count == 3 && t->least == 0 && t->most == 32 && t->apart == 16 &&
			t->key.address == 0x1234,
		"its samples, and where they fell");
	is_int(x.data.metrics.data[0].label, LABEL_MEASURED, "measured");
	is_int((long long)x.data.metrics.data[0].period, 131, "each stands for the period");
	spaces_fini(&s);
	images_fini(&images);
	experiment_fini(&x);
}

static const char *symbol_of(const struct experiment *x, uint64_t address)
{
	for (size_t i = 0; i < x->symbols.count; i++) {
		const struct experiment_symbol *s = table_at(&x->symbols, i);

		if (address - s->key.address < s->length)
			return s->name;
	}
	return "none";
}

static void test_symbols(void)
{
	char kallsyms[] = "ffffffff81000000 T _text\nffffffff81000000 T startup_64\n"
			  "ffffffff81000100 t helper\nffffffff81000150 d data\n"
			  "ffffffff81000200 T last\nffffffffc0002000 t second\t[mod]\n"
			  "ffffffffc0001000 t first\t[mod]\nnonsense\n",
	     hidden[] = "0000000000000000 T _text\n0000000000000000 t helper\n",
	     perf_map[] = "1000 20 old\n1000 20 new one\n2000 10 other\nzz\n3000 0 empty\n";
	struct experiment_image kernel = {.kind = EXPERIMENT_IMAGE_KERNEL, .path = (char *)"k"};
	struct experiment_image jit = {.kind = EXPERIMENT_IMAGE_ANONYMOUS, .path = (char *)"j"};
	static const uint64_t pcs[] = {0xffffffff81000010, 0xffffffff81000160, 0xffffffffc0001800};
	struct experiment x;
	struct error e;
	uint32_t k, j;

	if (!ok(experiment_init(&x, &e) == 0, "an experiment"))
		return;
	k = (uint32_t)experiment_image(&x, &kernel, &e);
	j = (uint32_t)experiment_image(&x, &jit, &e);
	for (size_t i = 0; i < 3; i++)
		experiment_node(&x, EXPERIMENT_ROOT, k, pcs[i]);
	experiment_node(&x, EXPERIMENT_ROOT, j, 0x1010);
	experiment_node(&x, EXPERIMENT_ROOT, j, 0x1020);
	is_int(symbols_kallsyms(&x, k, hidden, 0), 0, "addresses that we may not know");
	is_int(x.symbols.count, 0, "name nothing");
	is_int(symbols_kallsyms(&x, k, kallsyms, 0), 0, "the kernel's names");
	is_str(symbol_of(&x, pcs[0]), "_text", "of two names, always the same one");
	is_str(symbol_of(&x, pcs[1]), "helper", "data is no function");
	is_str(symbol_of(&x, pcs[2]), "first [mod]", "modules come in any order");
	is_int(x.symbols.count, 3, "and only what is sampled");
	is_int(symbols_perf_map(&x, j, perf_map), 0, "a JIT's names");
	is_str(symbol_of(&x, 0x1010), "new one", "the last one counts");
	is_str(symbol_of(&x, 0x1020), "none", "an address behind it has none");
	experiment_fini(&x);
}

/* A few lines of the list name the same as all of it. */
static void test_some_symbols(void)
{
	static const char list[] = "0000000000000000 A absolute\n1000 T b\n1000 T a\n"
				   "1010 t one\n1018 d data\n1020 t two\n1020 W weak\n"
				   "1028 r rest\n1030 t three\n1040 T _etext\n"
				   "1050 T later\n0900 t module\t[m]\n",
			  unsorted[] = "1010 t one\n1000 t two\n1040 T _etext\n1050 T later\n";
	struct experiment_image kernel = {.kind = EXPERIMENT_IMAGE_KERNEL, .path = (char *)"k"};
	size_t sorted = kernel_names_sorted(list), differ = 0;
	struct experiment whole, part;
	struct error e;
	uint32_t k;

	is_int((long long)sorted, strstr(list, "1050") - list, "up to the end of the code");
	is_int((long long)kernel_names_sorted(unsorted), 0, "a list in another order");
	for (uint64_t mask = 1; mask < 1 << 9; mask++) {
		uint64_t pcs[9];
		size_t count = 0;
		char *all = strdup(list), *some;

		experiment_init(&whole, &e);
		experiment_init(&part, &e);
		k = (uint32_t)experiment_image(&whole, &kernel, &e);
		experiment_image(&part, &kernel, &e);
		for (unsigned i = 0; i < 9; i++)
			if (mask >> i & 1)
				pcs[count++] = 0x1000 + 7 * i;
		for (size_t i = 0; i < count; i++) {
			experiment_node(&whole, EXPERIMENT_ROOT, k, pcs[i]);
			experiment_node(&part, EXPERIMENT_ROOT, k, pcs[i]);
		}
		some = kernel_names_some(list, sorted, pcs, count);
		symbols_kallsyms(&whole, k, all, 0);
		symbols_kallsyms(&part, k, some, 0);
		for (size_t i = 0; i < count; i++)
			differ += strcmp(symbol_of(&whole, pcs[i]), symbol_of(&part, pcs[i])) != 0;
		experiment_fini(&whole);
		experiment_fini(&part);
		free(all);
		free(some);
	}
	is_int((long long)differ, 0, "lines around addresses name as the whole list does");
}

/* Is the name in /tmp/perf-PID.map of this process taken? Both files are named. */
static bool names_code(void)
{
	struct experiment_image jit = {.kind = EXPERIMENT_IMAGE_ANONYMOUS, .path = (char *)"j"};
	struct experiment x;
	uint32_t j;
	bool named;

	if (experiment_init(&x, NULL))
		return false;
	j = (uint32_t)experiment_image(&x, &jit, NULL);
	experiment_node(&x, EXPERIMENT_ROOT, j, 0x1010);
	named = symbols_jit(&x, j, getpid()) == 0 && x.symbols.count == 1;
	experiment_fini(&x);
	return named;
}

static void test_strangers(void)
{
	char path[64], beside[80];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(beside, sizeof(beside), "%s.beside", path);
	f = fopen(path, "w");
	if (!f || fputs("1000 20 name\n", f) < 0 || fclose(f)) {
		skip("/tmp cannot be written");
		return;
	}
	ok(names_code(), "the map of a process is read");
	if (geteuid() == 0 && chown(path, 65534, 65534) == 0)
		ok(!names_code(), "a stranger's is not");
	ok(rename(path, beside) == 0 && symlink(beside, path) == 0 && !names_code(),
		"nor is a link followed");
	unlink(path);
	unlink(beside);
	alarm(60);
	ok(mkfifo(path, 0666) == 0 && !names_code(), "a pipe is not waited for");
	alarm(0);
	unlink(path);
}

int main(void)
{
	test_samples();
	test_others();
	test_segments();
	test_spaces();
	test_data();
	test_symbols();
	test_some_symbols();
	test_strangers();
	return done();
}
