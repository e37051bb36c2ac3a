/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of lib/image that scripts cannot reach: ranges, names, images in memory, AArch64's stacks.
 */
#include "../tap.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "image/fingerprint.h"
#include "image/image.h"
#include "image/intervals.h"
#include "image/unwind.h"

/* The definition, without cleverness: of those that hold it the one that begins last, then the
 * shortest, then the last added. */
static uint32_t found_slowly(const struct interval *all, size_t count, uint64_t address)
{
	const struct interval *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct interval *x = &all[i];

		if (address < x->low || address >= x->high)
			continue;
		if (!best || x->low > best->low || (x->low == best->low && x->high <= best->high))
			best = x;
	}
	return best ? best->value : INTERVAL_NONE;
}

static void test_intervals(void)
{
	int wrong = 0;

	srand(7);
	for (int round = 0; round < 200; round++) {
		struct intervals s = {0};
		struct interval all[40];
		size_t count = (size_t)(rand() % 40);

		for (size_t i = 0; i < count; i++) {
			all[i].low = (uint64_t)(rand() % 100);
			all[i].high = all[i].low + 1 + (uint64_t)(rand() % 30);
			all[i].value = (uint32_t)i;
			intervals_add(&s, all[i].low, all[i].high, all[i].value);
		}
		intervals_add(&s, 50, 50, 99); /* empty: left out */
		intervals_settle(&s);
		for (uint64_t a = 0; a < 140; a++) {
			const struct interval *got = intervals_find(&s, a);

			wrong += (got ? got->value : INTERVAL_NONE) != found_slowly(all, count, a);
		}
		intervals_fini(&s);
	}
	is_int(wrong, 0, "ranges that nest and overlap: the innermost is found");
}

static void demangles(const char *name, const char *want)
{
	char *got = image_demangle(name);

	if (want)
		is_str(got, want, "%s", name);
	else
		ok(!got, "%s is no mangled name", name);
	free(got);
}

static void test_names(void)
{
	char *endless = malloc(100000);

	demangles("_ZN6shapes6squareIiE4areaEi", "shapes::square<int>::area(int)");
	demangles("_ZN3foo3barEv.constprop.0", "foo::bar() [clone .constprop.0]");
	demangles("_ZL3hoti.__uniq.13956324169348401700.cold", "hot(int) [clone .cold]");
	demangles("_ZL3hoti.__uniq.1@V2", "hot(int)@V2");
	demangles("_ZN3foo3barEv@@LIB_1.0", "foo::bar()@@LIB_1.0");
	demangles(
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	demangles("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	demangles("main", NULL);
	demangles("_Z", NULL);
	demangles("_ZNonsense", NULL);
	demangles("", NULL);
	if (!endless)
		return;
	memset(endless, 'P', 100000);
	memcpy(endless, "_Z1f", 4);
	endless[99999] = '\0';
	demangles(endless, NULL);
	free(endless);
}

static void test_vdso(void)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct error e = {0};
	struct image *image;

	if (!vdso) {
		skip("this kernel gives no vdso");
		return;
	}
	image = image_open_memory(vdso, 8192, "[vdso]", &e);
	ok(image != NULL, "the vdso is an image: %s", e.message);
	if (!image)
		return;
	ok(image_symbol_find(image, "__vdso_clock_gettime") ||
			image_symbol_find(image, "clock_gettime") ||
			image_symbol_find(image, "__kernel_clock_gettime"),
		"... with its symbols");
	image_close(image);
}

/* main has a frame pointer and alloca; ext, which it calls, has no frame. */
static struct image *find_image(void *context, uint64_t pc, uint64_t *bias)
{
	*bias = 0x40000;
	return pc >= 0x41000 && pc < 0x42000 ? context : NULL;
}

static void test_aarch64(void)
{
	char path[512];
	uint64_t stack[16] = {0}, pcs[8];
	struct unwind_state s = {.stack = (const uint8_t *)stack,
		.stack_address = 0x9000,
		.stack_size = sizeof(stack)};
	struct unwinder *u = unwind_new(NULL);
	struct image_identity id = {.path = path};
	struct image *image;
	uint64_t registers[33] = {0};
	int complete;
	size_t n;

	snprintf(path, sizeof(path), "%s/tests/fuzz/seeds/image/arm64",
		getenv("TOP") ? getenv("TOP") : ".");
	image = image_open(&id, NULL, NULL);
	ok(image && image_machine(image) == IMAGE_AARCH64, "an AArch64 image");
	if (!image || !u)
		return;
	/* alloca's 16 bytes, then main's frame of 32, then _start's of 16 */
	registers[29] = 0x9010;
	registers[30] = 0x41268 | UINT64_C(0x2a) << 56; /* signed, as pointer authentication does */
	registers[31] = 0x9000;
	registers[32] = 0x41214;
	stack[2] = 0x9030;
	stack[3] = 0x412d0;
	unwind_from_perf(&s, IMAGE_AARCH64, (UINT64_C(1) << 33) - 1, registers);
	n = unwind(u, &s, find_image, image, pcs, 8, &complete, NULL);
	ok(n >= 3, "%zu frames", n);
	is_int(pcs[0], 0x41214, "a leaf");
	is_int(pcs[1], 0x41268, "its caller from the link register");
	is_int(pcs[2], 0x412d0, "... whose caller is by its frame pointer");
	unwind_free(u);
	image_close(image);
}

/* A file is read in parts, and is not in memory as a whole. */
static void test_fingerprint(void)
{
	enum { LARGE = 64 << 20 };
	static const size_t sizes[] = {1, 31, 32, 33, 65535, 65536, 65568, 200001};
	static uint8_t bytes[200001];
	char path[] = "/tmp/test-image.XXXXXX";
	int fd = mkstemp(path), wrong = 0;
	uint8_t build_id[64];
	size_t length;
	uint64_t size, sum;
	struct rusage before, after;
	struct error e;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 2654435761u >> 13);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (ftruncate(fd, 0) || pwrite(fd, bytes, sizes[i], 0) != (ssize_t)sizes[i] ||
			image_identify(path, build_id, &length, &size, &sum, &e))
			wrong++;
		else
			wrong += length != 0 || size != sizes[i] ||
				 sum != identify_fingerprint(bytes, sizes[i]);
	}
	is_int(wrong, 0, "the fingerprint of a file is that of its bytes");
	getrusage(RUSAGE_SELF, &before);
	ok(ftruncate(fd, LARGE) == 0 &&
			image_identify(path, build_id, &length, &size, &sum, &e) == 0 &&
			size == LARGE,
		"a large file");
	getrusage(RUSAGE_SELF, &after);
	ok(after.ru_maxrss - before.ru_maxrss < LARGE / 2 / 1024,
		"%ld kB more at most while it was read", after.ru_maxrss - before.ru_maxrss);
	close(fd);
	unlink(path);
}

int main(void)
{
	test_fingerprint();
	test_intervals();
	test_names();
	test_vdso();
	test_aarch64();
	return done();
}
