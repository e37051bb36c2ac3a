/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of data space in the file, ssexp(5). */
#include "experiment/coding.h"
#include "experiment/data.h"
#include "experiment/private.h"

const char experiment_data_types[DATA_TABLES][5] = {
	[DATA_OBJECTS] = "DOBJ",
	[DATA_PLACES] = "DPLA",
	[DATA_TOUCHES] = "DTOU",
	[DATA_LINES] = "DLIN",
	[DATA_ENDS] = "DEND",
};

/* ---- writing ---- */

static void put_object(const struct experiment *x, size_t row, struct strbuf *to)
{
	const struct experiment_object *o = experiment_object_at(x, row);

	put_uint(to, o->key.kind);
	put_uint(to, o->key.image);
	put_uint(to, o->key.node);
	put_uint(to, o->key.address);
	put_uint(to, o->key.size);
	put_uint(to, o->key.thread);
	put_uint(to, o->blocks);
	put_uint(to, o->bytes);
	put_uint(to, o->begins);
}

static void put_place(const struct experiment *x, size_t row, struct strbuf *to)
{
	const struct experiment_place *p = experiment_place_at(x, row);

	put_uint(to, p->key.object);
	put_uint(to, p->key.scale);
	put_sint(to, p->key.line);
	put_uint(to, p->key.metric);
	put_uint(to, p->count);
}

static void put_touch(const struct experiment *x, size_t row, struct strbuf *to)
{
	const struct experiment_touch *t = experiment_touch_at(x, row);

	put_uint(to, t->key.object);
	put_uint(to, t->key.image);
	put_uint(to, t->key.address);
	put_uint(to, t->key.metric);
	put_uint(to, t->count);
	put_sint(to, t->least);
	put_sint(to, t->most);
	put_uint(to, t->apart);
}

static void put_line(const struct experiment *x, size_t row, struct strbuf *to)
{
	const struct experiment_line *l = experiment_line_at(x, row);

	put_uint(to, l->key.object);
	put_sint(to, l->key.offset);
	put_uint(to, l->key.bytes);
	put_uint(to, l->requests);
	put_uint(to, l->needed);
	put_uint(to, l->useless);
}

static void put_end(const struct experiment *x, size_t row, struct strbuf *to)
{
	const struct experiment_end *e = experiment_end_at(x, row);

	put_uint(to, e->key.line);
	put_uint(to, e->key.thread);
	put_uint(to, e->key.object);
	put_uint(to, e->key.image);
	put_uint(to, e->key.address);
	put_uint(to, e->requests);
	put_uint(to, e->loads);
	put_uint(to, e->stores);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		put_uint(to, e->read[i]);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		put_uint(to, e->written[i]);
}

void experiment_data_put(const struct experiment *x, int which, size_t row, struct strbuf *to)
{
	static void (*const put[])(const struct experiment *, size_t, struct strbuf *) = {
		[DATA_OBJECTS] = put_object,
		[DATA_PLACES] = put_place,
		[DATA_TOUCHES] = put_touch,
		[DATA_LINES] = put_line,
		[DATA_ENDS] = put_end,
	};

	put[which](x, row, to);
}

/* ---- reading ---- */

static int64_t get_sint(struct cursor *c)
{
	return unzigzag(get_uint(c));
}

static void get_object(const struct experiment *x, void *row, struct cursor *c)
{
	struct experiment_object *o = row;

	o->key.kind = get_below(c, EXPERIMENT_OBJECT_KINDS);
	o->key.image = get_below(c, x->images.count);
	o->key.node = get_below(c, x->nodes.count);
	o->key.address = get_uint(c);
	o->key.size = get_uint(c);
	o->key.thread = get_u32(c);
	o->blocks = get_uint(c);
	o->bytes = get_uint(c);
	o->begins = get_below(c, EXPERIMENT_SEVERAL + 1);
}

static void get_place(const struct experiment *x, void *row, struct cursor *c)
{
	struct experiment_place *p = row;

	p->key.object = get_below(c, x->data.objects.count);
	p->key.scale = get_below(c, EXPERIMENT_SCALE_MAX + 1);
	p->key.line = get_sint(c);
	p->key.metric = get_below(c, x->data.metrics.count);
	p->count = get_uint(c);
	c->bad |= p->count == 0;
}

static void get_touch(const struct experiment *x, void *row, struct cursor *c)
{
	struct experiment_touch *t = row;

	t->key.object = get_below(c, x->data.objects.count);
	t->key.image = get_below(c, x->images.count);
	t->key.address = get_uint(c);
	t->key.metric = get_below(c, x->data.metrics.count);
	t->count = get_uint(c);
	t->least = get_sint(c);
	t->most = get_sint(c);
	t->apart = get_uint(c);
	c->bad |= t->count == 0;
}

static void get_line(const struct experiment *x, void *row, struct cursor *c)
{
	struct experiment_line *l = row;

	l->key.object = get_below(c, x->data.objects.count);
	l->key.offset = get_sint(c);
	l->key.bytes = get_uint(c);
	l->requests = get_uint(c);
	l->needed = get_uint(c);
	l->useless = get_uint(c);
}

static void get_end(const struct experiment *x, void *row, struct cursor *c)
{
	struct experiment_end *e = row;

	e->key.line = get_below(c, x->data.lines.count);
	e->key.thread = get_u32(c);
	e->key.object = get_below(c, x->data.objects.count);
	e->key.image = get_below(c, x->images.count);
	e->key.address = get_uint(c);
	e->requests = get_uint(c);
	e->loads = get_uint(c);
	e->stores = get_uint(c);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		e->read[i] = get_uint(c);
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		e->written[i] = get_uint(c);
}

bool experiment_data_get(struct experiment *x, int which, struct cursor *c, bool *nomem)
{
	static void (*const get[])(const struct experiment *, void *, struct cursor *) = {
		[DATA_OBJECTS] = get_object,
		[DATA_PLACES] = get_place,
		[DATA_TOUCHES] = get_touch,
		[DATA_LINES] = get_line,
		[DATA_ENDS] = get_end,
	};
	struct table *t = experiment_data_table(x, which);
	void *row = table_append(t);

	*nomem = !row;
	if (!row)
		return false;
	get[which](x, row, c);
	return !c->bad &&
	       (t->count < 2 || experiment_data_order(which, table_at(t, t->count - 2), row) < 0);
}
