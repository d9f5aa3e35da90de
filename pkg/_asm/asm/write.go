// Package asm holds what the generators of assembly share: how a file is
// written, the element types, and the instruction sets with their registers.
package asm

import (
	"fmt"
	"os"
	"strings"
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

// sentence returns a doc with the name that it goes on from.
func sentence(name string, doc []string) []string {
	return append([]string{name + " " + doc[0]}, doc[1:]...)
}

// fields returns the n names in a text.
func fields(names string, n int) []string {
	all := strings.Fields(names)
	if len(all) != n {
		panic(fmt.Sprintf("%d registers for the arguments %q", n, names))
	}
	return all
}
