/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/shown.h"
#include "perfex.h"

int output(const struct options *o, const struct strbuf *text, FILE *stream, struct error *e)
{
	struct file_out f;

	if (text->failed)
		return error_nomem(e);
	if (!o->output || strcmp(o->output, "-") == 0) {
		stream = o->output ? stdout : stream;
		errno = 0;
		if (shown_write(stream, text) || fflush(stream))
			return error_sys(e, errno, "cannot write the report");
		return 0;
	}
	if (file_create(&f, o->output, e))
		return -1;
	shown_write(f.stream, text);
	return file_commit(&f, e);
}
