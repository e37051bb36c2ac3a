/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pictures (picture/picture.h) as self-contained gnuplot scripts, and gnuplot run on them.
 *
 * Names come from programs and may contain anything: each becomes a string in single quotes, in
 * which gnuplot expands nothing, and all except printable UTF-8 becomes '?'. Data are numbers
 * alone.
 */
#ifndef PICTURE_PLOT_H
#define PICTURE_PLOT_H

#include "base/error.h"
#include "base/strbuf.h"
#include "picture/picture.h"

struct plot_output {
	const char *path; /* .png, .svg or .pdf; "-": the terminal */
	unsigned columns; /* of the terminal; 0: 79 */
	bool utf8;        /* the terminal displays UTF-8 */
};

/* Can a picture with this name be drawn? -1 with *e set if the name does not give its kind. */
int plot_check(const char *path, struct error *e);

/* Appends the script. */
int plot_script(
	const struct picture *p, const struct plot_output *to, struct strbuf *out, struct error *e);

/* Writes the script beside the picture (x.gp for x.png) and runs gnuplot on it; its output for the
 * terminal is added to text. The script is kept, except for a picture on the terminal that was
 * drawn. ERR_NOT_FOUND: there is no gnuplot. */
int plot_draw(const struct plot_output *to, const struct strbuf *script, struct strbuf *text,
	struct error *e);

/* Text as gnuplot reads it literally, in single quotes. */
void plot_quoted(struct strbuf *out, const char *text, bool utf8);

#endif
