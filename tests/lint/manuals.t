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
	for width in 60 66 78 100; do
		is "no line of a page is too long for $width columns" "$(for page in docs/man/*.[1-9]; do
			groff -k -mandoc -ww -Tutf8 -rLL=${width}n -rLT=${width}n "$page" 2>&1 >/dev/null; done)" ""
	done
	is "no page shows a request" "$(for page in docs/man/*.[1-9]; do
		groff -k -mandoc -Tascii "$page" 2>/dev/null | grep -E '(^| )\.[A-Z][a-z]( |$)' | sed "s|^|$page: |"; done)" ""
else
	skip "widths of pages" "groff is not installed"
fi
options() { "$build/bin/$1" -help | sed -n 's/^  -\([a-z]*\).*/\1/p' | sort; }
for program in perfex prof ssrun; do
	page=$(sed -n 's/^\.It Fl \([a-z]*\).*/\1/p' "docs/man/$program.1" | sort -u)
	is "options of $program are all in its manual" "$(options $program)" "$page"
done
for page in ssrun-monitor prof-block prof-calibrate prof-optimize prof-store prof-verify; do
	program=${page%-*} command=${page#*-}
	is "each option of $program $command is in its manual" "$("$build/bin/$program" "$command" -help |
		sed -n 's/^  -\([a-z]*\).*/\1/p' | sort | while read -r option; do
		sed -n 's/^\.Fl \(.*\) \.$/\1/p; s/^\.It Fl \([a-z]*\).*/\1/p' "docs/man/$page.1" | tr -d , | tr ' ' '\n' |
			grep -qx "$option" || echo "$option"; done)" ""
	is "$program $command has all options of its manual" "$(sed -n 's/^\.It Fl \([a-z]*\).*/\1/p' "docs/man/$page.1" | while read -r option; do
		"$build/bin/$program" "$command" -help | grep -q "^  -$option" || echo "$option"; done)" ""
done
# The table of reports in prof(1) names the page of each; that page explains it, and explains no option that prof lacks.
families=$(sed -n '/^\.Ss Reports/,/^Reports of executions/p' docs/man/prof.1)
is "each report of the table is explained on the page that the table names" "$(echo "$families" |
	awk '/^\.Xr/ { if (!fresh) pages = ""; fresh = 1; pages = pages " " $2 } /^\.It Fl/ { fresh = 0; print $3, pages }' |
	while read -r option pages; do
		for page in $pages; do grep -q "^\.It Fl $option\( \|$\)" "docs/man/$page.1" && continue 2; done
		echo "$option: $pages"
	done)" ""
reports=$("$build/bin/prof" -help | sed -n '/^  -procedures/,/^  -q /s/^  -\([a-z]*\).*/\1/p' | grep -vx q)
is "all reports are in the table" "$(for report in $reports; do
	echo "$families" | grep -q "^\.It Fl $report\( \|$\)" || echo "$report"; done)" ""
for page in reports stalls values data diff export tui; do
	is "prof has all options of prof-$page(1)" "$(sed -n 's/^\.It Fl \([a-z]*\).*/\1/p' "docs/man/prof-$page.1" | while read -r option; do
		options prof | grep -qx "$option" || echo "$option"; done)" ""
done
refs=$(grep -ho '^\.Xr [a-z-]* [1-9]' docs/man/* | awk '{ print $2 "." $3 }' | sort -u | grep -E '^(perfex|libperfex|ssrun|prof)')
is "cross-references lead somewhere" "$(for r in $refs; do [ -e "docs/man/$r" ] || echo "$r"; done)" ""
done_testing
