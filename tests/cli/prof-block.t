# SPDX-License-Identifier: GPL-2.0-or-later
# prof block: where blocks come from, what is printed, what is refused.  Figures are not judged.
# In real time: blocks are measured on this processor.
. "$TOP/tests/lib.sh"
case $(uname -m) in x86_64) ;; *)
	skip "prof block" "it measures x86-64 only"
	done_testing ;;
esac
prof_block() { run prof block -quick "$@"; }
ok_json='^\{"schema":"prof.block/1","hex":"4801d8","class":"ok",.*"cycles":\{"value":[0-9.]+,"label":"measured","low":[0-9.]+,"high":[0-9.]+\}'

prof_block -hex "48 01d8"
is "a block from the command line" "$status" 0
like "its bytes and instructions" "$out" 'add %rbx, %rax'
like "its figure has an interval and a label" "$out" '[0-9.]+ core cycles, \+-[0-9.]+% \(measured\), 1 instruction$'
like "what it rests on" "$out" 'unrolled: [0-9]+ less [0-9]+ copies, [0-9]+ timed runs in 1 worker,'
prof_block -json -hex 4801d8
like "as JSON" "$out" "$ok_json"
prof_block -csv -hex 4801d8
like "as CSV" "$out" '^4801d8,ok,[0-9.]+,[0-9.]+,[0-9.]+,measured,1,'
is "whose lines have as many cells as its head" "$(printf '%s\n' "$out" | awk -F, '{ print NF }' | sort -u | wc -l)" 1
prof_block -loop -hex 4801d875fb
like "in a loop" "$out" 'looped: '
like "which says what became of the branch" "$out" "warning: the branch at its end was replaced by the loop's"
run prof block -hex 4801d8
like "three workers, not quick" "$out" 'in [3-9] workers'

cat > blocks.csv <<'END'
hex,anything
4801d8,100
# a comment

480
zz
0f05
488b00
48f7f3,7
END
prof_block -file blocks.csv
is "a file of blocks" "$status" 0
is "each in its class" "$(printf '%s\n' "$out" | awk 'NR > 1 { print $5 }' | tr '\n' ' ')" "ok not-hex not-hex system-call ok ok "
prof_block -json -file blocks.csv
is "an object a line" "$(printf '%s\n' "$out" | grep -c '^{"schema":"prof.block/1".*}$')" 6
like "with its line" "$out" '"hex":"0f05","class":"system-call","where":"blocks.csv:7"'
prof_block -json -o out.json -file blocks.csv
is "into a file" "$(grep -c prof.block/1 out.json)" 6

if command -v as >/dev/null && command -v objcopy >/dev/null; then
	prof_block -json -asm 'add %rbx, %rax'
	like "assembled" "$out" "$ok_json"
	prof_block -asm 'no such thing'
	is "what as does not take" "$status" 125
	like "is said" "$err" "the assembler rejects 'no such thing'"
else
	skip "assembled" "binutils are not installed"
fi
PATH=/nonexistent "$build/bin/prof" block -asm nop 2> err
is "without an assembler" "$?" 125
like "there is a hint" "$(cat err)" 'install as and objcopy \(package binutils\)'

cat > app.c <<'END'
int spin(int n)
{
	int x = n;

	while (n--)
		x = x * 1000003 + n;
	return x;
}

int main(int argc, char **argv)
{
	return spin(argc * 10) + !argv;
}
END
${CC:-gcc} -O1 -fno-tree-vectorize -o app app.c || exit 1
spin=$(nm app | awk '$3 == "spin" { print $1 }')
prof_block -image app -address "$spin"
is "a block of an image" "$status" 0
like "up to the first branch" "$out" "warning: the branch at its end was left out"
prof_block -image app -address "$spin..$(printf %x $((0x$spin + 2)))"
like "or a range" "$out" ' app 0x0*'
prof_block -image app -address 10..8
like "a range that is none" "$err" "invalid -address '10..8'"
prof_block -image app -address ffffffff00000000
like "no code there" "$err" 'has no code at'

