/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Monitor without a kernel: records in, a store out; bounded memory; days; failures to write.
 */
#include <dirent.h>
#include <elf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "base/strbuf.h"
#include "experiment/file.h"
#include "image/image.h"
#include "monitor/monitor_clock.h"
#include "monitor/monitor_status.h"

#define MS     1000000u
#define SECOND 1000000000u
#define DAY    (86400 * (uint64_t)SECOND)
#define BEGAN  (20000 * DAY + DAY / 2)

static const struct watch_clock tick = {.period = 4 * MS, .tick = true};
static char scratch[] = "/tmp/perfex-monitor.XXXXXX";

/* ---- records ---- */

static void take_task(struct watch *w, uint32_t type, pid_t pid, pid_t ppid)
{
	struct record r = {.type = type, .pid = pid, .tid = pid, .time = SECOND};

	r.fork.ppid = r.fork.ptid = ppid;
	if (monitor_watch_take(w, &r))
		ok(false, "memory is out");
}

static void take_exec_of(
	struct watch *w, pid_t pid, const char *path, const uint8_t *build_id, uint64_t inode)
{
	struct record r = {.type = PERF_RECORD_COMM, .pid = pid, .tid = pid, .time = SECOND};

	r.comm.name = "program";
	r.comm.exec = true;
	if (monitor_watch_take(w, &r))
		ok(false, "memory is out");
	r = (struct record){.type = PERF_RECORD_MMAP2,
		.pid = pid,
		.tid = pid,
		.time = SECOND,
		.misc = PERF_RECORD_MISC_USER};
	r.mapping = (struct record_mapping){.address = 0x400000,
		.length = 0x10000,
		.path = path,
		.build_id = build_id,
		.build_id_length = build_id ? 20 : 0,
		.inode = inode};
	if (monitor_watch_take(w, &r))
		ok(false, "memory is out");
}

static void take_exec(struct watch *w, pid_t pid, const char *path, const uint8_t *build_id)
{
	take_exec_of(w, pid, path, build_id, 0);
}

static uint64_t sample_period; /* interrupts for each sample; 0: not known */

static void take_sample(struct watch *w, pid_t pid, uint64_t time, uint64_t pc, uint64_t cx)
{
	const uint64_t registers[] = {cx, pc};
	struct record r = {.type = PERF_RECORD_SAMPLE,
		.pid = pid,
		.tid = pid,
		.time = time,
		.misc = PERF_RECORD_MISC_KERNEL};

	r.sample.period = sample_period;
	r.sample.registers = pid ? registers + (WATCH_REGISTERS == 0x104 ? 0 : 1) : NULL;
	r.sample.register_mask = WATCH_REGISTERS;
	if (monitor_watch_take(w, &r))
		ok(false, "memory is out");
}

/* An ELF file. Without build-id, its contents tell it from others. */
static const char *make_image_with(const char *name, const uint8_t *build_id)
{
	static char path[128];
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment, notes;
		Elf64_Nhdr note;
		char owner[4];
		uint8_t build_id[20];
		char text[64];
	} file = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				   EV_CURRENT},
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(Elf64_Ehdr),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1},
		.segment = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_vaddr = 0x400000,
			.p_filesz = 0x20000,
			.p_memsz = 0x20000},
		.notes = {.p_type = PT_NOTE,
			.p_offset = offsetof(__typeof__(file), note),
			.p_filesz = sizeof(Elf64_Nhdr) + 24},
		.note = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID},
		.owner = "GNU"};
	FILE *f;

	if (build_id) {
		file.head.e_phnum = 2;
		memcpy(file.build_id, build_id, sizeof(file.build_id));
	}

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	snprintf(file.text, sizeof(file.text), "%s", name);
	f = fopen(path, "we");
	ok(f && fwrite(&file, sizeof(file), 1, f) == 1 && fclose(f) == 0, "an image");
	return path;
}

static const char *make_image(const char *name)
{
	return make_image_with(name, NULL);
}

/* ---- the store ---- */

struct sums {
	uint64_t samples;
	size_t images, files;
};

static struct sums stored(const struct store *s)
{
	struct sums sums = {0};
	store_images images;
	struct error e;

