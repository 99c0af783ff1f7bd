#!/usr/bin/env python3
"""The bounds are one table, src/base/bound_rows.h, and all else agrees with it:
the manual's section LIMITS has each row with its value, its option and its
texts, and nothing else; each row is used in src, and its option is in the table
of options, with the row's value as its default; tests/data/bounds names for
all that a row bounds the test that proves it, and what presses on it without
end, or why nothing can. Prints each breach.

usage: bounds.py [TREE]             checks
       bounds.py --manual [TREE]    prints the section LIMITS
"""

import collections
import os
import re
import sys
import textwrap

Row = collections.namedtuple("Row", "kind name value option what then")
ARGUMENTS = {"BOUND_GROUP": 1, "BOUND": 5, "BOUND_OPTION": 6}
UNITS = {
    "COUNT": "", "B": "bytes", "KIB": "KiB", "MIB": "MiB", "MS": "ms",
    "SEC": "s", "MIN": "min", "HOUR": "h", "DAY": "days",
}
TIMES = ("MS", "SEC", "MIN", "HOUR", "DAY")
SIZES = ("B", "KIB", "MIB")
FACTORS = {
    "COUNT": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20,
    "MS": 1, "SEC": 1000, "MIN": 60 * 1000, "HOUR": 60 * 60 * 1000,
    "DAY": 24 * 60 * 60 * 1000,
}

# Why nothing presses on a row: the head of tests/data/bounds says what they
# mean.
NO_PRESSURE = ("few", "login", "start", "time", "user")

INTRODUCTION = """\
.Sh LIMITS
A client, a server, an authorization server, a program or a file can make
.Nm
keep, do or wait for only so much.
Each value is followed by the option that changes it, if there is one, by what
it limits and, after the colon, by what happens beyond it, in the same order.
Where many small messages are kept, a size includes the memory around each.
"""


class Breach(Exception):
    pass


def read(tree, path):
    with open(os.path.join(tree, path), encoding="utf-8") as file:
        return file.read()


