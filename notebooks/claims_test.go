package notebooks

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// claim is a sentence of a chapter about what a measured figure shows, and the
// test of it. In the text the sentence ends with its key:
//
//	The scatter goes upwards.<!--claim samples.upward-->
//
// The sentence is held against the stored run and against every recorded one
// that shows one of the cells.
type claim struct {
	says  string   // the sentence, without links and comments
	cells []string // the cells that show it; of a run, the first that it has
	holds func(s *shown, all map[string]*shown) error
}

// over says what is wrong unless a is at least factor times b.
func over(what string, a, b, factor float64) error {
	if !(a >= factor*b) {
		return fmt.Errorf("%s: %.4g is %.3g times %.4g: it must be at least %.3g times", what, a, a/b, b, factor)
	}
	return nil
}

// under says what is wrong unless a is at most factor times b.
func under(what string, a, b, factor float64) error {
	if !(a <= factor*b) {
		return fmt.Errorf("%s: %.4g is %.3g times %.4g: it must be at most %.3g times", what, a, a/b, b, factor)
	}
	return nil
}

// between says what is wrong unless a is from least to most times b.
func between(what string, a, b, least, most float64) error {
	return errors.Join(over(what, a, b, least), under(what, a, b, most))
}

// values reads cells of a table, and keeps the first error.
type values struct {
	s   *shown
	err error
}

func (v *values) at(row, column string) float64 {
	x, err := v.s.at(row, column)
	v.err = errors.Join(v.err, err)
	return x
}

func (v *values) column(name string) []float64 {
	x, err := v.s.column(name)
	v.err = errors.Join(v.err, err)
	if len(x) == 0 {
		return []float64{math.NaN()}
	}
	return x
}

// tiles returns a column of the row of a tile size and a leading dimension.
func (v *values) tiles(size string, ld float64, column string) float64 {
	all := v.column("leading dimension")
	for i, r := range v.s.Rows {
		if r[0] == size && i < len(all) && all[i] == ld {
			return v.column(column)[i]
		}
	}
	v.err = errors.Join(v.err, fmt.Errorf("no row of tile size %s with leading dimension %g", size, ld))
	return math.NaN()
}

// rung returns intensity and FLOP/s of a dot.
func (v *values) rung(name string) (intensity, flops float64) {
	return v.at(name, "arithmetic intensity"), v.at(name, "performance")
}

// gain is what blocks are worth to the SIMD kernel, on one core or on all cores.
func (v *values) gain(on string) float64 {
	return v.at("blocks on "+on, "performance") / v.at("no blocks on "+on, "performance")
}

// rungs makes a claim about dots under a roof from a function of their rates.
func rungs(f func(v *values, rate, intensity func(string) float64) error) func(*shown, map[string]*shown) error {
	return func(s *shown, _ map[string]*shown) error {
		v := &values{s: s}
		err := f(v,
			func(name string) float64 { _, r := v.rung(name); return r },
			func(name string) float64 { i, _ := v.rung(name); return i })
		return errors.Join(v.err, err)
	}
}

var (
	hostThreads = regexp.MustCompile(`GOMAXPROCS (\d+)`)
	hostL3      = regexp.MustCompile(`L3 (\d+) MiB`)
)

