// Package chips is the catalogue of published chips: rates by number format,
// memories, links and watts, each figure with a source of its own.
//
// The figures stand in chips.csv, one row a chip, and their sources in
// sources.csv. A cell holds a figure and the keys of its sources, as in
//
//	989(1979) S+M        dense 989, sparse 1979: sources S and M agree
//	80 S ≠ 75 VER        sources disagree: the first figure is used
//	none GK              the chip lacks it
//
// and is empty where no source was found. Rates are in TFLOP/s (for integers
// TOP/s), bandwidths in GB/s = 10^9 bytes/s, one way for links. "label GB" is
// the maker's label and is not always 10^9 bytes; bytes are known for few.
//
// A mistake in a call is a panic with an [*arg.Error]; [Find] returns it.
package chips

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"memorywall/pkg/internal/arg"
	"memorywall/pkg/internal/pick"
	"memorywall/pkg/roofline"
)

// Chip is a published chip.
type Chip struct {
	Name string
	Year Figure // of its release

	Rates []Rate
	Lacks []string // number formats that its units do not have

	Label  Figure // of its memory, bytes if GB were 10^9: the maker's label
	Memory Figure // the same in bytes, where they are known
	// Bandwidth is that of its memory, bytes/s.
	Bandwidth Figure
	Link      Figure // to the other chips of its domain, all links, one way, bytes/s
	Domain    Figure // chips that its links join
	Watts     Figure // the most that it is made for
	OnChip    []OnChip

	Note string // what a reader must know to use the figures
}

// Figure is one published figure. A zero Value means that no source was found.
type Figure struct {
	Value     float64
	Source    string  // who says so; if more than one, they agree
	Secondary bool    // only reviews, resellers or listings say so
	Others    []Other // who says otherwise
}

// Other is what another source gives for a figure; 0 if it says that the chip
// lacks it.
type Other struct {
	Value  float64
	Source string
}

// Known reports whether there is a figure.
func (f Figure) Known() bool { return f.Value != 0 }

// Rate is a chip's peak for one number format. Dense is what a roof is made of.
type Rate struct {
	Format string // "FP32", "TF32", "FP16", "BF16", "FP8", "INT8", "FP4", "INT4"
	Bits   int64  // of an element in memory
	Dense  Figure // FLOP/s, for integers OP/s
	Sparse float64
	// Sparse is what the sheet promises for matrices of which half is zero in a
	// fixed pattern, FLOP/s; 0 if it is not listed.
}

// OnChip is a memory on the chip, of so many equal units.
type OnChip struct {
	Name      string
	Units     int64
	Bytes     Figure // of one unit
	Bandwidth Figure // of all units together, bytes/s
}

// Total returns the bytes of all units together.
func (o OnChip) Total() float64 { return float64(o.Units) * o.Bytes.Value }

// formats are the columns of rates, in the order of the table, with the bits
// of an element in memory.
var formats = []struct {
	name string
	bits int64
}{{"FP32", 32}, {"TF32", 32}, {"FP16", 16}, {"BF16", 16}, {"FP8", 8}, {"INT8", 8}, {"FP4", 4}, {"INT4", 4}}

var (
	//go:embed chips.csv
	chipTable string
	//go:embed sources.csv
	sourceTable string
)

// All returns the catalogue, in the order of its table. The slice is shared:
// callers must not change it.
var All = sync.OnceValue(func() []Chip {
	all, err := parse(chipTable, sourceTable)
	if err != nil {
		panic("chips: " + err.Error()) // the tables are part of the program, and tested
	}
	return all
})

// Find returns the chip of a name, or of any part of one that no other has,
// without regard to case and spaces. The error lists the nearest names.
func Find(name string) (Chip, error) {
	all := All()
	at, err := pick.One("chips", "chip", name, len(all), func(i int) []string { return []string{all[i].Name} })
	if err != nil {
		return Chip{}, err
	}
	return all[at], nil
}

// Named returns the chip that [Find] finds, and panics if there is none.
func Named(name string) Chip {
	c, err := Find(name)
	arg.Check(err)
	return c
}

