/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof calibrate: compares a core's description with this processor's measured behaviour. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/option.h"
#include "base/progress.h"
#include "base/say.h"
#include "base/sheet.h"
#include "base/shown.h"
#include "corefit/corefit.h"
#include "machine/machine.h"
#include "prof.h"

struct calibration {
	const char *core_name, *output;
	bool thorough, csv, json, help;
	struct core core;
	struct schedule_work *work;
	form_list forms;
	struct progress progress;
	size_t blocks;
};

#define FIELD(field) .offset = offsetof(struct calibration, field)
#define TOLERANCE    0.08

const struct option_row calibrate_options[] = {
	{"core", "CORE", "begin with this description (default: that of this host)", OPTION_STRING,
		FIELD(core_name)},
	{"thorough", NULL, "measure each block by several workers, as prof block does",
		FIELD(thorough)},
	{"o", "FILE", "write the corrected description here (host.core)", OPTION_STRING,
		FIELD(output)},
	{"csv", NULL, "print the measurements as CSV on standard output", FIELD(csv)},
	{"json", NULL, "print them as JSON, schema prof.calibration/1", FIELD(json)},
	{"help", NULL, "list the options", FIELD(help)},
	{.help = "prof calibrate"},
};

static const char usage[] =
	"usage: prof calibrate [options]\n"
	"Measures latency and throughput of every instruction form of this processor\n"
	"and corrects a core description.\n\n"
	"  prof calibrate                        this processor, into host.core\n"
	"  prof calibrate -core zen4 -o my.core  beginning with another description\n"
	"  prof calibrate -thorough              more exact, and slower\n\n";

static int open_core(struct calibration *c, struct error *e)
{
	const char *name = c->core_name;
	struct machine machine;

	if (!name) {
		if (machine_find("host", &machine, e))
			return -1;
		name = machine.core;
	}
	if (core_find_x86(&c->core, name, e))
		return -1;
	c->work = schedule_work_new(e);
	if (!c->work)
		core_fini(&c->core);
	return c->work ? 0 : -1;
}

static int watch(void *context, size_t count)
{
	struct calibration *c = context;
	char text[64];

	snprintf(text, sizeof(text), "%zu of %zu blocks", count, c->blocks);
	progress_step(&c->progress, (double)count / (double)(c->blocks ? c->blocks : 1), text);
	return 0;
}

static int measure(struct calibration *c, struct error *e)
{
	const struct block_options options = {.quick = !c->thorough};
	struct blockbench *bench = blockbench_open(&options, e);
	int rc;

	if (!bench)
		return -1;
	for (size_t i = 0; i < c->forms.count; i++)
		c->blocks += 1 + (c->forms.data[i].chain_length > 0);
	progress_begin(&c->progress, isatty(STDERR_FILENO));
	rc = corefit_forms_measure(&c->forms, bench, watch, c, e);
	progress_end(&c->progress);
	blockbench_close(bench);
	return rc;
}

/* The corrected description must contain the measured values when it is read again. */
static int verify(struct calibration *c, const struct strbuf *text, struct error *e)
{
	struct core corrected;
	int rc;

	if (core_parse(&corrected, strbuf_text(text), text->length, "the corrected description", e))
		return -1;
	rc = corefit_forms_schedule(&c->forms, &corrected, c->work, true, e);
	core_fini(&corrected);
	return rc;
}

static void cycles(struct sheet *s, double value)
{
	if (value > 0)
		sheet_number(s, value);
	else
		sheet_none(s);
}

/* Every form, as measured and as the two descriptions have it. */
static void form_row(struct sheet *s, const struct form *f)
{
	struct strbuf name = {0};

	corefit_form_text(f, &name);
	sheet_text(s, strbuf_text(&name));
	cycles(s, f->latency);
	cycles(s, f->throughput);
	sheet_text(s, f->throughput > 0 ? "measured" : NULL);
	cycles(s, f->latency > 0 ? f->latency_before : 0);
	cycles(s, f->throughput > 0 ? f->throughput_before : 0);
	cycles(s, f->latency > 0 ? f->latency_after : 0);
	cycles(s, f->throughput > 0 ? f->throughput_after : 0);
	sheet_text(s, f->throughput > 0 ? "estimated" : NULL);
	sheet_bool(s, f->corrected);
	strbuf_fini(&name);
}

