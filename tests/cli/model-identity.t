# SPDX-License-Identifier: GPL-2.0-or-later
# The maker of the processor that a program sees under the model: libraries choose routines by it.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
cat > identity.c <<'END'
#include <cpuid.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	unsigned a, b, c, d;

	__cpuid(0, a, b, c, d);
	printf("%.4s%.4s%.4s", (char *)&b, (char *)&d, (char *)&c);
	__cpuid(1, a, b, c, d);
	printf(" %x", a);
	__cpuid(0x80000005, a, b, c, d);
	printf(" %x", c);
	__cpuid(0x80000006, a, b, c, d);
	printf(" %x %x, L1D %ld, last level %ld\n", c, d, sysconf(_SC_LEVEL1_DCACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE));
	return 0;
}
END
"${CC:-gcc}" -O1 -o identity identity.c || exit 1
model() { perfex -source model "$@" -e gi -o counts -- ./identity; }
native=$(./identity)
case $native in
AuthenticAMD*)
	is "a model of this host: its maker, family and caches" "$(model)" "$native"
	is "also with something changed" "$(model -machine host:L1D-stride=off)" "$native"
	;;
*)
	like "a model of this host, which is not AMD's: Valgrind's" "$(model)" '^GenuineIntel '
	;;
esac
like "a model of another processor is the same on all hosts: Valgrind's" "$(model -machine zen4)" '^GenuineIntel '
is "also with something changed" "$(model -machine zen4:L1D-stride=off)" "$(model -machine zen4)"
is "and in cachegrind's geometry" "$(model -machine cachegrind)" "$(model -machine zen4)"
done_testing
