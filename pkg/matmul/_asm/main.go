// Command _asm writes the assembly of package matmul.
//
// From this folder: go run . ..
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// A file is one generated assembly file and the Go declarations beside it.
type file struct {
	name string
	make func(*gen)
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . FOLDER")
		os.Exit(2)
	}
	files := []file{
		{"tile_avx2_amd64", func(g *gen) {
			g.tile(avx2, f32)
			g.tile(avx2, f64)
		}},
		{"tile_avx512_amd64", func(g *gen) {
			g.tile(avx512, f32)
			g.tile(avx512, f64)
		}},
		{"dot_avx2_amd64", func(g *gen) {
			g.dot(avx2, f32)
			g.dot(avx2, f64)
		}},
		{"dot_avx512_amd64", func(g *gen) {
			g.dot(avx512, f32)
			g.dot(avx512, f64)
		}},
	}
	for _, f := range files {
		if err := write(filepath.Join(os.Args[1], f.name), f.make); err != nil {
			fail(err)
		}
	}
	if err := writeNEON(filepath.Join(os.Args[1], "neon_arm64")); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "_asm:", err)
	os.Exit(1)
}

// A gen writes one file.
type gen struct {
	*build.Context
	lanes operand.Mem // set once it is needed
}

func write(path string, generate func(*gen)) error {
	g := &gen{Context: build.NewContext()}
	g.ConstraintExpr("!noasm")
	generate(g)
	f, err := g.Result()
	if err != nil {
		return err
	}
	cfg := printer.Config{Name: "pkg/matmul/_asm", Pkg: "matmul"}
	if err := pass.Compile.Execute(f); err != nil {
		return err
	}
	for _, o := range []struct {
		suffix string
		p      printer.Printer
	}{{".s", printer.NewGoAsm(cfg)}, {".go", printer.NewStubs(cfg)}} {
		text, err := o.p.Print(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path+o.suffix, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
