# SPDX-License-Identifier: GPL-2.0-or-later
# The static checkers: shellcheck, cppcheck, gcc -fanalyzer and clang: no warning left unexplained.  Suppressions carry their reason
# where they stand.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
scripts=$(git ls-files 2>/dev/null | while read -r f; do case $f in *.sh | *.t | .ci/*) echo "$f" ;; *) head -c 20 "$f" | grep -aq '^#!/bin/\(ba\)*sh' && echo "$f" ;; esac; done)
if command -v shellcheck >/dev/null; then
	# SC1090, SC1091: the library is found at run time.  SC2154, SC2034: its variables.  SC2238: files of tests may have names of commands.  SC2086: word splitting is meant in tests.
	is "shellcheck" "$(for s in $scripts; do
		dialect='sh'; head -1 "$s" | grep -q bash && dialect='bash'
		shellcheck -s $dialect -S warning -e SC1090,SC1091,SC2154,SC2034,SC2238 "$s"; done 2>&1 | head -40)" ""
else
	skip "shellcheck" "shellcheck is not installed"
fi
sources=$(git ls-files 'lib/*.c' 'perfex/*.c' 'ssrun/*.c' 'prof/*.c' 2>/dev/null | grep -v '^lib/valgrind/')
if command -v cppcheck >/dev/null; then
	is "cppcheck" "$(cppcheck --quiet --enable=warning,portability --inline-suppr --std=c11 --suppress=missingIncludeSystem \
		--suppressions-list=tests/lint/cppcheck.suppressions -Ilib -Iinclude -D_GNU_SOURCE -D__x86_64__ \
		-DPERFEX_VERSION='""' -DPERFEX_PREFIX='""' $sources 2>&1 | head -40)" ""
else
	skip "cppcheck" "cppcheck is not installed"
fi
# Warnings of the compilers that are wrong, each with the reason: tests/lint/explained (path, pattern, reason).
unexplained() {
	grep 'warning:\|error:' | while IFS= read -r line; do
		while IFS='	' read -r path pattern _; do
			case $path in '' | '#'*) continue ;; esac
			case $line in "$path":*"$pattern"*) continue 2 ;; esac
		done < tests/lint/explained
		printf '%s\n' "$line"
	done
}
analyse() { # compiler flags...
	cc=$1; shift
	printf '%s\n' "$sources" | xargs -P 2 -I{} "$cc" -std=gnu11 -O1 -D_GNU_SOURCE -DPERFEX_VERSION='""' -DPERFEX_PREFIX='""' -Ilib -Iinclude \
		-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes "$@" -c -o /dev/null {} 2>&1 | unexplained
}
is "gcc -fanalyzer" "$(analyse gcc -fanalyzer)" ""
if command -v clang >/dev/null; then
	is "clang" "$(analyse clang)" ""
else
	skip "clang" "clang is not installed"
fi
done_testing
