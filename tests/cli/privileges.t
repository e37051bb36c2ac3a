# SPDX-License-Identifier: GPL-2.0-or-later
# What files of strangers can make these programs read, write and run, and who may read what they write: docs/security.md.
. "$TOP/tests/lib.sh"
q=$build/tests/tools/image_query branchy=$build/tests/programs/branchy
cc=${CC:-gcc}
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
modes() { stat -c %a "$@" | sort -u | tr '\n' ' '; }

# ---- what is read ----

# A program whose source is said to be above the directory in which sources are looked for.
mkdir -p sources deep/in/elsewhere
for i in 1 2 3 4 5 6 7 8 9 10; do echo "not for you, line $i"; done > outside.c
cp outside.c sources/inside.c
for name in ../outside.c ./../outside.c below/../../outside.c inside.c; do
	cat > a.c <<-END
		# 1 "$name"
		static volatile unsigned sum;
		int main(int argc, char **argv) { (void)argv;
			for (unsigned i = 0; i < 30000000; i++)
				sum += i + argc;
			return 0; }
	END
	"$cc" -g -O1 -fdebug-prefix-map="$work"=. -o a a.c
	ssrun -q -fpcsamp -o x ./a
	out=$(cd deep/in/elsewhere && prof -lines -source-path "$work/sources" "$work/x")
	case $name in
	inside.c) like "-source-path DIRECTORY: a file in it is read" "$out" 'not for you' ;;
	*) unlike "... but none that $name leads to" "$out" 'not for you' ;;
	esac
done

# The name in .gnu_debuglink is one of a file, not a path.
mkdir beside
"$cc" -g -O1 -o whole a.c
objcopy --only-keep-debug whole beside/whole.debug
for name in whole.debug ../beside/whole.debug "$work/beside/whole.debug"; do
	cp whole beside/linked && strip beside/linked
	python3 - "$name" beside/whole.debug link <<-'END'
		import sys, zlib
		name = sys.argv[1].encode() + b"\0"
		with open(sys.argv[2], "rb") as file, open(sys.argv[3], "wb") as link:
		    link.write(name + bytes(-len(name) % 4) + zlib.crc32(file.read()).to_bytes(4, "little"))
	END
	objcopy --add-section .gnu_debuglink=link beside/linked
	out=$("$q" -debug "$work/nowhere" beside/linked find main)
	case $name in
	whole.debug) unlike ".gnu_debuglink: $name is read" "$out" '^none' ;;
	/*) is "... a path is not" "$out" none ;;
	*) is "... nor one that leads up" "$out" none ;;
	esac
done

# ---- what is written, and who may read it ----

umask 022
mkdir scratch
TMPDIR=$work/scratch
export TMPDIR
# An image's place in an archive follows from its build-id, or what it contains, never from its name.
mkdir 'named;..' && cp a 'named;../..a'
run ssrun -fpcsamp -archive kept/here -o archived "$work/named;../..a"
is "ssrun -archive" "$status" 0
is "... writes below that directory only" "$(ls kept)" here
is "... by build-ids" "$(find kept/here -type f | grep -Ecv '^kept/here/[0-9a-f]{2}/[0-9a-f]+/[a-z]+$')" 0

link=/dev/shm/ssrun-points.$$-stranger
echo precious > precious
if ln -s "$work/precious" "$link" 2>/dev/null; then
	run unchecked strace -o /dev/null -e inject=memfd_create:error=ENOSYS ssrun -fpcsamp -o linked.x true
	[ -e linked.x ] || run ssrun -fpcsamp -o linked.x true
	is "a stranger's link in /dev/shm" "$status $(cat precious) $(readlink "$link")" "0 precious $work/precious"
	rm -f "$link"
else
	skip "a stranger's link in /dev/shm" "it cannot be written"
fi
run ssrun -fpcsamp -o points.x sh -c 'stat -L -c "%a %h" "$_SPEEDSHOP_POINTS"'
is "shared memory is for its owner" "$status $out" "0 600 0"
if [ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ]; then
	ln -s "$work/precious" scratch/perfex-model.000000
	run perfex -q -source model -e gi -o counts find scratch -type d -name 'perfex-model.*' -exec stat -c %a {} +
	is "so is the directory of the model" "$status $out" "0 700"
	is "a stranger's link beside them stays" "$(cat precious; ls scratch)" "precious
perfex-model.000000"
	rm -f scratch/perfex-model.000000
else
	skip "the directory of the model" "its tool is not built here"
fi
is "experiments: as umask says" "$(modes x)" "644 "
(umask 077; ssrun -q -fpcsamp -o closed.x true)
is "... also where it forbids" "$(modes closed.x)" "600 "
if [ "$(uname -m)" = x86_64 ]; then
	# at a rate that is given, there are values however slow the machine is
	ssrun -q -values -rate 300 -o values.x "$branchy" mix 20000 > /dev/null
	is "values are for their owner: there may be secrets among them" "$(modes values.x)" "600 "
	prof -merge -o merged.x values.x values.x
	is "... also when they are merged" "$(modes merged.x)" "600 "
fi
prof store add -store store x 2>/dev/null
is "stores are for their owner" "$(modes store)" "700 "

# ---- what is run ----

ssrun -q -usertime -o paths.x "$branchy" mix 6000 > /dev/null
if strace -f -o trace true 2>/dev/null; then
	for report in "" -heavy "-dis -q 2" -butterfly "-stalls -q 2" "-json" "-html page.html" "-export pprof -o x.pb"; do
		# shellcheck disable=SC2086
		ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=execve,execveat,fork,vfork,socket,connect -e signal=none -o trace prof $report paths.x > /dev/null
		is "prof $report: no other program, no network" "$(grep -Ec 'execve|fork|socket|connect' trace)" 1
	done
else
	skip "what prof runs" "strace cannot trace here"
fi

# ---- whose processes ----

chmod 755 .
if [ "$(id -u)" = 0 ] && $nobody test -r "$work" 2>/dev/null; then
	mkdir -p open/bin && chmod 777 open
	cp "$build/bin/ssrun" "$build/bin/perfex" open/bin/ && cp -r "$build/share" open/
	"$branchy" until enough & pid=$!
	for command in "ssrun -pcsamp -for 0.1" "ssrun -branches -for 0.1" "ssrun -values -for 0.1" "perfex -source os -a"; do
		program=${command%% *}
		# shellcheck disable=SC2086
		(cd open && exec $nobody bin/$command -o other -pid $pid) > other.out 2> other.err
		is "nobody: $command -pid of root's process" "$? $(cat other.out)" "125 "
		like "... says why" "$(cat other.err)" "^$program: .*(forbids|[Pp]ermi|allowed)"
		is "... and leaves nothing" "$(find open -name 'other*')" ""
	done
	is "the process is not traced" "$(sed -n 's/^TracerPid:.//p' "/proc/$pid/status")" 0
	touch enough
	wait $pid
	is "and goes on" $? 0
else
	skip "another user's process" "needs root, to become somebody else"
fi
done_testing
