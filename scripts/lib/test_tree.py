"""Tests of the checkout's own files: what they say of each other holds."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from checkout import ROOT, SCRIPTS, go_env


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Files(unittest.TestCase):
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
            words = "current directory is contained in a module that is not one of the workspace modules"
            self.assertIn(words, told)
            self.assertIn(words, read("README.md"))


if __name__ == "__main__":
    unittest.main()
