// Package asm holds what the generators of assembly share: how a file is
// written, the element types, and the instruction sets with their registers.
package asm

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// Main ends the generator of a package. Its only argument is the folder to
// write to, which all is given: each writes one assembly file and the Go
// declarations beside it.
func Main(all ...func(folder string) error) {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./PACKAGE FOLDER")
		os.Exit(2)
	}
	for _, write := range all {
		if err := write(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "_asm:", err)
			os.Exit(1)
		}
	}
}

// generator is what generated files of a package name as their origin.
func generator(pkg string) string { return "pkg/_asm/" + pkg }

// AMD64 returns what writes the file name.s of a package, with what generate
// puts into it, and name.go.
func AMD64(pkg, name string, generate func(*build.Context)) func(folder string) error {
	return func(folder string) error {
		c := build.NewContext()
		c.ConstraintExpr("!noasm")
		generate(c)
		f, err := c.Result()
		if err != nil {
			return err
		}
		if err := pass.Compile.Execute(f); err != nil {
			return err
		}
		cfg := printer.Config{Name: generator(pkg), Pkg: pkg}
		for _, o := range []struct {
			suffix string
			p      printer.Printer
		}{{".s", printer.NewGoAsm(cfg)}, {".go", printer.NewStubs(cfg)}} {
			text, err := o.p.Print(f)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, name+o.suffix), text, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}
