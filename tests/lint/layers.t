# SPDX-License-Identifier: GPL-2.0-or-later
# Each module includes only what lib/LAYERS allows; third-party headers stay in the one module that wraps them.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
layers() { python3 tests/lint/layers.py "$@"; }
is "modules include what lib/LAYERS allows" "$(layers includes . "$build/obj")" ""
is "their objects use what lib/LAYERS allows" "$(layers symbols . "$build/obj")" ""
is "lib/LAYERS allows nothing that nobody needs" "$(layers unused . "$build/obj")" ""
is "no files of a module need each other, but those of tests/lint/circles" "$(layers circles . "$build/obj" tests/lint/circles)" ""
is "a module missing from lib/LAYERS" "$(for d in lib/*/; do m=$(basename "$d"); grep -q "^$m:" lib/LAYERS || echo "$m"; done)" ""
one_home() { # what pattern allowed-path
	is "$1 is visible in $3 only" "$(grep -rlE "$2" --include='*.[ch]' lib perfex include examples 2>/dev/null | grep -Ev "^($3)" )" ""
}
one_home libpfm4 '#include <perfmon/' 'lib/events/'
one_home libdw '#include <(elfutils|dwarf|libelf|gelf)' 'lib/image/'
one_home zstd '#include <zstd' 'lib/perfdata/'
one_home ncurses '#include <(n?curses|term)' 'lib/tui/terminal'
one_home json-c '#include <json-c' 'lib/base/json_read\.c'
one_home libmicrohttpd '#include <microhttpd' 'lib/monitor/monitor_http\.c'
one_home Zydis '#include <Zydis' 'lib/isa/'
one_home "Valgrind's tool interface" '#include "?<?(valgrind/)?pub_tool' 'lib/valgrind/'
is "no library prints or exits" "$(grep -nE '\b(printf|puts|perror|fprintf\(stderr|exit|abort)\(' lib/*/*.c |
	grep -vE '^lib/(base/progress\.c|base/say\.c|base/json\.c|valgrind/|perfex/)|snprintf|strbuf_|VG_\(|_exit\(|/\*|fprintf\(out|fprintf\(j->out|fprintf\(f,|lib/kernels' |
	grep -E '\b(printf|puts|perror|exit|abort)\(|fprintf\(stderr')" ""

# A made-up tree: what breaks the rules is found.
made=$work/made
mkdir -p "$made/lib/low" "$made/lib/high" "$made/obj/lib/low" "$made/obj/lib/high"
printf 'low:\nhigh:\n' > "$made/lib/LAYERS"
printf 'int low_one(void);\n' > "$made/lib/low/one.h"
printf 'int low_two(void); int low_one(void); int low_one(void) { return low_two(); }\n' > "$made/lib/low/one.c"
printf 'int low_one(void); int low_two(void); int low_two(void) { return low_one(); }\n' > "$made/lib/low/two.c"
printf '#include "low/one.h"\nint high(void); int high(void) { return low_one(); }\n' > "$made/lib/high/high.c"
for f in low/one low/two high/high; do ${CC:-cc} -I"$made/lib" -c -o "$made/obj/lib/$f.o" "$made/lib/$f.c"; done
cp "$made/obj/lib/high/high.o" "$made/obj/lib/low/gone.o"
is "an include that is not allowed" "$(layers includes "$made" "$made/obj")" "lib/high/high.c: high must not include low/one.h"
is "a symbol that is not allowed" "$(layers symbols "$made" "$made/obj")" "high/high.o: high must not use low_one of low/one.o"
is "a circle" "$(layers circles "$made" "$made/obj" | head -1)" "circle: low/one.o low/two.o"
echo 'low/one.o low/*.o # known' > "$work/known"
is "a circle that is known" "$(layers circles "$made" "$made/obj" "$work/known")" ""
printf 'low: high\nhigh: low\n' > "$made/lib/LAYERS"
is "a right that is needed" "$(layers symbols "$made" "$made/obj")" ""
is "a right that nobody needs" "$(layers unused "$made" "$made/obj")" "low does not use high"
done_testing
