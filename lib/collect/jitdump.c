/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/jitdump.h"

#include <fnmatch.h>
#include <string.h>

#include "base/file.h"
#include "base/table.h"

#define MAGIC        0x4a695444u
#define HEADER       40 /* bytes of version 1; a later one may have more */
#define RECORD_LOAD  0
#define RECORD_MOVE  1
#define RECORD_CLOSE 3
#define PREFIX       16
#define LOAD         (PREFIX + 40) /* then the name and the code */
#define MOVE         (PREFIX + 48)

struct moved { /* what was compiled, by its number */
	struct {
		uint64_t index;
	} key;
	const char *name;
};

struct dump {
	const uint8_t *at;
	size_t size; /* of the record */
	struct table compiled;
	int (*call)(void *context, const struct jitdump_function *f);
	void *context;
};

bool jitdump_is_path(const char *path)
{
	return fnmatch("jit-[0-9]*.dump", file_base_name(path), 0) == 0;
}

static uint32_t dump_half(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint64_t dump_word(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* pid, tid, vma, address, size, index, name, code. */
static int dump_load(struct dump *d)
{
	const char *name = (const char *)d->at + LOAD;
	struct jitdump_function f = {.name = name};
	struct moved key = {{0}, NULL}, *own;

	if (d->size <= LOAD || !memchr(name, 0, d->size - LOAD))
		return 0;
	f.address = dump_word(d->at + PREFIX + 16);
	f.size = dump_word(d->at + PREFIX + 24);
	key.key.index = dump_word(d->at + PREFIX + 32);
	own = table_add(&d->compiled, &key.key);
	if (!own)
		return -1;
	own->name = name;
	return f.size ? d->call(d->context, &f) : 0;
}

/* pid, tid, vma, old address, new address, size, index. */
static int dump_move(struct dump *d)
{
	struct jitdump_function f = {0};
	struct moved key = {{0}, NULL}, *own;

	if (d->size < MOVE)
		return 0;
	key.key.index = dump_word(d->at + PREFIX + 40);
	own = table_find(&d->compiled, &key.key);
	f.address = dump_word(d->at + PREFIX + 24);
	f.size = dump_word(d->at + PREFIX + 32);
	f.name = own ? own->name : NULL;
	return f.name && f.size ? d->call(d->context, &f) : 0;
}

int jitdump_parse(const void *data, size_t size,
	int (*call)(void *context, const struct jitdump_function *f), void *context)
{
	struct dump d = {
		.at = data, .compiled = TABLE_OF(struct moved), .call = call, .context = context};
	size_t left = size;
	int rc = 0;

	if (size < HEADER || dump_half(d.at) != MAGIC || dump_half(d.at + 8) < HEADER ||
		dump_half(d.at + 8) > size)
		return 1;
	left -= dump_half(d.at + 8);
	d.at += dump_half(d.at + 8);
	for (; rc == 0 && left >= PREFIX; d.at += d.size, left -= d.size) {
		d.size = dump_half(d.at + 4);
		if (d.size < PREFIX || d.size > left || dump_half(d.at) == RECORD_CLOSE)
			break;
		if (dump_half(d.at) == RECORD_LOAD)
			rc = dump_load(&d);
		else if (dump_half(d.at) == RECORD_MOVE)
			rc = dump_move(&d);
	}
	table_fini(&d.compiled);
	return rc;
}
