# SPDX-License-Identifier: GPL-2.0-or-later
# Where something is missing that is usual: a place for shared memory, rights, locked memory, ptrace.
. "$TOP/tests/lib.sh"
branchy=$build/tests/programs/branchy
nobody="setpriv --reuid=65533 --regid=65533 --clear-groups"
"$branchy" mix 20 > want

# what COMMAND...: the program does as by itself, and the tool ends well.
runs_in() {
	_what=$1
	shift
	run "$@" ssrun -q -fpcsamp -o sampled "$branchy" mix 20
	is "$_what: samples" "$status $out" "0 $(cat want)"
	run "$@" ssrun -q -branches -o branches "$branchy" mix 20
	is "$_what: branch records" "$status $out" "0 $(cat want)"
	run "$@" perfex -q -source model -machine zen4 -e gi -o counts "$branchy" mix 20
	is "$_what: the model" "$status $out" "0 $(cat want)"
}

if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs -o ro none /dev/shm 2> /dev/null; then
	# shellcheck disable=SC2016
	runs_in "/dev/shm cannot be written" unshare -m sh -c 'mount -t tmpfs -o ro none /dev/shm && exec "$@"' sh
else
	skip "/dev/shm cannot be written" "needs root, and mounts"
fi
if unshare -Ur true 2> /dev/null; then
	runs_in "a user namespace" unshare -Ur
else
	skip "a user namespace" "there are none here"
fi
if strace -f -qq -e trace=ptrace -e inject=ptrace:error=EPERM -o /dev/null true 2> /dev/null; then
	no_ptrace="strace -f -qq -e trace=ptrace -e inject=ptrace:error=EPERM -o /dev/null"
	# shellcheck disable=SC2086
	run unchecked $no_ptrace ssrun -branches -o unfollowed "$branchy" mix 20
	is "no ptrace: the program" "$status $out" "0 $(cat want)"
	like "only samples, which is said" "$err" 'only samples: .*cannot follow process'
else
	skip "no ptrace" "there is no strace"
fi

# Profilers of one user share what the kernel may lock: those that get nothing say so, and do not run the command.
chmod 755 .
if [ "$(id -u)" = 0 ] && $nobody test -r "$work" 2> /dev/null; then
	mkdir -p open/bin && chmod 777 open
	cp "$build/bin/ssrun" "$branchy" open/bin/ && cp -r "$build/share" open/
	for i in 1 2 3 4 5 6 7 8; do
		(cd open && exec prlimit --memlock=0:0 $nobody bin/ssrun -q -fpcsamp -o "run$i" bin/branchy until enough) > "out$i" 2> "err$i" &
	done
	settled() { for i in 1 2 3 4 5 6 7 8; do [ -s "open/run$i" ] || [ -s "err$i" ] || return 1; done; }
	wait_for settled
	touch open/enough
	wait
	bad=0
	for i in 1 2 3 4 5 6 7 8; do
		if grep -q 'cannot map' "err$i"; then
			[ ! -e "open/run$i" ] && grep -q 'raise kernel.perf_event_mlock_kb or ulimit -l' "err$i"
		else
			[ -s "open/run$i" ]
		fi || bad=$((bad + 1))
	done
	is "a quota of locked memory: a run, or a message and no file" $bad 0
	like "not all are refused" "$(ls open)" 'run[1-8]'
else
	skip "a quota of locked memory" "needs root, to become somebody else"
fi
done_testing
