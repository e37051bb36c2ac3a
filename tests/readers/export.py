#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads exported profiles the way other tools do, and prints what they would find.

    export.py FORMAT FILE        one line "metric what function units" each, sorted: what is own or inclusive
    export.py rows FILE          the same of prof -procedures -inclusive -json
    export.py pprof-text FILE    FILE is what protoc --decode printed

Functions are real ones: what was inlined belongs to where it was.  Units are those of the event, of clocks
nanoseconds; of folded stacks, which have none, samples.
"""
import json
import re
import sys
from collections import defaultdict


class Sums:
    def __init__(self):
        self.own, self.inclusive = defaultdict(int), defaultdict(int)

    def stack(self, metric, functions, units):
        """functions: innermost first."""
        self.own[metric, functions[0]] += units
        for f in set(functions):
            self.inclusive[metric, f] += units

    def show(self):
        lines = []
        for what, sums in (("own", self.own), ("inclusive", self.inclusive)):
            totals = defaultdict(int)
            for (metric, function), units in sums.items():
                if units:
                    lines.append(f"{metric} {what} {plain(function)} {units}")
                totals[metric] += units
            if what == "own":
                lines += [f"{metric} total {units}" for metric, units in totals.items()]
        print("\n".join(sorted(lines)))


def plain(name):
    return re.sub(r"^(\(no symbol\)) \[.*\]$", r"\1", name)


def message(lines):
    """Of protoc's text: a dictionary of lists."""
    fields = defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            return fields
        if line.endswith("{"):
            fields[line[:-2]].append(message(lines))
        else:
            key, value = line.split(": ", 1)
            if value.startswith('"'):
                value = value[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()
            else:
                value = {"true": 1, "false": 0}.get(value) if value in ("true", "false") else int(value)
            fields[key].append(value)
    return fields


def one(fields, key):
    return fields[key][0] if fields[key] else 0


def pprof(path):
    profile = message(iter(open(path)))
    text = profile["string_table"]
    assert text[0] == "", "string 0 must be empty"
    functions = {one(f, "id"): text[one(f, "name")] for f in profile["function"]}
    mappings = {one(m, "id"): m for m in profile["mapping"]}
    assert sorted(mappings) == list(range(1, len(mappings) + 1))
    locations = {}
    for l in profile["location"]:
        m = mappings.get(one(l, "mapping_id"))
        if m:
            assert one(m, "memory_start") <= one(l, "address") < one(m, "memory_limit"), l
        names = [functions[one(line, "function_id")] for line in l["line"]]
        locations[one(l, "id")] = names or ["(no symbol)"]
    types = [(text[one(t, "type")], text[one(t, "unit")]) for t in profile["sample_type"]]
    sums = Sums()
    for s in profile["sample"]:
        assert len(s["value"]) == len(types)
        stack = [locations[i][-1] for i in s["location_id"]]
        for (name, unit), value in zip(types, s["value"]):
            if unit != "count":
                sums.stack(name, stack, value)
    sums.show()


def callgrind(path):
    names = defaultdict(dict)
    sums, events, costs = Sums(), [], defaultdict(lambda: defaultdict(int))
    position, function, called, kinds = [0, 0], None, None, {"ob": "ob", "cob": "ob", "fn": "fn", "cfn": "fn"}
    summary = None

    def name(kind, value):
        number, text = re.match(r"\((\d+)\) ?(.*)", value).groups()
        if text:
            assert number not in names[kind], "a name is given twice"
            names[kind][number] = text
        return names[kind][number]

    for line in open(path):
        line = line.rstrip("\n")
        if not line or line[0] == "#" or re.match(r"(version|creator|cmd|desc|event|positions): ", line):
            continue
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith("summary: "):
            summary = [int(v) for v in line.split()[1:]]
        elif "=" in line.split(" ")[0]:
            key, value = line.split("=", 1)
            if key == "calls":
                assert called
            elif key in kinds or key in ("fl", "fi", "fe", "cfi"):
                got = name(kinds.get(key, "fl"), value)
                if key == "fn":
                    function = got
                if key == "cfn":
                    called = got
            else:
                raise SystemExit(f"callgrind: {line}")
        else:
            words = line.split()
            for i in range(2):
                w = words[i]
                position[i] = (position[i] if w == "*" else position[i] + int(w) if w[0] in "+-" else int(w, 0))
            assert position[1] >= 0
            for event, value in zip(events, words[2:]):
                if called:
                    costs[event, called][function] += int(value)
                else:
                    sums.own[event, function] += int(value)
            assert len(words) == 2 + len(events)
            called = None
    for (event, function), units in sums.own.items():
        sums.inclusive[event, function] += units
    for (event, callee), callers in costs.items():
        for caller, units in callers.items():
            sums.inclusive[event, caller] += units
    for i, event in enumerate(events):
        assert summary[i] == sum(u for (e, f), u in sums.own.items() if e == event), "summary"
    sums.show()


def folded(path):
    sums, seen = Sums(), set()
    for line in open(path):
        stack, samples = line.rstrip("\n").rsplit(" ", 1)
        assert stack not in seen, "a stack stands twice"
        seen.add(stack)
        sums.stack("samples", stack.split(";")[::-1], int(samples))
    sums.show()


def speedscope(path):
    profile = json.load(open(path))
    frames = [f["name"] for f in profile["shared"]["frames"]]
    sums = Sums()
    for p in profile["profiles"]:
        metric = re.search(r"\(([^)]*)\): \d", p["name"]).group(1)
        assert len(p["samples"]) == len(p["weights"])
        assert p["endValue"] - p["startValue"] == sum(p["weights"])
        for stack, weight in zip(p["samples"], p["weights"]):
            sums.stack(metric, [frames[i] for i in stack][::-1], weight)
    sums.show()


def own_json(path):
    profile = json.load(open(path))
    assert profile["schema"] == "prof.profile/1"
    functions = [f["name"] for f in profile["functions"]]
    sums = Sums()
    for node in profile["nodes"]:
        stack, at = [], node
        while "parent" in at:
            stack.append(functions[profile["locations"][at["location"]]["frames"][-1]["function"]])
            at = profile["nodes"][at["parent"]]
        for metric, samples in zip(profile["metrics"], node["samples"]):
            if stack:
                sums.stack(metric["name"], stack, samples * metric["period"])
    for metric in profile["metrics"]:
        assert metric["label"] in ("measured", "scaled", "model", "estimated")
        assert metric["samples"] * metric["period"] == sum(
            u for (m, f), u in sums.own.items() if m == metric["name"])
    sums.show()


def rows(path):
    report = json.load(open(path))
    sums = Sums()
    for row in report["rows"]:
        for name, unit, cell in zip(report["columns"], report["units"], row["counts"]):
            if "/" in name or name == "cpi" or name == "calls":
                continue
            units = round((cell["value"] if cell else 0) * (1e9 if unit == "seconds" else 1))
            metric, dot, inclusive = name.partition(".inclusive")
            (sums.inclusive if dot else sums.own)[metric, row["procedure"]] += units
            if not dot and name + ".inclusive" not in report["columns"]:
                sums.inclusive[metric, row["procedure"]] += units
    sums.show()


readers = {"pprof-text": pprof, "callgrind": callgrind, "folded": folded, "speedscope": speedscope, "json": own_json,
           "rows": rows}
readers[sys.argv[1]](sys.argv[2])
