/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that the reports asked for do not take are said, not ignored. */
#include "base/say.h"
#include "base/strbuf.h"
#include "prof.h"
#include "report/views.h"

struct effect {
	const char *option;
	bool given;
	unsigned takes; /* enum view_flags: one of them is enough */
};

/* " -dis, -calc": views that take it. */
static void put_takers(struct strbuf *to, unsigned takes)
{
	size_t count = 0;

	for (size_t i = 0; report_views[i].name; i++)
		if (report_views[i].flags & takes)
			strbuf_printf(to, "%s -%s", count++ ? "," : "", report_views[i].name);
}

static void say_effect(const struct options *o, const struct effect *x)
{
	struct strbuf without = {0}, takers = {0};
	bool any = false;

	for (size_t i = 0; report_views[i].name; i++) {
		if (!o->view[i])
			continue;
		any = true;
		if (report_views[i].flags & x->takes)
			goto done;
		strbuf_printf(&without, "%s-%s", without.length ? ", " : "", report_views[i].name);
	}
	if (!any && report_views[0].flags & x->takes)
		goto done;
	put_takers(&takers, x->takes);
	say("-%s has no effect on %s: it is for%s", x->option,
		any ? strbuf_text(&without) : "the list of functions", strbuf_text(&takers));
done:
	strbuf_fini(&without);
	strbuf_fini(&takers);
}

void say_without_effect(const struct options *o)
{
	const struct prof_request *r = &o->request;
	const struct effect effects[] = {
		{r->by ? "by" : "by thread", r->threads, VIEW_BY},
		{"inclusive", r->inclusive, VIEW_INCLUSIVE},
		{"inlines", r->inlines, VIEW_INLINES},
		{"raw", r->raw, VIEW_RAW | (r->inlines ? VIEW_RAW_INLINES : 0)},
		{"intel", r->intel, VIEW_INTEL},
		{"whole", r->whole && !r->inclusive, VIEW_WHOLE},
		{"classic", r->classic, VIEW_CYCLES},
		{"core", r->core != NULL, VIEW_CYCLES},
	};

	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		if (effects[i].given)
			say_effect(o, &effects[i]);
	for (size_t i = 0; o->only.count > 1 && report_views[i].name; i++)
		if (o->view[i] && report_views[i].flags & VIEW_RUN)
			say("-only %s has no effect on -%s, which is about processes: "
			    "-only process:NAME selects some",
				o->only.data[0], report_views[i].name);
}
