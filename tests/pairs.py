#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""pairs.py EXPERIMENT: reports of prof with options combined so that each pair of values is met.

Checked: a status of 0 comes with rows, JSON and CSV parse, totals of all formats are that of the
plain report of the same selection, and parts of a selection add up to the whole. Prints what
fails to standard error, and how many reports were made."""
import csv
import io
import itertools
import json
import subprocess
import sys

VIEWS = ["procedures", "heavy", "lines", "butterfly", "calltree", "dso", "usage", "dis", "timeline",
         "calc", "stalls", "why", "topblocks", "cfg", "summary"]
FACTORS = [
    VIEWS,
    ["", "-only inner", "-only nosuch", "-exclude inner", "-only process:100"],
    ["", "-by process", "-by thread"],
    ["", "-from 50%", "-to 25%", "-from 25% -to 75%"],
    ["", "-q 1", "-inlines", "-inclusive"],
    ["", "-json", "-csv"],
]
# Reports with a row of the whole selection, in samples of the whole program.
TOTALS = {"procedures", "heavy", "lines", "calltree", "dso", "butterfly", "dis", "timeline"}
made, failures = 0, 0


def fail(words, what):
    global failures
    failures += 1
    print(f"prof {' '.join(words)}: {what}", file=sys.stderr)


def prof(*words):
    global made
    made += 1
    p = subprocess.run(["prof", *words], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def covering():
    """Rows of values: for each pair of values of two factors there is one. Greedy."""
    want = {(i, a, k, b) for i, k in itertools.combinations(range(len(FACTORS)), 2)
            for a in FACTORS[i] for b in FACTORS[k]}
    while want:
        i, a, k, b = min(want)
        row = [None] * len(FACTORS)
        row[i], row[k] = a, b
        for at in range(len(FACTORS)):
            if row[at] is None:
                row[at] = max(FACTORS[at], key=lambda v: sum(
                    (min((at, v), (o, row[o])) + max((at, v), (o, row[o]))) in want
                    for o in range(len(FACTORS)) if row[o] is not None))
        want -= {(x, row[x], y, row[y]) for x, y in itertools.combinations(range(len(row)), 2)}
        yield row


def total(row):
    """Seconds in all of a selection by text's whole, as JSON of the functions has it."""
    words = ["-json", *row[1].split(), *row[3].split()]
    if tuple(words) not in total.known:
        total.known[tuple(words)] = json.loads(prof(*words, FILE)[1])["total"]["counts"][0]["value"]
    return total.known[tuple(words)]


total.known = {}


def check_json(words, row, status, out):
    try:
        d = json.loads(out)
    except ValueError as e:
        return fail(words, f"JSON: {e}")
    if status == 0 and not d.get("rows") and row[0] != "summary":
        fail(words, "no rows, status 0")
    if row[0] in TOTALS and d.get("total"):
        got = d["total"]["counts"][0]["value"]
        if abs(got - total(row)) > 1e-9:
            fail(words, f"total {got}, of functions {total(row)}")
    if row[0] == "procedures" and not row[1] and not row[4]:
        got = sum(r["counts"][0]["value"] for r in d["rows"])
        if abs(got - total(row)) > 1e-9:
            fail(words, f"rows add up to {got} of {total(row)}")


def check_csv(words, row, status, out):
    rows = list(csv.reader(io.StringIO(out)))
    if status == 0 and len(rows) < 2 and row[0] != "summary":
        fail(words, "no rows, status 0")
    if len({len(r) for r in rows}) > 1:
        fail(words, f"rows of {sorted({len(r) for r in rows})} fields")


def check(row):
    words = ["-" + row[0], *(w for value in row[1:] for w in value.split())]
    if row[0] == "calc":
        words = ["-calc", "outer", *words[1:]]
    status, out, err = prof(*words, FILE)
    if status not in (0, 1, 125) or (status and not err and not out) or (status == 125 and not err):
        return fail(words, f"status {status} {err}")
    if status == 125:
        return None
    if row[5] == "-json":
        return check_json(words, row, status, out)
    if row[5] == "-csv":
        return check_csv(words, row, status, out)
    if status == 0 and len(out.splitlines()) < 6:
        fail(words, "an empty report, status 0")
    if row[0] in TOTALS and row[0] != "timeline" and status == 0:
        sums = [line.split() for line in out.splitlines() if line.endswith(" TOTAL")]
        if sums and abs(float(sums[0][0].lstrip("~")) - total(row)) > 0.00051:
            fail(words, f"TOTAL {sums[0][0]}, of functions {total(row)}")
    return None


def check_parts():
    whole = total(["", "", "", "", "", ""])
    for parts in ([["", "-only process:100"], ["", "-only process:200"]],
                  [["", "", "", "-to 25%"], ["", "", "", "-from 25% -to 75%"],
                   ["", "", "", "-from 75%"]]):
        got = sum(total(p + [""] * (6 - len(p))) for p in parts)
        if abs(got - whole) > 1e-9:
            fail([str(parts)], f"parts add up to {got} of {whole}")
    for view in ("procedures", "heavy", "dso"):
        for by in ("", "-by process", "-by thread"):
            words = ["-" + view, "-json", *by.split()]
            d = json.loads(prof(*words, FILE)[1])
            got = sum(r["counts"][0]["value"] for r in d["rows"])
            only = [sum(r["counts"][0]["value"] for r in json.loads(
                prof(*words, option, "inner", FILE)[1])["rows"]) for option in ("-only", "-exclude")]
            if abs(got - whole) > 1e-9 or abs(sum(only) - whole) > 1e-9:
                fail(words, f"rows {got}, of -only and -exclude {sum(only)}, whole {whole}")


FILE = sys.argv[1]
for values in covering():
    check(values)
check_parts()
print(made, "reports")
sys.exit(failures != 0)
