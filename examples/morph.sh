# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The closed loop of Zhang et al. (SOSP '97): a program is watched while it works, its profile is stored, a faster
# build is made by the profile, verified, installed and undone. No hardware counters are needed.
#
#     sh examples/morph.sh [-o DIRECTORY] [-source DIRECTORY] [-short]
#
# The program is mawk, from Debian's source package; -source names its sources where they are already. -short: fewer
# lines and rounds, too few to be sure of a gain. Commands are printed with what they print. All files are below
# DIRECTORY (morph).
#
# Exit status: 0 installed and undone; 1 nothing was found that is certainly faster, so nothing was installed;
# 3 something is missing here, and named; others: a command failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${O:-$here/../build}
[ -d "$build/bin" ] && PATH=$(cd "$build/bin" && pwd):$PATH
LC_ALL=C
export LC_ALL PATH
directory=morph given='' lines=60000 rounds=40
usage() {
	echo "usage: sh morph.sh [-o DIRECTORY] [-source DIRECTORY] [-short]" >&2
	exit 2
}
while [ $# -gt 0 ]; do
	case $1 in
	-o) directory=${2:?"-o wants a directory"}; shift 2 ;;
	-source) given=$(cd "${2:?"-source wants a directory"}" && pwd -P); shift 2 ;;
	-short) lines=120000 rounds=3; shift ;;
	*) usage ;;
	esac
done

lacks() {
	echo "morph: $1 is missing: $2" >&2
	exit 3
}
# show COMMAND: prints it, runs it, and prints what it prints, indented like the page that shows it.
show() {
	printf '$ %s\n' "$*"
	eval "$*" 2>&1
}
chapter() { printf '\n# %s\n' "$*"; }

# ---- what is needed ----
for tool in prof ssrun perfex; do
	command -v $tool >/dev/null || lacks $tool "run make first"
done
for tool in make bison; do
	command -v $tool >/dev/null || lacks $tool "make deps-pgo, or apt-get install $tool"
done
cc=
for c in clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang gcc; do
	command -v "$c" >/dev/null && cc=$c && break
done
[ "$cc" ] || lacks clang "make deps-pgo"
[ "$cc" = clang-19 ] || echo "morph: clang-19 is not installed (make deps-pgo): $cc builds instead" >&2

mkdir -p "$directory"
cd "$directory"
if [ -e bin ] || [ -e source ]; then
	echo "morph: $directory has another run of this: remove it" >&2
	exit 2
fi
PERFEX_STORE=$PWD/store
export PERFEX_STORE
watching=
trap '[ -z "$watching" ] || kill "$watching" 2>/dev/null' EXIT
trap 'exit 130' INT TERM

# ---- the sources ----
# Where the machine's apt knows packages only, a list of its own, beside its files, adds the sources of the same place.
fetch() {
	apt-get -qq source mawk >/dev/null 2>&1 && return
	site=$(apt-cache madison mawk | awk -F'|' 'NR == 1 { split($3, at, " "); sub("/", " ", at[2]); print at[1], at[2] }')
	[ "$site" ] || return 1
	mkdir -p lists/partial cache/archives/partial
	key=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e $key ] && key="[signed-by=$key] " || key=
	echo "deb-src $key$site" >sources.list
	for step in update 'source mawk'; do
		# shellcheck disable=SC2086
		apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Dir::Etc::SourceList="$PWD/sources.list" \
			-o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$PWD/lists" -o Dir::Cache="$PWD/cache" $step >apt.log 2>&1 || return 1
	done
}
if [ "$given" ]; then
	cp -r "$given" source
else
	for tool in apt-get apt-cache dpkg-source; do
		command -v $tool >/dev/null || lacks $tool "-source DIRECTORY names sources of mawk"
	done
	fetch || lacks "Debian's source of mawk" "the archive cannot be reached; -source DIRECTORY names it"
	mv mawk-*/ source
fi

chapter "The program, and how it is built"
cd source
# Pseudo-probes, where the compiler has them, lose less than lines do.
flags='-O2 -g'
"$cc" -fpseudo-probe-for-profiling -x c -c -o /dev/null /dev/null 2>/dev/null && flags="$flags -fpseudo-probe-for-profiling"
./configure CC="$cc" CFLAGS="$flags" >../configure.log 2>&1
show prof optimize -record -o ../mawk.recipe -program mawk -- make '2>&1 | tail -n 1'
cd ..
mkdir bin
cp source/mawk bin/mawk

