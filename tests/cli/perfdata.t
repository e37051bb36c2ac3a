# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of perf as they may be written, and as they should not be.
. "$TOP/tests/lib.sh"
make_file() { python3 "$top/tests/perfdata.py" write "$@"; }

# One story in every form; what comes of it is checked by following it record by record.
make_file plain 7 > plain.data
prof -dump plain.data > plain.dump
for kind in $(python3 "$top/tests/perfdata.py" kinds); do
	make_file "$kind" 7 > "$kind.data"
	prof -dump "$kind.data" > "$kind.dump" 2> "$kind.err"
	is "$kind: is read without a word" "$?:$(cat "$kind.err")" "0:"
	ok "$kind: every sample is where it belongs" python3 "$top/tests/perfdata.py" check 7 < "$kind.dump"
done
for kind in branch-records big-endian-branch-records; do
	like "$kind: branches that the processor recorded" "$(python3 "$top/tests/perfdata.py" check 7 < "$kind.dump")" '^[1-9][0-9]* branches'
done
unlike "without their addresses there are none" "$(cat branches.dump)" '^branch '
for kind in big-endian pipe attr-64 compressed unaligned no-rounds; do
	is "$kind: the same experiment" "$(cat "$kind.dump")" "$(cat plain.dump)"
done
like "what was left out is said" "$(prof -head traced.data)" 'Not read +5000 bytes of traces of the processor \(AUX\)'
golden perfdata/dump plain.dump
samples() { prof -json "$@" | jq '.total.counts[0].value * 1000000 | round'; }
# A slice is of 65.536 us.
is "times are known: parts add up to the whole" "$(($(samples -to 131.072us plain.data) + $(samples -from 131.072us plain.data)))" "$(samples plain.data)"
ok "and one is not the whole" test "$(samples -to 131.072us plain.data)" -lt "$(samples plain.data)"
is "so are CPUs" "$(($(samples -only cpu:0 plain.data) + $(samples -only cpu:1 plain.data)))" "$(samples plain.data)"
run prof -timeline -by cpu plain.data
like "with a line over time for each" "$out" ' CPU 1$'

# Names of the kernel are perf's copy's, which was made when it lay elsewhere: modules are not to be known then.
copy=.debug/.build-id/64/65666768696a6b6c6d6e6f7071727374757677
mkdir -p "$copy"
printf '%s T %s\n' ffffffff80000000 _text ffffffff80000010 low ffffffff80000190 high ffffffff80000400 behind > "$copy/kallsyms"
printf '%s t %s\t[module]\n' ffffffff80000100 inside >> "$copy/kallsyms"
for kind in kernel big-endian-kernel; do
	is "$kind: functions by another boot's list" "$(prof -csv "$kind.data" | awk -F, '$4 == "[kernel]" { print $3 }' | sort | tr '\n' ' ')" "_text high low "
done
rm -r .debug
unlike "kernel: without it there are no names" "$(prof -csv kernel.data)" ',(low|high),'

# Cut short anywhere: what is whole is there, and it is said.
size=$(wc -c < plain.data)
whole=$(prof -json plain.data | grep -o '"samples":[0-9]*' | head -1 | cut -d: -f2)
last=0
for cut in 5000 17000 29000 $((size - 500)); do
	head -c $cut plain.data > cut.data
	run prof -json cut.data
	is "cut at $cut: the report is incomplete" "$status" 1
	like "cut at $cut: it is said where" "$err" "cut.data: truncated after byte $cut"
	samples=$(echo "$out" | grep -o '"samples":[0-9]*' | head -1 | cut -d: -f2)
	ok "cut at $cut: $samples samples, more than before" test "$samples" -gt "$last"
	last=$samples
done
ok "but not all" test "$last" -le "$whole"
head -c 17000 pipe.data > cut.data
run prof cut.data
is "a pipe that was cut" "$status" 1
head -c 17000 compressed.data > cut.data
run prof cut.data
is "a compressed one" "$status" 1