// Rate returns the chip's peak for a number format, in any case. It panics for
// a format that the chip lacks, and for one of which no rate was found.
func (c Chip) Rate(format string) Rate {
	var have []string
	for _, r := range c.Rates {
		if strings.EqualFold(r.Format, format) {
			return r
		}
		have = append(have, r.Format)
	}
	why := "no source gives a rate of " + c.Name + " for it"
	if slices.ContainsFunc(c.Lacks, func(f string) bool { return strings.EqualFold(f, format) }) {
		why = c.Name + " has no units for it"
	}
	choose := "choose " + strings.Join(have, ", ")
	if len(have) == 0 {
		choose = "no rates of it were found at all"
	}
	arg.Refuse("format", format, "chips: format is %q: %s: %s", format, why, choose)
	panic("unreachable")
}

// Machine returns the chip as a machine for a number format. It panics as Rate
// does, and for formats of 4 bits, for a machine's elements are whole bytes.
func (c Chip) Machine(format string) roofline.Machine {
	r := c.Rate(format)
	if a := roofline.A100(); c.Name == a.Name && r.Format == a.Format {
		return a // its sheet is the lesson's own source
	}
	if r.Bits < 8 {
		arg.Refuse("format", format, "chips: format is %q: an element of %d bits is not whole bytes, which the multiplies of package roofline count in: take Rate", format, r.Bits)
	}
	return roofline.Machine{Name: c.Name, Source: sources(r.Dense, c.Bandwidth), Format: r.Format,
		ElemBytes: r.Bits / 8, Peak: r.Dense.Value, Bandwidth: c.Bandwidth.Value}
}

// Roofs returns the chip's roofs for a number format, innermost first: those of
// its on-chip memories whose bandwidth is known, and at last that of its memory.
// It panics as Machine does.
func (c Chip) Roofs(format string) []roofline.Machine {
	outer := c.Machine(format)
	var roofs []roofline.Machine
	for _, o := range c.OnChip {
		if o.Bandwidth.Known() {
			inner := outer
			inner.Name, inner.Bandwidth = o.Name+", "+c.Name, o.Bandwidth.Value
			inner.Source = sources(c.Rate(format).Dense, o.Bandwidth)
			roofs = append(roofs, inner)
		}
	}
	slices.SortStableFunc(roofs, func(a, b roofline.Machine) int { return cmp.Compare(b.Bandwidth, a.Bandwidth) })
	return append(roofs, outer)
}

// Capacity returns the bytes of the chip's memory, and whether they are known;
// otherwise they are the label × 10⁹. It panics if neither was found.
func (c Chip) Capacity() (bytes int64, known bool) {
	if c.Memory.Known() {
		return int64(c.Memory.Value), true
	}
	if !c.Label.Known() {
		arg.Refuse("chip", c.Name, "chips: chip is %q: no source gives its memory", c.Name)
	}
	return int64(c.Label.Value), false
}

// sources says where the peak and the bandwidth of a machine come from.
func sources(peak, bandwidth Figure) string {
	one := func(what string, f Figure) string {
		text := what + ": " + f.Source
		if f.Secondary {
			text += " (secondary)"
		}
		for _, o := range f.Others {
			text += fmt.Sprintf("; %s says %.6g", o.Source, o.Value)
		}
		return text
	}
	if peak.Source == bandwidth.Source && len(peak.Others)+len(bandwidth.Others) == 0 {
		return one("both figures", peak)
	}
	return one("peak", peak) + "; " + one("bandwidth", bandwidth)
}

type source struct {
	text      string
	secondary bool
}

// parse reads the two tables.
func parse(chipTable, sourceTable string) ([]Chip, error) {
	rows, err := csv.NewReader(strings.NewReader(sourceTable)).ReadAll()
	if err != nil {
		return nil, err
	}
	known := map[string]source{}
	for _, row := range rows[1:] {
		if row[1] != "" && row[1] != "secondary" {
			return nil, fmt.Errorf("source %s: state is %q: it must be secondary or empty", row[0], row[1])
		}
		known[row[0]] = source{row[2], row[1] == "secondary"}
	}
	if rows, err = csv.NewReader(strings.NewReader(chipTable)).ReadAll(); err != nil {
		return nil, err
	}
	var all []Chip
	for _, row := range rows[1:] {
		c := Chip{}
		var first error
		cell := func(column string, scale float64) (Figure, float64, bool) {
			f, sparse, lacks, err := figure(row[slices.Index(rows[0], column)], scale, known)
			if err != nil && first == nil {
				first = fmt.Errorf("%s, column %s: %w", row[0], column, err)
			}
			return f, sparse, lacks
		}
		one := func(column string, scale float64) Figure {
			f, _, _ := cell(column, scale)
			return f
		}
		c.Name, c.Note = row[0], row[len(row)-1]
		for _, f := range formats {
			rate, sparse, lacks := cell(f.name, 1e12)
			if lacks {
				c.Lacks = append(c.Lacks, f.name)
			} else if rate.Known() {
				c.Rates = append(c.Rates, Rate{f.name, f.bits, rate, sparse})
			}
		}
		c.Year, c.Label, c.Memory, c.Bandwidth = one("year", 1), one("label GB", 1e9), one("bytes", 1), one("GB/s", 1e9)
		c.Link, c.Domain, c.Watts = one("link GB/s", 1e9), one("domain", 1), one("W", 1)
		for _, text := range strings.Split(row[slices.Index(rows[0], "on-chip")], ";") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			o, err := onChip(text, known)
			if err != nil {
				return nil, fmt.Errorf("%s, column on-chip: %w", row[0], err)
			}
			c.OnChip = append(c.OnChip, o)
		}
		if first != nil {
			return nil, first
		}
		all = append(all, c)
	}
	return all, nil
}

