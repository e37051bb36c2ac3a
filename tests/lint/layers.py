#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks lib against lib/LAYERS, by includes and by the symbols of objects.

usage: layers.py includes|symbols|unused|circles SOURCES OBJECTS [KNOWN]

SOURCES is a directory with lib/LAYERS and lib/MODULE/*.[ch], OBJECTS one with lib/MODULE/*.o (those of
files that are gone do not count).  Prints a line for each thing that is wrong, nothing where all is well:
  includes   a module includes what it has no right to
  symbols    likewise, of functions and data that objects use
  unused     rights that neither includes nor symbols use
  circles    files of one module that need each other, but for those that a line of the file KNOWN has
"""
import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys

# Includes that need no right: bare enumerations.
FREE = {"events/numbers.h"}


def read_layers(sources):
    layers = {}
    for line in open(f"{sources}/lib/LAYERS"):
        if not line.startswith("#") and ":" in line:
            module, rights = line.split(":")
            layers[module] = rights.split()
    return layers


def includes(sources):
    """(module, included path, file) for each include of another module."""
    for path in sorted(glob.glob(f"{sources}/lib/*/*.[ch]")):
        module = path.split("/")[-2]
        for header in re.findall(r'^#include "([a-z]+/[^"]+)"', open(path).read(), re.M):
            if header.split("/")[0] != module and header not in FREE:
                yield module, header, path[len(sources) + 1:]


def symbols(sources, objects):
    """(object, object that it takes a symbol from, the symbol); objects as "module/file.o"."""
    home, wanted = {}, set()
    paths = [path for path in glob.glob(f"{objects}/**/lib/*/*.o", recursive=True)
             if glob.glob(f"{sources}/lib/" + "/".join(path.split("/")[-2:])[:-1] + "[cS]")]
    if not paths:
        sys.exit(f"no objects in {objects}/lib")
    nm = subprocess.run(["nm", "-A", "-P", "-g", *paths], capture_output=True, text=True, check=True)
    for line in nm.stdout.splitlines():
        path, symbol = line.split(": ", 1)
        name, kind = symbol.split()[:2]
        if kind == "U":
            wanted.add(("/".join(path.split("/")[-2:]), name))
        else:
            home[name] = "/".join(path.split("/")[-2:])
    for user, name in sorted(wanted):
        if home.get(name, user) != user:
            yield user, home[name], name


def circles(edges):
    """Groups of nodes that can all reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found)


def known_circles(path):
    """Sets of patterns of objects: a line each, up to '#', which says why."""
    lines = [line.split("#")[0].split() for line in open(path)] if path else []
    return [line for line in lines if line]


def wrong_circles(uses, known):
    edges = collections.defaultdict(set)
    for user, home, _ in uses:
        if os.path.dirname(user) == os.path.dirname(home):
            edges[user].add(home)
            edges[home].update()
    for group in circles(edges):
        if not any(all(any(fnmatch.fnmatch(name, pattern) for pattern in patterns) for name in group)
                   for patterns in known):
            yield "circle: " + " ".join(group)
            for user, home, name in uses:
                if user in group and home in group:
                    yield f"    {user} uses {name} of {home}"


def check(what, sources, objects, known=None):
    layers = read_layers(sources)
    allowed = {(module, right) for module in layers for right in [module, *layers[module]]}
    included = [(module, header.split("/")[0], header, path) for module, header, path in includes(sources)]
    if what == "includes":
        return [f"{path}: {module} must not include {header}" for module, other, header, path in included
                if other in layers and (module, other) not in allowed]
    uses = [(*use, use[0].split("/")[0], use[1].split("/")[0]) for use in symbols(sources, objects)]
    if what == "symbols":
        return [f"{user}: {module} must not use {name} of {home}" for user, home, name, module, other in uses
                if (module, other) not in allowed]
    if what == "unused":
        used = {use[:2] for use in included} | {use[3:] for use in uses}
        return [f"{module} does not use {right}" for module in layers for right in layers[module]
                if (module, right) not in used]
    return wrong_circles([use[:3] for use in uses], known_circles(known))


for wrong in check(*sys.argv[1:]):
    print(wrong)
