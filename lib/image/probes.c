/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pseudo-probes: .pseudo_probe_desc has GUID, checksum and name of each function of the source,
 * .pseudo_probe a tree for each function with code: its GUID, its probes, and the trees of the
 * functions that are inlined in it, each after the number of the call (llvm/MC/MCPseudoProbe.h).
 * Addresses are distances from the probe before, the first one from the beginning of the function.
 * Up to LLVM 16, the first one of a section is an address, and distances go on from function to
 * function.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "image/private.h"
#include "image/probes.h"
#include "image/section_reader.h"

enum { KIND = 0x0f, SENTINEL = 0x20, DISCRIMINATOR = 0x40, DISTANCE = 0x80, DEEPEST = 64 };

struct probe_name { /* table entry */
	struct {
		uint64_t guid;
	} key;
	uint64_t checksum;
	const char *name; /* one of image_probes.names */
	uint64_t address; /* of the function; 0: it has no code of its own */
};

struct probe_reader {
	struct image_probes *probes;
	struct table names;
	struct section_reader in;
	bool nomem;
	bool chained;  /* distances go on from function to function */
	uint64_t last; /* address of the probe before */
};

/* ---- names ---- */

static int read_name(struct probe_reader *r)
{
	struct probe_name key = {.key = {section_reader_bytes(&r->in, 8)}}, *n;
	uint64_t checksum = section_reader_bytes(&r->in, 8), length = section_reader_uleb(&r->in);
	char **name;

	if (r->in.bad || length > r->in.left.size) {
		r->in.bad = true;
		return 0;
	}
	n = table_add(&r->names, &key.key);
	if (!n)
		return -1;
	if (!n->name) {
		name = vec_push(&r->probes->names);
		if (!name || !(*name = strndup((const char *)r->in.left.data, (size_t)length)))
			return -1;
		n->name = *name;
		n->checksum = checksum;
	}
	r->in.left.data += length;
	r->in.left.size -= (size_t)length;
	return 0;
}

struct named_code {
	const char *name;
	uint64_t address;
};

struct named_codes {
	VEC(struct named_code) all; /* by name */
};

static int take_code(void *context, const struct image_symbol *s)
{
	struct named_codes *c = context;
	const struct named_code mine = {s->name, s->address};

	return vec_add(&c->all, mine);
}

/* Suffixes of a compiler's copies hide the name: foo.llvm.123 is foo. */
static size_t plain_length(const char *name)
{
	const char *suffix = strstr(name, ".llvm.");

	return suffix ? (size_t)(suffix - name) : strlen(name);
}

static int codes_compare(const void *a, const void *b)
{
	const struct named_code *x = a, *y = b;
	size_t m = plain_length(x->name), n = plain_length(y->name);

	return memcmp(x->name, y->name, m < n ? m : n)
		       ?: sort_rising(m, n) ?: sort_rising(x->address, y->address);
}

static int find_addresses(struct probe_reader *r, struct image *image)
{
	struct named_codes c = {0};

	if (image_symbols(image, take_code, &c)) {
		vec_fini(&c.all);
		return -1;
	}
	if (c.all.count)
		qsort(c.all.data, c.all.count, sizeof(*c.all.data), codes_compare);
	for (size_t i = 0; i < r->names.count; i++) {
		struct probe_name *n = table_at(&r->names, i);
		const struct named_code key = {n->name, 0};
		size_t at = vec_search(k, c.all.count, codes_compare(&c.all.data[k], &key) < 0);

		if (at < c.all.count && plain_length(c.all.data[at].name) == strlen(n->name) &&
			strncmp(c.all.data[at].name, n->name, strlen(n->name)) == 0)
			n->address = c.all.data[at].address;
	}
	vec_fini(&c.all);
	return 0;
}

/* ---- probes ---- */

static const struct probe_name *probe_name_of(struct probe_reader *r, uint64_t guid)
{
	const struct probe_name key = {.key = {guid}};

	return table_find(&r->names, &key.key);
}

