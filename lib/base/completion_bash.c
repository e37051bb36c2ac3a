/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/completion_private.h"

/* PROG: the program's name.  It works with the package bash-completion, better, and without. */
static const char library[] =
	"# Where the cursor is.  $1: the first word to look at.  Sets option: the one whose\n"
	"# argument is being written; command: the index of the first word that is none, if that\n"
	"# is before the cursor.\n"
	"_PROG_walk()\n"
	"{\n"
	"\tlocal i=$1 name found other\n"
	"\toption='' command=''\n"
	"\twhile ((i < COMP_CWORD)); do\n"
	"\t\tname=${COMP_WORDS[i]}\n"
	"\t\tif [[ $name == -- ]]; then\n"
	"\t\t\tcommand=$((i + 1))\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tif [[ $name != -?* ]]; then\n"
	"\t\t\tcommand=${command:-$i}\n"
	"\t\t\t[[ $rest == command ]] && return\n"
	"\t\t\t((i += 1))\n"
	"\t\t\tcontinue\n"
	"\t\tfi\n"
	"\t\tname=${name#-}\n"
	"\t\tname=${name#-} found=\n"
	"\t\tif [[ \" $options $rare \" == *\" -$name \"* ]]; then\n"
	"\t\t\tfound=$name\n"
	"\t\telse\n"
	"\t\t\tfor other in $options $rare; do\n"
	"\t\t\t\t[[ $other == \"-$name\"* ]] && found=${other#-}\n"
	"\t\t\tdone\n"
	"\t\tfi\n"
	"\t\t((i += 1))\n"
	"\t\tif [[ \" $valued \" == *\" $found \"* ]]; then\n"
	"\t\t\t[[ ${COMP_WORDS[i]} == = ]] && ((i < COMP_CWORD)) && ((i += 1))\n"
	"\t\t\t((i < COMP_CWORD)) || option=$found\n"
	"\t\t\t((i += 1))\n"
	"\t\tfi\n"
	"\tdone\n"
	"}\n"
	"\n"
	"_PROG_files() # compgen's option, the beginning\n"
	"{\n"
	"\tlocal -a list\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t list < <(compgen \"$1\" -- \"$2\")\n"
	"\tCOMPREPLY+=(\"${list[@]}\")\n"
	"}\n"
	"\n"
	"_PROG_command() # index of the command\n"
	"{\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif ((COMP_CWORD == $1)); then\n"
	"\t\t_PROG_files -c \"$cur\"\n"
	"\telse\n"
	"\t\t_PROG_files -f \"$cur\"\n"
	"\tfi\n"
	"}\n\n";

/* Files by their first bytes; all, if none of them is one. */
static const char by_magic[] =
	"_PROG_magic() # the first bytes that files may have...\n"
	"{\n"
	"\tlocal LC_ALL=C file begins magic\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\twhile IFS= read -r file; do\n"
	"\t\tif [[ -d ${file/#\\~/$HOME} ]]; then\n"
	"\t\t\tCOMPREPLY+=(\"$file\")\n"
	"\t\telif [[ -f ${file/#\\~/$HOME} ]]; then\n"
	"\t\t\tIFS= read -r -n 6 begins 2>/dev/null <\"${file/#\\~/$HOME}\"\n"
	"\t\t\tfor magic; do\n"
	"\t\t\t\t[[ $begins == \"$magic\"* ]] && COMPREPLY+=(\"$file\") && break\n"
	"\t\t\tdone\n"
	"\t\tfi\n"
	"\tdone < <(compgen -f -- \"$cur\")\n"
	"\t((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n\n";

static void put(struct strbuf *out, const char *template, const char *program)
{
	while (*template) {
		if (strncmp(template, "PROG", 4) == 0) {
			strbuf_puts(out, program);
			template += 4;
		} else {
			strbuf_putc(out, *template ++);
		}
	}
}

static bool is_rare(const struct completion *c, const struct option_row *row)
{
	return c->rare && c->rare(row);
}

/* name='-a -b ...' */
static void put_rows(struct strbuf *out, const struct completion *c, bool rare)
{
	const char *before = "";

	strbuf_printf(out, "\tlocal %s='", rare ? "rare" : "options");
	for (const struct option_row *row = c->table; row->name; row++)
		if (is_rare(c, row) == rare) {
			strbuf_printf(out, "%s-%s", before, row->name);
			before = " ";
		}
	strbuf_puts(out, "'\n");
}

