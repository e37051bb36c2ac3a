# SPDX-License-Identifier: GPL-2.0-or-later
# The case study of values: the two builds agree, and ssrun -values finds what their difference uses.
# In real time: moments of a program that runs.
. "$TOP/tests/lib.sh"
ledger=$build/examples/ledger
"$ledger" 3000 > before
"$ledger-fixed" 3000 > after
is "the fixed build gives the same result" "$(cat after)" "$(cat before)"
run sh "$top/examples/ledger.sh" many
is "ledger.sh many is refused" "$status $err" "2 usage: sh ledger.sh [ROWS]"
only_on x86_64 "values" "the interpreter is x86-64's"
ssrun -q -values -rate 600 -o values "$ledger" 1000000 > /dev/null || exit 1
prof -arguments -json values > arguments
prof -operations -json values > operations
ok "the base is 10 in 31 of 32 calls" python3 - <<'END'
import json
rows = [r for r in json.load(open("arguments"))["rows"] if r.get("procedure") == "put" and r["operand"] == "argument 2"]
top, first = rows[0]["top"], rows[0]["list"][0]
assert first["value"] == "10" and rows[0]["list"][1]["value"] == "16", rows
assert abs(top["value"] - 96.875) <= 3 or top["low"] <= 96.875 <= top["high"], top
assert rows[0]["gain"]["value"] > 30, rows[0]["gain"]
END
ok "so is the divisor, and dividends fit into 32 bits" python3 - <<'END'
import json
row = max((r for r in json.load(open("operations"))["rows"] if r.get("procedure") == "put" and "second" in r), key=lambda r: r["n"]["value"])
assert row["second"].startswith("10 9"), row
assert row["narrow"]["value"] > 90, row
END
like "the listing of the paper: each instruction with its most frequent value" "$(prof -dis -only put values)" ' by 10 (9[0-9.]+|100)% .* div '
run env O="$build" sh "$top/examples/ledger.sh" 20000
like "ledger.sh shows what the builds take" "$out" '^time .* s -> '
is "replay: the fixed build gives the same result" "$("$build/examples/replay" -fixed 500)" "$("$build/examples/replay" 500)"
run sh "$top/examples/listings.sh" many
is "listings.sh many is refused" "$status $err" "2 usage: sh listings.sh [PERCENT]"
run env O="$build" sh "$top/examples/listings.sh" 40
is "listings.sh" "$status $err" "0 "
like "slide 15: a divisor beside its samples" "$out" ' by 10 (9[0-9.]+|100)% .* div '
like "slide 16: where a load gets its data from" "$out" '(L1|last|memory)[^ ]* [0-9.]+%.* mov[a-z]* .* sweep_z '
like "slide 16: beside its samples" "$out" '(L1|last|memory)[^ ]* [0-9.]+%.* 1?[0-9a-f]{4}  movsd '
like "slide 18: a load that waits for the store of a byte" "$out" ' 100 .* key_of.0x[0-9a-f]*, line [0-9]* .*key_of '
done_testing
