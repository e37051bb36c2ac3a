# SPDX-License-Identifier: GPL-2.0-or-later
# Code whose counts are known by reading it, under the modelled processor.
. "$TOP/tests/lib.sh"
# Prefetchers off: which lines a program has prefetched by itself is to be seen.
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
run perfex -source model -machine zen4:L1D-stride=off,L2-stream=off -a -o counts -- "$build/tests/programs/model-known"
is "exit status" "$status" 0
is "nothing on stderr" "$err" ""
# Page faults are also those of the environment: see model-faults.t.
printf '%s\n' "$out" | grep -v 'Page faults' > got
golden model-known got
run perfex -source model -machine r10000 -a -o counts -- "$build/tests/programs/model-known"
is "the instruction mix does not depend on the machine" "$(printf '%s\n' "$out" | grep -v -e prefetched -e 'Page faults')" "$(grep -v prefetched got)"
is "natively, the program knows that there is no model" "$("$build/tests/programs/model-known")" "not under the model"
done_testing
