# SPDX-License-Identifier: GPL-2.0-or-later
# What a program says and how it ends is the same under the modelled processor as natively, whatever it does to its
# process.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
. "$TOP/tests/hostile.sh"
field() { python3 -c 'import json, sys; print(int(json.load(open(sys.argv[1]))["events"][0]["count"]["value"]))' "$1"; }

for way in faults repair divide overflow exit-in-handler timer nested avx2 contexts stops; do same $way; done
for signal in 4 6 8 9 11 15; do same dies $signal; done
for i in 1 2; do
	echo "int f(int x) { return x * $i + $i; }" > l$i.c
	${CC:-cc} -shared -fPIC -o l$i.so l$i.c
done
same libraries 100 ./l1.so ./l2.so
for way in self-modifying twice-mapped write-xor-execute patch-text; do same $way; done

# What a block would have done behind a fault did not happen: 100 more times cost what is executed, and no more.
counts_of() {
	perfex -q -source model -machine zen4 -json -e 17 -e 18 -- "$hostile" "$@" |
		python3 -c 'import json, sys; print(*(int(e["count"]["value"]) for e in json.load(sys.stdin)["events"]))'
}
more() { # instructions and loads of a hundred more faults
	_first=$(counts_of skips "$1" 200) _second=$(counts_of skips "$1" 300)
	echo $((${_second% *} - ${_first% *})) $((${_second#* } - ${_first#* }))
}
is "a fault at the end of a block: 13 instructions and 3 loads each time" "$(more 0)" "1300 300"
is "a fault with eight loads behind it: one jump more, and none of the loads" "$(more 1)" "1400 300"

# With no handler either: each load later is two instructions and a load more.
died() { # words of the program, options...
	_words=$1; shift
	for i in 0 1 2 3; do
		# shellcheck disable=SC2086 # none, or one
		perfex -q -source model "$@" -e 17 -e 18 -json -o died.json -- "$build/tests/programs/faulting" $i $_words >/dev/null 2>&1
		python3 -c 'import json
counts = {e["number"]: int(e["count"]["value"]) for e in json.load(open("died.json"))["events"]}
print(counts[17], counts[18])'
	done | awk 'NR > 1 { printf "%d %d,", $1 - instructions, $2 - loads } { instructions = $1; loads = $2 }'
}
is "a fault that ends the program: what was executed before it" "$(died "" -machine zen4)" "2 1,2 1,2 1,"
is "the same, modelled" "$(died "" -machine zen4 -e 25)" "2 1,2 1,2 1,"
is "a fault in a function of Valgrind's" "$(died extended -machine zen4)" "2 1,2 1,2 1,"
is "the same, with cachegrind's caches" "$(died "" -machine cachegrind -e 26)" "2 1,2 1,2 1,"

run perfex -source model -machine zen4 -e 17 -o counts -- "$hostile" avx512
is "AVX-512: until there the program runs" "$out" before
is "and gets SIGILL" "$status" 132
like "which is explained" "$err" 'AVX-512 code, which Valgrind cannot run.*(AVX2).*-source os'
like "what was counted is there" "$(cat counts)" ' 17 Graduated instructions\.+ +[0-9]{6,} +model$'


if command -v luajit >/dev/null 2>&1; then
	cat > j.lua <<'END'
local s = 0
local function f(n) local a, b = 0, 1 for i = 1, n do a, b = b, (a + b) % 1000007 end return a end
for i = 1, 200 do s = s + f(i * 10) end
print(s, jit.status())
END
	luajit j.lua > native.out
	perfex -q -source model -machine zen4 -e 17 -o counts -- luajit j.lua > model.out
	is "luajit compiles at run time: the same output" "$(cat model.out)" "$(cat native.out)"
else
	skip "luajit" "not installed"
fi
done_testing
