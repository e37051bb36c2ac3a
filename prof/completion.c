/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -completion: what arguments of options may be. */
#include "base/completion.h"

#include "block.h"
#include "export/export.h"
#include "prof.h"
#include "say.h"
#include "schedule/core.h"

static void add_name(const char *name, void *words)
{
	completion_add(words, name, "");
}

static void cores(struct completion_words *w)
{
	struct error e = {0};

	if (core_walk(add_name, w, &e))
		say_error(&e);
}

static void formats(struct completion_words *w)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		completion_add(w, f->name, f->help);
}

int do_completion(const struct options *o)
{
	/* experiments, executables, what perf record leaves */
	static const char *const files[] = {"\\x89SSEXP", "\\x7fELF", "PERFIL", NULL};
	static const struct completion_value values[] = {
		{"CORE", cores, true},
		{"FORMAT", formats, false},
		{NULL, NULL, false},
	};
	const struct completion all[] = {
		{.table = o->table, .values = values, .rest = COMPLETION_FILES, .magic = files},
		{.sub = "block",
			.table = block_options,
			.values = values,
			.rest = COMPLETION_FILES,
			.magic = files},
		{.sub = "calibrate", .table = calibrate_options, .values = values},
	};
	struct strbuf text = {0};
	struct error e = {0};
	int rc = completion_write(
		"prof", o->completion, all, sizeof(all) / sizeof(all[0]), &text, &e);

	if (rc == 0)
		rc = write_out(o, &text, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	return rc ? EXIT_OURS : 0;
}
