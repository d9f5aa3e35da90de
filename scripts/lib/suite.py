"""scripts/test: the set-up, what only tests need, and every test.

Each step has a name, a time and a result; all run, even after a failure.
Standard library only.
"""

import argparse
import contextlib
import copy
import json
import math
import os
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from checkout import BROWSER, CACHE, CHARTS, LOGS, NOTEBOOKS, PAGES, PYTHON, ROOT, SCRIPTS, VENV, Stop, say
from install import TOOLS, Failed, Log, Setup, ending, lock, run, which_all

FUZZ_SECONDS = 17  # for all fuzz targets together

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUMS_MACOS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


class Bad(Exception):
    """A step failed; the message says how."""


class Skip(Exception):
    """A step cannot run on this machine; the message says why."""


class Suite:
    def __init__(self, setup):
        self.setup = setup
        self.env = setup.env
        self.log = None
        self.process = None  # the command that runs
        self.ended = False  # no other shall start

    def step(self, step, number, count):
        """Run one step; (outcome, seconds, detail)."""
        name = shown(step)
        begin = time.monotonic()
        with contextlib.suppress(OSError):
            LOGS.mkdir(parents=True, exist_ok=True)
        self.log = open(LOGS / f"test-{name}.log", "w", encoding="utf-8", errors="replace")
        say(f"[{number:2}/{count}] {name}: {getattr(Suite, step).__doc__}")
        try:
            if step in self.missing:
                raise Bad(self.missing[step])
            outcome, detail = "passed", getattr(self, step)() or ""
        except Skip as err:
            outcome, detail = "skipped", str(err)
        except Bad as err:
            outcome, detail = "FAILED", str(err)
        except Exception as err:  # a mistake in this file must not hide the other steps
            outcome, detail = "FAILED", f"{type(err).__name__}: {err}"
        finally:
            self.log.close()
        took = time.monotonic() - begin
        lines = [f"        {name} {outcome} in {took:.1f} s" + (f" ({detail})" if detail and outcome != "FAILED" else "")]
        if outcome == "FAILED":
            lines += ["        | " + line for line in detail.splitlines()[:80]]
            lines.append(f"        all of it: {(LOGS / f'test-{name}.log')}")
        say("\n".join(lines))
        return outcome, took, detail

    # ------------------------------------------------------------ helpers

    def command(self, *argv, cwd=ROOT, timeout=1800, **env):
        """Run a command; its output, or Bad with the lines that matter."""
        argv = [str(a) for a in argv]
        full = {**self.env, **env}
        self.log.write(f"\n$ cd {cwd}\n$ {' '.join(argv)} {env or ''}\n")
        if self.ended:
            raise Bad("stopped before it started")
        try:
            process = self.process = subprocess.Popen(argv, cwd=cwd, env=full, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as err:
            raise Bad(f"{argv[0]} does not start: {err.strerror}") from None
        try:
            out, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end_group(process)
            raise Bad(f"{' '.join(argv)} took more than {timeout} s and was ended") from None
        except BaseException:
            end_group(process)
            raise
        finally:
            self.process = None
        text = out.decode("utf-8", "replace")
        self.log.write(text + f"\n[exit {process.returncode}]\n")
        if process.returncode != 0:
            raise Bad(f"{' '.join(argv)} ended with {process.returncode}\n{telling_lines(text)}")
        return text

    def go(self, *args, **env):
        return self.command(self.setup.go, *args, **env)

    # -------------------------------------------------------------- steps

    def scripts(self):
        """the scripts parse, and set-up does what it says when things go wrong"""
        for name in ("lesson", "site", "test", "notebooks", "kernel", "lib/python.sh"):
            self.command("sh", "-n", SCRIPTS / name)
        self.command("bash", "-n", ROOT / ".ci" / "run")
        text = self.command(PYTHON, "-E", "-s", "-m", "unittest", "discover", "-s", SCRIPTS / "lib", "-p", "test_*.py")
        match = re.search(r"^Ran (\d+) tests?", text, re.M)
        if not match or match.group(1) == "0":
            raise Bad("no test of the set-up ran")
        return f"{match.group(1)} tests"

    def gofmt(self):
        """gofmt -l prints nothing"""
        gofmt = self.setup.go.with_name("gofmt")
        files = [f for f in tracked() if f.suffix == ".go"]
        if not files:
            raise Bad("there is no Go file")
        bad = self.command(gofmt, "-l", *files)
        if bad.strip():
            raise Bad("not formatted (gofmt -w mends it):\n" + bad)
        return f"{len(files)} files"

    def vet(self):
        """go vet ./..., and of the explorers as they are built for the browser"""
        self.go("vet", "./...")
        # -trimpath: then what the set-up compiled for them is used again.
        self.go("vet", "-trimpath", "./pkg/explore/...", GOOS="js", GOARCH="wasm")

    def staticcheck(self):
        """staticcheck ./..."""
        self.command(VENV / "bin" / "staticcheck", "./...", STATICCHECK_CACHE=str(CACHE / "staticcheck"))

    def unit(self):
        """go test ./..."""
        return count_packages(self.go("test", "-count=1", "./..."))

    def race(self):
        """go test -race, for the packages that have to do with goroutines"""
        if not c_compiler(self.env):
            raise Bad("the race detector needs a C compiler, and none was found. Install one:\n"
                      "  Debian, Ubuntu, WSL:  sudo apt-get install gcc libc6-dev\n"
                      "  Fedora:               sudo dnf install gcc\n"
                      "  macOS:                xcode-select --install")
        concurrent = []
        for line in self.go("list", "-f", "{{.ImportPath}}\t{{.Dir}}", "./...").splitlines():
            package, folder = line.split("\t")
            if any(CONCURRENT.search(f.read_text(encoding="utf-8")) for f in Path(folder).glob("*.go")):
                concurrent.append(package)
        if not concurrent:
            raise Bad("no package has to do with goroutines: this step would test nothing")
        self.go("test", "-race", "-short", "-count=1", *concurrent, CGO_ENABLED="1")
        return ", ".join(p.rsplit("/", 1)[-1] for p in concurrent)

    def isa(self):
        """the kernels on each instruction set that this CPU has, and in plain Go"""
        kernels = ("./pkg/matmul", "./pkg/probe")
        runs = [("plain Go", ["-tags", "noasm"], {})]
        have = set()
        if platform.machine() == "x86_64":
            with contextlib.suppress(OSError):  # elsewhere than on Linux nothing is demanded
                flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text(encoding="utf-8")))
                have = {name for name, flag in (("avx2", "avx2"), ("avx512", "avx512f")) if flag in flags}
            runs += [("up to AVX2", [], {"GODEBUG": "cpu.avx512f=off"}), ("without AVX", [], {"GODEBUG": "cpu.avx2=off,cpu.avx512f=off"})]
        runs.append(("all", [], {"MATMUL_REQUIRE_ISA": ",".join(sorted(have))} if have else {}))
        for _, options, env in runs:
            self.go("test", "-short", "-count=1", *options, *kernels, **env)
        return ", ".join(name for name, _, _ in runs) + (f"; {' and '.join(sorted(have))} demanded" if have else "")

    def i386(self):
        """vet and tests for 32 bits (GOARCH=386)"""
        if not (sys.platform.startswith("linux") and platform.machine() in ("x86_64", "i686")):
            self.go("vet", "./...", GOARCH="386", GOOS="linux")
            return "vet only: this machine does not run them"
        # Only the packages are tested: ./notebooks is about words, and ./scripts prints what they give.
        self.go("vet", "./scripts/...", GOARCH="386")
        return count_packages(self.go("test", "-short", "-count=1", "-vet=all", "./pkg/...", GOARCH="386"))

    def arm64(self):
        """build for arm64, and vet what is written for it, on Linux and macOS"""
        self.go("build", "./...", GOARCH="arm64", GOOS="linux")
        named = []
        usual = self.files_of_packages("amd64", "linux")
        for system in ("linux", "darwin"):
            # The packages with a file, or without one, there alone.
            own = sorted(line.split("\t")[0] for line in self.files_of_packages("arm64", system) - usual)
            if not own:
                raise Bad(f"no package is written for {system}/arm64: this step would vet nothing")
            self.go("vet", *own, GOARCH="arm64", GOOS=system)
            named.append(f"{system}: {', '.join(p.rsplit('/', 1)[-1] for p in own)}")
        return "; ".join(named)

    def files_of_packages(self, architecture, system):
        """A line for each package: its path, and the files that are built there."""
        files = "{{.ImportPath}}\t{{.GoFiles}} {{.SFiles}} {{.TestGoFiles}} {{.XTestGoFiles}}"
        return set(self.go("list", "-f", files, "./...", GOARCH=architecture, GOOS=system).splitlines())

    def fuzz(self):
        """every fuzz target, for a few seconds"""
        # Read from the sources: to ask each package's tests would build them all.
        targets = {}
        listed = self.go("list", "-f", '{{.ImportPath}}\t{{.Dir}}\t{{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}', "./...")
        for line in listed.splitlines():
            package, folder, files = line.split("\t")
            names = [name for file in files.split()
                     for name in re.findall(r"^func (Fuzz\w+)\(\w+ \*testing\.F\)", (Path(folder) / file).read_text(encoding="utf-8"), re.M)]
            if names:
                targets[package] = Path(folder), names
        count = sum(len(names) for _, names in targets.values())
        if not count:
            raise Bad("no fuzz target was found")
        seconds = max(1.0, min(5.0, FUZZ_SECONDS / count))
        bad = []
        with tempfile.TemporaryDirectory(prefix="memorywall-") as place:
            for package, (folder, names) in targets.items():
                # Linked once for all the targets of a package; `go test -fuzz` would link it for each.
                program = Path(place) / "fuzz.test"
                try:
                    self.go("test", "-c", "-vet=off", "-fuzz", "Fuzz", "-o", program, package)
                except Bad as err:
                    bad.append(f"{package}: {err}")
                    continue
                for name in names:
                    try:
                        self.fuzz_one(program, folder, name, seconds)
                    except Bad as err:
                        bad.append(f"{package} {name}: {err}")
        if bad:
            raise Bad("\n".join(bad))
        return f"{count} targets, {seconds:.0f} s each"

    def fuzz_one(self, program, folder, name, seconds):
        try:
            text = self.command(program, "-test.run", "^$", "-test.fuzz", f"^{name}$", "-test.fuzztime", f"{seconds:.1f}s", "-test.parallel", "1",
                                # To make an input smaller would take the time of looking for others.
                                "-test.fuzzminimizetime", "10x", "-test.fuzzcachedir", program.parent / "corpus", cwd=folder)
        except Bad as err:
            text = str(err)
            # Before Go 1.27 the end of the time itself is at times told as a
            # failure (go.dev/issue/75804), with no input that fails.
            if not ENDED_BY_TIME.search(text) or "Failing input" in text:
                raise
        if not re.search(r"^fuzz: elapsed: .* execs: [1-9]", text, re.M):
            raise Bad(f"it did not run:\n{telling_lines(text)}")

    def report(self):
        """go run ./scripts/report --json equals the quoted numbers"""
        got = json.loads(self.go("run", "./scripts/report", "--json"))
        want = json.loads((ROOT / "pkg" / "facts" / "testdata" / "quoted_numbers.json").read_text(encoding="utf-8"))
        differences, count = [], [0]
        compare_json("", want, got, differences, count)
        if differences:
            raise Bad("the report is not what is quoted:\n" + "\n".join(differences[:20]))
        plain = self.go("run", "./scripts/report")
        if not plain.strip():
            raise Bad("go run ./scripts/report prints nothing")
        return f"{count[0]} values"

    def modules(self):
        """go.mod and go.sum are tidy, and the modules are what they say"""
        for folder in (ROOT, TOOLS, TOOLS / "staticcheck"):
            try:
                self.command(self.setup.go, "mod", "tidy", "-diff", cwd=folder)
            except Bad as err:
                if re.search(r"dial tcp|no such host|i/o timeout|module lookup disabled|connection refused", str(err)):
                    self.note = "tidy not checked: no network"
                    continue
                raise Bad(f"{folder.relative_to(ROOT)}/go.mod is not tidy (go mod tidy mends it):\n{err}") from None
            self.command(self.setup.go, "mod", "verify", cwd=folder)
        return getattr(self, "note", "")

    def charts(self):
        """node --test in scripts/charts"""
        return node_tests(self.command(self.setup.node, "--test", cwd=CHARTS))

    def notebooks(self):
        """every chapter runs without the network, with the outputs it has"""
        if not list(NOTEBOOKS.glob("*.ipynb")):
            raise Bad("there is no chapter")
        text = self.command(PYTHON, "-E", "-s", SCRIPTS / "lib" / "run_notebooks.py", "check")
        return text.strip().splitlines()[-1]

    def browser(self):
        """the chapters in JupyterLab, in a real Chromium"""
        return self.in_browser("--chapters")

    def explorers(self):
        """the live explorers, in JupyterLab and on a page from the disk"""
        return self.in_browser("--explorers")

    def in_browser(self, which):
        return node_tests(self.command(BROWSER / "run", which, cwd=BROWSER, **self.browser_env()))

    def browser_env(self):
        if not self.chromium:
            raise Bad("no Chromium or Chrome was found. Install one, or set MEMORYWALL_CHROMIUM to its path:\n"
                      "  Debian, WSL:  sudo apt-get install chromium\n"
                      "  Ubuntu:       install Google Chrome's .deb (a snap's Chromium does not see other folders)\n"
                      "  Fedora:       sudo dnf install chromium\n"
                      "  macOS:        brew install --cask google-chrome")
        return {"MEMORYWALL_CHROMIUM": str(self.chromium),
                "PATH": os.pathsep.join([str(Path(self.setup.node).parent), self.env["PATH"]])}

    def site(self):
        """the pages: built from the notebooks, then read in a real Chromium"""
        env = self.browser_env()
        build = self.command(self.setup.node, "--test", cwd=PAGES)
        out = CACHE / "site"
        self.command(SCRIPTS / "site", out)
        read = self.command(self.setup.node, "--test-reporter=spec", "site.test.mjs", cwd=BROWSER, timeout=600, MEMORYWALL_SITE=str(out), **env)
        return node_tests(build + read)

    def hygiene(self):
        """no machine's paths, registry hosts, download addresses or unfinished work in the files"""
        bad = []
        count = 0
        for path in tracked():
            name = path.relative_to(ROOT).as_posix()
            try:
                text = path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
                continue
            count += 1
            for pattern, what in UNWANTED:
                for match in re.finditer(pattern, text):
                    line = text.count("\n", 0, match.start()) + 1
                    bad.append(f"{name}:{line}: {what}: {match[0][:80]}")
            if re.search(r"(requirements[^/]*\.(txt|in)|package-lock\.json|\.npmrc|pip\.conf)$", name):
                for match in re.finditer(r'"resolved"\s*:|--(extra-)?index-url|--find-links|--trusted-host|^registry\s*=', text, re.M):
                    line = text.count("\n", 0, match.start()) + 1
                    bad.append(f"{name}:{line}: a download address: {match[0]}")
            if name.startswith("scripts/requirements") and name.endswith(".txt"):
                for block in re.split(r"\n(?=[a-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.M)):
                    if "==" in block and "--hash=sha256:" not in block:
                        bad.append(f"{name}: not hashed: {block.split()[0]}")
        if bad:
            raise Bad("\n".join(bad[:40]))
        return f"{count} files"

    # ------------------------------------------------------ test-only set-up

    def prepare(self, wanted):
        """Install what only these steps need; what cannot be had fails its own step."""
        setup = self.setup
        self.chromium = None
        self.missing = {}

        def attempt(step, action):
            if step in wanted:
                try:
                    action()
                except Stop as err:
                    self.missing[step] = str(err)

        attempt("staticcheck", lambda: setup.go_tools(
            "staticcheck", "building staticcheck", TOOLS / "staticcheck", ["honnef.co/go/tools/cmd/staticcheck"]))
        attempt("race", self.get_c_compiler)
        for step in ("browser", "explorers", "site"):
            attempt(step, self.get_browser)
        attempt("site", setup.pages)

    def get_c_compiler(self):
        if not c_compiler(self.env):
            self.apt_get("gcc", "libc6-dev")

    def get_browser(self):
        self.setup.npm_ci(BROWSER, "installing what drives the browser")
        self.chromium = find_chromium(self.env)
        if not self.chromium:
            self.apt_get("chromium")
            self.chromium = find_chromium(self.env)

    def apt_get(self, *packages):
        """Debian's packages, where we may install them; elsewhere nothing."""
        if not (sys.platform.startswith("linux") and os.geteuid() == 0 and shutil.which("apt-get")):
            return
        say(f"  installing Debian's {' and '.join(packages)} …")
        env = {**self.env, "DEBIAN_FRONTEND": "noninteractive"}
        with contextlib.suppress(Failed):
            run(self.setup.log, ["apt-get", "update"], env=env)
        run(self.setup.log, ["apt-get", "install", "-y", "--no-install-recommends", *packages], env=env,
            what=f"apt-get install {' '.join(packages)}")


# What shows that a package starts goroutines, guards against them (more than to
# do something once), or asks whether the race detector is on.
CONCURRENT = re.compile(r'^\s*go (?:func\b|\w[\w.]*\()|\bsync\.(?!Once)[A-Z]|^\s*(?:import )?"sync/atomic"|^//go:build race$', re.M)

ENDED_BY_TIME = re.compile(r"^--- FAIL: \w+ \([\d.]+s\)\n +context deadline exceeded\nFAIL$", re.M)

# Written so that no pattern finds itself.
UNWANTED = (
    (r"(?<![\w.])/(?:work|root|home/[a-z]\w*|Users/[A-Za-z]\w*)/[\w.]+", "a path of one machine"),
    (r"\b(?:p[y]pi\.org|python[h]osted\.org|registry\.[n]pmjs\.|registry\.[y]arnpkg\.|proxy\.golan[g]\.org|sum\.golan[g]\.org|deb\.debia[n]\.org)",
     "a registry's host"),
    (r"\b(?:TO[D]O|FIX[M]E|XX[X])\b", "unfinished work"),
    (r"<{7} |^>{7} ", "a merge conflict"),
)


def tracked():
    """The files that git has, or would have (without git: none)."""
    out = subprocess.run(["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached"],
                         capture_output=True)
    if out.returncode != 0:
        raise Bad("git does not list the files of this checkout: " + out.stderr.decode("utf-8", "replace").strip())
    return [ROOT / os.fsdecode(n) for n in out.stdout.split(b"\0") if n and (ROOT / os.fsdecode(n)).is_file()]


def compare_json(where, want, got, differences, count):
    """Integers and texts must be equal, other numbers within 1e-12 relative."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            path = f"{where}.{key}" if where else key
            if key not in got:
                differences.append(f"{path}: missing")
            elif key not in want:
                differences.append(f"{path}: not quoted")
            else:
                compare_json(path, want[key], got[key], differences, count)
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            differences.append(f"{where}: {len(got)} entries, quoted are {len(want)}")
        for i, (a, b) in enumerate(zip(want, got)):
            compare_json(f"{where}[{i}]", a, b, differences, count)
    else:
        count[0] += 1
        number = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (want, got))
        if isinstance(want, float) and number:
            same = math.isfinite(got) and abs(got - want) <= 1e-12 * abs(want)
        else:
            same = type(want) is type(got) and want == got
        if not same:
            differences.append(f"{where}: {got!r}, quoted is {want!r}")


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


def count_packages(text):
    ran = len(re.findall(r"^ok\s", text, re.M))
    if ran == 0:
        raise Bad("no package has tests")
    return f"{ran} packages"


def node_tests(text):
    """How many tests node ran; none is a failure."""
    counts = [int(n) for n in re.findall(r"^(?:#|ℹ) tests (\d+)\s*$", text, re.M)]
    if not sum(counts):
        raise Bad("no test ran\n" + telling_lines(text))
    return f"{sum(counts)} tests"


def c_compiler(env):
    return next((c for name in ("cc", "gcc", "clang") for c in which_all(name, env)), None)


def find_chromium(env):
    chosen = os.environ.get("MEMORYWALL_CHROMIUM")
    if chosen:
        return Path(chosen) if os.access(chosen, os.X_OK) else None
    for name in CHROMIUMS:
        for path in which_all(name, env):
            return path
    return next((Path(p) for p in CHROMIUMS_MACOS if os.access(p, os.X_OK)), None)


def cpu_seconds():
    """What the commands so far, and all that they waited for, used of the processors."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end_group(process):
    for sig in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, sig)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


