# SPDX-License-Identifier: GPL-2.0-or-later
# The model leaves out stores of flags that nothing reads: programs that read flags far from where they are set, and whose
# code is replaced meanwhile, do the same as natively.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
flags=$build/tests/programs/flags
"$flags" >native
for options in "-e gi" "-a" "-a -fast" "-a -clock retirement" "-machine cachegrind -a"; do
	# shellcheck disable=SC2086 # words
	perfex -q -source model $options -o counts -- "$flags" >model
	is "perfex $options: flags are read as natively" "$(cat model)" "$(cat native)"
done
done_testing
