# SPDX-License-Identifier: GPL-2.0-or-later
# The model's instruction totals against single steps; tests/accuracy/instructions does the same with larger programs.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "single steps" "the model's tool is not built here"; done_testing; }
steps=$build/tests/programs/steps
# What Valgrind preloads, the loader has to load in both; and the processor is to be the model's.
preloaded=$(sed -n 2p "$build/libexec/perfex/perfexmodel.built-for")
ok "the processor that the model presents" sh -c 'perfex -q -source model -e gi -o counted -- "$1" -leaves > leaves' sh "$steps"
near() { # command...
	env -i PATH="$PATH" LC_ALL=C LD_PRELOAD="$preloaded" "$steps" -as leaves -o stepped -- "$@" >/dev/null 2>err || {
		skip "$1: instructions" "it cannot be stepped here: $(head -1 err)"; return; }
	env -i PATH="$PATH" LC_ALL=C perfex -q -json -o counted -source model -e gi -- "$@" >/dev/null
	theirs=$(sed -n 's/^instructions //p' stepped)
	ours=$(sed -n 's/.*"number":17,[^{]*"count":{"value":\([0-9]*\).*/\1/p' counted)
	ok "$1: $ours instructions, $theirs single steps: within 0.1%" test "$theirs" -gt 50000 -a \
		"$((ours > theirs ? ours - theirs : theirs - ours))" -le "$((theirs / 1000))"
}
near true
near basename /usr/share/doc/copyright
near env
done_testing
