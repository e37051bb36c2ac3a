# SPDX-License-Identifier: GPL-2.0-or-later
# All reports, with all selections and in all formats, of one recording: none is empty with status 0, parts add up to the whole,
# JSON and CSV parse and agree with the text. Options are combined so that each pair of them is met (tests/pairs.py).
. "$TOP/tests/lib.sh"

cat > app.c <<'END'
static volatile long sink;
__attribute__((noinline)) void inner(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}
__attribute__((noinline)) void outer(int n)
{
	inner(n);
	sink++;
}
int main(void)
{
	outer(10);
	return 0;
}
END
${CC:-gcc} -O1 -g -fno-optimize-sibling-calls -o app app.c || exit 1
address() { echo "0x$(nm app | awk -v n="$1" '$3 == n { print $1 }' | sed 's/^0*//')"; }
main=$(address main) inner=$(address inner) outer=$(address outer)
{
	cat <<END
type usertime
fact command ./app
fact clock_hz 3000000000
image elf $work/app
metric time 1000003 measured clock,stacks
process 100 -1 app
thread 1 100 app
thread 1 101 worker
process 200 -1 other
thread 2 200 other
elapsed 2000000000
END
	for part in 0 1 2 3; do
		echo "time $((part * 500000000)) $((part * 500000000 + 500000000))"
		echo "sample 0 1 0 $((300 + part)) 1:$main 1:$outer 1:$inner"
		echo "sample 0 2 0 $((20 * part + 11)) 1:$main 1:$outer"
		echo "sample 0 3 0 $((60 + part)) 1:$main"
	done
} > app.text
make_experiment app.exp < app.text || exit 1
python3 "$TOP/tests/pairs.py" app.exp > pairs.out 2> pairs.err
status=$?
is "all reports, selections and formats" "$status $(cat pairs.err)" "0 "
like "how many were made" "$(cat pairs.out)" '^[0-9]+ reports$'
done_testing