static int put_words(struct strbuf *out, const struct completion_value *v, const char *program)
{
	struct completion_words words = {0};
	bool colon = strchr(v->argument, ':');

	v->words(&words);
	if (colon)
		strbuf_puts(out, "\t\tcompopt -o nospace 2>/dev/null\n");
	strbuf_puts(out, "\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < words.all.count && !words.failed; i++)
		strbuf_printf(
			out, "%s%s%s", i ? " " : "", words.all.data[i].word, colon ? ":" : "");
	strbuf_puts(out, "' -- \"$cur\"))\n");
	if (v->files)
		put(out, "\t\t_PROG_files -f \"$cur\"\n", program);
	completion_words_fini(&words);
	return words.failed ? -1 : 0;
}

/* The case of an option's argument, for all options that have it. */
static int put_case(struct strbuf *out, const struct completion *c, const struct option_row *row,
	const char *program)
{
	static const char *const bodies[] = {
		[COMPLETION_FILE] = "\t\t_PROG_files -f \"$cur\"\n",
		[COMPLETION_DIRECTORY] = "\t\t_PROG_files -d \"$cur\"\n",
		[COMPLETION_PROCESS] =
			"\t\tCOMPREPLY=($(cd /proc && compgen -G \"${cur}[0-9]*\" -X '*[!0-9]*'; "
			"[[ -d /proc/$cur && $cur ]] && printf '%s\\n' \"$cur\"))\n",
		[COMPLETION_SHELL] = "\t\tCOMPREPLY=($(compgen -W 'bash zsh' -- \"$cur\"))\n",
		[COMPLETION_SIGNAL] =
			"\t\tCOMPREPLY=($(compgen -A signal -- \"SIG${cur#SIG}\"))\n"
			"\t\t[[ $cur == SIG* ]] || COMPREPLY=(\"${COMPREPLY[@]#SIG}\")\n",
	};
	const struct completion_value *value;
	enum completion_kind kind = completion_kind_of(c, row->argument, &value);
	const char *before = "";
	int rc = 0;

	if (kind == COMPLETION_ANYTHING)
		return 0;
	strbuf_puts(out, "\t");
	for (const struct option_row *other = row; other->name; other++)
		if (other->argument && strcmp(other->argument, row->argument) == 0) {
			strbuf_printf(out, "%s%s", before, other->name);
			before = " | ";
		}
	strbuf_puts(out, ")\n");
	if (kind == COMPLETION_ONE_OF) {
		strbuf_puts(out, "\t\tCOMPREPLY=($(compgen -W '");
		completion_one_of(out, row->argument);
		strbuf_puts(out, "' -- \"$cur\"))\n");
	} else if (kind == COMPLETION_WORDS) {
		rc = put_words(out, value, program);
	} else {
		put(out, bodies[kind], program);
	}
	strbuf_puts(out, "\t\treturn ;;\n");
	return rc;
}

static void put_rest(struct strbuf *out, const struct completion *list, size_t at, size_t count,
	const char *program)
{
	const struct completion *c = &list[at];

	if (c->rest == COMPLETION_COMMAND)
		put(out, "\t_PROG_command \"$COMP_CWORD\"\n", program);
	if (c->rest != COMPLETION_FILES)
		return;
	put(out, "\t_PROG_magic", program);
	for (const char *const *magic = c->magic; *magic; magic++)
		strbuf_printf(out, " $'%s'", *magic);
	strbuf_puts(out, "\n");
	if (c->sub || count < 2)
		return;
	strbuf_puts(out, "\t((COMP_CWORD == 1)) && COMPREPLY+=($(compgen -W '");
	for (size_t i = 1; i < count; i++)
		strbuf_printf(out, "%s%s", i > 1 ? " " : "", list[i].sub);
	strbuf_puts(out, "' -- \"$cur\"))\n");
}

static int put_function(struct strbuf *out, const struct completion *list, size_t at, size_t count,
	const char *program)
{
	const struct completion *c = &list[at];

	completion_function(out, program, c);
	strbuf_puts(out, "()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} option command\n");
	put_rows(out, c, false);
	put_rows(out, c, true);
	strbuf_puts(out, "\tlocal valued='");
	for (const struct option_row *row = c->table; row->name; row++)
		if (row->argument)
			strbuf_printf(out, "%s ", row->name);
	strbuf_printf(
		out, "'\n\tlocal rest=%s\n", c->rest == COMPLETION_COMMAND ? "command" : "words");
	strbuf_puts(out, "\tCOMPREPLY=()\n\t[[ $cur == = ]] && cur=\n");
	for (size_t i = 1; i < count && !c->sub; i++) {
		strbuf_printf(out,
			"\tif ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == %s ]]; then\n"
			"\t\t",
			list[i].sub);
		completion_function(out, program, &list[i]);
		strbuf_puts(out, "\n\t\treturn\n\tfi\n");
	}
	put(out, "\t_PROG_walk ", program);
	strbuf_puts(out, c->sub ? "2\n" : "1\n");
	strbuf_puts(out, "\tcase $option in\n");
	for (const struct option_row *row = c->table; row->name; row++)
		if (row->argument && !completion_repeats(c->table, row) &&
			put_case(out, c, row, program))
			return -1;
	strbuf_puts(out, "\t?*)\n\t\treturn ;;\n\tesac\n");
	if (c->rest == COMPLETION_COMMAND)
		put(out,
			"\tif [[ $command ]]; then\n\t\t_PROG_command \"$command\"\n\t\treturn\n"
			"\tfi\n",
			program);
	strbuf_puts(out, "\tif [[ $cur == -* ]]; then\n"
			 "\t\t[[ $cur == -?* ]] && options+=\" $rare\"\n"
			 "\t\tif [[ $cur == --* ]]; then\n"
			 "\t\t\tCOMPREPLY=($(compgen -P - -W \"$options\" -- \"${cur#-}\"))\n"
			 "\t\telse\n"
			 "\t\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
			 "\t\tfi\n\t\treturn\n\tfi\n");
	put_rest(out, list, at, count, program);
	strbuf_puts(out, "}\n\n");
	return 0;
}

int completion_bash(
	const char *program, const struct completion *list, size_t count, struct strbuf *out)
{
	bool files = false;

	strbuf_printf(out,
		"# bash completion for %s(1), printed by: %s -completion bash\n"
		"# shellcheck shell=bash\n\n",
		program, program);
	put(out, library, program);
	for (size_t i = 0; i < count; i++)
		files = files || list[i].rest == COMPLETION_FILES;
	if (files)
		put(out, by_magic, program);
	for (size_t i = count; i-- > 0;)
		if (put_function(out, list, i, count, program))
			return -1;
	strbuf_puts(out, "complete -F ");
	completion_function(out, program, &list[0]);
	strbuf_printf(out, " %s\n", program);
	return 0;
}
