# SPDX-License-Identifier: GPL-2.0-or-later
# A program from a stranger: its functions, files, threads and arguments have names of every byte.  No report and no export hands a
# terminal a control character, or one that turns the direction of text.
. "$TOP/tests/lib.sh"
plain() { python3 "$top/tests/readers/plain.py" "$@"; }

# Bytes 1 to 255 without '=' (objcopy's), '@' and '$' (versions, mapping symbols), '/' (paths), '"' and '\' (the assembler's) and newline.
python3 - <<'END' || exit 1
every = bytes(c for c in range(1, 256) if c not in b'=@$/"\\\n')
name = b"evil\x1b]0;title\x07\xc2\x9b31m" + "\u202e\u2066\u2028".encode() + every
open("symbol", "wb").write(b"victim " + name + b"\n")
open("name", "wb").write(b"evil\x1b[31m\xc2\x9b\xff\r\x08" + "\u202e\u200b".encode())
END
evil=$(cat name)
cat > "$evil.c" <<'END'
int total;
__attribute__((noinline)) int victim(int a)
{
	for (int i = 0; i < a; i++)
		total += i % 7; /* evil END */
	return total;
}
int main(int argc, char **argv)
{
	return victim(argc * 10) == 1 && argv;
}
END
sed -i "s/END/$(printf '\033')[2J/" "$evil.c"
${CC:-gcc} -g -O1 -o clean "$evil.c" || exit 1
main=0x$(nm clean | awk '$3 == "main" { print $1 }') victim=0x$(nm clean | awk '$3 == "victim" { print $1 }')
call=$(objdump -d clean --start-address="$main" | awk '/call.*victim/ { sub(":", "", $1); print "0x" $1; exit }')
python3 - "$evil" <<'END' || exit 1
import os, subprocess, sys
new = open("symbol", "rb").read()[len(b"victim "):-1]
subprocess.check_call([b"objcopy", b"--redefine-sym", b"victim=" + new, b"--strip-debug", b"clean", b"stripped"])
subprocess.check_call([b"objcopy", b"--redefine-sym", b"victim=" + new, b"clean", os.fsencode(sys.argv[1])])
END
ok "the symbol has an escape" sh -c "nm stripped | LC_ALL=C grep -q \"\$(printf 'evil\033')\""

experiment() { # file image
	{
		printf 'type usertime\nfact command ./%s\nfact clock_hz 3500000000\nimage elf %s/%s\nmetric time 1000003 measured clock,stacks,skid\n' "$evil" "$work" "$2"
		printf 'process 100 -1 %s\nthread 1 100 %s\nelapsed 2000000000\n' "$evil" "$evil"
		for i in 0 3 6 9 12 15 18 21; do printf 'sample 0 1 0 %d 1:%s 1:0x%x\n' $((100 + i)) "$call" $((victim + i)); done
		printf 'sample 0 1 0 5 1:%s\n' "$main"
	} | "$build/tests/tools/experiment" "$1"
}
experiment debug.exp "$evil" || exit 1
experiment stripped.exp stripped || exit 1

set -f
views=$(prof -help | sed -n 's/^  -\([a-z-]*\).*/\1/p' | sed '/^q$/,$d')
for view in $views; do
	# Those of values and of waits need records that this experiment has not.
	case $view in data* | archinfo | waits | values | arguments | operations | access | conflicts | redundant | watch | latency) continue ;; esac
	argument='' word=evil
	case $view in
	calc) argument='evil* -core zen4' ;;
	why) argument='-core zen4' word='' ;;
	stalls | topblocks | cfg) argument='-core zen4' ;;
	dso) word='' ;; # not of the one that is called "stripped"
	timeline) word='' ;; # samples without times are in no row
	esac
	for file in debug.exp stripped.exp; do
		wrong=
		for format in '' -csv -json -dot '-threads -ci'; do
			# tests/unit/test_shown.c has all layouts in all formats
			case $view-$file$format in *.exp | procedures-debug* | dis-debug* | cfg-debug*) ;; *) continue ;; esac
			[ "$format" != -dot ] || [ "$view" = cfg ] || continue
			# shellcheck disable=SC2086
			prof "-$view" $argument $format "$file" >out 2>err
			wrong=$wrong$(plain out "$word" 2>&1; plain err '' 2>&1)
			case $format in
			-json) wrong=$wrong$(python3 -m json.tool out 2>&1 >/dev/null) ;;
			-csv) wrong=$wrong$(python3 -c 'import csv; list(csv.reader(open("out", newline=""), strict=True))' 2>&1) ;;
			esac
		done
		is "-$view $file" "$wrong" ""
	done
done
for file in debug.exp stripped.exp; do
	for format in pprof callgrind folded speedscope json; do
		prof -export $format -o out "$file" 2>err
		is "-export $format $file" "$(plain out evil 2>&1; plain err '' 2>&1)" ""
	done
	prof -dump "$file" >out 2>&1
	is "-dump $file" "$(plain out evil 2>&1)" ""
done
set +f
prof "$evil.none" >out 2>&1
is "a message" "$(plain out evil 2>&1)" ""
script -qec 'prof debug.exp' /dev/null </dev/null 2>&1 | tr -d '\r' | sed "s/$(printf '\033')\[[02]m//g" >out
is "a terminal is only told to dim" "$(plain out evil 2>&1)" ""
if perfex -source model -machine zen4 -e gi "./$evil" "$evil" 2>err; then :; fi
is "perfex" "$(plain err evil 2>&1)" ""
perfex -source os -json -e cpu-clock "./$evil" "$evil" >out 2>&1
is "perfex -json" "$(plain out evil 2>&1)" ""
done_testing