STEPS = ("hygiene", "gofmt", "vet", "staticcheck", "scripts", "unit", "race", "isa", "i386", "arm64", "fuzz", "report",
         "modules", "charts", "explorers", "notebooks", "site", "browser")
# These run beside the others, one after another; they take about as long.
BESIDE = ("notebooks", "site", "browser")
SHOWN = {"i386": "386", "unit": "go-test"}  # how a step is called on the command line


def shown(step):
    return SHOWN.get(step, step)


def main(argv):
    by_name = {shown(s): s for s in STEPS}
    parser = argparse.ArgumentParser(
        prog="scripts/test", description="Set up, then run every test of the lesson, or the steps that are named.")
    parser.add_argument("steps", nargs="*", metavar="step", help="one of: " + ", ".join(by_name))
    parser.add_argument("--list", action="store_true", help="list the steps and what they test")
    args = parser.parse_args(argv)
    if args.list:
        for name, step in by_name.items():
            print(f"{name:12} {getattr(Suite, step).__doc__}")
        return 0
    for name in args.steps:
        if name not in by_name:
            parser.error(f"there is no step {name!r}; there are: {', '.join(by_name)}")
    wanted = [by_name[n] for n in args.steps] or list(STEPS)

    start = time.monotonic()
    say(f"Set-up in {ROOT}")
    with lock():
        setup = Setup(Log("test-setup.log"))
        setup.make(first_cell="notebooks" in wanted, model="needed")
        suite = Suite(setup)
        suite.prepare(wanted)
    setup_time = time.monotonic() - start
    say(f"  ready in {setup_time:.0f} s")

    results = {}
    lanes = [[s for s in wanted if s not in BESIDE], [s for s in wanted if s in BESIDE]]
    suites = [copy.copy(suite) for _ in lanes]  # each with a log and a command of its own

    def lane(suite, steps):
        for step in steps:
            results[step] = suite.step(step, wanted.index(step) + 1, len(wanted))

    beside = threading.Thread(target=lane, args=(suites[1], lanes[1]), daemon=True)
    try:
        beside.start()
        lane(suites[0], lanes[0])
        while beside.is_alive():
            beside.join(1)
    except BaseException:
        for one in suites:
            one.ended = True
            if one.process:
                end_group(one.process)
        raise

    say()
    say(f"{'step':12} {'result':8} {'seconds':>8}")
    say(f"{'set-up':12} {'':8} {setup_time:8.1f}")
    for step in wanted:
        outcome, took, detail = results[step]
        say(f"{shown(step):12} {outcome:8} {took:8.1f}  {detail.splitlines()[0][:90] if detail else ''}".rstrip())
    say(f"{'all':12} {'':8} {time.monotonic() - start:8.1f}  {cpu_seconds():.0f} s of the processors")
    count = {o: sum(r[0] == o for r in results.values()) for o in ("passed", "FAILED", "skipped")}
    say(f"{count['passed']} passed, {count['FAILED']} failed" + (f", {count['skipped']} skipped" if count["skipped"] else ""))
    return 1 if count["FAILED"] or not count["passed"] else 0


if __name__ == "__main__":
    with ending(failed="0 passed, 1 failed", interrupted="Stopped."):
        sys.exit(main(sys.argv[1:]))
