/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of counts as processes leave them, whenever they die. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../tap.h"
#include "model/wire/shared.h"
#include "sources/clock_sums.h"
#include "sources/model_counts.h"

enum { SLOTS = 8 };
static char directory[] = "/tmp/perfex-counts.XXXXXX";
static char path[sizeof(directory) + 32];

static struct {
	struct model_shared head;
	struct model_shared_slot slots[SLOTS];
} f;

static void fresh(void)
{
	memset(&f, 0, sizeof(f));
	f.head.magic = MODEL_SHARED_MAGIC;
	f.head.version = MODEL_SHARED_VERSION;
	f.head.pid = 7;
	f.head.slot_count = SLOTS;
	f.slots[0].state = MODEL_SLOT_FOLDED;
	f.slots[1].state = MODEL_SLOT_JOURNAL;
	f.slots[0].counts[3] = 100;
	f.slots[1].counts[3] = 5000;
	f.slots[2].state = f.slots[3].state = MODEL_SLOT_ENDED;
	f.slots[2].tid = 8;
	f.slots[3].tid = 9;
	f.slots[2].counts[3] = 20;
	f.slots[3].counts[3] = 3;
	f.slots[3].counts[4] = 1;
}

/* Writes f, and reads it; locked: as if its process lived. */
static uint64_t total(bool locked, int event, struct model_counts *c)
{
	struct error e = {0};
	struct model_sums sums;
	uint64_t n;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	ok(write(fd, &f, sizeof(f)) == sizeof(f), "a file");
	if (locked)
		flock(fd, LOCK_EX);
	is_int(model_counts_read(c, &sums, &e), 0, "read: %s", e.message);
	n = sums.total[event];
	if (f.head.magic)
		is_int(access(path, F_OK) == 0, locked, locked ? "it stays" : "it is gone");
	model_sums_fini(&sums);
	close(fd);
	unlink(path);
	return n;
}

/* Of two processes, the second still running, less what there was before. */
static void clock_sums(void)
{
	struct model_counts c = {.directory = directory};
	struct quantity causes[MODEL_CAUSES];
	struct model_sums before = {.clock.causes[MODEL_CAUSE_LL].value = 40}, sums;
	struct error e = {0};
	int fd;

	fresh();
	ok(!clock_sums_quantities(&f.head.clock, causes), "nothing was clocked");
	f.head.clock.causes[MODEL_CAUSE_LL].value = 1000;
	f.head.clock.causes[MODEL_CAUSE_MISPREDICT].value = 7;
	total(false, 3, &c);
	f.head.clock.causes[MODEL_CAUSE_LL].value = 500;
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	ok(write(fd, &f, sizeof(f)) == sizeof(f), "another process");
	flock(fd, LOCK_EX);
	is_int(model_counts_read(&c, &sums, &e), 0, "both are read: %s", e.message);
	model_sums_subtract(&sums, &before);
	ok(clock_sums_quantities(&sums.clock, causes), "clocked");
	is_near(causes[MODEL_CAUSE_LL].value, 1460, 1e-9, "cycles of a cause add up");
	is_near(causes[MODEL_CAUSE_LL].low, 1460, 1e-9, "every cycle was clocked");
	is_near(causes[MODEL_CAUSE_MISPREDICT].value, 14, 1e-9, "those of another cause, too");
	is_near(causes[MODEL_CAUSE_BASE].value, 0, 1e-9, "others took none");
	is_int(causes[MODEL_CAUSE_LL].label, LABEL_MODEL, "label");
	sums.clock.windows = 100;
	sums.clock.causes[MODEL_CAUSE_LL].variance = 400;
	clock_sums_quantities(&sums.clock, causes);
	ok(causes[MODEL_CAUSE_LL].low > 1460 - 2 * 20 &&
			causes[MODEL_CAUSE_LL].low < 1460 - 1.9 * 20 &&
			causes[MODEL_CAUSE_LL].high > 1460 + 1.9 * 20,
		"of windows: the interval of their variance");
	model_sums_fini(&sums);
	model_counts_fini(&c);
	close(fd);
	unlink(path);
}

int main(void)
{
	struct model_counts c = {.directory = directory, .per_thread = true};
	struct model_sums sums;
	struct error e = {0};

	if (!mkdtemp(directory))
		return 1;
	snprintf(path, sizeof(path), "%s/%s7.0", directory, MODEL_SHARED_PREFIX);
	fresh();
	is_int((long)total(true, 3, &c), 123, "all slots but the journal");
	f.head.folds = 1;
	is_int((long)total(true, 3, &c), 0, "while threads are being added up: nothing yet");
	is_int((long)total(false, 3, &c), 123, "died before the first was");
	model_counts_fini(&c);

	/* Slot 2 is being added: the journal has the sum, slot 0 not yet or already. */
	fresh();
	f.head.folds = 1;
	f.head.folding = 2;
	f.slots[1].counts[3] = 120;
	is_int((long)total(false, 3, &c), 123, "died with the journal written");
	model_counts_fini(&c);
	f.slots[0].counts[3] = 120;
	is_int((long)total(false, 3, &c), 123, "died with the sum written");
	model_counts_fini(&c);
	f.slots[2].counts[3] = 0;
	is_int((long)total(false, 3, &c), 123, "died with the slot half empty");
	model_counts_fini(&c);
	f.head.folding = 77;
	is_int((long)total(false, 3, &c), 123, "a slot that there is not");

	is_int(model_counts_read(&c, &sums, &e), 0, "later: %s", e.message);
	is_int((long)sums.total[3], 123, "what ended stays in the sum");
	is_int((long)sums.total[4], 1, "every event of it");
	model_sums_fini(&sums);
	model_counts_fini(&c);
	memset(&f, 0, sizeof(f));
	is_int((long)total(false, 3, &c), 0, "a file with nothing in it yet");
	model_counts_fini(&c);
	clock_sums();
	rmdir(directory);
	return done();
}