	ok(store_list(s, &images, &e) == 0, "the store is listed");
	for (size_t i = 0; i < images.count; i++)
		for (size_t k = 0; k < images.data[i].files.count; k++) {
			struct experiment x;

			sums.files++;
			if (experiment_read(&x, images.data[i].files.data[k].path, NULL, &e))
				continue;
			for (size_t j = 0; j < x.samples.count; j++)
				sums.samples += experiment_sample_at(&x, j)->count;
			experiment_fini(&x);
		}
	sums.images = images.count;
	store_images_fini(&images);
	return sums;
}

static void open_store(struct store *s, const char *name)
{
	char path[128];
	struct error e = {0};

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	ok(store_open(s, path, true, &e) == 0, "a store");
}

/* All steps of it. */
static int write_all(struct watch *w, struct store *s, const struct watch_clock *clock,
	uint64_t now, struct error *e)
{
	struct watch_part part;
	int rc;

	if (monitor_watch_detach(w, &part, clock, now, SECOND))
		return -1;
	monitor_watch_put(&part, s);
	rc = part.failed;
	*e = part.why;
	return monitor_watch_settle(w, &part) || spaces_trim(&w->spaces) ? -1 : rc;
}

/* ---- tests ---- */

static void test_samples(void)
{
	struct watch w;
	struct store s;
	struct error e;
	struct sums sums;

	open_store(&s, "samples");
	ok(monitor_watch_init(&w, &tick, BEGAN) == 0, "a watch");
	take_task(&w, PERF_RECORD_FORK, 7, 1);
	take_exec(&w, 7, make_image("a"), NULL);
	take_sample(&w, 7, 1 * SECOND, 0x401000, 1);
	take_sample(&w, 7, 2 * SECOND, 0x401000, 1);
	take_sample(&w, 7, 3 * SECOND, 0x401010, 1);
	take_sample(&w, 7, 4 * SECOND, 0x401010, 0x401010);
	take_sample(&w, 7, 5 * SECOND, 0x900000, 1);
	take_sample(&w, 0, 6 * SECOND, 0, 0);
	is_int(w.counts.records, 6, "samples of all kinds");
	is_int(w.counts.user + w.counts.system, 5, "of programs");
#if defined(__x86_64__)
	is_int(w.counts.system, 1, "behind a system call, a sample is the kernel's");
#endif
	is_int(w.counts.unmapped, 1, "one in no mapping");
	is_int(w.counts.idle, 1, "one of an idle processor");
	is_int(w.experiment.nodes.count - 1, 2, "addresses");
	ok(write_all(&w, &s, &tick, BEGAN + SECOND, &e) == 0, "written");
	is_int(w.counts.stored, 4, "all that have an address");
	sums = stored(&s);
	ok(sums.samples == 4 && sums.images == 1 && sums.files == 1, "the store has them");
	is_int(w.experiment.nodes.count - 1, 0, "another interval began");
	ok(write_all(&w, &s, &tick, BEGAN + SECOND, &e) == 0, "an empty one");
	is_int(stored(&s).files, 1, "writes nothing");
	monitor_watch_fini(&w);
	store_close(&s);
}

/* Numbers of processes that there cannot be. */
#define NOBODY ((pid_t)1 << 23)

static uint64_t inode_of(const char *path)
{
	struct stat st = {0};

	stat(path, &st);
	return (uint64_t)st.st_ino;
}

/* Until its time of change is another. */
static void touch(const char *path)
{
	struct stat before = {0}, after = {0};

	stat(path, &before);
	do {
		chmod(path, 0755);
		stat(path, &after);
	} while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
		 after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
}

