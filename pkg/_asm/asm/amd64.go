package asm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
)

// A Gen writes the functions of one file for amd64.
type Gen struct {
	*build.Context
	tables map[string]operand.Mem
}

// AMD64 returns what writes the file name.s of a package, with what generate
// puts into it, and name.go.
func AMD64(pkg, name string, generate func(*Gen)) func(folder string) error {
	return func(folder string) error {
		c := build.NewContext()
		c.ConstraintExpr("!noasm")
		generate(&Gen{c, map[string]operand.Mem{}})
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

// Begin begins a function. Its doc goes on from its name.
func (g *Gen) Begin(name, signature string, doc ...string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	if strings.Contains(signature, "*") {
		g.Pragma("noescape")
	}
	g.SignatureExpr("func" + signature)
	g.Doc(sentence(name, doc)...)
}

// Args loads the arguments of these names, one after the other, into registers.
func (g *Gen) Args(names string, to ...reg.Register) {
	for i, name := range fields(names, len(to)) {
		g.Load(g.Param(name), to[i])
	}
}

// Arg returns the place of an argument.
func (g *Gen) Arg(name string) operand.Mem {
	b, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// Choose jumps to the label, which the value ends, of that one of the values which
// r holds: the last if it is none of the others.
func (g *Gen) Choose(r reg.Register, label string, values ...int) {
	last := len(values) - 1
	for _, v := range values[:last] {
		g.CMPQ(r, operand.U8(v))
		g.JEQ(operand.LabelRef(fmt.Sprint(label, v)))
	}
	g.JMP(operand.LabelRef(fmt.Sprint(label, values[last])))
}

// Repeat goes back to the label until it has counted left down to 0.
func (g *Gen) Repeat(left operand.Op, label string) {
	g.DECQ(left)
	g.JNE(operand.LabelRef(label))
}

// End returns to Go.
func (g *Gen) End() {
	g.VZEROUPPER()
	g.RET()
}

// Table returns a table of 32-bit numbers, the same for the same name.
func (g *Gen) Table(name string, values ...uint32) operand.Mem {
	if m, ok := g.tables[name]; ok {
		return m
	}
	m := g.StaticGlobal(name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range values {
		g.AppendDatum(operand.U32(v))
	}
	g.tables[name] = m
	return m
}
