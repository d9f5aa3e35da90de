"""The steps of scripts/test, each a test: the commands that test the packages, the notebooks, the pages and the scripts.

suite.py starts them in the environment that the set-up made; the longest come first.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from checkout import BROWSER, CACHE, CHARTS, LOGS, PAGES, PYTHON, ROOT, SCRIPTS
from test_tree import assert_clean, tracked

TOOLS = SCRIPTS / "tools"
FUZZ_SECONDS = 17  # for all fuzz targets together
FAST = bool(os.environ.get("MEMORYWALL_FAST"))


# ----------------------------------------------------------------- commands

@pytest.fixture
def command(request):
    """Runs a command with its output into the step's log, and returns the output; a failure shows the lines that matter."""
    name = request.node.name[len("test_"):].replace("_", "-")
    why = json.loads(os.environ.get("MEMORYWALL_MISSING", "{}")).get(name)
    if why:
        pytest.fail(why, pytrace=False)
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(LOGS / f"test-{name}.log", "w", encoding="utf-8", errors="replace") as log:
        def run(*argv, cwd=ROOT, timeout=1800, **env):
            argv = [str(arg) for arg in argv]
            log.write(f"\n$ cd {cwd}\n$ {' '.join(argv)} {env or ''}\n")
            log.flush()
            done = subprocess.run(argv, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=timeout)
            text = done.stdout.decode("utf-8", "replace")
            log.write(f"{text}\n[exit {done.returncode}]\n")
            if done.returncode != 0:
                pytest.fail(f"{' '.join(argv)} ended with {done.returncode}\n{telling_lines(text)}\nall of it: {log.name}", pytrace=False)
            return text

        yield run


@pytest.fixture
def go(command):
    return lambda *args, **options: command("go", *args, **options)


def telling_lines(text, most=60):
    """The part of a failed command's output that says why."""
    lines = text.splitlines()
    telling = [i for i, line in enumerate(lines)
               if re.search(r"\bFAIL\b|^\s*--- FAIL|panic:|DATA RACE|Error|error:|not ok|✖|expected|\.go:\d+", line)
               and not re.match(r"^ok\s", line)]
    if len(lines) <= most:
        chosen = lines
    elif telling:
        chosen = [lines[i] for i in sorted({j for i in telling for j in range(i, min(i + 4, len(lines)))})][:most]
    else:
        chosen = lines[-most:]
    return "\n".join(chosen)


def packages_tested(text):
    assert re.search(r"^ok\s", text, re.M), "no package has tests"


def node_tested(text):
    """Node.js ends well without a test; here that is a failure."""
    assert sum(int(n) for n in re.findall(r"^(?:#|ℹ) tests (\d+)\s*$", text, re.M)), f"no test ran\n{telling_lines(text)}"


# ------------------------------------------------------------ in a browser

def in_browser(command, test, **env):
    if not os.environ.get("MEMORYWALL_CHROMIUM"):
        pytest.fail("no Chromium or Chrome was found. Install one, or set MEMORYWALL_CHROMIUM to its path:\n"
                    "  Debian, WSL:  sudo apt-get install chromium\n"
                    "  Ubuntu:       install Google Chrome's .deb (a snap's Chromium does not see other folders)\n"
                    "  Fedora:       sudo dnf install chromium\n"
                    "  macOS:        brew install --cask google-chrome", pytrace=False)
    # What helps to see why a test failed is kept there: the page's picture, its HTML, the console.
    kept = CACHE / "browser" / test.split(".")[0]
    shutil.rmtree(kept, ignore_errors=True)
    node_tested(command("node", "--test-reporter=spec", test, cwd=BROWSER, MEMORYWALL_BROWSER_OUT=str(kept), **env))


def test_browser(command):
    """the chapters in JupyterLab, in a real Chromium"""
    # What the cells measure, the step `notebooks` measures in full.
    in_browser(command, "lesson.test.mjs", MEMORYWALL_QUICK="1")


def test_notebooks(command):
    """every chapter runs without the network, with the outputs it has"""
    assert list((ROOT / "notebooks").glob("*.ipynb")), "there is no chapter"
    options = {"MEMORYWALL_QUICK": "1"} if FAST else {}
    command(PYTHON, "-E", "-s", SCRIPTS / "lib" / "run_notebooks.py", "check", *(["--changed"] if FAST else []), **options)


