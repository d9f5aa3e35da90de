package facts

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"memorywall/pkg/roofline"
)

// chapter adds the numbers of one chapter.
type chapter = func(add func(key string, value float64))

var chapters []chapter

// register adds the numbers of one chapter to All. Call it from an init
// function; fn calls add once for every number, and computes them all. Keys
// begin with the chapter: "ch03.".
func register(fn chapter) {
	chapters = append(chapters, fn)
}

// All returns every number by its key. A number of the report has as key its
// path in the JSON form:
//
//	chip.ridge_flop_per_byte
//	tile_sweep_4096_fp16[6].intensity        the row with this index
//	tile_sweep_4096_fp16[b=64].intensity     the same, by the row's first field
//	worked_example_4x4_tile_2.C[0][1]
//
// Chapters add keys of their own. A key that comes twice and a value that is
// NaN or infinite are errors. The map is the caller's own.
func All() (map[string]float64, error) {
	m, err := all()
	return maps.Clone(m), err
}

var all = sync.OnceValues(func() (map[string]float64, error) {
	r, err := Quoted()
	if err != nil {
		return nil, err
	}
	return collect(r, chapters)
})

// Chapters returns the numbers that single chapters add to those of the
// report, by key. The map is the caller's own.
func Chapters() (map[string]float64, error) {
	m, err := All()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(m, func(key string, _ float64) bool { return !chapterKey.MatchString(key) })
	return m, nil
}

// chapterKey holds no * and no /, which Check takes for a scale.
var chapterKey = regexp.MustCompile(`^ch\d\d\.[A-Za-z0-9_.=\[\]-]+$`)

func collect(r Report, chapters []chapter) (map[string]float64, error) {
	m := map[string]float64{}
	var first error
	add := func(key string, value float64) {
		_, duplicate := m[key]
		switch {
		case first != nil:
		case duplicate:
			first = fmt.Errorf("facts: duplicate key %q", key)
		case math.IsNaN(value) || math.IsInf(value, 0):
			first = fmt.Errorf("facts: %s is %g: it must be finite", key, value)
		default:
			m[key] = value
		}
	}
	flatten(add, "", reflect.ValueOf(r))
	for _, fn := range chapters {
		err := roofline.Maybe(func() {
			fn(func(key string, value float64) {
				if first == nil && !chapterKey.MatchString(key) {
					first = fmt.Errorf("facts: key is %q: it must be like ch03.name, of letters, digits and . _ - = [ ]", key)
				}
				add(key, value)
			})
		})
		if err != nil {
			return nil, fmt.Errorf("facts: %w", err)
		}
	}
	if first != nil {
		return nil, first
	}
	return m, nil
}

// flatten adds every number of v under its path. Text is left out.
func flatten(add func(string, float64), path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Float64:
		add(path, v.Float())
	case reflect.Int64:
		add(path, float64(v.Int()))
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("json")
			flatten(add, strings.TrimPrefix(path+"."+name, "."), v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			row := v.Index(i)
			flatten(add, fmt.Sprintf("%s[%d]", path, i), row)
			if row.Kind() == reflect.Struct {
				id := row.Type().Field(0).Tag.Get("json")
				flatten(add, fmt.Sprintf("%s[%s=%v]", path, id, row.Field(0)), row)
			}
		}
	}
}
