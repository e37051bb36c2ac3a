/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -explain machine: the processor to model, and which of its figures were measured. */
#include "base/say.h"
#include "base/shown.h"
#include "perfex.h"

static const char *from_word(enum machine_constant_from from)
{
	static const char *const words[] = {
		[MACHINE_CONSTANT_DESCRIBED] = "description",
		[MACHINE_CONSTANT_MEASURED] = "measured",
		[MACHINE_CONSTANT_REFUSED] = "refused",
	};

	return words[from];
}

static const char *clock_word(const struct machine *m)
{
	const char *word = machine_clock_word(m->clock_from);

	return *word ? word : "description";
}

static void machine_text(const struct machine *m, struct strbuf *out)
{
	struct machine_constant k;
	bool refused = false;

	strbuf_printf(out, "%s: %s\n", m->name, m->description);
	strbuf_printf(out, "from: %s\n", m->origin);
	strbuf_printf(out, "clock: %.2f GHz, %s\n\n%-18s %8s  %s\n",
		(double)m->model.clock_hz / 1e9, clock_word(m), "constant", "cycles", "from");
	for (size_t i = 0; machine_constant(m, i, &k); i++) {
		strbuf_printf(out, "%-18s %8u  %s%s\n", k.key, k.value, from_word(k.from),
			k.from == MACHINE_CONSTANT_REFUSED ? " (description's)" : "");
		refused |= k.from == MACHINE_CONSTANT_REFUSED;
	}
	if (refused)
		strbuf_puts(out, "\nrefused: what was measured cannot be, or scatters\n");
	if (machine_unmeasured(m->name))
		strbuf_puts(out, "\nThe first run on a model of this host measures them.\n");
}

static int machine_for_scripts(
	const struct options *o, const struct machine *m, struct strbuf *out, struct error *e)
{
	static const char *const head_columns[] = {
		"machine", "description", "origin", "clock_hz", "clock", NULL};
	static const char *const columns[] = {"constant", "cycles", "from", NULL};
	struct sheet head = {.columns = head_columns}, rows = {.columns = columns};
	struct machine_constant k;
	int rc = 0;

	sheet_text(&head, m->name);
	sheet_text(&head, m->description);
	sheet_text(&head, m->origin);
	sheet_number(&head, (double)m->model.clock_hz);
	sheet_text(&head, clock_word(m));
	for (size_t i = 0; machine_constant(m, i, &k); i++) {
		sheet_text(&rows, k.key);
		sheet_number(&rows, k.value);
		sheet_text(&rows, from_word(k.from));
	}
	if (o->json)
		rc = sheet_document("perfex.machine/1", &head, "constants", &rows, out, e);
	else
		sheet_csv(&rows, out);
	sheet_fini(&head);
	sheet_fini(&rows);
	return rc;
}

int do_explain_machine(const struct options *o)
{
	struct machine machine;
	struct strbuf text = {0};
	struct error e = {0};
	int rc = machine_find_clock(o->machine, o->clock, &machine, &e);

	if (rc == 0 && (o->json || o->csv))
		rc = machine_for_scripts(o, &machine, &text, &e);
	else if (rc == 0)
		machine_text(&machine, &text);
	if (rc == 0)
		rc = shown_output(o->output, stdout, &text, &e);
	strbuf_fini(&text);
	return rc ? say_failure(&e) : 0;
}
