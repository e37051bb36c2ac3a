# SPDX-License-Identifier: GPL-2.0-or-later
"""What the programs of this directory share that hold executions that prof estimates against exact counts: real programs, how
they are recorded, and how far estimates are off."""
import json, os, random, shutil, subprocess, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import measure

# Constants were chosen on the first; the others were held out of that.
PROGRAMS = ["gzip", "bzip2", "xz", "lua5.4", "sqlite3", "awk", "sort", "python3", "cc1", "stencil"]
HELD_OUT = ["perl", "zstd", "sed", "m4", "as", "objdump", "tclsh", "gnuplot", "jq", "sha256sum", "openssl", "grep", "bc", "md5",
            "sha512", "mawk", "git"]
# The C library then chooses the same string functions for the processor as for the one that Valgrind shows.
LIKE_VALGRIND = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-RTM,-Prefer_No_VZEROUPPER"


class Row:
    """A block or an edge: its weight in shares (samples; executions), count and estimate; how far up the interval of that goes, as
    a factor (NaN: not known), and its scatter by branch records (0: none were there)."""

    def __init__(self, weight, insns, count, estimate, confidence, width=float("nan"), scatter=0.0):
        self.weight, self.insns, self.count, self.estimate, self.confidence = weight, insns, count, estimate, confidence
        self.width, self.scatter = width, scatter


def check_kept(bench, path, words, runs):
    """A kept recording must be of the same work: the command and its inputs, by their sizes, stand beside it."""
    own = [[w.replace(bench.directory, "."), os.path.getsize(w) if os.path.isfile(w) else 0] for w in words] + [runs]
    beside = f"{path}.of"
    if not os.path.exists(path):
        with open(beside, "w", encoding="utf-8") as f:
            json.dump(own, f)
        return
    kept = None
    if os.path.exists(beside):
        with open(beside, encoding="utf-8") as f:
            kept = json.load(f)
    if kept != own:
        sys.exit(f"{path} is not known to be of the same work: remove it, or keep recordings elsewhere")