// figure reads a cell: see the documentation of the package. The figures are in
// units of scale.
func figure(cell string, scale float64, known map[string]source) (f Figure, sparse float64, lacks bool, err error) {
	for i, part := range strings.Split(cell, "≠") {
		words := strings.Fields(part)
		if len(words) == 0 && i == 0 {
			return f, 0, false, nil
		}
		if len(words) != 2 {
			return f, 0, false, fmt.Errorf("%q must be a figure and its sources", part)
		}
		text, secondary, err := named(words[1], known)
		if err != nil {
			return f, 0, false, err
		}
		if words[0] == "none" && i == 0 {
			return Figure{Source: text, Secondary: secondary}, 0, true, nil
		}
		number, inBrackets, _ := strings.Cut(strings.TrimSuffix(words[0], ")"), "(")
		v, err := number64(number, scale)
		if err == nil && inBrackets != "" {
			sparse, err = number64(inBrackets, scale)
		}
		if err != nil {
			return f, 0, false, err
		}
		if i == 0 {
			f = Figure{Value: v, Source: text, Secondary: secondary}
		} else {
			f.Others = append(f.Others, Other{v, text})
		}
	}
	return f, sparse, false, nil
}

func number64(text string, scale float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("%q is no figure", text)
	}
	// The product of the two as decimals: 362.05e12, not 362.05 × 1e12 rounded twice.
	return strconv.ParseFloat(fmt.Sprintf("%se%d", text, int(math.Round(math.Log10(scale)))), 64)
}

// named returns what the keys of sources stand for. It is secondary if all are.
func named(keys string, known map[string]source) (string, bool, error) {
	var texts []string
	secondary := true
	for _, key := range strings.Split(keys, "+") {
		s, ok := known[key]
		if !ok {
			return "", false, fmt.Errorf("source %q is not in sources.csv", key)
		}
		texts = append(texts, s.text)
		secondary = secondary && s.secondary
	}
	return strings.Join(texts, "; "), secondary, nil
}

// onChip reads a memory on the chip: its name, its units and the size of one,
// the bandwidth of all in GB/s if it is known, and the sources.
//
//	L1 and shared memory 132×256 KiB @33454 PT
func onChip(text string, known map[string]source) (OnChip, error) {
	words := strings.Fields(text)
	o := OnChip{Units: 1}
	bandwidth := 0.0
	keys := words[len(words)-1]
	words = words[:len(words)-1]
	if at, ok := strings.CutPrefix(words[len(words)-1], "@"); ok {
		var err error
		if bandwidth, err = number64(at, 1e9); err != nil {
			return o, err
		}
		words = words[:len(words)-1]
	}
	if len(words) < 3 {
		return o, fmt.Errorf("%q must be a name, a size, its unit and sources", text)
	}
	unit, ok := map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "MB": 1e6}[words[len(words)-1]]
	size := words[len(words)-2]
	if units, each, several := strings.Cut(size, "×"); several {
		n, err := strconv.ParseInt(units, 10, 64)
		if err != nil {
			return o, err
		}
		o.Units, size = n, each
	}
	v, err := number64(size, 1)
	if err != nil || !ok {
		return o, fmt.Errorf("%q has no size", text)
	}
	from, secondary, err := named(keys, known)
	o.Name = strings.Join(words[:len(words)-2], " ")
	o.Bytes = Figure{Value: v * unit, Source: from, Secondary: secondary}
	if bandwidth > 0 {
		o.Bandwidth = Figure{Value: bandwidth, Source: from, Secondary: secondary}
	}
	return o, err
}