/* What has the name of a file without build-id when it is sampled may be another one. */
static void test_replaced(void)
{
	char path[128], other[128];
	struct record_mapping listed = {.address = 0x400000, .length = 0x10000, .path = path};
	struct process *p;
	struct watch w;

	monitor_watch_init(&w, &tick, BEGAN);
	snprintf(path, sizeof(path), "%s", make_image("program"));
	snprintf(other, sizeof(other), "%s", make_image("another"));
	take_exec_of(&w, NOBODY, path, NULL, inode_of(path));
	ok(!w.images.list.data[0].looked, "it is not examined before it is sampled");
	ok(rename(other, path) == 0, "it is replaced");
	take_sample(&w, NOBODY, 1 * SECOND, 0x401000, 1);
	is_int(w.counts.gone, 1, "a sample of it is not the other's");
	take_exec_of(&w, NOBODY + 1, path, NULL, inode_of(path));
	take_sample(&w, NOBODY + 1, 2 * SECOND, 0x401000, 1);
	is_int(w.counts.gone, 1, "one of the other is");
	is_int(w.experiment.nodes.count - 1, 1, "and is kept");
	touch(path);
	take_exec_of(&w, NOBODY + 2, path, NULL, inode_of(path));
	touch(path);
	take_sample(&w, NOBODY + 2, 3 * SECOND, 0x401000, 1);
	is_int(w.counts.gone, 2, "nor is one of a file that was changed before it was sampled");
	w.wall = 1;
	take_exec_of(&w, NOBODY + 3, path, NULL, inode_of(path));
	take_sample(&w, NOBODY + 3, 4 * SECOND, 0x401000, 1);
	is_int(w.counts.gone, 3, "nor of one that was changed before its mapping was known");
	touch(path);
	listed.inode = inode_of(path);
	p = spaces_process(&w.spaces, NOBODY + 4, 5 * SECOND);
	ok(p && spaces_map(&w.spaces, p, &listed) == 0, "a process is found by /proc");
	take_sample(&w, NOBODY + 4, 6 * SECOND, 0x401000, 1);
	is_int(w.counts.gone, 3, "the time of another process's record says nothing of its file");
	monitor_watch_fini(&w);
}

/* Two files have a name in turn, until the process is killed. */
static pid_t take_turns(const char *one, const char *other, const char *name)
{
	char next[160];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	alarm(60); /* if nobody kills it */
	snprintf(next, sizeof(next), "%s.next", name);
	for (bool first = true;; first = !first)
		if (link(first ? one : other, next) || rename(next, name))
			_exit(1);
}

/* A file that is replaced while it is read has its own identity, or none. */
static void test_turns(void)
{
	char one[128], other[128], name[128];
	uint8_t build_id[EXPERIMENT_BUILD_ID_MAX];
	uint64_t size, fingerprint = 0;
	size_t length, wrong = 0;
	int status = 0;
	pid_t pid;

	snprintf(one, sizeof(one), "%s", make_image("one"));
	snprintf(other, sizeof(other), "%s", make_image("other"));
	snprintf(name, sizeof(name), "%s", make_image("name"));
	image_identify(one, build_id, &length, &size, &fingerprint, NULL);
	ok(fingerprint != 0, "a file without build-id");
	pid = take_turns(one, other, name);
	for (int i = 0; i < 5000; i++) {
		const struct record_mapping m = {.address = 0x400000,
			.length = 0x10000,
			.path = name,
			.inode = inode_of(one)};
		struct collect_images images;
		const struct experiment_image *id;

		images_init(&images, NULL);
		images_find(&images, NOBODY, &m);
		id = &images.list.data[0].identity;
		wrong += id->kind == EXPERIMENT_IMAGE_ELF && id->fingerprint != fingerprint;
		images_fini(&images);
	}
	ok(pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid &&
			WIFSIGNALED(status),
		"it was replaced all the time");
	is_int(wrong, 0, "none has the identity of the other");
}

/* Timers of programs come between the ticks: as much time is counted as has passed. */
static void test_early(void)
{
	enum { TICKS = 20000, BETWEEN = 4 };
	uint64_t time = SECOND;
	struct watch w;
	double counted;

	monitor_watch_init(&w, &tick, BEGAN);
	take_task(&w, PERF_RECORD_FORK, 7, 1);
	take_exec(&w, 7, make_image("a"), NULL);
	for (int i = 0; i < TICKS; i++)
		for (int k = 1; k <= BETWEEN; k++)
			take_sample(
				&w, 7, time + (uint64_t)i * 4 * MS + (uint64_t)k * MS, 0x401000, 1);
	is_int(w.counts.user + w.counts.early, (long)TICKS * BETWEEN, "none is lost");
	counted = (double)w.counts.user;
	/* the sum of TICKS * BETWEEN chances of 1/4: six standard deviations */
	ok(counted > TICKS - 6 * 123 && counted < TICKS + 6 * 123, "%.0f of %d ticks are counted",
		counted, TICKS);
	monitor_watch_fini(&w);
}

