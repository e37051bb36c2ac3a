# SPDX-License-Identifier: GPL-2.0-or-later
# What a machine's description says of its caches and pages changes what a program counts.
. "$TOP/tests/lib.sh"
[ -x "$build/libexec/perfex/perfexmodel-amd64-linux" ] || { skip "the model" "its tool is not built here"; done_testing; }
pages="$build/tests/programs/model-pages"
count_of() { # machine event what
	run perfex -source model -machine "$1" -e "$2" -json -o counts -- "$pages" "$3"
	sed -n 's/.*"short": *"'"$2"'"[^}]*"value": *\([0-9]*\).*/\1/p' counts
}
at_least() { is "$1" "$([ "${2:-0}" -ge "$3" ] && echo so || echo "$2")" so; }
at_most() { is "$1" "$([ "${2:-$3}" -lt "$3" ] && echo so || echo "$2")" so; }

# 8192 pages of 4 KiB, eight times, are more than a TLB of 3072 entries holds; 16 pages of 2 MiB are not.
transparent=$(cat /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)
at_least "small pages are walked for each time" "$(count_of zen4:large-pages=kernel dwalk small)" 65000
at_least "so are large ones where the machine has none" "$(count_of zen4:large-pages=never dwalk large)" 65000
case $transparent in
*'[always]'* | *'[madvise]'*)
	at_most "large pages are not" "$(count_of zen4:large-pages=kernel dwalk large)" 2000
	at_least "but for a TLB that takes them apart" \
		"$(count_of zen4:large-pages=kernel,DTLB-2M=split,STLB-2M=split dwalk large)" 65000 ;;
*) skip "large pages" "this kernel has none: '$transparent'" ;;
esac

# Shorter turns of threads show more of what they do to each other, and none does less.
interventions() { perfex -source model -turn "$1" -csv -e ei "$build/examples/weather" 4 1000 20 2>/dev/null | awk -F, '$1 == "" && $4 == "ei" { print $7 }'; }
long=$(interventions 1000) short=$(interventions 20)
ok "-turn 20 shows more interventions than -turn 1000 ($short, $long)" test "$short" -gt "$((4 * long))"
run perfex -turn 100001 true
is "turns longer than Valgrind's are refused" "$status" 125
run perfex -turn 10 -source os true
like "-turn is for the model" "$err" "-turn needs the model"
done_testing
