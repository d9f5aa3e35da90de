"""Tests of scripts/test itself: a failure must show, and must not hide another."""

import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import pytest

import suite
import test_steps

STEPS = '''
import subprocess
import pytest

def test_good(command):
    """passes"""
    command("true")

def test_bad(command):
    """fails"""
    command("sh", "-c", "echo two and two; echo are five; exit 3")

def test_broken():
    """has a mistake of its own"""
    1 / 0

def test_absent(command):
    """needs what is not there"""
    raise AssertionError("must not run")

def test_skipped():
    """cannot run here"""
    pytest.skip("wrong machine")

def test_lasting(command):
    """does not end by itself"""
    command("sleep", "61.5")
'''


class Main(unittest.TestCase):
    """suite.main with steps of its own, and without a set-up."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="memorywall-"))
        lib = Path(suite.__file__).parent
        (self.folder / "lib").mkdir()
        for name in ("pytest.ini", "conftest.py", "checkout.py", "install.py", "suite.py", "test_tree.py"):
            (self.folder / "lib" / name).symlink_to(lib / name)
        steps = (lib / "test_steps.py").read_text(encoding="utf-8").split("# ------------------------------------------------------------ in a browser")[0]
        (self.folder / "lib" / "test_steps.py").write_text(steps + STEPS, encoding="utf-8")
        program = f"""
import contextlib, os, pathlib, sys
sys.path.insert(0, {str(lib)!r})
import checkout, install, suite
suite.LIB, suite.LOGS = pathlib.Path({str(self.folder / 'lib')!r}), pathlib.Path({str(checkout_logs())!r}) / {self.folder.name!r}
class Setup:
    def __init__(self, log):
        self.env = dict(os.environ)
    def make(self, **options):
        pass
suite.Setup, suite.Log, suite.lock = Setup, lambda name: None, contextlib.nullcontext
suite.prepare = lambda setup, wanted: {{"absent": "install it"}}
signal = install.signal
signal.signal(signal.SIGTERM, install.end_by_signal)
with install.ending(failed="0 passed, 1 failed", interrupted="Stopped."):
    sys.exit(suite.main(sys.argv[1:]))
"""
        self.argv = [sys.executable, "-c", program]

    def run_steps(self, *steps):
        done = subprocess.run([*self.argv, *steps], capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def test_all_well(self):
        code, out = self.run_steps("good")
        self.assertEqual(code, 0, out)
        self.assertIn("1 passed", out.splitlines()[-1])

    def test_every_step_runs_after_a_failure(self):
        code, out = self.run_steps("bad", "broken", "absent", "skipped", "good")
        self.assertEqual(code, 1)
        self.assertIn("2 failed, 1 passed, 1 skipped, 1 error", out.splitlines()[-1])
        for text in ("are five", "ZeroDivisionError", "install it", "wrong machine"):
            self.assertIn(text, out)
        cases = {case.get("name"): case for case in ElementTree.parse(checkout_logs() / self.folder.name / "junit.xml").iter("testcase")}
        self.assertEqual(sum(case.find("failure") is not None or case.find("error") is not None for case in cases.values()), 3)
        self.assertGreaterEqual(float(cases["test_good"].get("time")), 0)
        self.assertEqual(cases["test_good"].find("properties/property").get("name"), "processor_seconds")

    def test_nothing_passed_is_a_failure(self):
        self.assertNotEqual(self.run_steps("nosuch")[0], 0)

    def test_list_and_names(self):
        code, out = self.run_steps("--list")
        self.assertEqual(code, 0)
        for name in ("good", "bad", "scripts"):
            self.assertRegex(out, rf"(?m)^{name} +\S")

    def test_the_end_of_the_suite_is_that_of_its_steps(self):
        process = subprocess.Popen([*self.argv, "lasting", "good"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        sleeping = lambda: subprocess.run(["pgrep", "-f", "^sleep 61.5$"], capture_output=True).returncode == 0
        until(sleeping)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        until(lambda: not sleeping())


def until(condition):
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    assert condition()


def checkout_logs():
    return suite.LOGS / "suite"


class Pieces(unittest.TestCase):
    def test_names(self):
        self.assertEqual(set(suite.FAST) - set(suite.steps()), set())
        self.assertIn("go-test", suite.steps())

    def test_no_test_is_a_failure(self):
        test_steps.node_tested("# tests 4\n")
        with self.assertRaises(AssertionError):
            test_steps.node_tested("# tests 0\n")
        with self.assertRaises(AssertionError):
            test_steps.packages_tested("?   \tmemorywall/pkg/x\t[no test files]\n")

    def test_end_of_the_time_is_no_failure_of_a_fuzz_target(self):
        ran = "fuzz: elapsed: 1s, execs: 24328 (18613/sec), new interesting: 5 (total: 67)\n"
        late = ran + "--- FAIL: FuzzX (1.31s)\n    context deadline exceeded\nFAIL"

        def fuzz(said, fails=True):
            command = mock.Mock(side_effect=pytest.fail.Exception(said) if fails else [said])
            test_steps.fuzz_one(command, Path("x/fuzz.test"), Path("x"), "FuzzX", 1.0)

        fuzz(ran + "PASS", fails=False)
        fuzz(late)
        for said in ("--- FAIL: FuzzX (0.31s)\n    context deadline exceeded\nFAIL",  # nothing ran
                     ran + "--- FAIL: FuzzX (1.31s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:3: wrong\nFAIL",
                     ran + "--- FAIL: FuzzX (1.31s)\n    x_test.go:3: context deadline exceeded\nFAIL",
                     late + "\n    Failing input written to testdata/fuzz/FuzzX/1"):
            with self.assertRaises((AssertionError, pytest.fail.Exception)):
                fuzz(said)
        with self.assertRaises(AssertionError):
            fuzz("testing: warning: no fuzz tests to fuzz\nPASS", fails=False)

    def test_failures_are_among_the_lines_shown(self):
        text = "\n".join(["ok  \tp"] * 200 + ["--- FAIL: TestX", "    x_test.go:3: wrong"] + ["ok  \tp"] * 200)
        self.assertIn("x_test.go:3: wrong", test_steps.telling_lines(text))


if __name__ == "__main__":
    unittest.main()
