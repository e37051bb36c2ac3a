# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# docs/tutorial.md: its commands print what stands there.  UPDATE=1 writes what they print into it.
. "$(dirname "$0")/../lib.sh"
if ! perfex -source model -e 17 true >/dev/null 2>&1; then
	skip "the tutorial" "there is no model here"
	done_testing
fi
if [ -n "${UPDATE:-}" ]; then
	ok "docs/tutorial.md is written anew" python3 "$top/tests/tutorial.py" update "$build"
else
	python3 "$top/tests/tutorial.py" check "$build" >tutorial.out 2>&1
	while IFS= read -r line; do
		case $line in
		'ok '*) ok "${line#ok * - }" true ;;
		'not ok '*) ok "${line#not ok * - }" false ;;
		'#'*) printf '%s\n' "$line" ;;
		1..*) ;;
		*) ok "the tutorial's test runs: $line" false ;;
		esac
	done <tutorial.out
fi
done_testing
