/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that perf record writes beside the records: the host, the command, names of events,
 * build-ids. */
#include <stdio.h>
#include <stdlib.h>

#include "perfdata/private.h"

enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_STAT = 19,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_CLOCK_DATA = 29
};

struct bytes {
	const struct perfdata *p;
	const char *at, *end;
	bool failed;
};

static const char *features_take(struct bytes *b, uint64_t size)
{
	const char *at = b->at;

	if (b->failed || size > (uint64_t)(b->end - b->at)) {
		b->failed = true;
		return NULL;
	}
	b->at += size;
	return at;
}

static uint32_t take_u32(struct bytes *b)
{
	const char *at = features_take(b, 4);

	return at ? perfdata_u32(b->p, at) : 0;
}

static uint64_t take_u64(struct bytes *b)
{
	const char *at = features_take(b, 8);

	return at ? perfdata_u64(b->p, at) : 0;
}

/* Padded with zeros; NULL: there is none.  *length without them. */
static const char *take_string(struct bytes *b, size_t *length)
{
	uint32_t size = take_u32(b);
	const char *at = features_take(b, size);

	*length = at ? strnlen(at, size) : 0;
	return at;
}

static int features_read_text(struct perfdata *p, struct bytes *b, enum perfdata_text which)
{
	size_t length;
	const char *text = take_string(b, &length);

	return text && length ? perfdata_keep_text(&p->texts[which], text, length, ' ') : 0;
}

/* Reads the words of the command line, as many as there are. */
static int features_read_command(struct perfdata *p, struct bytes *b)
{
	uint32_t count = take_u32(b);
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&line, &size);
	int rc = 0;

	if (!f)
		return -1;
	for (uint32_t i = 0; i < count && !b->failed; i++) {
		size_t length;
		const char *word = take_string(b, &length);

		if (word)
			fprintf(f, "%s%.*s", i ? " " : "", (int)length, word);
	}
	if (fclose(f))
		rc = -1;
	else if (size)
		rc = perfdata_keep_text(&p->command, line, size, ' ');
	free(line);
	return rc;
}

/* The attributes again, with names and ids: the ids identify the event. */
static int features_read_names(struct perfdata *p, struct bytes *b)
{
	uint32_t count = take_u32(b), size = take_u32(b);

	for (uint32_t i = 0; i < count && !b->failed; i++) {
		uint32_t ids, event = i;
		const char *name, *first;
		size_t length;

		features_take(b, size);
		ids = take_u32(b);
		name = take_string(b, &length);
		first = features_take(b, (uint64_t)ids * 8);
		if (!first)
			break;
		if (ids) {
			const struct perfdata_id *id = perfdata_find_id(p, perfdata_u64(p, first));

			event = id ? id->event : event;
		}
		if (event < p->events.count && length && perfdata_set_name(p, event, name, length))
			return -1;
	}
	return 0;
}

/* ---- build-ids ------------------------------------------------------------------------------- */

struct path {
	struct {
		uint64_t hash;
	} key;
	uint32_t index; /* in build_ids, plus 1 */
};

const struct perfdata_build_id *perfdata_find_build_id(const struct perfdata *p, const char *path)
{
	struct path key = {.key = {table_hash(path, strlen(path))}},
		    *found = table_find(&p->paths, &key.key);
	const struct perfdata_build_id *id = found ? &p->build_ids.data[found->index - 1] : NULL;

	return id && strcmp(id->path, path) == 0 && !id->ambiguous ? id : NULL;
}

int perfdata_add_build_id(struct perfdata *p, const char *record, size_t size)
{
	enum { AT_ID = 12, AT_PATH = 36, HAS_SIZE = 1 << 15 };
	struct perfdata_build_id *own, id = {.length = 20};
	struct path key = {{0}, 0}, *path;
	size_t length;

	if (size <= AT_PATH)
		return 0;
	if (perfdata_u16(p, record + 4) & HAS_SIZE)
		id.length = (uint8_t)record[AT_ID + 20] <= 20 ? (uint8_t)record[AT_ID + 20] : 20;
	memcpy(id.bytes, record + AT_ID, 20);
	length = strnlen(record + AT_PATH, size - AT_PATH);
	id.path = strndup(record + AT_PATH, length);
	if (!id.path)
		return -1;
	key.key.hash = table_hash(id.path, length);
	path = table_add(&p->paths, &key.key);
	if (path && path->index) {
		own = &p->build_ids.data[path->index - 1];
		own->ambiguous = own->ambiguous || strcmp(own->path, id.path) != 0 ||
				 memcmp(own->bytes, id.bytes, sizeof(id.bytes)) != 0;
		free(id.path);
		return 0;
	}
	own = vec_push(&p->build_ids);
	if (!own) {
		free(id.path);
		return -1;
	}
	*own = id; /* file_fini frees its contents */
	if (!path)
		return -1;
	path->index = (uint32_t)p->build_ids.count;
	return 0;
}

static int read_build_ids(struct perfdata *p, const char *at, size_t size)
{
	while (size >= sizeof(struct perf_event_header)) {
		size_t record = perfdata_u16(p, at + 6);

		if (record < sizeof(struct perf_event_header) || record > size)
			return 0;
		if (perfdata_add_build_id(p, at, record))
			return -1;
		at += record;
		size -= record;
	}
	return 0;
}

/* ---- which one ------------------------------------------------------------------------------- */

int perfdata_feature(struct perfdata *p, unsigned number, const char *at, size_t size)
{
	static const struct {
		unsigned number;
		enum perfdata_text text;
	} texts[] = {{FEATURE_HOSTNAME, PERFDATA_HOST}, {FEATURE_OSRELEASE, PERFDATA_KERNEL},
		{FEATURE_VERSION, PERFDATA_VERSION}, {FEATURE_ARCH, PERFDATA_ARCH},
		{FEATURE_CPUDESC, PERFDATA_CPU}};
	struct bytes b = {.p = p, .at = at, .end = at + size};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].number == number)
			return features_read_text(p, &b, texts[i].text);
	switch (number) {
	case FEATURE_BUILD_ID:
		return read_build_ids(p, at, size);
	case FEATURE_NRCPUS: /* online, available */
		p->processors = take_u32(&b);
		return 0;
	case FEATURE_CMDLINE:
		return features_read_command(p, &b);
	case FEATURE_EVENT_DESC:
		return features_read_names(p, &b);
	case FEATURE_STAT:
		p->counts = true;
		return 0;
	case FEATURE_DIR_FORMAT:
		p->directory = true;
		return 0;
	case FEATURE_CLOCK_DATA: /* version, clock, since 1970, by the clock */
		features_take(&b, 8);
		p->realtime = take_u64(&b);
		p->clock = take_u64(&b);
		if (b.failed)
			p->realtime = p->clock = 0;
		return 0;
	default:
		return 0;
	}
}