/* So many that the kernel records one of several. */
static void test_sparse(void)
{
	enum { SAMPLES = 20000, MANY = 50 };
	struct watch w;
	uint64_t time;
	double counted;

	monitor_watch_init(&w, &tick, BEGAN);
	take_task(&w, PERF_RECORD_FORK, 7, 1);
	take_exec(&w, 7, make_image("a"), NULL);
	take_sample(&w, 7, SECOND, 0x401000, 1);
	sample_period = MANY;
	for (time = SECOND; time < SECOND + (uint64_t)SAMPLES * MS; time += MS)
		take_sample(&w, 7, time + MS, 0x401000, 1);
	counted = (double)w.counts.user;
	/* a quarter of a period each: six standard deviations of the sum of chances */
	ok(counted > SAMPLES / 4 - 6 * 62 && counted < SAMPLES / 4 + 6 * 62,
		"%.0f of %d ticks are counted", counted, SAMPLES / 4);
	take_sample(&w, 7, time + 10 * 4 * MS, 0x401000, 1);
	is_int(w.counts.user - (uint64_t)counted, 10, "ten ticks by one sample of fifty");
	take_sample(&w, 7, time + 20 * SECOND, 0x401000, 1);
	is_int(w.counts.user - (uint64_t)counted - 10, MANY, "then the processor was idle");
	is_int(w.experiment.samples.count, 1, "all at one address");
	is_int(experiment_sample_at(&w.experiment, 0)->count, w.counts.user, "are its samples");
	sample_period = 0;
	monitor_watch_fini(&w);
}

/* Programs come and go, each from a file of its own. */
static void test_storm(void)
{
	enum { STORM = 100000 };
	size_t processes = 0, images = 0, waiting = 0;
	bool filled = false;
	uint8_t build_id[20] = {0};
	struct watch w;
	struct store s;
	struct error e;

	open_store(&s, "storm");
	monitor_watch_init(&w, &tick, BEGAN);
	for (int i = 0; i < STORM; i++) {
		pid_t pid = 1000000 + i;
		char path[64];

		memcpy(build_id, &i, sizeof(i));
		snprintf(path, sizeof(path), "/nowhere/%d", i);
		take_task(&w, PERF_RECORD_FORK, pid, 1);
		take_exec(&w, pid, path, build_id);
		take_sample(&w, pid, (uint64_t)(i + 2) * SECOND, 0x401000, 1);
		if (i % 16) /* some ends are never heard of */
			take_task(&w, PERF_RECORD_EXIT, pid, 1);
		monitor_watch_trim(&w);
		if (w.spaces.processes.count > processes)
			processes = w.spaces.processes.count;
		if (w.images.list.count > images)
			images = w.images.list.count;
		if (w.waiting.count > waiting)
			waiting = w.waiting.count;
		filled |= i < 8000 && monitor_watch_fills(&w);
	}
	ok(processes < 10000, "%zu entries of processes at most", processes);
	ok(images < 10000, "%zu images at most", images);
	ok(waiting < 10000, "%zu samples wait for their files at most", waiting);
	ok(write_all(&w, &s, &tick, BEGAN + SECOND, &e) == 0, "written");
	ok(filled, "it is time to write long before");
	is_int(w.counts.gone, 0, "their build-ids are known");
	is_int(w.counts.stored + w.counts.dropped, STORM, "what there was no room for is counted");
	is_int(w.counts.stored, WATCH_IMAGES - 1, "the rest is kept");
	ok(stored(&s).images == 1 && stored(&s).files == 1, "in one place");
	is_int(stored(&s).samples, WATCH_IMAGES - 1, "of the store");
	monitor_watch_fini(&w);
	store_close(&s);
}

/* Does the store have one sample of what was removed unread, of this image and offset? */
static bool is_removed(
	const struct store *s, const char *path, const uint8_t *build_id, uint64_t offset)
{
	const struct experiment_image *image;
	const struct experiment_node *node;
	store_images images;
	struct experiment x;
	struct error e;
	bool is = false;

	store_list(s, &images, &e);
	for (size_t i = 0; i < images.count; i++) {
		if (strcmp(images.data[i].path, "[removed files]") != 0 ||
			experiment_read(&x, images.data[i].files.data[0].path, NULL, &e))
			continue;
		node = experiment_node_at(&x, experiment_sample_at(&x, 0)->key.node);
		image = &x.images.data[node->key.image];
		is = x.samples.count == 1 && node->key.address == offset &&
		     strcmp(image->path, path) == 0 && image->build_id_length == 20 &&
		     memcmp(image->build_id, build_id, 20) == 0 &&
		     image->kind == EXPERIMENT_IMAGE_FILE;
		experiment_fini(&x);
	}
	store_images_fini(&images);
	return is;
}

