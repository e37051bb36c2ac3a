# SPDX-License-Identifier: GPL-2.0-or-later
# Each module includes only what lib/LAYERS allows; third-party headers stay in the one module that wraps them.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
bad=$(awk -F: '
	FILENAME == "lib/LAYERS" { if ($0 !~ /^#/ && NF > 1) { n = split($2, a, " "); known[$1] = 1; may[$1, $1] = 1; for (i = 1; i <= n; i++) may[$1, a[i]] = 1 } next }
	/^#include "[a-z]+\// {
		split(FILENAME, f, "/"); split($0, q, "\""); split(q[2], t, "/")
		if (q[2] == "events/numbers.h") next
		if (t[1] in known && !((f[2], t[1]) in may)) print FILENAME ": " f[2] " must not include " q[2]
	}' lib/LAYERS lib/*/*.[ch])
is "modules include what lib/LAYERS allows" "$bad" ""
is "a module missing from lib/LAYERS" "$(for d in lib/*/; do m=$(basename "$d"); grep -q "^$m:" lib/LAYERS || echo "$m"; done)" ""
one_home() { # what pattern allowed-path
	is "$1 is visible in $3 only" "$(grep -rlE "$2" --include='*.[ch]' lib perfex include examples 2>/dev/null | grep -Ev "^($3)" )" ""
}
one_home libpfm4 '#include <perfmon/' 'lib/events/'
one_home libdw '#include <(elfutils|dwarf|libelf|gelf)' 'lib/image/'
one_home zstd '#include <zstd' 'lib/perfdata/'
one_home ncurses '#include <(n?curses|term)' 'lib/tui/terminal'
one_home json-c '#include <json-c' 'lib/base/json_read\.c'
one_home Zydis '#include <Zydis' 'lib/isa/'
one_home "Valgrind's tool interface" '#include "?<?(valgrind/)?pub_tool' 'lib/valgrind/'
is "no library prints or exits" "$(grep -nE '\b(printf|puts|perror|fprintf\(stderr|exit|abort)\(' lib/*/*.c |
	grep -vE '^lib/(base/progress\.c|base/say\.c|base/json\.c|valgrind/|perfex/)|snprintf|strbuf_|VG_\(|_exit\(|/\*|fprintf\(out|fprintf\(j->out|fprintf\(f,|costs/kernels' |
	grep -E '\b(printf|puts|perror|exit|abort)\(|fprintf\(stderr')" ""
done_testing
