/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No number leaves without its label.  Reports with every label in every place are drawn in every
 * format; a count of LABEL_NONE holds a figure that must appear nowhere, and each line that shows a
 * labelled figure must show the label as well.
 */
#include "../tap.h"

#include <stdlib.h>

#include "render/counts.h"
#include "render/number.h"

enum { EVENTS = LABEL_COUNT, FIRST_FIGURE = 770001 };

static void interval_is(double value, double low, double high, const char *want)
{
	struct quantity q = {value, low, high, LABEL_MEASURED};
	struct strbuf text = {0};

	number_interval(&text, &q);
	is_str(strbuf_text(&text), want, "%g from %g to %g", value, low, high);
	strbuf_fini(&text);
}

/* A time that is the least of several is not known to be less than it is. */
static void intervals(void)
{
	interval_is(100, 98, 101, "+-2.00%");
	interval_is(100, 100, 263, "+163%");
	interval_is(100, 88, 100, "-12%");
	interval_is(100, 100, 100, "");
	interval_is(0, 0, 4, "<=4");
}

static struct counts_report *report_with(bool costs)
{
	static const char *const command[] = {"program", NULL};
	struct counts_report *r = calloc(1, sizeof(*r));

	r->command = command;
	r->runs = r->passes = r->groups = 1;
	r->clock_hz = 1e9;
	strcpy(r->source, "model");
	strcpy(r->machine, "zen4");
	strcpy(r->cost_table, "table");
	r->elapsed = quantity_exact(1.25, LABEL_MEASURED);
	r->seconds = r->divided = quantity_exact(880001, LABEL_MODEL);
	r->modelled = true;
	r->native.runs = 2;
	r->native.user = quantity_exact(880111, LABEL_MEASURED);
	r->native.system = quantity_exact(880222, LABEL_MEASURED);
	r->native.elapsed = quantity_exact(880333, LABEL_MEASURED);
	r->event_count = EVENTS;
	r->events = calloc(EVENTS, sizeof(*r->events));
	r->thread_count = 1;
	r->threads = calloc(1, sizeof(*r->threads));
	r->threads[0].pid = r->threads[0].tid = 42;
	r->threads[0].counts = calloc(EVENTS, sizeof(struct count));
	for (int i = 0; i < EVENTS; i++) {
		struct event_row *row = &r->events[i];

		row->number = i;
		row->short_name = "short";
		row->name = "name";
		row->unit = "unit";
		row->count.quantity = quantity_exact(FIRST_FIGURE + i, (enum label)i);
		strcpy(row->count.why, "because");
		row->costed = costs && i != LABEL_NONE;
		row->cost_from = "guess";
		row->typical = row->minimum = row->maximum = 0.5 + 0.03125 * i;
		r->threads[0].counts[i] = row->count;
		r->threads[0].counts[i].quantity.value += 1000;
	}
	if (costs) {
		r->costs = true;
		r->statistic_count = r->cause_count = 1;
		r->statistics[0] =
			(struct statistic){"ratio", "", quantity_exact(31.5, LABEL_SCALED)};
		r->causes[0] = (struct cause){.name = "cause",
			.number = 3,
			.seconds = quantity_exact(99.5, LABEL_ESTIMATED),
			.share = 1.0,
			.share_label = LABEL_ESTIMATED};
	}
	return r;
}

/* The line that holds figure, "" if none does.  Static. */
static const char *line_with(const char *text, const char *figure)
{
	static char line[4096];
	const char *at = strstr(text, figure), *begin = at, *end;

	line[0] = '\0';
	if (!at)
		return line;
	while (begin > text && begin[-1] != '\n')
		begin--;
	end = at + strcspn(at, "\n");
	snprintf(line, sizeof(line), "%.*s", (int)(end - begin), begin);
	return line;
}

/* JSON has one line: there, the label must follow within the number's own object. */
static bool labelled(const char *text, const char *figure, const char *label, bool json)
{
	char quoted[64];

	if (!json)
		return strstr(line_with(text, figure), label) != NULL;
	for (const char *at = strstr(text, figure); at; at = strstr(at + 1, figure)) {
		size_t rest = strcspn(at, "}");
		const char *found;

		snprintf(quoted, sizeof(quoted), "\"label\":\"%s\"", label);
		found = strstr(at, quoted);
		if (!found || found > at + rest) {
			/* low and high stand behind the label of their object. */
			const char *open = at;

			while (open > text && *open != '{')
				open--;
			found = strstr(open, quoted);
			if (!found || found > at)
				return false;
		}
	}
	return strstr(text, figure) != NULL;
}

static void check(const char *format, const char *text, bool json, bool costs)
{
	char figure[32];

	for (int i = 0; i < EVENTS; i++) {
		for (int thread = 0; thread < 2; thread++) {
			snprintf(figure, sizeof(figure), "%d", FIRST_FIGURE + i + 1000 * thread);
			if (i == LABEL_NONE)
				ok(!strstr(text, figure), "%s: no figure without a label", format);
			else
				ok(labelled(text, figure, label_name((enum label)i), json),
					"%s: %s figure carries its label", format,
					label_name((enum label)i));
		}
	}
	ok(labelled(text, "880111", "measured", json) &&
			labelled(text, "880222", "measured", json) &&
			labelled(text, "880333", "measured", json),
		"%s: times without the model are labelled", format);
	if (!costs)
		return;
	if (strcmp(format, "csv") != 0) {
		ok(labelled(text, "31.5", "scaled", json), "%s: statistics are labelled", format);
		if (json)
			ok(labelled(text, "99.5", "estimated", json), "%s: causes are labelled",
				format);
		else
			ok(strstr(line_with(text, "Where the time goes"), "estimated") != NULL,
				"%s: the breakdown is labelled", format);
		ok(labelled(text, "880001", "model", json), "%s: the time is labelled", format);
	}
}

