# SPDX-License-Identifier: GPL-2.0-or-later
# A name found by grep is the thing itself: no two source files of one base name in lib; an exported symbol begins with the
# name of its module or its file; a static function's name stands in one file.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
# Symbols that others have named: SGI's libperfex and SpeedShop.
public='^(lib/perfex/perfex_classic\.c (load_costs|print_costs|print_counters|read_counters|start_counters)_?|lib/speedshop/points\.c ssrt_.*)$'

sources=$(tracked | grep -E '^lib/.*\.c$')
is "files of one base name in lib" "$(printf '%s\n' "$sources" | sed 's|.*/||' | sort | uniq -d)" ""
exported() { # file symbol
	for f in $sources; do
		[ ! -e "$build/obj/${f%.c}.o" ] || echo "$build/obj/${f%.c}.o"
	done | xargs nm -A -g --defined-only | awk -v obj="$build/obj/" '$NF !~ /^__odr_asan[.]/ { f = substr($1, length(obj) + 1); sub(/\.o:.*/, ".c", f); print f, $NF }'
}
is "exported symbols begin with their module's or their file's name" "$(exported | grep -Ev "$public" | awk '
	function begins(symbol, name) { sub(/s$/, "", name); return symbol ~ "^" name "s?(_|$)" }
	{
		n = split($1, part, "/"); base = part[n]; sub(/\.c$/, "", base)
		first = base; sub(/_.*/, "", first); rest = base; module = part[2]; sub(/s$/, "", module); sub("^" module "s?_", "", rest)
		good = begins($2, base) || begins($2, first) || begins($2, rest)
		for (i = 2; i < n; i++) good = good || begins($2, part[i])
		if (!good) print $1 ": " $2
	}')" ""
# shellcheck disable=SC2086 # a list
is "a static function's name stands in one file" "$(awk '
	/^static / && match($0, /[A-Za-z_0-9]+\(/) && $0 !~ /^static [^(]*[=;]/ {
		name = substr($0, RSTART, RLENGTH - 1)
		if (name != "__attribute__" && !((name, FILENAME) in seen)) { seen[name, FILENAME] = 1; files[name] = files[name] " " FILENAME; n[name]++ }
	}
	END { for (name in n) if (n[name] > 1) print name ":" files[name] }' $sources | sort)" ""
done_testing
