package asm

import "github.com/mmcloughlin/avo/reg"

// An Elem is an element type.
type Elem struct {
	Name, GoType string
	Shift        int // log2 of its size in bytes
}

// The element types.
var (
	F32 = &Elem{"F32", "float32", 2}
	F64 = &Elem{"F64", "float64", 3}
	I32 = &Elem{"I32", "int32", 2}
)

// Size is in bytes.
func (e *Elem) Size() int { return 1 << e.Shift }

// Lane is how NEON calls one element of a vector.
func (e *Elem) Lane() string {
	if e.Shift == 2 {
		return "S"
	}
	return "D"
}

// Arrangement is how NEON calls a vector of them.
func (e *Elem) Arrangement() string {
	if e.Shift == 2 {
		return "S4"
	}
	return "D2"
}

// An ISA is an instruction set: the width of its vectors and their registers.
type ISA struct {
	Name  string
	Bytes int // of one vector; 0 for a single element
	Regs  []reg.VecPhysical
}

// The instruction sets of amd64.
var (
	xmm = []reg.VecPhysical{
		reg.X0, reg.X1, reg.X2, reg.X3, reg.X4, reg.X5, reg.X6, reg.X7,
		reg.X8, reg.X9, reg.X10, reg.X11, reg.X12, reg.X13, reg.X14, reg.X15,
	}
	Scalar = &ISA{Name: "Scalar", Regs: xmm}
	SSE2   = &ISA{Name: "SSE2", Bytes: 16, Regs: xmm}
	AVX2   = &ISA{Name: "AVX2", Bytes: 32, Regs: []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}}
	AVX512 = &ISA{Name: "AVX512", Bytes: 64, Regs: []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
		reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}}
)