# ---- its work: a report of a web server's log; what it is watched by is not what it is timed by ----
cat >log.awk <<'AWK'
# A generator of its own, so that every awk writes the same.
function random(n) { seed = (seed * 16807) % 2147483647; return seed % n }
BEGIN {
	seed = SEED + 1
	split("GET POST HEAD PUT", method, " ")
	split("200 200 200 200 301 304 404 500", status, " ")
	split("index news archive picture search about static api", page, " ")
	for (i = 0; i < LINES; i++)
		printf "10.%d.%d.%d %02d:%02d:%02d %s /%s/%s-%d.html?user=%d&lang=%s %s %d %.3f\n", random(4), random(16), random(200),
			i / LINES * 24, random(60), random(60), method[1 + random(4)], page[1 + random(8)], page[1 + random(8)], random(900),
			random(5000), random(2) ? "en" : "de", status[1 + random(8)], random(60000), random(3000) / 1000
}
AWK
cat >report.awk <<'AWK'
# Requests, bytes and time by page, hour and network; what failed.
function short(path) {
	sub(/\?.*/, "", path)
	gsub(/[0-9]+/, "N", path)
	return path
}
{
	hour = substr($2, 1, 2)
	name = short($4)
	asked[name]++
	bytes[name] += $6
	if ($7 > slowest[name]) slowest[name] = $7
	hits[hour]++
	split($1, part, ".")
	net[part[1] "." part[2]]++
	if ($5 >= 400 || $3 !~ /^(GET|POST|HEAD)$/) failed[$5 " " $3]++
	if (match($4, /user=[0-9]+/)) users[substr($4, RSTART + 5, RLENGTH - 5)]++
	words += split(tolower($4), w, /[^a-z0-9]+/)
	for (i = 1; i <= NF; i++) sum = (sum * 31 + length($i)) % 1000003
}
END {
	for (name in asked) printf "page %s %d %d %.3f\n", name, asked[name], bytes[name], slowest[name]
	for (hour in hits) printf "hour %s %d\n", hour, hits[hour]
	for (n in net) printf "net %s %d\n", n, net[n]
	for (f in failed) printf "failed %s %d\n", f, failed[f]
	for (u in users) if (users[u] > 1) many++
	print "users", many + 0, "words", words, "sum", sum
}
AWK
bin/mawk -v SEED=1 -v LINES=$lines -f log.awk >monday.log
bin/mawk -v SEED=2 -v LINES=$lines -f log.awk >tuesday.log
bin/mawk -v SEED=3 -v LINES=2000 -f log.awk >small.log

chapter "It is watched while it works"
# A budget of 20% and not 0.3%, so that what takes a quarter of an hour is had in seconds.
echo '$ ssrun monitor -branches -only mawk -budget 20 &'
ssrun monitor -branches -only mawk -budget 20 -every 3600 >monitor.log 2>&1 &
watching=$!
i=0
until ssrun monitor -status >/dev/null 2>&1; do
	i=$((i + 1))
	kill -0 $watching 2>/dev/null || lacks "the right to sample" "$(cat monitor.log)"
	[ $i -lt 600 ] || lacks "a monitor that begins" "$(cat monitor.log)"
	sleep 0.1
done
show bin/mawk -f report.awk monday.log '| tail -n 1'
run=1
while [ $run -lt 200 ] && ! grep -q '^known [1-9]' store/monitor.status; do
	bin/mawk -f report.awk monday.log >/dev/null
	run=$((run + 1))
done
well=
grep -q '^known [1-9]' store/monitor.status && well=', until its branches are known well'
echo "... $run times in all$well"
kill -TERM $watching
wait $watching
watching=
show "ssrun monitor -status | sed -n '/^watches/,/^mapped/p; /^branches/p'"

chapter "Its profile is in the store"
show "prof -q 6 \$(prof store files $PWD/bin/mawk) 2>/dev/null | sed -n '/^Function list/,/TOTAL/p'" | sed "s|$PWD/||"
show "prof store show $PWD/bin/mawk" | sed "s|$PWD/||"

chapter "A faster build by the profile, verified"
set +e
# On one processor, runs differ less.
pin=
command -v taskset >/dev/null && pin='taskset -c 0 '
cat >optimize.sh <<COMMAND
${pin}prof optimize -recipe mawk.recipe -o faster -against bin/mawk -rounds $rounds \\
      -test '{} -f $PWD/report.awk $PWD/small.log' -time '{} -f $PWD/report.awk $PWD/tuesday.log' \\
      -model '{} -f $PWD/report.awk $PWD/small.log' \$(prof store files $PWD/bin/mawk)
COMMAND
printf '$ '
sed "s|$PWD/||g" optimize.sh
sh ./optimize.sh 2>&1
found=$?
set -e
[ $found -le 1 ] || exit $found
if [ $found = 1 ]; then
	echo "morph: no build is certainly faster here and now: nothing is installed" >&2
	exit 1
fi

chapter "Installed, and undone"
before=$(bin/mawk -f report.awk tuesday.log | cksum)
show prof optimize -install faster bin/mawk
show ls -l bin '| sed "1d; s|.* \(mawk\)|\1|"' | sed "s|$PWD/||"
[ "$(bin/mawk -f report.awk tuesday.log | cksum)" = "$before" ] || { echo "morph: the results differ" >&2; exit 4; }
show prof optimize -undo bin/mawk
show ls -l bin '| sed "1d; s|.* \(mawk\)|\1|"'
[ "$(bin/mawk -f report.awk tuesday.log | cksum)" = "$before" ] || { echo "morph: the results differ" >&2; exit 4; }
