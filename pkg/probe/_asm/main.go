// Command _asm writes the assembly of package probe.
//
// From this folder: go run . ..
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
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
	for _, f := range []file{
		{"compute_amd64", func(g *gen) {
			for _, e := range []*elem{f32, f64} {
				g.fused(scalar, e)
				g.fused(avx2, e)
				g.fused(avx512, e)
				g.apart(scalar, e)
				g.apart(sse2, e)
			}
			g.clock()
		}},
		{"memory_amd64", func(g *gen) {
			for _, i := range []*isa{sse2, avx2, avx512} {
				g.load(i)
				for _, streaming := range []bool{false, true} {
					g.copy(i, streaming)
					g.triad(i, streaming)
				}
			}
		}},
	} {
		if err := write(filepath.Join(os.Args[1], f.name), f.make); err != nil {
			fmt.Fprintln(os.Stderr, "_asm:", err)
			os.Exit(1)
		}
	}
	if err := writeNEON(filepath.Join(os.Args[1], "neon_arm64")); err != nil {
		fmt.Fprintln(os.Stderr, "_asm:", err)
		os.Exit(1)
	}
}

// A gen writes one file.
type gen struct {
	*build.Context
}

func write(path string, generate func(*gen)) error {
	g := &gen{Context: build.NewContext()}
	g.ConstraintExpr("!noasm")
	generate(g)
	f, err := g.Result()
	if err != nil {
		return err
	}
	cfg := printer.Config{Name: "pkg/probe/_asm", Pkg: "probe"}
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
