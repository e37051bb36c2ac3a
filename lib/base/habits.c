/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/habits.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* Words separated by spaces. An option with one dash is known with two as well, as all options are;
 * one with two dashes is not known with one: it may be short for an option of ours. */
struct habit {
	const char *words, *instead;
};

#define HOT     "-fpcsamp samples CPU time by function, line and instruction"
#define CALLERS "-fusertime samples CPU time with call paths, then prof -butterfly FILE"
#define PERIODS                                                                                    \
	"-pcsamp takes 100 samples a second of CPU time, -fpcsamp 1000; -e EVENT:PERIOD one "      \
	"each PERIOD events"
#define WAITS "record with ssrun -totaltime COMMAND, then prof -waits FILE"
#define EXACT                                                                                      \
	"ssrun -ideal COMMAND counts instructions and calls exactly, then prof -butterfly FILE"
#define MISSES                                                                                     \
	"ssrun -dsc_hwc COMMAND finds the lines that miss the second-level cache, perfex -a -y "   \
	"COMMAND counts all events"
#define RECORDS "prof reports what is recorded: record with ssrun -fpcsamp COMMAND"

static const struct habit commands[] = {
	{",", "perfex -csv COMMAND separates fields by commas"},
	{"annotate", "prof -lines FILE shows source with counts, prof -dis FILE instructions"},
	{"archive buildid-cache buildid-list",
		"ssrun -archive DIR keeps the programs with a recording"},
	{"c2c", "record with ssrun -dataspace COMMAND, then prof -datalines FILE"},
	{"diff", "prof -diff BEFORE AFTER"},
	{"evlist", "prof -summary FILE says what was recorded"},
	{"flamegraph", "prof -html page.html FILE has a flame graph"},
	{"ftrace", "perfex and ssrun trace no kernel functions; ssrun -x samples in the kernel"},
	{"help", "perfex -h, ssrun -h and prof -h"},
	{"list", "perfex -list prints the events, ssrun -list the experiments"},
	{"kwork lock sched trace", WAITS},
	{"mem", "record with ssrun -dataspace COMMAND, then prof -dataspace FILE"},
	{"record",
		"ssrun -fpcsamp COMMAND records CPU time, ssrun -fusertime COMMAND with call paths "
		"(-pid PID in place of COMMAND: a running process); prof FILE reports"},
	{"report", "prof FILE reports functions, prof -tui FILE on the terminal; prof -h lists "
		   "more"},
	{"script", "prof -export json FILE writes all samples"},
	{"stat", "perfex -a COMMAND counts all events, perfex -e cy -e gi COMMAND chosen ones"},
	{"timechart", "prof -timeline FILE shows functions over time"},
	{"top", "ssrun -a -fpcsamp -for 10 samples the whole system, then prof FILE"},
};

static const struct habit of_perfex[] = {
	{"-d -dd -ddd --detailed", "perfex -a COMMAND counts all events"},
	{"-I --interval-print", "-p SECONDS prints counts at intervals, too"},
	{"-A --no-aggr --per-thread", "-mp adds a row for each thread"},
	{"-C --cpu --per-core --per-socket --per-node --all-cpus",
		"perfex counts a command, or a process by -pid PID; ssrun -a -cpus samples the "
		"whole system, then prof -by cpu FILE"},
	{"--field-separator", "-csv separates fields by commas"},
	{"-B --big-num --no-big-num", "leave it out; -csv and -json are for scripts"},
	{"--topdown -M --metrics --td-level",
		"perfex -a -y COMMAND divides the time by what it was spent on"},
	{"--repeat", "-r RUNS"},
	{"--event", "-e EVENT,..."},
	{"-D --delay", "-s counts between two signals: start, then stop"},
	{"--timeout", "timeout SECONDS perfex ... ends a command, and what it did is reported"},
	{"-g --call-graph", "perfex counts: ssrun " CALLERS},
	{"-F --freq", "perfex counts: ssrun " HOT},
	{"-collect", "hotspots: ssrun -fpcsamp COMMAND; threading: ssrun -totaltime COMMAND; "
		     "uarch-exploration: perfex -a -y COMMAND"},
	{"--tool", "cachegrind: perfex -a COMMAND counts on a model, ssrun -dsc_hwc COMMAND finds "
		   "the lines that miss; callgrind: ssrun -ideal COMMAND"},
};

