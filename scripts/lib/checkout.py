"""Where things are in the checkout, and the environment that our programs get.

Standard library only: this runs before anything is installed.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
NOTEBOOKS = ROOT / "notebooks"
# The reader's copy of the chapters. MEMORYWALL_COPY names another folder of the
# checkout instead; it then has Jupyter's files of its own as well. Tests use
# that, so that they leave the reader's chapters, trust and open tabs alone.
COPY = ROOT / (os.path.basename(os.environ.get("MEMORYWALL_COPY", "")) or "my-lesson")
JUPYTER = CACHE / ("jupyter" if COPY.name == "my-lesson" else f"jupyter-{COPY.name}")
MODEL = CACHE / "model" / "SmolLM2-135M-Instruct.Q4_1.gguf"  # of the last chapter
CHARTS = SCRIPTS / "charts"
BROWSER = SCRIPTS / "browser"
PAGES = SCRIPTS / "pages"
LOGS = CACHE / "log"

PYTHON = VENV / "bin" / "python"

# Go's settings that say how the reader reaches the network, or where caches
# are. They are kept; every other setting of `go env -w` is left out.
GO_KEPT = (
    "GOPROXY", "GOSUMDB", "GONOPROXY", "GONOSUMDB", "GOPRIVATE", "GOINSECURE",
    "GOVCS", "GOAUTH", "GOPATH", "GOMODCACHE", "GOCACHE", "GOTMPDIR",
)

# Set in the reader's shell, each of these changes or breaks a build. An empty
# value counts as unset for Go.
GO_CLEARED = (
    "GOFLAGS", "GOWORK", "GOOS", "GOARCH", "GO111MODULE", "GOBIN", "GOROOT",
    "GOEXPERIMENT", "GODEBUG", "GOAMD64", "GOARM64", "GOCACHEPROG",
    "GOFIPS140", "CGO_ENABLED", "GOTOOLDIR", "GO_EXTLINK_ENABLED", "GOCOVERDIR",
)

# Linking without DWARF takes a quarter off the time of a cell. A checkout
# that git does not trust must not stop a build.
GOFLAGS = "-ldflags=-w -buildvcs=false"


sys.stdout.reconfigure(errors="replace")  # where it knows ASCII alone, the rest becomes question marks


class Stop(Exception):
    """Something the reader must know and can mend: shown without a stack."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def runs_programs(folder):
    """Whether a program can be written into this folder and run from it."""
    try:
        with tempfile.TemporaryDirectory(prefix="memorywall-", dir=folder) as place:
            program = Path(place, "try")
            program.write_text("#!/bin/sh\n", encoding="utf-8")
            program.chmod(0o755)
            return subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False


def temporary_folder():
    """Where the kernel builds and runs cells: TMPDIR if that will do, or else another folder.

    Sockets live in it, and the path of a socket may not be longer than about 100 bytes.
    """
    tried = list(dict.fromkeys([os.environ.get("TMPDIR") or "/tmp", "/tmp", "/var/tmp", str(CACHE / "tmp")]))
    CACHE.mkdir(exist_ok=True)
    (CACHE / "tmp").mkdir(exist_ok=True)
    for folder in tried:
        if os.path.isabs(folder) and len(os.fsencode(folder)) <= 50 and runs_programs(folder):
            return folder
    raise Stop("No temporary folder will do: cells are built there and run there, so programs must be allowed to run in it, "
               f"and its path may have 50 bytes at most. Tried: {', '.join(tried)}. Set TMPDIR to a folder that is so.")


def unusable_go_folders():
    """Go's folders in the reader's environment with which no go command runs: {name: value}.

    Go takes absolute paths alone, and ignores empty entries of GOPATH.
    """
    bad = {}
    for name in ("GOPATH", "GOMODCACHE", "GOCACHE", "GOTMPDIR"):
        value = os.environ.get(name, "")
        entries = value.split(os.pathsep) if name == "GOPATH" else [value]
        if any(entry and not os.path.isabs(entry) for entry in entries):
            bad[name] = value
    return bad


