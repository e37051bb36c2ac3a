/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that fail on purpose.  inject_each runs a function with its first allocation failing,
 * then with the second, and so on until a run needs no more of them.  Each run must return -1 with
 * an error set and leave no allocation behind.
 *
 * A test that includes this is linked with --wrap for the functions below (tests/module.mk finds it
 * by the #include).  Seen are calls from the toolkit and the test, on the thread that calls
 * inject_each; allocations inside other libraries succeed.
 */
#ifndef TESTS_UNIT_INJECT_H
#define TESTS_UNIT_INJECT_H

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "base/error.h"

/* A hash table with linear search, of 2^INJECT_BITS slots. */
enum { INJECT_BITS = 18, INJECT_SLOTS = 1 << INJECT_BITS };

static struct {
	uint64_t seen, fails; /* allocations so far; the one that fails, from 1; 0: none */
	bool failed;          /* it did */
	uintptr_t *slots;     /* pointers allocated since inject_begin; lowest bit: freed again */
	size_t live;          /* how many were not freed */
} inject;
static __thread bool inject_on;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *p);
int __real_vasprintf(char **text, const char *format, va_list ap);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_open_memstream(char **text, size_t *length);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_vasprintf(char **text, const char *format, va_list ap);
int __wrap_asprintf(char **text, const char *format, ...);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_open_memstream(char **text, size_t *length);

/* True if this allocation is the one that must fail. */
static bool inject_fails(void)
{
	if (!inject_on || ++inject.seen != inject.fails)
		return false;
	inject.failed = true;
	errno = ENOMEM;
	return true;
}

static uintptr_t *inject_slot(const void *p)
{
	size_t i = ((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - INJECT_BITS);

	while (inject.slots[i] && (inject.slots[i] & ~(uintptr_t)1) != (uintptr_t)p)
		i = (i + 1) % INJECT_SLOTS;
	return &inject.slots[i];
}

static void *inject_allocated(void *p)
{
	if (inject_on && p) {
		*inject_slot(p) = (uintptr_t)p;
		inject.live++;
	}
	return p;
}

static void inject_freed(const void *p)
{
	uintptr_t *slot = inject_on && p ? inject_slot(p) : NULL;

	if (slot && *slot == (uintptr_t)p) {
		*slot |= 1;
		inject.live--;
	}
}

void *__wrap_malloc(size_t size)
{
	return inject_fails() ? NULL : inject_allocated(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return inject_fails() ? NULL : inject_allocated(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (inject_fails())
		return NULL;
	inject_freed(old);
	return inject_allocated(__real_realloc(old, size));
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return __wrap_realloc(old, bytes);
}

void __wrap_free(void *p)
{
	inject_freed(p);
	__real_free(p);
}

char *__wrap_strndup(const char *text, size_t length)
{
	size_t n = strnlen(text, length);
	char *copy = __wrap_malloc(n + 1);

	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

char *__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, SIZE_MAX);
}

int __wrap_vasprintf(char **text, const char *format, va_list ap)
{
	int n;

	if (inject_fails())
		return -1;
	n = __real_vasprintf(text, format, ap);
	if (n >= 0)
		inject_allocated(*text);
	return n;
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = __wrap_vasprintf(text, format, ap);
	va_end(ap);
	return n;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return inject_fails() ? NULL : __real_fopen(path, mode);
}

FILE *__wrap_open_memstream(char **text, size_t *length)
{
	return inject_fails() ? NULL : __real_open_memstream(text, length);
}

/* From here on the n-th allocation fails; 0: none does. */
static void inject_begin(uint64_t n)
{
	static uintptr_t slots[INJECT_SLOTS];

	memset(slots, 0, sizeof(slots));
	inject.slots = slots;
	inject.live = 0;
	inject.seen = 0;
	inject.fails = n;
	inject.failed = false;
	inject_on = true;
}

/* Allocations succeed again.  Returns how many made since inject_begin were not freed. */
static size_t inject_end(void)
{
	inject_on = false;
	return inject.live;
}

/* On one processor the toolkit starts no threads to work beside this one. */
static void inject_alone(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/*
 * run returns 0, or -1 with *e set, having freed all that it allocated.  A run that gets over the
 * failed allocation may return 0 only where `optional` says so.
 */
static void inject_each(const char *what, int (*run)(struct error *e), bool optional)
{
	struct error e = {0};
	uint64_t n;
	size_t left;
	int rc;

	inject_alone();
	inject_begin(0); /* what is allocated once and kept is not a leak */
	rc = run(&e);
	inject_end();
	if (!ok(rc == 0, "%s: succeeds with memory", what))
		printf("# %s\n", e.message);
	for (n = 1;; n++) {
		memset(&e, 0, sizeof(e));
		inject_begin(n);
		rc = run(&e);
		left = inject_end();
		if (!inject.failed)
			break;
		if ((rc == 0 && !optional) || (rc != 0 && e.code == ERR_NONE) || left) {
			ok(false, "%s: allocation %llu fails", what, (unsigned long long)n);
			printf("# returned %d, error '%s', %zu allocations left\n", rc, e.message,
				left);
		}
	}
	ok(rc == 0 && !left && n > 1, "%s: each of %llu allocations failed once", what,
		(unsigned long long)n - 1);
}

#endif
