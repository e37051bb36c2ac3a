# SPDX-License-Identifier: GPL-2.0-or-later
"""What the measuring programs of tests/bench and tests/accuracy share: real programs with inputs of chosen lengths, and
ways to run them.

A Workbench makes the inputs in a directory of its own and gives command lines.  Inputs are the same each time, byte by
byte; lengths are in units of about 0.1 s of native user time on a processor of today."""
import json, os, random, resource, shutil, statistics, subprocess, sys, tempfile

ENVIRONMENT = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
# What the model, cachegrind and native runs are to see alike; a session's variables would move the stack.
BARE = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC",
        **{name: os.environ[name] for name in ("PERFEX_HOST",) if name in os.environ}}

LUA = """local n = %d
local t = {} for i = 1, 20000 do t[i] = (i * 7919) %% 10007 end
for r = 1, n do
  table.sort(t, function(a, b) return (a * 31 + r) %% 1009 < (b * 31 + r) %% 1009 end)
  local w, s = {}, 0
  for i = 1, 20000 do w["k" .. t[i] %% 997] = i end
  for i = 1, 60000 do s = (s * 31 + i) %% 65537 end
end print(t[99])"""
SQL = """create table t(a integer primary key, b text, c integer);
with recursive n(x) as (select 1 union all select x+1 from n where x<%d)
insert into t select x, hex(x*7919)||x, x*7919%%1000 from n;
select count(*), sum(length(b)) from t where b like '%%9A%%'; create index i on t(b);
select c, count(*), max(b) from t group by c order by 2 desc, 1 limit 5;
select count(*) from t x join t y on y.b = x.b where x.c < 500;"""
PYTHON = """n = %d
d = {}
for i in range(n):
    k = (i * 7919) %% 10007
    d[k] = d.get(k, 0) + i
s = sorted(d.items(), key=lambda p: (p[1] * 31) %% 1009)
t = ' '.join(str(a) for a, b in s)
print(len(t), sum(len(w) for w in t.split()), hash(tuple(range(100))))"""


def cc1():
    """gcc's compiler proper: the driver would fork."""
    path = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else None


class Workbench:
    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.directory = tempfile.mkdtemp(prefix="perfex-measure.")
        self.perfex = f"{self.build}/bin/perfex"
        self.later = None  # inputs that are not yet made: path -> how

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def program(self, name):
        return f"{self.build}/tests/programs/{name}"

    def file(self, name, write):
        path = self.path(name)
        if self.later is not None:
            self.later[path] = write
        elif not os.path.exists(path):
            with open(path, "w") as f:
                write(f)
        return path

    def make_inputs(self, words):
        """Those of the later ones that words name."""
        later, self.later = self.later, None
        for path, write in later.items():
            if any(path in word for word in words):
                self.file(os.path.basename(path), write)

    def text(self, lines):
        """Lines of words, as random as prose is."""
        def write(f):
            r = random.Random(7)
            words = ["".join(r.choice("etaoinshrdlucm") for _ in range(r.randint(2, 9))) for _ in range(700)]
            for i in range(lines):
                n = r.randint(4, 12)
                f.write(f"{r.randint(0, 9999)} " + " ".join(words[int(r.random() ** 2 * 700)] for _ in range(n)) + "\n")
        return self.file(f"text.{lines}", write)

    def source(self, functions):
        """A C program of so many functions."""
        def write(f):
            r = random.Random(11)
            f.write("extern int printf(const char *, ...);\nstruct s { int a, b; double d; struct s *next; };\n")
            for i in range(functions):
                f.write(f"static int f{i}(struct s *p, int n)\n{{\n\tint x = n, y = {r.randint(1, 99)};\n")
                f.write(f"\tfor (int i = 0; i < n; i++) {{\n\t\tif (p[i].a % {r.randint(2, 9)} == 0) x += p[i].b * {r.randint(2, 99)};\n")
                f.write(f"\t\telse {{ y ^= x >> {r.randint(1, 7)}; p[i].d = p[i].d * {r.random():.3f} + y; }}\n")
                f.write("\t\tswitch (x & 7) { " + " ".join(f"case {k}: y += x * {r.randint(1, 999)}; break;" for k in range(r.randint(3, 7))) + " }\n\t}\n")
                call = f"f{r.randrange(i)}(p, n - 1)" if i else "0"
                f.write(f"\treturn n > 0 ? x + y + {call} : y;\n}}\n")
            f.write("int (*const all[])(struct s *, int) = {" + ", ".join(f"f{i}" for i in range(functions)) + "};\n")
        return self.file(f"source.{functions}.c", write)

    def commands(self, length):
        """Real programs: name -> words, each about `length` tenths of a second natively.  A program that is not
        installed is named with None."""
        n = lambda per_unit: max(1, int(per_unit * length))
        compiler = cc1()
        rows = {
            "gzip": ["gzip", "-6", "-c", self.text(n(42000))],
            "xz": ["xz", "-2", "-T1", "-c", self.text(n(11000))],
            "bzip2": ["bzip2", "-9", "-c", self.text(n(26000))],
            "sqlite3": ["sqlite3", ":memory:", SQL % n(65000)],
            "lua5.4": ["lua5.4", "-e", LUA % n(5)],
            "sort": ["sort", "--parallel=1", "-k2,2", "-k1,1n", self.text(n(170000))],
            "awk": ["awk", "{ s += NF; for (i = 1; i <= NF; i++) n[$i]++ } END { print s, length(n) }", self.text(n(105000))],
            "cc1": [compiler, "-quiet", "-O1", self.source(n(19)), "-o", os.devnull],
            "stencil": [self.program("stencil"), "512", str(n(1700))],
            "python3": [os.path.realpath(sys.executable), "-S", "-E", "-c", PYTHON % n(480000)],
        }
        return {name: words if words[0] and (os.path.exists(words[0]) or shutil.which(words[0])) else None for name, words in rows.items()}


