/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the kernel's functions: from the running kernel, if it is the recorded one, or from
 * perf's cache. A kernel has another address after every boot; the recording has the address of one
 * symbol, which gives the difference.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/order.h"
#include "collect/collect_symbols.h"
#include "collect/kernel_names.h"
#include "image/build_id_cache.h"
#include "perfdata/private.h"

#define KALLSYMS_MAX ((size_t)512 << 20)

typedef VEC(uint64_t) addresses;

static bool kernel_same_text(const char *recorded, const char *here)
{
	return recorded && strcmp(recorded, here) == 0;
}

/* By its build-id, if the recording has it (all users may read the running one); else by host and
 * release. */
bool perfdata_same_kernel(const struct perfdata *p)
{
	const struct perfdata_build_id *id = perfdata_find_build_id(p, "[kernel.kallsyms]");
	char notes[4096];
	struct utsname host;
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, notes, sizeof(notes)) : -1;

	if (fd >= 0)
		close(fd);
	if (id && n > 0)
		return memmem(notes, (size_t)n, id->bytes, id->length) != NULL;
	return uname(&host) == 0 && kernel_same_text(p->texts[PERFDATA_HOST], host.nodename) &&
	       kernel_same_text(p->texts[PERFDATA_KERNEL], host.release);
}

/* The distance of the recorded kernel from that of text; false: unknown. */
static bool find_shift(const struct perfdata *p, const char *text, uint64_t *shift)
{
	uint64_t address = kernel_names_find(text, p->kernel_symbol);

	*shift = p->kernel_address - address;
	return address && p->kernel_address;
}

static int name_by(
	const struct perfdata *p, struct experiment *x, uint32_t image, char *text, bool *named)
{
	uint64_t shift;

	*named = text && find_shift(p, text, &shift);
	return *named ? symbols_kallsyms(x, image, text, shift) : 0;
}

/* Of the image's nodes, sorted. */
static int kernel_addresses(const struct experiment *x, uint32_t image, addresses *to)
{
	for (size_t k = 1; k < x->nodes.count; k++) {
		const struct experiment_node *n = experiment_node_at(x, k);

		if (n->key.image == image && vec_add(to, n->key.address))
			return -1;
	}
	if (to->count)
		qsort(to->data, to->count, sizeof(*to->data), order_u64);
	return 0;
}

/* BPF programs and trampolines: code that was added during the recording. */
static int name_by_records(const struct perfdata *p, struct experiment *x, uint32_t image)
{
	addresses sampled = {0};
	int rc = p->symbols.count ? kernel_addresses(x, image, &sampled) : 0;

	for (size_t i = 0; rc == 0 && i < p->symbols.count; i++) {
		const struct perfdata_symbol *s = &p->symbols.data[i];
		size_t n = vec_search(k, sampled.count, sampled.data[k] < s->address);

		if (n < sampled.count && sampled.data[n] - s->address < s->length)
			rc = experiment_symbol(x, image, s->address, s->length, s->name, NULL);
	}
	vec_fini(&sampled);
	return rc ? -1 : 0;
}

int perfdata_name_kernel(const struct perfdata *p, struct experiment *x, uint32_t image,
	const struct image_search *where)
{
	const struct perfdata_build_id *id = perfdata_find_build_id(p, "[kernel.kallsyms]");
	struct image_identity key = {.path = "[kernel]"};
	char *text = NULL, *path = NULL;
	size_t length;
	bool named = false;
	int rc = 0;

	if (perfdata_same_kernel(p))
		text = file_read("/proc/kallsyms", KALLSYMS_MAX, &length, NULL);
	rc = name_by(p, x, image, text, &named);
	free(text);
	text = NULL;
	if (rc == 0 && !named && id) {
		key.build_id = id->bytes;
		key.build_id_length = id->length;
		path = build_id_cache_find(where->build_id_cache, &key, "kallsyms");
		text = path ? file_read(path, KALLSYMS_MAX, &length, NULL) : NULL;
		rc = name_by(p, x, image, text, &named);
	}
	free(path);
	free(text);
	return rc ? rc : name_by_records(p, x, image);
}
