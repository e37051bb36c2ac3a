# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# Sourced by the tests of the static checkers: no warning is left unexplained.  Suppressions carry their reason where they stand.
. "$TOP/tests/lib.sh"
cd "$top" || exit 1
sources=$(tracked | grep -E '^(lib|perfex|ssrun|prof)/.*\.c$' | grep -v '^lib/valgrind/')
# What mpirun starts, where its header is.
if mpi=$(pkg-config --cflags-only-I mpich 2>/dev/null); then
	mpi=-isystem${mpi#-I} mpi=${mpi% }
else
	mpi='' sources=$(printf '%s\n' "$sources" | grep -v '^prof/mpi/')
fi
# Warnings of the compilers that are wrong, each with the reason: tests/lint/explained (path, parts of the warning and of
# the line that it is about, reason).
unexplained() {
	grep 'warning:\|error:' | while IFS= read -r line; do
		while IFS='	' read -r path pattern code _; do
			case $path in '' | '#'*) continue ;; esac
			case $line in "$path":*"$pattern"*) ;; *) continue ;; esac
			number=${line#"$path":}
			case $(sed -n "${number%%:*}p" "$path") in *"$code"*) continue 2 ;; esac
		done < tests/lint/explained
		printf '%s\n' "$line"
	done
}
analyse() { # compiler flags...
	cc=$1; shift
	printf '%s\n' "$sources" | xargs -P 2 -I{} "$cc" -std=gnu11 -O1 -D_GNU_SOURCE -DPERFEX_VERSION='""' -DPERFEX_PREFIX='""' -Ilib -Iinclude ${mpi:+"$mpi"} \
		-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes "$@" {} 2>&1 | unexplained
}
checker() { # its command; what it says must be nothing
	name=$1; shift
	if command -v "${name%% *}" >/dev/null; then is "$name" "$("$@" 2>&1 | head -40)" ""; else skip "$name" "${name%% *} is not installed"; fi
}
