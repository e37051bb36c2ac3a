#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ssexp.py FILE ...: experiment files as text, as `prof -dump` prints them.

Written from the manual page ssexp(5) alone, so that the page is known to say enough. Stops with a message at what the
page does not allow.
"""
import struct, sys, zlib

KINDS = ["unknown", "elf", "file", "anonymous", "kernel", "vdso"]
LABELS = ["", "measured", "scaled", "model", "estimated"]
FLAGS = [(1, "stacks"), (2, "exact"), (4, "skid"), (8, "clock"), (16, "wall"), (32, "kernel"), (64, "both")]
REASONS = ["no-mapping", "no-stack", "no-room"]
ORDER = ["RUN ", "FACT", "IMAG", "METR", "PROC", "THRD", "PHAS", "SYMB", "NODE", "SAMP", "SLIC", "EDGE", "END "]
REPEATED = {"SYMB", "NODE", "SAMP", "EDGE"}
WORD = 1 << 64


def need(condition, message):
    if not condition:
        sys.exit(f"ssexp.py: {message}")


def quoted(data):
    out = bytearray(b'"')
    for byte in data:
        if byte < 32 or byte == 127:
            out += b"\\x%02x" % byte
        else:
            out += (b"\\" if byte in b'"\\' else b"") + bytes([byte])
    return (out + b'"').decode("utf-8", "surrogateescape")


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def uint(self):
        value = shift = 0
        while True:
            need(self.more() and shift < 70, "a number without end")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                need(value < WORD, "a number that is too large")
                return value

    def sint(self):
        value = self.uint()
        return -((value + 1) // 2) if value & 1 else value // 2

    def bytes(self):
        length = self.uint()
        need(self.at + length <= len(self.data), "bytes that are not there")
        self.at += length
        return self.data[self.at - length:self.at]

    def text(self):
        data = self.bytes()
        need(0 not in data, "a zero in a text")
        return quoted(data)

    def records(self):
        while self.more():
            yield Bytes(self.bytes())


class Experiment:
    def __init__(self):
        self.rows = {"image": 0, "process": 0, "thread": 0, "phase": 0}
        self.metrics = 0
        self.symbol = self.edge = (0, 0)
        self.nodes = [(0, 0, 0)]
        self.last_address = {}
        self.last_sample = (-1,)
        self.all_samples = []
        self.histogram = None

    def number(self, kind):
        self.rows[kind] += 1
        return self.rows[kind]

    def run(self, c):
        kind, began, elapsed, runs, complete = c.text(), c.uint(), c.uint(), c.uint(), c.uint()
        print(f"run type {kind} runs {runs} complete {complete & 1} began {began} elapsed {elapsed}")
        processes, threads, failed, ranks, low, high = [c.uint() for _ in range(4)] + [c.sint(), c.sint()]
        if processes or threads:
            print(f"folded processes {processes} threads {threads} failed {failed} ranks {ranks} from {low} to {high}")

    def facts(self, c):
        for r in c.records():
            print(f"fact {r.text()} {r.text()}" + (" several" if r.uint() & 1 else ""))

    def images(self, c):
        for r in c.records():
            line = f"image {self.number('image')} {KINDS[r.uint()]} {r.text()}"
            build_id, size, fingerprint, pid = r.bytes(), r.uint(), r.uint(), r.sint()
            line += f" build-id {build_id.hex()}" if build_id else ""
            line += f" size {size}" if size else ""
            line += f" fingerprint {fingerprint:x}" if fingerprint else ""
            print(line + (f" pid {pid}" if pid else ""))

    def table_of_metrics(self, c):
        for r in c.records():
            line = f"metric {self.metrics} event {r.sint()}"
            for name in ("name", "short", "unit", "source", "note"):
                line += f" {name} {r.text()}"
            line += f" label {LABELS[r.uint()]}"
            flags = r.uint()
            names = ",".join(name for bit, name in FLAGS if flags & bit)
            line += f" flags {names}" if names else ""
            for name in ("skid", "period", "total", "lost", "throttled"):
                line += f" {name} {r.uint()}"
            for i in range(r.uint()):
                count = r.uint()
                line += f" {REASONS[i]} {count}" if count and i < len(REASONS) else ""
            print(line)
            self.metrics += 1

    def processes(self, c):
        for r in c.records():
            print(f"process {self.number('process')} pid {r.sint()} ppid {r.sint()} rank {r.sint()} status {r.sint()}"
                  f" begin {r.uint()} end {r.uint()} command {r.text()}" + (f" arguments {r.text()}" if r.more() else ""))

    def threads(self, c):
        for r in c.records():
            process, tid, name = r.uint(), r.sint(), r.text()
            need(process <= self.rows["process"], "a thread of no process")
            cpu = f" cpu {r.uint() - 1}" if r.more() else ""
            print(f"thread {self.number('thread')} process {process} tid {tid} name {name}{cpu}")

    def phases(self, c):
        for r in c.records():
            time, thread, name = r.uint(), r.uint(), r.text()
            need(thread <= self.rows["thread"], "a phase of no thread")
            print(f"phase {self.number('phase')} thread {thread} time {time} name {name}")

    def symbols(self, c):
        image, address = self.symbol
        while c.more():
            image, address = image + c.uint(), (address + c.sint()) % WORD
            need(image <= self.rows["image"], "a symbol of no image")
            print(f"symbol image {image} address {address:x} length {c.uint()} name {c.text()}")
        self.symbol = image, address

    def table_of_nodes(self, c):
        parent, image, _ = self.nodes[-1]
        while c.more():
            first = c.uint()
            if first % 2 == 0:
                address = self.last_address.get(image, 0) + first // 2
            else:
                parent += first // 2
                image = c.uint()
                address = self.last_address.get(image, 0) + c.sint()
            address %= WORD
            self.last_address[image] = address
            node = parent, image, address
            need(parent < len(self.nodes) and image <= self.rows["image"], "a node of nothing")
            need(len(self.nodes) == 1 or node > self.nodes[-1], "nodes that are not in order")
            print(f"node {len(self.nodes)} parent {parent} image {image} address {address:x}")
            self.nodes.append(node)

    def samples(self, c):
        while c.more():
            metric, thread, phase, following = c.uint(), c.uint(), c.uint(), c.uint()
            need(metric < self.metrics and thread <= self.rows["thread"] and phase <= self.rows["phase"],
                 "samples of nothing")
            node = -1
            for _ in range(following):
                first = c.uint()
                node += 1 + first // 2
                count = c.uint() if first % 2 else 1
                sample = metric, thread, phase, node
                need(node < len(self.nodes) and count and sample > self.last_sample, "samples that are not in order")
                print(f"sample metric {metric} thread {thread} phase {phase} node {node} count {count}")
                self.last_sample = sample
                self.all_samples.append((metric, count))

    def slices(self, c):
        shift, levels, room = c.uint(), c.uint(), c.uint()
        need(shift <= 56 and levels <= 8, "slices of no width")
        modes = [c.uint() for _ in range(self.metrics)]
        need(all(mode < 3 for mode in modes), "an unknown mode")
        number = int.from_bytes(c.data[c.at:], "little")
        bits = 8 * (len(c.data) - c.at)

        def below(most):
            nonlocal number, bits
            width = most.bit_length()
            need(bits >= width, "slices that end too early")
            value, number, bits = number & ((1 << width) - 1), number >> width, bits - width
            need(value <= most, "more samples in a slice than there are")
            return value

        def part(sample, slice, level, count):
            if count and level:
                first = below(count)
                part(sample, slice, level - 1, first)
                part(sample, slice + (1 << (level - 1)), level - 1, count - first)
            elif count:
                print(f"slice sample {sample} slice {slice} count {count}")

        print(f"slices shift {shift} room {room}")
        for sample, (metric, count) in enumerate(self.all_samples):
            if modes[metric]:
                part(sample, 0, levels, below(count) if modes[metric] == 2 else count)
        need(bits < 8 and not number, "more behind the slices")

    def edges(self, c):
        start = self.edge[0]
        while c.more():
            image, start = c.uint(), (start + c.sint()) % WORD
            to_image, to = c.uint(), (start + c.sint()) % WORD
            need(max(image, to_image) <= self.rows["image"], "an edge of no image")
            print(f"edge image {image} from {start:x} image {to_image} to {to:x} kind {c.uint()} taken {c.uint()}"
                  f" count {c.uint()}")
        self.edge = start, 0


def dump(path):
    with open(path, "rb") as f:
        data = f.read()
    need(data[:8] == bytes.fromhex("8953534558500d0a"), "this is no experiment file")
    need(len(data) >= 12 and struct.unpack("<H", data[8:10])[0] == 1, "an unknown version")
    x = Experiment()
    readers = dict(zip(ORDER, (x.run, x.facts, x.images, x.table_of_metrics, x.processes, x.threads, x.phases,
                               x.symbols, x.table_of_nodes, x.samples, x.slices, x.edges)))
    at, sections, last = 12, 0, ""
    while last != "END ":
        need(at + 12 <= len(data), "cut short")
        kind = data[at:at + 4].decode("ascii", "replace")
        length, checksum = struct.unpack("<II", data[at + 4:at + 12])
        need(at + 12 + length <= len(data), "cut short in a section")
        content = data[at + 12:at + 12 + length]
        need(zlib.crc32(content, zlib.crc32(data[at:at + 8])) == checksum, "a wrong checksum")
        at += 12 + length
        if kind in ORDER:
            need(not last or ORDER.index(kind) > ORDER.index(last) or (kind == last and kind in REPEATED),
                 f"section {kind} where it does not belong")
            need(last or kind == "RUN ", "another section before RUN")
            last = kind
            if kind == "END ":
                need(Bytes(content).uint() == sections, "sections are missing")
            else:
                readers[kind](Bytes(content))
        sections += 1
    need(at == len(data), "more behind the end")


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="surrogateescape")
    for name in sys.argv[1:]:
        dump(name)
