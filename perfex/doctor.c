/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex -doctor: what works on this machine; of the rest, why not, and the remedy. */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "perfex.h"
#include "sources/doctor.h"

enum { INDENT = 33, WIDTH = 79 };

static void draw(const doctor_findings *list, struct strbuf *out)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct doctor_finding *f = &list->data[i];

		strbuf_printf(out, "%-7s  %-22s  ", doctor_state_word(f->state), f->what);
		strbuf_wrap(out, f->detail[0] ? f->detail : f->used, INDENT, WIDTH);
		if (!f->remedy[0])
			continue;
		strbuf_repeat(out, ' ', INDENT);
		strbuf_puts(out, "-> ");
		strbuf_wrap(out, f->remedy, INDENT + 3, WIDTH);
	}
}

static int for_scripts(
	const struct options *o, const doctor_findings *list, struct strbuf *out, struct error *e)
{
	static const char *const columns[] = {"what", "used_by", "state", "detail", "remedy", NULL};
	struct sheet rows = {.columns = columns};
	int rc = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct doctor_finding *f = &list->data[i];

		sheet_text(&rows, f->what);
		sheet_text(&rows, f->used);
		sheet_text(&rows, doctor_state_word(f->state));
		sheet_text(&rows, f->detail);
		sheet_text(&rows, f->remedy);
	}
	if (rows.failed)
		rc = error_nomem(e);
	else if (o->json)
		rc = sheet_document("perfex.doctor/1", NULL, "findings", &rows, out, e);
	else
		sheet_csv(&rows, out);
	sheet_fini(&rows);
	return rc;
}

int do_doctor(const struct options *o)
{
	doctor_findings list = {0};
	struct strbuf text = {0};
	struct error e = {0};
	int rc = doctor_examine(&list, &e);

	if (rc == 0 && (o->json || o->csv))
		rc = for_scripts(o, &list, &text, &e);
	else if (rc == 0)
		draw(&list, &text);
	if (rc == 0)
		rc = shown_output(o->output, stdout, &text, &e);
	strbuf_fini(&text);
	vec_fini(&list);
	return rc ? say_failure(&e) : 0;
}
