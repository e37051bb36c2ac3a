#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the commands of docs/tutorial.md and compares what they print with what stands there.

    tests/tutorial.py check|update BUILD

A command stands on an indented line behind "$ "; its output is the indented lines behind it. "..." for a line
stands for any number of lines. Numbers may differ by a tenth (another kernel's stack, another compiler's
addresses), numbers of processes and times by anything, as do measured ones. Of those a percentage may differ by
three fifths: where page faults are slow or memory is fast, the same function has less of the time. What is said of a
machine without counters need not be there. update writes the output of this run into the page, whole or, where
"..." stood, the lines before and behind it as many as there were.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

INDENT = "    "
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?%?(?![\w.])")
# What differs from run to run or machine to machine, whatever it says.
LOOSE = [
    (re.compile(r"(\.(?:f?pcsamp|ideal|usertime|totaltime|\w+_hwc(?:time)?))\.\d+"), r"\1.PID"),
    (re.compile(r"^.*: (Host|CPU|Kernel|Architecture|Elapsed time.*|Date)$"), r"x: \1"),
    (re.compile(r"(elapsed|took) \S+ s \(measured"), r"\1 T s (measured"),
    (re.compile(r"^processor: .*"), "processor"),
    (re.compile(r"\S*/share/perfex/"), "share/perfex/"),
    (re.compile(r"/\S*/examples/"), "examples/"),
    (re.compile(r"[*=-]{3,}"), "-"),
    (re.compile(r"(%) +#+$"), r"\1"),  # a bar, which is its percentage again
    (re.compile(r"^\d+ more rows? (are|is) left out"), "more rows are left out"),  # most have a sample or two, or none
    (re.compile(r"^ *~\d+ +[\d.]+% +\d+ +\*+ +"), ""),  # an instruction that has a sample or two, or none
    (re.compile(r"~(?=\d)"), ""),
    (re.compile(r"(?<![\w.])[0-9a-f]{4,6}  (?=[a-z][^(]*$)"), "ADDR  "),  # of an instruction
]


# Below the headings of a table.
LABELS = {"measured", "scaled", "model", "estimated"}
# What is said of the machine, and of files that a sample or two fell into by chance.
ABSENT = re.compile(r"^(perfex|ssrun): no hardware counters|^\S+ \([1-3] samples?\): ")


def plain(line):
    for pattern, text in LOOSE:
        line = pattern.sub(text, line)
    return re.sub(r"\s+", " ", line).strip()


def same(got, want, measured):
    a, b = plain(got), plain(want)
    if NUMBER.sub("N", a) != NUMBER.sub("N", b):
        return False
    for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)):
        if measured and not y.endswith("%"):
            continue
        u, v = float(x.rstrip("%")), float(y.rstrip("%"))
        if abs(u - v) > (0.6 if measured else 0.1) * max(abs(u), abs(v)) + 3:
            return False
    return True


def is_measured(want):
    return any("measured" in line.split() and set(line.split()) <= LABELS for line in want)


def matches(got, want, measured=None):
    """want, with "..." for any lines, against got."""
    if measured is None:
        got, want = ([line for line in lines if not ABSENT.match(line)] for lines in (got, want))
        measured = is_measured(want)
    if not want:
        return not got
    if want[0].strip() == "...":
        return any(matches(got[i:], want[1:], measured) for i in range(len(got) + 1))
    return bool(got) and same(got[0], want[0], measured) and matches(got[1:], want[1:], measured)


def further_down(command, want, directory, env):
    """The one measured row of a table, among more rows: where page faults are slow, another function may have more of the time."""
    if " -q 1 " not in command or not is_measured(want):
        return False
    among = [part for line in want for part in ("...", line)]
    return matches(run(command.replace(" -q 1 ", " -q 3 "), directory, env), among, True)


def shorten(got, want):
    """The new output in the shape of the old one."""
    dots = [i for i, line in enumerate(want) if line.strip() == "..."]
    if not dots:
        return got
    first, rest = dots[0], len(want) - dots[-1] - 1
    if first + rest >= len(got):
        return got
    return got[:first] + ["..."] + (got[len(got) - rest:] if rest else [])


def blocks(lines):
    """(index of the command's line, command, index behind its output)."""
    i = 0
    while i < len(lines):
        if lines[i].startswith(INDENT + "$ "):
            end = i + 1
            while end < len(lines) and (lines[end].startswith(INDENT) or not lines[end].strip()):
                if lines[end].startswith(INDENT + "$ "):
                    break
                end += 1
            while end > i + 1 and not lines[end - 1].strip():
                end -= 1
            yield i, lines[i][len(INDENT) + 2:], end
            i = end
        else:
            i += 1


def run(command, directory, env):
    p = subprocess.run(["sh", "-c", command], cwd=directory, env=env, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, timeout=900, check=False)
    out = p.stdout.split("\n")
    while out and not out[-1].strip():
        out.pop()
    return [line.rstrip() for line in out]


def main():
    mode, build = sys.argv[1], os.path.abspath(sys.argv[2])
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "tutorial.md")
    lines = open(page, encoding="utf-8").read().split("\n")
    directory = tempfile.mkdtemp()
    env = dict(os.environ, PATH=build + "/bin:" + os.environ["PATH"], LC_ALL="C", NO_COLOR="1", COLUMNS="110")
    env.pop("PERFEX_SOURCE", None)
    number, failed, new, at = 0, 0, [], 0
    for name in ("staffing",):
        os.symlink(os.path.join(build, "examples", name), os.path.join(directory, name))
    try:
        for begin, command, end in blocks(lines):
            want = [line[len(INDENT):].rstrip() for line in lines[begin + 1:end]]
            got = run(command, directory, env)
            number += 1
            if mode == "update":
                new += lines[at:begin + 1] + [(INDENT + g).rstrip() for g in shorten(got, want)]
                at = end
                continue
            good = matches(got, want) or further_down(command, want, directory, env)
            failed += not good
            print(f"{'ok' if good else 'not ok'} {number} - {command}")
            if not good:
                print("\n".join("# got: " + g for g in got[:60]))
    finally:
        shutil.rmtree(directory)
    if mode == "update":
        open(page, "w", encoding="utf-8").write("\n".join(new + lines[at:]))
        return 0
    print(f"1..{number}")
    return failed != 0


sys.exit(main())
