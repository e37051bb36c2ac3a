/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof: reads the experiments that ssrun records and reports the places in the program that they
 * name.
 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/say.h"
#include "base/shown.h"
#include "export/export.h"
#include "image/image.h"
#include "isa/isa.h"
#include "perfdata/inflate.h"
#include "pgo/pgo.h"
#include "prof.h"
#include "schedule/core.h"
#include "tui/terminal.h"

#ifdef __x86_64__
#define BLOCKS ", measured blocks"
#else
#define BLOCKS ""
#endif

/* -h: one screen of 80 columns. */
static const char overview[] =
	"usage: prof [options] [executable] file ...     files of ssrun, or a perf.data\n"
	"\n"
	"Where    -procedures  functions (default)    -heavy       source lines\n"
	"         -lines       source with counts     -dis         instructions\n"
	"         -dso         images                 -usage       processes, threads\n"
	"         -summary     what a file contains   -threads     a row for each thread\n"
	"When     -timeline    functions over time    -from, -to T  a part of the run\n"
	"         -waits       what threads waited for, and where\n"
	"Callers  -butterfly   callers and callees    -calltree    the call tree\n"
	"         -inclusive   with what it called    -inlines     inlined functions\n"
	"Why      -stalls      the longest waits      -why [F]     cycles by cause\n"
	"         -calc F      executions, cycles     -topblocks   costly basic blocks\n"
	"         -cfg         blocks and edges       -archinfo    kinds of instructions\n"
	"         -dataspace   variables that miss    -datalines   their cache lines\n"
	"Select   -only GLOB   functions, images      -exclude GLOB\n"
	"         -by process, command, thread, cpu   -only command:GLOB\n"
	"         -q N|N%      the first rows         -calipers A,B  a phase\n"
	"Compare  -diff        changes beyond chance  -compare     side by side\n"
	"Output   -tui         on the terminal        -json, -csv  for scripts\n"
	"         -o FILE      into a file            -plot KIND   a picture\n"
	"         -export FMT  for other tools        -html FILE   a page for browsers\n"
	"         -merge       files into one\n"
	"\n"
	"Examples\n"
	"  prof program.fpcsamp.*               functions, most costly first\n"
	"  prof -heavy -q 10 program.fpcsamp.*  the ten most costly source lines\n"
	"  prof -dis -only main FILE            the instructions of main, with samples\n"
	"\n"
	"prof block, calibrate: measure code and this processor.  prof optimize, verify,\n"
	"store: faster programs by profiles.  Each has its own -help.\n"
	"prof -help describes every option, man prof the reports.\n";

static const char usage[] =
	"usage: prof [options] [executable] experiment-file ...\n"
	"Reports what ssrun recorded: by function, source line, call path.  Try: ssrun "
	"-fpcsamp command, then prof command.fpcsamp.*\n"
	"prof block measures basic blocks, prof calibrate the processor; prof optimize builds "
	"faster programs, prof verify compares builds: see their -help.\n\n";

static void print_core(const char *name, void *out)
{
	option_print_word(out, "CORE", name, "");
}

/* What completions of shells read. */
static int do_completion(const struct options *o)
{
	struct strbuf text = {0};
	struct error e = {0};
	int rc;

	if (option_completion_alone(*o->files, &e))
		return say_failure(&e);
	option_print(o->table, &text);
	for (const struct export_format *f = export_formats; f->name; f++)
		option_print_word(&text, "FORMAT", f->name, f->help);
	for (const struct pgo_format *f = pgo_formats; f->name; f++)
		option_print_word(&text, "FORMAT", f->name, f->help);
	rc = core_walk(print_core, &text, &e);
	strbuf_puts(&text, "command\tblock\n");
	option_print(block_options, &text);
	strbuf_puts(&text, "command\tcalibrate\n");
	option_print(calibrate_options, &text);
	strbuf_puts(&text, "command\tverify\n");
	option_print(verify_options, &text);
	strbuf_puts(&text, "command\toptimize\n");
	option_print(optimize_options, &text);
	strbuf_puts(&text, "command\tstore\n");
	option_print(store_options, &text);
	if (rc || shown_output(o->output, stdout, &text, &e)) {
		say_error(&e);
		rc = -1;
	}
	strbuf_fini(&text);
	return rc ? EXIT_OURS : 0;
}

static int print_version(void)
{
	char libraries[256];

	snprintf(libraries, sizeof(libraries), "%s, %s, %s, %s, %s", image_library(), isa_library(),
		inflate_library(), json_library(), tui_terminal_library());
	return say_version(libraries, "terminal interface, recordings of perf" BLOCKS);
}

static int act(const struct options *o)
{
	if (o->overview)
		return option_usage(overview, NULL, stdout);
	if (o->help)
		return option_usage(usage, o->table, stdout);
	if (o->version)
		return print_version();
	if (o->completion)
		return do_completion(o);
	if (o->dump)
		return do_dump(o);
	if (o->merge)
		return do_merge(o);
	if (o->tui)
		return do_tui(o);
	return do_report(o);
}

/* Arrays of a large procedure come and go: their pages are not returned to the kernel meanwhile. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

int main(int argc, char **argv)
{
	struct options options;
	struct error e = {0};
	int status;

	keep_memory();
	file_limit_is_error();
	if (argc > 1 && strcmp(argv[1], "block") == 0)
		return say_end(do_block(argc - 1, argv + 1));
	if (argc > 1 && strcmp(argv[1], "calibrate") == 0)
		return say_end(do_calibrate(argc - 1, argv + 1));
	if (argc > 1 && strcmp(argv[1], "verify") == 0)
		return say_end(do_verify(argc - 1, argv + 1));
	if (argc > 1 && strcmp(argv[1], "optimize") == 0)
		return say_end(do_optimize(argc - 1, argv + 1));
	if (argc > 1 && strcmp(argv[1], "store") == 0)
		return say_end(do_store(argc - 1, argv + 1));
	status = options_parse(&options, argc, argv, &e) ? say_failure(&e) : act(&options);
	options_fini(&options);
	return say_end(status);
}
