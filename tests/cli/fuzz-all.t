# SPDX-License-Identifier: GPL-2.0-or-later
# make fuzz: a target that finds something does not end the others, its inputs are in the build, and the end says what each found.
. "$TOP/tests/lib.sh"
mkdir -p out/fuzz
target() { # name; its program on standard input
	{ printf '#!/bin/sh\nfor a; do last=$a; case $a in -artifact_prefix=*) to=${a#*=} ;; esac; done\n'; cat; } > "out/fuzz/$1"
	chmod +x "out/fuzz/$1"
}
target finds <<'END'
[ -f "$last" ] && sed 's/^/SUMMARY: UndefinedBehaviorSanitizer: /' "$last" && exit 1
for i in 1 2 3; do echo "lib/a.c:$((i / 2))" > "${to}crash-$i"; done
exit 77
END
target breaks <<'END'
exit 7
END
target fine <<'END'
for a; do case $a in */corpus/*) echo input > "$a/one" ;; esac; done
END
target stops <<'END'
[ -f "$last" ] && exit 0
touch "${to}timeout-1"
exit 70
END
run "$top/tests/fuzz/all" out found 1 finds breaks fine stops
is "a finding is a failure" "$status" 1
is "all targets run, and the end says what each found" "$out" "fuzz finds
fuzz breaks
fuzz fine
fuzz stops

finds: findings in 0 CPU seconds
  1 of: UndefinedBehaviorSanitizer: lib/a.c:0
    first: found/finds/crash-1
  2 of: UndefinedBehaviorSanitizer: lib/a.c:1
    first: found/finds/crash-2
breaks: ended with status 7: read found/breaks/log
fine: nothing found in 0 CPU seconds, 1 inputs in its corpus
stops: nothing found in 0 CPU seconds, 0 inputs in its corpus"
is "what took long only while the machine stood still is no finding" "$(find found/stops -name "timeout-*")" ""
is "inputs are kept" "$(find found/finds -name "*crash*" | wc -l)" 3
mkdir -p found/fine
echo input > found/fine/crash-mended
run "$top/tests/fuzz/all" out found 1 fine
is "nothing found" "$status" 0
is "an input that fails no more goes" "$(ls found/fine)" "kinds
log
spent
summary
times"
target works <<'END'
echo begun >> "${to}begun"
python3 -c 'import time
while time.process_time() < 1.2: pass'
END
begun() { grep -c begun found/works/begun; }
run "$top/tests/fuzz/all" out found 1 works
like "seconds are of processor time" "$out" 'works: nothing found in [1-9][0-9]* CPU seconds'
first=$(begun)
run env MORE=1 "$top/tests/fuzz/all" out found 1 works
is "those of earlier calls count, too" "$(begun)" "$first"
echo "# another program" >> out/fuzz/works
run env MORE=1 "$top/tests/fuzz/all" out found 1 works
is "but not those of another program" "$(($(begun) > first))" 1
run "$top/tests/fuzz/all"
is "how it is called" "$status" 125
done_testing
