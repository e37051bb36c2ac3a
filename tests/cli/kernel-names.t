# SPDX-License-Identifier: GPL-2.0-or-later
# The copy of the kernel's list of functions in the user's cache.
. "$TOP/tests/lib.sh"

XDG_CACHE_HOME=$PWD/cache
export XDG_CACHE_HOME
kept=cache/perfex/kernel-names
sampled() { # file: of a run that is in the kernel for some time
	rm -f "$1"
	run ssrun -q -fpcsamp -o "$1" dd if=/dev/zero of=/dev/null bs=64k count=60000
}

sampled first
is "a run that is in the kernel" "$status" 0
prof -dump first > dump.txt
if ! grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* . _etext$' /proc/kallsyms || ! grep -q '\[kernel' dump.txt; then
	skip "the copy of the kernel's functions" "the kernel does not show them, or is not sampled"
	done_testing
fi
is "the list is kept, for its user only" "$(stat -c %a "$kept")" 600
is "as the kernel has it" "$(sed '1d; / _etext$/q' "$kept" | cksum)" "$(sed '/ _etext$/q' /proc/kallsyms | cksum)"

# Other names, as long as theirs, show which list is used.
sed -i '1!{/ _[se]text$/!s/ \([tT]\) [^ ][^ ][^ ]\([^ ]\)/ \1 zz.\2/}' "$kept"
sampled second
like "it is used" "$(prof second)" 'zz\..* \(\[kernel'
chmod 640 "$kept"
sampled open
is "not if others may read it, and perhaps write it" "$(prof open | grep -c "zz\.")" 0
is "it is written anew" "$(stat -c %a "$kept") $(grep -c "zz\." "$kept")" "600 0"

sed -i '1s/boot ./boot X/; 1!{/ _[se]text$/!s/ \([tT]\) [^ ][^ ][^ ]\([^ ]\)/ \1 zz.\2/}' "$kept"
sampled boot
is "nor that of another boot" "$(prof boot | grep -c "zz\.")" 0
: > "$kept"
sampled empty
is "nor an empty one" "$status $(grep -c ' _etext$' "$kept")" "0 1"
rm -r cache && : > cache
sampled none
is "no cache is no harm" "$status" 0
like "and it has names" "$(prof none)" '[a-z]_[a-z].* \(\[kernel'
done_testing