# patch FILE OFFSET BYTES...: as printf has them
patch() { cp plain.data "$1"; printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
refused() { # name, file, what is said
	run prof "$2"
	is "$1: there is no report" "$status" 125
	like "$1: it is said why" "$err" "$3"
	is "$1: and what to do" "$(printf '%s\n' "$err" | wc -l)" 2
}
patch bad.data 0 'PERFFILE'
refused "the first version" bad.data 'bad.data: it has the first version of perf.data'
patch bad.data 8 '\377\377'
refused "a header of another size" bad.data 'its header makes no sense: a header of bytes: 65535'
patch bad.data 16 '\001\000'
refused "attributes of no size" bad.data 'attributes of bytes: 1$'
patch bad.data 24 '\377\377\377\377\377\377\377\177'
refused "attributes nowhere" bad.data 'attributes lie beyond its end'
share() { # part: each event's ids are that part of the whole file
	cp plain.data bad.data && python3 - bad.data "$1" <<'EOF'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    stride, at, size = struct.unpack_from("<QQQ", data, 16)
    for attr in range(at, at + size, stride):
        file.seek(attr + stride - 16)
        file.write(struct.pack("<QQ", 0, int(len(data) * float(sys.argv[2]))))
EOF
}
share 0.6
refused "ids that events share" bad.data 'its header makes no sense: events share ids, at byte 0$'
patch bad.data 32 '\000\000\000\000'
refused "no events" bad.data 'it has no events'
patch bad.data 40 '\377\377\377\377'
refused "records nowhere" bad.data 'records begin at byte 4294967295'
head -c 60 plain.data > bad.data
refused "a header that is cut" bad.data 'its header is truncated after byte 60'
head -c 8 plain.data > bad.data
refused "a mark alone" bad.data 'bad.data'
head -c 16 pipe.data > bad.data
refused "a pipe with nothing in it" bad.data 'it has no events'
: > bad.data
refused "an empty file" bad.data 'bad.data is not an experiment file'
printf 'PERFILE' > bad.data
refused "nearly a mark" bad.data 'bad.data is not an experiment file'

# Perf was killed: it never wrote how much there is.
patch killed.data 48 '\000\000\000\000\000\000\000\000'
run prof killed.data
is "perf was killed: a report" "$status" 1
like "perf was killed: it is said" "$err" 'perf record was not ended properly'
# A record of no size, in the middle of others.
begin=$(od -An -tu8 -j40 -N8 plain.data | tr -d ' ')
size=$(od -An -tu2 -j$((begin + 6)) -N2 plain.data | tr -d ' ')
patch nonsense.data $((begin + size + 6)) '\000\000'
run prof nonsense.data
is "a record of no size: nothing is left" "$status" 1
like "a record of no size: it is said" "$err" 'a record of 0 bytes at byte'
# Samples that are too short for what they should hold.
python3 - <<'EOF'
import struct
data = bytearray(open("plain.data", "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end, n = at + size, 0
while at < end:
    kind, _, length = struct.unpack_from("<IHH", data, at)
    if kind == 9 and n < 5:
        struct.pack_into("<Q", data, at + 56, 2**61)
        n += 1
    at += length
open("malformed.data", "wb").write(data)
EOF
run prof malformed.data
is "chains longer than records: the others are shown" "$status" 1
like "chains longer than records: how many" "$err" '5 records are malformed'
like "a file that nobody can identify any more" "$(prof plain.data)" '/nowhere/libtwo.so \([0-9]+ samples\): the file does not exist: there are no names'
is "a directory with recordings" "$(mkdir d && cp plain.data d/perf.data && prof -csv d | tail -1)" "$(prof -csv plain.data | tail -1)"
run prof -merge -o sum plain.data big-endian.data
samples_in() { prof -json "$1" | grep -o '"samples":[0-9]*' | awk -F: '{ n += $2 } END { print n }'; }
is "two of them added up" "$status:$(samples_in sum)" "0:$((2 * $(samples_in plain.data)))"
is "through a pipe" "$(cat pipe.data | prof -csv - | tail -1)" "$(prof -csv plain.data | tail -1)"
# Names of generated code are where every user may write.
python3 - "$top/tests/perfdata.py" $$ <<'EOF'
import sys
exec(open(sys.argv[1]).read().removesuffix("main()\n"))
pid = int(sys.argv[2])
FILES["//anon"] = None

class OfThisHost(Writer):
    def features(self):
        return {kind: value for kind, value in super().features().items() if kind != 3}

events = [(1, 0, "comm", dict(pid=pid, tid=pid, name="jit", exec=True)),
          (2, 0, "map", dict(pid=pid, tid=pid, address=0x5000, length=0x1000, offset=0, path="//anon"))]
events += [(3 + i, 0, "sample", dict(pid=pid, tid=pid, ip=0x5010, kernel=[], user=[0x5010], event=0, mode=USER)) for i in range(30)]
open("generated.data", "wb").write(OfThisHost().file(events, 1))
EOF
list=/tmp/perf-$$.map
echo '5000 100 made_here' > "$list"
like "a list of generated code" "$(prof generated.data)" made_here
if [ "$(id -u)" = 0 ] && chown 65534 "$list"; then
	unlike "... a stranger's is not believed" "$(prof generated.data)" made_here
else
	skip "... a stranger's is not believed" "needs root, to give a file away"
fi
mkdir -p there/tmp
mv "$list" "there$list"
like "... below -root it may be of any user" "$(prof -root there generated.data)" made_here
mv "there$list" there/list
ln -s ../list "there$list"
unlike "... a link is not followed" "$(prof -root there generated.data)" made_here
rm "there$list"
mkfifo "there$list"
like "... a pipe is not waited for" "$(timeout 60 prof -root there generated.data)" TOTAL
done_testing