/* Copies of a program that are removed as soon as they have run. */
static void test_removed(void)
{
	static const uint8_t build_id[20] = {1, 2, 3}, other[20] = {4};
	const struct experiment_sample *sample;
	struct experiment recorded;
	uint64_t samples = 0;
	char path[128];
	struct watch w;
	struct store s;
	struct error e;

	open_store(&s, "removed");
	monitor_watch_init(&w, &tick, BEGAN);
	monitor_watch_record(&w);
	for (pid_t pid = 1000001; pid <= 1000003; pid++) {
		take_task(&w, PERF_RECORD_FORK, pid, 1);
		if (pid == 1000002)
			take_exec(&w, pid, make_image_with("copy", build_id), build_id);
		else
			take_exec(&w, pid, "/nowhere/copy", build_id);
		take_sample(&w, pid, (uint64_t)pid * SECOND, 0x401000, 1);
	}
	is_int(w.waiting.count, 1, "a sample waits for a file with its build-id");
	take_exec(&w, 1000003, "/nowhere/other", other);
	take_sample(&w, 1000003, (uint64_t)1000010 * SECOND, 0x401000, 1);
	is_int(w.counts.gone, 0, "another one, too");
	monitor_watch_recorded(&w, &recorded);
	for (size_t i = 0; i < recorded.samples.count; i++)
		samples += experiment_sample_at(&recorded, i)->count;
	is_int(samples, 4, "a record has them all");
	is_int(recorded.images.count, 4, "of the copy before its file was read, and of the others");
	experiment_fini(&recorded);
	snprintf(path, sizeof(path), "%s/copy", scratch);
	is_str(w.experiment.images.data[1].path, path, "copies are one image");
	ok(write_all(&w, &s, &tick, BEGAN + SECOND, &e) == 0, "written");
	is_int(w.counts.stored, 4, "all of the copies, and the other one");
	is_int(w.counts.gone, 0, "by its build-id");
	ok(stored(&s).samples == 4 && stored(&s).images == 2, "the store has them");
	ok(is_removed(&s, "/nowhere/other", other, 0x1000), "at its offset in the file");
	take_sample(&w, 1000003, (uint64_t)1000020 * SECOND, 0x401000, 1);
	take_exec(&w, 1000003, "/nowhere/later", build_id);
	take_sample(&w, 1000003, (uint64_t)1000030 * SECOND, 0x401234, 0);
	is_int(w.experiment.samples.count, 1, "the build-id is known in the next interval");
	sample = experiment_sample_at(&w.experiment, 0);
	ok(experiment_node_at(&w.experiment, sample->key.node)->key.address == 0x401234,
		"and the address is the file's");
	monitor_watch_fini(&w);
	store_close(&s);
}

static void test_addresses(void)
{
	enum { MANY = 100000, ROUND = 4000 };
	struct watch w;
	struct store s;
	struct error e;
	int rc = 0;

	open_store(&s, "addresses");
	monitor_watch_init(&w, &tick, BEGAN);
	take_task(&w, PERF_RECORD_FORK, 7, 1);
	take_exec(&w, 7, make_image("a"), NULL);
	/* a round of the Monitor takes what came in a second */
	for (int i = 0; i < MANY; i++) {
		take_sample(&w, 7, (uint64_t)(i + 1) * SECOND, 0x400000 + (uint64_t)(i % 65536), 1);
		if (i % ROUND == 0 && monitor_watch_fills(&w))
			rc |= write_all(&w, &s, &tick, BEGAN + (uint64_t)i, &e);
	}
	rc |= write_all(&w, &s, &tick, BEGAN, &e);
	is_int(rc, 0, "written before it is full");
	is_int(w.counts.dropped, 0, "nothing is dropped");
	is_int(stored(&s).samples, MANY, "all samples are in the store");
	monitor_watch_fini(&w);
	store_close(&s);
}

