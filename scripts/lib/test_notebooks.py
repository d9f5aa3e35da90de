"""Tests of how outputs are normalised and compared. Needs nbformat: runs in .venv."""

import argparse
import asyncio
import contextlib
import copy
import io
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import nbformat
from nbformat import v4

import run_notebooks


def code(id, *outputs, tags=(), count=None):
    metadata = {"tags": list(tags)} if tags else {}
    return v4.new_code_cell("x", id=id, metadata=metadata, outputs=list(outputs), execution_count=count)


def stream(text, name="stdout"):
    return v4.new_output("stream", name=name, text=text)


def html(text, kind="display_data", **more):
    return v4.new_output(kind, {"text/html": text}, **more)


def book(*cells):
    nb = v4.new_notebook(cells=list(cells))
    nb.nbformat_minor = 5
    return nb


class Normalise(unittest.TestCase):
    def test_what_differs_between_runs_goes(self):
        def once(count, id, first, second):
            cell = code("a", *first, html(f"<div id='{id}'>", "execute_result", execution_count=count), *second, count=count)
            cell.metadata["execution"] = {"iopub.execute_input": str(count)}
            nb = book(v4.new_markdown_cell("text", id="m"), cell, code("b", html(f"<script>{id}</script>")))
            nb.metadata["language_info"] = {"version": str(count)}
            return run_notebooks.text_of(run_notebooks.normalise(nb))

        a = once(3, "gonb_id_0a1b2c3d", [stream("x\n"), stream("e\n", "stderr"), stream("y\n")], [])
        b = once(7, "gonb_id_ffffffff", [stream("x\n")], [stream("y\n"), stream("e\n", "stderr")])
        self.assertEqual(a, b)
        cells = nbformat.reads(a, 4).cells
        self.assertEqual([c.id for c in cells], ["m", "a", "b"])
        self.assertEqual([c.execution_count for c in cells[1:]], [1, 2])
        self.assertEqual([(o.output_type, o.get("text")) for o in cells[1].outputs],
                         [("stream", "x\ny\n"), ("stream", "e\n"), ("execute_result", None)])

    def test_what_a_cell_says_stays(self):
        nb = book(code("a", stream("1.25\n"), html("<b>gonb</b>")))
        self.assertEqual(run_notebooks.normalise(nb).cells[0].outputs, [stream("1.25\n"), html("<b>gonb</b>")])


