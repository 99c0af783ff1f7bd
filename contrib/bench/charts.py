#!/usr/bin/env python3
"""The charts of a run, from the JSON of report.py.

usage: charts.py JSON FOLDER

Writes memory.svg, start.svg, latency.svg, cpu.svg and far.svg. A candidate
without a figure is left out of its chart; bars say if it failed. The charts have a background
of their own and follow the reader's choice of light or dark.
"""
import html
import json
import math
import os
import sys

WIDTH = 720
MARGIN = 24
TOP = 72  # below the title
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 16px }
.small { font-size: 12px; fill: #57606a }
.strong { font-weight: 600 }
.card { fill: #ffffff; stroke: #d0d7de }
.grid { stroke: #d8dee4 }
.own { fill: #0969da; stroke: #0969da }
.floor { fill: #8c959f; stroke: #8c959f }
.other { fill: #bc4c00; stroke: #bc4c00 }
path { fill: none !important; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9198a1 }
.card { fill: #0d1117; stroke: #3d444d }
.grid { stroke: #2a313c }
.own { fill: #4493f8; stroke: #4493f8 }
.floor { fill: #848d97; stroke: #848d97 }
.other { fill: #f0883e; stroke: #f0883e }
}
"""
NAMES = {
    "forwarder": "bare forwarder", "pipe": "bare pipe",
    "static": "mcpsplice, static", "nginx": "nginx",
}
PIPES = "mcpsplice", "static", "pipe", "forwarder", "mcp-remote", "supergateway"
ALL = *PIPES[:4], "nginx", *PIPES[4:]
LEVELS = 1, 8, 64, 512
DASHES = {"static": "6 4", "pipe": "6 4", "nginx": "2 3", "supergateway": "6 4"}


def kind(candidate):
    """The colour: this program, what is possible, or other programs."""
    if candidate in ("mcpsplice", "static"):
        return "own"
    return "other" if candidate in ("mcp-remote", "supergateway") else "floor"


def short(value, unit):
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f} {unit}".rstrip()


class Chart:
    """A card with a title, which grows downwards."""

    def __init__(self, title, note):
        self.parts, self.y = [], 0
        self.text(MARGIN, 36, title, "title")
        self.text(MARGIN, 56, note, "small")
        self.y = TOP

    def text(self, x, y, text, style="", anchor="start"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" '
            f'text-anchor="{anchor}">{html.escape(text)}</text>')

    def line(self, x1, y1, x2, y2, style="grid"):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                          f'y2="{y2:.1f}" class="{style}"/>')

    def bar(self, x, y, width, height, style):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1.5):.1f}" '
            f'height="{height}" rx="2" class="{style}"/>')

    def dot(self, x, y, style, hollow=False):
        extra = ' fill-opacity="0" stroke-width="2"' if hollow else ""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" '
                          f'class="{style}"{extra}/>')

    def curve(self, points, style, dash):
        path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<path d="{path}" class="{style}"'
                          + (f' stroke-dasharray="{dash}"' if dash else "")
                          + "/>")

    def write(self, file):
        height = self.y + MARGIN - 8
        with open(file, "w", encoding="utf-8") as out:
            out.write(
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
                f'height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}">\n'
                f"<style>{STYLE}</style>\n"
                f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" '
                f'height="{height - 1:.0f}" rx="8" class="card"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


class Figures:
    def __init__(self, file):
        with open(file, encoding="utf-8") as source:
            self.all = json.load(source)["figures"]

    def of(self, name, candidates):
        """(candidate, value) of those that have it; None if it failed."""
        found = {figure["candidate"]: figure["value"] for figure in self.all
                 if figure["figure"] == name}
        return [(one, found[one]) for one in candidates if one in found]

    def round_trip(self):
        """Of the long lines, that of 80 ms, or the last; None without one."""
        found = [figure["figure"].split(" ms away: ")[0]
                 for figure in self.all if " ms away: " in figure["figure"]]
        return "80" if "80" in found else found[-1] if found else None


def label(chart, candidate, y):
    chart.text(MARGIN + 136, y, NAMES.get(candidate, candidate),
               "strong" if kind(candidate) == "own" else "", "end")


def most_of(*groups):
    return max((value for rows in groups for _, value in rows
                if value is not None), default=0)


def bars(chart, heading, rows, unit, most):
    """Horizontal bars, from 0 to that value; each says its own."""
    if not rows or not most:
        return
    left, right = MARGIN + 148, WIDTH - MARGIN - 76
    chart.text(MARGIN, chart.y + 14, heading, "strong")
    chart.y += 26
    for candidate, value in rows:
        label(chart, candidate, chart.y + 13)
        if value is None:
            chart.text(left, chart.y + 13, "fails", "small")
        else:
            width = (right - left) * value / most
            chart.bar(left, chart.y + 1, width, 16, kind(candidate))
            chart.text(left + width + 8, chart.y + 13, short(value, unit))
        chart.y += 22
    chart.y += 12


def scale(low, high, start, end):
    """A logarithmic scale of whole powers of ten, and its marks."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))

    def place(value):
        part = (math.log10(value) - first) / (last - first)
        return start + (end - start) * part
    return place, [10 ** power for power in range(first, last + 1)]


def memory(figures):
    chart = Chart("Memory of an idle process",
                  "One second after a start and one call")
    rss, pss = (figures.of(f"idle {which}", PIPES) for which in ("RSS", "PSS"))
    most = most_of(rss, pss)
    bars(chart, "RSS: all pages that it has in memory", rss, "MiB", most)
    bars(chart, "PSS: what it shares with other processes counts in part",
         pss, "MiB", most)
    return chart


def start(figures):
    chart = Chart("Start", "From the spawn to the answer to initialize, with "
                  "a server on the same machine")
    http, https, twenty = (figures.of(name, PIPES) for name in (
        "start", "start, https", "20 starts at once"))
    most = most_of(http, https)
    bars(chart, "One process, http", http, "ms", most)
    bars(chart, "One process, https", https, "ms", most)
    bars(chart, "Twenty at once, until the last has answered", twenty, "ms",
         most_of(twenty))
    return chart


def latency(figures):
    """From p50 to p99 on a logarithmic scale."""
    chart = Chart("Time added to a call",
                  "Microseconds, one call after another, JSON, on loopback. "
                  "Dot: the smallest median; ring: p99.")
    names = [f"added to a call, JSON: {which}" for which in ("p50", "p99")]
    low, high = (dict(figures.of(name, ALL)) for name in names)
    rows = [(one, low[one], high[one]) for one in ALL
            if 0 < (low.get(one) or 0) < (high.get(one) or 0)]
    if not rows:
        return None
    left, right = MARGIN + 160, WIDTH - MARGIN - 70
    place, marks = scale(min(row[1] for row in rows),
                         max(row[2] for row in rows), left, right)
    bottom = chart.y + 26 * len(rows)
    for mark in marks:
        chart.line(place(mark), chart.y, place(mark), bottom)
        text = f"{mark:g} µs" if mark < 1000 else f"{mark / 1000:g} ms"
        chart.text(place(mark), bottom + 18, text, "small", "middle")
    for candidate, p50, p99 in rows:
        y = chart.y + 13
        label(chart, candidate, y + 4)
        chart.line(place(p50), y, place(p99), y, kind(candidate))
        chart.dot(place(p50), y, kind(candidate))
        chart.dot(place(p99), y, kind(candidate), hollow=True)
        chart.text(place(p50) - 10, y + 4, short(p50, ""), "small", "end")
        chart.text(place(p99) + 10, y + 4, short(p99, ""), "small")
        chart.y += 26
    chart.y += 28
    return chart


def spread(wanted, least):
    """Moves places apart, in their order, so that labels do not overlap."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = list(wanted)
    for _ in range(200):
        for above, below in zip(order, order[1:]):
            lack = least - (placed[below] - placed[above])
            if lack > 0:
                placed[above] -= lack / 2
                placed[below] += lack / 2
    return placed


def cpu(figures):
    """A curve for each candidate; both scales are logarithmic."""
    chart = Chart("CPU time of a small call",
                  "By the number of calls in flight; microseconds. "
                  "Both scales are logarithmic.")
    curves = {}
    for level in LEVELS:
        name = f"10,000 calls, {level} in flight: CPU"
        for candidate, value in figures.of(name, ALL):
            if value is not None:
                curves.setdefault(candidate, []).append((level, value * 100))
    if not curves:
        return None
    values = [value for curve in curves.values() for _, value in curve]
    top, bottom = chart.y + 8, chart.y + 330
    left, right = MARGIN + 44, WIDTH - MARGIN - 170
    place, marks = scale(min(values), max(values), bottom, top)

    def across(level):
        return left + (right - left) * math.log(level, 512)
    for mark in marks:
        chart.line(left, place(mark), right, place(mark))
        chart.text(left - 8, place(mark) + 4, f"{mark:,}", "small", "end")
    for level in LEVELS:
        chart.text(across(level), bottom + 20, str(level), "small", "middle")
    chart.text((left + right) / 2, bottom + 40, "calls in flight", "small",
               "middle")
    for candidate, curve in curves.items():
        chart.curve([(across(level), place(value)) for level, value in curve],
                    kind(candidate), DASHES.get(candidate))
    ends = {one: place(curve[-1][1]) for one, curve in curves.items()}
    for (one, end), y in zip(ends.items(), spread(list(ends.values()), 18)):
        chart.line(right + 3, end, right + 16, y)
        text = f"{NAMES.get(one, one)}  {short(curves[one][-1][1], '')}"
        chart.text(right + 20, y + 4, text,
                   "strong" if kind(one) == "own" else "")
    chart.y = bottom + 48
    return chart


def far(figures):
    """A group of bars for each wait, in round trips."""
    rtt = figures.round_trip()
    if rtt is None:
        return None
    chart = Chart(f"A server that is {rtt} ms away",
                  f"Waits in round trips of {rtt} ms, behind TLS")
    groups = {}
    for name, heading in (
            ("spawn to the answer to tools/list",
             "From the start to the list of tools"),
            ("a call after 20 s of silence", "A call after 20 s of silence"),
            ("10 calls at once, the first time",
             "Ten calls at once, the first time"),
            ("a call that finds its session lost",
             "A call that finds its session lost")):
        groups[heading] = [
            (one, value and value / float(rtt))
            for one, value in figures.of(f"{rtt} ms away: {name}", PIPES)]
    for heading, rows in groups.items():
        bars(chart, heading, rows, "", most_of(*groups.values()))
    return chart


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: charts.py JSON FOLDER")
    figures, folder = Figures(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    for make in memory, start, latency, cpu, far:
        chart = make(figures)
        if chart is not None and chart.y > TOP:
            chart.write(os.path.join(folder, make.__name__ + ".svg"))


if __name__ == "__main__":
    main()
