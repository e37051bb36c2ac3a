# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lint/static.sh
. "$TOP/tests/lint/static.sh"
scripts=$(tracked | while read -r f; do case $f in *.sh | *.t | .ci/*) echo "$f" ;; *) head -c 20 "$f" | grep -aq '^#!/bin/\(ba\)*sh' && echo "$f" ;; esac; done)
# SC1090, SC1091: the library is found at run time.  SC2154, SC2034: its variables.  SC2238: files of tests may have names of commands.  SC2086: word splitting is meant in tests.
check() {
	for s in $scripts; do
		dialect='sh'; head -1 "$s" | grep -q bash && dialect='bash'
		shellcheck -s $dialect -S warning -e SC1090,SC1091,SC2154,SC2034,SC2238 "$s"
	done
}
checker shellcheck check
done_testing
