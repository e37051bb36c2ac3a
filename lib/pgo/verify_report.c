/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verdict, for people and for scripts. */
#include "base/json.h"
#include "base/plural.h"
#include "base/shown.h"
#include "pgo/verify.h"

static void verdict_gain(struct strbuf *out, const struct verify_interval *g)
{
	strbuf_printf(out, "%.1f%% %s (95%%: %.1f to %.1f%%)",
		100 * (g->value < 0 ? -g->value : g->value), g->value < 0 ? "more" : "less",
		100 * g->low, 100 * g->high);
}

void verify_text(const struct verify_request *q, const struct verify_result *r, struct strbuf *out)
{
	shown_printf(out, "%s -> %s", q->old, q->new);
	strbuf_putc(out, '\n');
	if (r->tests)
		strbuf_printf(out, "tests  %zu of %zu equal\n", r->passed, r->tests);
	if (r->rounds) {
		strbuf_printf(out, "time   %.3f s -> %.3f s: ", r->old_seconds, r->new_seconds);
		verdict_gain(out, &r->gain);
		strbuf_printf(out, "; old against old %.1f%%; %zu rounds, measured\n",
			100 * (r->noise.value < 0 ? -r->noise.value : r->noise.value), r->rounds);
	}
	if (r->modelled) {
		strbuf_printf(out, "model  %.0f -> %.0f cycles: ", r->old_cycles, r->new_cycles);
		verdict_gain(out, &r->model);
		strbuf_puts(out, "\n");
	}
	for (size_t i = 0; i < r->notes.count; i++) {
		strbuf_puts(out, "note   ");
		shown_puts(out, r->notes.data[i]);
		strbuf_putc(out, '\n');
	}
	if (r->accept)
		strbuf_puts(out, "accept\n");
	for (size_t i = 0; i < r->reasons.count; i++) {
		strbuf_puts(out, i ? "       " : "refuse ");
		shown_puts(out, r->reasons.data[i]);
		strbuf_putc(out, '\n');
	}
}

static void verdict_quantity(
	struct json *j, const char *key, const struct verify_interval *g, const char *label)
{
	json_object(j, key);
	json_number(j, "value", g->value);
	json_string(j, "label", label);
	json_number(j, "low", g->low);
	json_number(j, "high", g->high);
	json_end_object(j);
}

static void verdict_texts(struct json *j, const char *key, char *const *texts, size_t count)
{
	json_array(j, key);
	for (size_t i = 0; i < count; i++)
		json_string(j, NULL, texts[i]);
	json_end_array(j);
}

int verify_json(const struct verify_request *q, const struct verify_result *r, struct strbuf *out,
	struct error *e)
{
	struct json_document d;
	struct json *j = &d.json;

	if (json_begin(&d, "prof.verify/1", e))
		return -1;
	json_string(j, "verdict", r->accept ? "accept" : "refuse");
	json_string(j, "old", q->old);
	json_string(j, "new", q->new);
	verdict_texts(j, "reasons", r->reasons.data, r->reasons.count);
	verdict_texts(j, "notes", r->notes.data, r->notes.count);
	json_object(j, "tests");
	json_integer(j, "run", (long long)r->tests);
	json_integer(j, "equal", (long long)r->passed);
	json_end_object(j);
	if (r->rounds) {
		json_integer(j, "rounds", (long long)r->rounds);
		json_number(j, "old_seconds", r->old_seconds);
		json_number(j, "new_seconds", r->new_seconds);
		verdict_quantity(j, "gain", &r->gain, "measured");
		verdict_quantity(j, "noise", &r->noise, "measured");
		verdict_quantity(j, "elapsed", &r->elapsed, "measured");
	} else {
		json_null(j, "gain");
	}
	if (r->modelled)
		verdict_quantity(j, "modelled", &r->model, "model");
	else
		json_null(j, "modelled");
	return json_end(&d, out, e);
}
