#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cpio.py DIRECTORY OUTPUT: an initramfs archive (format newc) of the directory, owned by root, with the two devices
that a kernel wants before it has a /dev.  Needs no privileges; the same input gives the same bytes."""
import os
import stat
import sys


class Archive:
    def __init__(self, stream):
        self.stream = stream
        self.inode = 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.inode += 1
        path = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
        self.padded(b"070701" + b"".join(b"%08X" % f for f in fields) + path)
        self.padded(data)

    def padded(self, data):
        self.stream.write(data + b"\0" * (-len(data) % 4))


def main(directory, output):
    with open(output, "wb") as stream:
        archive = Archive(stream)
        for name in ("dev", "proc", "sys", "tmp"):
            if not os.path.isdir(os.path.join(directory, name)):
                archive.add(name, 0o40755)
        archive.add("dev/console", 0o20600, device=(5, 1))
        archive.add("dev/null", 0o20666, device=(1, 3))
        for parent, directories, files in os.walk(directory):
            directories.sort()
            links = [d for d in directories if os.path.islink(os.path.join(parent, d))]
            for name in directories:
                if name not in links:
                    archive.add(os.path.relpath(os.path.join(parent, name), directory), 0o40755)
            for name in sorted(files + links):
                path = os.path.join(parent, name)
                status = os.lstat(path)
                inside = os.path.relpath(path, directory)
                if stat.S_ISLNK(status.st_mode):
                    archive.add(inside, 0o120777, os.readlink(path).encode())
                elif stat.S_ISREG(status.st_mode):
                    with open(path, "rb") as file:
                        archive.add(inside, 0o100000 | (status.st_mode & 0o777), file.read())
        archive.add("TRAILER!!!", 0)


main(*sys.argv[1:3])