static int for_scripts(const struct calibration *c, const char *path, struct error *e)
{
	static const char *const head_columns[] = {
		"core", "written", "difference_before", "difference_after", NULL};
	static const char *const columns[] = {"form", "latency", "throughput", "label",
		"latency_before", "throughput_before", "latency_after", "throughput_after",
		"schedule_label", "corrected", NULL};
	struct sheet head = {.columns = head_columns}, rows = {.columns = columns};
	struct strbuf text = {0};
	int rc = 0;

	sheet_text(&head, c->core.name);
	sheet_text(&head, path);
	sheet_number(&head, corefit_forms_error(&c->forms, false));
	sheet_number(&head, corefit_forms_error(&c->forms, true));
	for (size_t i = 0; i < c->forms.count; i++)
		form_row(&rows, &c->forms.data[i]);
	if (rows.failed)
		rc = error_nomem(e);
	else if (c->json)
		rc = sheet_document("prof.calibration/1", &head, "forms", &rows, &text, e);
	else
		sheet_csv(&rows, &text);
	if (rc == 0)
		rc = shown_output(NULL, stdout, &text, e);
	strbuf_fini(&text);
	sheet_fini(&head);
	sheet_fini(&rows);
	return rc;
}

static void tell(const struct calibration *c, const char *path, size_t corrected)
{
	size_t measured = 0;

	for (size_t i = 0; i < c->forms.count; i++)
		measured += c->forms.data[i].throughput > 0;
	shown_print("%zu instruction forms, %zu measured; %zu corrected in %s", c->forms.count,
		measured, corrected, path);
	shown_print("mean difference of latency and throughput from what was measured: %.1f%% by "
		    "%s, %.1f%% by the corrected one",
		100 * corefit_forms_error(&c->forms, false), c->core.name,
		100 * corefit_forms_error(&c->forms, true));
	shown_print("to use it: prof block -core %s%s ...", strchr(path, '/') ? "" : "./", path);
}

static int calibrate(struct calibration *c, struct error *e)
{
	const char *path = c->output ? c->output : "host.core";
	struct strbuf text = {0};
	size_t corrected;
	int rc = -1;

	if (forms_make(&c->forms, e) || measure(c, e) ||
		corefit_forms_schedule(&c->forms, &c->core, c->work, false, e))
		return -1;
	corrected = corefit_forms_correct(
		&c->forms, &c->core, TOLERANCE, "host", "this host, by prof calibrate", &text);
	if (verify(c, &text, e) == 0 && shown_output(path, stdout, &text, e) == 0) {
		rc = c->json || c->csv ? for_scripts(c, path, e) : 0;
		if (!c->json && !c->csv)
			tell(c, path, corrected);
	}
	strbuf_fini(&text);
	return rc;
}

int do_calibrate(int argc, char **argv)
{
	struct calibration c = {.core_name = NULL};
	struct error e = {0};
	int rest = option_parse(calibrate_options, &c, argc, argv, &e), rc = -1;

	if (rest >= 0 && c.help)
		return option_usage(usage, calibrate_options, stdout);
	if (rest >= 0 && c.json && c.csv)
		rest = error_set(&e, ERR_CONFLICT, "-csv and -json exclude each other");
	if (rest >= 0 && rest < argc)
		rest = error_set(
			&e, ERR_CONFLICT, "prof calibrate takes no argument '%s'", argv[rest]);
	if (rest >= 0 && open_core(&c, &e) == 0) {
		rc = calibrate(&c, &e);
		core_fini(&c.core);
		schedule_work_free(c.work);
		vec_fini(&c.forms);
	}
	if (rc == 0)
		return 0;
	return say_failure(&e);
}
