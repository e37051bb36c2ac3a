/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result, for people and for scripts. */
#include "base/json.h"
#include "base/shown.h"
#include "optimize/optimize.h"

static const char *candidate_outcome(const struct optimize_candidate *c)
{
	if (c->failure)
		return c->failure;
	return c->verdict.reasons.count ? c->verdict.reasons.data[0] : "accepted";
}

void optimize_text(
	const struct optimize_request *q, const struct optimize_result *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->candidates.count; i++) {
		const struct optimize_candidate *c = &r->candidates.data[i];
		const struct verify_result *v = &c->verdict;

		strbuf_printf(out, "%-10s", c->how);
		if (!c->failure && v->rounds)
			strbuf_printf(out, "time %+.1f%% (95%%: %+.1f to %+.1f%%)  ",
				-100 * v->gain.value, -100 * v->gain.high, -100 * v->gain.low);
		if (!c->failure && v->modelled)
			strbuf_printf(out, "cycles of the model %+.1f%%  ", -100 * v->model.value);
		shown_puts(out, candidate_outcome(c));
		strbuf_putc(out, '\n');
		for (size_t k = 0; q->verify.perfex && !c->failure && k < v->notes.count; k++) {
			strbuf_puts(out, "          ");
			shown_puts(out, v->notes.data[k]);
			strbuf_putc(out, '\n');
		}
	}
	if (r->best >= 0)
		shown_printf(out, "%s: %s", q->output, r->candidates.data[r->best].how);
	else
		strbuf_puts(out, "nothing was written: no build was accepted");
	strbuf_putc(out, '\n');
}

static void candidate_json(struct json *j, const struct optimize_candidate *c)
{
	const struct verify_result *v = &c->verdict;

	json_object(j, NULL);
	json_string(j, "how", c->how);
	json_bool(j, "accepted", !c->failure && v->accept);
	json_string(j, "reason", candidate_outcome(c));
	if (!c->failure && v->rounds) {
		json_number(j, "gain", v->gain.value);
		json_number(j, "gain_low", v->gain.low);
		json_number(j, "gain_high", v->gain.high);
	}
	if (!c->failure && v->modelled)
		json_number(j, "modelled", v->model.value);
	json_end_object(j);
}

int optimize_json(const struct optimize_request *q, const struct optimize_result *r,
	struct strbuf *out, struct error *e)
{
	struct json_document d;

	if (json_begin(&d, "prof.optimize/1", e))
		return -1;
	json_optional(&d.json, "written", r->best >= 0 ? q->output : NULL);
	json_optional(&d.json, "how", r->best >= 0 ? r->candidates.data[r->best].how : NULL);
	json_integer(&d.json, "branches", (long long)r->coverage.transfers);
	json_integer(&d.json, "bursts", (long long)r->coverage.bursts);
	json_integer(&d.json, "runs", r->coverage.runs);
	json_array(&d.json, "candidates");
	for (size_t i = 0; i < r->candidates.count; i++)
		candidate_json(&d.json, &r->candidates.data[i]);
	json_end_array(&d.json);
	return json_end(&d, out, e);
}
