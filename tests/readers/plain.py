#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a file safe to show on a terminal?  plain.py FILE WORD: it is UTF-8 without a control character but newline and tab, without
characters that turn the direction of text or have no form, and contains the word.  A compressed file is decompressed, and then only
names in it are looked at: the rest is bytes of any value."""
import gzip
import re
import sys

path, word = sys.argv[1:3]
data = open(path, "rb").read()
if data[:2] == b"\x1f\x8b":
    data = b"\n".join(m for m in re.findall(rb"(?s).{0,20}evil.{0,60}", gzip.decompress(data)))
    bad = re.search(rb"\x1b\]|\x1b\[|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|evil[^ -~]", data)
else:
    text = data.decode("utf-8", "surrogateescape")
    bad = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text)
if bad:
    sys.exit("%s: a control character: %r" % (path, data[max(0, bad.start() - 40):bad.end() + 10]))
if word.encode() not in data:
    sys.exit("%s: no '%s'" % (path, word))
