/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"

void picture_fini(struct picture *p)
{
	for (size_t i = 0; i < p->panels.count; i++) {
		struct picture_panel *panel = &p->panels.data[i];

		for (size_t k = 0; k < panel->series.count; k++)
			vec_fini(&panel->series.data[k].points);
		vec_fini(&panel->series);
		vec_fini(&panel->categories);
	}
	vec_fini(&p->panels);
	for (size_t i = 0; i < p->arena.count; i++)
		free(p->arena.data[i]);
	vec_fini(&p->arena);
	*p = (struct picture){.title = NULL};
}

const char *picture_text(struct picture *p, const char *format, ...)
{
	char **slot = vec_push(&p->arena);
	va_list ap;

	if (!slot)
		return NULL;
	va_start(ap, format);
	if (vasprintf(slot, format, ap) < 0)
		*slot = NULL;
	va_end(ap);
	return *slot;
}

struct picture_panel *picture_panel_add(struct picture *p, enum picture_shape shape)
{
	struct picture_panel *panel = vec_push(&p->panels);

	if (panel)
		panel->shape = shape;
	return panel;
}

struct picture_series *picture_series_add(struct picture_panel *panel, const char *name)
{
	struct picture_series *s;

	if (!name)
		return NULL;
	s = vec_push(&panel->series);
	if (s)
		s->name = name;
	return s;
}

long picture_category_add(struct picture_panel *panel, const char *name)
{
	const char **slot;

	if (!name)
		return -1;
	slot = vec_push(&panel->categories);
	if (!slot)
		return -1;
	*slot = name;
	return (long)panel->categories.count - 1;
}

int picture_point_add(struct picture_series *s, double x, double y, double low, double high)
{
	struct picture_point *point = vec_push(&s->points);

	if (!point)
		return -1;
	*point = (struct picture_point){x, y, low, high};
	return 0;
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
	result = text.failed ? NULL : picture_text(p, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	return result;
}
