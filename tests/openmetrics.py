#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads metrics from standard input with the parser of Prometheus's client library (python3-prometheus-client), strictly.

usage: openmetrics.py [FAMILY]

Prints a line for each sample (of FAMILY): its name, labels in order of their names, and value. Status 1: they are malformed.
"""
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

wanted = sys.argv[1:]
try:
    families = list(text_string_to_metric_families(sys.stdin.read()))
except ValueError as error:
    sys.exit(f"not OpenMetrics: {error}")
for family in families:
    for sample in family.samples:
        if not wanted or family.name in wanted:
            print(sample.name, *(f"{k}={v}" for k, v in sorted(sample.labels.items())), f"{sample.value:.15g}")
