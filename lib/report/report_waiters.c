/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which thread is idle, and why, is the question that brings most readers to -waits. So each place
 * has its threads, and the head has those that waited longest. */
#include "report/report_waiters.h"

#include "base/sort.h"
#include "base/strbuf.h"
#include "report/report_columns.h"
#include "report/report_waits.h"

enum { WAITERS_SHOWN = 3, HEAD_SHOWN = 2, HEAD_WIDTH = 67 };

/* A thread in a row of the report; table entry. */
struct waiter {
	struct {
		uint32_t wait, reason, input, process;
		int32_t tid;
		uint32_t reserved;
	} key;
	uint64_t time;
	uint32_t thread;
};

void report_waiters_init(struct report_waiters *w, struct prof_data *d)
{
	*w = (struct report_waiters){.d = d, .rows = TABLE_OF(struct waiter)};
}

void report_waiters_fini(struct report_waiters *w)
{
	table_fini(&w->rows);
}

/* Threads that a sum of runs has folded have no names. */
int report_waiters_add(struct report_waiters *w, long wait, uint32_t reason, size_t input,
	const struct experiment_pause *p)
{
	const struct experiment *x = w->d->request->inputs[input].experiment;
	const struct experiment_thread *t = &x->threads.data[p->key.thread];
	struct waiter key = {.key = {(uint32_t)wait, reason, (uint32_t)input, t->process, t->tid,
				     0}},
		      *own;

	if (wait < 0 || !p->key.thread || w->d->request->threads)
		return 0;
	own = table_add(&w->rows, &key.key);
	if (!own)
		return -1;
	own->thread = p->key.thread;
	own->time += p->time;
	return 0;
}

static int waiter_order(const void *pa, const void *pb)
{
	const struct waiter *a = pa, *b = pb;

	return sort_rising(a->key.wait, b->key.wait)
		       ?: sort_falling(a->time, b->time)
		       ?: sort_rising(a->key.input, b->key.input)
		       ?: sort_rising(a->thread, b->thread);
}

void report_waiters_sort(struct report_waiters *w)
{
	table_sort(&w->rows, waiter_order);
}

/* Those of a row, the longest first. */
static const struct waiter *waiters_of(const struct report_waiters *w, size_t wait, size_t *count)
{
	size_t low = 0, high = w->rows.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (((struct waiter *)table_at(&w->rows, middle))->key.wait < wait)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < w->rows.count; high++)
		if (((struct waiter *)table_at(&w->rows, high))->key.wait != wait)
			break;
	*count = high - low;
	return *count ? table_at(&w->rows, low) : NULL;
}

const char *report_waiters_text(const struct report_waiters *w, struct report_table *t, size_t wait)
{
	size_t count;
	const struct waiter *waiters = waiters_of(w, wait, &count);
	struct strbuf text = {0};
	const char *shown = NULL;

	for (size_t i = 0; i < count && i < WAITERS_SHOWN; i++) {
		strbuf_puts(&text, i ? ", " : count > 1 ? "threads " : "thread ");
		report_waits_thread(w->d, waiters[i].key.input, waiters[i].thread, &text);
	}
	if (count > WAITERS_SHOWN)
		strbuf_printf(&text, " and %zu more", count - WAITERS_SHOWN);
	if (count)
		shown = report_text(t, "%s", strbuf_text(&text));
	t->failed |= text.failed;
	strbuf_fini(&text);
	return shown;
}

/* The share of a thread's waits that had its main reason. */
static double main_reason(
	const struct report_waiters *w, const struct waiter *of, const char **word)
{
	uint64_t most = 0;

	for (size_t i = 0; i < w->rows.count; i++) {
		const struct waiter *own = table_at(&w->rows, i);

		if (own->key.reason >= PAUSE_REASONS || own->key.input != of->key.input ||
			own->key.process != of->key.process || own->key.tid != of->key.tid ||
			own->time <= most)
			continue;
		most = own->time;
		*word = experiment_pause_words[own->key.reason];
	}
	return report_percent((double)most, (double)of->time);
}

static void put_longest(const struct report_waiters *w, struct strbuf *text, size_t most)
{
	size_t count;
	const struct waiter *waiters = waiters_of(w, 0, &count);

	for (size_t i = 0; i < count && i < most; i++) {
		const char *word = "";
		double percent = main_reason(w, &waiters[i], &word);

		strbuf_puts(text, i ? "; " : "");
		report_waits_thread(w->d, waiters[i].key.input, waiters[i].thread, text);
		strbuf_printf(
			text, " %.3f s (%.0f%% %s)", (double)waiters[i].time * 1e-9, percent, word);
	}
	if (count > most)
		strbuf_printf(text, "; %zu more", count - most);
}

void report_waiters_head(const struct report_waiters *w, struct report_table *t)
{
	struct strbuf brief = {0}, all = {0};
	size_t count;

	waiters_of(w, 0, &count);
	if (count < 2)
		return;
	for (size_t most = HEAD_SHOWN; most && (!brief.length || brief.length > HEAD_WIDTH);
		most--) {
		brief.length = 0;
		put_longest(w, &brief, most);
	}
	put_longest(w, &all, count);
	report_brief(t, "Waited", "%s", strbuf_text(&brief));
	report_head(t, "Waited", "%s", strbuf_text(&all));
	t->failed |= brief.failed || all.failed;
	strbuf_fini(&brief);
	strbuf_fini(&all);
}
