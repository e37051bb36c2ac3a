#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfdata.py write KIND [SEED [TURNS]] > file   a perf.data file as perf record would have written it
perfdata.py kinds                              the kinds: byte orders, sizes of attributes, pipes, ...
perfdata.py check [SEED] < DUMP                does prof -dump of any kind show what was written?

What is recorded is the same in every kind: processes that fork, exec, map files over others and end, on two processors
whose records are not in order, sampled with call stacks, by two events.  Addresses, paths and times are random by SEED.
The check follows the records in the order of their times by itself, one sample after the other."""
import collections, random, re, struct, sys

COMM_EXEC, BUILD_ID, USER, KERNEL = 1 << 13, 1 << 14, 2, 1
IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, RAW, BRANCH, REGS, STACK, WEIGHT, SOURCE, IDENTIFIER = (
    1 << n for n in range(17))
ANY, CALL_STACK, HW_INDEX = 1 << 3, 1 << 11, 1 << 17
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
MMAP, LOST, COMM, EXIT, THROTTLE, FORK, SAMPLE, MMAP2 = 1, 2, 3, 4, 5, 7, 9, 10
ATTR, ROUND, AUXTRACE, FEATURE, COMPRESSED = 64, 68, 71, 80, 81
TYPE = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CHAIN
KERNEL_TEXT = 0xffffffff81000000
PROGRAM, LIBRARY, OTHER = 0x400000, 0x7f0000000000, 0x7f1000000000
FILES = {"/nowhere/program": bytes(range(20)), "/nowhere/libone.so": bytes(range(20, 40)), "/nowhere/libtwo.so": None}


def branch_stack(user):
    """The last branch first: each goes from 8 bytes after one place to the place before it in the list."""
    return [((pc & ~15) + 8, user[max(i - 1, 0)] & ~15, 0) for i, pc in enumerate(user)]


# ---- what happens -------------------------------------------------------------------------------

def story(seed, turns=400):
    """(time, processor, kind, fields) of each record, in order of time."""
    r = random.Random(seed)
    time, events, alive = 1000, [], {100: {100}}
    next_pid = 101
    mapped = {100: []}

    def add(kind, cpu=None, **fields):
        nonlocal time
        time += r.randint(1, 1000)
        events.append((time, r.randint(0, 1) if cpu is None else cpu, kind, fields))

    def map_file(pid):
        path = r.choice(list(FILES))
        base = {"/nowhere/program": PROGRAM, "/nowhere/libone.so": LIBRARY, "/nowhere/libtwo.so": OTHER}[path]
        address = base + 0x1000 * r.randint(0, 8)
        length, offset = 0x1000 * r.randint(1, 6), 0x1000 * r.randint(0, 3)
        mapped[pid].append((address, length))
        add("map", pid=pid, tid=pid, address=address, length=length, offset=offset, path=path)

    def pc(pid):
        if mapped[pid] and r.random() < 0.95:
            address, length = r.choice(mapped[pid])
            return address + 16 * r.randint(0, length // 16 - 1) + r.choice((0, 0, 1))
        return r.randint(0x1000, 0x100000)

    add("comm", pid=100, tid=100, name="first", exec=True)
    for _ in range(4):
        map_file(100)
    roots = {}
    for _ in range(turns):
        pid = r.choice(list(alive))
        tid = r.choice(list(alive[pid]))
        what = r.random()
        if what < 0.80:
            key = pid, len(mapped[pid])
            if key not in roots:
                roots[key] = [pc(pid) for _ in range(r.randint(1, 6))]
            chain = roots[key][:r.randint(0, 6)]
            chain = [pc(pid) for _ in range(r.randint(0, 3))] + chain[::-1]
            kernel = [KERNEL_TEXT + 16 * r.randint(0, 50) for _ in range(r.choice((0, 0, 0, 1, 3)))]
            ip = kernel[0] if kernel else chain[0] if chain else pc(pid)
            add("sample", pid=pid, tid=tid, ip=ip, kernel=kernel, user=chain, event=r.choice((0, 0, 1)),
                mode=KERNEL if kernel else USER)
        elif what < 0.86:
            map_file(pid)
        elif what < 0.90 and len(alive) < 6:
            add("fork", pid=next_pid, ppid=pid, tid=next_pid, ptid=tid)
            alive[next_pid], mapped[next_pid] = {next_pid}, list(mapped[pid])
            next_pid += 1
        elif what < 0.94 and len(alive[pid]) < 3:
            add("fork", pid=pid, ppid=pid, tid=next_pid, ptid=tid)
            alive[pid].add(next_pid)
            next_pid += 1
        elif what < 0.96 and len(alive[pid]) == 1:
            add("comm", pid=pid, tid=tid, name=f"exec{next_pid}", exec=True)
            mapped[pid].clear()
            map_file(pid)
        elif what < 0.98 and len(alive[pid]) > 1 and tid != pid:
            add("exit", pid=pid, ppid=pid, tid=tid, ptid=pid)
            alive[pid].discard(tid)
        elif what < 0.99:
            add("lost", event=r.choice((0, 1)), count=r.randint(1, 9))
        else:
            add("throttle", event=0)
    return events


# ---- how it is written --------------------------------------------------------------------------

class Writer:
    def __init__(self, order="<", attr_size=128, pipe=False, rounds=True, compressed=False, shift=0, id_all=True,
                 old_header=False, type=TYPE, branch_type=0, named=False, aux=0, asked=True, leaked=False):
        self.__dict__.update(order=order, attr_size=attr_size, pipe=pipe, rounds=rounds, compressed=compressed, shift=shift,
                             id_all=id_all, old_header=old_header, type=type, branch_type=branch_type,
                             named=named, aux=aux, asked=asked, leaked=leaked)
        self.ids = [[10, 11], [20, 21]]  # event, processor
        self.packed = b""

    def pack(self, format, *values):
        return struct.pack(self.order + format, *values)

    def record(self, type, misc, body):
        body += b"\0" * (-len(body) % 8)
        return self.pack("IHH", type, misc, 8 + len(body)) + body

    def text(self, words):
        return words.encode() + b"\0" * (8 - len(words) % 8)

    def bits(self, *set):
        """A bitfield of 64 bits, as compilers of this byte order lay it out."""
        value = sum(1 << b for b in set)
        octets = value.to_bytes(8, "little")
        return octets if self.order == "<" else bytes(int(f"{o:08b}"[::-1], 2) for o in octets)

    def attr(self, event):
        config, period = ((0, 250000), (2, 10))[event]
        flags = [0, 1, 8, 9, 13, 23, 24] + [18] * self.id_all + [34] * self.asked
        a = self.pack("IIQQQQ", 1, 0 if self.attr_size == 64 else self.attr_size, config, period, self.type, 3)
        a += self.bits(*flags)
        a += self.pack("II", 0, 0) + self.pack("QQ", 0, 0) + self.pack("QQ", self.branch_type, 0xff01ff)
        return (a + b"\0" * 512)[:self.attr_size]

    def kernel(self, e):
        time, cpu, kind, f = e
        id = self.ids[f.get("event", 0)][cpu]
        fields = {TID: self.pack("II", f.get("pid", 0), f.get("tid", 0)), TIME: self.pack("Q", time), ID: self.pack("Q", id),
                  STREAM: self.pack("Q", 1), CPU: self.pack("II", cpu, 0), IDENTIFIER: self.pack("Q", id)}
        trailer = b"".join(v for k, v in fields.items() if k & self.type) if self.id_all else b""
        if kind == "sample":
            return self.record(SAMPLE, f["mode"], self.sample(f, fields))
        if kind == "map":
            id = FILES[f["path"]]
            # Linux 6.18 may set the flag where a device follows, here of major number 254 (leaked).
            where = self.pack("BBH", 20, 0, 0) + id if id else self.pack("IIQQ", 254 if self.leaked else 8, 1, 4711, 0)
            return self.record(MMAP2, USER | (BUILD_ID if id or self.leaked else 0), self.pack(
                "IIQQQ", f["pid"], f["tid"], f["address"], f["length"], f["offset"]) + where + self.pack("II", 5, 2) +
                self.text(f["path"]) + trailer)
        if kind == "comm":
            return self.record(COMM, COMM_EXEC, self.pack("II", f["pid"], f["tid"]) + self.text(f["name"]) + trailer)
        if kind in ("fork", "exit"):
            return self.record(FORK if kind == "fork" else EXIT, 0, self.pack(
                "IIIIQ", f["pid"], f["ppid"], f["tid"], f["ptid"], time) + trailer)
        if kind == "lost":
            return self.record(LOST, 0, self.pack("QQ", self.ids[f["event"]][cpu], f["count"]) + trailer)
        return self.record(THROTTLE, 0, self.pack("QQQ", time, self.ids[0][cpu], 0) + trailer)

    def sample(self, f, fields):
        """In the kernel's order."""
        user, branches = f["user"], []
        if self.branch_type & CALL_STACK and user:  # calls, the last one first; the kernel leaves the user's chain out
            branches = [(pc - 1, to, 0) for pc, to in zip(user[1:], user)]
            user = [] if branches else user
        elif self.branch_type & ANY:
            branches = branch_stack(user)
        elif self.type & BRANCH:
            branches = [(1, 2, 3)] * (len(user) % 3)
        chain = ([CONTEXT_KERNEL] + f["kernel"] if f["kernel"] else []) + ([CONTEXT_USER] + user if user else [])
        raw = b"raw" * 5 + b"\0" * 5
        fields = {**fields, IP: self.pack("Q", f["ip"]), ADDR: self.pack("Q", 4711),
                  PERIOD: self.pack("Q", (250000, 10)[f["event"]]), READ: self.pack("QQQ", 1, 2, 3),
                  CHAIN: self.pack(f"Q{len(chain)}Q", len(chain), *chain), RAW: self.pack("I", len(raw)) + raw,
                  BRANCH: self.pack("Q", len(branches)) + (self.pack("Q", 0) if self.branch_type & HW_INDEX else b"") +
                          b"".join(self.pack("QQQ", *b) for b in branches),
                  REGS: self.pack("Q", 0), STACK: self.pack("Q", 0), WEIGHT: self.pack("Q", 5), SOURCE: self.pack("Q", 6)}
        order = (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD, READ, CHAIN, RAW, BRANCH, REGS, STACK, WEIGHT,
                 SOURCE)
        return b"".join(fields[k] for k in order if k & self.type)

    def records(self, events, seed):
        """Buffers of two processors, read in turns, each as far as it then is."""
        if not self.id_all or not self.rounds:
            shuffled = list(events) if not self.id_all else [e for cpu in (1, 0) for e in events if e[1] == cpu]
            return b"".join(self.kernel(e) for e in shuffled)
        r, out, at = random.Random(seed), [], [0, 0]
        buffers = [[e for e in events if e[1] == cpu] for cpu in (0, 1)]
        now = 0
        while at[0] < len(buffers[0]) or at[1] < len(buffers[1]):
            for cpu in (1, 0):
                now += r.randint(0, 9000)  # while one is read the other goes on
                while at[cpu] < len(buffers[cpu]) and buffers[cpu][at[cpu]][0] <= now:
                    out.append(self.kernel(buffers[cpu][at[cpu]]))
                    at[cpu] += 1
            out.append(self.record(ROUND, 0, b""))
        return b"".join(out)

    def pieces(self, data):
        """One stream of zstd, of blocks that are stored as they are, cut where records are not."""
        out, at, first = [], 0, True
        while at < len(data):
            piece = data[at:at + 1000]
            at += len(piece)
            block = struct.pack("<I", len(piece) << 3 | (at >= len(data)))[:3] + piece
            if first:
                block = b"\x28\xb5\x2f\xfd\x00\x38" + block
            first = False
            out.append(self.pack("IHH", COMPRESSED, 0, 8 + len(block)) + block)
        return b"".join(out)

    def string(self, text):
        octets = text.encode() + b"\0" * (8 - len(text) % 8)
        return self.pack("I", len(octets)) + octets

    def features(self):
        names = self.pack("II", 2, self.attr_size)
        for event, name in enumerate(("cpu-clock:u", "page-faults")):
            names += self.attr(event) + self.pack("I", 2) + self.string(name) + self.pack("QQ", *self.ids[event])
        known = self.record(67, KERNEL | 1 << 15, self.pack("I", 2**32 - 1) + bytes(range(100, 120)) +
                            self.pack("BBBB", 20, 0, 0, 0) + self.text("[kernel.kallsyms]"))
        return {**({2: known} if self.named else {}), 3: self.string("nowhere"), 4: self.string("6.0"),
                5: self.string("6.1"), 6: self.string("x86_64"),
                7: self.pack("II", 2, 4), 11: self.pack("I", 2) + self.string("perf") + self.string("record"), 12: names}

    def file(self, events, seed):
        data = self.records(events, seed)
        if self.named:  # where it lay, by a symbol
            data = self.record(MMAP, KERNEL, self.pack("IIQQQ", 2**32 - 1, 0, KERNEL_TEXT, 2**24, KERNEL_TEXT) +
                               self.text("[kernel.kallsyms]_text") + b"\0" * 40) + data
        if self.aux:  # a trace, which lies behind its record
            data = self.record(AUXTRACE, 0, self.pack("QQQIIII", self.aux, 0, 0, 0, 100, 0, 0)) + b"\7" * self.aux + data
        if self.compressed:
            data = self.pieces(data)
        magic = self.pack("Q", 0x32454c4946524550)
        if self.pipe:
            head = magic + self.pack("Q", 16)
            for event in (0, 1):
                head += self.record(ATTR, 0, self.attr(event) + self.pack("QQ", *self.ids[event]))
            for number, body in self.features().items():
                head += self.record(FEATURE, 0, self.pack("Q", number) + body)
            return head + data
        size = 72 if self.old_header else 104
        ids = b"".join(self.pack("QQ", *i) for i in self.ids)
        attrs = b"".join(self.attr(e) + self.pack("QQ", size + 16 * e, 16) for e in (0, 1))
        begin = size + len(ids) + len(attrs) + self.shift
        features = {} if self.old_header else self.features()
        end, sections, bodies = begin + len(data), b"", b""
        for number, body in sorted(features.items()):
            sections += self.pack("QQ", end + 16 * len(features) + len(bodies), len(body))
            bodies += body
        head = magic + self.pack("QQQQQQQQ", size, self.attr_size + 16, size + len(ids), len(attrs), begin, len(data), 0, 0)
        if not self.old_header:
            head += self.pack("QQQQ", sum(1 << n for n in features), 0, 0, 0)
        return head + ids + attrs + b"\0" * self.shift + data + sections + bodies


