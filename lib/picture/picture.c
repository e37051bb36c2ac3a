/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

static void fini_panel(struct picture_panel *panel)
{
	for (size_t i = 0; i < panel->series.count; i++)
		vec_fini(&panel->series.data[i].points);
	vec_fini(&panel->series);
	vec_fini(&panel->categories);
}

void picture_fini(struct picture *p)
{
	for (size_t i = 0; i < p->panels.count; i++)
		fini_panel(&p->panels.data[i]);
	fini_panel(&p->spare_panel);
	vec_fini(&p->spare_series.points);
	vec_fini(&p->panels);
	for (size_t i = 0; i < p->arena.count; i++)
		free(p->arena.data[i]);
	vec_fini(&p->arena);
	*p = (struct picture){.title = NULL};
}

int picture_finish(const struct picture *p, struct error *e)
{
	return p->failed ? error_nomem(e) : 0;
}

const char *picture_text(struct picture *p, const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	int length;

	va_start(ap, format);
	length = vasprintf(&text, format, ap);
	va_end(ap);
	if (length >= 0 && vec_add(&p->arena, text) == 0)
		return text;
	if (length >= 0)
		free(text);
	p->failed = true;
	return "";
}

struct picture_panel *picture_panel_add(struct picture *p, enum picture_shape shape)
{
	struct picture_panel *panel = vec_push(&p->panels);

	p->failed |= !panel;
	panel = panel ? panel : &p->spare_panel;
	panel->shape = shape;
	return panel;
}

struct picture_series *picture_series_add(
	struct picture *p, struct picture_panel *panel, const char *name)
{
	struct picture_series *s = vec_push(&panel->series);

	p->failed |= !s;
	s = s ? s : &p->spare_series;
	s->name = name;
	return s;
}

size_t picture_category_add(struct picture *p, struct picture_panel *panel, const char *name)
{
	p->failed |= vec_add(&panel->categories, name) != 0;
	return panel->categories.count - 1;
}

void picture_point_add(
	struct picture *p, struct picture_series *s, double x, double y, double low, double high)
{
	const struct picture_point point = {x, y, low, high};

	p->failed |= vec_add(&s->points, point) != 0;
}

const char *picture_command(struct picture *p, const char *const *words, size_t length)
{
	struct strbuf text = {0};
	const char *result;

	for (size_t i = 0; words[i]; i++) {
		const char *slash = i ? NULL : strrchr(words[i], '/');

		strbuf_puts(&text, i ? " " : "");
		strbuf_puts(&text, slash && slash[1] ? slash + 1 : words[i]);
	}
	if (text.length > length) {
		while (length > 3 && ((unsigned char)text.data[length - 3] & 0xc0) == 0x80)
			length--;
		text.length = length - 3;
		strbuf_puts(&text, "...");
	}
	p->failed |= text.failed;
	result = picture_text(p, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	return result;
}