static const struct habit of_ssrun[] = {
	{"-F --freq", PERIODS},
	{"-c --count --period", "-e EVENT:PERIOD samples each PERIOD-th event; ssrun -list names "
				"experiments with periods of their own"},
	{"-g --call-graph", CALLERS "; -stack fp or -stack dwarf chooses how callers are found"},
	{"-p -target-pid", "-pid PID samples a running process"},
	{"-t --tid --per-thread",
		"-pid PID samples all threads of a process; prof -only thread:NAME selects one"},
	{"-C --cpu --all-cpus", "-a -cpus samples the whole system; prof -only cpu:N selects one"},
	{"-b -j --branch-any --branch-filter --lbr",
		"-branches records branches, with or without hardware; then prof -calc FILE"},
	{"-d --data -W --weight --phys-data",
		"-dataspace samples misses with their addresses; then prof -dataspace FILE"},
	{"-D --delay", "prof -from SECONDS leaves the beginning out of a report"},
	{"-s --stat", "samples have their threads: prof -by thread FILE"},
	{"-i --no-inherit", "child processes are sampled, too; prof -only process:PID selects one"},
	{"-u --uid", "-a samples the whole system, -pid PID one process"},
	{"-S --snapshot --switch-output --overwrite --timestamp-filename",
		"-cal SECONDS begins phases, for prof -calipers; ssrun monitor records all the "
		"time"},
	{"-m --mmap-pages -z --aio -r --realtime -B --buildid-all -N -T --timestamp",
		"leave it out: ssrun decides that itself"},
	{"--all-user", "leave it out: without -x, the kernel is not sampled"},
	{"-k --all-kernel", "-x samples in the kernel as well"},
	{"--off-cpu", "-totaltime samples waits as well; then prof -waits FILE"},
	{"--timeout -duration", "-for SECONDS, with -pid or -a"},
	{"--event", "-e EVENT:PERIOD"},
	{"--output -result-dir", "-o FILE"},
	{"-collect", "hotspots: -fpcsamp; threading: -totaltime; memory-access: -dataspace; "
		     "uarch-exploration: -explain"},
	{"--tool", "callgrind: -ideal counts instructions and calls exactly, then prof "
		   "-butterfly FILE; cachegrind: -dsc_hwc samples misses, then prof -heavy FILE"},
};

static const struct habit of_prof[] = {
	{"--sort -s -group-by",
		"rows are -procedures, -heavy (source lines), -dis (instructions) or -dso; -by "
		"process, command, thread or cpu divides them"},
	{"--stdio --stdio2 --text -text", "leave it out: reports are text; -tui is the screen"},
	{"--gtk -http -web -weblist -svg -png -pdf",
		"-html page.html writes a page for browsers, with a flame graph"},
	{"-i --input -r -result-dir", "give the file alone: prof FILE"},
	{"-g --call-graph -G --inverted -traces",
		"-butterfly shows callers and callees, -calltree the tree"},
	{"-peek", "-butterfly -only FUNCTION shows its callers and callees"},
	{"--children --cumulate -cum", "-inclusive adds what was called"},
	{"--no-children", "leave it out: figures include callees only with -inclusive"},
	{"-n --show-nr-samples --show-total-period -F --fields",
		"leave it out: rows have samples, percents and times"},
	{"--percent-limit --threshold -nodefraction", "-q 1% ends before rows below 1%"},
	{"-top -topn", "prof FILE shows the top; -q 10 ends after ten rows"},
	{"--header --header-only -I --show-info", "-head writes the whole head, -summary what "
						  "was recorded"},
	{"-T", "-threads gives rows for each thread"},
	{"--tid --pid --comm --comms", "-only process:PID, -only command:NAME or -only "
				       "thread:NAME"},
	{"-C --cpu", "-only cpu:N selects one; -by cpu gives rows for each (of ssrun -cpus)"},
	{"-d --dsos --dso-filter -S --symbols --symbol-filter -focus -show",
		"-only GLOB selects functions or images"},
	{"-ignore -hide", "-exclude GLOB leaves functions or images out"},
	{"-M --disassembler-style", "-intel, with -dis"},
	{"--no-inline", "leave it out: inlined functions have rows only with -inlines"},
	{"--time", "-from TIME and -to TIME select a part of the run, in seconds or percent"},
	{"--hierarchy -tree", "-calltree shows the call tree; -by process or -by thread divides "
			      "rows"},
	{"-k --vmlinux --kallsyms -m --modules",
		"leave it out: names of the kernel come from the recording; -debug-dir DIR has "
		"separate debug information"},
	{"--symfs", "-root DIR is where the files of another machine are"},
	{"-D --dump-raw-trace", "-dump writes an experiment as text"},
	{"--mem-mode", "record with ssrun -dataspace COMMAND, then prof -dataspace FILE"},
	{"-b --branch-stack --brief",
		"leave it out: executions by branch records are -calc FUNCTION"},
	{"-p --flat-profile -flat", "leave it out: functions are what prof FILE shows"},
	{"--graph", "-butterfly, of ssrun -ideal with exact numbers of calls"},
	{"-A --annotated-source --auto -list --source",
		"-lines shows source with counts, -dis instructions; -only FUNCTION selects"},
	{"-l --line", "-heavy has rows for source lines"},
	{"-disasm --annotate", "-dis -only FUNCTION shows instructions"},
	{"-base -diff_base", "-diff BEFORE AFTER"},
	{"-proto", "-export pprof -o FILE"},
	{"-report -R", "hotspots: prof FILE; top-down: -calltree; callstacks: -butterfly; "
		       "timeline: -timeline"},
	{"--tool", "callgrind: " EXACT "; cachegrind: " MISSES},
	{"-collect --freq", RECORDS},
};

