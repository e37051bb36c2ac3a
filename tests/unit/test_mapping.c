/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that somebody cuts while they are mapped: reading them ends with an error, not with SIGBUS.
 */
#include "../tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mapping.h"
#include "base/parallel.h"
#include "experiment/glance.h"
#include "experiment_random.h"
#include "image/elf_file.h"
#include "perfdata/perfdata.h"

static char path[64];
static long cut_to = -1;

/* Also that of libelf: the file is cut as soon as it is mapped. The thread sanitizer calls it, too,
 * before it can note what this function does. */
__attribute__((no_sanitize("thread"))) void *mmap(
	void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, at, size, rights, flags, fd, offset);

	if (fd >= 0 && cut_to >= 0 && truncate(path, cut_to))
		abort();
	return p;
}

static void put(const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd))
		abort();
}

static unsigned sum(const uint8_t *p, size_t size)
{
	unsigned all = 0;

	for (size_t i = 0; i < size; i++)
		all += p[i];
	return all;
}

static void test_plain(void)
{
	char bytes[3 * 4096];
	struct error e = {0};
	struct mapping *m;

	memset(bytes, 1, sizeof(bytes));
	put(bytes, sizeof(bytes));
	m = mapping_open(path, &e);
	ok(m && m->size == sizeof(bytes) && sum(m->data, m->size) == sizeof(bytes), "mapped");
	ok(!mapping_check(m, &e) && !mapping_check_all(&e), "it is whole");
	mapping_close(m);
	cut_to = 5000;
	m = mapping_open(path, &e);
	cut_to = -1;
	is_int(sum(m->data, m->size), 5000, "what is left of it, and zeros");
	ok(mapping_check(m, &e) && strstr(e.message, path) && strstr(e.message, "was cut"),
		"said: %s", e.message);
	mapping_close(m);
	ok(mapping_check_all(&e) && strstr(e.message, path), "also at the end");
	put("", 0);
	m = mapping_open(path, &e);
	ok(m && !m->data && !m->size && !mapping_check(m, &e), "an empty file has no bytes");
	mapping_close(m);
	ok(!mapping_open("/nowhere/at-all", &e) && strstr(e.message, "cannot read"), "no file: %s",
		e.message);
}

static pthread_barrier_t both;

/* Each thread reads one page. */
static int read_page(void *context, size_t i, void *result, struct error *e)
{
	const struct mapping *m = context;

	(void)e;
	pthread_barrier_wait(&both);
	*(unsigned *)result = sum((const uint8_t *)m->data + i * 4096, 4096);
	return 0;
}

/* Threads that have all other signals blocked. */
static void test_threads(void)
{
	static char bytes[2 * 4096];
	struct mapping *m;
	struct parallel p = {.count = 2, .size = sizeof(unsigned), .threads = 2, .make = read_page};

	memset(bytes, 1, sizeof(bytes));
	put(bytes, sizeof(bytes));
	cut_to = 0;
	p.context = m = mapping_open(path, NULL);
	cut_to = -1;
	pthread_barrier_init(&both, NULL, 2);
	ok(parallel_run(&p, NULL) == 0 && mapping_check(m, NULL), "threads read what is cut");
	pthread_barrier_destroy(&both);
	mapping_close(m);
}

/* As long as a reader of reports looks at it. */
static void read_image(void)
{
	struct elf_file *f = elf_file_open(path, NULL);
	unsigned all = 0;

	if (!f)
		return;
	for (size_t i = 0; i < f->sections.count; i++) {
		struct span s = elf_file_contents(&f->sections.data[i]);

		all += sum(s.data, s.size) + (unsigned)f->sections.data[i].name[0];
	}
	all += sum(f->raw.data, f->raw.size);
	elf_file_close(f);
	(void)all;
}

static void test_image(void)
{
	size_t size;
	char *self = file_read("/proc/self/exe", 1u << 30, &size, NULL);

	for (int i = 0; i <= 8; i++) {
		put(self, size);
		cut_to = (long)(size / 8 * (size_t)i);
		read_image();
		cut_to = -1;
	}
	ok(true, "images cut to 0 to 8 eighths are read to their ends");
	free(self);
}

static void test_recording(void)
{
	size_t size;
	char *data = file_read("tests/fuzz/seeds/perfdata/traced", 0, &size, NULL);
	struct error e = {0};
	struct experiment x;
	int wrong = 0;

	for (long to = 0; to < (long)size; to += 1000) {
		put(data, size);
		cut_to = to;
		memset(&e, 0, sizeof(e));
		if (perfdata_read(&x, path, NULL, NULL, NULL, &e) == 0)
			experiment_fini(&x), wrong += to < 4096;
		wrong += to < 4096 && !e.message[0];
		cut_to = -1;
	}
	is_int(wrong, 0, "recordings of perf: an error (%s)", e.message);
	free(data);
}

static void test_glance(void)
{
	struct strbuf file = {0};
	struct experiment_glance *g;
	struct experiment x;

	random_experiment(&x, 3, 200);
	experiment_encode(&x, &file, NULL);
	experiment_fini(&x);
	put(strbuf_text(&file), file.length);
	g = experiment_glance_open(path, NULL);
	ok(g, "a glance at an experiment");
	if (g && truncate(path, 0) == 0)
		is_int(experiment_glance_work(g, UINT64_MAX, UINT64_MAX), -1, "it is cut");
	experiment_glance_close(g);
	strbuf_fini(&file);
}

static int end_of_child(void (*act)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		act();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void send_it(void)
{
	mapping_guard();
	raise(SIGBUS);
}

static void ignore_it(void)
{
	struct sigaction now;

	signal(SIGBUS, SIG_IGN);
	mapping_guard();
	sigaction(SIGBUS, NULL, &now);
	_exit(now.sa_handler != SIG_IGN);
}

int main(void)
{
	static uint8_t room[65536];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	int status;

	sigaltstack(&stack, NULL); /* Valgrind does not always extend a stack for a signal */

	snprintf(path, sizeof(path), "%s", "/tmp/test-mapping-XXXXXX");
	close(mkstemp(path));
	status = end_of_child(ignore_it); /* first: it is looked at once */
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "what was ignored stays ignored");
	status = end_of_child(send_it);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS,
		"a signal that is sent ends the process");
	test_plain();
	test_threads();
	test_image();
	test_recording();
	test_glance();
	unlink(path);
	return done();
}