static void read_probe(struct probe_reader *r, uint32_t node)
{
	uint32_t number = (uint32_t)section_reader_uleb(&r->in);
	unsigned flags = (unsigned)section_reader_bytes(&r->in, 1);
	struct image_probe p = {.node = node, .number = number, .kind = flags & KIND};

	if (flags & DISTANCE) {
		p.address = r->last + section_reader_sleb(&r->in);
	} else {
		p.address = section_reader_bytes(&r->in, 8);
		if (flags & SENTINEL) { /* the GUID of the part of a function that follows */
			const struct probe_name *part = probe_name_of(r, p.address);

			p.address = part ? part->address : 0;
		} else {
			r->chained = true;
		}
	}
	if (flags & DISCRIMINATOR)
		(void)section_reader_uleb(&r->in);
	r->last = p.address;
	if (!r->in.bad && !(flags & SENTINEL) && vec_add(&r->probes->all, p))
		r->nomem = true;
}

static void read_node(struct probe_reader *r, uint32_t parent, unsigned depth)
{
	struct image_probe_node node = {.parent = parent,
		.site = parent == IMAGE_PROBE_ROOT ? 0 : (uint32_t)section_reader_uleb(&r->in)};
	uint64_t guid = section_reader_bytes(&r->in, 8);
	uint64_t count = section_reader_uleb(&r->in), inlined = section_reader_uleb(&r->in);
	const struct probe_name *function = probe_name_of(r, guid);
	uint32_t index = (uint32_t)r->probes->nodes.count;

	if (depth > DEEPEST)
		r->in.bad = true;
	if (function) {
		node.name = function->name;
		node.checksum = function->checksum;
	}
	if (parent == IMAGE_PROBE_ROOT && !r->chained)
		r->last = function ? function->address : 0;
	if (!r->in.bad && vec_add(&r->probes->nodes, node))
		r->nomem = true;
	for (uint64_t i = 0; i < count && !r->in.bad && !r->nomem; i++)
		read_probe(r, index);
	for (uint64_t i = 0; i < inlined && !r->in.bad && !r->nomem; i++)
		read_node(r, index, depth + 1);
}

static int probes_by_address(const void *a, const void *b)
{
	const struct image_probe *x = a, *y = b;

	return sort_rising(x->address, y->address) ?: sort_rising(x->node, y->node)
		       ?: sort_rising(x->number, y->number);
}

static int probes_read_all(struct probe_reader *r, struct image *image)
{
	r->in.left = elf_file_find(image->elf, ".pseudo_probe_desc");
	while (r->in.left.size && !r->in.bad)
		if (read_name(r))
			return -1;
	if (find_addresses(r, image))
		return -1;
	r->in.left = elf_file_find(image->elf, ".pseudo_probe");
	while (r->in.left.size && !r->in.bad && !r->nomem)
		read_node(r, IMAGE_PROBE_ROOT, 0);
	if (r->probes->all.count)
		qsort(r->probes->all.data, r->probes->all.count, sizeof(struct image_probe),
			probes_by_address);
	return r->nomem ? -1 : 0;
}

int image_probes_read(struct image *image, struct image_probes *probes, struct error *e)
{
	struct probe_reader r = {.probes = probes, .names = TABLE_OF(struct probe_name)};
	int rc;

	*probes = (struct image_probes){0};
	rc = probes_read_all(&r, image);
	table_fini(&r.names);
	if (rc)
		error_nomem(e);
	else if (r.in.bad)
		rc = error_set(e, ERR_PARSE, "%s: its pseudo-probes are damaged", image->path);
	if (rc)
		image_probes_fini(probes);
	return rc;
}

void image_probes_fini(struct image_probes *probes)
{
	for (size_t i = 0; i < probes->names.count; i++)
		free(probes->names.data[i]);
	vec_fini(&probes->names);
	vec_fini(&probes->nodes);
	vec_fini(&probes->all);
	*probes = (struct image_probes){0};
}