/* 24 hours of intervals of ten minutes, and another one at a clock that was set back. */
static void test_days(void)
{
	enum { INTERVALS = 144 };
	const struct store_policy policy = {.today = store_day_of(20001),
		.days = 14,
		.weeks = 12,
		.most = 12,
		.quota = 1 << 20};
	struct store_swept swept;
	struct watch w;
	struct store s;
	struct error e;
	size_t most = 0, files;

	open_store(&s, "days");
	monitor_watch_init(&w, &tick, BEGAN);
	take_task(&w, PERF_RECORD_FORK, 7, 1);
	take_exec(&w, 7, make_image("a"), NULL);
	take_task(&w, PERF_RECORD_FORK, 8, 1);
	take_exec(&w, 8, make_image("b"), NULL);
	for (int i = 0; i < INTERVALS; i++) {
		uint64_t now = BEGAN + (uint64_t)(i + 1) * 600 * SECOND;

		for (int k = 0; k < 10; k++)
			take_sample(&w, 7 + k % 2, now + (uint64_t)k * SECOND,
				0x400000 + (uint64_t)((i * 31 + k * 7) % 997), 1);
		if (write_all(&w, &s, &tick, now, &e) ||
			(i % 6 == 0 && store_sweep(&s, &policy, &swept, &e)))
			ok(false, "%s", e.message);
		files = stored(&s).files;
		most = files > most ? files : most;
	}
	is_int(stored(&s).samples, 10 * INTERVALS, "sums of days have all samples");
	/* two images, two days, and six intervals between sweeps */
	ok(most <= 2 * 2 * (12 + 6), "%zu files at most", most);
	is_int(stored(&s).images, 2, "images");
	ok(write_all(&w, &s, &tick, BEGAN / 2, &e) == 0, "the clock is set back");
	take_sample(&w, 7, UINT64_MAX, 0x400000, 1);
	ok(write_all(&w, &s, &tick, BEGAN, &e) == 0, "and forward");
	is_int(stored(&s).samples, 10 * INTERVALS + 1, "that day's samples are there, too");
	monitor_watch_fini(&w);
	store_close(&s);
}

/* The directory of one image cannot be made: the other is written, and both just once. */
static void test_failure(void)
{
	char path[600], kept[128];
	const struct watch_clock slow = {.period = 8 * MS, .tick = true};
	store_images images;
	struct watch w;
	struct store s;
	struct error e;
	struct sums sums;

	open_store(&s, "failure");
	monitor_watch_init(&w, &tick, BEGAN - 1);
	take_task(&w, PERF_RECORD_FORK, 7, 1);
	take_exec(&w, 7, make_image("a"), NULL);
	take_task(&w, PERF_RECORD_FORK, 8, 1);
	take_exec(&w, 8, make_image("bb"), NULL);
	take_sample(&w, 7, 1 * SECOND, 0x401000, 1);
	take_sample(&w, 8, 2 * SECOND, 0x401000, 1);
	ok(write_all(&w, &s, &tick, BEGAN, &e) == 0, "two images");
	ok(store_list(&s, &images, &e) == 0 && images.count == 2, "both are there");
	snprintf(path, sizeof(path), "%s/%s", s.directory, images.data[0].id);
	snprintf(kept, sizeof(kept), "%s/kept", scratch);
	ok(rename(path, kept) == 0 && symlink("/dev/null", path) == 0, "the place of one is taken");
	take_sample(&w, 7, 3 * SECOND, 0x401000, 1);
	take_sample(&w, 8, 4 * SECOND, 0x401000, 1);
	ok(write_all(&w, &s, &tick, BEGAN + 2, &e) == -1, "which is told: %s", e.message);
	take_sample(&w, 7, 5 * SECOND, 0x401000, 1);
	take_sample(&w, 8, 6 * SECOND, 0x401000, 1);
	ok(write_all(&w, &s, &slow, BEGAN + 3, &e) == -1, "again, and samples become fewer");
	ok(unlink(path) == 0 && rename(kept, path) == 0, "it is free again");
	ok(write_all(&w, &s, &tick, BEGAN + 4, &e) == 0, "then it is written");
	sums = stored(&s);
	ok(sums.samples == 6 && sums.images == 2, "%llu samples, each once",
		(unsigned long long)sums.samples);
	is_int(w.counts.stored, 6, "as it says");
	is_int(w.counts.dropped, 0, "none was dropped");
	store_images_fini(&images);
	monitor_watch_fini(&w);
	store_close(&s);
}

