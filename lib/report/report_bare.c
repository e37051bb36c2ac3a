/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report that is empty because of what was selected says so. */
#include "report/views.h"

/* Is it a table without a row of its own, where a row is what it is for? */
static bool is_bare(const struct report_table *t)
{
	for (size_t i = 0; i < t->rows.count; i++)
		if (t->rows.data[i].role != REPORT_TOTAL)
			return false;
	return t->layout != REPORT_FACTS && !t->failed;
}

/* "-only find*, -from 20%": what selects a part of the run; NULL: nothing does. */
static const char *selected_by(struct report_table *t, const struct prof_request *r)
{
	const struct {
		const char *option, *value;
	} given[] = {
		{"only", r->only ? r->only[0] : NULL},
		{"exclude", r->exclude ? r->exclude[0] : NULL},
		{"only", r->only_whom ? r->only_whom[0] : NULL},
		{"exclude", r->exclude_whom ? r->exclude_whom[0] : NULL},
		{"from", r->from},
		{"to", r->to},
		{"calipers", r->calipers},
	};
	const char *text = NULL;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].value)
			text = report_text(t, "%s%s-%s %s", text ? text : "", text ? ", " : "",
				given[i].option, given[i].value);
	return text;
}

void report_note_bare(struct report_table *t, const struct prof_request *r, const struct view *view)
{
	const char *by = is_bare(t) ? selected_by(t, r) : NULL;

	if (!by)
		return;
	t->incomplete = true;
	if (view->flags & VIEW_OBJECTS)
		report_note(t,
			"%s: no object of this report is selected, by its name or image: without "
			"it, -%s lists them; -heavy and -procedures select functions",
			by, view->name);
	else
		report_note(t, "%s: nothing of this report is selected: -%s without it has all", by,
			view->name);
}
