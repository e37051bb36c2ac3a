/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/model/tlb.c: what a kernel, or its hypervisor, leaves of translations. */
#include "../tap.h"
#include "model_machine.h"

enum { PAGE = 4096, PAGES = 8 };

static struct run run;

static uint64_t walks(void)
{
	model_sync(run.model);
	return run.counts[EV_DTLB_WALKS];
}

/* Walks of one load from each of `count` pages. */
static uint64_t walks_of(uint64_t first, uint64_t count)
{
	uint64_t before = walks();

	for (uint64_t i = 0; i < count; i++)
		model_load(run.model, (first + i) * PAGE + i * 64, 8);
	return walks() - before;
}

static void begin(uint32_t kernel_flush)
{
	struct model_config c = zen4();

	c.execution.kernel_flush = kernel_flush;
	run_begin(&run, &c);
	walks_of(100, PAGES);
	walks_of(100, PAGES);
}

int main(void)
{
	begin(0);
	model_system_call(run.model);
	is_int((int)walks_of(100, PAGES), 0, "a kernel that leaves translations");
	walks_of(200, 1);
	is_int((int)walks_of(100, PAGES), 0, "also at a page fault");
	run_end(&run);

	begin(50);
	is_int((int)walks_of(100, PAGES), 0, "no call: all are there");
	model_system_call(run.model);
	is_int((int)walks_of(100, PAGES), PAGES, "a system call leaves none");
	is_int((int)walks_of(100, PAGES), 0, "they come back");
	is_int((int)walks_of(200, 1), 1, "the first access to a page");
	is_int((int)walks_of(100, PAGES), 0, "which are still there");
	is_int((int)walks_of(300, 1), 1, "until another page is looked for");
	is_int((int)walks_of(100, PAGES), PAGES, "then there are none: it was a page fault");
	walks_of(100, PAGES);
	is_int((int)walks_of(200, 1), 1, "a page that was accessed before");
	is_int((int)walks_of(100, PAGES), 0, "is no page fault");
	model_unmap(run.model, 200 * PAGE, PAGE);
	model_system_call(run.model);
	walks_of(100, PAGES);
	walks_of(200, 1);
	walks_of(300, 1);
	is_int((int)walks_of(100, PAGES), PAGES, "unless it was given back");
	run_end(&run);
	return done();
}
