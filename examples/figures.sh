# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the scripts of the case studies share; they source it.
#
#     sh examples/STUDY.sh [-machine NAME] [-o DIRECTORY] [-short]
#
# Each measures a program before and after its fix, as Zagha et al. did (Supercomputing '96, section 4), and
# writes the data of their figures as CSV and, where gnuplot is installed, the pictures.  The processor is the
# R10000 unless -machine says otherwise ("host": a model of this one).  The commands are taken from build/bin, or
# else from the PATH; O=DIR names another build.
set -eu

study=$(basename "$0" .sh)
here=$(cd "$(dirname "$0")" && pwd)
build=${O:-$here/../build}
examples=$build/examples
[ -d "$build/bin" ] && PATH=$(cd "$build/bin" && pwd):$PATH
machine=r10000 short='' directory=figures
while [ $# -gt 0 ]; do
	case $1 in
	-machine) machine=${2:?"-machine wants a name; perfex -list shows them"}; shift 2 ;;
	-o) directory=${2:?"-o wants a directory"}; shift 2 ;;
	-short) short=1; shift ;;
	*) echo "usage: sh $study.sh [-machine NAME] [-o DIRECTORY] [-short]" >&2; exit 2 ;;
	esac
done
[ -x "$examples/$study" ] || { echo "$study.sh: there is no $examples/$study: run make first" >&2; exit 1; }
mkdir -p "$directory"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# say TEXT...: what goes on, to stderr.
say() { printf '%s: %s\n' "$study" "$*" >&2; }

# count OUT COMMAND...: all events of a run and their costs, as perfex -json writes them.
count() {
	_out=$1
	shift
	perfex -a -y -json -source model -machine "$machine" -o "$_out" "$@" >/dev/null
}

# table FILE: what is in such a file, as lines of pid,tid,short,name,count,label,typical seconds; the whole run without
# pid and tid.  A figure is written where the brace before it begins a line.
table() {
	tr '{' '\n' <"$1" | awk '
		function field(name,    s) {
			s = $0
			if (!sub(".*\"" name "\":\"?", "", s)) return ""
			sub(/[",}\]].*/, "", s)
			return s
		}
		function event() { if (short != "") print pid "," tid "," short "," title "," count "," label "," typical; short = typical = "" }
		/^"tid"/ { event(); tid = field("tid"); pid = field("pid") }
		/^"(number|name|cause)"/ { event(); short = field("short"); title = field("name") }
		/^"value"/ { if (short != "") { count = field("value"); label = field("label") } }
		/^"typical"/ { typical = field("typical") }
		END { event() }'
}

# value FILE SHORT: how often an event happened in the whole run.
value() { table "$1" | awk -F, -v short="$2" '$1 == "" && $3 == short { v = $5 } END { printf "%.9g", v + 0 }'; }

# dearest FILE: the events that cost most, by typical costs in seconds.
dearest() {
	echo event,name,seconds,label
	table "$1" | awk -F, '$1 == "" && $7 > 0 { print $3 "," $4 "," $7 ",estimated" }' | sort -t, -k3,3gr | head -8
}

# draw NAME KIND [OPTION...] FILE...: NAME.png, by prof -plot; where there is no gnuplot, only its script, NAME.gp.
draw() {
	_name=$1 _kind=$2
	shift 2
	if ! prof -plot "$_kind" -o "$directory/$_name.png" "$@" && command -v gnuplot >/dev/null 2>&1; then
		say "there is no $directory/$_name.png"
		return 1
	fi
	say "$directory/$_name.csv"
}

# plot NAME < gnuplot commands: draws NAME.png from NAME.csv, for what is no picture of prof's; the commands stay in NAME.gp.
plot() {
	{
		echo "set terminal pngcairo size 900,600"
		echo "set output '$1.png'"
		echo "set datafile separator ','"
		cat
	} >"$directory/$1.gp"
	if ! command -v gnuplot >/dev/null 2>&1; then
		say "gnuplot is not installed: no picture of $directory/$1.gp"
	elif ! (cd "$directory" && gnuplot "$1.gp"); then
		say "gnuplot cannot draw $directory/$1.gp"
		return 1
	fi
	say "$directory/$1.csv"
}