def recorded(bench, experiment, words, keep, name, number=0, runs=1):
    """The experiment file of a run, or of several in one; with -keep, that of an earlier one."""
    path = os.path.join(keep or bench.directory, f"{name}.{experiment}.{number}")
    if keep:
        check_kept(bench, path, words, runs)
    if not os.path.exists(path):
        part = f"{path}.part"  # of a run that was killed, or is not over: what it has counted so far is not the truth
        done = subprocess.run([f"{bench.build}/bin/ssrun", f"-{experiment}", "-runs", str(runs), "-q", "-o", part, *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                              cwd=bench.directory, env={**os.environ, "GLIBC_TUNABLES": LIKE_VALGRIND, "PERL_HASH_SEED": "0"})
        if done.returncode < 0 or done.returncode > 128:
            sys.exit(f"ssrun -{experiment} of {name} was ended by a signal")
        if os.path.exists(part):
            os.rename(part, path)
    if not os.path.exists(path):
        sys.exit(f"ssrun -{experiment} of {name} wrote nothing")
    return path


def number(word):
    return 0.0 if word == "-" else float(word)


def rows_of(bench, files, *options):
    """Blocks, and edges, of all procedures that have samples."""
    tool = os.path.join(bench.build, "tests/tools/frequencies")
    out = subprocess.run([tool, *options, *files], capture_output=True, text=True, check=True,
                         env={**os.environ, "PERFEX_DATA": f"{bench.build}/share/perfex"}).stdout
    blocks, edges = [], []
    for line in out.splitlines():
        w = line.split()
        if w[0] == "block":
            blocks.append(Row(float(w[7]), int(w[3]), number(w[11]), number(w[9]), w[10], float("nan") if w[12] == "-" else float(w[12]), float(w[13])))
        elif w[0] == "edge":
            edges.append(Row(number(w[7]), 0, number(w[7]), number(w[5]), w[6], scatter=float(w[8])))
    if blocks and not any(r.count for r in blocks):
        sys.exit(f"{' '.join(files)}: no block with samples has counts: record both again, of the same files")
    return blocks, edges


def within(rows, limit, scale=1):
    """Share of the weight that is that near."""
    total = sum(r.weight for r in rows)
    return sum(r.weight for r in rows if r.count and abs(r.estimate * scale / r.count - 1) <= limit) / total if total else 0


def overlap(rows):
    exact, guess = sum(r.count for r in rows), sum(r.estimate for r in rows)
    return sum(min(r.count / exact, r.estimate / guess) for r in rows) if exact and guess else 0


def scale_of(rows):
    made = sum(r.estimate * r.insns for r in rows)
    return sum(r.count * r.insns for r in rows) / made if made else 0


def commands(bench, length, names=None):
    """All programs: name -> words, None where it is not installed.  Only the inputs of those named are made, if any are: all take
    minutes."""
    bench.later = {} if names else None
    rows = {**bench.commands(length), **held_out(bench, length)}
    if names:
        bench.make_inputs([word for name in names for word in rows.get(name) or []])
    return rows


def held_out(bench, length):
    """Other programs, as long as those of measure.py."""
    n = lambda per_unit: max(1, int(per_unit * length))
    numbers = lambda: random.Random(3)

    def assembly(f):
        r, regs = numbers(), ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9"]
        for i in range(n(20000)):
            f.write(f"l{i}: add ${r.randint(1, 999)}, %{r.choice(regs)}\n mov {r.randint(0, 99)}(%{r.choice(regs)}), %{r.choice(regs)}\n"
                    f" jne l{r.randint(max(0, i - 50), i)}\n")

    def objects(f):
        r = numbers()
        json.dump([{"id": i, "n": r.random(), "w": ["x" * r.randint(1, 9)] * r.randint(1, 9)} for i in range(n(9000))], f)

    def changed(f):
        r = numbers()
        with open(bench.text(n(45000)), encoding="utf-8") as text:
            f.writelines(line.replace("e", "ee", 1) if r.random() < .5 else line for line in text)

    perl = ("my %h; open F, '<', $ARGV[0]; while (<F>) { for my $w (split) { $h{$w}++; } $n++ if /(\\d+) .*ing/ } "
            f"for my $i (1..{n(1800000)}) {{ $s = ($s * 31 + $i) % 65537 }} print scalar(keys %h), $s")
    tcl = ("proc f {n} { if {$n < 2} {return $n}; return [expr {[f [expr {$n-1}]] + [f [expr {$n-2}]]}] }\n"
           f"for {{set i 0}} {{$i < {n(8)}}} {{incr i}} {{f 21}}\nset l {{}}\n"
           f"for {{set i 0}} {{$i < {n(36000)}}} {{incr i}} {{lappend l [expr {{$i * 7919 % 10007}}]}}\nputs [llength [lsort -integer $l]]\n")
    m4 = "define(`f',`ifelse($1,0,0,`eval($1*$1%7+1) f(decr($1))')')\n" + "f(900)\n" * n(120)
    plot = ("set terminal svg\nset samples 400\nset isosamples 60\nset output '/dev/null'\n"
            f"do for [k=1:{n(3)}] {{ splot sin(x*k)*cos(y)+exp(-x*x) }}\n")
    rows = {
        "perl": ["perl", "-e", perl, bench.text(n(9000))],
        "zstd": ["zstd", "-15", "-c", "--single-thread", bench.text(n(6000))],
        "sed": ["sed", "-E", "s/([a-z]+) ([a-z]+)/\\2 \\1/g;s/e+t/X/g", bench.text(n(14000))],
        "m4": ["m4", "-L0", bench.file("held.m4", lambda f: f.write(m4))],
        "as": ["as", bench.file("held.s", assembly), "-o", os.devnull],
        "objdump": ["objdump", "-d", f"--stop-address={n(0x28000)}"] + 4 * ["/usr/bin/perl"],
        "tclsh": ["tclsh", bench.file("held.tcl", lambda f: f.write(tcl))],
        "gnuplot": ["gnuplot", bench.file("held.gnuplot", lambda f: f.write(plot))],
        "jq": ["jq", "-c", "[.[]|select(.n>.2)|{i:.id,w:(.w|map(length)|add)}]|group_by(.w)|map(length)", bench.file("held.json", objects)],
        "sha256sum": ["sha256sum"] + 12 * [bench.text(n(42000))],
        "openssl": ["openssl", "enc", "-camellia-256-ctr", "-K", "11" * 32, "-iv", "22" * 16, "-in", bench.text(n(170000)), "-out", os.devnull],
        "grep": ["grep", "-cE", "([a-z]{3})\\1\\1", bench.text(n(45000))],
        "bc": ["bc", "-l", bench.file("held.bc", lambda f: f.write(f"scale={n(55)}\n4*a(1)\ne(1.5)\nfor (i=0;i<{n(4000)};i++) s+=i^3%7\ns\n"))],
    }
    rows |= {
        "md5": ["openssl", "dgst", "-md5"] + 24 * [bench.text(n(42000))],
        "sha512": ["openssl", "dgst", "-sha512"] + 20 * [bench.text(n(42000))],
        "mawk": ["mawk", "{ s += NF; for (i = 1; i <= NF; i++) n[$i]++ } END { print s, length(n) }", bench.text(n(120000))],
        "git": ["git", "diff", "--no-index", "--word-diff", bench.text(n(45000)), bench.file("held.changed", changed)],
    }
    return {name: words if shutil.which(words[0]) else None for name, words in rows.items()}
