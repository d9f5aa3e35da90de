package roofline

// Dot is a program under a roof: its arithmetic intensity in FLOP/byte and its
// performance in FLOP/s. FLOPS 0 stands for what is attainable on its machine.
type Dot struct {
	Name      string
	Intensity float64
	FLOPS     float64
	// On is the name of the machine whose roof the dot is held against; empty
	// means the first machine.
	On string
}
