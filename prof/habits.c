/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that are no files: what they are perhaps typed for. */
#include <string.h>
#include <unistd.h>

#include "prof.h"
#include "report/views.h"

static const struct habit {
	const char *word, *instead;
} habits[] = {
	{"annotate", "prof -lines FILE shows source with counts, prof -dis FILE instructions"},
	{"c2c", "record with ssrun -dataspace COMMAND, then prof -datalines FILE"},
	{"diff", "prof -diff BEFORE AFTER"},
	{"help", "prof -h"},
	{"list", "perfex -list prints the events, ssrun -list the experiments"},
	{"mem", "record with ssrun -dataspace COMMAND, then prof -dataspace FILE"},
	{"record", "ssrun -fpcsamp COMMAND records, prof FILE reports"},
	{"report",
		"prof FILE reports functions, prof -tui FILE on the terminal; prof -h lists more"},
	{"sched", "record with ssrun -totaltime COMMAND, then prof -waits FILE"},
	{"script", "prof -export json FILE writes all samples"},
	{"stat", "perfex COMMAND counts events"},
	{"top", "ssrun -a -fpcsamp -for 10 samples the whole system, then prof FILE"},
	{"trace", "record with ssrun -totaltime COMMAND, then prof -waits FILE"},
};

static int hint_of(const char *word, struct error *e)
{
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (strcmp(habits[i].word, word) == 0)
			return error_hint(e, "%s", habits[i].instead);
	for (size_t i = 0; report_views[i].name; i++)
		if (strcmp(report_views[i].name, word) == 0)
			return error_hint(e, "did you mean '-%s'?", word);
	return -1;
}

int habits_hint(char *const *words, struct error *e)
{
	for (size_t i = 0; words[i] && e->code == ERR_NOT_FOUND && e->errnum && !e->hint[0]; i++)
		if (access(words[i], F_OK))
			hint_of(words[i], e);
	return -1;
}
