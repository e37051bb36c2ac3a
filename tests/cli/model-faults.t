# SPDX-License-Identifier: GPL-2.0-or-later
# Page faults under the modelled processor, and their cycles.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }

# Faults of `touches KIND N`, by the model; more options may follow.
faults() { # kind, n, ...
	_kind=$1 _n=$2
	shift 2
	[ $# -gt 0 ] || set -- -e pf
	perfex -q -source model -machine zen4 -csv -o faults.csv "$@" -- "$build/tests/programs/touches" "$_kind" "$_n" || return
	sed -n 's/^,,65,pf,Page faults,faults,\([0-9]*\),.*/\1/p' faults.csv
}

# About N more than without any, since pages of the stack may differ.
more() { # what, least, kind, n, ...
	_what=$1 _least=$2
	shift 2
	_with=$(faults "$@")
	_kind=$1
	shift 2
	_without=$(faults "$_kind" 0 "$@")
	_more=$((${_with:-0} - ${_without:-0}))
	ok "$_what: $_more more" [ "$_more" -ge "$_least" -a "$_more" -le $((_least + 4)) ]
}
more "memory that is given back" 500 map 500
more "memory that is not" 500 kept 500
more "pages whose contents were given up" 1000 again 500
more "a heap that shrinks and grows" 1000 heap 500
more "a child's, beside its parent's" 1000 child 500
more "before another program is executed" 500 exec 500
more "with all events" 500 map 500 -a
more "with -fast" 500 map 500 -a -fast

# Their cycles: they are in the total, in a cause, and in no clock.
cycles() { # page-fault, clock
	perfex -q -source model -machine "zen4:page-fault=$1-cycle" -a -clock "$2" -json -o cycles.json -- "$build/tests/programs/touches" map 500
	python3 -c '
import json
r = json.load(open("cycles.json"))
e = {x["number"]: x["count"]["value"] for x in r["events"] if x.get("count")}
print(int(e[0]), int(e[65]))'
}
for clock in sampled retirement; do
	# shellcheck disable=SC2046 # two numbers each
	set -- $(cycles 0 $clock) $(cycles 10000 $clock)
	ok "$clock: 10,000 cycles each: $1 + 10000 * $4 = $3" awk -v a="$1" -v b="$3" -v n="$4" 'BEGIN { d = b - a - 10000 * n; exit !(n > 500 && d * d < 1e8) }'
done
run perfex -q -source model -machine zen4:page-fault=10000-cycle -a -y -- "$build/tests/programs/touches" map 500
like "a cause of the breakdown" "$err$out" 'page faults, at user level\.*  *[0-9.]* s  *[1-9]'
done_testing
