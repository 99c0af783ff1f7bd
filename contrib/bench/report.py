#!/usr/bin/env python3
"""The table of a run, on stdout, and the same as JSON.

usage: report.py JSON <LINES

A line has a figure, a unit, a candidate and a value ("-" if it failed), with
tabs between them; or "#", a word and what the machine has of it.
"""
import json
import re
import sys

FAR = re.compile(r"^(\d+) ms away: (.*)")


def read(file):
    """The machine, and the figures in their order."""
    machine, figures = {}, []
    for line in file:
        words = line.rstrip("\n").split("\t")
        if words[0] == "#":
            if words[2]:
                machine[words[1]] = words[2]
            continue
        name, unit, candidate, value = words
        figures.append({
            "figure": name, "unit": unit, "candidate": candidate,
            "value": None if value == "-" else float(value)})
    return machine, figures


def number(value):
    """Three or four digits that count."""
    if value is None:
        return "-"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.1f} M"
    for least, digits in (100, 0), (10, 1), (1, 2):
        if abs(value) >= least:
            return f"{value:,.{digits}f}"
    return f"{value:.3f}"


def cell(figure):
    """Over a long line the round trips are told, too."""
    far = FAR.match(figure["figure"])
    text = number(figure["value"])
    if far and figure["value"] is not None:
        text += f" ({figure['value'] / float(far[1]):.1f})"
    return text


def tables(figures):
    """The loopback, and each long line: a title and its figures."""
    found = {}
    for figure in figures:
        far = FAR.match(figure["figure"])
        title = f"{far[1]} ms away (in round trips)" if far else "on loopback"
        found.setdefault(title, []).append(figure)
    return found.items()


def show(title, figures):
    rows, candidates = {}, []
    for figure in figures:
        name = FAR.sub(r"\2", figure["figure"])
        if figure["candidate"] not in candidates:
            candidates.append(figure["candidate"])
        row = rows.setdefault((name, figure["unit"]), {})
        row[figure["candidate"]] = cell(figure)
    left = max(len(name) for name, _ in rows) + 6
    wide = max([13] + [len(text) + 2 for row in rows.values()
                       for text in row.values()])
    print(f"{title:{left}}" + "".join(f"{name:>{wide}}" for name in candidates))
    for (name, unit), row in rows.items():
        print(f"{name:{left - 5}}{unit:>5}" + "".join(
            f"{row.get(candidate, ''):>{wide}}" for candidate in candidates))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: report.py JSON <LINES")
    machine, figures = read(sys.stdin)
    for number_of, (title, part) in enumerate(tables(figures)):
        if number_of > 0:
            print()
        show(title, part)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write('{"machine": ' + json.dumps(machine, indent=1))
        file.write(',\n"figures": [\n')
        file.write(",\n".join(json.dumps(figure) for figure in figures))
        file.write("\n]}\n")


if __name__ == "__main__":
    main()