def calls(text):
    """The macro calls of a file, as lists of their names and arguments. A
    string is the argument that C makes of it."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    token = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(\w+)|([(),]))')
    at, call, argument = 0, None, None
    while text[at:].strip():
        match = token.match(text, at)
        if not match:
            raise Breach("cannot be read: " + text[at:].split("\n")[0])
        at = match.end()
        string, word, mark = match.groups()
        if call is None:
            if word not in ARGUMENTS or text[at:at + 1] != "(":
                raise Breach("is no row: " + str(word or mark or string))
            call, argument, at = [word], "", at + 1
        elif mark == "(":
            raise Breach(f"a value is a number and a unit: {call[1:]}")
        elif mark:
            call.append(argument)
            argument = ""
            if mark == ")":
                if len(call) != ARGUMENTS[call[0]] + 1:
                    raise Breach(f"too many or too few columns: {call}")
                yield call
                call = None
        else:
            argument += re.sub(r"\\(.)", r"\1", string) if word is None \
                else word
    if call is not None:
        raise Breach(f"has no end: {call}")


def shown(name, number, unit):
    """The value as people read it; also checks that the name says the unit."""
    if unit not in UNITS or not number.isdigit():
        raise Breach(f"{name}: {number}, {unit} is no value")
    ending = "_BYTES" if unit in SIZES else "_MS" if unit in TIMES else ""
    if ending != (re.search(r"(_BYTES|_MS|)$", name).group()):
        raise Breach(f"{name}: the name does not fit the unit {unit}")
    n = int(number)
    if n == 0 and unit in TIMES:
        return "no limit"
    if unit == "SEC" and n > 60 and n % 60 == 0:
        n, unit = n // 60, "MIN"
    if unit == "MIN" and n % 60 == 0:
        n, unit = n // 60, "HOUR"
    if unit == "MS" and n >= 1000:
        return f"{n / 1000:g} s"
    if unit == "DAY" and n == 1:
        return "1 day"
    return f"{n} {UNITS[unit]}".strip()


def numbers(tree):
    """The values by name, as BOUND_NAME has them: bytes, ms, or a number."""
    return {row[1]: int(row[2]) * FACTORS[row[3]]
            for row in calls(read(tree, "src/base/bound_rows.h"))
            if row[0] in ("BOUND", "BOUND_OPTION")}


def table(tree):
    rows, names = [], set()
    for kind, *rest in calls(read(tree, "src/base/bound_rows.h")):
        if kind == "BOUND_GROUP":
            rows.append(Row(kind, "", "", "", rest[0], ""))
            continue
        name, texts = rest[0], rest[-2:]
        if name in names:
            raise Breach(f"{name}: a second row")
        names.add(name)
        value = shown(*rest[:3])
        option = rest[3] if kind == "BOUND_OPTION" else ""
        if not all(texts) or not texts[1].endswith(".") or \
                texts[0].endswith("."):
            raise Breach(f"{name}: what is limited is no sentence, what "
                         "happens is one")
        rows.append(Row(kind, name, value, option, *texts))
    if not names:
        raise Breach("has no row")
    return rows


# --- the manual ---


def roff(text):
    text = text.replace("\\", "\\e").replace("--", r"\-\-")
    return re.sub(r"(^|\s)(?=[.'])", r"\1\\&", text)


def manual(rows):
    """The section LIMITS."""
    out = [INTRODUCTION]
    in_list = False
    for row in rows:
        if row.kind == "BOUND_GROUP":
            out += [".El\n"] if in_list else []
            out += [f".Ss {row.what}\n",
                    '.Bl -tag -width "10176 KiB" -compact\n']
            in_list = True
            continue
        out.append(f".It {row.value}\n")
        if row.option:
            out.append(f".Fl Fl {row.option} :\n")
        then = row.then[:1].lower() + row.then[1:]
        for sentence in re.split(r"(?<=[.]) (?=[A-Z])",
                                 roff(f"{row.what}: {then}")):
            out.append(textwrap.fill(sentence, 79, break_long_words=False,
                                     break_on_hyphens=False) + "\n")
    return "".join(out + [".El\n"])


def check_manual(tree, rows):
    text = read(tree, "doc/mcpsplice.1")
    match = re.search(r"^\.Sh LIMITS\n.*?(?=^\.Sh |\Z)", text, re.M | re.S)
    if not match:
        yield "doc/mcpsplice.1: there is no section LIMITS"
        return
    here, wanted = match.group().split("\n"), manual(rows).split("\n")
    first = text[:match.start()].count("\n") + 1
    for i in range(max(len(here), len(wanted))):
        one = here[i] if i < len(here) else "(its end)"
        other = wanted[i] if i < len(wanted) else "(its end)"
        if one != other:
            yield (f"doc/mcpsplice.1:{first + i}: {one}\n"
                   f"    the table says: {other}\n"
                   "    (tests/lint/bounds.py --manual prints the section)")
            return


# --- the code ---


def sources(tree):
    for folder, _, files in os.walk(os.path.join(tree, "src")):
        for name in files:
            if name.endswith((".c", ".h")) and \
                    not name.startswith("bound"):
                yield os.path.relpath(os.path.join(folder, name), tree)


def check_use(tree, rows):
    used, defined = set(), []
    for path in sources(tree):
        text = re.sub(r"/\*.*?\*/", "", read(tree, path), flags=re.S)
        used.update(re.findall(r"\b(?:BOUND|preset)_([A-Z0-9_]+)", text))
        for name in re.findall(r"^\s*(?:#define\s+)?BOUND_(\w+) = "
                               r"|^#define\s+BOUND_(\w+)\s+\S", text, re.M):
            defined.append((path, "".join(name)))
    for path, name in sorted(defined):
        yield f"{path}: BOUND_{name} is not made by the table"
    for row in rows:
        if row.kind in ("BOUND", "BOUND_OPTION") and row.name not in used:
            yield f"src/base/bound_rows.h: {row.name} is not used"


VALUE = re.compile(r"(?<![-.%\w])\d+ ?(?:s|ms|min|h|KiB|MiB|seconds?|minutes?|hours?)\b"
                   r"|\b(?:an|one) (?:hour|minute)\b")


def check_texts(tree, _rows):
    """What is said to people repeats no value. The options show defaults."""
    for path in sorted(sources(tree)):
        if path.startswith("src/options/"):
            continue
        text = re.sub(r"/\*.*?\*/", "", read(tree, path), flags=re.S)
        for literal in re.findall(r'"(?:[^"\\\n]|\\.)*"', text):
            for value in VALUE.findall(literal):
                yield f'{path}: a text repeats a value: "{value}"'


def check_options(tree, rows):
    text = read(tree, "src/options/table.c")
    options = {row.option: row for row in rows if row.kind == "BOUND_OPTION"}
    for name, row in options.items():
        match = re.search(r'^\t(?:\w+\(|\{ )"%s",(.*?)(?=^\t\S)' % name, text,
                          re.M | re.S)
        if not match:
            yield f"src/options/table.c: there is no option --{name}"
        elif not re.search(r"\bpreset_%s\b" % row.name, match.group()):
            yield (f"src/options/table.c: the default of --{name} is not that "
                   f"of the row {row.name}")


# --- the proofs ---


def proofs(tree):
    """Lines of a row's name, what it bounds, a file in tests, a name in it, and
    what presses, with tabs between."""
    for number, line in enumerate(read(tree, "tests/data/bounds").split("\n"),
                                  1):
        if line and not line.startswith("#"):
            yield number, (line.split("\t") + [""] * 4)[:5]


def is_pressed(tree, what):
    """Has the walk a case or a line for it?"""
    return re.search(r'\bdef test_%s\(|"%s": \(' % (what.replace(" ", "_"),
                                                    what),
                     read(tree, "tests/e2e/test_bounds.py"))


def check_pressure(tree, name, what, pressure):
    other = pressure[len("with "):] if pressure.startswith("with ") else what
    if pressure == "pressed" or other != what:
        if not is_pressed(tree, other):
            yield f"{what}: tests/e2e/test_bounds.py has no case for {other}"
    elif pressure not in NO_PRESSURE:
        yield f"{what}: {pressure or 'nothing'} is not what presses on it"
    elif pressure == "time" and not name.endswith("_MS"):
        yield f"{what}: is no time"


def check_proofs(tree, rows):
    names = {row.name for row in rows if row.name}
    proved, seen = set(), set()
    for number, (name, what, path, test, pressure) in proofs(tree):
        where = f"tests/data/bounds:{number}: "
        if name not in names:
            yield where + f"there is no row {name}"
        if what in seen:
            yield where + f"{what}: a second line"
        proved.add(name)
        seen.add(what)
        if not path or not os.path.isfile(os.path.join(tree, "tests", path)):
            yield where + f"{what}: there is no file tests/{path}"
        elif not test or not re.search(
                r"(?<!\w)%s(?!\w)" % re.escape(test.split(".")[-1]),
                read(tree, "tests/" + path)):
            yield where + f"{what}: tests/{path} has no test {test}"
        for breach in check_pressure(tree, name, what, pressure):
            yield where + breach
    for name in sorted(names - proved):
        yield f"tests/data/bounds: {name} has no proof"


def main():
    arguments = sys.argv[1:]
    order = arguments.pop(0) if arguments[:1] == ["--manual"] else ""
    tree = arguments[0] if arguments else os.environ.get(
        "abs_top_srcdir", os.path.join(os.path.dirname(__file__), "../.."))
    try:
        rows = table(tree)
    except Breach as breach:
        sys.exit(f"src/base/bound_rows.h: {breach}")
    if order == "--manual":
        sys.stdout.write(manual(rows))
        return
    breaches = [breach for check in
                (check_manual, check_use, check_texts, check_options,
                 check_proofs)
                for breach in check(tree, rows)]
    for breach in breaches:
        print(breach)
    sys.exit(len(breaches) > 0)


if __name__ == "__main__":
    main()
