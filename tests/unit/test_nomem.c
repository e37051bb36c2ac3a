/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Out of memory at each single allocation of what everything else is built on. */
#include <stdlib.h>

#include "base/file.h"
#include "base/names.h"
#include "base/option.h"
#include "base/sheet.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/vec.h"
#include "build_data.h"
#include "costs/costs.h"
#include "flow/flow.h"
#include "inject.h"
#include "machine/machine.h"
#include "report/report_names.h"
#include "schedule/core.h"

/* Collects arguments, as options do that may be given several times. */
static int keep(void *target, const char *argument, struct error *e)
{
	VEC(char *) *kept = target;
	char *copy = strdup(argument), **slot = copy ? vec_push(kept) : NULL;

	if (!slot) {
		free(copy);
		return error_nomem(e);
	}
	*slot = copy;
	return 0;
}

static int keep_all(void *target, const char *argument, struct error *e)
{
	return option_list(argument, keep, target, e);
}

static int options(struct error *e)
{
	static const struct option_row rows[] = {
		{"event", "NAME,...", "events", OPTION_CALL, 0, keep_all}, {NULL}};
	char *words[] = {"program", "-event", "a,b,c,d,e,f,g,h,i,j", "command"};
	VEC(char *) kept = {0};
	int rc = option_parse(rows, &kept, 4, words, e);

	for (size_t i = 0; i < kept.count; i++)
		free(kept.data[i]);
	vec_fini(&kept);
	return rc < 0 ? -1 : 0;
}

static int vector(struct error *e)
{
	VEC(size_t) v = {0};
	int rc = 0;

	for (size_t i = 0; i < 100 && !rc; i++) {
		size_t *slot = vec_push(&v);

		if (slot)
			*slot = i;
		else
			rc = error_nomem(e);
	}
	vec_fini(&v);
	return rc;
}

static int text(struct error *e)
{
	struct strbuf s = {0};
	char *taken;

	for (int i = 0; i < 300; i++)
		strbuf_printf(&s, "%d,", i);
	taken = strbuf_take(&s);
	strbuf_fini(&s);
	free(taken);
	return taken ? 0 : error_nomem(e);
}

static int entries(struct error *e)
{
	struct table t = {.entry_size = 16, .key_size = 8};
	int rc = 0;

	for (uint64_t i = 0; i < 200 && !rc; i++)
		if (!table_add(&t, &i))
			rc = error_nomem(e);
	if (!rc && (table_reserve(&t, 100) || !table_append(&t) || table_index(&t)))
		rc = error_nomem(e);
	table_fini(&t);
	return rc;
}

/* One that goes on when it could not grow. */
static int entries_after_all(struct error *e)
{
	struct table t = {.entry_size = 16, .key_size = 8};
	uint64_t missing = 0;
	bool failed = false;
	size_t added = 0;

	for (uint64_t i = 1; i <= 300; i++) {
		if (table_add(&t, &i))
			added++;
		else
			failed = true;
		if (table_find(&t, &missing))
			added = 0;
	}
	is_int(t.count, added, "what was added is there, and nothing else");
	table_fini(&t);
	return failed ? error_nomem(e) : 0;
}

static int records(struct error *e)
{
	static const char *const columns[] = {"name", "value", NULL};
	struct sheet s = {.columns = columns};
	struct strbuf out = {0};
	int rc;

	for (int i = 0; i < 20; i++) {
		sheet_textf(&s, "row %d", i);
		sheet_number(&s, i);
	}
	sheet_csv(&s, &out);
	rc = sheet_document("test/1", NULL, "rows", &s, &out, e);
	sheet_fini(&s);
	strbuf_fini(&out);
	return rc;
}

static int files(struct error *e)
{
	name_list names;
	size_t length;
	char *path = file_data_path("machines/zen4.machine", e);
	char *data = path ? file_read(path, 0, &length, e) : NULL;

	free(path);
	if (!data)
		return -1;
	free(data);
	if (names_list(&names, "machines", ".machine", e))
		return -1;
	names_fini(&names);
	return 0;
}

static int machine(struct error *e)
{
	struct machine m;

	return machine_find("zen4:L2=512K", &m, e);
}

static int costs(struct error *e)
{
	struct cost_table t = {0};

	return costs_ours("zen4", &t, e);
}

static int core(struct error *e)
{
	struct core c;

	if (core_find(&c, "zen4", e))
		return -1;
	core_fini(&c);
	return 0;
}

static int flow(struct error *e)
{
	/* An if in a loop in a loop, and a call. */
	static const uint8_t bytes[] = {0x31, 0xc0, 0x89, 0xf1, 0x85, 0xff, 0x74, 0x02, 0x89, 0xf1,
		0x03, 0x07, 0xff, 0xc9, 0x75, 0xfa, 0xff, 0xca, 0x75, 0xf0, 0xe8, 0, 0, 0, 0, 0xc3};
	const struct flow_request r = {
		.machine = ISA_X86_64, .begin = 0x401000, .bytes = bytes, .size = sizeof(bytes)};
	struct flow *f = flow_new(&r, e);

	flow_free(f);
	return f ? 0 : -1;
}

/* Names that are too long, in rows and in a note. */
static int long_names(struct error *e)
{
	static const char *const names[] = {"f(std::vector<int>, std::vector<int>)",
		"f(std::vector<int>, std::vector<long>)", "g<std::vector<int>>(std::string)"};
	struct report_table t = {.report = "procedures"};
	int rc;

	for (size_t i = 0; i < 3; i++) {
		struct report_row row = {.parent = -1, .procedure = names[i]};

		row.note = report_text(&t, "`%s'", names[2 - i]);
		report_row_add(&t, &row);
	}
	rc = report_finish(&t, 0, e);
	if (rc == 0)
		rc = report_names_shorten(&t, 20, e);
	report_table_fini(&t);
	return rc;
}

int main(void)
{
	build_data();
	inject_each("options", options, false);
	inject_each("a vector", vector, false);
	inject_each("a string", text, false);
	inject_each("a table", entries, false);
	inject_each("a table that is used on", entries_after_all, false);
	inject_each("records", records, false);
	inject_each("files", files, false);
	inject_each("a machine", machine, false);
	inject_each("costs", costs, false);
	inject_each("a core", core, false);
	inject_each("a graph", flow, false);
	inject_each("long names", long_names, false);
	return done();
}