class Outcome:
    """How a command ended: status, seconds at user level and in all, and the largest resident set, its children's
    included."""

    def __init__(self, status, user, total, rss):
        self.status, self.user, self.total, self.rss = status, user, total, rss


def run(words, environment=ENVIRONMENT, cwd=None, stderr=subprocess.DEVNULL):
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr, env=environment, cwd=cwd)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Outcome(child.returncode, usage.ru_utime, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def least_user(outcomes, speeds=None):
    """User seconds of the least disturbed run; speeds: the clock beside each run, as a share of the one at which seconds are
    wanted.  A kernel that accounts by ticks divides the time of one short run badly between user and system level, but not that
    of all of them."""
    total = sum(r.total for r in outcomes)
    least = min(r.total * speed for r, speed in zip(outcomes, speeds or [1] * len(outcomes)))
    return least * (sum(r.user for r in outcomes) / total if total else 1)


def clock_and_rest(bench):
    """Of the processor, in Hz, by a chain of additions; and cycles of an instruction without effect, which takes longer where
    another thread runs on the core."""
    hz, rest = subprocess.run([bench.program("kernels"), "-clock"], capture_output=True, text=True, check=True).stdout.split()
    return float(hz), float(rest)


CONFIRMED = 3  # readings within 3% of a reference at its best


def at_best(readings):
    """The least of these readings of a reference that others confirm: one during which the clock changes can be much too small."""
    readings = sorted(readings)
    return next((r for r, more in zip(readings, readings[CONFIRMED:]) if more <= 1.03 * r), readings[-1])


def clock_now(bench):
    return clock_and_rest(bench)[0]


def supported(bench, options):
    """None, or why the command does not take these options."""
    r = subprocess.run([bench.perfex, "-q", "-o", os.devnull, *options, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=bench.directory)
    if r.returncode == 0:
        return None
    return (r.stderr.strip().split("\n") or ["no reason given"])[0]


def counts(bench, words, *options, environment=BARE):
    """perfex's report of a run under the model, as JSON.  The command may end with status 1, as diff does."""
    descriptor, path = tempfile.mkstemp(dir=bench.directory, prefix="report.")
    os.close(descriptor)
    done = subprocess.run([bench.perfex, "-q", "-json", "-o", path, "-source", "model", *options, "--", *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, env=environment, cwd=bench.directory)
    if done.returncode not in (0, 1):
        done.check_returncode()
    with open(path) as f:
        report = json.load(f)
    os.unlink(path)
    return report


def values(report):
    return {e["number"]: e["count"]["value"] for e in report["events"]}


def geometric_mean(numbers):
    return statistics.geometric_mean(numbers) if numbers else float("nan")