def test_go_test(go):
    """go test ./..."""
    packages_tested(go("test", *([] if FAST else ["-count=1"]), "./..."))


def test_explorers(command):
    """the live explorers, in JupyterLab and on a page from the disk"""
    in_browser(command, "explorer.test.mjs")


def test_site(command):
    """the pages, built and read in a real Chromium"""
    out = CACHE / "site"
    command(SCRIPTS / "site", out)
    in_browser(command, "site.test.mjs", MEMORYWALL_SITE=str(out))


def test_pages(command):
    """node --test in scripts/pages"""
    node_tested(command("node", "--test", cwd=PAGES))


def test_charts(command):
    """node --test in scripts/charts"""
    node_tested(command("node", "--test", cwd=CHARTS))


# ----------------------------------------------------------------------- Go

# What shows that a package starts goroutines, guards against them (more than to
# do something once), or asks whether the race detector is on.
CONCURRENT = re.compile(r'^\s*go (?:func\b|\w[\w.]*\()|\bsync\.(?!Once)[A-Z]|^\s*(?:import )?"sync/atomic"|^//go:build race$', re.M)


def test_race(go):
    """go test -race, for the packages that have to do with goroutines"""
    concurrent = []
    for line in go("list", "-f", "{{.ImportPath}}\t{{.Dir}}", "./...").splitlines():
        package, folder = line.split("\t")
        if any(CONCURRENT.search(f.read_text(encoding="utf-8")) for f in Path(folder).glob("*.go")):
            concurrent.append(package)
    assert concurrent, "no package has to do with goroutines: this step would test nothing"
    go("test", "-race", "-short", "-count=1", "-vet=off", *concurrent, CGO_ENABLED="1")


def test_386(go):
    """vet and tests for 32 bits (GOARCH=386)"""
    if not (sys.platform.startswith("linux") and platform.machine() in ("x86_64", "i686")):
        go("vet", "./...", GOARCH="386", GOOS="linux")
        return  # this machine does not run them
    # Only the packages are tested: ./notebooks is about words, and ./scripts prints what they give.
    go("vet", "./scripts/...", GOARCH="386")
    packages_tested(go("test", "-short", "-count=1", "-vet=all", "./pkg/...", GOARCH="386"))


def test_arm64(go):
    """build for arm64, vet what is written for it, on Linux and macOS, and run its kernels where there is an emulator (qemu-user)"""
    def files_of_packages(architecture, system):
        files = "{{.ImportPath}}\t{{.GoFiles}} {{.SFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}"
        return set(go("list", "-f", files, "./...", GOARCH=architecture, GOOS=system).splitlines())

    go("build", "./...", GOARCH="arm64", GOOS="linux")
    usual = files_of_packages("amd64", "linux")
    for system in ("linux", "darwin"):
        # The packages with a file, or without one, there alone.
        own = sorted(line.split("\t")[0] for line in files_of_packages("arm64", system) - usual)
        assert own, f"no package is written for {system}/arm64: this step would vet nothing"
        go("vet", *own, GOARCH="arm64", GOOS=system)
    emulator = next(filter(None, map(shutil.which, ("qemu-aarch64-static", "qemu-aarch64"))), None)
    if emulator and sys.platform.startswith("linux"):
        kernels = "^(TestConformance|TestMatVec|TestWeights(Conformance|NotFinite|Mul))$//neon"
        go("test", "-short", "-count=1", "-exec", emulator, "-run", kernels, "./pkg/matmul", GOARCH="arm64")
        go("test", "-short", "-count=1", "-exec", emulator, "./pkg/probe", GOARCH="arm64")


def test_isa(go):
    """the kernels on each instruction set that this CPU has, and in plain Go"""
    runs, have = [(["-tags", "noasm"], {})], set()
    if platform.machine() == "x86_64":
        if os.path.exists("/proc/cpuinfo"):  # elsewhere than on Linux nothing is demanded
            flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text(encoding="utf-8")))
            have = {name for name, flag in (("avx2", "avx2"), ("avx512", "avx512f")) if flag in flags}
        runs += [([], {"GODEBUG": "cpu.avx512f=off"}), ([], {"GODEBUG": "cpu.avx2=off,cpu.avx512f=off"})]
    runs.append(([], {"MATMUL_REQUIRE_ISA": ",".join(sorted(have))} if have else {}))
    for options, env in runs:
        go("test", "-short", "-count=1", *options, "./pkg/matmul", "./pkg/probe", **env)


