/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/order.h"
#include "base/proc.h"
#include "base/sort.h"
#include "collect/jitdump.h"
#include "collect/kernel_names.h"

#define FILE_MAX ((size_t)512 << 20)

struct name {
	uint64_t address, length, order;
	const char *text;
};

struct names {
	VEC(struct name) list;
};

struct addresses {
	VEC(uint64_t) list;
};

static int symbols_by_address(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return sort_rising(x->address, y->address) ?: sort_rising(x->order, y->order);
}

/* The addresses of an image that have samples, in order. */
static int symbols_sampled(const struct experiment *x, uint32_t image, struct addresses *a)
{
	for (size_t i = 1; i < x->nodes.count; i++) {
		const struct experiment_node *n = experiment_node_at(x, i);
		uint64_t *slot;

		if (n->key.image != image)
			continue;
		slot = vec_push(&a->list);
		if (!slot)
			return -1;
		*slot = n->key.address;
	}
	if (a->list.count)
		qsort(a->list.data, a->list.count, sizeof(uint64_t), order_u64);
	return 0;
}

/* Both lists are sorted; names without length reach to the next. */
static int match(struct experiment *x, uint32_t image, const struct names *names,
	const struct addresses *addresses)
{
	size_t at = 0, count = names->list.count;

	for (size_t i = 0; i < addresses->list.count; i++) {
		uint64_t address = addresses->list.data[i], length;
		const struct name *n;

		while (at + 1 < count && names->list.data[at + 1].address <= address)
			at++;
		if (at >= count || names->list.data[at].address > address)
			continue;
		n = &names->list.data[at];
		length = n->length;
		if (!length)
			length = at + 1 < count ? n[1].address - n->address : 4096;
		if (address - n->address < length &&
			experiment_symbol(x, image, n->address, length, n->text, NULL))
			return -1;
	}
	return 0;
}

static int symbols_add(struct names *names, uint64_t address, uint64_t length, const char *text)
{
	struct name *n = vec_push(&names->list);

	if (!n)
		return -1;
	*n = (struct name){address, length, names->list.count, text};
	return 0;
}

/* Adds the symbols to the experiment, and frees them. */
static int symbols_finish(struct experiment *x, uint32_t image, struct names *names,
	struct addresses *addresses, int rc)
{
	if (rc == 0 && names->list.count) {
		qsort(names->list.data, names->list.count, sizeof(struct name), symbols_by_address);
		rc = match(x, image, names, addresses);
	}
	vec_fini(&names->list);
	vec_fini(&addresses->list);
	return rc;
}

