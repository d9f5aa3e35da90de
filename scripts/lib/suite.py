"""scripts/test: the set-up, what only tests need, and every test, under pytest.

The steps are the tests of test_steps.py; those of the set-up stand beside it.
Standard library only.
"""

import argparse
import ast
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time

from checkout import BROWSER, CACHE, LOGS, PYTHON, ROOT, SCRIPTS, Stop, say
from install import Failed, Log, Setup, end_group, ending, lock, run, which_all

LIB = SCRIPTS / "lib"
# What can fail on an edit of the text, of a figure or of the model.
FAST = ("hygiene", "gofmt", "lint", "go-test", "charts", "pages", "notebooks")
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUMS_MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def steps():
    """The steps: {name: what it tests}, in the order in which they start. `scripts` are all other tests of this folder."""
    found = {}
    for node in ast.parse((LIB / "test_steps.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found[node.name[len("test_"):].replace("_", "-")] = ast.get_docstring(node).splitlines()[0]
    return {**found, "scripts": "set-up does what it says when things go wrong, and the files of the checkout agree"}


def selected(names):
    """What pytest calls the tests of these steps."""
    others = sorted(str(path) for path in LIB.glob("test_*.py") if path.name != "test_steps.py")
    return [test for name in names for test in (others if name == "scripts" else [f"{LIB / 'test_steps.py'}::test_{name.replace('-', '_')}"])]


def find_chromium(env):
    chosen = os.environ.get("MEMORYWALL_CHROMIUM")
    if chosen:
        return chosen if os.access(chosen, os.X_OK) else ""
    found = [path for name in CHROMIUMS for path in which_all(name, env)] + [p for p in CHROMIUMS_MACOS if os.access(p, os.X_OK)]
    return str(found[0]) if found else ""


def apt_get(setup, *packages):
    """Install Debian's packages, where we may; elsewhere nothing."""
    if not (sys.platform.startswith("linux") and os.geteuid() == 0 and shutil.which("apt-get")):
        return
    setup.begin(f"installing Debian's {' and '.join(packages)}")
    env = {**setup.env, "DEBIAN_FRONTEND": "noninteractive"}
    with contextlib.suppress(Failed):
        run(setup.log, ["apt-get", "update"], env=env)
    run(setup.log, ["apt-get", "install", "-y", "--no-install-recommends", *packages], env=env, what=f"apt-get install {' '.join(packages)}")


def prepare(setup, wanted):
    """What only tests need. What cannot be had fails the steps that need it: {step: why}."""
    setup.wheels("test", "installing pytest and ruff", "requirements-test.txt")
    missing = {}

    def attempt(needed_by, action):
        needed_by = needed_by & set(wanted)
        if needed_by:
            try:
                action()
            except Stop as err:
                missing.update(dict.fromkeys(needed_by, str(err)))

    def compiler():
        if not any(which_all(name, setup.env) for name in ("cc", "gcc", "clang")):
            apt_get(setup, "gcc", "libc6-dev")

    def chromium():
        if not find_chromium(setup.env):
            apt_get(setup, "chromium")
        setup.env["MEMORYWALL_CHROMIUM"] = find_chromium(setup.env)

    attempt({"race"}, compiler)
    attempt({"pages", "site"}, setup.pages)
    attempt({"lint", "site", "browser", "explorers"}, lambda: setup.npm_ci(BROWSER, "installing what drives the browser, and eslint"))
    attempt({"site", "browser", "explorers"}, chromium)
    return missing


def main(argv):
    known = steps()
    parser = argparse.ArgumentParser(
        prog="scripts/test", description="Set up, then run every test of the lesson, or the steps that are named. A table of the times "
        "is at the end; .cache/log/junit.xml has all of them, and the seconds of the processors.")
    parser.add_argument("steps", nargs="*", metavar="step", help="one of: " + ", ".join(known))
    parser.add_argument("--fast", action="store_true", help="what can fail on an edit of the text, of a figure or of the model: " + ", ".join(FAST))
    parser.add_argument("--list", action="store_true", help="list the steps and what they test")
    args = parser.parse_args(argv)
    if args.list:
        for name, what in known.items():
            print(f"{name:12} {what}")
        return 0
    for name in args.steps:
        if name not in known:
            parser.error(f"there is no step {name!r}; there are: {', '.join(known)}")
    wanted = args.steps or list(FAST if args.fast else known)

    start = time.monotonic()
    say(f"Set-up in {ROOT}")
    with lock():
        setup = Setup(Log("test-setup.log"))
        setup.make(first_cell=bool({"notebooks", "browser"} & set(wanted)), model="needed")
        missing = prepare(setup, wanted)
    say(f"Ready in {time.monotonic() - start:.0f} s. Each step has its log in {LOGS.relative_to(ROOT)}/.")
    setup.env.update(MEMORYWALL_MISSING=json.dumps(missing), MEMORYWALL_FAST="yes" if args.fast else "",
                     RUFF_CACHE_DIR=str(CACHE / "ruff"), STATICCHECK_CACHE=str(CACHE / "staticcheck"))
    # Three at a time, since those in a browser wait more than they work.
    pytest = [PYTHON, "-E", "-s", "-m", "pytest", "-c", LIB / "pytest.ini", f"--rootdir={ROOT}", "-n", str(3 if "scripts" in wanted else min(3, len(wanted))),
              f"--junitxml={LOGS / 'junit.xml'}", *selected(wanted)]
    # In a session of its own, so that the end of this process can be that of all that it started.
    process = subprocess.Popen([str(arg) for arg in pytest], cwd=ROOT, env=setup.env, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait()
    except BaseException:
        end_group(process)
        raise


if __name__ == "__main__":
    with ending(failed="0 passed, 1 failed", interrupted="Stopped."):
        sys.exit(main(sys.argv[1:]))
