#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots both guests and has check.py judge what they print.
set -u
top=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
guest=${BUILD:-$top/build}/arm64
here=$top/tests/pmu-vm
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
files="$guest/bin/perfex $guest/share $guest/pmu-vm/work $guest/pmu-vm/encodings $guest/pmu-vm/unit"
# shellcheck disable=SC2086
"$here/vm" "$here/guest.sh" $files > "$work/with"
echo "-- guest $?" >> "$work/with"
# shellcheck disable=SC2086
"$here/vm" -n "$here/guest-without.sh" $files > "$work/without"
echo "-- guest $?" >> "$work/without"
[ -z "${KEEP:-}" ] || cp "$work/with" "$work/without" "$KEEP"
python3 "$here/check.py" "$work/with" "$work/without"
