/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are synced together and then named. */
#include <errno.h>
#include <unistd.h>

#include "store/private.h"

/* From this number on, syncing the whole file system once takes less time than each file. */
enum { TOGETHER = 8 };

int store_batch_add(struct store_batch *b, const char *path, const struct strbuf *text,
	uint32_t image, struct error *e)
{
	struct file_out *f = &b->files[b->count];

	if (text->failed)
		return error_nomem(e);
	if (file_create(f, path, e))
		return -1;
	file_private(f);
	if (fwrite(strbuf_text(text), 1, text->length, f->stream) != text->length ||
		fflush(f->stream)) {
		error_sys(e, errno, "cannot write %s", path);
		file_abandon(f);
		return -1;
	}
	b->image[b->count++] = image;
	return 0;
}

bool store_batch_full(const struct store_batch *b)
{
	return b->count + STORE_FILES_OF_PART > STORE_BATCH;
}

int store_batch_end(struct store_batch *b, bool *failed, struct error *e)
{
	bool synced = b->count >= TOGETHER && syncfs(fileno(b->files[0].stream)) == 0;
	int rc = 0;

	for (size_t i = 0; i < b->count; i++) {
		struct file_out *f = &b->files[i];

		if (!synced && fsync(fileno(f->stream))) {
			error_sys(e, errno, "cannot write %s", f->path);
			file_abandon(f);
		} else if (file_commit(f, e) == 0) {
			continue;
		}
		rc = -1;
		if (failed)
			failed[b->image[i]] = true;
	}
	b->count = 0;
	return rc;
}

int store_write(const char *path, const struct strbuf *text, struct error *e)
{
	struct store_batch b = {.count = 0};

	return store_batch_add(&b, path, text, 0, e) || store_batch_end(&b, NULL, e) ? -1 : 0;
}