def test_fuzz(go, command):
    """every fuzz target, for a few seconds"""
    # Read from the sources: to ask each package's tests would build them all.
    targets = []
    listed = go("list", "-f", '{{.ImportPath}}\t{{.Dir}}\t{{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}', "./...")
    for line in listed.splitlines():
        package, folder, files = line.split("\t")
        targets += [(package, Path(folder), name) for file in files.split()
                    for name in re.findall(r"^func (Fuzz\w+)\(\w+ \*testing\.F\)", (Path(folder) / file).read_text(encoding="utf-8"), re.M)]
    assert targets, "no fuzz target was found"
    with tempfile.TemporaryDirectory(prefix="memorywall-") as place:
        for package, folder, name in targets:
            # Linked once for all the targets of a package; `go test -fuzz` would link it for each.
            program = Path(place) / f"{package.replace('/', '-')}.test"
            if not program.exists():
                go("test", "-c", "-vet=off", "-fuzz", "Fuzz", "-o", program, package)
            fuzz_one(command, program, folder, name, max(1.0, min(5.0, FUZZ_SECONDS / len(targets))))


ENDED_BY_TIME = re.compile(r"^--- FAIL: \w+ \([\d.]+s\)\n +context deadline exceeded\nFAIL$", re.M)


def fuzz_one(command, program, folder, name, seconds):
    try:
        text = command(program, "-test.run", "^$", "-test.fuzz", f"^{name}$", "-test.fuzztime", f"{seconds:.1f}s", "-test.parallel", "1",
                       # To make an input smaller would take the time of looking for others.
                       "-test.fuzzminimizetime", "10x", "-test.fuzzcachedir", program.parent / "corpus", cwd=folder)
    except pytest.fail.Exception as err:
        text = str(err)
        # Before Go 1.27 the end of the time itself is at times told as a
        # failure (go.dev/issue/75804), with no input that fails.
        if not ENDED_BY_TIME.search(text) or "Failing input" in text:
            raise
    assert re.search(r"^fuzz: elapsed: .* execs: [1-9]", text, re.M), f"{name} did not run:\n{telling_lines(text)}"


def test_staticcheck(go):
    """staticcheck ./..."""
    go("tool", f"-modfile={TOOLS / 'staticcheck' / 'go.mod'}", "staticcheck", "./...")


def test_vet(go):
    """go vet ./..., and of the explorers as they are built for the browser"""
    go("vet", "./...")
    # -trimpath: then what the set-up compiled for them is used again.
    go("vet", "-trimpath", "./pkg/explore/...", GOOS="js", GOARCH="wasm")


def test_modules(go):
    """go.mod and go.sum are tidy, and the modules are what they say"""
    for folder in (ROOT, TOOLS, TOOLS / "staticcheck"):
        try:
            go("mod", "tidy", "-diff", cwd=folder)
        except pytest.fail.Exception as err:
            if not re.search(r"dial tcp|no such host|i/o timeout|module lookup disabled|connection refused", str(err)):
                raise
        go("mod", "verify", cwd=folder)


# --------------------------------------------------------------- the files

def test_gofmt(command):
    """gofmt -l prints nothing"""
    files = [file for file in tracked() if file.suffix == ".go"]
    assert files, "there is no Go file"
    bad = command("gofmt", "-l", *files)
    assert not bad.strip(), f"not formatted (gofmt -w mends it):\n{bad}"


def test_lint(command):
    """ruff, eslint and the shell find nothing"""
    command(PYTHON, "-m", "ruff", "check", "scripts")
    command("node", BROWSER / "node_modules" / "eslint" / "bin" / "eslint.js", "--config", BROWSER / "eslint.config.mjs", "--max-warnings", "0", ".")
    for file in [*(SCRIPTS / name for name in ("lesson", "site", "test", "notebooks", "kernel", "lib/python.sh")), ROOT / ".ci" / "run"]:
        command("bash" if file.name == "run" else "sh", "-n", file)


def test_hygiene():
    """no machine's paths, registry hosts, download addresses or unfinished work in the files"""
    assert_clean(tracked(), ROOT)
