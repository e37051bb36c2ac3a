#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends requests to 127.0.0.1:PORT that no client should: cut, changed, too long, or none at all; each on a connection of its own.

usage: http_garbage.py PORT COUNT

Status 1: one that is no request at all got 200.
"""
import random
import socket
import sys

port, count = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(1)
GOOD = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def changed(data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data))
        what = rng.randrange(4)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            del data[at:at + rng.randrange(1, 8)]
        elif what == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 40)))
        else:
            data = data[:at + 1]
        if not data:
            break
    return bytes(data)


def request(i):
    kind = i % 6
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(1, 2000))), False
    if kind == 1:
        return b"GET /" + b"a" * rng.randrange(1, 100000) + b" HTTP/1.1\r\n\r\n", False
    if kind == 2:
        return b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * rng.randrange(1, 20000), False
    if kind == 3:
        return b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nx", False
    if kind == 4:
        seconds = rng.choice([b"-1", b"0", b"1e9", b"%00", b"9" * 40, b"\xff", b"1&seconds=x", b" 1", b"+1"])
        return b"GET /debug/pprof/profile?seconds=" + seconds + b"x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", False
    return changed(GOOD), True


for i in range(count):
    data, may_be_good = request(i)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
            s.settimeout(0.2)
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            answer = s.recv(4096)
    except OSError:
        continue
    if not may_be_good and b" 200 " in answer[:20]:
        sys.exit(f"{data[:80]!r} got {answer[:80]!r}")