// threads is how many threads the run could use.
func (s *shown) threads() int {
	m := hostThreads.FindStringSubmatch(s.Host)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// beyondL3 reports whether so many MiB do not fit in one last-level cache.
func (s *shown) beyondL3(mib float64) bool {
	m := hostL3.FindStringSubmatch(s.Host)
	if m == nil {
		return true
	}
	l3, _ := strconv.ParseFloat(m[1], 64)
	return l3 < mib
}

// peakOfOne is the peak of one core: the row of its ridge point.
func peakOfOne(v *values) float64 {
	for _, row := range v.s.Rows {
		if strings.HasPrefix(row[0], "ridge of") && (strings.Contains(row[0], "1 thread") || strings.Contains(row[0], "one core")) {
			return v.at(row[0], "performance")
		}
	}
	v.err = errors.Join(v.err, errors.New("no ridge of one core"))
	return math.NaN()
}

const weightsMiB = 64 // a matrix of 4096×4096 float32

var claims = map[string]claim{
	// 07
	"samples.lines": {
		says:  "The lower line stands at the fastest sample, the upper one at the median.",
		cells: []string{"samples-of-one-multiply"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			samples := v.column("samples")
			if len(s.Marks) != 2 || v.err != nil {
				return fmt.Errorf("%d marks: there must be two; %w", len(s.Marks), v.err)
			}
			low, high := s.Marks[0].At, s.Marks[1].At
			sorted := slices.Sorted(slices.Values(samples))
			middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
			const same = 1e-7 // of the value: far less than a pixel
			if math.Abs(low-sorted[0]) > same*low || math.Abs(high-middle) > same*high {
				return fmt.Errorf("the lines are at %v and %v: minimum and median are %v and %v", low, high, sorted[0], middle)
			}
			return nil
		},
	},
	"levels.fall": {
		says:  "From the nearest cache of one core to the last level the roof falls to a fifth or less, and the ridge point moves to the right by as much.",
		cells: []string{"measure-your-roofs"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			threads, roof, ridge := v.column("threads"), v.column("roof"), v.column("ridge")
			if v.err != nil {
				return v.err
			}
			last := 0 // level of one core
			for last+1 < len(threads) && threads[last+1] == 1 {
				last++
			}
			fall := roof[0] / roof[last]
			return errors.Join(over("roofs of the first level and the last", fall, 5, 1), between("ridge points, and roofs", ridge[last]/ridge[0], fall, 0.99, 1.01))
		},
	},
	"onecore.plain": {
		says:  "The best of what is written in plain Go reaches two to six percent of the peak; the widest instructions reach two thirds of it or more.",
		cells: []string{"roofs-of-one-core"},
		holds: rungs(func(v *values, rate, _ func(string) float64) error {
			peak := peakOfOne(v)
			plain := max(rate("loops"), rate("reordered"), rate("tiled"), rate("packed"))
			return errors.Join(between("plain Go", plain, peak, 0.02, 0.06), over("simd", rate("simd"), peak, 2.0/3))
		}),
	},
	"five.reuse": {
		says:  "Thread for thread, the large multiply, which reuses its numbers, does more FLOPs in a second than the matrix–vector multiply, which cannot.",
		cells: []string{"five-rates"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			r, threads := v.column("rate"), v.column("threads")
			if v.err != nil {
				return v.err
			}
			return over("large multiply and M·x, for each thread", r[2]/threads[2], r[3]/threads[3], 1.05)
		},
	},
	"five.reads": {
		says:  "But the matrix–vector multiply reads less than half as fast as one core can.",
		cells: []string{"five-rates"},
		holds: func(s *shown, all map[string]*shown) error {
			v, levels := &values{s: s}, &values{s: all["measure-your-roofs"]}
			if levels.s == nil {
				return errors.New("the run has no roofs")
			}
			r, threads, roof := v.column("rate"), levels.column("threads"), levels.column("roof")
			memory := 0.0
			for i, n := range threads {
				if n == 1 {
					memory = roof[i]
				}
			}
			return errors.Join(v.err, levels.err, under("M·x and the memory's roof of one core, GB/s", r[len(r)-1], memory, 0.5))
		},
	},
	"a100.right": {
		says:  "The A100 has the higher roof on both sides, but its lead in arithmetic is more than ten times its lead in bandwidth, so its ridge point lies that much farther to the right.",
		cells: []string{"beside-the-a100"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			ridge, peak := v.column("arithmetic intensity"), v.column("performance")
			return errors.Join(v.err, over("peaks", peak[1], peak[0], 1), over("bandwidths", peak[1]/ridge[1], peak[0]/ridge[0], 1), over("ridge points", ridge[1], ridge[0], 10))
		},
	},

	// 08
	"rungs.order": {
		says:  "Reordering the loops makes them more than five times as fast, although it only halves their traffic in the model.",
		cells: []string{"less-traffic"},
		holds: rungs(func(_ *values, rate, intensity func(string) float64) error {
			return errors.Join(over("reordered and loops", rate("reordered"), rate("loops"), 5), between("intensities", intensity("reordered"), intensity("loops"), 1.99, 2))
		}),
	},
	"rungs.tiles": {
		says:  "The tiles carry the dot thirty times as far to the right, and gain less than a factor of two.",
		cells: []string{"less-traffic", "whole-ladder"},
		holds: rungs(func(_ *values, rate, intensity func(string) float64) error {
			return errors.Join(over("intensity, tiled and reordered", intensity("tiled"), intensity("reordered"), 30), under("tiled and reordered", rate("tiled"), rate("reordered"), 2))
		}),
	},
	"rungs.packed": {
		says:  "In plain Go, packing still leaves the dot below a twentieth of the peak of one core.",
		cells: []string{"into-registers", "whole-ladder"},
		holds: rungs(func(v *values, rate, _ func(string) float64) error {
			return under("packed", rate("packed"), peakOfOne(v), 0.05)
		}),
	},
	"rungs.simd": {
		says:  "The SIMD kernel lifts it more than fifteenfold.",
		cells: []string{"into-registers", "whole-ladder"},
		holds: rungs(func(_ *values, rate, _ func(string) float64) error {
			return over("simd and packed", rate("simd"), rate("packed"), 15)
		}),
	},
	"rungs.right": {
		says:  "It moves to the right as well: its blocks are wider, and its band of rows is higher.",
		cells: []string{"into-registers", "whole-ladder"},
		holds: rungs(func(_ *values, _, intensity func(string) float64) error {
			return over("intensity, simd and packed", intensity("simd"), intensity("packed"), 1.5)
		}),
	},
	"rungs.cores": {
		says:  "Two cores together are at least seventy percent faster than one, as long as other programs leave them alone.",
		cells: []string{"all-cores", "whole-ladder"},
		holds: func(s *shown, _ map[string]*shown) error {
			if s.threads() != 2 || strings.Contains(s.Doubts+s.Note, "other program") {
				return nil // as the sentence says
			}
			v := &values{s: s}
			_, all := v.rung("parallel")
			_, one := v.rung("simd")
			return errors.Join(v.err, over("parallel and simd", all, one, 1.7))
		},
	},
	"rungs.library": {
		says:  "The library, whose tiles are not packed and whose vectors are short, stays below a seventh of their rate.",
		cells: []string{"all-cores", "whole-ladder"},
		holds: rungs(func(_ *values, rate, _ func(string) float64) error {
			return over("parallel and gonum", rate("parallel"), rate("gonum"), 7)
		}),
	},
	"ladder.shape": {
		says:  "From the second rung to the fourth the ladder goes thirty times as far to the right, and its rate changes by less than a factor of two, up or down; then it goes up, and one step gains more than a factor of fifteen.",
		cells: []string{"whole-ladder"},
		holds: rungs(func(_ *values, rate, intensity func(string) float64) error {
			return errors.Join(over("intensity, packed and reordered", intensity("packed"), intensity("reordered"), 30), between("packed and reordered", rate("packed"), rate("reordered"), 0.5, 2), over("simd and packed", rate("simd"), rate("packed"), 15))
		}),
	},
	"ladder.packed": {
		says:  "Packing alone ends up between a third below the tiles and two thirds above, depending on the processor.",
		cells: []string{"whole-ladder"},
		holds: rungs(func(_ *values, rate, _ func(string) float64) error {
			return between("packed and tiled", rate("packed"), rate("tiled"), 2.0/3, 5.0/3)
		}),
	},

	"tiling.right": {
		says:  "The blocks carry the dots more than ten times as far to the right.",
		cells: []string{"tiling-wins"},
		holds: rungs(func(_ *values, _, intensity func(string) float64) error {
			return errors.Join(over("one core", intensity("blocks on one"), intensity("no blocks on one"), 10), over("all cores", intensity("blocks on all"), intensity("no blocks on all"), 10))
		}),
	},
	"tiling.wins": {
		says:  "Where B does not fit in the last-level cache they nearly double the rate, or do better, on one core and on all.",
		cells: []string{"tiling-wins"},
		holds: func(s *shown, _ map[string]*shown) error {
			if !s.beyondL3(weightsMiB) {
				return nil
			}
			v := &values{s: s}
			return errors.Join(over("one core", v.gain("one core"), 1, 1.9), over("all cores", v.gain("all cores"), 1, 1.9), v.err)
		},
	},
	"tiling.delay": {
		says:  "So without blocks one core uses less than two thirds of the bandwidth that its roof allows.",
		cells: []string{"tiling-wins"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			intensity, rate := v.rung("no blocks on one core")
			ridge, peak := v.rung(s.Rows[0][0]) // the roof of one core stands first
			return errors.Join(under("bandwidth and roof", rate/intensity, peak/ridge, 2.0/3), v.err)
		},
	},
	"half.less": {
		says:  "Where the last-level cache holds this B, and not the larger one before, the blocks win a quarter at most.",
		cells: []string{"tiling-wins-halved"},
		holds: func(s *shown, _ map[string]*shown) error {
			if s.beyondL3(weightsMiB/4) || !s.beyondL3(weightsMiB) {
				return nil
			}
			v := &values{s: s}
			return errors.Join(under("one core", v.gain("one core"), 1, 1.25), under("all cores", v.gain("all cores"), 1, 1.25), v.err)
		},
	},
	"half.free": {
		says:  "In no run do they lose.",
		cells: []string{"tiling-wins-halved"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			const spread = 0.95
			return errors.Join(over("one core", v.gain("one core"), 1, spread), over("all cores", v.gain("all cores"), 1, spread), v.err)
		},
	},
	"recorded.wins": {
		says:  "In each of these runs the kernel with blocks is faster by a quarter or more.",
		cells: []string{"tiling-wins-recorded"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			gains := append(v.column("one core"), v.column("all cores")...)
			kept, err := filepath.Glob("testdata/runs/[^c]*/tiling-wins.json") // without constructed ones
			if len(gains) != 2*len(kept) {
				return fmt.Errorf("%d factors for %d runs (%w)", len(gains), len(kept), err)
			}
			return errors.Join(v.err, over("the least factor", slices.Min(gains), 1, 1.25))
		},
	},
	"recorded.varies": {
		says:  "On the EPYC they win most while other programs keep both cores busy: the delay grows with whatever else uses the memory.",
		cells: []string{"tiling-wins-recorded"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			var err error
			for _, on := range []string{"one core", "all cores"} {
				busy, quiet := v.at("both cores busy", on), v.at("EPYC", on)
				err = errors.Join(err, over(on+": busy and alone", busy, quiet, 1.15), between(on+": busy and the most", busy, slices.Max(v.column(on)), 1, 1))
			}
			return errors.Join(v.err, err)
		},
	},
	"recorded.fits": {
		says:  "Even where the last-level cache could hold all three matrices, as that of the Xeon could, blocks win a fifth or more on one core.",
		cells: []string{"tiling-wins"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			if s.beyondL3(3 * weightsMiB) {
				return nil
			}
			return errors.Join(over("one core", v.gain("one core"), 1, 1.2), v.err)
		},
	},
	"two.plain": {
		says:  "The plain kernel hardly needs blocks: they change its rate by less than half, either way.",
		cells: []string{"two-by-two"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			with, without := v.at("plain with blocks", "rate"), v.at("plain without blocks", "rate")
			return errors.Join(v.err, between("with blocks and without", with, without, 2.0/3, 1.5))
		},
	},
	"two.vectors": {
		says:  "Vectors alone bring more than tenfold.",
		cells: []string{"two-by-two"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			return errors.Join(over("SIMD and plain, without blocks", v.at("SIMD without blocks", "rate"), v.at("plain without blocks", "rate"), 10), v.err)
		},
	},
	"two.simd": {
		says:  "Blocks on top of them bring a fifth or more again, if not always as much as in Figure 8.5: the delay changes within minutes.",
		cells: []string{"two-by-two"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			least := 1.2
			if s.beyondL3(weightsMiB) {
				least = 1.9
			}
			return errors.Join(over("SIMD with blocks and without", v.at("SIMD with blocks", "rate"), v.at("SIMD without blocks", "rate"), least), v.err)
		},
	},
	"sizes.small": {
		says:  "The smallest blocks lose a fifth of the best rate or more: each panel of A is used for a few columns only.",
		cells: []string{"block-sizes"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			rate := v.column("SIMD kernel")
			return errors.Join(v.err, under("the smallest block and the best", rate[0], slices.Max(rate), 0.8))
		},
	},
	"sizes.large": {
		says:  "The largest block loses half of it or more, wherever B does not fit in the last-level cache.",
		cells: []string{"block-sizes"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			rate := v.column("SIMD kernel")
			if v.err != nil || !s.beyondL3(weightsMiB) {
				return v.err
			}
			return under("the largest block and the best", rate[len(rate)-1], slices.Max(rate), 0.5)
		},
	},
	"sizes.best": {
		says:  "The best lies between, left of the mark of L3.",
		cells: []string{"block-sizes"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			side, rate := v.column("side of the block"), v.column("SIMD kernel")
			best := slices.Index(rate, slices.Max(rate))
			if v.err != nil || len(s.Marks) != 2 {
				return fmt.Errorf("%d marks: there must be two; %w", len(s.Marks), v.err)
			}
			if best == 0 || best == len(rate)-1 {
				return fmt.Errorf("the best block is %v wide: the first or the last", side[best])
			}
			return under("the best block and the mark of L3", side[best], s.Marks[1].At, 1)
		},
	},
	"sizes.flat": {
		says:  "Round it the curve is flat: the two best widths differ by less than a tenth, so the cautious rule of the table costs little.",
		cells: []string{"block-sizes"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			rate := slices.Sorted(slices.Values(v.column("SIMD kernel")))
			return errors.Join(over("the second best and the best", rate[len(rate)-2], rate[len(rate)-1], 0.9), v.err)
		},
	},

	// 09
	"clock.range": {
		says:  "The traffic into L1 changes by a factor of more than twenty, and the time by less than five.",
		cells: []string{"clock-against-count"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			traffic, time := v.column("simulated"), v.column("ns for")
			return errors.Join(v.err, over("most traffic", slices.Max(traffic), slices.Min(traffic), 20), under("most time", slices.Max(time), slices.Min(time), 5))
		},
	},
	"clock.padded": {
		says:  "With `b = 64`, padded rows bring in less than a twentieth of the bytes, and save less than a quarter of the time.",
		cells: []string{"clock-against-count"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			return errors.Join(under("bytes", v.tiles("64", 272, "simulated"), v.tiles("64", 256, "simulated"), 0.05),
				over("time", v.tiles("64", 272, "ns for"), v.tiles("64", 256, "ns for"), 0.75), v.err)
		},
	},
	"clock.large": {
		says:  "The fastest tiles have `b = 64` or more, up to the whole matrix, which is no tiling at all.",
		cells: []string{"clock-against-count"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			b, time := v.column("tile size"), v.column("ns for")
			best := slices.Index(time, slices.Min(time))
			return errors.Join(v.err, over("the fastest tile", b[best], 64, 1))
		},
	},
	"clock.short": {
		says:  "It shows where the traffic is the same: `b = 4` with padded rows and `b = 8` without bring in nearly as many bytes, and the shorter loops take longer.",
		cells: []string{"clock-against-count"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			few, many := v.tiles("4", 272, "simulated"), v.tiles("8", 256, "simulated")
			return errors.Join(over("bytes", few, many, 0.9), under("bytes", few, many, 1.1), over("time", v.tiles("4", 272, "ns for"), v.tiles("8", 256, "ns for"), 1), v.err)
		},
	},

	// 10
	"blas.few": {
		says:  "Up to eight rows the kernel made for few rows beats the library by more than half, and with sixty-four rows by less than with eight: many rows share the weights, and packing pays.",
		cells: []string{"beside-another-library"},
		holds: func(s *shown, _ map[string]*shown) error {
			// The table is long: the ratios to OpenBLAS first, then those to the roof.
			ratio := map[string]float64{}
			for _, r := range s.Rows {
				if strings.Contains(r[0], "OpenBLAS") {
					one := &shown{Columns: s.Columns, Rows: [][]string{r}}
					v := &values{s: one}
					ratio[strconv.FormatFloat(v.column("rows m")[0], 'g', -1, 64)] = v.column("ratio")[0]
				}
			}
			return errors.Join(over("one row", ratio["1"], 1.5, 1), over("eight rows", ratio["8"], 1.5, 1), under("64 rows and 8", ratio["64"], ratio["8"], 1))
		},
	},
	"decode.free": {
		says:  "More rows are cheap at first: sixteen of them take less than twice the time of one.",
		cells: []string{"decode-curve"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			return errors.Join(v.err, under("time of sixteen rows and of one", 16/v.at("16", "measured"), 1/v.at("1", "measured"), 2), v.err)
		},
	},
	"decode.end": {
		says:  "At the right end the curve bends: the last doubling of the rows wins less than the first.",
		cells: []string{"decode-curve"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			return errors.Join(under("gain of the last doubling and of the first", v.at("64", "measured")/v.at("32", "measured"), v.at("2", "measured")/v.at("1", "measured"), 1), v.err)
		},
	},
	"decode.below": {
		says:  "No dot reaches the roof, and one row does not even reach the dashed line.",
		cells: []string{"decode-curve"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			roof := v.column("roof")
			err := under("the largest share of the roof, %", slices.Max(v.column("share")), 100, 0.999)
			// Reads as the roof has them for one row, then the arithmetic at the peak.
			serial := 1 / (1/roof[0] + 1/slices.Max(roof))
			return errors.Join(v.err, err, under("one row and the dashed line", v.at("1", "measured"), serial, 0.999))
		},
	},
	"small.neither": {
		says:  "For the smallest multiply nearly all of the time is neither math nor traffic, for the fourth size still three quarters of it, and from the seventh on less than half.",
		cells: []string{"small-multiplies"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			n := v.column("neither")
			if v.err != nil || len(n) < 7 {
				return errors.Join(v.err, fmt.Errorf("%d sizes", len(n)))
			}
			return errors.Join(over("the first size, %", n[0], 95, 1), over("the fourth, %", n[3], 75, 1), under("the seventh and those after it, %", slices.Max(n[6:]), 50, 1))
		},
	},
	"small.grow": {
		says:  "From the first to the fourth size the work grows more than five-hundredfold, and the time less than twentyfold.",
		cells: []string{"small-multiplies"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			t := v.at("8", "measured") / v.at("1", "measured")
			return errors.Join(v.err, over("time, n = 8 and n = 1", t, 1, 1.5), under("time, n = 8 and n = 1", t, 1, 20))
		},
	},
	// 13
	"speak.below": {
		says:  "The model writes no faster than predicted.",
		cells: []string{"measure-one"},
		holds: rungs(func(_ *values, rate, _ func(string) float64) error {
			return under("measured and predicted", rate("measured"), rate("predicted"), 1)
		}),
	},
	"speak.first": {
		says:  "No question is read faster than predicted, and the shortest takes a larger multiple of its prediction than the longest.",
		cells: []string{"measure-first"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			times := v.column("measured over predicted")
			return errors.Join(v.err, over("least multiple", slices.Min(times), 1, 1), over("shortest and longest", times[0], times[len(times)-1], 1.2))
		},
	},
	"speak.batch": {
		says:  "Together sixteen requests get more than twice the tokens of one, and less than half of what was predicted for them.",
		cells: []string{"measure-batch"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			m := v.column("measured")
			return errors.Join(over("sixteen and one", v.at("16", "measured"), m[0], 2), under("sixteen and predicted", v.at("16", "measured"), v.at("16", "predicted"), 0.5), v.err)
		},
	},
	"speak.bits": {
		says:  "From float32 to four bits the bytes shrink to a seventh, and the time by less.",
		cells: []string{"measure-formats"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			bytes, m := v.column("bytes"), v.column("measured")
			last := len(m) - 1
			return errors.Join(v.err, over("bytes", bytes[last], bytes[0], 6.5), under("bytes", bytes[last], bytes[0], 7.5),
				over("float32 and four bits", m[last], m[0], 2), under("time and bytes", m[last]/m[0], bytes[last]/bytes[0], 1))
		},
	},
	"speak.context": {
		says:  "From each context to the next the step takes longer, and in all by more than twice what the bytes of the KV cache account for.",
		cells: []string{"measure-context"},
		holds: func(s *shown, _ map[string]*shown) error {
			v := &values{s: s}
			m, p := v.column("measured"), v.column("predicted")
			last := len(m) - 1
			err := over("what the context adds, and predicted", m[last]-m[0], p[last]-p[0], 2)
			for i := range last {
				err = errors.Join(err, over(s.Rows[i+1][0]+" tokens and the context before", m[i+1], m[i], 1.01))
			}
			return errors.Join(v.err, err)
		},
	},
	"speak.cores": {
		says:  "All cores write faster than one; the last line says by how much, and how much was predicted.",
		cells: []string{"measure-cores"},
		holds: func(s *shown, _ map[string]*shown) error {
			if s.threads() < 2 {
				return nil
			}
			v := &values{s: s}
			m := v.column("measured")
			return errors.Join(v.err, over("all cores and one", m[1], m[0], 1.1))
		},
	},
}

// check returns what is wrong with a claim in one run, and whether the run shows
// it at all.
func (c claim) check(run map[string]*shown) (err error, known bool) {
	for _, id := range c.cells {
		if s := run[id]; s != nil {
			return c.holds(s, run), true
		}
	}
	return nil, false
}

// A claim holds in every run, disturbed or not: what a reader sees in the chapters
// is one of them. And two runs at least must show it.
func TestClaimsHoldInEveryRun(t *testing.T) {
	all := allRuns(t)
	for _, key := range sortedKeys(claims) {
		c := claims[key]
		if _, known := c.check(all["stored"]); !known {
			t.Errorf("claim %s: no chapter shows one of the cells %q", key, c.cells)
		}
		shows := 0
		for _, machine := range sortedKeys(all) {
			err, known := c.check(all[machine])
			if err != nil {
				t.Errorf("claim %s: %q is not so on %s: %v", key, c.says, machine, err)
			}
			if known && !strings.HasPrefix(machine, "constructed") {
				shows++
			}
		}
		if shows < 2 && !strings.HasPrefix(key, "recorded.") { // which is about several
			t.Errorf("claim %s: %d measured runs show it: record one more", key, shows)
		}
	}
}

// ---- the sentences in the text

var (
	claimComment = regexp.MustCompile(`<!--claim ([a-z0-9.-]+)-->`)
	seenBlock    = regexp.MustCompile(`(?m)^\*\*What to see\.\*\* (.+(?:\n.+)*(?:\n\n- .+(?:\n.+)*)*)`)
	// A sentence ends with a mark that white space or the end follows.
	oneSentence = regexp.MustCompile(`(?s)\S.*?[.!?](?:<!--claim ([a-z0-9.-]+)-->)?(?:\s+|$)`)
	// What speaks of the marks of a figure, wherever it stands.
	ofMarks     = regexp.MustCompile(`\b[Tt]he (?:[\p{L}–-]+ )?(?:dots?|bars?|curve)\b(?: product)?|\bFigures? \d`)
	linkText    = regexp.MustCompile(`\[\*?([^\]]*?)\*?\]\([^)]*\)`)
	allComments = regexp.MustCompile(`<!--[^>]*-->`)
)

// said is a sentence as it is read.
func said(sentence string) string {
	s := allComments.ReplaceAllString(linkText.ReplaceAllString(sentence, "$1"), "")
	return strings.TrimPrefix(strings.Join(strings.Fields(strings.ReplaceAll(s, "*", "")), " "), "- ")
}

// claimProblems returns what is wrong with the sentences of a chapter about its
// measured figures, and notes the claims that it uses.
func claimProblems(nb *notebook, used map[string]int) []string {
	var problems []string
	bad := func(c *cell, format string, args ...any) {
		problems = append(problems, nb.File+": cell "+c.ID+": "+fmt.Sprintf(format, args...))
	}
	measured, any := false, false // the cell before, any cell so far
	part := ""
	for _, c := range nb.Cells {
		if c.code() {
			measured = c.tagged("machine") || c.tagged("recorded")
			any = any || measured
			continue
		}
		text := fencedBlock.ReplaceAllString(string(c.Source), "")
		if h := heading.FindStringSubmatch(text); h != nil && len(h[1]) == 2 {
			part = h[2]
		}
		for _, m := range claimComment.FindAllStringSubmatch(text, -1) {
			if _, ok := claims[m[1]]; !ok {
				bad(c, "claim %q is not in claims_test.go", m[1])
			}
			used[m[1]]++
		}
		sentences := func(text string, need func(string) bool) {
			for _, m := range oneSentence.FindAllStringSubmatch(text, -1) {
				key, sentence := m[1], said(m[0])
				switch {
				case key == "" && need(sentence):
					bad(c, "%q says what a measured figure shows: test it in claims_test.go, and write <!--claim key--> behind it", sentence)
				case key != "" && claims[key].says != sentence:
					bad(c, "claim %s: the text says %q and the test holds %q", key, sentence, claims[key].says)
				}
			}
		}
		seen := ""
		if measured {
			if m := seenBlock.FindStringSubmatch(text); m != nil {
				seen = m[0]
				sentences(m[1], func(string) bool { return true })
			} else if strings.Contains(text, "**What to see.**") {
				bad(c, "its \"What to see\" cannot be read")
			}
		}
		exempt := !any || strings.HasPrefix(part, "Try it") || strings.HasPrefix(part, "Check yourself") || strings.HasPrefix(part, "Keep this")
		sentences(strings.Replace(text, seen, "", 1), func(s string) bool {
			marks := ofMarks.FindString(s)
			return !exempt && marks != "" && !strings.HasSuffix(marks, " product")
		})
	}
	return problems
}

func TestMeasuredFiguresSayWhatIsSo(t *testing.T) {
	used := map[string]int{}
	for _, nb := range chapters(t) {
		for _, p := range claimProblems(nb, used) {
			t.Error(p)
		}
	}
	for _, key := range sortedKeys(claims) {
		if used[key] != 1 {
			t.Errorf("claim %s stands in the text %d times: it must once", key, used[key])
		}
	}
}

func TestClaimsFindPlantedSentences(t *testing.T) {
	says := claims["rungs.tiles"].says
	chapter := func(tag, text string) *notebook {
		return &notebook{File: "planted", Cells: []*cell{
			{Type: "code", ID: "a", Metadata: tagged(tag)}, {Type: "markdown", ID: "b", Source: lines(text)},
		}}
	}
	for name, c := range map[string]struct{ tag, text, problem string }{
		"held":             {"machine", "**What to see.** " + says + "<!--claim rungs.tiles-->", ""},
		"not measured":     {"", "**What to see.** The line rises.", ""},
		"other words":      {"machine", "**What to see.** " + strings.Replace(says, "right", "left", 1) + "<!--claim rungs.tiles-->", "the text says"},
		"no claim":         {"machine", "**What to see.** " + says + "<!--claim rungs.tiles--> It is the memory.", `"It is the memory." says what`},
		"first without":    {"machine", "**What to see.** It falls. " + says + "<!--claim rungs.tiles-->", `"It falls." says what`},
		"in a list":        {"machine", "**What to see.** " + says + "<!--claim rungs.tiles-->\n\n- The line falls.", `"The line falls." says what`},
		"unknown":          {"machine", "**What to see.** It falls.<!--claim rungs.none-->", "is not in claims_test.go"},
		"of the dots":      {"machine", "The two dots lie on the slope.", "says what"},
		"of a figure":      {"recorded", "Figure 8.3 shows it.", "says what"},
		"of a dot product": {"machine", "The dot product waits.", ""},
		"in general":       {"machine", "A dot far below the roof needs better instructions first.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(claimProblems(chapter(c.tag, c.text), map[string]int{}), "\n")
			if (c.problem == "") != (got == "") || !strings.Contains(got, c.problem) {
				t.Errorf("problems are %q: want %q", got, c.problem)
			}
		})
	}
}