static void test_status(void)
{
	struct monitor_status status = {.pid = 12,
				      .clock = "tick",
				      .cost = 1.5e-7,
				      .overhead = 0.00025,
				      .user = 990,
				      .unmapped = 10,
				      .lost = UINT64_MAX},
			      got;
	char garbage[] = "pid\npid x\n\n user 5\nsamples_user 18446744073709551616\nclock "
			 "abcdefghijklmnopqrstuvwxyz\ncpu nan\nperiod -5\nother 7\nsamples_user";
	struct store s;
	struct error e;
	int lock;

	open_store(&s, "status");
	ok(monitor_status_read(&s, &got, &e) == -1 && e.code == ERR_NOT_FOUND, "none yet");
	ok(monitor_status_write(&s, &status, &e) == 0 && monitor_status_read(&s, &got, &e) == 0,
		"written and read");
	ok(memcmp(&status, &got, sizeof(got)) == 0, "it is the same");
	ok(monitor_status_mapped(&got) > 0.989 && monitor_status_mapped(&got) < 0.990, "mapped");
	snprintf(status.followed, sizeof(status.followed), "/tmp/a\npid 1\nlost 0");
	ok(monitor_status_write(&s, &status, &e) == 0 && monitor_status_read(&s, &got, &e) == 0 &&
			got.pid == 12 && got.lost == UINT64_MAX,
		"a newline in a path begins no line");
	is_str(got.followed, "/tmp/a\\x0apid 1\\x0alost 0", "... it is shown");
	monitor_status_parse(garbage, &got);
	ok(got.pid == 0 && strlen(got.clock) == sizeof(got.clock) - 1, "garbage");
	ok(!monitor_locked(&s), "nobody has the lock");
	lock = monitor_lock(&s, &e);
	ok(lock >= 0 && monitor_locked(&s), "now somebody has");
	ok(monitor_lock(&s, &e) == -1 && e.code == ERR_BUSY, "another is refused");
	close(lock);
	ok(!monitor_locked(&s), "given back");
	store_close(&s);
}

static void test_pace(void)
{
	struct monitor_clock c = {.kind = MONITOR_CLOCK_CPU, .cost = 19000};
	int turns = 0;

	monitor_clock_pace(&c, 0.001);
	ok(c.cost / (double)c.watch.period <= 0.0005 && c.watch.period < SECOND,
		"a costly clock is slow");
	c.cost = 10;
	monitor_clock_pace(&c, 0.001);
	ok(c.watch.period < 6 * MS, "a cheap one is fast");
	for (int i = 0; monitor_clock_slower(&c); i++)
		if (i > 20)
			break;
	is_int(c.watch.period, SECOND, "down to one sample a second");
	for (int i = 0; monitor_clock_faster(&c); i++)
		if (i > 20)
			break;
	ok(c.watch.period < 6 * MS, "and back to what the budget allows");
	c = (struct monitor_clock){.kind = MONITOR_CLOCK_TICK, .cost = 100};
	monitor_clock_pace(&c, 0.001);
	is_int(c.every, 1, "each tick");
	is_int(monitor_clock_attr(&c).freq, 1,
		"and of other interrupts so many that they are no burden");
	monitor_clock_slower(&c);
	is_int(c.every, 2, "each second one");
	ok(!monitor_clock_attr(&c).freq && monitor_clock_attr(&c).sample_period == 2, "exactly");
	ok(monitor_clock_faster(&c) && c.every == 1, "each tick again");
	ok(!monitor_clock_faster(&c), "and no more than that");
	is_int(monitor_clock_wanted(1, 1.2, 0.8), -1, "over the budget by samples: fewer");
	is_int(monitor_clock_wanted(1, 1.1, 0.3), -1, "by a little that half of them costs: fewer");
	is_int(monitor_clock_wanted(1, 1.5, 0.3), 0, "by what no fewer samples save: as they are");
	is_int(monitor_clock_wanted(1, 0.7, 0.2), 0, "within it: as they are");
	is_int(monitor_clock_wanted(1, 0.3, 0.2), 1, "far below it: more");
	for (double rest = 0; rest < 2; rest += 0.125)
		for (double samples = 0; samples < 2; samples += 0.125)
			turns += monitor_clock_wanted(1, rest + samples, samples) < 0 &&
				 monitor_clock_wanted(1, rest + samples / 2, samples / 2) > 0;
	is_int(turns, 0, "what is slowed down is not made faster at once");
}

int main(void)
{
	char command[128];

	if (!mkdtemp(scratch))
		return 1;
	test_samples();
	test_replaced();
	test_turns();
	test_early();
	test_sparse();
	test_storm();
	test_removed();
	test_addresses();
	test_days();
	test_failure();
	test_status();
	test_pace();
	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	ok(system(command) == 0, "cleaned up"); /* NOLINT */
	return done();
}
