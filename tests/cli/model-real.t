# SPDX-License-Identifier: GPL-2.0-or-later
# Real programs under the modelled processor: the same counts each time, and with cachegrind's semantics
# cachegrind's own misses, to the last one.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
cat > t.sql <<'END'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i+1 from n where i<500) insert into t select i, 'row '||(i*7919%100) from n;
select b, count(*) from t group by b order by 2 desc limit 5;
END
cat > t.lua <<'END'
local t = {}
for i = 1, 2000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
local w = {}
for i = 1, 1000 do w["k" .. (i % 97)] = (w["k" .. (i % 97)] or 0) + i end
print(#t, w.k5)
END
i=0; while [ $i -lt 3000 ]; do echo "line $((i * 7919 % 3001)) of some text"; i=$((i + 1)); done > text
# Lua seeds its hashes with the time of day: the one input that is not the same each time.
echo 'long time(long *t) { if (t) *t = 1; return 1; }' > time.c
${CC:-cc} -shared -fPIC -o time.so time.c
ASAN_OPTIONS=verify_asan_link_order=0
export ASAN_OPTIONS
same_time() { LD_PRELOAD=$work/time.so "$@"; }

have() { command -v "$1" >/dev/null 2>&1 || { skip "$1" "not installed"; return 1; }; }
counts() { # FILE: what must be the same each time
	python3 -c 'import json, sys
for e in json.load(open(sys.argv[1]))["events"]: print(e["number"], e["count"]["value"])' "$1"
}
twice() {
	for n in 1 2; do
		same_time perfex -a -source model -machine zen4 -json -o "$n.json" -- "$@" >/dev/null </dev/null
		counts "$n.json" > "$n.counts"
	done
	ok "$1: identical counts of $(wc -l < 1.counts) events, twice" cmp 1.counts 2.counts
	ok "$1: and counts there are" test "$(awk '$1 == 17 { print int($2) }' 1.counts)" -gt 100000
}
# I1, LLi, D1, LLd misses
like_cachegrind() { # geometry command...
	set_i1=$1 set_d1=$2 set_ll=$3; shift 3
	same_time valgrind --tool=cachegrind --cache-sim=yes --I1="$set_i1" --D1="$set_d1" --LL="$set_ll" \
		--cachegrind-out-file=cg.out "$@" >/dev/null 2>&1 </dev/null
	theirs=$(awk '/^events:/ { for (i = 2; i <= NF; i++) at[$i] = i } /^summary:/ {
		print $at["I1mr"], $at["ILmr"], $at["D1mr"] + $at["D1mw"], $at["DLmr"] + $at["DLmw"] }' cg.out)
	same_time perfex -source model -machine "cachegrind:I1=$set_i1:D1=$set_d1:LL=$set_ll" \
		-e 9 -e 33 -e 25 -e 32 -json -o o.json -- "$@" >/dev/null </dev/null
	ours=$(python3 -c 'import json; print(*(int(e["count"]["value"]) for e in json.load(open("o.json"))["events"]))')
	is "$1: cachegrind's misses (I1, LLi, D1, LLd) with $set_d1" "$ours" "$theirs"
}
have gzip && twice gzip -6 -c text
have sqlite3 && twice sqlite3 -batch -init t.sql :memory: .quit
have lua5.4 && twice lua5.4 t.lua
have gzip && like_cachegrind 32768,8,64 32768,8,64 1048576,16,64 gzip -6 -c text
have sqlite3 && like_cachegrind 16384,2,32 8192,2,32 262144,8,64 sqlite3 -batch -init t.sql :memory: .quit
have lua5.4 && like_cachegrind 32768,4,64 49152,12,64 2097152,16,64 lua5.4 t.lua
have sort && like_cachegrind 32768,8,64 32768,8,64 8388608,16,64 sort text
done_testing
