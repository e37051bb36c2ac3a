# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For tests of programs that behave badly: the same program natively and under the model.  Needs tests/lib.sh.
hostile=$build/tests/programs/model-hostile
same() { # way argument...
	"$hostile" "$@" >native.out 2>native.err </dev/null
	_native=$?
	[ $_native != 77 ] || { skip "$*" "only root can try"; return; }
	perfex -q -source model -machine zen4 -json -e 17 -o o.json -- "$hostile" "$@" >model.out 2>model.err </dev/null
	_model=$?
	grep -v '^perfex: not counted' model.err >>model.out
	grep -vxE 'Illegal instruction|Aborted|Killed|Segmentation fault|Terminated|Floating point exception' native.err >>native.out # the shell's
	_failed_before=$_failed
	ok "$*: the same output, and exit status $_native" sh -c "cmp native.out model.out && [ $_native = $_model ]"
	[ "$_failed" = "$_failed_before" ] || { _show "native, $_native: $(tail -3 native.out)"; _show "model, $_model: $(tail -3 model.out)"; }
}
