#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check.py WITH WITHOUT: judges what guest.sh and guest-without.sh printed; prints TAP."""
import json
import math
import re
import statistics
import sys


class Case:
    def __init__(self):
        self.lines = []
        self.status = None

    @property
    def text(self):
        return "\n".join(self.lines)

    @property
    def report(self):
        for line in self.lines:
            if line.startswith("{"):
                return json.loads(line)
        return None


def read(path):
    """The cases by name, and the status of the guest itself."""
    cases, current, guest = {}, Case(), None
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("== "):
                current = cases[line[3:]] = Case()
            elif line.startswith("-- guest "):
                guest = int(line[9:])
            elif re.fullmatch(r"-- \d+", line):
                current.status = int(line[3:])
            else:
                current.lines.append(line)
    return cases, guest


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def ok(self, good, name, *notes):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for note in notes:
                print("# " + str(note).replace("\n", "\n# "))

    def done(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


tap = Tap()
cases, guest = read(sys.argv[1])
without, guest_without = read(sys.argv[2])


def case(name):
    return cases.get(name, Case())


def counts(name, among=None):
    """The quantities of a case, in the order of the events; none where it went wrong."""
    c = (among or cases).get(name, Case())
    if c.status != 0 or not c.report:
        tap.ok(False, f"{name}: ran", f"status {c.status}", c.text)
        return []
    return [e.get("count") or {"value": None, "low": None, "high": None, "label": None} for e in c.report["events"]]


def value(name, event=0):
    q = counts(name)
    return q[event]["value"] if event < len(q) and q[event]["value"] is not None else float("nan")


def threads(name):
    """(process, thread, count of the first event) of each row."""
    c = case(name)
    rows = c.report["threads"] if c.report else []
    return [(r.get("pid"), r["tid"], (r["events"][0].get("count") or {}).get("value")) for r in rows]


def says(name, pattern, status=125, among=None):
    c = (among or cases).get(name, Case())
    tap.ok(c.status == status and re.search(pattern, c.text), f"{name}: says {pattern}", f"status {c.status}", c.text)


def near(name, got, want, slack):
    tap.ok(abs(got - want) <= slack, f"{name}: {got:.0f} is {want:.0f} within {slack:.0f}")


tap.ok(guest == 0, "the guest with a PMU ran to its end", f"status {guest}")
tap.ok(guest_without == 0, "the guest without one ran to its end", f"status {guest_without}")
for name, c in cases.items():
    if name == "encodings" or name.startswith("unit "):
        tap.ok(c.status == 0, f"{name} ({len(re.findall('^ok', c.text, re.M))} tests)", c.text[-3000:])

# Exact counts: 4 instructions a turn, 2 cycles an instruction.  Each interrupt may add one instruction at user level,
# and two runs have different numbers of interrupts.
INTERRUPTS = 20
start = value("loop 1000") - 4 * 1000
near("loop of 100000", value("loop 100000") - start, 4e5, INTERRUPTS)
near("loop of 10000000", value("loop 10000000") - start, 4e7, INTERRUPTS)
near("the same run counts the same", value("again 10000000"), value("loop 10000000"), INTERRUPTS)
near("cycles", value("loop 10000000", 1), 2 * value("loop 10000000"), 0)
tap.ok(all(q["label"] == "measured" and q["low"] == q["value"] == q["high"] for q in counts("loop 10000000")),
       "what is on all the time is measured, with no interval")
rows = sorted(q["value"] for q in counts("rows"))
tap.ok(len(rows) == 2 and all(abs(rows[i] - value("loop 10000000", i)) <= 2 * INTERRUPTS for i in range(2)),
       "rows of the table count what raw codes count", counts("rows"))
near("nothing but startup", start, value("none"), 100)

# User and kernel level.
user = value("calls user 1000") - value("calls user 0")
both = value("calls kernel 1000") - value("calls kernel 0")
tap.ok(2000 <= user <= 20000 and (user + 10) % 1000 <= 20, f"1000 system calls are {user:.0f} user instructions")
tap.ok(both > user + 50000, f"and {both:.0f} with the kernel's")
near("user level by its own modifier", value("calls kernel 1000", 1), value("calls user 1000"), INTERRUPTS)
near("user and kernel make both", value("calls kernel 1000", 1) + value("calls kernel 1000", 2),
     value("calls kernel 1000"), 2000)

# Threads and processes, inherited, and one by one.
base = value("none")
near("4 threads", value("threads") - base, 4 * (10 * 100000 + 1000000), 20000)
near("3 forks", value("forks") - base, 4 * (6 * 100000 + 1000000), 20000)
for kind, number in (("threads", 4), ("forks", 3)):
    rows = threads(kind + " mp")
    total = value(kind + " mp")
    tap.ok(len(rows) == number + 1, f"{kind} -mp: {number + 1} rows", rows)
    tap.ok(sum(r[2] or 0 for r in rows) == total, f"{kind} -mp: rows add up to the sum", rows, total)
    near(f"{kind} -mp: the sum is what is inherited", total, value(kind), 400)
    tap.ok(sorted(round((r[2] or 0) / 400000) for r in rows) == sorted(list(range(1, number + 1)) + [10]),
           f"{kind} -mp: each row its own work", rows)
    tap.ok(len({r[0] for r in rows}) == (1 if kind == "threads" else number + 1), f"{kind} -mp: processes", rows)
rows = threads("exec mp")
tap.ok(len(rows) == 3 and max(r[2] or 0 for r in rows) > 4e6, "-mp through an exec", rows)
rows = case("threads multiplexed").report
tap.ok(rows and len(rows["threads"]) == 4 and all(
    (e.get("count") or {}).get("value", 0) > 0 for r in rows["threads"] for e in r["events"]),
    "-mp with turns: every row has estimates", case("threads multiplexed").text[:2000])
if rows:
    sums = [sum(r["events"][i]["count"]["value"] for r in rows["threads"]) for i in range(12)]
    tap.ok(all(abs(s - e["count"]["value"]) < 0.01 * s for s, e in zip(sums, rows["events"])),
           "-mp with turns: rows add up to the sum within 1%", sums)

near("-s counts between the signals alone", value("signals"), 4 * 230000, 20000)
near("-pid from then on", value("attach"), 4 * 1000000, 50000)
near("-pid with threads", value("attach mp"), 4 * 1300000, 50000)
tap.ok(len(threads("attach mp")) == 3 and sum(r[2] or 0 for r in threads("attach mp")) == value("attach mp"),
       "-pid -mp: three rows that add up", threads("attach mp"))

# What is believed, and what is refused.
near("auto takes the PMU", value("auto") - base, 4e6, 100)
tap.ok((case("auto").report or {}).get("source") == "pmu", "and says so", case("auto").text)
says("lies", "opens but counts nothing here")
tap.ok([q["value"] for q in counts("taken as given")] == [0], "unless the user insists", case("taken as given").text)
says("taken", "counters are taken")
says("taken auto", "counters are taken")
q = counts("some taken")
truth = value("none") + 2e8
tap.ok(len(q) == 12 and all(x["low"] <= (t + 0 if t else 0) <= x["high"] for x, t in
                            zip(q, [truth] * 6 + [2 * truth] * 6)),
       "with 3 counters taken, 12 events still get their turns", q)
near("as an ordinary user", value("user") - base, 4e6, 400)
says("user kernel", "perf_event_paranoid is 2")
says("user forbidden", "perf_event_paranoid is 3")
q = {e["short"]: e["count"] for e in (case("user os").report or {"events": []})["events"]}
tap.ok(len(q) == 4 and q["tclk"]["value"] > 1e6 and q["pf"]["value"] > 5 and q["csw"]["value"] >= 1,
       "software events of an ordinary user have numbers", case("user os").text)
tap.ok(len(q) == 4 and not q["mig"], "but migrations, which only the kernel sees, have none", case("user os").text)
tap.ok(len(counts("soft limit")) == 12, "a low soft limit of open files is raised")
says("hard limit", "too many open files")

# Estimates against exact counts.
estimates = {"blend": [], "sharp": [], "plain": []}
turns = 0
for name, c in cases.items():
    kind, _, workload = name.partition(" ")
    if kind not in estimates:
        continue
    exact = counts("exact " + workload)
    if len(exact) != 2 or c.status != 0 or not c.report:
        tap.ok(False, f"{name}: ran", c.text)
        continue
    turns += c.report["groups"] > 1
    for event in c.report["events"]:
        cycles = re.search("11$|11:u|CYCLES", event["name"])
        estimates[kind].append((event["count"], exact[1 if cycles else 0]["value"], name))


def judge(what, among, median_allowed=None, width_allowed=None):
    if not among:
        tap.ok(False, f"{what}: none")
        return
    errors = sorted(abs(q["value"] - truth) / truth for q, truth, _ in among)
    widths = [(q["high"] - q["low"]) / 2 / q["value"] for q, truth, _ in among]
    covered = [q["low"] <= truth <= q["high"] for q, truth, _ in among]
    median, share = statistics.median(errors), sum(covered) / len(covered)
    print(f"# {what}: {len(among)} estimates, error median {median:.3%}, 95th percentile "
          f"{errors[len(errors) * 95 // 100]:.2%}; {share:.1%} of intervals cover the exact count, "
          f"median half-width {statistics.median(widths):.2%}")
    missed = sorted({name for (_, _, name), good in zip(among, covered) if not good})
    if len(among) >= 400:  # the 12 of one run err together: few runs are no statistics
        tap.ok(share >= 0.93, f"{what}: {share:.1%} of {len(among)} intervals cover the exact count", missed)
    if median_allowed:
        tap.ok(median <= median_allowed, f"{what}: median error {median:.3%}")
    if width_allowed:
        width = statistics.median(widths)
        tap.ok(width <= width_allowed, f"{what}: median half-width {width:.2%}")
        honest(what, among)


def honest(what, among):
    """The error of a run, in half-widths: its root mean square over N runs is below 1/1.96 sqrt(chi2(N) / N), chi2 at 99.9%."""
    runs = {}
    for q, truth, name in among:
        runs.setdefault(name, []).append((q["value"] - truth) / ((q["high"] - q["low"]) / 2))
    n = len(runs)
    chi2 = n * (1 - 2 / (9 * n) + 3.09 * math.sqrt(2 / (9 * n))) ** 3  # Wilson and Hilferty
    allowed = math.sqrt(chi2 / n) / 1.96
    rms = math.sqrt(statistics.mean(statistics.mean(r) ** 2 for r in runs.values()))
    tap.ok(rms <= allowed, f"{what}: errors of {n} runs are {rms:.2f} half-widths, at most {allowed:.2f}")


tap.ok(turns == sum(len(e) for e in estimates.values()) / 12, "12 events took turns in each of these runs")
tap.ok(len(estimates["blend"]) >= 100, f"{len(estimates['blend'])} estimates of blended programs")
judge("12 events, blended phases, 0.5 s", estimates["blend"], 0.01)
# The 12 events of a run err together: ten runs are ten errors, whose median scatters by more than half (2.9 and 4.8% were seen).
judge("12 events, sharp phases, 0.5 s", estimates["sharp"], width_allowed=0.15)
judge("12 events, blended and sharp phases", estimates["blend"] + estimates["sharp"], 0.01)
judge("12 events in proportion to the anchor", estimates["plain"], 0.001)

# No PMU.
says("pmu", "no PMU in this virtual machine", among=without)
says("auto", "no PMU in this virtual machine", 0, without)
tap.ok("Task clock" in without.get("auto", Case()).text, "auto: counts what the kernel knows", without.get("auto", Case()).text)
says("auto one", "no PMU in this virtual machine", among=without)
tap.ok(counts("os", without)[0]["value"] > 4e6, "os: 8 ms of task clock")
sys.exit(tap.done())