def base_env():
    """The reader's environment without what would lead our programs astray.

    Network settings (proxies, certificates, PIP_*, npm_config_*) stay.
    """
    env = dict(os.environ)
    for name in list(env):
        if name.startswith(("PYTHON", "JUPYTER", "CONDA_", "IPYTHON")) and name != "JUPYTER_TOKEN":
            del env[name]
    for name in ("VIRTUAL_ENV", "PYENV_VERSION", "PIP_TARGET", "PIP_PREFIX", "PIP_USER",
                 "PIP_REQUIRE_VIRTUALENV", "PIP_REQUIREMENT", "PIP_CONSTRAINT", "PIP_LOG",
                 "PIP_DRY_RUN", "PIP_ROOT", "NODE_OPTIONS", "NODE_PATH", "NODE_ENV",
                 "npm_config_prefix", "npm_config_global", "CDPATH", "ENV", "BASH_ENV"):
        env.pop(name, None)
    env["PYTHONNOUSERSITE"] = "1"
    env["PYTHONUNBUFFERED"] = "1"
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    env["PIP_NO_INPUT"] = "1"
    without = [s for s in env.get("GODEBUG", "").split(",") if s.startswith("cpu.")]
    for name in (*GO_CLEARED, *unusable_go_folders()):
        env.pop(name, None)
    if without:  # instruction sets that are to stay unused change no build
        env["GODEBUG"] = ",".join(without)
    env["GOTOOLCHAIN"] = "local"  # never fetch another Go by itself

    home = env.get("HOME", "")
    if not (os.path.isdir(home) and os.access(home, os.W_OK | os.X_OK)):  # then the caches live in the checkout
        for name, folder in (("PIP_CACHE_DIR", "pip"), ("npm_config_cache", "npm"),
                             ("GOCACHE", "go-build"), ("GOPATH", "go"), ("GOMODCACHE", "go/pkg/mod")):
            env[name] = str(CACHE / folder)

    # Jupyter's own files stay inside the checkout, and its kernels come
    # before any that the reader has elsewhere.
    env["JUPYTER_CONFIG_DIR"] = str(JUPYTER / "config")
    env["JUPYTER_DATA_DIR"] = str(JUPYTER / "data")
    env["JUPYTER_RUNTIME_DIR"] = str(JUPYTER / "runtime")
    env["JUPYTER_PREFER_ENV_PATH"] = "1"
    env["JUPYTER_PLATFORM_DIRS"] = "0"
    env["IPYTHONDIR"] = str(CACHE / "ipython")
    return env


def go_env(settings, env=None):
    """What a Go command of ours gets; settings: the reader's kept Go values.

    GOENV=off shuts out what `go env -w` wrote.
    """
    env = dict(base_env() if env is None else env)
    env.update({name: value for name, value in settings.items() if value})
    env["GOENV"] = "off"
    env["GOWORK"] = "off"  # a go.work in a folder above is not about this module
    env["GOFLAGS"] = GOFLAGS
    if env.get("GOMODCACHE", "").startswith(str(CACHE)):
        env["GOFLAGS"] += " -modcacherw"  # so that the checkout can be removed like any folder
    env["CGO_ENABLED"] = "0"  # the same build with and without a C compiler
    # Counters of the go command and of gopls stay in the checkout too (where
    # the system lets us say so), and their sending is off.
    env["XDG_CONFIG_HOME"] = str(CACHE / "config")
    env["GOPLSCACHE"] = str(CACHE / "gopls")
    return env


def with_path(env, folders):
    """env with these folders first on its PATH."""
    rest = [p for p in env.get("PATH", os.defpath).split(os.pathsep) if p]
    first = [str(f) for f in folders if f]
    env = dict(env)
    env["PATH"] = os.pathsep.join(first + [p for p in rest if p not in first])
    return env


def say(line=""):
    """One line of progress, at once."""
    print(f"{line}\n", end="", flush=True)  # in one piece: two threads may say something
