#!/usr/bin/env python3
"""bounds.py finds each kind of breach, and none in a tree where all agrees."""

import os
import subprocess
import sys
import tempfile
import unittest

LINT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bounds.py")

ROWS = """/* A table: "BOUND(X)". */
BOUND_GROUP("Messages")
BOUND_OPTION(LINE_BYTES, 10176, KIB, "max-line",
    "a line's length, with --flag and "
    "\\"quotes\\"", "It is cut. It is told.")
BOUND_GROUP("Times")
BOUND(WAIT_MS, 3600, SEC, "an answer", "It fails.")
BOUND(ASKED, 64, COUNT, "questions", "They are refused.")
"""
OPTIONS = """const struct option_row option_table[] = {
\tSIZE("max-line", 0, max_line,
\t    preset_LINE_BYTES, NULL),
\tSIZE("other", 0, other, "1M", NULL),
};
"""
CODE = """#include "base/bounds.h"
int a = BOUND_WAIT_MS, b = BOUND_ASKED;
"""
FILES = {
    "src/base/bound_rows.h": ROWS,
    "src/options/table.c": OPTIONS,
    "src/io/loop.c": CODE,
    "tests/e2e/test_x.py": "class Wait:\n    def test_wait(self):\n",
    "tests/e2e/test_bounds.py": "WALK = {\n    \"line bytes\": (press, 1),\n"
                                "}\ndef test_held(self):\n",
    "tests/data/bounds": "# row, file, test, pressure\n" + "".join(
        name + "\te2e/test_x.py\tWait.test_wait\t" + pressure + "\n"
        for name, pressure in (("WAIT_MS\twait", "time"),
                               ("LINE_BYTES\tline bytes", "pressed"),
                               ("LINE_BYTES\theld", "pressed"),
                               ("ASKED\tasked", "with line bytes"))),
}


class Bounds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = folder.name
        for path, text in FILES.items():
            self.write(path, text)
        self.write("doc/mcpsplice.1", ".Sh NAME\n" + self.run_lint(
            "--manual").stdout + ".Sh EXAMPLES\n")

    def write(self, path, text):
        path = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def run_lint(self, *order):
        return subprocess.run([sys.executable, LINT, *order, self.tree],
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)

    def change(self, path, before, after):
        with open(os.path.join(self.tree, path), encoding="utf-8") as file:
            text = file.read()
        self.assertIn(before, text)
        self.write(path, text.replace(before, after))

    def breach(self, path, before, after, told):
        with open(os.path.join(self.tree, path), encoding="utf-8") as file:
            was = file.read()
        self.change(path, before, after)
        ran = self.run_lint()
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn(told, ran.stdout)
        self.write(path, was)

    def test_all_is_well(self):
        ran = self.run_lint()
        self.assertEqual((ran.returncode, ran.stdout), (0, ""))

    def test_what_the_manual_shows(self):
        shown = self.run_lint("--manual").stdout
        self.assertIn(".It 10176 KiB\n.Fl Fl max-line :\n"
                      'a line\'s length, with \\-\\-flag and "quotes": '
                      "it is cut.\nIt is told.\n", shown)
        self.assertIn(".It 1 h\nan answer: it fails.\n", shown)

    def test_the_manual(self):
        path = "doc/mcpsplice.1"
        for before, after in (
                ("10176 KiB", "10 MiB"), ("it fails.", "it waits."),
                (".Fl Fl max-line :\n", ""),
                (".It 1 h\nan answer: it fails.\n", ""),
                ("it fails.\n", "it fails.\n.It more: 2\nToo much.\n"),
                ("they are refused.\n.El\n",
                 "they are refused.\n.El\nAnd more.\n")):
            self.breach(path, before, after, path + ":")
        self.breach(path, ".Sh LIMITS", ".Sh BOUNDS", "no section LIMITS")

    def test_the_rows(self):
        path = "src/base/bound_rows.h"
        for before, after, told in (
                ("WAIT_MS, 3600", "WAIT_MS, 3601", "doc/mcpsplice.1:"),
                ("WAIT_MS, 3600", "WAIT, 3600", "does not fit"),
                ("ASKED, 64, COUNT", "ASKED, 64, KIB", "does not fit"),
                ("ASKED, 64", "ASKED, 8 * 8", "cannot be read"),
                ("ASKED, 64", "ASKED, (64)", "a number and a unit"),
                ("ASKED, 64, COUNT", "WAIT_MS, 64, SEC", "a second row"),
                ("ASKED, 64, COUNT", "ASKED, 64, COUNTS", "is no value"),
                ('"It fails."', '""', "happens is one"),
                ('"It fails."', '"it fails"', "happens is one"),
                (', "It fails."', "", "too few columns"),
                ("BOUND(ASKED", "BOUNDS(ASKED", "is no row")):
            self.breach(path, before, after, told)

    def test_the_code(self):
        path = "src/io/loop.c"
        self.breach(path, "BOUND_ASKED", "1", "ASKED is not used")
        self.breach(path, "BOUND_ASKED", "1; /* BOUND_ASKED */",
                    "ASKED is not used")
        self.breach(path, "int a", "enum {\n\tBOUND_MORE = 1\n};\nint a",
                    "BOUND_MORE is not made by the table")
        self.breach(path, "int a", "#define BOUND_MORE 1\nint a",
                    "BOUND_MORE is not made by the table")

    def test_the_texts(self):
        path = "src/io/loop.c"
        for text in ("took 90 s", "for an hour", "over 8 KiB: %d"):
            self.breach(path, "int a", f'const char *t = "{text}";\nint a',
                        "a text repeats a value")

    def test_the_options(self):
        path = "src/options/table.c"
        self.breach(path, "preset_LINE_BYTES", '"10M"', "the default of")
        self.breach(path, '"max-line"', '"max-lines"', "there is no option")

    def test_the_proofs(self):
        path = "tests/data/bounds"
        for before, after, told in (
                ("WAIT_MS", "WAITS", "there is no row WAITS"),
                ("test_x.py", "test_y.py", "no file tests/e2e/test_y.py"),
                ("test_wait", "test_wai", "has no test"),
                ("\tWait.test_wait", "", "has no test"),
                ("# row", "WAIT_MS\twait\te2e/test_x.py\tWait\ttime\n# row",
                 "a second line"),
                ("WAIT_MS", "# WAIT_MS", "WAIT_MS has no proof")):
            self.breach(path, before, after, told)

    def test_the_pressure(self):
        path = "tests/data/bounds"
        for before, after, told in (
                ("\ttime", "", "is not what presses"),
                ("\ttime", "\ttimes", "is not what presses"),
                ("\tpressed", "\ttime", "line bytes: is no time"),
                ("\ttime", "\tpressed", "has no case for wait"),
                ("with line bytes", "with wait", "no case for wait")):
            self.breach(path, before, after, told)
        self.breach("tests/e2e/test_bounds.py", "test_held", "test_hold",
                    "has no case for held")


if __name__ == "__main__":
    unittest.main()
