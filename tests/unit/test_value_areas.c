/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory of a process windows may read and write: the kernel is asked for one area, or its
 * list of all is read where it cannot be asked. Both say the same of this process.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tap.h"
#include "base/proc.h"
#include "base/vec.h"
#include "values/private.h"

#define PAGES 4

static struct snapshot asked, listed;
static int memory;

struct area {
	uint64_t begin, end;
	bool reads, writes;
};

static VEC(struct area) areas;

/* As the process has them now. */
static void list_own(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[1024];

	areas.count = 0;
	while (file && fgets(line, sizeof(line), file)) {
		struct proc_mapping m;

		line[strcspn(line, "\n")] = '\0';
		if (proc_mapping(line, &m))
			vec_add(&areas, ((struct area){m.begin, m.end, m.mode[0] == 'r',
						m.mode[1] == 'w'}));
	}
	if (file)
		fclose(file);
}

static void begin_both(void)
{
	snapshot_begin(&asked, getpid(), memory);
	snapshot_begin(&listed, getpid(), memory);
}

/* Bits: it can be read, and written. */
static int may(struct snapshot *s, uint64_t address)
{
	uint8_t byte;
	int reads = snapshot_read(s, address, &byte, 1);

	return reads | (reads && snapshot_write(s, address, &byte, 1)) << 1;
}

static bool both_may(uint64_t address, int *how)
{
	*how = may(&asked, address);
	return may(&listed, address) == *how;
}

static void test_all(void)
{
	unsigned differ = 0, read = 0, written = 0;
	int how;

	list_own();
	begin_both();
	for (size_t i = 0; i < areas.count; i++) {
		const struct area *a = &areas.data[i];
		const uint64_t at[] = {
			a->begin - 1, a->begin, (a->begin + a->end) / 2, a->end - 1, a->end};

		for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
			differ += !both_may(at[k], &how);
			read += how & 1;
			written += how >> 1;
			differ +=
				k >= 1 && k <= 3 && ((how & 1) > a->reads || how >> 1 > a->writes);
		}
	}
	is_int(differ, 0, "%zu areas are the same", areas.count);
	ok(read > 10 && written > 3 && written < read, "%u can be read, %u written", read, written);
	ok(!asked.maps == asked.unasked && !listed.maps, "the kernel was asked for one of them");
}

/* What changes between windows, and within one. */
static void test_changes(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)p;
	int how;

	begin_both();
	ok(both_may(at, &how) && how == 1, "memory that is read only");
	mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE);
	begin_both();
	ok(both_may(at + PAGE, &how) && how == 3, "a page of it has become writable");
	ok(both_may(at, &how) && how == 1, "and others have not");
	ok(both_may(at + 2 * PAGE, &how) && how == 1, "on either side");
	munmap(p + 2 * PAGE, 2 * PAGE);
	begin_both();
	ok(both_may(at + 3 * PAGE, &how) && how == 0, "some are not there any more");
	mprotect(p, 2 * PAGE, PROT_NONE);
	snapshot_forget(&asked, getpid());
	snapshot_forget(&listed, getpid());
	begin_both();
	ok(both_may(at, &how) && how == 0, "nothing can be read after another program began");
	munmap(p, 2 * PAGE);
}

int main(void)
{
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	snapshot_init(&asked);
	snapshot_init(&listed);
	listed.unasked = true;
	test_all();
	test_changes();
	snapshot_fini(&asked);
	snapshot_fini(&listed);
	vec_fini(&areas);
	close(memory);
	return done();
}
