# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced by tests/cli/*.t and tests/lint/*.t.  A test runs in an empty directory of its own ($work), with the built
# programs first in PATH, LC_ALL=C, and says:
#   ok "name" command...           the command must succeed
#   not_ok "name" command...       it must fail
#   is "name" "$got" "$want"       equal strings
#   like "name" "$got" 'regex'     grep -E finds it
#   unlike "name" "$got" 'regex'
#   golden "name" FILE             FILE equals tests/data/NAME.golden (UPDATE=1 rewrites that)
#   skip "name" "reason"           counted and shown
#   run command...                 sets $status, $out, $err
#   unchecked command...           without looking for leaks, which sanitizers cannot do under a tracer
#   wait_for command...            until it succeeds, two minutes at most, after which the test has failed: never for a time that may be
#                                  too short
#   tracked                        the repository's files
#   worked PID N                   it has worked for N hundredths of a second
#   done_testing                   last
set -u
top=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${BUILD:-$top/${O:-build}}
work=$(mktemp -d "${TMPDIR:-/tmp}/perfex-test.XXXXXX") || exit 1
trap 'chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
PATH=$build/bin:$PATH
LC_ALL=C TZ=UTC HOME=$work XDG_CONFIG_HOME=$work/.config XDG_CACHE_HOME=$work/.cache
PERFEX_HOST=none # a modelled host is what the system says of it: nothing is measured
export PATH LC_ALL TZ HOME XDG_CONFIG_HOME XDG_CACHE_HOME PERFEX_HOST
unset NO_COLOR COLUMNS LINES 2>/dev/null || :
_n=0 _failed=0 _vain=
_result() { # good? name
	_n=$((_n + 1))
	if [ "$1" = 0 ]; then echo "ok $_n - $2"; else echo "not ok $_n - $2"; _failed=$((_failed + 1)); fi
}
_show() { printf '%s\n' "$1" | sed 's/^/# /'; }
ok() { _name=$1; shift; if "$@" >"$work/.log" 2>&1; then _result 0 "$_name"; else _result 1 "$_name"; _show "exit $? of: $*"; sed 's/^/# /' "$work/.log" | tail -20; fi; }
not_ok() { _name=$1; shift; if "$@" >"$work/.log" 2>&1; then _result 1 "$_name"; _show "succeeded: $*"; else _result 0 "$_name"; fi; }
is() { if [ "$2" = "$3" ]; then _result 0 "$1"; else _result 1 "$1"; _show "got:  $2"; _show "want: $3"; fi; }
like() { if printf '%s\n' "$2" | grep -Eq -- "$3"; then _result 0 "$1"; else _result 1 "$1"; _show "got: $2"; _show "does not match: $3"; fi; }
unlike() { if printf '%s\n' "$2" | grep -Eq -- "$3"; then _result 1 "$1"; _show "got: $2"; _show "matches: $3"; else _result 0 "$1"; fi; }
golden() {
	_want=$top/tests/data/$1.golden
	if [ -n "${UPDATE:-}" ]; then mkdir -p "$(dirname "$_want")" && cp "$2" "$_want"; fi
	if diff -u "$_want" "$2" >"$work/.diff" 2>&1; then _result 0 "$1"; else _result 1 "$1 (UPDATE=1 rewrites it)"; sed 's/^/# /' "$work/.diff" | head -40; fi
}
skip() { _n=$((_n + 1)); echo "ok $_n - $1 # SKIP $2"; }
run() { "$@" >"$work/.out" 2>"$work/.err"; status=$?; out=$(cat "$work/.out"); err=$(cat "$work/.err"); }
unchecked() { ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 "$@"; }
wait_for() { _i=0; until "$@" >/dev/null 2>&1; do [ $_i -lt 1200 ] || { _vain=$*; return 1; }; _pause; done; }
_pause() { if [ $_i -lt 20 ]; then sleep 0.02; else sleep 0.1; fi; _i=$((_i + 1)); } # what comes soon is not waited for long
worked() { awk -v n="$2" -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); exit ($12 + $13) * 100 / hz < n }' "/proc/$1/stat"; }
# The repository's files, also of somebody else's checkout, and where they came without it.
tracked() { git -c safe.directory='*' ls-files 2>/dev/null | grep . || find . -name build -prune -o -type f -print | sed 's|^[.]/||'; }
only_on() { [ "$(uname -m)" = "$1" ] || { skip "$2" "$3"; done_testing; }; } # processor, what, why
# An experiment of a text (tests/tools/experiment), and programs for them: NAME of NAME.s with options of as; addresses of app.
make_experiment() { "$build/tests/tools/experiment" "$1"; }
assemble() { _app=$1; shift; as "$@" -o "$_app.o" "$_app.s" && ld -Ttext=0x401000 -o "$_app" "$_app.o" || exit 1; }
at() { printf '0x%x' $((0x$(nm app | awk -v n="$1" '$3 == n { print $1 }') + $2)); }
done_testing() {
	[ -z "$_vain" ] || { _result 1 "what was waited for came"; _show "it did not: $_vain"; }
	echo "1..$_n"
	[ "$_failed" = 0 ]
	exit
}
