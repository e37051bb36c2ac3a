# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lint/static.sh
. "$TOP/tests/lint/static.sh"
# cppcheck 2.10 cannot parse a cast to __typeof__ of what a macro was given.
# shellcheck disable=SC2086 # words
checker cppcheck cppcheck -j 2 --quiet --enable=warning,portability --inline-suppr --std=c11 --suppress=missingIncludeSystem \
	--suppressions-list=tests/lint/cppcheck.suppressions -Ilib -Iinclude -D_GNU_SOURCE -D__x86_64__ '-D__typeof__(x)=void *' \
	-DPERFEX_VERSION='""' -DPERFEX_PREFIX='""' $sources
done_testing