KINDS = {
    "plain": {}, "big-endian": {"order": ">"}, "pipe": {"pipe": True}, "big-endian-pipe": {"pipe": True, "order": ">"},
    "attr-64": {"attr_size": 64}, "attr-72": {"attr_size": 72}, "attr-96": {"attr_size": 96}, "attr-112": {"attr_size": 112},
    "attr-160": {"attr_size": 160}, "big-endian-attr-80": {"order": ">", "attr_size": 80}, "old-header": {"old_header": True},
    "no-rounds": {"rounds": False}, "compressed": {"compressed": True}, "compressed-pipe": {"compressed": True, "pipe": True},
    "big-endian-compressed": {"compressed": True, "order": ">"}, "unaligned": {"shift": 4},
    "big-endian-unaligned": {"shift": 3, "order": ">"}, "no-times": {"id_all": False, "rounds": False},
    "kernel": {"named": True}, "big-endian-kernel": {"named": True, "order": ">"},
    "traced": {"aux": 5000}, "big-endian-traced": {"aux": 5000, "order": ">"},
    "id-alone": {"type": TYPE & ~IDENTIFIER | ID}, "many-fields": {"type": 2**17 - 1},
    "build-ids-not-asked": {"asked": False}, "build-ids-leaked": {"asked": False, "leaked": True},
    "branches": {"type": TYPE | BRANCH, "branch_type": HW_INDEX},
    "big-endian-many-fields": {"type": 2**17 - 1, "order": ">"},
    "branch-records": {"type": TYPE | BRANCH, "branch_type": ANY | HW_INDEX},
    "big-endian-branch-records": {"type": TYPE | BRANCH, "branch_type": ANY, "order": ">"},
    "call-stacks": {"type": TYPE | BRANCH, "branch_type": CALL_STACK},
    "call-stacks-indexed": {"type": TYPE | BRANCH, "branch_type": CALL_STACK | HW_INDEX},
}


