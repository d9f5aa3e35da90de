"""Tests of scripts/test itself: a failure must show, and must not hide another."""

import contextlib
import io
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import suite


class FakeSetup:
    env = {}

    def __init__(self, log):
        pass

    def make(self, first_cell, model):
        pass


class FakeSuite(suite.Suite):
    def prepare(self, wanted):
        self.missing = {"absent": "install it"}

    def good(self):
        """passes"""
        return "3 tests"

    def bad(self):
        """fails"""
        raise suite.Bad("two and two\nare five")

    def broken(self):
        """has a mistake of its own"""
        return 1 / 0

    def absent(self):
        """needs what is not there"""
        raise AssertionError("must not run")

    def skipped(self):
        """cannot run here"""
        raise suite.Skip("wrong machine")


def run(*steps, argv=()):
    """What main prints and returns, with these steps only."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out), \
            mock.patch.multiple(suite, Suite=FakeSuite, Setup=FakeSetup, STEPS=steps, LOGS=Path(folder),
                                Log=lambda name: None, lock=contextlib.nullcontext):
        code = suite.main(list(argv))
    return code, out.getvalue()


class Main(unittest.TestCase):
    def test_all_well(self):
        code, out = run("good")
        self.assertEqual(code, 0)
        self.assertEqual(out.splitlines()[-1], "1 passed, 0 failed")

    def test_every_step_runs_after_a_failure(self):
        code, out = run("bad", "broken", "absent", "skipped", "good")
        self.assertEqual(code, 1)
        self.assertEqual(out.splitlines()[-1], "1 passed, 3 failed, 1 skipped")
        for text in ("are five", "ZeroDivisionError", "install it", "wrong machine", "3 tests"):
            self.assertIn(text, out)

    def test_one_step(self):
        code, out = run("bad", "good", argv=["good"])
        self.assertEqual(code, 0)
        self.assertEqual(out.splitlines()[-1], "1 passed, 0 failed")

    def test_steps_run_beside_others(self):
        with mock.patch.object(suite, "BESIDE", ("bad", "skipped")):
            code, out = run("good", "bad", "broken", "skipped")
        self.assertEqual(code, 1)
        self.assertEqual(out.splitlines()[-1], "1 passed, 2 failed, 1 skipped")
        table = out[out.index("step  "):]
        self.assertEqual([line.split()[:2] for line in table.splitlines()[2:6]],
                         [["good", "passed"], ["bad", "FAILED"], ["broken", "FAILED"], ["skipped", "skipped"]])

    def test_the_end_of_one_ends_what_runs_beside(self):
        def stop(self):
            while self.other.process is None:
                time.sleep(0.01)
            raise KeyboardInterrupt

        started = []

        def lasting(self):
            started.append(self)
            FakeSuite.other = self
            self.command("sleep", "60")

        with mock.patch.object(suite, "BESIDE", ("absent",)), \
                mock.patch.object(FakeSuite, "prepare", lambda self, wanted: setattr(self, "missing", {})), \
                mock.patch.object(FakeSuite, "absent", lasting), \
                mock.patch.object(FakeSuite, "other", mock.Mock(process=None), create=True), \
                mock.patch.object(FakeSuite, "good", stop):
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                run("good", "absent")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(len(started), 1)

    def test_nothing_passed_is_a_failure(self):
        self.assertEqual(run("skipped")[0], 1)


class Pieces(unittest.TestCase):
    def differences(self, want, got):
        found = []
        suite.compare_json("", want, got, found, [0])
        return found

    def test_report_must_be_equal(self):
        want = {"a": [1, 2.0], "b": {"c": "x", "d": None, "e": True}}
        self.assertEqual(self.differences(want, {"a": [1, 2.0 * (1 + 1e-13)], "b": {"c": "x", "d": None, "e": True}}), [])
        for got in (
            {"a": [2, 2.0], "b": want["b"]}, {"a": [1.0, 2.0], "b": want["b"]}, {"a": [1, 2.0 * (1 + 1e-11)], "b": want["b"]},
            {"a": [1], "b": want["b"]}, {"a": [1, 2.0]}, {**want, "more": 1}, {"a": [1, float("nan")], "b": want["b"]},
            {"a": [1, 2.0], "b": {"c": "y", "d": None, "e": True}}, {"a": [1, 2.0], "b": {"c": "x", "d": 0, "e": 1}},
        ):
            self.assertNotEqual(self.differences(want, got), [], got)

    def test_no_test_is_a_failure(self):
        self.assertEqual(suite.node_tests("# tests 4\n"), "4 tests")
        with self.assertRaises(suite.Bad):
            suite.node_tests("# tests 0\n")
        with self.assertRaises(suite.Bad):
            suite.count_packages("?   \tmemorywall/pkg/x\t[no test files]\n")

    def test_end_of_the_time_is_no_failure_of_a_fuzz_target(self):
        ran = "fuzz: elapsed: 1s, execs: 24328 (18613/sec), new interesting: 5 (total: 67)\n"
        late = ran + "--- FAIL: FuzzX (1.31s)\n    context deadline exceeded\nFAIL"

        def fuzz(said, fails=True):
            one = mock.Mock()
            one.command.side_effect = suite.Bad(said) if fails else [said]
            suite.Suite.fuzz_one(one, Path("x/fuzz.test"), Path("x"), "FuzzX", 1.0)

        fuzz(ran + "PASS", fails=False)
        fuzz(late)
        for said in ("--- FAIL: FuzzX (0.31s)\n    context deadline exceeded\nFAIL",  # nothing ran
                     ran + "--- FAIL: FuzzX (1.31s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:3: wrong\nFAIL",
                     ran + "--- FAIL: FuzzX (1.31s)\n    x_test.go:3: context deadline exceeded\nFAIL",
                     late + "\n    Failing input written to testdata/fuzz/FuzzX/1"):
            with self.assertRaises(suite.Bad):
                fuzz(said)
        with self.assertRaises(suite.Bad):
            fuzz("testing: warning: no fuzz tests to fuzz\nPASS", fails=False)

    def test_failures_are_among_the_lines_shown(self):
        text = "\n".join(["ok  \tp"] * 200 + ["--- FAIL: TestX", "    x_test.go:3: wrong"] + ["ok  \tp"] * 200)
        self.assertIn("x_test.go:3: wrong", suite.telling_lines(text))

    def test_hygiene_finds_what_it_looks_for(self):
        # Written so that this file does not contain them either.
        planted = {
            "a.md": "see /ho" + "me/someone/file",
            "b.md": "from https://py" + "pi.org/simple",
            "c.go": "// TO" + "DO: later",
            "package-lock.json": '"resol' + 'ved": "x"',
            "scripts/requirements.txt": "thing==1.0\n",
        }
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in planted.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            (root / "fine.md").write_text("nothing here: a/work/b, ./home, pypi\n", encoding="utf-8")
            with mock.patch.multiple(suite, ROOT=root, tracked=lambda: [root / n for n in [*planted, "fine.md"]]):
                with self.assertRaises(suite.Bad) as caught:
                    suite.Suite.hygiene(mock.Mock())
        for name in planted:
            self.assertIn(name, str(caught.exception))
        self.assertNotIn("fine.md", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
