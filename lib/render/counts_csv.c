/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sheet.h"
#include "render/counts.h"
#include "render/number.h"

static void line(struct strbuf *out, pid_t pid, pid_t tid, const struct event_row *row,
	const struct count *count, bool costed)
{
	if (pid)
		strbuf_printf(out, "%d,%d,", (int)pid, (int)tid);
	else
		strbuf_puts(out, ",,");
	if (row->number >= 0)
		strbuf_printf(out, "%d", row->number);
	strbuf_putc(out, ',');
	sheet_csv_text(out, row->short_name);
	strbuf_putc(out, ',');
	sheet_csv_text(out, row->name);
	strbuf_putc(out, ',');
	sheet_csv_text(out, row->unit);
	strbuf_putc(out, ',');
	number_csv(out, &count->quantity, NUMBER_COUNT);
	if (costed) {
		const double seconds[] = {row->typical, row->minimum, row->maximum};

		for (int i = 0; i < 3; i++) {
			strbuf_putc(out, ',');
			number_figure(out, seconds[i], NUMBER_SECONDS);
		}
		strbuf_printf(out, ",%s,", label_name(LABEL_ESTIMATED));
	} else {
		strbuf_puts(out, ",,,,,");
	}
	sheet_csv_text(out, count->why);
	strbuf_putc(out, '\n');
}

static void native_line(struct strbuf *out, const char *name, const struct quantity *seconds)
{
	strbuf_printf(out, ",,,,%s,seconds,", name);
	number_csv(out, seconds, NUMBER_SECONDS);
	strbuf_puts(out, ",,,,,without the model\n");
}

void render_counts_csv(const struct counts_report *r, struct strbuf *out)
{
	strbuf_puts(out, "pid,tid,number,short,name,unit,count,low,high,label,"
			 "typical_seconds,minimum_seconds,maximum_seconds,seconds_label,remark\n");
	for (size_t i = 0; i < r->event_count; i++)
		line(out, 0, 0, &r->events[i], &r->events[i].count, r->events[i].costed);
	if (r->native.runs) {
		native_line(out, "user time", &r->native.user);
		native_line(out, "system time", &r->native.system);
		native_line(out, "elapsed time", &r->native.elapsed);
	}
	for (size_t t = 0; t < r->thread_count; t++)
		for (size_t i = 0; i < r->event_count; i++)
			line(out, r->threads[t].pid, r->threads[t].tid, &r->events[i],
				&r->threads[t].counts[i], false);
}
