"""scripts/lesson: set-up, the reader's copy, and JupyterLab on it.

Standard library only.
"""

import argparse
import itertools
import json
import os
import platform
import re
import signal
import socket
import ssl
import sys
import time
import urllib.request

import reader
from checkout import COPY, JUPYTER, PYTHON, ROOT, SCRIPTS, VENV, Stop, say
from install import STAMPS, Log, Setup, digest, ending, lock, run, stamp, stamped, unknown_option, write_if_changed

HELP = """\
usage: ./scripts/lesson [--restore [chapter] | --setup-only | --help] [--no-model] [options of JupyterLab]

Sets up what the lesson needs inside this checkout (the first time takes a few
minutes and the network), and opens JupyterLab on your own copy of the
chapters, my-lesson/.

  --restore [chapter]  bring a chapter's original back (all without a name); your
                       version is kept in my-lesson/backups/. Does not open JupyterLab.
  --setup-only         set up, but do not open JupyterLab
  --no-model           do not fetch the language model of the last chapter (93 MB);
                       MEMORYWALL_MODEL=FILE names another one
  --no-browser         (JupyterLab's) print the address, open no browser
  --port N             (JupyterLab's) listen on port N of localhost; also opens a
                       second JupyterLab while one is open
  --help               show this; --help-all shows JupyterLab's options

The first chapter: my-lesson/00_index.ipynb. Stop JupyterLab with Ctrl-C, twice.
"""

START = f"{COPY.name}/00_index.ipynb"

# What JupyterLab's command line takes, beside --Class.name=value. It is known
# here so that a slip is told before anything is set up; a test compares.
LAB_FLAGS = frozenset((
    "allow-root autoreload collaborative core-mode custom-css debug dev-mode expose-app-in-browser extensions-in-dev-mode "
    "generate-config no-browser no-script script show-config show-config-json skip-dev-build splice-source watch y").split())
LAB_OPTIONS = frozenset((
    "app-dir browser certfile client-ca config gateway-url ip keyfile log-level notebook-dir port port-retries preferred-dir "
    "pylab sock sock-mode transport watch").split())
LAB_TELLS = frozenset(("help-all", "version", "generate-config", "show-config", "show-config-json"))  # and opens nothing


def jupyter_files():
    """Settings of the server and of the pages, written afresh at each start.

    As files rather than options, so that options on the command line win.
    """
    config = JUPYTER / "config"
    server = {
        "ServerApp": {
            "ip": "localhost",
            "root_dir": str(ROOT),
            "allow_root": True,  # a container's only user is often root; the server listens on localhost only
            "use_redirect_file": "microsoft" not in platform.release().lower(),  # WSL: a browser of Windows cannot read the file
            "jpserver_extensions": {"jupyter_lsp": False, "notebook_shim": False},
            # As long as the time between two pings, which it is cut to anyway, with a warning.
            "tornado_settings": {"ws_ping_timeout": 30000},
        },
        "Application": {"log_level": "WARN"},  # what goes well is not told
        "MultiKernelManager": {"default_kernel_name": "gonb"},
        "KernelSpecManager": {"allowed_kernelspecs": ["gonb"], "ensure_native_kernel": False},
    }
    lab = {
        "LabApp": {
            "default_url": "/lab/tree/" + START,
            # Ask nobody for news, newer versions or lists of extensions.
            "news_url": None,
            "check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
            "extension_manager": "readonly",
        },
    }
    overrides = {
        "@jupyterlab/apputils-extension:notification": {"checkForUpdates": False, "fetchNews": "false"},
        "@jupyterlab/extensionmanager-extension:plugin": {"enabled": False},
        "@jupyterlab/notebook-extension:tracker": {
            # A notebook is laid out whole. Otherwise the heights of cells out of
            # sight are guessed, and a link to one of them lands elsewhere.
            "windowingMode": "defer",
            "codeCellConfig": {"lineNumbers": True},  # Go's messages name lines
        },
    }
    page = {
        "disabledExtensions": {
            "@jupyterlab/apputils-extension:announcements": True,
            "@jupyterlab/extensionmanager-extension": True,
            "@jupyterlab/lsp-extension": True,
            # These two cannot start without it, and log errors.
            "@jupyterlab/fileeditor-extension:language-server": True,
            "@jupyterlab/notebook-extension:language-server": True,
        },
    }
    for path, content in (
        (config / "jupyter_server_config.json", server),
        (config / "jupyter_lab_config.json", lab),
        (VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json", overrides),
        (VENV / "etc" / "jupyter" / "labconfig" / "page_config.json", page),
    ):
        write_if_changed(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    for folder in ("data", "runtime"):
        (JUPYTER / folder).mkdir(parents=True, exist_ok=True)
    os.chmod(JUPYTER / "runtime", 0o700)


def trust(setup):
    """Tell Jupyter that the chapters are ours, so that their figures are live."""
    files = reader.untouched()
    if os.environ.get("MEMORYWALL_TRUST") == "no":  # tests look at an untrusted chapter
        return
    key = digest(*[str(f.relative_to(ROOT)) for f in files], *files)
    database = JUPYTER / "data" / "nbsignatures.db"
    if not files or (stamped(f"trust-{COPY.name}", key) and database.exists()):
        return
    run(setup.log, [PYTHON, "-E", "-s", SCRIPTS / "lib" / "trust.py", *files], env=setup.env, what="trusting the notebooks")
    stamp(f"trust-{COPY.name}", key)


def restore(wanted):
    with lock():
        for line in reader.restore(wanted, reader.read(STAMPS / "kernel-go")):
            say(line)
        if (STAMPS / "python").exists():
            trust(Setup(Log()))
    say("Start with ./scripts/lesson. In an open JupyterLab: File > Reload Notebook from Disk.")


def running():
    """The addresses of the JupyterLabs of this checkout that answer."""
    found = []
    for path in sorted((JUPYTER / "runtime").glob("jpserver-*.json")):
        try:
            server = json.loads(path.read_text(encoding="utf-8"))
            os.kill(server["pid"], 0)
            # No proxy, and any certificate: this is our own machine.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(
                context=ssl._create_unverified_context()))
            with opener.open(server["url"] + "api", timeout=3) as answer:
                json.load(answer)["version"]
            token = f"?token={server['token']}" if server["token"] else ""
            found.append(f"{server['url']}lab/tree/{START}{token}")
        except (OSError, ValueError, KeyError, TypeError):
            continue  # it is gone
    return found


