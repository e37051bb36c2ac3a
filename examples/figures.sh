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

# count OUT COMMAND...: all events of a run and their costs, as perfex writes them in CSV.
count() {
	_out=$1
	shift
	perfex -a -y -csv -source model -machine "$machine" -o "$_out" "$@" >/dev/null
}

# value FILE SHORT COLUMN: a cell of perfex's table (7: count, 11: typical seconds); 0 where it is empty.
value() { awk -F, -v short="$2" -v column="$3" '$1 == "" && $4 == short { v = $column } END { printf "%.9g", v + 0 }' "$1"; }

# plot NAME < gnuplot commands: draws NAME.png, where there is gnuplot; the commands stay in NAME.gp.
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
