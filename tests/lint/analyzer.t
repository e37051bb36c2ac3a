# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lint/static.sh
. "$TOP/tests/lint/static.sh"
checker "gcc -fanalyzer" analyse gcc -fanalyzer -S -o /dev/null
done_testing
