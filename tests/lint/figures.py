#!/usr/bin/env python3
"""The figures in README's comparison are those of the last run of the benchmark
(doc/figures), rounded. Prints each row that is not, as it should be.

usage: figures.py [TREE]
"""
import json
import os
import re
import sys

# each row of README, and the figure of contrib/bench that it tells
ROWS = {
    "time to tool list":
        "80 ms away: spawn to the answer to tools/list",
    "a call": "80 ms away: a call, warm",
    "a call after 20 s of silence": "80 ms away: a call after 20 s of silence",
    "ten calls at once, the first time":
        "80 ms away: 10 calls at once, the first time",
    "first call after a lost session (404)":
        "80 ms away: a call that finds its session lost",
    "shutdown": "80 ms away: EOF to exit",
    "CPU time of 10,000 calls, on loopback":
        "10,000 calls, 64 in flight: CPU",
    "memory of an idle process": "idle RSS",
}


def table(readme):
    """The heading and the rows of the comparison, as lists of cells."""
    text = readme.split("Compared with mcp-remote\n", 1)[1]
    lines = text[text.index(" mcpsplice "):].split("\n\n", 1)[0].split("\n")
    return [re.split(r"\s{2,}", line.strip()) for line in lines]


def rounded(value, digits, unit):
    return "-" if value is None else f"{value:.{digits}f} {unit}"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    tree = (sys.argv[1:] or [os.path.join(here, "..", "..")])[0]
    with open(os.path.join(tree, "README"), encoding="utf-8") as file:
        heading, *rows = table(file.read())
    with open(os.path.join(tree, "doc", "figures", "figures.json"),
              encoding="utf-8") as file:
        run = json.load(file)
    figures = {(one["figure"], one["candidate"]): (one["value"], one["unit"])
               for one in run["figures"]}
    wrong = 0
    want = ["mcpsplice", "mcp-remote " + run["machine"]["mcp-remote"]]
    if heading != want:
        wrong += 1
        print("README: the heading should be:", "  ".join(want))
    for name, *cells in rows:
        if name not in ROWS:
            if any(cell[0].isdigit() for cell in cells):
                wrong += 1
                print(f"README: \"{name}\": from which figure? (see ROWS)")
            continue
        digits = len((cells[0].split()[0] + ".").split(".")[1])
        want = [rounded(figures[ROWS[name], candidate][0], digits,
                        figures[ROWS[name], candidate][1])
                for candidate in ("mcpsplice", "mcp-remote")]
        if cells != want:
            wrong += 1
            print(f"README: should be:\n{name:42}{want[0]:16}{want[1]}")
    if not set(ROWS) <= {row[0] for row in rows}:
        wrong += 1
        print("README: a row is missing, or it is named otherwise in ROWS")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
