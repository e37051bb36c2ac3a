# SPDX-License-Identifier: GPL-2.0-or-later
# Messages, documents, manual pages and comments avoid the forms that tests/lint/english.py lists; paths in HACKING.md, design.md and the glossary exist.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
is "no banned forms in strings, comments and documents" "$(python3 tests/lint/english.py)" ""
printf 'static const char m[] = "the thread that is behind: so many samples";\n' > "$work/bad.c"
printf 'Nobody tells it.\n\n    who is in an example is left alone\n' > "$work/bad.md"
is "banned forms are found" "$(python3 tests/lint/english.py "$work/bad.c" "$work/bad.md" | sed 's|.*/||; s/: .*//')" "bad.c:1
bad.c:1
bad.md:1
bad.md:1"
printf '/* Returns who\n * is behind. */\nint n; // a term\n' > "$work/comment.c"
is "banned forms are found in comments" "$(python3 tests/lint/english.py "$work/comment.c" | sed 's/: .*//; s|.*/||')" "comment.c:1
comment.c:1"
paths() { # document: paths in backquotes that do not exist, as they stand or below a module
	grep -o '`[^`]*`' "$1" | tr -d '`' | grep -E '^[a-z_]+(/[A-Za-z0-9_.*-]+)*\.(c|h|t|py|S|md|mk|sh)$|^(lib|tests|prof|perfex|ssrun|docs|examples)/[A-Za-z0-9_./*-]+$' |
		grep -v NAME | sort -u | while IFS= read -r path; do
		found=
		for f in $path lib/$path lib/*/$path lib/*/*/$path docs/$path prof/$path tests/*/$path; do [ ! -e "$f" ] || found=1; done
		[ "$found" ] || echo "$path"
	done
}
is "paths in HACKING.md exist" "$(paths docs/HACKING.md)" ""
is "paths in design.md exist" "$(paths docs/design.md)" ""
is "paths in glossary.md exist" "$(paths docs/glossary.md)" ""
printf '`lib/none/such.c` and `nonesuch.h`\n' > "$work/paths.md"
is "missing paths are found" "$(paths "$work/paths.md")" "lib/none/such.c
nonesuch.h"
done_testing
