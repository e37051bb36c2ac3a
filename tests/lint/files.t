# SPDX-License-Identifier: GPL-2.0-or-later
# What every file must have, and what none may.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
files=$(tracked)
sources=$(printf '%s\n' "$files" | grep -E '\.([chS]|sh|t|mk|f90|map)$|^Makefile$')
is "SPDX line in every source file" "$(printf '%s\n' "$sources" | xargs awk '
	function end() { if (file && !good) print file; good = 0 }
	FNR == 1 { end(); file = FILENAME }
	FNR <= 3 && /SPDX-License-Identifier: / { good = 1 }
	FNR > 3 { nextfile }
	END { end() }')" ""
is "the top level holds what the layout says" "$(printf '%s\n' "$files" | sed 's,/.*,,' | sort -u |
	grep -vxE 'perfex|ssrun|prof|lib|include|tests|examples|docs|Makefile|README\.md|NEWS\.md|CONTRIBUTING\.md|LICENSE(\.LGPL)?|\..*')" ""
# Those that some file includes first do: that file compiles.
first=$(printf '%s\n' "$sources" | grep -E '^(lib|perfex|prof|ssrun)/.*\.c$' | grep -v '^lib/valgrind/' |
	xargs awk 'FNR == 1 { found = 0 } /^#include/ && !found++ && /"/ { gsub(/.*include "|".*/, ""); print "lib/" $0 }' | sort -u)
is "headers compile alone" "$(for h in $(printf '%s\n' "$sources" | grep '\.h$' | grep -v '^lib/valgrind/\|^tests/' | grep -vxF "$first"); do
	echo "#include \"$h\"" | ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -fsyntax-only -Ilib -Iinclude -I. -xc - >/dev/null 2>&1 || echo "$h"; done)" ""
is "installed headers compile as C++ too" "$(for h in include/*.h; do [ -e "$h" ] || continue
	echo "#include \"$h\"" | g++ -fsyntax-only -Iinclude -I. -xc++ - >/dev/null 2>&1 || echo "$h"; done)" ""
is "no unfinished business" "$(printf '%s\n' "$files" | grep -v '^tests/lint/\|^LICENSE' | xargs grep -nIwE 'TODO|FIXME|XXX|HACK' 2>/dev/null)" ""
is "no machine's paths, no registry's host names" "$(printf '%s\n' "$files" | grep -v '^tests/lint/\|^LICENSE' | xargs grep -nIE '/work/|(^|[ "=:])/root/|deb\.debian\.org|registry\.npmjs' 2>/dev/null)" ""
# As they stand there: a path, one below lib, or a name that some file has; '*' and NAME are any text.
is "files that HACKING.md, design.md and security.md name are there" "$(for doc in docs/HACKING.md docs/design.md docs/security.md; do
	grep -oE '[A-Za-z0-9_./*-]+\.(c|h|S|py|t|md|mk|core|machine)([^A-Za-z0-9_]|$)' $doc | sed 's/[^a-z]$//' | sort -u | while read -r name; do
		pattern=$(printf '%s\n' "$name" | sed 's/[.]/[.]/g; s/[*]/[^\/]*/g; s/NAME/[^\/]*/g')
		printf '%s\n' "$files" | grep -qE "(^|/)$pattern\$" || echo "$doc: $name"
	done
done)" ""
if command -v clang-format >/dev/null; then
	is "layout is clang-format's" "$(printf '%s\n' "$sources" | grep '\.[ch]$' | xargs clang-format --dry-run 2>&1 | grep -o '^[^:]*\.[ch]' | sort -u)" ""
else
	skip "layout is clang-format's" "clang-format is not installed"
fi
done_testing
