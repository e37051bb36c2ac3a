# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun -values=shape: how values are distributed, and none of them. In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
only_on x86_64 "values" "the interpreter is x86-64's"

secret=0x5eedfeedbeefcafe
cat > secret.c <<'END'
#include <stdint.h>
#include <stdlib.h>
volatile uint64_t kept, table[64], sink;
__attribute__((noinline)) uint64_t use(uint64_t a) { return (a ^ kept >> 1) + table[a % 64]; }
int main(void)
{
	uint64_t sum = 0, n = 400000000;
	kept = strtoull(getenv("SECRET"), 0, 0);
	while (n--)
		sum += use(kept);
	sink = sum;
	return 0;
}
END
"${CC:-gcc}" -O1 -o secret secret.c || exit 1
export SECRET=$secret
umask 022
run ssrun -values=shape -rate 400 -o shape ./secret
is "a run of shapes" "$status $err" "0 "
run ssrun -values -rate 400 -o told ./secret
prof -dump told | grep '^site\|^value ' > told.txt
prof -dump shape | grep '^site\|^value ' > shape.txt
like "with -values, a file has values" "$(cat told.txt)" "${secret#0x}"
ok "with -values=shape, it has sites, and lists" test "$(grep -c '^value ' shape.txt)" -gt 5
unlike "but not the values" "$(cat shape.txt)" "${secret#0x}"
ok "nor any other, but code and what operations, accesses and branches were like" python3 - <<'END'
kept = {"operation", "access", "distance", "branch"}
sites, codes = [], {"branch", "partner"}
ranked = 0
for line in open("shape.txt"):
    w = line.split()
    f = dict(zip(w, w[1:]))
    if w[0] == "site":
        kind = w[6]
        form = int(f["form"], 16)
        sites.append((kind, form))
        if form & 0x10000:
            high, low = int(f["high"], 16), int(f["low_complement"], 16)
            assert high & (high + 1) == 0, line # all ones
            assert low == 2**64 - 1, line
        else:
            assert kind in kept, line
            assert kind != "branch" or form & 0xff == 0, line
    else:
        kind, form = sites[int(f["site"])]
        if form & 0x10000 and not (int(f["image"]) and kind in codes):
            assert int(f["image"]) == 0 and 1 <= int([w[i + 1] for i in range(1, len(w)) if w[i] == "value"][0], 16) <= 16, line
            ranked += 1
assert ranked > 5
END
prof -values use shape > shape.text
like "the constant argument is the most frequent value" "$(cat shape.text)" ' #1 .*argument 1'
like "in JSON as well, with its share, and no bits" "$(prof -values use -json shape)" '"value":"#1","share"'
like "widths and alignments are there" "$(prof -values use -csv shape | head -5)" 'width.*aligned'
is "the file has the mode that the umask allows" "$(stat -c %a shape)" 644
prof -merge -o twice shape shape
is "a sum of shapes, too" "$(stat -c %a twice)" 644
prof -merge -o mixed shape told
is "but not one with values" "$(stat -c %a mixed)" 600
like "-summary says so" "$(prof -summary shape)" 'Values themselves +not kept'
like "reports of accesses are as with values" "$(prof -access use shape 2>&1)" 'use'
done_testing
