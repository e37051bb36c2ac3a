#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""branches_agree.py BRANCHES IDEAL TIMES [executions]: holds branch records (prof -dump of ssrun -branches) to the exact counts of the same
program at work for 1/TIMES as long (prof -dump of ssrun -ideal).

Of the runs that end at one branch, the share that goes each way is compared with that of the executions; all must be branches that
the exact counts know.  Executions at a rate are compared with those counted there.  What enters a run
must leave it.  Prints what differs by more than chance.  With `executions`, executions by the rates of timed bursts are compared
instead: of the edges with 2% of all, they must be within 15% if anchors counted natively."""

import collections
import sys


def read(path):
    images, rows, tallies = {}, [], {}
    for line in open(path):
        words = line.split()
        if words[0] == "image":
            images[words[1]] = line.split('"')[1].rsplit("/", 1)[-1]
        elif words[0] in ("branch", "rate", "edge"):
            rows.append(words)
        elif words[0] == "tally":
            tallies[words[1]] = int(words[3])
    return images, rows, tallies


def executions(images, rows, tallies, edges, times):
    """Prints edges whose executions are far off, and how many were compared."""
    seconds = (tallies["program-ns"] - tallies.get("stop-ns", 0) + tallies["timed-ns"]) * 1e-9
    estimates = collections.Counter()
    for words in rows:
        if words[0] == "branch":
            edge = images[words[2]], int(words[6], 16), images.get(words[8], "?"), int(words[10], 16)
            estimates[edge] += float(words[16]) / tallies["bursts-timed"] * seconds
    compared, wrong = 0, 0
    for edge, count in edges.items():
        # Jumps that copies need not make are in no run.
        if count < 0.02 * sum(edges.values()) or not estimates[edge]:
            continue
        compared += 1
        if abs(estimates[edge] / (count * times) - 1) > .15:
            wrong += 1
            print("%s %x to %x: %.0f, exact %.0f" % (edge[0], edge[1], edge[3], estimates[edge], count * times))
    print("edges", compared, "pairs", tallies.get("native-pairs", 0))
    return wrong > 0 or compared < 5 or tallies.get("native-pairs", 0) < 20


def main():
    images, rows, tallies = read(sys.argv[1])
    exact_images, exact_rows, _ = read(sys.argv[2])
    times = float(sys.argv[3])
    executed, edges = collections.Counter(), collections.Counter()
    for words in exact_rows:
        if words[0] == "edge":
            source = exact_images[words[2]], int(words[4], 16)
            executed[source] += int(words[14])
            edges[source + (exact_images[words[6]], int(words[8], 16))] += int(words[14])

    if len(sys.argv) > 4:
        return executions(images, rows, tallies, edges, times)
    taken, all_of, wrong = collections.Counter(), collections.Counter(), []
    rates, hits, expected = 0, 0, 0.0
    program = tallies["program-ns"] - tallies.get("stop-ns", 0)
    for words in rows:
        if words[0] == "branch":
            source = images[words[2]], int(words[6], 16)
            taken[source + (images.get(words[8], "?"), int(words[10], 16))] += int(words[12])
            all_of[source] += int(words[12])
        elif words[0] == "rate":
            rates += 1
            hits += int(words[6])
            expected += executed[images[words[2]], int(words[4], 16)] * times / program * int(words[8])
    # Chance, and a little for what the beginning and the end of the program do otherwise.
    for edge, count in taken.items():
        if executed[edge[:2]] == 0 or edges[edge] == 0:
            # What depends on time and place (the dynamic linker, the kernel's answers) may differ.
            if "branchy" in edge[0]:
                wrong.append("never happens: %s %x to %x, %d times" % (edge[0], edge[1], edge[3], count))
            continue
        share, n = edges[edge] / executed[edge[:2]], all_of[edge[:2]]
        error = 6 * (n * share * (1 - share)) ** 0.5 + 3 + n / 100
        if abs(count - n * share) > error:
            wrong.append("%s %x to %x: %d of %d, expected %.1f" % (edge[0], edge[1], edge[3], count, n, n * share))
    # What enters a run leaves it: but for where a burst begins and ends, comes to what it has no copy of, or enters the kernel.
    balance = collections.Counter()
    begins = set()
    for words in rows:
        if words[0] == "branch" and "branchy" in images[words[2]]:
            balance[images[words[2]], int(words[4], 16)] -= int(words[12])
            begins.add((images[words[2]], int(words[4], 16)))
    for words in rows:
        if words[0] == "branch":
            balance[images.get(words[8], "?"), int(words[10], 16)] += int(words[12])
    slack = 3 * (tallies["bursts"] + tallies.get("bursts-empty", 0))
    for place in begins:
        if abs(balance[place]) > slack:
            wrong.append("%s %x: %d times more is entered than left" % (place + (balance[place],)))
    for line in wrong:
        print(line)
    print("branches", len(taken), "transfers", sum(taken.values()), "rates", rates, "hits", hits, "expected", round(expected))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