def port_of(options):
    """The port that the options ask for, None without one; stops at what is no port."""
    wanted = re.search(r"(?:^|\0)(--(?:ServerApp\.)?port)(?:[=\0]([^\0]*))?", "\0".join(options))
    if not wanted:
        return None
    if not re.fullmatch(r"\d{1,5}", wanted[2] or "") or int(wanted[2]) > 65535:
        raise Stop(f"{wanted[1]} {wanted[2] or ''}: a port is a whole number from 1 to 65535 (0: one that is free)", code=2)
    return int(wanted[2])


def taken(port):
    """Whether something listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port or 0))
        except OSError:
            return True
    return False


def parse(argv):
    """(our options, the rest for JupyterLab); stops at an option that neither of us has."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in ("--help", "--setup-only", "--no-model"):
        parser.add_argument(*(["-h"] if flag == "--help" else []), flag, action="store_true")
    parser.add_argument("--restore", nargs="?", const="")
    ours, rest = parser.parse_known_args(argv)
    for option in itertools.takewhile(lambda option: option != "--", rest):
        name = re.match(r"--?([^=]*)", option)
        if name and name[1] not in LAB_FLAGS | LAB_OPTIONS | LAB_TELLS and not re.fullmatch(r"[A-Z]\w*(\.\w+)+", name[1]):
            raise unknown_option("lesson", option, [*LAB_FLAGS, *LAB_OPTIONS, "restore", "setup-only", "no-model", "help", "help-all"])
    return ours, rest


def main(argv):
    ours, rest = parse(argv)
    if ours.help:
        print(HELP, end="")
        return
    if ours.restore is not None:
        if rest:
            raise Stop(f"--restore takes one chapter, or none for all of them, and no other option: leave out {' '.join(rest)}", code=2)
        restore(ours.restore or None)
        return
    port = port_of(rest)
    start = time.monotonic()
    say(f"The lesson in {ROOT}")
    with lock():
        setup = Setup(Log())
        setup.make(model=None if ours.no_model else "wanted")
        jupyter_files()
        setup.try_kernel()
        stamp("kernel-go", setup.go_version)
        notes = reader.refresh(setup.go_version)
        trust(setup)
    for note in notes:
        say(note)
    say(f"Ready in {time.monotonic() - start:.1f} s.")
    if ours.setup_only:
        return
    if not any(option.lstrip("-") in LAB_TELLS for option in rest):
        open_already = running()
        if open_already and port is None:
            say("The lesson is open already. To open a second JupyterLab: ./scripts/lesson --port N, with a number of your choice. "
                "The address of the first:")
            for address in open_already:
                say(f"    {address}")
            return
        if open_already:
            say(f"Note: the lesson is open already at {open_already[0]}\n"
                f"Both work on {COPY.name}/: what one saves, the other has to reload.")
        say(f"Opening JupyterLab on {START} …")
        if taken(port):
            say(f"Note: port {port} is in use, so JupyterLab takes the next one that is free.")
    os.chdir(ROOT)
    # A Ctrl-C now waits until lab.py can take it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.execve(PYTHON, [str(PYTHON), "-E", "-s", str(SCRIPTS / "lib" / "lab.py"), *rest], setup.env)


if __name__ == "__main__":
    with ending():
        main(sys.argv[1:])
