#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds forms of language that are banned in texts for users and in documents.

    tests/lint/english.py [FILE ...]

Without arguments: all documents, manual pages and C sources.  Of C sources string literals with a blank and comments
are read; of documents everything but examples (indented or fenced code, literal displays).  Each hit is one line,
"file:line: form: use this instead: text".  The exit status is 1 if there is any.
"""
import glob
import re
import sys

# pattern, what to write instead.  Exceptions are part of the pattern, with their reason behind them.
BANNED = [
    (r"behind", "after"),
    (r"(?:is|are|was|were) no (?!longer|more|\w+er )(?!error|samples)", "is not, or there is no"),
    (r"so (?:many|often|much)", "the number, or N times"),
    (r"tells?|told", "report, show or distinguish"),
    (r"who(?:ever|m)?", "that, or name the subject"),
    (r"nobody|somebody|anybody", "name the subject"),
    (r"dear|dearer|witness\w*|calm|kin|its like", "the field's term"),
    (r"(?:stand|stands|stood)(?! for)(?!ing)", "is, or comes"),  # "stands for" means "represents"
    (r"(?:one|line|row|file|word|number|samples|bytes) an? (?:line|row|file|block|process|thread|run|instruction|event|record|sample|"
     r"metric|time|entry|page|branch|function|option|term)", "per"),
    (r", that is,", "namely"),
    (r"the other way round", "the reverse"),
    (r"for ever|and the like|and so on and", "a precise term"),
    (r"is there, and", "exists and"),
    (r"there is none\b.*\bthere is none", "one statement"),
    (r"may stand|can stand|has to be one", "may appear"),
    (r"how (?:much|many) of that", "the share"),
    (r"what is to be|is to be (?:had|said|seen)", "a plain verb"),
    (r"goes its way|takes its place|by itself alone", "a plain verb"),
    (r"no (?:heading|kind of|change of)\b.*\bis no", "unknown"),
]
FORMS = [(re.compile(r"(?<![\w$-])(?:" + p + r")(?![\w-])", re.IGNORECASE), use) for p, use in BANNED]
# Names of rows of reports, which scripts may rely on.
KEPT = {"Fetch behind a jump", "bytes an instruction"}
# Forms that only comments had.
IN_COMMENTS = [(re.compile(r"(?<![\w$-])(?:" + p + r")(?![\w-])", re.IGNORECASE), use) for p, use in [
    (r"meets?", "reach, or contain"),
    (r"lies?", "is"),
    (r"believes?|forgets?", "a plain verb"),
    (r"yours to free", "to be freed by the caller"),
    (r"at hand", "current"),
]]
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|(?://[^\n]*\n[ \t]*)+', re.DOTALL)
NAMES = re.compile(r"`[^`\n]*`|\\f.|https?:\S+")  # code within prose


def strings(path, text):
    """Pairs of line and string literal; neighbours that the compiler joins are joined."""
    text = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    text = re.sub(r'"[ \t]*\n(?P<i>[ \t]*)"', "\x00", text)  # one literal over several lines
    line = 1
    for part in re.split(r"(\n)", text):
        if part == "\n":
            line += 1
            continue
        for m in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', part):
            if " " in m.group(1) and not part.lstrip().startswith("#"):
                yield line + part[: m.start()].count("\x00"), m.group(1).replace("\x00", "")
        line += part.count("\x00")


def comments(path, text):
    """Pairs of line and comment, each as one line."""
    for m in COMMENT_OR_STRING.finditer(text):
        if m.group().startswith("/"):
            words = NAMES.sub("", re.sub(r"\n[ \t]*(?:\*|//)", " ", m.group()))
            yield text.count("\n", 0, m.start()) + 1, " ".join(words.split())


def prose(path, text):
    """Pairs of line and text of a document, without its examples."""
    literal = fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if path.endswith(".md"):
            if line.startswith("```"):
                fenced = not fenced
            if fenced or line.startswith("    ") or line.startswith("<"):
                continue
        else:
            if line.startswith((".Bd -literal", ".Bd -unfilled")):
                literal = True
            if line.startswith(".Ed"):
                literal = False
            if literal or line.startswith(('.\\"', ".Dl", ".Xr", ".%", ".Fn", ".Ft", ".Fa", ".In")):
                continue
        yield number, NAMES.sub("", line)


def main():
    paths = sys.argv[1:] or sorted(
        glob.glob("README.md") + glob.glob("docs/*.md") + glob.glob("docs/man/*")
        + glob.glob("lib/**/*.[ch]", recursive=True) + glob.glob("perfex/*.[ch]") + glob.glob("prof/*.[ch]")
        + glob.glob("ssrun/*.[ch]"))
    bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        source = path.endswith((".c", ".h"))
        parts = [(strings if source else prose, FORMS)]
        if source:
            parts.append((comments, FORMS + IN_COMMENTS))
        for read, forms in parts:
            for number, words in read(path, text):
                for form, use in forms if words not in KEPT else []:
                    m = form.search(words)
                    if m and not m.group().isupper():  # that is a constant's name
                        bad += 1
                        around = words.strip()[max(0, m.start() - 60):m.end() + 60]
                        print(f"{path}:{number}: '{m.group()}': {use}: {around}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
