#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops and continues the job of a program all the while that ssrun works with it.

    tests/stops.py PROGRAM OUTPUT COMMAND [argument ...]

COMMAND runs PROGRAM (a path), which is sent SIGSTOP and SIGCONT at random moments, some milliseconds apart, until the command has
ended. The status is the command's, or 1 if its standard output is not the text of the file OUTPUT."""
import os, random, signal, subprocess, sys, time

GAP = 0.0004  # seconds; mean time of a stop


def find(program, parent):
    with open("/proc/%d/task/%d/children" % (parent, parent)) as file:
        for pid in map(int, file.read().split()):
            if os.path.realpath("/proc/%d/exe" % pid) == program:
                return pid
    return None


def main():
    program, wanted, command = os.path.realpath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    chance, pid = random.Random(int(os.environ.get("SEED", "1"))), None
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    while process.poll() is None:
        try:
            pid = pid or find(program, process.pid)
            if pid:
                os.kill(pid, signal.SIGSTOP)
                time.sleep(chance.expovariate(1 / GAP))
                os.kill(pid, signal.SIGCONT)
        except OSError:
            pass  # it has ended
        time.sleep(chance.expovariate(1 / GAP / 4))
    with open(wanted, "rb") as file:
        same = process.stdout.read() == file.read()
    if not same:
        print("the output is not as usual", file=sys.stderr)
    return process.returncode or (0 if same else 1)


if __name__ == "__main__":
    sys.exit(main())
