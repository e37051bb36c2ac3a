# SPDX-License-Identifier: GPL-2.0-or-later
# prof store: profiles by image and day; sums of weeks, ageing, quota; crashes in between.
. "$TOP/tests/lib.sh"
store=$work/deep/store
PERFEX_STORE=$store
export PERFEX_STORE
as -o code.o "$top/tests/data/pgo/code.s"
ld -static -Ttext=0x401000 --build-id=0x0123456789abcdef01234567 -o code code.o || exit 1
ld -static -Ttext=0x401000 --build-id=0xfedcba9876543210fedcba98 -o other code.o || exit 1
ld -static -Ttext=0x401000 --build-id=none -o plain code.o || exit 1
# experiment NAME DAY COUNT: branches of code, and samples of the other images
experiment() {
	cat > text <<END
type branches
began $(date -u -d "$2" +%s)000000000
image elf $work/code
image elf $work/other
image elf $work/plain
image kernel [kernel]
metric time 1000000 measured clock
tally 0 1
run 1 401007 401007 1 40101e $3
run 1 40101e 401024 2 401026 7
run 2 401026 401029 1 40100c 5
sample 0 0 0 11 1:401024
sample 0 0 0 3 1:401007 2:40101e
sample 0 0 0 2 3:401030
sample 0 0 0 9 4:10
END
	make_experiment "$1" < text || exit 1
}
experiment e1 2025-01-06 100
experiment e2 2025-01-07 200
experiment e3 2025-01-19 300
experiment e4 2025-03-03 400
run prof store list
like "no store yet" "$status$err" "125prof: there is no store at $store"
run prof store add e2 e1 e3 e4
is "files are added" "$status" 0
like "by image" "$err" '^prof: e1: 3 images$'
is "the directory is private" "$(stat -c %a "$store" "$store"/*/ | sort -u)" "700"
is "and so are files" "$(find "$store" -type f -exec stat -c %a {} + | sort -u)" "600"
is "images, by path" "$(prof store -csv | cut -d, -f1,3,5,6)" "path,files,first_day,last_day
$work/code,4,20250106,20250303
$work/other,4,20250106,20250303
$work/plain,4,20250106,20250303"
like "one without build-id" "$(prof store)" '^size-.* 4 files .*plain$'
prof store -store one add e1 2>/dev/null
like "of one" "$(prof store -store one)" '^size-.* 1 file   .*plain$'
is "JSON" "$(prof store -json | jq -r '.schema, (.images | length)' | tr '\n' ' ')" "prof.store/1 3 "
is "what an image has" "$(prof store show code | sed 1d)" "20250106       1 runs  11 samples  1 bursts  112 branches
20250107       1 runs  11 samples  1 bursts  212 branches
20250119       1 runs  11 samples  1 bursts  312 branches
20250303       1 runs  11 samples  1 bursts  412 branches"
is "by its build-id's beginning" "$(prof store show fedcba98 -csv | cut -d, -f5 | tail -1)" 3
before=$(find "$store" -type f | sort)
prof store add e1 e4 2>/dev/null
is "the same file is stored once" "$(find "$store" -type f | sort)" "$before"

# the profile is that of the files themselves
prof -export profgen -image code -o direct e1 e2 e3 e4 2>/dev/null
# shellcheck disable=SC2046
prof -export profgen -image code -o stored $(prof store files code) 2>/dev/null
ok "the profile of a store is that of its experiments" cmp direct stored

# two machines: a copy of files is a sum
prof store -store here add e1 e2 2>/dev/null
prof store -store there add e3 e4 e1 2>/dev/null
cp -R there/. here
is "stores are joined by copying files" "$(cd here && find . -name '*.ssexp' | sort)" "$(cd "$store" && find . -name '*.ssexp' | sort)"