static bool says_far(double modelled, double low, double measured, double high)
{
	struct counts_report *r = report_with(false);
	struct strbuf text = {0};
	bool says;

	r->seconds = quantity_exact(modelled, LABEL_MODEL);
	r->divided = r->native.user = (struct quantity){measured, low, high, LABEL_MEASURED};
	r->ratio = modelled / measured;
	render_counts_text(r, 0, &text);
	says = strstr(strbuf_text(&text), "Modelled and measured time differ by a factor of 2.0.");
	strbuf_fini(&text);
	counts_report_free(r);
	return says;
}

static void check_difference(void)
{
	ok(says_far(2, 0.9, 1, 1.1), "twice the measured time: it is said");
	ok(says_far(1, 1.8, 2, 2.2), "or half of it");
	ok(!says_far(2, 0.9, 1, 1.5), "unless it may be less");
	ok(!says_far(2, 1.9, 2, 2.1), "not if they are near each other");
	ok(!says_far(0.002, 0.0009, 0.001, 0.0011), "nor of a few milliseconds");
}

/* On a terminal of 80 columns; more is in the table than fits. */
static void check_narrow(void)
{
	struct counts_report *r = report_with(true);
	struct strbuf text = {0};
	size_t longest = 0;

	r->cost_source_count = 1;
	strcpy(r->cost_source[0].tag, "guide");
	strcpy(r->cost_source[0].text,
		"a text that is so long that it does not fit a line of eighty "
		"columns, as guides have long titles");
	r->events[0].name = "a name of an event that is longer than there is room for it";
	render_counts_text(r, 80, &text);
	for (const char *line = strbuf_text(&text); *line; line += strcspn(line, "\n") + 1)
		longest = strcspn(line, "\n") > longest ? strcspn(line, "\n") : longest;
	is_int((long long)longest, 80, "80 columns: no line is longer");
	check("80 columns", strbuf_text(&text), false, false);
	ok(strstr(strbuf_text(&text), "(ranges of costs, and where each is from: on 116 columns"),
		"what is left out is said");
	strbuf_fini(&text);
	counts_report_free(r);
}

static void check_readout(void)
{
	struct event_spec specs[EVENTS];
	struct strbuf text = {0};
	struct reading r;
	struct error e;

	memset(specs, 0, sizeof(specs));
	reading_init(&r, EVENTS, &e);
	for (int i = 0; i < EVENTS; i++) {
		strcpy(specs[i].name, "name");
		r.counts[i].quantity = quantity_exact(FIRST_FIGURE + i, (enum label)i);
	}
	render_readout_text(1.5, specs, &r, &text);
	for (int i = 0; i < EVENTS; i++) {
		char figure[32];

		snprintf(figure, sizeof(figure), "%d", FIRST_FIGURE + i);
		ok(i == LABEL_NONE ? !strstr(strbuf_text(&text), figure)
				   : labelled(strbuf_text(&text), figure, label_name((enum label)i),
					     false),
			"read-outs: %s", i == LABEL_NONE ? "no figure without a label" : figure);
	}
	strbuf_fini(&text);
	reading_fini(&r);
}

int main(void)
{
	for (int costs = 0; costs < 2; costs++) {
		struct counts_report *r = report_with(costs);
		struct strbuf text = {0}, csv = {0}, json = {0};
		struct error e;

		render_counts_text(r, 0, &text);
		render_counts_csv(r, &csv);
		is_int(render_counts_json(r, &json, &e), 0, "JSON");
		check("text", strbuf_text(&text), false, costs);
		check("csv", strbuf_text(&csv), false, costs);
		check("json", strbuf_text(&json), true, costs);
		ok(strstr(line_with(strbuf_text(&text), "the run took 1.25"), "measured") != NULL,
			"text: the elapsed time is labelled");
		if (costs) {
			ok(labelled(strbuf_text(&csv), "0.5625", "estimated", false),
				"csv: seconds are labelled");
			ok(labelled(strbuf_text(&json), "0.5625", "estimated", true),
				"json: seconds are labelled");
			ok(strstr(strbuf_text(&text), "estimated with table") != NULL,
				"text: so are they in the heading");
		}
		ok(strstr(line_with(strbuf_text(&text), "770002"), "(because)") &&
				strstr(line_with(strbuf_text(&csv), "770002"), ",because") &&
				strstr(strbuf_text(&json), "\"why\":\"because\""),
			"what must be known of a number is told with it");
		strbuf_fini(&text);
		strbuf_fini(&csv);
		strbuf_fini(&json);
		counts_report_free(r);
	}
	intervals();
	check_readout();
	check_narrow();
	check_difference();
	for (int i = 0; i < LABEL_COUNT; i++)
		ok(label_join(LABEL_NONE, (enum label)i) == LABEL_NONE &&
				label_join((enum label)i, LABEL_NONE) == LABEL_NONE,
			"nothing comes of nothing and %s", label_name((enum label)i));
	is_int(label_join(LABEL_MEASURED, LABEL_SCALED), LABEL_SCALED, "scaled beats measured");
	is_int(label_join(LABEL_MODEL, LABEL_MEASURED), LABEL_MODEL,
		"what derives from the model is the model's");
	is_int(label_join(LABEL_ESTIMATED, LABEL_MODEL), LABEL_ESTIMATED,
		"an estimate stays an estimate");
	return done();
}