// A claim is sharp: in some run it fails as soon as one number of its figure is twice
// as high, or half as high, as it was.
func TestClaimsFailOnOtherFigures(t *testing.T) {
	all := allRuns(t)
	for _, key := range sortedKeys(claims) {
		c := claims[key]
		bites := false
		for _, machine := range sortedKeys(all) {
			for _, id := range c.cells {
				s := all[machine][id]
				if s == nil {
					continue
				}
				other := maps.Clone(all[machine])
				for row := range s.Rows {
					for column := range s.Columns {
						for _, factor := range []float64{2, 0.5} {
							other[id] = s.spoil(row, column, factor)
							bites = bites || c.holds(other[id], other) != nil
						}
					}
				}
			}
		}
		if !bites {
			t.Errorf("claim %s holds although any number of its figure is twice or half as high: bring its bound nearer to the values", key)
		}
	}
}

// spoil returns a copy in which a number is another, if it is one. The first column has
// names, or what the figure is drawn against.
func (s *shown) spoil(row, column int, factor float64) *shown {
	other := *s
	other.Rows = slices.Clone(s.Rows)
	other.Rows[row] = slices.Clone(s.Rows[row])
	if v, err := number(s.Rows[row][column]); err == nil && column > 0 {
		other.Rows[row][column] = strconv.FormatFloat(v*factor, 'g', -1, 64)
	}
	return &other
}

// A mark that is rounded lies off the data.
func TestRoundedMarksAreFound(t *testing.T) {
	for machine, run := range allRuns(t) {
		s := run["samples-of-one-multiply"]
		if s == nil {
			continue
		}
		rounded := *s
		rounded.Marks = nil
		for _, m := range s.Marks {
			rounded.Marks = append(rounded.Marks, mark{m.Axis, math.Round(m.At*100) / 100})
		}
		if claims["samples.lines"].holds(&rounded, run) == nil {
			t.Errorf("%s: lines rounded to two digits are not found", machine)
		}
	}
}
