/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that a runtime generates has no file. Runtimes write the names of such code where ssrun
 * finds them (/tmp/perf-PID.map), if they are asked to: a note says how, for those whose images
 * were met.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "report/report_columns.h"

enum {
	NAMELESS_WORTH = 2,     /* percent of the samples */
	UNREAD_WORTH = 10,      /* percent of those in the interpreter */
	INTERPRETER_WORTH = 20, /* percent, in an interpreter that could name its functions */
};

static const char python[] = "ssrun -fusertime, of Python 3.11; python -X perf, of 3.12 or later";

static const struct runtime {
	const char *image, *option;
	bool interprets; /* its own code has the samples, whatever the program */
} runtimes[] = {
	/* Documented by each: node(1), java(1), the .NET and Erlang manuals, "Python support for
	 * the Linux perf profiler", ruby(1). */
	{"node*", "node --perf-basic-prof", false},
	{"libnode.so*", "node --perf-basic-prof", false},
	{"libjvm.so",
		"java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (JDK 17 or later)",
		false},
	{"libcoreclr.so", "DOTNET_PerfMapEnabled=1 in the environment (.NET)", false},
	{"*luajit*", "a LuaJIT compiled with -DLUAJIT_USE_PERFTOOLS", false},
	{"ruby*", "ruby --yjit --yjit-perf (Ruby 3.3 or later)", false},
	{"libruby*", "ruby --yjit --yjit-perf (Ruby 3.3 or later)", false},
	{"beam.smp", "erl +JPperf true", false},
	{"php*", "php -d opcache.jit_debug=0x10", false},
	{"wasmtime", "wasmtime --profile perfmap", false},
	{"python3.[89]", python, true},
	{"python3.1[01]", python, true},
	{"libpython3.[89].so*", python, true},
	{"libpython3.1[01].so*", python, true},
	{"perl", "", true},
	{"libperl.so*", "", true},
	{"python3.1[2-9]*", "ssrun -fusertime python -X perf", true},
	{"libpython3.1[2-9]*", "ssrun -fusertime python -X perf", true},
};

enum { RUNTIMES = sizeof(runtimes) / sizeof(runtimes[0]) };

/* Samples of the first metric: all; in generated code without a name; in images of runtimes. */
struct met {
	uint64_t all, nameless, in[RUNTIMES];
	bool seen[RUNTIMES], named; /* named: some generated code has a name */
	bool read;                  /* call paths have functions of an interpreter's program */
};

/* A runtime whose own image had no sample, and is in no list, is still the command. */
static void see_command(struct met *m, const struct experiment *x)
{
	const char *command = experiment_fact_find(x, "command");
	char path[256];

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(command ? command : "", " "),
		command ? command : "");
	for (size_t r = 0; r < RUNTIMES; r++)
		m->seen[r] |= fnmatch(runtimes[r].image, file_base_name(path), 0) == 0;
}

/* Trampolines of Python: a function's name stands for it among the callers of the interpreter. */
static bool has_trampolines(const struct experiment *x)
{
	for (size_t i = 0; i < x->symbols.count; i++) {
		const struct experiment_symbol *s = table_at(&x->symbols, i);

		if (strncmp(s->name, "py::", 4) == 0)
			return true;
	}
	return false;
}

static void see_images(struct met *m, const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		see_command(m, x);
		m->read |= has_trampolines(x);
		for (size_t k = 0; k < x->images.count; k++) {
			const char *path = x->images.data[k].path;

			m->read |= strcmp(path, PYTHON_IMAGE) == 0;
			for (size_t r = 0; r < RUNTIMES; r++)
				m->seen[r] |=
					fnmatch(runtimes[r].image, file_base_name(path), 0) == 0;
		}
	}
}

static void see_samples(struct met *m, const struct prof_data *d)
{
	for (size_t i = 0; i < d->places.count; i++) {
		const struct profile_place *p = profile_place_at(d, i);
		const struct prof_image *image = &d->images.data[p->key.image];
		uint64_t samples = d->counts.data[i * d->metrics.count];
		struct image_symbol symbol = {0};

		m->all += samples;
		for (size_t r = 0; r < RUNTIMES; r++)
			if (m->seen[r] && fnmatch(runtimes[r].image, image->name, 0) == 0)
				m->in[r] += samples;
		if (image->image->kind != EXPERIMENT_IMAGE_ANONYMOUS)
			continue;
		if (d->names.ops->symbol(d->names.context, p->key.image, p->key.address, &symbol) ==
			0)
			m->named = true;
		else
			m->nameless += samples;
	}
}

/* The options of the runtimes that were met, each once. */
static const char *runtimes_options(struct report_table *t, const struct met *m, bool interprets)
{
	const char *text = "", *last = "";

	for (size_t r = 0; r < RUNTIMES; r++) {
		if (!m->seen[r] || runtimes[r].interprets != interprets || !*runtimes[r].option ||
			runtimes[r].option == last)
			continue;
		last = runtimes[r].option;
		text = report_text(t, "%s%s%s", text, *text ? "; " : "", last);
	}
	return text;
}

/* Of how many samples functions of Python were read, where that is not nearly all. */
static void report_python(struct report_table *t, const struct prof_data *d)
{
	uint64_t read = 0, all = 0;

	for (size_t i = 0; i < d->request->count; i++) {
		const char *fact =
			experiment_fact_find(d->request->inputs[i].experiment, PYTHON_READ_FACT);
		uint64_t r, a;

		if (fact && sscanf(fact, "%" SCNu64 " of %" SCNu64, &r, &a) == 2 && r <= a) {
			read += r;
			all += a;
		}
	}
	if (all && (all - read) * 100 >= all * UNREAD_WORTH)
		report_note(t,
			"Functions of Python are known of %.1f%% of the samples in its "
			"interpreter: ssrun was not there in time for others. ssrun -usertime "
			"PYTHON, on an idle machine, has more",
			report_percent((double)read, (double)all));
	if (d->folded)
		report_note(t, "Functions of the interpreter before the first one of Python are "
			       "left out (-whole)");
}

void report_runtimes(struct report_table *t, const struct prof_data *d)
{
	struct met m = {0};
	const char *options;
	uint64_t interpreter = 0;

	if (!d->metrics.count)
		return;
	report_python(t, d);
	see_images(&m, d);
	see_samples(&m, d);
	for (size_t r = 0; r < RUNTIMES; r++)
		if (runtimes[r].interprets)
			interpreter += m.in[r];
	if (m.nameless && m.nameless * 100 >= m.all * NAMELESS_WORTH) {
		options = runtimes_options(t, &m, false);
		report_note(t, "%.1f%% is in generated code without names. %s%s",
			report_percent((double)m.nameless, (double)m.all),
			*options ? "Run again so that there are some: "
				 : "A runtime that writes /tmp/perf-PID.map gives it names",
			options);
	}
	if (m.named || !interpreter || interpreter * 100 < m.all * INTERPRETER_WORTH)
		return;
	options = runtimes_options(t, &m, true);
	options = m.read     ? "are in: prof -inclusive, -butterfly, -calltree"
		  : *options ? report_text(t, "have names with: %s", options)
			     : "have no names: the interpreter cannot give them";
	report_note(t, "%.1f%% is in an interpreter. Functions of the program it runs %s",
		report_percent((double)interpreter, (double)m.all), options);
}
