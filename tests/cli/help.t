# SPDX-License-Identifier: GPL-2.0-or-later
# What the commands say of themselves: the summary on one screen, whose options all exist.
. "$TOP/tests/lib.sh"
for command in perfex ssrun prof 'prof block' 'prof calibrate'; do
	for word in -h '-?' --help; do
		# shellcheck disable=SC2086
		run $command $word
		is "$command $word" "$status $err" "0 "
		ok "$command $word: is one screen" test "$(wc -l < "$work/.out")" -le 40
		ok "$command $word: of 80 columns" test "$(wc -L < "$work/.out")" -le 79
		ok "$command $word: has three examples" test "$(grep -c "^  $command " "$work/.out")" -ge 3
	done
done
for program in perfex ssrun prof; do
	$program -completion | awk '$1 == "command" { exit } $1 == "option" { sub(/^[*]/, "", $2); print $2 }' | sort -u > options
	for option in $($program -h | sed 's/then: .*//' | grep -o '[ "]-[a-zA-Z_]*' | tr -d ' "' | grep -v '^-$' | sort -u); do
		case $option in
		-EXPERIMENT) continue ;;
		-X_* | -fX_*) option=$(printf %s "$option" | sed 's/X/dsc/') ;;
		esac
		ok "$program -h: $option exists" grep -qx -e "$option" options
	done
done

# All experiments but those of single events are in -h and in -help.
ssrun -list -csv | awk -F, 'NR > 1 && $1 !~ /_hwc/ { print $1 }' > experiments
ok "ssrun -list has experiments" test "$(wc -l < experiments)" -ge 10
for word in -h -help; do
	ssrun $word > help
	is "ssrun $word lists all experiments" "$(while read -r name; do grep -q -e "[ \"]-$name " help || echo "$name"; done < experiments)" ""
done

# -version: the version alone on its first line, then what is in use.
for program in perfex ssrun prof; do
	run $program -version
	like "$program -version" "$(printf '%s\n' "$out" | head -1)" "^$program [0-9.]+\$"
	like "its libraries" "$out" '^libraries: [a-zA-Z0-9-]+ [0-9]'
	like "its features" "$out" '^features: [a-z]'
	for library in $(printf '%s\n' "$out" | sed -n 's/^libraries: //p' | sed 's/ [0-9.]*//g; s/,/ /g'); do
		case $library in elfutils) library=libdw ;; libpfm4) library=libpfm ;; json-c) library=libjson-c ;; *) library=$library ;; esac
		like "$program uses $library" "$(ldd "$build/bin/$program" | tr 'A-Z' 'a-z')" "$(printf %s "$library" | tr 'A-Z' 'a-z')"
	done
done

# -doctor: states agree with what happens, and all that does not work has a reason and a remedy.
run perfex -doctor
is "perfex -doctor" "$status $err" "0 "
ok "is one screen" test "$(wc -l < "$work/.out")" -le 40
ok "of 80 columns" test "$(wc -L < "$work/.out")" -le 80
command -v jq >/dev/null || { skip "the rest of -doctor, and make dist" "jq is not installed"; done_testing; }
run perfex -doctor -json
printf '%s\n' "$out" > doctor.json
state() { jq -r --arg what "$1" '.findings[] | select(.what == $what) | .state' doctor.json; }
is "each finding has a state" "$(jq -r '[.findings[].state] | unique - ["works", "in part", "no"] | length' doctor.json)" 0
is "reasons" "$(jq -r '[.findings[] | select(.state != "works" and .detail == "")] | length' doctor.json)" 0
is "and remedies" "$(jq -r '[.findings[] | select(.state == "no" and .remedy == "")] | length' doctor.json)" 0
perfex -q -source pmu -e cy -o /dev/null true 2>/dev/null && counters=works || counters=no
is "hardware counters: as perfex finds" "$(state 'hardware counters')" "$counters"
perfex -q -source model -machine zen4 -e gi -o /dev/null true 2>/dev/null && model=works || model=no
is "the model: as perfex finds" "$(state 'the model')" "$model"
ssrun -q -o branches.x -branches true 2>/dev/null && branches=works || branches=no
is "branch records: as ssrun finds" "$(state 'branch records')" "$branches"
is "pictures: where gnuplot is" "$(state 'pictures (gnuplot)')" "$(command -v gnuplot >/dev/null && echo works || echo no)"
mkdir empty
is "and not where it is not" "$(PATH=$work/empty "$build/bin/perfex" -doctor | grep gnuplot)" "no       pictures (gnuplot)      gnuplot is not installed
                                 -> install gnuplot-nox"
is "room: where TMPDIR is" "$(TMPDIR=$work/nosuch perfex -doctor | grep -A1 'room for')" "in part  room for the model      $work/nosuch cannot be
                                 written"
like "CSV" "$(perfex -doctor -csv)" '^what,used_by,state,detail,remedy$'
run perfex -doctor true
is "it takes no command" "$status" 125

# What belongs to a release.
is "the first version of NEWS.md is this one" "$(sed -n 's/^## \([0-9.]*\), [0-9-]*$/\1/p' "$top/NEWS.md" | head -1)" \
	"$(perfex -version | sed -n '1s/^perfex //p')"
ok "CONTRIBUTING.md is a page" test "$(wc -l < "$top/CONTRIBUTING.md")" -le 60

# make dist: the last commit, and the same bytes whoever packs it, when and where.
if git -C "$top" -c safe.directory='*' rev-parse HEAD >/dev/null 2>&1; then
	ok "make dist" make -s -C "$top" O="$work/one" dist
	ok "again" env TZ=Asia/Tokyo sh -c "umask 077; sleep 1; make -s -C '$top' O='$work/two' dist"
	ok "gives the same" cmp one/dist/perfex-*.tar.gz two/dist/perfex-*.tar.gz
	is "of all files that are tracked" "$(tar tzf one/dist/perfex-*.tar.gz | grep -v '/$' | sed 's,^[^/]*/,,' | sort)" \
		"$(git -C "$top" -c safe.directory='*' ls-tree -r --name-only HEAD | sort)"
	tar xzf one/dist/perfex-*.tar.gz
	ok "which is enough to build" make -s -n -C perfex-* all
else
	skip "make dist" "this is no clone of the repository"
fi
done_testing
