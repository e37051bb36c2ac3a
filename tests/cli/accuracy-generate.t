# SPDX-License-Identifier: GPL-2.0-or-later
# tests/accuracy/generate with programs of two lines: what fails leaves its section as it was.
. "$TOP/tests/lib.sh"
mkdir -p tests/accuracy docs build
cp "$TOP/tests/accuracy/generate" tests/accuracy/
program() { # name status output...
	{
		echo '#!/bin/sh'
		shift
		echo "echo '$2'; exit $1"
	} > "tests/accuracy/$name"
	chmod +x "tests/accuracy/$name"
}
for name in cachegrind functions instructions; do program $name 0 "table of $name"; done
generate() { SECTIONS="$1" tests/accuracy/generate build > out 2> err; }
cat > docs/accuracy.md <<'END'
# Accuracy

## The model against cachegrind

an older table

## Call paths against callgrind

paths of before
END
generate 'cachegrind functions instructions'
is "programs that end well" "$?" 0
like "have their sections" "$(cat docs/accuracy.md)" 'table of cachegrind'
like "which others keep" "$(cat docs/accuracy.md)" 'paths of before'
not_ok "a new one takes the place of an old one" grep -q 'an older table' docs/accuracy.md
name=cachegrind
program $name 1 'half a table'
name=functions
program $name 3 'a table beyond its bound'
generate 'cachegrind functions'
is "a program that fails" "$?" 1
like "is named" "$(cat err)" 'The model against cachegrind: its program failed: the section stays as it was'
like "... its section stays" "$(cat docs/accuracy.md)" 'table of cachegrind'
not_ok "... without what it wrote" grep -q 'half a table' docs/accuracy.md
like "one that misses a bound is complete" "$(cat docs/accuracy.md)" 'a table beyond its bound'
is "no other file is left" "$(ls docs)" accuracy.md
done_testing
