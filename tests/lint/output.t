# SPDX-License-Identifier: GPL-2.0-or-later
# What reaches a terminal passes base/shown.h, which escapes control characters in names.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
sources=$(tracked | grep -E '^(lib|perfex|ssrun|prof)/.*\.c$' | grep -vE '^lib/(model|valgrind)/|^lib/blockbench/worker')
# These write only constants, numbers, and what they escaped; the last one event names of its own table.
allowed='^lib/(base/(say|shown|progress)|perfex/perfex_classic)\.c:'
# Streams as arguments of functions that escape, or that write texts of the option tables; documents that escape in their own way.
allowed="$allowed|(shown_write|option_usage|shown_output|file_output|newterm|export_write|page_write|draw|fflush|ferror)\\(.*std(out|err)|PERFEX_VERSION|^lib/base/file\\.c:.*(/dev/std|stream = stdout)|option_print"
# The usage hints of perfex and ssrun, which are constants.
allowed="$allowed|^(perfex|ssrun)/main\\.c:[0-9]*:[	 ]*stderr\\);"
leaks() { # file...
	grep -nE '(^|[^a-z_])(v?printf|puts|putchar|perror|psignal)\(|(^|[^a-z_])std(out|err)([^a-z_]|$)|\\033|\\x1b|\\e\[' "$@" /dev/null |
		grep -vE '^[^:]*:[0-9]*:.*(//|/\*|^ \*).*(stdout|stderr)' | grep -vE '^[^:]*options\.c:[0-9]*:[	 ]*\{"' | grep -vE "$allowed"
}
# shellcheck disable=SC2086
is "nothing is written but through base/shown.h" "$(leaks $sources)" ""
cat > "$work/leak.c" <<'END'
	printf("%s\n", name);
	fprintf(stderr, "%s\n", name);
	puts("\033[2m");
END
is "and the lint sees what would be" "$(leaks "$work/leak.c" | wc -l)" 3
done_testing
