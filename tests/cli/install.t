# SPDX-License-Identifier: GPL-2.0-or-later
# make install puts everything in its place, what is there works from wherever it lies, and make uninstall leaves nothing.
. "$TOP/tests/lib.sh"
unset PERFEX_DATA PERFEX_LIBEXEC 2>/dev/null || :
install_to() { ${MAKE:-make} -s -C "$top" O="${O:-build}" DESTDIR="$work/root" "$@"; }

ok "make install" install_to install
at=$work/root/usr/local
is "programs" "$(ls "$at/bin" | tr '\n' ' ')" "perfex prof ssrun "
for f in include/perfex.h include/speedshop.h include/speedshop/values.h include/SpeedShop/api.h lib/libperfex.a lib/libspeedshop.a lib/pkgconfig/perfex.pc \
	lib/pkgconfig/speedshop.pc share/bash-completion/completions/prof share/zsh/site-functions/_perfex share/doc/perfex/README.md \
	share/doc/perfex/LICENSE share/doc/perfex/docs/tutorial.md share/doc/perfex/examples/Makefile; do
	ok "$f" test -s "$at/$f"
done
is "sonames" "$(for l in perfex speedshop; do readlink "$at/lib/lib$l.so"; readelf -d "$at/lib/lib$l.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p'; done | tr '\n' ' ')" \
	"libperfex.so.1 libperfex.so.1 libspeedshop.so.1 libspeedshop.so.1 "
is "all manual pages" "$(cd "$at/share/man" && find . -type f | sed 's|.*/||' | sort)" "$(cd "$top/docs/man" && ls | sort)"
is "all data files" "$(cd "$at/share/perfex" && find . -type f | sed 's|.*/||' | sort)" \
	"$(cd "$top/lib" && find machine/data schedule/data costs/data page/data -type f | sed 's|.*/||' | sort)"
is "links of the README lead somewhere" "$(cd "$at/share/doc/perfex" && grep -o '](\(docs\|examples\)/[^)#]*' README.md | sed 's/](//' | sort -u |
	while read -r f; do case $f in docs/man/*) continue ;; esac; [ -e "$f" ] || echo "$f"; done)" ""
like "a unit for systemd knows the program" "$(cat "$at/lib/systemd/system/perfex-monitor.service")" '^ExecStart=/usr/local/bin/ssrun monitor'
is "nothing but root may write" "$(find "$at" -type f -perm /022)" ""

# Somewhere else: programs find their data beside them, whatever was said when they were built.
mkdir elsewhere
cp -a "$at" elsewhere/prefix
prefix=$work/elsewhere/prefix
PATH=$prefix/bin:$PATH
is "the installed program runs" "$(command -v perfex)" "$prefix/bin/perfex"
like "perfex finds its costs" "$(perfex -machine r10000 -t 2>&1)" 'dsc'
is "prof finds its cores" "$(prof block -cores | wc -l)" "$(ls "$top/lib/schedule/data"/*.core | wc -l)"
run ssrun -q -pcsamp -o sampled true
is "ssrun runs" "$status" 0
ok "and prof reads what it wrote" prof sampled
strace -f -e trace=openat -o trace perfex -machine zen4 -t >/dev/null 2>&1 && is "nothing is looked for where it was built" \
	"$(grep -F "$top/" trace | grep -v ENOENT)" ""
if [ -e "$build/libexec/perfex/valgrind.bin" ]; then
	run perfex -machine zen4 -source model -e gi -csv true
	is "the model runs" "$status" 0
	like "and counts" "$out" 'Graduated instructions'
	strace -f -e trace=execve,openat -o trace perfex -machine zen4 -source model -e gi true >/dev/null 2>&1
	like "with the installed tool" "$(cat trace)" "$prefix/libexec/perfex/perfexmodel"
fi

# The libraries, by pkg-config
PKG_CONFIG_LIBDIR=$at/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
like "pkg-config knows the version" "$(perfex -version | head -1)" "^perfex $(pkg-config --modversion perfex)\$"
if [ -n "${SAN:-}" ]; then
	skip "building with the libraries" "they are built with sanitizers"
else
	ok "examples build as its makefile says" ${MAKE:-make} -s -f "$at/share/doc/perfex/examples/Makefile" O="$work/built" MAKEFLAGS= CC="${CC:-cc}"
	run env LD_LIBRARY_PATH="$at/lib" built/examples/count
	is "and run with the installed library" "$status" 0
	like "which counts" "$out" 'first touch'
	# shellcheck disable=SC2046
	ok "the static library" "${CC:-cc}" -o static $(pkg-config --cflags perfex) "$at/share/doc/perfex/examples/count.c" "$at/lib/libperfex.a" \
		$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --static --libs perfex | sed 's/-lperfex//')
	ok "runs alone" ./static
	cat > points.c <<'END'
#include <speedshop.h>
int main(void)
{
	ssrt_caliper_point("here");
	return 0;
}
END
	# shellcheck disable=SC2046
	ok "libspeedshop" "${CC:-cc}" -o points points.c $(pkg-config --cflags --libs speedshop)
	ok "runs" env LD_LIBRARY_PATH="$at/lib" ./points
fi

unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
ok "make uninstall" install_to uninstall
is "no file is left" "$(find "$work/root" ! -type d)" ""
is "no directory of ours is left" "$(cd root && find . | grep -i 'perfex\|speedshop')" ""
install_to -n install libdir=lib/somewhere > dry 2>&1
like "libraries may go elsewhere" "$(cat dry)" ':lib/somewhere/libperfex.so.1:755'
like "and pkg-config is told" "$(cat dry)" '@libdir@.lib/somewhere'
done_testing
