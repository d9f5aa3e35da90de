package machine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"memorywall/pkg/internal/host"
	"memorywall/pkg/internal/num"
)

// A stretch is some neighbouring points of a curve, from index from to before to.
type stretch struct{ from, to int }

const (
	// anotherLevel is what one more stretch of a curve costs: the sum, over the
	// points of a stretch, of how far each lies from their middle, as a natural
	// logarithm. Four points 8% off are worth a stretch of their own.
	anotherLevel = 0.3
	// sameLevel: neighbours whose middles differ by less are one level.
	sameLevel = 0.2
)

// stretches cuts a curve of rates (positive, by rising working set) into
// stretches over which the rate stays about the same, each slower than the one
// before. It minimizes the distances from the stretches' medians, with a price
// for each stretch.
func stretches(rates []float64) []stretch {
	n := len(rates)
	logs := make([]float64, n)
	for i, r := range rates {
		logs[i] = math.Log(r)
	}
	// cost of points i to j−1 as one stretch
	price := func(i, j int) float64 {
		mid := num.Median(logs[i:j])
		sum := 0.0
		for _, v := range logs[i:j] {
			sum += math.Abs(v - mid)
		}
		return sum + anotherLevel
	}
	best := make([]float64, n+1)
	from := make([]int, n+1)
	for j := 1; j <= n; j++ {
		best[j] = math.Inf(1)
		for i := range j {
			if v := best[i] + price(i, j); v < best[j] {
				best[j], from[j] = v, i
			}
		}
	}
	var cut []stretch
	for j := n; j > 0; j = from[j] {
		cut = append(cut, stretch{from[j], j})
	}
	slices.Reverse(cut)
	// Put together what does not fall.
	for i := 1; i < len(cut); {
		a, b := cut[i-1], cut[i]
		if num.Median(logs[b.from:b.to]) > num.Median(logs[a.from:a.to])-sameLevel {
			cut[i-1].to = b.to
			cut = slices.Delete(cut, i, i+1)
			i = max(1, i-1)
			continue
		}
		i++
	}
	return cut
}

// levelsOf finds the levels of memory in the bandwidth points of some threads:
// in the curve of their loads. Their names and reported capacities come from
// the caches; warnings tell where the curve and the caches do not agree. The last
// level is memory if the working sets go well beyond the caches.
func levelsOf(points []BandwidthPoint, threads int, caches []host.Cache, beyond bool) (levels []Level, warnings []string) {
	loads := map[int64]BandwidthPoint{} // the best of each working set
	for _, p := range points {
		if p.Threads == threads && p.Loop == LoadLoop && p.BytesPerS > loads[p.WorkingSet].BytesPerS {
			loads[p.WorkingSet] = p
		}
	}
	curve := slices.Collect(maps.Values(loads))
	if len(curve) == 0 {
		return nil, nil
	}
	slices.SortFunc(curve, func(a, b BandwidthPoint) int { return cmp.Compare(a.WorkingSet, b.WorkingSet) })
	rates := make([]float64, len(curve))
	for i, p := range curve {
		rates[i] = p.BytesPerS
	}
	cut := levelStretches(curve, stretches(rates))
	on := Threads(threads)
	warn := func(format string, args ...any) {
		warnings = append(warnings, on+": "+fmt.Sprintf(format, args...))
	}

	known := capacities(caches, threads)
	// A level ends between its last working set and the first of the next one.
	// A capacity that is up to twice as far away fits: a cache holds other things
	// too, and misses set in before it is full.
	const slack = 2
	next := 0 // the first capacity that no level has yet
	missing := func(before int64) {
		for ; next < len(known) && known[next].bytes < before; next++ {
			warn("no knee in the curve where %s of %s ends", known[next].name, num.Binary(float64(known[next].bytes), "B"))
		}
	}
	for i, s := range cut {
		l := Level{Threads: threads, From: curve[s.from].WorkingSet, To: curve[s.to-1].WorkingSet}
		if last := i == len(cut)-1; !last {
			after := curve[cut[i+1].from].WorkingSet
			missing(l.To / slack)
			switch {
			case next < len(known) && known[next].bytes <= after*slack:
				l.Name, l.Reported = known[next].name, known[next].bytes
				next++
			case next < len(known):
				l.Name = known[next].name + " up to " + num.Binary(float64(l.To), "B")
				warn("the curve falls between %s and %s, inside of what is reported as %s of %s: part of it may be out of reach", num.Binary(float64(l.To), "B"), num.Binary(float64(after), "B"), known[next].name, num.Binary(float64(known[next].bytes), "B"))
			default:
				l.Name = "up to " + num.Binary(float64(l.To), "B")
				if len(known) > 0 {
					warn("the curve falls between %s and %s, where no cache is reported to end", num.Binary(float64(l.To), "B"), num.Binary(float64(after), "B"))
				}
			}
		} else {
			missing(l.To / slack)
			l.Name = "memory"
			if !beyond || next < len(known) {
				l.Name = "cache or memory"
			}
		}
		// The rates come from well inside: clear of the level before.
		smallest := l.From
		if i > 0 {
			if clear := 2 * curve[cut[i-1].to-1].WorkingSet; clear <= l.To {
				smallest = max(smallest, clear)
			}
		}
		if i == len(cut)-1 {
			// The outermost level goes on without end: its rates are those of the
			// largest working sets, of which the smallest part is left in a cache.
			smallest = max(smallest, l.To/4)
		}
		l.Rates = map[string]float64{}
		for _, p := range points {
			// Arrays of whole rounds make some working sets a little smaller.
			if p.Threads == threads && float64(p.WorkingSet) >= 0.97*float64(smallest) && p.WorkingSet <= l.To {
				l.Rates[p.Loop] = max(l.Rates[p.Loop], p.BytesPerS)
				l.Bandwidth = max(l.Bandwidth, p.BytesPerS)
			}
		}
		levels = append(levels, l)
	}
	return levels, warnings
}

// levelStretches leaves out the stretches between two levels, where a working
// set fits in part: those that do not reach over a factor of two, except at the
// curve's ends.
func levelStretches(curve []BandwidthPoint, all []stretch) []stretch {
	var levels []stretch
	for i, s := range all {
		reach := float64(curve[s.to-1].WorkingSet) / float64(curve[s.from].WorkingSet)
		if i == 0 || i == len(all)-1 || reach > 1.9 {
			levels = append(levels, s)
		}
	}
	return levels
}

type capacity struct {
	name  string
	bytes int64
}

// capacities returns the data caches that some threads use together, by level:
// the size of one, times how many of them so many neighbouring cores have.
// Where the cores of a level have caches of several sizes, the largest counts.
func capacities(caches []host.Cache, threads int) []capacity {
	var all []capacity
	for level := 1; level <= 9; level++ {
		var c host.Cache
		for _, x := range caches {
			if x.Level == level && x.Type != "instruction" && x.Bytes > c.Bytes {
				c = x
			}
		}
		if c.Bytes == 0 {
			continue
		}
		count := 1
		if c.Cores > 0 {
			count = num.CeilDiv(threads, c.Cores)
		}
		all = append(all, capacity{fmt.Sprintf("L%d", level), c.Bytes * int64(count)})
	}
	return all
}
