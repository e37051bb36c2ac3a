# SPDX-License-Identifier: GPL-2.0-or-later
# What images say of their addresses: symbols, stubs, lines; and files that are no images.
. "$TOP/tests/lib.sh"
q=$build/tests/tools/image_query

cat > a.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int weighty(int x)
{
	return x * 3;
}
int alias_of_weighty(int) __attribute__((alias("weighty")));
static __attribute__((noinline)) int quiet(int x)
{
	return weighty(x) +
	       abs(x);
}
int main(int argc, char **argv)
{
	puts(argv[0]);
	return quiet(argc);
}
EOF
gcc -O1 -g -o a a.c
run "$q" a find weighty
like "a function has its size" "$out" '^[0-9a-f]+ [1-9][0-9]* weighty$'
is "of aliases the shortest name" "$("$q" a symbol "$("$q" a find weighty | cut -d' ' -f1)" | cut -d' ' -f3)" weighty
like "a local function" "$("$q" a find quiet)" ' quiet$'
like "a stub is named after what it calls" "$("$q" a find puts@plt)" ' puts@plt$'
like "the line of an address" "$("$q" a line weighty)" "^$work/a.c:5:[0-9]+ begins$"
is "nothing is missing" "$("$q" a complaint)" none
is "code" "$("$q" a code weighty | cut -c1-6)" "$(objdump -d --start-address=0x"$("$q" a find weighty | cut -d" " -f1)" a | awk -F"	" '/^ /{gsub(" ","",$2); printf "%s",$2}' | cut -c1-6)"

objdump -d a | awk '/^[0-9a-f]+ <(main|quiet|weighty)>:/{on=1} /^$/{on=0} on && /^ /{sub(":","",$1);print "0x"$1}' > addresses
addr2line -a -f -C -e a < addresses | sed 's/ (discriminator.*//; s/^0x0*/0x/' > want
"$q" a each < addresses | awk '/^0x/{n=0} n++<3' > got
is "lines and functions as addr2line says" "$(cat got)" "$(cat want)"
for flags in "-gdwarf-2 -gstrict-dwarf" -gdwarf-3 -gdwarf-4 "-gdwarf-5 -gdwarf64" "-g -gz=zlib" "-g -gz=zlib-gnu" "-g -ffunction-sections -Wl,--gc-sections"; do
	# shellcheck disable=SC2086
	gcc -O1 $flags -o b a.c
	is "lines: $flags" "$("$q" b line main | cut -d: -f1,2)" "$work/a.c:14"
done

cp a bare && strip bare
like "without symbols: section and offset" "$("$q" bare symbol "$("$q" a find main | cut -d' ' -f1)")" ' \.text\+0x[0-9a-f]+ \(guessed\)$'
is "... of the function's extent" "$("$q" bare symbol "$("$q" a find main | cut -d' ' -f1)" | cut -d' ' -f1)" "$("$q" a find main | cut -d' ' -f1)"
like "... and says so" "$("$q" bare complaint)" 'symbols'
# Static programs have call frame rules, but no table of where they begin.
${CC:-gcc} -O1 -g -o tableless a.c -Wl,--no-eh-frame-hdr || exit 1
strip -o tableless.bare tableless
main=$("$q" tableless find main | cut -d' ' -f1)
text=$(readelf -SW tableless | awk '{ sub(/.*\] /, "") } $1 == ".text" { print $3 }')
for into in 0 4; do
	like "... by .eh_frame alone, $into bytes into it" "$("$q" tableless.bare symbol "$(printf '%x' $((0x$main + into)))")" \
		"^$main .* [.]text[+]$(printf '0x%x' $((0x$main - 0x$text))) "
done
gcc -O1 -o c a.c
like "without debug information it says so" "$("$q" c complaint)" 'debug information'
is "... and knows no line" "$("$q" c line main)" "?:0:0"

# names that clang makes unique, as for pseudo-probes: of C they are mangled, too
cat > unique.c <<'EOF'
static __attribute__((noinline)) int inner(int x) __asm__("_ZL5inneri.__uniq.1234");
static int inner(int x) { return x * 5; }
#ifdef MIXED
int other(int) __asm__("_Z5otheri");
int other(int x) { return inner(x + 1); }
#endif
int main(int argc, char **argv) { (void)argv; return inner(argc); }
EOF
gcc -O1 -o unique unique.c
gcc -O1 -DMIXED -o mixed unique.c
inner() { "$q" "$1" symbol "$("$q" "$1" find _ZL5inneri.__uniq.1234 | cut -d' ' -f1)"; }
like "a static function of C has its name" "$(inner unique)" ' inner = '
like "beside C++ that of C++" "$(inner mixed)" ' inner[(]int[)] = '

# identity
id=$("$q" a identify | cut -d' ' -f1)
ok "the file that was recorded" "$q" -id "$id" a symbols
run "$q" -id "00$id" a symbols
like "a replaced one is refused" "$out" "build-id differs"
like "... with a hint" "$out" "hint: .*ssrun -archive"
gcc -O1 -g -Wl,--build-id=none -o noid a.c
"$q" noid identify > said; read -r size print < said
is "no build-id: size and fingerprint" "$size" "$(wc -c < noid)"
ok "... which are compared" "$q" -size "$size" -fingerprint "$print" noid symbols
printf x | dd of=noid bs=1 seek=9000 conv=notrunc 2>/dev/null
run "$q" -size "$size" -fingerprint "$print" noid symbols
like "... and found different" "$out" "contents differ"
gcc -O1 -g -o other/a a.c 2>/dev/null || { mkdir -p "root$work"; cp a "root$work/a"; mv a moved; }
ok "below another root" "$q" -root root -id "$id" "$work/a" symbols
mv moved a

# what is no image
mkfifo fifo && mkdir dir && : > empty && echo text > text && head -c 3000 a > short && printf '\177ELF' > magic
run timeout 120 "$q" fifo symbols; like "a FIFO is refused at once" "$out" "not a regular file"
run "$q" dir symbols; like "a directory is refused" "$out" "not a regular file"
run "$q" empty symbols; like "an empty file is refused" "$out" "not an ELF file"
run "$q" text symbols; like "text is refused" "$out" "not an ELF file"
run "$q" magic symbols; like "only the magic is refused" "$out" "error"
run "$q" absent symbols; like "a file that is not there" "$out" "error 4: cannot open absent"
for n in 1 64 120 1000 3000 9000; do
	head -c $n a > short
	run "$q" short symbols
	ok "cut at $n bytes" test "$status" -lt 3
	run "$q" short line 1139
	ok "... its lines" test "$status" -lt 3
done
gcc -c -g -o object.o a.c
like "a relocatable object says why" "$("$q" object.o complaint)" 'relocatable'
done_testing
