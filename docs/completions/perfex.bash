# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bash completion for perfex(1), ssrun(1) and prof(1).  Which options there are and which words they take,
# each program says (-completion); it is asked once a shell.  Works with and without the package bash-completion.

declare -gA _perfex_tables

# Words, separated by white space, that begin with what the cursor is on.
_perfex_words() { mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_perfex_files() # option of compgen
{
	compopt -o filenames 2>/dev/null
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$1" -- "$cur")
}

# Directories, experiments, executables and recordings of perf, which their first bytes tell; all files if
# there is none of these.
_perfex_profiles()
{
	local LC_ALL=C file path begins
	compopt -o filenames 2>/dev/null
	while IFS= read -r file; do
		path=${file/#\~/$HOME} begins=
		[[ -f $path ]] && IFS= read -r -n 6 begins 2>/dev/null <"$path"
		if [[ -d $path || $begins == $'\x89SSEXP' || $begins == $'\x7fELF'* || $begins == PERFIL ]]; then
			COMPREPLY+=("$file")
		fi
	done < <(compgen -f -- "$cur")
	((${#COMPREPLY[@]})) || _perfex_files -f
}

# The command that perfex and ssrun run, and its arguments.
_perfex_command() # its index
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		_perfex_files -c
	else
		_perfex_files -f
	fi
}

# What an option's argument may be.  table: what the program printed.
_perfex_argument() # argument, as the table calls it
{
	local kind argument word words=
	case $1 in
	FILE | PICTURE | ELF) _perfex_files -f ;;
	DIR) _perfex_files -d ;;
	PID)
		_perfex_words "$(cd /proc && compgen -G '[0-9]*')"
		;;
	SIGNAL)
		COMPREPLY=($(compgen -A signal -- "SIG${cur#SIG}"))
		[[ $cur == SIG* ]] || COMPREPLY=("${COMPREPLY[@]#SIG}")
		;;
	*[!a-z\|-]*)
		while IFS=$'\t' read -r kind argument word _; do
			[[ $kind == word && $argument == "${1%%:*}" ]] && words+=" $word"
		done <<<"$table"
		if [[ $1 == *:* ]]; then
			compopt -o nospace 2>/dev/null
			words=${words:+${words// /: }:}
		fi
		_perfex_words "$words"
		[[ $1 == MACHINE || $1 == CORE ]] && _perfex_files -f
		;;
	*'|'*) _perfex_words "${1//|/ }" ;;
	esac
}

# Sets option to the one whose argument the cursor is on, and command to the index of the first word before
# the cursor that is neither option nor argument.
_perfex_walk() # index of the first word to look at
{
	local i=$1 name found other
	option='' command=''
	while ((i < COMP_CWORD)); do
		name=${COMP_WORDS[i]} found=
		((i += 1))
		if [[ $name == -- ]]; then
			command=$i
			return
		fi
		if [[ $name != -?* ]]; then
			command=${command:-$((i - 1))}
			[[ $program == prof ]] || return
			continue
		fi
		name=-${name##-}
		name=${name/#--/-}
		if [[ ${takes[$name]} ]]; then
			found=$name
		else
			for other in "${!takes[@]}"; do
				[[ $other == "$name"* ]] && found=$other
			done
		fi
		if [[ ${takes[$found]:--} != - ]]; then
			[[ ${COMP_WORDS[i]} == = ]] && ((i < COMP_CWORD)) && ((i += 1))
			((i < COMP_CWORD)) || option=$found
			((i += 1))
		fi
	done
}

_perfex()
{
	local path=${COMP_WORDS[0]/#\~/$HOME} cur=${COMP_WORDS[COMP_CWORD]} table option command
	local program=${path##*/} kind name argument section='' subcommand='' subcommands='' options='' first=1
	local -A takes # the argument of each option, "-" for none
	COMPREPLY=()
	[[ $cur == = ]] && cur=
	[[ ${_perfex_tables[$path]} ]] || _perfex_tables[$path]=$("$path" -completion 2>/dev/null)
	table=${_perfex_tables[$path]}
	while IFS=$'\t' read -r kind name argument _; do
		if [[ $kind == command ]]; then
			section=$name subcommands+=" $name"
			((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} == "$name" ]] && subcommand=$name first=2 takes=() options=
		elif [[ $kind == option && $section == "$subcommand" ]]; then
			name=${name#\*} takes[$name]=$argument
			# experiments of single events are hundreds
			[[ $name == *_hwc* && $cur != -?* ]] || options+=" $name"
		fi
	done <<<"$table"
	_perfex_walk $first
	if [[ $option ]]; then
		_perfex_argument "${takes[$option]}"
	elif [[ $program != prof && $command ]]; then
		_perfex_command "$command"
	elif [[ $cur == --* ]]; then
		COMPREPLY=($(compgen -P - -W "$options" -- "${cur#-}"))
	elif [[ $cur == -* ]]; then
		_perfex_words "$options"
	elif [[ $program != prof ]]; then
		_perfex_command "$COMP_CWORD"
	elif [[ $subcommand != calibrate ]]; then
		_perfex_profiles
		((COMP_CWORD == 1)) && _perfex_words "$subcommands"
	fi
}

complete -F _perfex perfex ssrun prof