class Check(unittest.TestCase):
    """`check` with a kernel that gives planted outputs."""

    def setUp(self):
        self.stamps = tempfile.mkdtemp(prefix="memorywall-")
        self.addCleanup(shutil.rmtree, self.stamps)

    def check(self, stored, ran, **options):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chapter.ipynb"
            text = run_notebooks.text_of(stored)
            path.write_text(text, encoding="utf-8")
            args = argparse.Namespace(**{"action": "check", "keep_measured": False, "jobs": 1, "timeout": 1, "changed": False, **options})
            runner = run_notebooks.Runner(args, None)

            async def execute(path, nb):
                for cell, new in zip(nb.cells, ran.cells):
                    if cell.cell_type == "code":
                        cell.outputs = copy.deepcopy(new.outputs)
                return len(nb.cells)

            runner.execute = execute
            out = io.StringIO()
            with contextlib.redirect_stdout(out), mock.patch("install.STAMPS", Path(self.stamps)):
                right = asyncio.run(runner.one(path))
            return right, out.getvalue(), path.read_text(encoding="utf-8"), text

    def stored(self, *cells):
        return run_notebooks.normalise(book(*cells))

    def test_same(self):
        nb = self.stored(code("a", stream("1\n")), code("m", stream("0.3 s\n"), tags=["machine"]))
        right, out, *_ = self.check(nb, nb)
        self.assertTrue(right, out)

    def test_what_is_right_and_unchanged_may_be_left_out(self):
        nb, other = self.stored(code("a", stream("1\n"))), book(code("a", stream("2\n")))
        self.assertFalse(self.check(nb, other, changed=True)[0])
        self.assertTrue(self.check(nb, nb, changed=True)[0])
        right, out, *_ = self.check(nb, other, changed=True)  # it is not run
        self.assertTrue(right)
        self.assertIn("as it was", out)
        self.assertFalse(self.check(nb, other)[0])
        self.assertFalse(self.check(self.stored(code("a", stream("3\n"))), other, changed=True)[0])

    def test_one_digit(self):
        right, out, after, before = self.check(self.stored(code("a", stream("sum\n153.0\n"))), book(code("a", stream("sum\n153.1\n"))))
        self.assertFalse(right)
        for text in ("chapter.ipynb", "cell a", "line 3", "153.0", "153.1"):
            self.assertIn(text, out)
        self.assertEqual(after, before)  # check never writes

    def test_missing_and_additional_outputs(self):
        self.assertFalse(self.check(self.stored(code("a")), book(code("a", stream("1\n"))))[0])
        self.assertFalse(self.check(self.stored(code("a", stream("1\n"))), book(code("a")))[0])

    def test_measured_cells_may_say_something_else(self):
        nb = self.stored(code("m", stream("0.3 s\n"), html("<p>"), tags=["machine"]))
        self.assertTrue(self.check(nb, book(code("m", stream("0.4 s\n"), html("<i>"), tags=["machine"])))[0])
        for other in (code("m", tags=["machine"]), code("m", stream("0.4 s\n"), tags=["machine"]),
                      code("m", stream("0.3 s\n", "stderr"), html("<p>"), tags=["machine"])):
            self.assertFalse(self.check(nb, book(other))[0])

    def test_count_and_form_of_the_file(self):
        nb = self.stored(code("a", stream("1\n")))
        wrong = copy.deepcopy(nb)
        wrong.cells[0].execution_count = 5
        right, out, *_ = self.check(wrong, nb)
        self.assertFalse(right)
        self.assertIn("execution count 5", out)
        stale = copy.deepcopy(nb)
        stale.metadata["language_info"] = {"name": "python"}
        self.assertFalse(self.check(stale, nb)[0])

    def test_update_writes_and_can_keep_what_was_measured(self):
        stored = self.stored(code("a", stream("1\n")), code("m", stream("0.3 s\n"), tags=["machine"]))
        ran = book(code("a", stream("2\n")), code("m", stream("0.4 s\n"), tags=["machine"]))
        for keep, measured in ((False, "0.4 s\n"), (True, "0.3 s\n")):
            right, out, after, before = self.check(stored, ran, action="update", keep_measured=keep)
            self.assertTrue(right, out)
            cells = nbformat.reads(after, 4).cells
            self.assertEqual([c.outputs[0].text for c in cells], ["2\n", measured])
            self.assertTrue(self.check(nbformat.reads(after, 4), ran)[0])

    def test_kernel_that_does_not_start(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = Path(folder) / "share" / "jupyter" / "kernels" / "gonb-raw" / "kernel.json"
            spec.parent.mkdir(parents=True)
            code_ = ("import sys; sys.exit('starting\\nF1130 10:11:12.123456   12 main.go:9] there is no go command\\n"
                     "goroutine 1 [running]:\\nmain.main()')")
            spec.write_text(json.dumps({"argv": [sys.executable, "-c", code_], "display_name": "", "language": "go"}), encoding="utf-8")
            path = Path(folder) / "chapter.ipynb"
            path.write_text(run_notebooks.text_of(self.stored(code("a"))), encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv.pop(1)); import pathlib, run_notebooks; "
                 "run_notebooks.VENV = pathlib.Path(sys.argv.pop(1)); run_notebooks.main()",
                 str(Path(run_notebooks.__file__).parent), folder, "update", "--keep-measured", str(path), "--online"],
                capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines()[1:2], [f"  FAIL {path}: the kernel does not start: there is no go command"])
        self.assertEqual(done.stderr, "")
        self.assertNotIn("goroutine", done.stdout)

    def test_failures_tell_what_the_compiler_said(self):
        cell = code("a", html("<p>noise</p>"), v4.new_output("error", ename="ERROR", evalue="exit status 1",
                                                             traceback=["./main.go:3:5: undefined: x"]))
        self.assertIn("./main.go:3:5: undefined: x", run_notebooks.failure_text(cell, None))
        self.assertEqual(run_notebooks.plain("<style>p{}</style><div><b>want</b>1 &lt; 2</div><p>got</p>").split(), "want 1 < 2 got".split())


if __name__ == "__main__":
    unittest.main()
