# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh source=tests/lib.sh
# libperfex from C and Fortran: natively with the kernel's events, under the model with its events; what the library
# exports and what a program needs to build against it.
. "$(dirname "$0")/../lib.sh"
examples=$build/examples lib=$build/lib
names=$(sed -n 's/^\t\([a-z0-9_]*\);$/\1/p' "$top/lib/perfex/libperfex.map" | sort)

# ---- what is exported ----
is "the shared library exports its map and nothing else" \
	"$(nm -D --defined-only "$lib/libperfex.so.1" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' | sort)" "$names"
is "and so does the archive" "$(nm -g --defined-only "$lib/libperfex.a" | awk 'NF == 3 { print $3 }' | grep -v '^__odr_asan' | sort)" "$names"
for name in $names; do
	case $name in
	*_) ok "libperfex(3) explains Fortran's $name" grep -q 'Fortran' "$top/docs/man/libperfex.3" ;;
	*) ok "libperfex(3) explains $name" grep -q "^\.Fo $name\$\|^\.Fn $name " "$top/docs/man/libperfex.3" ;;
	esac
done

# ---- building against it ----
cat > use.c <<'END'
#include <perfex.h>
#include <stdio.h>
int main(void)
{
	struct perfex_error e;
	struct perfex_value v;
	struct perfex *p = perfex_open(PERFEX_PROCESS, &e);
	if (!p || perfex_add(p, "task-clock", &e) < 0 || perfex_start(p, &e) < 0 || perfex_read(p, &v, 1, &e) != 1)
		return puts(e.message), 1;
	perfex_close(p);
	return v.label != PERFEX_MEASURED;
}
END
cp use.c use.cc
if [ -n "${SAN:-}" ]; then
	skip "building against the library" "it is built with sanitizers"
else
	ok "a C program builds with the header alone" "${CC:-cc}" -std=c99 -pedantic-errors -Wall -Werror -I"$top/include" -o use use.c -L"$lib" -lperfex
	ok "and runs" env LD_LIBRARY_PATH="$lib" ./use
	ok "a C++ program builds" g++ -std=c++11 -pedantic-errors -Wall -Werror -I"$top/include" -o usexx use.cc -L"$lib" -lperfex
	ok "and runs" env LD_LIBRARY_PATH="$lib" ./usexx
	ok "a program links statically" "${CC:-cc}" -I"$top/include" -o uses use.c "$lib/libperfex.a" -lpfm -lm -pthread
	ok "and runs" ./uses
fi

# ---- natively ----
# How many faults so many bytes make; sanitizers add their own, huge pages take most of them away.
faults() { # name bytes got
	_pages=$(($2 / $(getconf PAGESIZE)))
	if [ -n "${SAN:-}" ]; then
		ok "$1 ($3)" test "${3:-0}" -ge "$_pages"
	elif grep -qs '\[always\]\|\[inherit\]' /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/mm/transparent_hugepage/hugepages-*/enabled; then
		ok "$1 ($3)" test "${3:-0}" -gt 0 -a "${3:-0}" -lt $((_pages + 50))
	else
		ok "$1 ($3)" test "${3:-0}" -ge "$_pages" -a "${3:-0}" -lt $((_pages + 50))
	fi
}
first_number() { sed -n "s/$1/\\1/p" | head -1; }
run "$examples/count"
is "count runs" "$status" 0
faults "4 MiB are so many pages, counted by the kernel" 4194304 \
	"$(printf '%s\n' "$out" | first_number '^  Page faults  *\([0-9]*\) measured (os)$')"
like "task-clock is measured" "$out" '^  Task clock +[1-9][0-9]* measured \(os\)$'
run "$examples/count" dsk
is "an unknown event is refused" "$status" 1
like "with the nearest" "$err" "did you mean 'dsc'"
run "$examples/count" ecc
is "an event that nothing counts is refused" "$status" 1
like "and why" "$err" '^count: ecc: .'
run "$examples/classic" 69 65
is "classic runs" "$status" 0
faults "print_counters labels its counts" 8388608 "$(printf '%s\n' "$err" | first_number '^65 Page faults\.*  *\([0-9]*\) measured$')"
like "print_costs says whose costs" "$err" '^costs of '
run env T5_EVENT0=65 T5_EVENT1=cs "$examples/classic"
faults "T5_EVENT0 names another event" 8388608 "$(printf '%s\n' "$err" | first_number '^65 Page faults\.*  *\([0-9]*\) measured$')"
like "T5_EVENT1 too, by its short name" "$err" '^67 Context switches\.+ +[0-9]+ measured$'
run env T5_EVENT0=nonsense "$examples/classic"
is "T5_EVENT0=nonsense is an error" "$status" 1
like "that names it" "$err" "nonsense"
run "$examples/classic" 99 65
is "an event number that is none is an error" "$status" 1

# ---- Fortran ----
if [ -x "$examples/count-f" ]; then
	run "$examples/count-f"
	is "the Fortran example runs" "$status" 0
	faults "and counts page faults through iso_c_binding" 4194304 "$(printf '%s\n' "$out" | first_number '^page-faults \([0-9]*\)\. measured$')"
	like "and by the classic names" "$err" '^(65 Page faults|25 Primary data cache misses)\.+ +[0-9]+ (measured|scaled)$'
	run "$examples/count-f" dsk
	is "errors come through" "$status" 1
	like "with their hint" "$err" "did you mean 'dsc'"
else
	skip "the Fortran example" "there is no gfortran that fits this build"
fi

# ---- under the model ----
under() { run perfex -source model -e 17 -o counts "$@"; }
if [ -n "${SAN:-}" ]; then
	skip "libperfex under the model" "programs with sanitizers do not run under Valgrind"
elif ! perfex -source model -e 17 true >/dev/null 2>&1; then
	skip "libperfex under the model" "there is no model here"
else
	under "$examples/count" gi dc dsc
	is "count runs under the model" "$status" 0
	like "and counts on it" "$out" '^  Graduated instructions +[1-9][0-9]* model \(model\)$'
	first=$out
	like "1024 pages are 1024 lines" "$out" '^  Primary data cache misses +10[23][0-9] model \(model\)$'
	under "$examples/count" gi dc dsc
	is "the same counts each time" "$out" "$first"
	whole=$(awk '/^ 17 /{ print $(NF - 1) }' counts)
	part=$(printf '%s\n' "$first" | awk '/Graduated/{ n = $3 } END { print n }')
	ok "a part of what perfex counts outside ($part of $whole)" test "$part" -lt "$whole"
	under "$examples/count" task-clock
	is "the kernel's events are refused there" "$status" 1
	like "and why" "$err" 'would count the model itself'
	run perfex -source model -machine r10000 -e 17 "$examples/count" lld
	is "what the modelled machine does not have is refused" "$status" 1
	like "and not counted as zero" "$err" 'modelled machine does not have'
	under "$examples/classic" 17 26
	like "the classic calls count on the model" "$err" '^17 Graduated instructions\.+ +[1-9][0-9]+ model$'
	if [ -x "$examples/count-f" ]; then
		under "$examples/count-f" 25
		like "and Fortran" "$out" '^25 65[0-9][0-9][0-9]\. model$'
	fi
fi
done_testing
