# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# A value profile, from the finding to the measured gain: what -arguments and -operations say of ledger, and then its
# time before and after the fix, by prof verify.
#
#     sh examples/ledger.sh [ROWS]
#
# The commands are taken from build/bin, or else from the PATH; O=DIR names another build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${O:-$here/../build}
ledger=$build/examples/ledger
[ -d "$build/bin" ] && PATH=$(cd "$build/bin" && pwd):$PATH
rows=${1:-1000000}
case $rows in *[!0-9]* | '') echo "usage: sh ledger.sh [ROWS]" >&2; exit 2 ;; esac
[ -x "$ledger-fixed" ] || { echo "ledger.sh: there is no $ledger: run make first" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

ssrun -q -values -rate 500 -o "$scratch/values" "$ledger" "$rows" >/dev/null
for view in arguments operations; do
	echo "prof -$view:"
	prof "-$view" "$scratch/values" | grep ' put ' || echo "  nothing of put was seen: give more ROWS"
done

echo "prof verify:"
prof verify -unmodelled -rounds 5 "$ledger" "$ledger-fixed" -- "$rows"
