# SPDX-License-Identifier: GPL-2.0-or-later
# Debug information wherever it is: inlined functions of all formats, split DWARF, separate files, archives.
. "$TOP/tests/lib.sh"
# Sanitizers reserve more addresses than that.
bounded() { if [ -n "${SAN:-}" ]; then "$@"; else prlimit --as=1000000000 "$@"; fi; }
q=$build/tests/tools/image_query

cat > shapes.h <<'EOF'
namespace shapes {
template <class T> struct square {
	T side;
	inline __attribute__((always_inline)) T area(T by) const
	{
		return side * side *
			helper(by);
	}
	static inline __attribute__((always_inline)) T helper(T by)
	{
		T sum = 0;
		for (T i = 0; i < by; i++)
			sum += by / (i + 1);
		return sum;
	}
};
}
EOF
cat > main.cc <<'EOF'
#include "shapes.h"
__attribute__((noinline)) int count(int n)
{
	shapes::square<int> s{n};
	return s.area(n) + 1;
}
int other(int);
int main(int argc, char **)
{
	return count(argc) + other(argc);
}
EOF
cat > other.cc <<'EOF'
#include "shapes.h"
int other(int n)
{
	shapes::square<long> s{n};
	if (n > 5)
		return (int)s.area(3);
	return (int)s.helper(n);
}
EOF
# The address of the division in the function `count`, deepest in what is inlined there.
division() { objdump -d --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:/{on=/<_Z5counti>/} on && /idiv/{sub(":","",$1);print $1;exit}'; }
want="shapes::square<int>::helper(int) at $work/shapes.h:13
shapes::square<int>::area(int) const at $work/shapes.h:7
count(int) at $work/main.cc:5"
# Without columns, which compilers do not agree on.
without_columns() { sed 's/\(:[0-9]*\):[0-9]*\( begins\)*$/\1/'; }
inlines() { "$q" "$@" | without_columns; }
try() { # name compiler flags...
	name=$1; shift
	"$@" -o p main.cc other.cc 2>compile.log || { skip "inlined: $name" "the compiler does not do this"; return; }
	is "inlined: $name" "$(inlines p inlines "$(division p)")" "$want"
	is "... nothing is missing" "$("$q" p complaint)" none
}
for version in 3 4 5; do
	try "gcc, DWARF $version" g++ -O1 -gdwarf-$version
done
try "gcc, DWARF 4, 64-bit" g++ -O1 -gdwarf-4 -gdwarf64
try "gcc, type units" g++ -O1 -g -fdebug-types-section
try "gcc, link-time optimisation" g++ -O1 -g -flto
try "gcc, compressed" g++ -O1 -g -gz
try "gcc, split DWARF 4" g++ -O1 -gdwarf-4 -gsplit-dwarf
try "gcc, split DWARF 5" g++ -O1 -gdwarf-5 -gsplit-dwarf
if command -v clang++ >/dev/null; then
	for version in 4 5; do
		try "clang, DWARF $version" clang++ -O1 -gdwarf-$version
		try "clang, split DWARF $version" clang++ -O1 -gdwarf-$version -gsplit-dwarf
		try "clang, DWARF $version, discriminators that libdw does not take" clang++ -O1 -gdwarf-$version -fpseudo-probe-for-profiling
	done
	try "clang, the same compressed" clang++ -O1 -g -gz -fpseudo-probe-for-profiling
else
	skip "clang's DWARF" "clang++ is not installed"
fi

# parts of variables
cat > data.cc <<'EOF'
int value;
struct inner { short low, high; };
struct outer { int first; struct inner pair[3]; int &refers; const char *tail; };
outer whole = {1, {{2, 3}, {4, 5}, {6, 7}}, value, ""};
int main(int argc, char **) { return whole.pair[argc].high + *whole.tail; }
EOF
part() { "$q" "$1" data "$(printf %x $((0x$(nm "$1" | awk '$3 == "whole" {print $1}') + $2)))"; }
for flags in -gdwarf-2 -gdwarf-4 -gdwarf-5 "-gdwarf-4 -fdebug-types-section" "-gdwarf-4 -gsplit-dwarf" "-gdwarf-5 -gsplit-dwarf" "-g -flto"; do
	# shellcheck disable=SC2086
	g++ -O1 $flags -o d data.cc
	is "a member of an element: $flags" "$(part d 10 | sed 's/:[0-9]* / /')" "whole $work/data.cc:4 inner.pair[1].high"
	like "... a reference" "$(part d 16)" ' outer\.refers$'
done

# .dwp packages
for version in 4 5; do
	for tool in dwp llvm-dwp; do
		rm -f ./*.dwo ./*.dwp
		g++ -O1 -gdwarf-$version -gsplit-dwarf -o p main.cc other.cc
		if ! command -v $tool >/dev/null || ! $tool -e p -o p.dwp >/dev/null 2>&1 || [ ! -s p.dwp ]; then
			skip "inlined: DWARF $version from a package of $tool" "there is no $tool, or it does not know this version"
			continue
		fi
		rm -f ./*.dwo
		is "inlined: DWARF $version from a package of $tool" "$(inlines p inlines "$(division p)")" "$want"
	done
done
# A table that names one long string again and again takes the memory of few of them.
repeat() { # package: the index, the table and the strings are at its end then
	python3 - "$1" <<'EOF'
import struct, sys
with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
headers, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 60)
place = lambda i: struct.unpack_from("<QQ", data, headers + 64 * i + 24)
name = lambda i: bytes(data[place(names)[0] + struct.unpack_from("<I", data, headers + 64 * i)[0]:]).split(b"\0")[0]
at = {name(i): i for i in range(count)}
part = lambda word: data[place(at[word])[0] : sum(place(at[word]))]
index, table, strings = part(b".debug_cu_index"), part(b".debug_str_offsets.dwo"), part(b".debug_str.dwo")
_, columns, units, slots = struct.unpack_from("<4I", index)
offsets = 16 + 12 * slots + 4 * columns
column = struct.unpack_from("<%dI" % columns, index, 16 + 12 * slots).index(6)
long, many = len(strings), 100000
strings += b"x" * 1000000 + b"\0"
for unit in range(units):
    cell = offsets + 4 * (unit * columns + column)
    begin, size = (struct.unpack_from("<I", index, c)[0] for c in (cell, cell + 4 * columns * units))
    own = table[begin : begin + size] + struct.pack("<I", long) * many
    struct.pack_into("<I", index, cell, len(table))
    struct.pack_into("<I", index, cell + 4 * columns * units, len(own))
    table += own
for word, new in ((b".debug_cu_index", index), (b".debug_str_offsets.dwo", table), (b".debug_str.dwo", strings)):
    struct.pack_into("<QQ", data, headers + 64 * at[word] + 24, len(data), len(new))
    data += new
with open(sys.argv[1], "wb") as file:
    file.write(data)
EOF
}
if [ -s p.dwp ]; then
	ok "a package with a string that is named 100,000 times" repeat p.dwp
	is "... is read within 1 GB" "$(bounded "$q" p inlines "$(division p)" | without_columns)" "$want"
fi
rm -f p.dwp
is "without its .dwo files: the line" "$(inlines p inlines "$(division p)")" "count(int) at $work/shapes.h:13"
g++ -O1 -g -gsplit-dwarf -o p main.cc other.cc
is "a function's name" "$("$q" p find 'count(int)' | cut -d' ' -f3-)" "count(int) = _Z5counti"

# damaged .dwo files and packages
set -- ./*.dwo
cp "$1" dwo.whole && size=$(wc -c < dwo.whole) && at=$(division p) && survived=0
for part in 1 2 3 4 5 6 7 8 9; do
	head -c $((size * part / 10)) dwo.whole > "$1"
	"$q" p inlines "$at" > /dev/null; [ $? -lt 2 ] && survived=$((survived + 1))
	cp dwo.whole "$1" && printf "\377\377\377\377\200\200\200\200\200\001\177\000\021\001" | dd of="$1" bs=1 seek=$((size * part / 10)) conv=notrunc 2>/dev/null
	"$q" p inlines "$at" > /dev/null; [ $? -lt 2 ] && survived=$((survived + 1))
done
is "damaged .dwo files: no crash" "$survived" 18
cp dwo.whole "$1"

# 20,000 functions with the same 20,000 ranges
cat > ranges.s <<'EOF'
	.text
	.globl whole
	.type whole, @function
whole:	.fill 40000, 1, 0x90
	.size whole, . - whole
	.section .debug_abbrev, "", @progbits
	.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0 /* a unit with low_pc and high_pc */
	.byte 2, 0x2e, 0, 0x55, 0x17, 0, 0, 0    /* a function with ranges */
	.section .debug_info, "", @progbits
	.long 2f - 1f
1:	.short 4
	.long 0
	.byte 8, 1
	.quad whole, 40000
	.rept 20000
	.byte 2
	.long 0
	.endr
	.byte 0
2:	.section .debug_ranges, "", @progbits
	.set at, 0
	.rept 20000
	.quad at, at + 1
	.set at, at + 2
	.endr
	.quad 0, 0
EOF
as -o ranges.o ranges.s && ld -e whole -o ranges ranges.o
is "ranges that are named again and again: the complaint, within 1 GB" "$(bounded "$q" ranges complaint whole+0x7)" \
	"some functions are not known: its debug information has more ranges of code than bytes"

# tables of lines within each other: each unit's begins in that of the unit before, and has its rows to the end
python3 - <<'EOF'
import struct
units, rows = 60, 100000
header = bytes([1, 1, 0, 1, 1]) + b"\0a.c\0\0\0\0\0"  # of version 2, without standard operations
skip = b"\0" + bytes([10 + len(header) + 1, 0x80])  # an operation that nobody knows, with the next header as its operands
base = 0x401000
program = b"\0\x09\2" + struct.pack("<Q", base) + b"\1" * rows + b"\x11" * units + b"\0\1\1"
left = units * (len(skip) + 10 + len(header)) + len(program)
lines = info = b""
for i in range(units):
    lines += skip
    unit = struct.pack("<HIBBQQI", 4, 0, 8, 1, base + 16 * i, 16, len(lines))
    info += struct.pack("<I", len(unit)) + unit
    lines += struct.pack("<IHI", left - len(lines) - 4, 2, len(header)) + header
open("lines", "wb").write(lines + program)
open("info", "wb").write(info)
EOF
cat > within.s <<'EOF'
	.text
	.globl whole
	.type whole, @function
whole:	.fill 960, 1, 0x90
	.size whole, . - whole
	.section .debug_abbrev, "", @progbits
	.byte 1, 0x11, 0, 0x11, 1, 0x12, 7, 0x10, 0x17, 0, 0, 0 /* a unit with low_pc, high_pc and stmt_list */
	.section .debug_info, "", @progbits
	.incbin "info"
	.section .debug_line, "", @progbits
	.incbin "lines"
EOF
as -o within.o within.s && ld -Ttext=0x401000 -e whole -o within within.o
is "tables of lines within each other: the first has its lines" "$("$q" within line whole+0x10)" "a.c:1:0 begins"
is "... others have none, and the complaint" "$("$q" within complaint whole+0x10,whole+0x20)" \
	"some lines are not known: its tables of lines overlap (it is damaged)"

# two tables of 200,000 rows, of which the rows of one are kept, asked by turns
python3 - <<'EOF'
import struct
header = bytes([1, 1, 0, 1, 1]) + b"\0a.c\0\0\0\0\0"
lines = info = b""
for i in range(2):
    base = 0x401000 + 0x200 * i
    program = b"\0\x09\2" + struct.pack("<Q", base) + b"\2" * 0x200 + b"\1" * 200000 + b"\0\1\1"
    unit = struct.pack("<HIBBQQI", 4, 0, 8, 1, base, 0x200, len(lines))
    info += struct.pack("<I", len(unit)) + unit
    lines += struct.pack("<IHI", 6 + len(header) + len(program), 2, len(header)) + header + program
open("lines", "wb").write(lines)
open("info", "wb").write(info)
EOF
sed 's/960/1024/' within.s > turns.s
as -o turns.o turns.s && ld -Ttext=0x401000 -e whole -o turns turns.o
turns=$("$q" turns turns whole+0x1,whole+0x201)
like "large tables of lines by turns: all are known" "$turns" '^400 lines, '
ok "... and few rows are decoded again: $turns" test "$(echo "$turns" | cut -d ' ' -f 3)" -lt 2000000

# separate debug files
g++ -O1 -g -o whole main.cc other.cc
at=$(division whole)
mkdir -p debug there
objcopy --only-keep-debug whole there/whole.debug && cp whole stripped && strip stripped
like "stripped, nothing found" "$("$q" -debug "$work/debug" stripped complaint)" 'no symbols'
cp there/whole.debug . && objcopy --add-gnu-debuglink=whole.debug stripped linked
is ".gnu_debuglink: beside it" "$(inlines linked inlines "$at")" "$want"
mkdir -p .debug && mv whole.debug .debug
is "... in .debug" "$(inlines linked inlines "$at")" "$want"
mkdir -p "debug$work" && mv .debug/whole.debug "debug$work/"
is "... below the debug directory" "$(inlines -debug "$work/debug" "$work/linked" inlines "$at")" "$want"
is "... its symbols too" "$("$q" -debug "$work/debug" "$work/linked" find 'count(int)' | cut -d' ' -f3-)" "count(int) = _Z5counti"
printf x >> "debug$work/whole.debug"
is "... of another CRC: not taken" "$(inlines -debug "$work/debug" "$work/linked" inlines "$at")" ""
id=$("$q" whole identify | cut -d' ' -f1)
way=debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$way" && cp there/whole.debug "$way/$(echo "$id" | cut -c3-).debug"
is "by build-id" "$(inlines -debug "$work/debug" stripped inlines "$at")" "$want"

# MiniDebugInfo: functions' symbols, compressed, in the stripped file
objcopy --only-keep-debug whole mini && objcopy -S --remove-section .gdb_index --keep-symbol=_Z5counti mini minimal
xz -f -k minimal && objcopy --add-section .gnu_debugdata=minimal.xz stripped with-mini
is ".gnu_debugdata: a function's name" "$("$q" with-mini symbol "$at" | cut -d' ' -f3)" "count(int)"
head -c 200 minimal.xz > broken.xz && objcopy --add-section .gnu_debugdata=broken.xz stripped broken-mini
like "... a damaged one is passed over" "$("$q" broken-mini symbol "$at")" 'guessed'

# archives
ok "kept in an archive, with its debug file" "$q" -debug "$work/debug" -add "$work/kept" whole x
ok "... again" "$q" -add "$work/kept" whole x
is "... under its build-id" "$(find kept -type f)" "kept/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/elf"
g++ -O2 -g -o replaced main.cc other.cc
run "$q" -id "$id" replaced symbols
like "a replaced image is refused" "$out" "build-id differs"
is "... and found in the archive" "$(inlines -archive kept -id "$id" replaced inlines "$at")" "$want"
cp there/whole.debug "kept/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)/debug"
is "... a debug file there is taken" "$(inlines -debug "$work/nowhere" -archive kept stripped inlines "$at")" "$want"
g++ -O1 -g -Wl,--build-id=none -o nameless main.cc other.cc
"$q" nameless identify > said; read -r size print < said
ok "kept without build-id" "$q" -size "$size" -fingerprint "$print" -add "$work/kept" nameless x
is "... and found by its contents" "$(inlines -archive kept -size "$size" -fingerprint "$print" replaced inlines "$(division nameless)")" "$want"
mkdir locked && chmod 555 locked
[ "$(id -u)" = 0 ] || not_ok "an archive that cannot be written" "$q" -add "$work/locked/kept" whole x
run "$q" -add /proc/kept whole x; like "... says what and where" "$out" 'cannot make directory /proc/kept'

# servers: a directory stands for one
mkdir -p "served/buildid/$id" && cp there/whole.debug "served/buildid/$id/debuginfo" && cp whole "served/buildid/$id/executable"
DEBUGINFOD_CACHE_PATH=$work/fetched DEBUGINFOD_URLS=file://$work/served
export DEBUGINFOD_CACHE_PATH DEBUGINFOD_URLS
is "servers are not asked without being told to" "$("$q" -debug "$work/nowhere" stripped find 'count(int)')" none
not_ok "... and nothing is fetched" test -e fetched
if /sbin/ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1'; then
	is "debug information from a server" "$(inlines -debug "$work/nowhere" -debuginfod yes stripped inlines "$at")" "$want"
	is "an image from a server" "$(inlines -debuginfod yes -id "$id" absent inlines "$at")" "$want"
	like "a server that has nothing" "$(DEBUGINFOD_URLS=file://$work/none DEBUGINFOD_CACHE_PATH=$work/f2 "$q" -debug "$work/nowhere" -debuginfod yes stripped complaint)" 'no server has its debug information: .'
else
	skip "debug information from a server" "libdebuginfod.so.1 is not installed"
fi
like "no server is named" "$(DEBUGINFOD_URLS='' "$q" -debug "$work/nowhere" -debuginfod yes stripped complaint)" 'DEBUGINFOD_URLS names none'
unset DEBUGINFOD_CACHE_PATH DEBUGINFOD_URLS

if command -v dwz >/dev/null; then
	cp whole dw1 && g++ -O1 -g -DEXTRA -o dw2 main.cc other.cc && cp dw2 dw2.whole
	dwz -m "$work/common.debug" -M "$work/common.debug" dw1 dw2 2>/dev/null
	[ -s common.debug ] || echo "# dwz found nothing in common"
	is "dwz: names in a shared file" "$(inlines dw1 inlines "$at")" "$want"
else
	skip "dwz" "dwz is not installed"
fi
rust() { HOME=$(getent passwd "$(id -u)" | cut -d: -f6) rustc "$@"; }
if command -v rustc >/dev/null && rust --version >/dev/null 2>&1; then
	cat > r.rs <<'EOF'
mod inner { #[inline(never)] pub fn weigh<T: std::ops::Mul<Output = T> + Copy>(x: T) -> T { x * x } }
fn main() { println!("{}", inner::weigh(std::env::args().count())); }
EOF
	for mangling in legacy v0; do
		rust -g -O -C symbol-mangling-version=$mangling -o r r.rs 2>rust.log || { skip "Rust names: $mangling" "rustc does not do this"; continue; }
		like "Rust names: $mangling" "$("$q" r symbols | grep weigh)" 'r(\[[0-9a-f]+\])?::inner::weigh(::<usize>)? = _[ZR]'
	done
else
	skip "Rust names" "rustc is not installed"
fi
done_testing
