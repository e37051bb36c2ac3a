# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian package: installed in a scratch root by dpkg, with the dependencies of this system; run from there; removed.
. "$TOP/tests/lib.sh"
deb=$(find "$build/deb" -maxdepth 1 -name '*.deb')
is "there is one package" "$(printf '%s\n' "$deb" | grep -c .)" 1
root=$work/root
database=$root/var/lib/dpkg
mkdir -p "$database/info" "$database/updates" "$database/triggers"
# What this system has is installed for dpkg, but no file of it is there.
cp /var/lib/dpkg/status "$database/status"
# shellcheck disable=SC2046
in_root() { if [ "$(id -u)" = 0 ]; then "$@"; else fakeroot "$@"; fi; }
deb_do() { in_root dpkg --force-not-root --force-script-chrootless --instdir="$root" --admindir="$database" --log="$work/log" "$@"; }
state() { dpkg-query --admindir="$database" -W -f '${db:Status-Status}' perfex 2>/dev/null; }

ok "dpkg installs it, its dependencies being here" deb_do -i "$deb"
is "it is installed" "$(state)" installed
is "its files are as packed" "$(deb_do --verify perfex)" ""
PATH=$root/usr/bin:$PATH
LD_LIBRARY_PATH=$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export LD_LIBRARY_PATH
unset PERFEX_DATA PERFEX_LIBEXEC 2>/dev/null || :
is "the installed perfex runs" "$(command -v perfex)" "$root/usr/bin/perfex"
is "it has the package's version" "$(perfex -version | head -1)" "perfex $(dpkg-deb -f "$deb" Version)"
like "perfex finds its costs" "$(perfex -machine r10000 -t 2>&1)" 'dsc'
run ssrun -q -usertime -o sampled true
is "ssrun runs" "$status" 0
run prof sampled
is "prof reports" "$status" 0
like "something" "$out" 'Function list'
like "prof finds its cores" "$(prof block -cores)" 'zen4'
if [ -e "$root/usr/libexec/perfex/valgrind.bin" ]; then
	run perfex -machine zen4 -source model -e gi -csv true
	is "the model runs" "$status" 0
	like "and counts" "$out" 'Graduated instructions,instructions,[0-9]'
	strace -f -e trace=execve -o trace perfex -machine zen4 -source model -e gi true >/dev/null 2>&1
	like "with the package's tool" "$(cat trace)" "$root/usr/libexec/perfex/perfexmodel"
else
	skip "the model" "the package has no tool for this system"
fi
printf '#include <perfex.h>\n#include <speedshop.h>\nint main(void)\n{\n\tstruct perfex_error e;\n\tssrt_caliper_point("here");\n\treturn !perfex_open(PERFEX_PROCESS, &e);\n}\n' > use.c
PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$LD_LIBRARY_PATH/pkgconfig
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
# shellcheck disable=SC2046
ok "programs build with its libraries" gcc -o use use.c $(pkg-config --cflags --libs perfex speedshop)
ok "and run" ./use
is "manual pages are compressed, and readable" "$(for page in "$root"/usr/share/man/man*/*; do gzip -dc "$page" | mandoc -T lint -W error || echo "$page"; done 2>&1)" ""
like "completions are where Debian's shells look" "$(cd "$root" && find usr/share \( -name prof -path '*completion*' -o -name _perfex \) | sort | tr '\n' ' ')" 'usr/share/bash-completion/completions/prof usr/share/zsh/vendor-completions/_perfex '
is "nothing says where it was built" "$(grep -rlaF "$top" "$root/usr")" ""
if command -v lintian >/dev/null; then
	is "lintian has no objection" "$(lintian --allow-root --fail-on none "$deb" 2>&1)" ""
else
	skip "lintian has no objection" "it is not installed"
fi

ok "dpkg removes it" deb_do --purge perfex
is "it is gone" "$(state)" ""
is "nothing is left" "$(cd "$root" && find . -path ./var -prune -o ! -type d -print; find . -name '*perfex*')" ""

# The same again is the same, byte for byte.
cp "$deb" first.deb
ok "packed again" env VERSION="$(dpkg-deb -f "$deb" Version)" "$top/docs/debian/build" "$build/deb"
ok "it is equal" cmp first.deb "$deb"
done_testing