static int parse_perf_map(struct names *names, char *line)
{
	char *end, *name;
	uint64_t address = strtoull(line, &end, 16), length;

	if (end == line || *end != ' ')
		return 0;
	length = strtoull(end, &name, 16);
	if (name == end || *name != ' ' || !name[1] || !length)
		return 0;
	return symbols_add(names, address, length, name + 1);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* One line, cut at its end: address, and the part after the type; 0 if it is not a function, or if
 * its address is hidden. */
static uint64_t kallsyms_line(char *line, char **name)
{
	uint64_t address = 0;
	char *c = line;

	for (;; c++) {
		unsigned digit = (unsigned char)*c - '0';

		if (digit > 9) {
			digit = ((unsigned char)*c | 0x20u) - 'a' + 10u;
			if (digit < 10 || digit > 15)
				break;
		}
		address = address << 4 | digit;
	}
	if (c[0] != ' ' || !c[1] || !strchr("tTwW", c[1]) || c[2] != ' ' || !c[3])
		return 0;
	*name = c + 3;
	return address;
}

static bool any_between(const struct addresses *a, uint64_t begin, uint64_t end)
{
	size_t low = vec_search(i, a->list.count, a->list.data[i] < begin);

	return low < a->list.count && a->list.data[low] < end;
}

/* The kernel's own functions are sorted, and numerous, so only sampled ones are kept; those of
 * modules are not sorted, and all are kept. */
static int kallsyms_names(
	struct names *names, const struct addresses *wanted, char *text, uint64_t shift)
{
	uint64_t last = 0, address;
	char *last_name = NULL, *end, *name = NULL, *tab;

	for (char *line = text; *line; line = end) {
		end = strchrnul(line, '\n');
		if (*end)
			*end++ = '\0';
		address = kallsyms_line(line, &name);
		if (!address)
			continue;
		address += shift;
		tab = strchr(name, '\t');
		if (tab && shift)
			continue;
		if (tab) {
			*tab = ' '; /* "name [module]" */
			if (symbols_add(names, address, 0, name))
				return -1;
			continue;
		}
		if (last_name && address == last && strcmp(last_name, name) <= 0)
			continue;
		if (last_name && any_between(wanted, last, address) &&
			symbols_add(names, last, address - last, last_name))
			return -1;
		last = address;
		last_name = name;
	}
	return last_name ? symbols_add(names, last, 0, last_name) : 0;
}

int symbols_kallsyms(struct experiment *x, uint32_t image, char *text, uint64_t shift)
{
	struct addresses addresses = {0};
	struct names names = {0};
	int rc = symbols_sampled(x, image, &addresses);

	if (rc == 0 && addresses.list.count)
		rc = kallsyms_names(&names, &addresses, text, shift);
	return symbols_finish(x, image, &names, &addresses, rc);
}

/* ---- generated code -------------------------------------------------------------------------- */

int symbols_perf_map(struct experiment *x, uint32_t image, char *text)
{
	struct addresses addresses = {0};
	struct names names = {0};
	char *save, *line;
	int rc = symbols_sampled(x, image, &addresses);

	for (line = strtok_r(text, "\n", &save); line && rc == 0 && addresses.list.count;
		line = strtok_r(NULL, "\n", &save))
		rc = parse_perf_map(&names, line);
	return symbols_finish(x, image, &names, &addresses, rc);
}

static int add_compiled(void *context, const struct jitdump_function *f)
{
	return symbols_add(context, f->address, f->size, f->name);
}

int symbols_jitdump(struct experiment *x, uint32_t image, const void *data, size_t size)
{
	struct addresses addresses = {0};
	struct names names = {0};
	int rc = symbols_sampled(x, image, &addresses);

	if (rc == 0 && addresses.list.count)
		rc = jitdump_parse(data, size, add_compiled, &names) < 0 ? -1 : 0;
	return symbols_finish(x, image, &names, &addresses, rc);
}

/* The user whose process it is; ours, if it has ended. */
static uid_t owner_of(pid_t pid)
{
	uid_t owner;

	return proc_owner(pid, &owner) ? owner : geteuid();
}

int symbols_jitdump_file(struct experiment *x, uint32_t image, pid_t pid, const char *path)
{
	char rooted[4200], *data;
	size_t length;
	int rc;

	snprintf(rooted, sizeof(rooted), "/proc/%d/root%s", (int)pid, path);
	data = file_read_owned(rooted, owner_of(pid), FILE_MAX, &length, NULL);
	if (!data)
		data = file_read_owned(path, owner_of(pid), FILE_MAX, &length, NULL);
	rc = data ? symbols_jitdump(x, image, data, length) : 0;
	free(data);
	return rc;
}

int symbols_kernel(struct experiment *x, uint32_t image)
{
	struct addresses addresses = {0};
	char *text = NULL;
	int rc = symbols_sampled(x, image, &addresses);

	if (rc == 0 && addresses.list.count)
		text = kernel_names(addresses.list.data, addresses.list.count);
	if (text)
		rc = symbols_kallsyms(x, image, text, 0);
	free(text);
	vec_fini(&addresses.list);
	return rc;
}

/* The process's number in its own namespace: the last of NSpid. */
static pid_t own_number(pid_t pid)
{
	char numbers[256];
	const char *last;

	proc_status(pid, "NSpid", numbers, sizeof(numbers));
	last = strrchr(numbers, '\t');
	return numbers[0] ? (pid_t)strtol(last ? last : numbers, NULL, 10) : pid;
}

int symbols_jit(struct experiment *x, uint32_t image, pid_t pid)
{
	char path[96], *text;
	size_t length;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)pid,
		(int)own_number(pid));
	text = file_read_owned(path, owner_of(pid), FILE_MAX, &length, NULL);
	if (!text) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
		text = file_read_owned(path, owner_of(pid), FILE_MAX, &length, NULL);
	}
	rc = text ? symbols_perf_map(x, image, text) : 0;
	free(text);
	return rc;
}

int symbols_vdso(struct experiment *x, uint32_t image, struct image *vdso)
{
	struct addresses addresses = {0};
	int rc = vdso ? symbols_sampled(x, image, &addresses) : 0;

	for (size_t i = 0; i < addresses.list.count && rc == 0; i++) {
		const struct image_symbol *s = image_symbol_at(vdso, addresses.list.data[i]);

		if (s && !s->guessed)
			rc = experiment_symbol(x, image, s->address, s->size, s->name, NULL);
	}
	vec_fini(&addresses.list);
	return rc;
}
