# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of at most 60 lines; files of at most 600, or a head that says why it is one file ("One file:").
# The exception is the model's hot loop: its parts share registers, which calls would spill.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
# A body begins with a brace alone on its line, as .clang-format has it, and ends with the next brace at a line's beginning.
long_functions() { awk 'FNR == 1 { start = 0 } /^\{$/ { start = FNR } /^}/ { if (start && FNR - start - 1 > 60) print FILENAME ":" start ": " FNR - start - 1 " lines"; start = 0 }' "$@"; }
long_files() { for f in "$@"; do [ "$(wc -l < "$f")" -le 600 ] || head -40 "$f" | grep -q '^ \* One file: ' || echo "$f"; done; }

sources=$(tracked | grep -E '^(lib|perfex|ssrun|prof)/.*\.[chS]$')
is "no function is over 60 lines" "$(long_functions $sources | grep -v '^lib/model/loop\.c:')" ""
is "a file over 600 lines says why it is one" "$(long_files $sources)" ""
is "at most five do" "$(for f in $sources; do [ "$(wc -l < "$f")" -le 600 ] || echo "$f"; done | sed '1,5d')" ""

cd "$work" || exit 1
{ echo 'int f(void)'; echo '{'; seq 61 | sed 's/.*/\t;/'; echo '}'; } > long.c
is "this lint finds a long function" "$(long_functions long.c)" "long.c:2: 61 lines"
seq 601 | sed 's/.*/;/' > large.c
is "this lint finds a long file" "$(long_files large.c)" "large.c"
done_testing