# ---- what must come of it -----------------------------------------------------------------------

def expect(events):
    """(event, tid, path) -> samples, where a path is ((image, address), ...) from the outermost; and losses."""
    spaces, paths, lost, runs = collections.defaultdict(list), collections.Counter(), [0, 0], collections.Counter()

    def find(pid, pc):
        for begin, end, offset, path in reversed(spaces[pid]):  # the latest lies over others
            if begin <= pc < end:
                return path, pc - begin + offset
        return None

    for _, _, kind, f in events:
        if kind == "map":
            spaces[f["pid"]].append((f["address"], f["address"] + f["length"], f["offset"], f["path"]))
        elif kind == "comm":
            spaces[f["pid"]] = []
        elif kind == "fork" and f["pid"] != f["ppid"]:
            spaces[f["pid"]] = list(spaces[f["ppid"]])
        elif kind == "lost":
            lost[f["event"]] += f["count"]
        elif kind == "sample":
            user = list(f["user"])
            if f["mode"] == USER and not user:
                user = [f["ip"]]
            places = [find(f["pid"], pc - (i > 0)) for i, pc in enumerate(user)]
            for i in range(1, len(places)):  # what is beyond no code is not true
                if places[i] is None:
                    places = places[:i]
                    break
            path = [p or ("[unknown]", 0) for p in reversed(places)]
            path += [("[kernel]", pc - (i > 0)) for i, pc in reversed(list(enumerate(f["kernel"])))]
            paths[f["event"], f["tid"], tuple(path)] += 1
            stack = branch_stack(f["user"])
            for (end, to, _), (_, begin, _) in zip(stack, stack[1:]):
                if place := find(f["pid"], begin):
                    runs[place, place[1] + end - begin, find(f["pid"], to) or ("[unknown]", 0)] += 1
    return paths, lost, runs


