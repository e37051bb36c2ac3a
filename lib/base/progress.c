/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/shown.h"

void progress_begin(struct progress *p, bool enabled)
{
	const char *term = getenv("TERM");

	memset(p, 0, sizeof(*p));
	p->enabled = enabled && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	p->begin = p->last = clock_seconds();
}

void progress_step(struct progress *p, double fraction, const char *what)
{
	struct strbuf shown = {0};
	enum { WIDTH = 30 };
	char bar[WIDTH + 1];
	bool known = fraction >= 0;
	double now;
	int full;

	if (!p || !p->enabled)
		return;
	now = clock_seconds();
	if (now - p->begin < 1.0 || now - p->last < 0.1)
		return;
	p->last = now;
	p->drawn = true;
	fraction = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
	full = (int)(fraction * WIDTH);
	memset(bar, '.', WIDTH);
	memset(bar, '#', (size_t)full);
	bar[WIDTH] = '\0';
	what = shown_text(what ? what : "", &shown);
	/* The cursor stays at the left, so the command's own output overwrites the bar. */
	if (known)
		fprintf(stderr, "\r[%s] %3.0f%% %-40.40s\r", bar, fraction * 100, what);
	else
		fprintf(stderr, "\r%-77.77s\r", what);
	strbuf_fini(&shown);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p && p->drawn)
		fprintf(stderr, "\r%78s\r", "");
	if (p)
		p->drawn = false;
}