static const struct habit of_monitor[] = {
	{"-F --freq -c --count --period",
		"-budget PERCENT is what the monitor may cost; it samples as often as that allows"},
	{"-a --all-cpus", "leave it out: the monitor watches the whole system, without -user"},
	{"-p -pid", "ssrun -fpcsamp -pid PID samples one process; -user watches your own"},
	{"-u --uid", "-user watches your own processes"},
	{"-g --call-graph", "the monitor keeps no callers: ssrun " CALLERS},
	{"-e --event", "the monitor samples time: ssrun -e EVENT:PERIOD COMMAND samples events"},
	{"-o --output -d --dir", "-store DIR is where profiles are kept"},
	{"--port --http", "-listen PORT serves /metrics and /debug/pprof/profile"},
	{"--duration --timeout", "-for SECONDS"},
	{"-D --daemon --detach", "the service perfex-monitor runs it in the background"},
};

static const struct habit of_block[] = {
	{"-mcpu -march --arch", "-core CORE schedules for that core; -cores lists them"},
	{"-timeline -bottleneck-analysis -all-stats -all-views -trace",
		"leave it out: the report says what each instruction waits for"},
	{"-iterations -n_measurements -unroll_count",
		"leave it out: as many copies are run as the clock needs; -quick runs fewer"},
	{"-loop_count", "-loop runs the block in a loop"},
	{"-code -asm_init", "-asm TEXT takes assembler, -image ELF -address A..B a program's code"},
	{"-TPonly -mattr -mtriple", "leave it out: the processor is that of -core"},
	{"--symbol --function", "prof -dis FILE shows addresses for -image ELF -address A..B"},
};

static const struct habit of_verify[] = {
	{"--repeat --runs -n -N --min-runs -w --warmup", "-rounds N"},
	{"--export-json", "-json -o FILE"},
	{"-e --event", "verify compares times: perfex -e EVENT COMMAND counts events"},
	{"-alpha --confidence", "leave it out: intervals are of 95%"},
};

static const struct habit of_optimize[] = {
	{"-fprofile-generate -fprofile-instr-generate -instrument",
		"leave it out: profiles are branch records, which -train '{} ARGUMENTS' makes"},
	{"-fprofile-use -fprofile-instr-use -fprofile-sample-use -fauto-profile -profile -data -p",
		"give the recording alone: prof optimize -recipe R -o NEW FILE"},
	{"-bolt", "-how bolt"},
};

#define TABLE(rows) rows, sizeof(rows) / sizeof((rows)[0])

static const struct {
	const char *command; /* NULL: names of subcommands */
	const struct habit *rows;
	size_t count;
} tables[] = {
	{NULL, TABLE(commands)},
	{"perfex", TABLE(of_perfex)},
	{"ssrun", TABLE(of_ssrun)},
	{"prof", TABLE(of_prof)},
	{"ssrun monitor", TABLE(of_monitor)},
	{"prof block", TABLE(of_block)},
	{"prof verify", TABLE(of_verify)},
	{"prof optimize", TABLE(of_optimize)},
};

/* Whether the word of this length is in the list. */
static bool has_word(const char *list, const char *word, size_t length)
{
	for (size_t size; *list; list += size, list += strspn(list, " ")) {
		size = strcspn(list, " ");
		if (size == length && memcmp(list, word, length) == 0)
			return true;
	}
	return false;
}

static const char *find_word(const char *command, const char *word, size_t length)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		if (command ? !tables[t].command || strcmp(tables[t].command, command) != 0
			    : tables[t].command != NULL)
			continue;
		for (size_t i = 0; i < tables[t].count; i++)
			if (has_word(tables[t].rows[i].words, word, length))
				return tables[t].rows[i].instead;
	}
	return NULL;
}

/* An option, without what follows an equals sign and, at last, without digits. */
static const char *find_option(const char *command, const char *word)
{
	size_t length = strcspn(word, "="), letters = length;
	const char *instead = find_word(command, word, length);

	while (letters > 1 && word[letters - 1] >= '0' && word[letters - 1] <= '9')
		letters--;
	return instead || letters == length ? instead : find_word(command, word, letters);
}

const char *habit_instead(const char *command, const char *word)
{
	const char *instead =
		command ? find_option(command, word) : find_word(NULL, word, strlen(word));

	return instead || !command || strspn(word, "-") != 2 ? instead
							     : find_option(command, word + 1);
}

int habit_command(const char *word, struct error *e)
{
	error_set(e, ERR_NOT_FOUND, "no command %s", word);
	return error_hint(e, "%s", habit_instead(NULL, word));
}
