/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The handler takes the lock as well: a thread that has it reads no mapping. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *watched;
static char first_cut[512]; /* its path, or as much of it as there is room for */
static atomic_bool any_cut;
static struct sigaction bus_before;
static uintptr_t page_bytes;

static bool zeros(uintptr_t from, uintptr_t to, int rights)
{
	return mmap((void *)from, to - from, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		       0) != MAP_FAILED;
}

/* With the lock. */
static bool make_good(uintptr_t at)
{
	uintptr_t page = at & ~(page_bytes - 1);

	for (struct mapping *m = watched; m; m = m->next) {
		uintptr_t begin = (uintptr_t)m->data;
		uintptr_t end = (begin + m->size + page_bytes - 1) & ~(page_bytes - 1);

		if (at < begin || at >= end)
			continue;
		m->cut = true;
		if (!atomic_load(&any_cut))
			stpncpy(first_cut, m->path, sizeof(first_cut) - 1);
		return zeros(page, end, PROT_READ);
	}
	return zeros(page, page + page_bytes, PROT_READ | PROT_WRITE);
}

/* Other faults: the instruction is executed again, with the former handler. */
static void on_bus(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	bool good = false;

	(void)context;
	if (info->si_code == BUS_ADRERR) {
		pthread_mutex_lock(&lock);
		good = make_good((uintptr_t)info->si_addr);
		pthread_mutex_unlock(&lock);
		atomic_store(&any_cut, true);
	}
	if (!good) {
		sigaction(number, &bus_before, NULL);
		if (info->si_code <= 0) /* it was sent */
			raise(number);
	}
	errno = saved;
}

static void guard(void)
{
	struct sigaction action = {
		.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	/* commands that we run get what was ignored as ignored: that stays */
	if (sigaction(SIGBUS, NULL, &bus_before) == 0 &&
		((bus_before.sa_flags & SA_SIGINFO) || bus_before.sa_handler != SIG_IGN))
		sigaction(SIGBUS, &action, NULL);
}

void mapping_guard(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, guard);
}

void mapping_mask(sigset_t *set)
{
	sigfillset(set);
	sigdelset(set, SIGBUS);
}

struct mapping *mapping_watch(const void *data, size_t size, const char *path, struct error *e)
{
	struct mapping *m = calloc(1, sizeof(*m));

	if (!m || !(m->path = strdup(path))) {
		free(m);
		error_nomem(e);
		return NULL;
	}
	m->data = data;
	m->size = size;
	mapping_guard();
	pthread_mutex_lock(&lock);
	m->next = watched;
	watched = m;
	pthread_mutex_unlock(&lock);
	return m;
}

static struct mapping *map_whole(const char *path, int fd, struct error *e)
{
	struct mapping *m;
	struct stat st;
	void *data;

	if (fstat(fd, &st) != 0) {
		error_sys(e, errno, "cannot read %s", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return mapping_watch(NULL, 0, path, e);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		error_sys(e, errno, "cannot read %s", path);
		return NULL;
	}
	m = mapping_watch(data, (size_t)st.st_size, path, e);
	if (m)
		m->ours = true;
	else
		munmap(data, (size_t)st.st_size);
	return m;
}

struct mapping *mapping_open(const char *path, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct mapping *m;

	if (fd < 0) {
		error_sys(e, errno, "cannot read %s", path);
		return NULL;
	}
	m = map_whole(path, fd, e);
	close(fd);
	return m;
}

void mapping_close(struct mapping *m)
{
	struct mapping **at = &watched;

	if (!m)
		return;
	pthread_mutex_lock(&lock);
	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	pthread_mutex_unlock(&lock);
	if (m->ours)
		munmap((void *)(uintptr_t)m->data, m->size);
	free(m->path);
	free(m);
}

static int was_cut(struct error *e, const char *path)
{
	error_set(e, ERR_PARSE, "%s was cut while it was read, or its disk failed",
		path[0] ? path : "a file");
	return error_hint(
		e, "what was read of it is incomplete: try again when nothing writes to it");
}

int mapping_check(const struct mapping *m, struct error *e)
{
	return m->cut ? was_cut(e, m->path) : 0;
}

int mapping_check_all(struct error *e)
{
	int rc;

	if (!atomic_load(&any_cut))
		return 0;
	pthread_mutex_lock(&lock);
	rc = was_cut(e, first_cut);
	pthread_mutex_unlock(&lock);
	return rc;
}