# ---- ageing ----
sums() { prof store show code -csv | awk -F, 'NR > 1 { r += $4; s += $5; b += $6; n += $7 } END { print r, s, b, n }'; }
was=$(sums)
cp -R "$store" saved
run prof store -gc -weeks 5000 -days 14
like "days become weeks" "$status $out" '^0 6 files added up by week, 6 removed, 0 images removed; [0-9]+ bytes are left'
is "with the same sums" "$(sums)" "$was"
is "in fewer files" "$(prof store files code | sed 's,.*/,,; s,-.*,,')" "20250106.week
20250119
20250303"
# shellcheck disable=SC2046
prof -export profgen -image code -o swept $(prof store files code) 2>/dev/null
ok "and the same profile" cmp direct swept
is "again: nothing to do" "$(prof store -gc -weeks 5000 -days 14 | cut -d';' -f1)" "0 files added up by week, 0 removed, 0 images removed"
# a crash after the sum was written, before its parts were removed
sum=$(basename "$(prof store files code | head -1)" .ssexp)
id=0123456789abcdef01234567
cp saved/$id/2025010[67]-*.ssexp "$store/$id/"
(cd saved/$id && ls 2025010[67]-*.ssexp) > "$store/$id/$sum.parts"
is "a crash counts nothing twice" "$(sums)" "$was"
run prof store -gc -weeks 5000 -days 14
is "and is cleaned up" "$(find "$store/$id" -name '*.parts' -o -name '2025010[67]-*' | wc -l)" 0
is "sums are still the same" "$(sums)" "$was"
# a crash before the sum was written
mv "$store/$id/$sum.ssexp" sum.kept
cp saved/$id/2025010[67]-*.ssexp "$store/$id/"
(cd saved/$id && ls 2025010[67]-*.ssexp) > "$store/$id/$sum.parts"
is "parts without their sum are read" "$(sums)" "$was"
run prof store -gc -weeks 5000 -days 14
is "and added up again" "$(sums) $(find "$store/$id" -name '*.parts' | wc -l)" "$was 0"
ok "to the same sum" cmp "$store/$id/$sum.ssexp" sum.kept
# what a killed writer leaves
echo half > "$store/$id/20250106-0123456789abcdef.ssexp.Ab12cd"
touch -d '2 days ago' "$store/$id/20250106-0123456789abcdef.ssexp.Ab12cd"; mkdir "$store/UPPER"
is "other files are not read" "$(sums)" "$was"
head -c 60 "$(prof store files code | tail -1)" > "$store/$id/20250304-0123456789abcdef.ssexp"
run prof store show code
like "a damaged file is named" "$err" '20250304-0123456789abcdef.ssexp'
rm "$store/$id/20250304-0123456789abcdef.ssexp"
# what would wait for another process is not read
cp -r "$store" fifos
rm fifos/$id/path
mkfifo fifos/$id/path fifos/$id/20250305-0123456789abcdef.ssexp
for command in list "show $id" "files $id" -gc; do
	run timeout -s KILL 60 prof store -store fifos $command
	is "prof store $command does not wait for the writer of a FIFO" "$status" 0
done
rm fifos/version
mkfifo fifos/version
run timeout -s KILL 60 prof store -store fifos
like "nor for that of its version" "$status$err" '125prof: .*fifos/version is not a regular file'

run prof store -gc -weeks 1
like "old files are removed, and images without any" "$status $out" '^0 .* 3 images removed; 0 bytes are left$'
is "the store is empty" "$(prof store)" "the store is empty"
# the quota: what was seen last stays
mv saved quota; rm -rf quota/*/*-quota
truncate -s 2M quota/fedcba9876543210fedcba98/20250106-*.ssexp
run prof store -store quota -gc -quota 1 -weeks 5000 -days 4000
like "the quota removes images" "$status $out" '^0 .* [1-3] images removed'
ok "until the rest fits" test "$(du -sk quota | cut -f1)" -lt 1024

# ---- bad input ----
run prof store add nothing
like "a missing file" "$status$err" '125prof: .*nothing'
head -c 100 e1 > cut.branches
run prof store add cut.branches
like "a damaged file is not added" "$status$err" '125prof: .*cut.branches: .*it is not added'
run prof store show none
like "no such image" "$err" "the store has no image 'none'"
mkdir -p writing/removed && echo 1 > writing/version && echo '[removed files]' > writing/removed/path
run prof store show removed -store writing
like "an image whose first file is not written yet" "$status$err" "125prof: the store has no image 'removed'"
run prof store -day 20250230 add e1
like "no such day" "$err" "'20250230' is not a day"
run prof store -store e1 add e2
like "a file in place of the store" "$status$err" '^125prof: e1 is not a directory'
run prof store -store '' add e2
like "an empty name" "$status$err" "125prof: -store: its argument is empty: give one, or leave -store out"
run prof store destroy
like "no such command" "$err" "prof store has no command 'destroy'"
echo 9 > "$store/version"
run prof store list
like "another version" "$status$err" '125prof: .* is a store of another version'
echo 1 > "$store/version"; chmod 777 "$store"
run prof store list
like "others may write" "$status$err" "125prof: others may write to $store"
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
	mkdir -m 755 /tmp/prof-store.$$
	mkdir -m 700 /tmp/prof-store.$$/of-root
	echo 1 > /tmp/prof-store.$$/of-root/version
	cp "$(command -v prof)" /tmp/prof-store.$$/prof
	run $nobody /tmp/prof-store.$$/prof store -store /tmp/prof-store.$$/of-root list
	like "that of another user" "$status$err" '125prof: cannot read .*of-root/version: Permission denied'
	rm -r /tmp/prof-store.$$
else
	skip "that of another user" "this needs root and setpriv"
fi
run env -u PERFEX_STORE -u HOME -u XDG_DATA_HOME prof store list
like "nowhere" "$err" 'HOME is not set'
done_testing