def dumped(text):
    images, threads, nodes, paths, lost, names = {0: "[unknown]"}, {}, {0: ()}, collections.Counter(), {}, {}
    runs = collections.Counter()
    for line in text.splitlines():
        if m := re.match(r'image (\d+) \S+ "([^"]*)"', line):
            images[int(m[1])] = m[2]
        elif m := re.match(r'metric (\d+) .*short "([^"]*)".* lost (\d+)', line):
            names[int(m[1])] = m[2]
            lost[m[2]] = int(m[3])
        elif m := re.match(r"thread (\d+) process \d+ tid (\d+)", line):
            threads[int(m[1])] = int(m[2])
        elif m := re.match(r"node (\d+) parent (\d+) image (\d+) address ([0-9a-f]+)", line):
            nodes[int(m[1])] = nodes[int(m[2])] + ((images[int(m[3])], int(m[4], 16)),)
        elif m := re.match(r"sample metric (\d+) thread (\d+) phase 0 node (\d+) count (\d+)", line):
            paths[("time", "pf").index(names[int(m[1])]), threads[int(m[2])], nodes[int(m[3])]] += int(m[4])
        elif m := re.match(r"branch image (\d+) begin (\S+) end (\S+) to_image (\d+) to (\S+) count (\d+)", line):
            runs[(images[int(m[1])], int(m[2], 16)), int(m[3], 16), (images[int(m[4])], int(m[5], 16))] += int(m[6])
    return paths, [lost.get("time", 0), lost.get("pf", 0)], runs


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what == "kinds":
        print(" ".join(KINDS))
    elif what == "write":
        seed, turns = (list(map(int, words[1:])) + [1, 400][len(words) - 1:])[:2]
        sys.stdout.buffer.write(Writer(**KINDS[words[0]]).file(story(seed, turns), seed))
    else:
        (want, lost, runs), (got, got_lost, got_runs) = expect(story(int(words[0]) if words else 1)), dumped(sys.stdin.read())
        for key in list((want - got).keys())[:5] + list((got - want).keys())[:5]:
            print(f"differs: {want[key]} expected, {got[key]} found: {key}")
        if lost != got_lost:
            print(f"lost: {lost} expected, {got_lost} found")
        for key in list((runs - got_runs).keys())[:5] + list((got_runs - runs).keys())[:5] if got_runs else []:
            print(f"branches differ: {runs[key]} expected, {got_runs[key]} found: {key}")
        print(f"{sum(want.values())} samples on {len(want)} paths")
        if got_runs:
            print(f"{sum(got_runs.values())} branches")
        sys.exit(got_runs and runs != got_runs or want != got or lost != got_lost or not want)


main()
