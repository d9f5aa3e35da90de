"""Tests of the checkout's own files: what they say of each other holds."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from checkout import ROOT, go_env

# Written so that no pattern finds itself.
UNWANTED = (
    (r"(?<![\w.])/(?:work|root|home/[a-z]\w*|Users/[A-Za-z]\w*)/[\w.]+", "a path of one machine"),
    (r"\b(?:p[y]pi\.org|python[h]osted\.org|registry\.[n]pmjs\.|registry\.[y]arnpkg\.|proxy\.golan[g]\.org|sum\.golan[g]\.org|deb\.debia[n]\.org)",
     "a registry's host"),
    (r"\b(?:TO[D]O|FIX[M]E|XX[X])\b", "unfinished work"),
    (r"<{7} |^>{7} ", "a merge conflict"),
)
PINS = re.compile(r"(requirements[^/]*\.(txt|in)|package-lock\.json|\.npmrc|pip\.conf)$")
ADDRESS = (r'"resolved"\s*:|--(extra-)?index-url|--find-links|--trusted-host|^registry\s*=', "a download address")


def tracked():
    """The files that git has."""
    out = subprocess.run(["git", "-C", str(ROOT), "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached"], capture_output=True, check=True)
    return [ROOT / os.fsdecode(n) for n in out.stdout.split(b"\0") if n and (ROOT / os.fsdecode(n)).is_file()]


def assert_clean(files, root):
    """Fails with each place that no file of the lesson may have."""
    bad = []
    for path in files:
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for pattern, what in (*UNWANTED, *([ADDRESS] if PINS.search(name) else [])):
            bad += [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match[0][:80]}" for match in re.finditer(pattern, text, re.M)]
        if name.startswith("scripts/requirements") and name.endswith(".txt"):
            bad += [f"{name}: not hashed: {block.split()[0]}" for block in re.split(r"\n(?=[a-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.M))
                    if "==" in block and "--hash=sha256:" not in block]
    if bad:
        raise AssertionError("\n".join(bad[:40]))


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Files(unittest.TestCase):
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
            for name, text in {**planted, "fine.md": "nothing here: a/work/b, ./home, pypi\n"}.items():
                Path(folder, name).parent.mkdir(exist_ok=True)
                Path(folder, name).write_text(text, encoding="utf-8")
            with self.assertRaises(AssertionError) as caught:
                assert_clean([Path(folder, name) for name in [*planted, "fine.md"]], Path(folder))
        for name in planted:
            self.assertIn(name, str(caught.exception))
        self.assertNotIn("fine.md", str(caught.exception))

    def test_readme_names_what_grows(self):
        made = read(".gitignore").split("# Everything that set-up makes inside the checkout.\n")[1].split("\n\n")[0].split()
        self.assertGreater(len(made), 5)
        said = read("README.md").split("Everything grows in this folder")[1].split("\n\n")[0]
        for name in made:
            plain = name.lstrip("/").replace("*", "")
            if not name.startswith("/.site") and plain != "mine/":
                self.assertIn(f"`{plain}`", said, f".gitignore has {name}")

    def test_generated_files_are_marked(self):
        generated = [path for path in tracked() if path.suffix in (".go", ".s") and re.search(r"(?m)^// Code generated", path.read_text(encoding="utf-8"))]
        generated = [path for path in generated if "_asm" not in path.parts]  # their generators
        self.assertGreater(len(generated), 10)
        out = subprocess.run(["git", "-C", ROOT, "-c", f"safe.directory={ROOT}", "check-attr", "linguist-generated", *generated],
                             capture_output=True, text=True).stdout.splitlines()
        self.assertEqual([line for line in out if not line.endswith(": set")], [])

    def test_links_and_files_of_the_guides(self):
        for name in ("README.md", "CONTRIBUTING.md", "scripts/compare/README.md"):
            text = read(name)
            for link in re.findall(r"\]\(([^)#:]+)\)", text):
                self.assertTrue((ROOT / name).parent.joinpath(link).exists(), f"{name}: {link}")
            for path in re.findall(r"`((?:pkg|scripts|notebooks|\.ci)/[\w./]+)`", text):
                if path.startswith("scripts/explorer/built"):
                    continue  # set-up makes it
                self.assertTrue((ROOT / path.replace("NN_name", "00_index").replace("chapterNN", "chapter01")).exists(), f"{name}: {path}")

    def test_every_package_has_its_row_in_the_map(self):
        rows = set(re.findall(r"(?m)^\| `pkg/(\w+)/` \|", read("CONTRIBUTING.md")))
        self.assertEqual(rows, {path.name for path in (ROOT / "pkg").iterdir()})

    def test_integration_runs_the_suite(self):
        self.assertIn("run: .ci/run\n", read(".github/workflows/test.yml"))
        self.assertIn("exec ./scripts/test", read(".ci/run"))

    def test_the_kernel_and_its_library_have_one_version(self):
        found = [re.findall(r"github.com/janpfeifer/gonb (v\S+)", read(path)) for path in ("go.mod", "scripts/tools/go.mod")]
        self.assertEqual(found[0], found[1])
        self.assertEqual(len(found[0]), 1)
        self.assertNotIn("tool", re.findall(r"^\w+", read("go.mod"), re.M))

    def test_go_work_in_a_folder_above(self):
        with tempfile.TemporaryDirectory(prefix="memorywall-") as place:
            for path, text in (("go.work", "go 1.26\n\nuse ./other\n"), ("other/go.mod", "module other\n\ngo 1.26\n"),
                               ("mine/go.mod", "module mine\n\ngo 1.26\n"), ("mine/main.go", "package main\n\nfunc main() {}\n")):
                Path(place, path).parent.mkdir(exist_ok=True)
                Path(place, path).write_text(text, encoding="utf-8")
            build = ["go", "build", "-o", os.devnull, "."]
            env = {**go_env({}), "PATH": os.environ["PATH"], **{n: os.environ[n] for n in ("GOCACHE", "GOMODCACHE") if n in os.environ}}
            run = subprocess.run(build, cwd=Path(place, "mine"), env=env, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)
            told = subprocess.run(build, cwd=Path(place, "mine"), env={**env, "GOWORK": ""}, capture_output=True, text=True).stderr
            words = "is contained in a module that is not one of the workspace modules"
            self.assertIn(words, told)
            self.assertIn(words, read("README.md"))


if __name__ == "__main__":
    unittest.main()