imul=$(objdump -d app | awk '/<spin>:/ { on = 1 } on && /imul/ { sub(":", "", $1); print $1; exit }')
"$build/tests/tools/experiment" app.pcsamp.1 <<END || exit 1
type pcsamp
image elf $work/app
metric time 1000003 measured clock
elapsed 1000000
sample 0 0 0 90 1:0x$imul
sample 0 0 0 10 1:0x$spin
sample 0 0 0 5 0:99
END
prof_block -top 1 app.pcsamp.1
is "the hottest block of an experiment" "$status" 0
like "with its share, function, address" "$out" ' +85\.7% .* ok .* spin 0x[0-9a-f]+ '
is "and no more than asked for" "$(printf '%s\n' "$out" | wc -l)" 2
like "what has no code is said" "$err" '4\.8% of the samples are in no block'
prof_block -json app.pcsamp.1
like "as JSON" "$out" '"function":"spin","share":0\.857'

prof_block
is "no block at all" "$status" 125
like "hint" "$err" 'prof block -hex STRING'
prof_block -hex 90 -file blocks.csv
like "two sources" "$err" 'one source of blocks'
prof_block -image app
like "-image alone" "$err" '-image and -address need each other'
prof_block -csv -json -hex 90
like "two formats" "$err" '-csv and -json exclude each other'
prof_block -top 3 -hex 90
like "-top without experiment" "$err" '-top needs an experiment'
prof_block -hex 0f05
is "nothing could be measured" "$status" 1
like "why" "$out" 'system-call: makes a system call'
prof_block -file /dev/null
like "an empty file" "$err" 'no block to measure'
prof_block no-such-file
is "no such experiment" "$status" 125

run prof block -help
is "options are those of the manual" "$(printf '%s\n' "$out" | sed -n 's/^  -\([a-z]*\).*/\1/p' | sort)" \
	"$(sed -n 's/^\.It Fl \([a-z]*\).*/\1/p' "$top/docs/man/prof-block.1" | sort -u)"

# The static schedule beside the measurement, or alone.
run prof block -static -core redwood-cove -hex 480fafc34801c14889020f1f00
is "a block is scheduled without being run" "$status" 0
like "a chain of multiplications binds it" "$out" '^  3.000 cycles by the schedule \(estimated, redwood-cove\), bound by dependency on imul'
like "each instruction has its Mi" "$out" '^ +1 +[0-9.]+  imul'
# addsd (%rdi), %xmm0; add $8, %rdi; cmp %rax, %rdi; jne: the branch waits for cmp, and delays nothing.
run prof block -static -core zen4 -hex f20f58074883c7084839c775f3
like "the chain that binds is the one with the longest wait" "$out" 'bound by dependency on addsd'
run prof block -static -core zen4 -json -hex 4801d8
like "JSON has it" "$out" '"schedule":1,"schedule_cycles":\{"value":1,"label":"estimated"'
run prof block -static -core nonsense -hex 90
is "an unknown core" "$status" 125
like "is named" "$err" "no description of a core 'nonsense'"
run prof block -static -core alpha-21164 -hex 90
like "a core of another architecture is refused" "$err" 'does not execute x86-64'
run prof block -static -core none -hex 90
is "no core, no schedule" "$status" 125
run prof block -static -inorder -core golden-cove -hex 480fafc34801c14801da
like "in order, an addition waits for the product" "$out" '^ +2 +3.00  add +%rax, %rcx +result of 1$'
run prof block -cores
like "cores are listed" "$out" '^zen4 '
printf '[core]\nname x\nrename 4\nretire\n' >bad.core
run prof block -static -core ./bad.core -hex 90
like "errors of a description name the line" "$err" 'bad.core:4: '
run prof block -static -core skylake -csv -hex 4801d8
like "CSV has it, with its label" "$out" ',1.000,estimated,skylake,'
done_testing
