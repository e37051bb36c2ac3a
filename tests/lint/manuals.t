# SPDX-License-Identifier: GPL-2.0-or-later
# Manual pages are clean mdoc, and say what the programs accept: no option undocumented, none imagined.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
if command -v mandoc >/dev/null; then
	for page in docs/man/*.[1-9]; do
		is "$page is clean" "$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'referenced manual not found')" ""
	done
else
	skip "manual pages are clean" "mandoc is not installed"
fi
if command -v groff >/dev/null; then
	for width in 66 78 100; do
		is "no line of a page is too long for $width columns" "$(for page in docs/man/*.[1-9]; do
			groff -k -mandoc -ww -Tutf8 -rLL=${width}n -rLT=${width}n "$page" 2>&1 >/dev/null; done)" ""
	done
else
	skip "widths of pages" "groff is not installed"
fi
options() { "$build/bin/$1" -help | sed -n 's/^  -\([a-z]*\).*/\1/p' | sort; }
for program in perfex prof ssrun; do
	page=$(sed -n 's/^\.It Fl \([a-z]*\).*/\1/p' "docs/man/$program.1" | sort -u)
	is "options of $program are all in its manual" "$(options $program)" "$page"
done
monitor=$("$build/bin/ssrun" monitor -help | sed -n 's/^  -\([a-z]*\).*/\1/p' | sort)
is "options of ssrun monitor are all in its manual" "$monitor" "$(sed -n 's/^\.It Fl \([a-z]*\).*/\1/p' docs/man/ssrun-monitor.1 | sort -u)"
refs=$(grep -ho '^\.Xr [a-z-]* [1-9]' docs/man/* | awk '{ print $2 "." $3 }' | sort -u | grep -E '^(perfex|libperfex|ssrun|prof)')
is "cross-references lead somewhere" "$(for r in $refs; do [ -e "docs/man/$r" ] || echo "$r"; done)" ""
done_testing
