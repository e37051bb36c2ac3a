#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts may rely on in JSON and CSV: formats.py rows REPORT JSON CSV, or formats.py records SCHEMA KEY JSON CSV.

Prints nothing where all is well."""
import csv
import json
import sys

LABELS = ("measured", "scaled", "model", "estimated")


def read_csv(path):
    lines = list(csv.reader(open(path, newline=""), strict=True))
    heading = lines[0]
    assert heading and len(set(heading)) == len(heading), f"columns of equal names: {heading}"
    for line in lines:
        assert len(line) == len(heading), f"{len(line)} cells under {len(heading)} names: {line}"
    return [dict(zip(heading, line)) for line in lines[1:]]


def quantity(cell):
    if cell is None:
        return
    assert cell["label"] in LABELS, cell
    if cell["low"] is not None and cell["high"] is not None and cell["value"] is not None:
        assert cell["low"] <= cell["value"] <= cell["high"], cell


def rows(report, json_path, csv_path):
    document = json.load(open(json_path))
    assert document["schema"] == "prof.rows/1" and document["report"] == report, document["report"]
    for x in document["experiments"]:
        assert x["label"] in LABELS, x
    columns = document["columns"]
    assert len(columns) == len(document["units"])
    plain = [r for r in document["rows"] if r.get("role") != "gap"]
    for row in plain:
        assert len(row.get("counts", [])) == len(columns) if columns else True, row
        for cell in row.get("counts", []):
            quantity(cell)
    lines = read_csv(csv_path)
    if "role" not in (lines[0] if lines else {}):
        assert not plain, "rows in JSON, none in CSV"
        assert document["summary"] and len(lines) > 3
        return
    assert plain or report in ("stalls", "why"), "there is no row"
    inner = [l for l in lines if l["role"] != "total"]
    assert len(inner) == len(plain), f"{len(inner)} rows in CSV, {len(plain)} in JSON"
    for line in lines:
        for name, value in line.items():
            if name.endswith(".label"):
                assert value in LABELS + ("",), line
                assert value or not line[name[:-6]], f"a number without label: {line}"


def records(schema, key, json_path, csv_path):
    document = json.load(open(json_path))
    assert document["schema"] == schema, document["schema"]
    records, lines = document[key], read_csv(csv_path)
    assert records, "no records"
    assert len(records) == len(lines), f"{len(lines)} in CSV, {len(records)} in JSON"
    for record, line in zip(records, lines):
        for name, value in record.items():
            if name not in line or isinstance(value, (list, dict)):
                continue
            text = line[name]
            if isinstance(value, bool):
                assert text == str(value).lower(), (name, text, value)
            elif isinstance(value, (int, float)):
                assert abs(float(text) - value) <= 1e-9 * abs(value), (name, text, value)
            else:
                assert text == (value or ""), (name, text, value)


{"rows": rows, "records": records}[sys.argv[1]](*sys.argv[2:])
