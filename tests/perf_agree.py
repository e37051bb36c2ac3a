#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perf_agree.py PROF FILE: does prof find in a perf.data file what perf report does, to the sample?

Compares for each event the number of samples of every function and image.  Where the two call a function by other names
(aliases, versions of symbols, C++), images must agree, and functions once names that only one of them knows are put
together.  Prints how many samples of how many functions were compared; exit status 1 where they differ, 2 where perf report finds
no samples."""
import collections, json, re, subprocess, sys


def perf(path):
    """event -> (function, image) -> samples"""
    text = subprocess.run(["perf", "report", "-i", path, "--stdio", "-n", "-s", "sym,dso", "--no-children", "-g", "none",
                           "--no-group", "-t", "\t", "--percent-limit", "0"], capture_output=True, text=True, errors="replace").stdout
    events, event = collections.defaultdict(collections.Counter), None
    for line in text.splitlines():
        found = re.match(r"# Samples: \S+ +of events? '(.*)'", line)
        if found:
            event = found.group(1)
        elif event and line.strip() and not line.startswith("#"):
            _, samples, symbol, dso = (word.strip() for word in line.split("\t")[:4])
            mode, symbol = symbol[1], symbol[4:]
            if mode == "k" or dso.startswith("[kernel") or dso.startswith("bpf_"):
                dso = "[kernel]"
            if dso.startswith(("//anon", "memfd:", "[JIT]", "perf-")):
                dso = "[anonymous]"
            symbol = re.sub(r"\s+\[[a-z0-9_]+\]$", "", symbol)
            events[event][symbol, dso] += int(samples)
    return events


def ours(prof, path):
    report = json.loads(subprocess.run([prof, "-json", "-raw", path], capture_output=True, text=True).stdout)
    events = collections.defaultdict(collections.Counter)
    for column, e in enumerate(report["experiments"]):
        name = re.search(r"perf record: ([^;]*)", e["note"]).group(1)
        unit = e["period"] * (1e-9 if e["unit"] == "ns" else 1)
        for row in report["rows"]:
            count = row["counts"][column]
            samples = round(count["value"] / unit) if count else 0
            if samples:
                symbol = re.sub(r"\s+\[[a-z0-9_]+\]$", "", row.get("procedure", ""))
                image = row.get("image", "")
                events[name][symbol, "[kernel]" if image == "[kernel]" else image] += samples
    return events


def images(rows):
    total = collections.Counter()
    for (_, image), samples in rows.items():
        total[image] += samples
    return total


def differences(mine, theirs):
    """Functions of which the two have other numbers, but for those that only one of them knows by that name."""
    wrong = []
    for image in {image for _, image in list(mine) + list(theirs)}:
        a = {s: n for (s, i), n in mine.items() if i == image}
        b = {s: n for (s, i), n in theirs.items() if i == image}
        wrong += [f"{s} ({image}): {a[s]}, perf report {b[s]}" for s in a.keys() & b.keys() if a[s] != b[s]]
        only = sum(a[s] for s in a.keys() - b.keys()), sum(b[s] for s in b.keys() - a.keys())
        if only[0] != only[1]:
            wrong.append(f"other names in {image}: {only[0]}, perf report {only[1]}")
    return wrong


def compare(prof, path):
    """(samples, functions, those under one name, differences)"""
    mine, theirs = ours(prof, path), perf(path)
    wrong, samples, functions, same = [], 0, 0, 0
    for event in mine.keys() | theirs.keys():
        a, b = mine.get(event, {}), theirs.get(event, {})
        wrong += [f"{event}: {w}" for w in differences(a, b)]
        samples += sum(b.values())
        functions += len(b)
        same += len(a.keys() & b.keys())
    return samples, functions, same, wrong


if __name__ == "__main__":
    samples, functions, same, wrong = compare(sys.argv[1], sys.argv[2])
    print(f"{samples} samples, {functions} functions, {same} of them under one name")
    for w in wrong[:20]:
        print(f"differs: {w}")
    sys.exit(2 if not samples else 1 if wrong else 0)
