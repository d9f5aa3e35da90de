// Model counts a language model on chips: what it holds and reads, what fits,
// how long a prefill and a step of decoding take at least, and what holds them
// back.
//
//	go run ./scripts/model --model llama-3-70b --chip "H100 SXM" --chips 4 --batch 32 --context 4096
//	go run ./scripts/model --config config.json --chip a10080gbsxm --json
//	go run ./scripts/model --model llama-3-8b --chip l4 --csv --sweep batch=1,8,64
//	go run ./scripts/model --list
//
// The counts are those of pkg/transformer and pkg/serving, the chips those of
// pkg/chips.
package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"memorywall/pkg/chips"
	"memorywall/pkg/roofline"
	"memorywall/pkg/serving"
	"memorywall/pkg/transformer"
	"memorywall/scripts/internal/command"
)

func main() { command.Plain(run) }

// run returns the exit code; see [command.Run].
func run(args []string, stdout, stderr io.Writer) int {
	return command.Run("model", stderr, func() (call, error) { return parse(args, stdout) }, func(c call) error {
		if c.list {
			return list(stdout)
		}
		return mistake(c.answer(stdout))
	})
}

// mistake tells a wrong value from a failure: all but writing is checked by the
// packages of the model.
func mistake(err error) error {
	var wrong *roofline.Error
	var above *serving.AboveRoofError
	switch {
	case errors.As(err, &wrong):
		return command.Mistake(strings.TrimPrefix(strings.TrimPrefix(wrong.Text, "serving: "), "transformer: "))
	case errors.As(err, &above):
		return command.Mistake("--measured: " + strings.TrimPrefix(above.Error(), "serving: "))
	}
	return err
}

type call struct {
	list, json, csv bool
	sweep           string
	setup           serving.Setup
	ask             serving.Ask
	measured        float64 // tokens/s of all
	watts, price    float64 // of one chip; price an hour
	arithmetic      string
	positions       int64 // that the model has a table of; 0: any number
}

const maxConfig = 16 << 20 // bytes: thousands of times what such a file has

const usage = `usage: go run ./scripts/model --model NAME|--config FILE --chip NAME [--chips N] [--batch N] [--context N] [...]
       go run ./scripts/model --list`

const after = `Any part of a name that no other has is enough, without regard to case and spaces.
Times are lower bounds: "overlapped" is the largest of compute, memory, network and
latency, "serial" their sum. Counts are of the whole model, GB is 10^9 bytes.`

func parse(args []string, help io.Writer) (call, error) {
	c := call{ask: serving.Ask{}}
	f := flag.NewFlagSet("model", flag.ContinueOnError)
	model := f.String("model", "", "`name` of a preset, such as llama-3-70b; --list lists them")
	config := f.String("config", "", "`file` config.json of a model, in the form of Hugging Face, instead of --model")
	chip := f.String("chip", "", "`name` of a chip, such as \"H100 SXM\"")
	f.Int64Var(&c.setup.Chips, "chips", 1, "`number` of chips")
	split := f.String("split", "tensor", "how the model is spread over them: tensor, pipeline, expert or data")
	f.Int64Var(&c.ask.Batch, "batch", 1, "`requests` that share a step")
	f.Int64Var(&c.ask.Context, "context", 4096, "`tokens` of each request, the new one counted")
	f.Int64Var(&c.ask.Prompt, "prompt", 0, "`tokens` of a prompt, for the time to first token")
	f.Int64Var(&c.ask.Chunk, "chunk", 0, "prefill the prompt in chunks of so many `tokens`; 0: whole")
	weights := f.String("weights", "", "`format` of the weights in memory, such as int4, q4_0 or \"4.5 bits\"")
	kv := f.String("kv", "", "`format` of the KV cache")
	activations := f.String("activations", "", "`format` of the activations, which chips send each other")
	f.StringVar(&c.arithmetic, "peak", "", "`format` of the arithmetic, whose rate is the peak: BF16, or what the chip has that comes nearest")
	link := f.String("link", "", "`bandwidth` from a chip to the others, one way, in GB/s (450), or in bytes/s from 1e6 on (450e9)")
	hop := f.Duration("hop", 0, "latency of a hop from chip to chip, such as 1us")
	launch := f.Duration("launch", 0, "latency of a launch, one for each layer, such as 5us")
	f.Float64Var(&c.measured, "measured", 0, "measured `tokens` per second of all requests, to hold against the roofs (MBU, MFU)")
	f.Float64Var(&c.watts, "watts", 0, "`watts` of a chip, for joules per token; left out: those of its sheet")
	f.Float64Var(&c.price, "price", 0, "price of a chip an `hour`, for the cost of a million tokens")
	f.BoolVar(&c.json, "json", false, "print the count as JSON")
	f.BoolVar(&c.csv, "csv", false, "print a sweep as CSV")
	f.StringVar(&c.sweep, "sweep", "", "what the CSV goes through: batch, context or chips, with `values` if you like: batch=1,8,64")
	f.BoolVar(&c.list, "list", false, "list chips, models and formats")
	if err := command.Parse(f, args, help, usage, after); err != nil {
		return c, err
	}
	if err := command.OnlyFlags(f); err != nil {
		return c, err
	}
	given := map[string]bool{}
	f.Visit(func(set *flag.Flag) { given[set.Name] = true })
	if c.list {
		if len(given) > 1 {
			return c, errors.New("--list is given: it goes alone")
		}
		return c, nil
	}
	var err error
	switch {
	case c.json && c.csv:
		return c, errors.New("--json and --csv are given: choose one")
	case given["sweep"] && !c.csv:
		return c, errors.New("--sweep is given: it goes with --csv only")
	case given["prompt"] && c.ask.Prompt < 1:
		return c, fmt.Errorf("--prompt is %d: it must be at least 1", c.ask.Prompt)
	case given["chunk"] && !given["prompt"]:
		return c, errors.New("--chunk is given: it goes with --prompt only")
	case *model != "" && *config != "":
		return c, errors.New("--model and --config are given: choose one")
	case *config != "":
		text, failed := command.ReadFile(*config, maxConfig)
		if failed != nil {
			return c, failed
		}
		if c.setup.Model, err = transformer.ReadConfig(text); err != nil {
			return c, fmt.Errorf("%s: %w", *config, err)
		}
	default:
		if c.setup.Model, err = transformer.FindPreset(*model); err != nil {
			return c, fmt.Errorf("%w; --list lists them all, --config reads another", err)
		}
	}
	if m := c.setup.Model; m.Positions > 0 {
		if !given["context"] {
			c.ask.Context = min(c.ask.Context, m.Positions)
		}
		c.positions = m.Positions
	}
	published, err := chips.Find(*chip)
	if err != nil {
		return c, fmt.Errorf("%w; --list lists them all", err)
	}
	if c.setup.Split, err = serving.ParseSplit(*split); err != nil {
		return c, err
	}
	if c.arithmetic == "" {
		c.arithmetic = usual(published)
	}
	err = roofline.Maybe(func() { c.setup.Chip = serving.On(published, c.arithmetic) })
	if err != nil {
		return c, fmt.Errorf("--peak: %w", err)
	}
	for _, s := range []struct {
		flag, text string
		to         *transformer.Format
	}{{"weights", *weights, &c.setup.Storage.Weights}, {"kv", *kv, &c.setup.Storage.KV}, {"activations", *activations, &c.setup.Storage.Activations}} {
		if s.text == "" {
			s.text = usualStorage(c.arithmetic)
		}
		if *s.to, err = transformer.ParseFormat(s.text); err != nil {
			return c, fmt.Errorf("--%s: %w", s.flag, err)
		}
	}
	c.setup.Hop, c.setup.Launch = hop.Seconds(), launch.Seconds()
	if given["link"] {
		if c.setup.Chip.Link, err = bandwidth(*link); err != nil {
			return c, err
		}
		c.setup.Chip.Domain = math.MaxInt64 // the reader's own links join as many as are asked for
	}
	for name, v := range map[string]float64{"measured": c.measured, "watts": c.watts, "price": c.price} {
		if given[name] && (!(v > 0) || math.IsInf(v, 1)) {
			return c, fmt.Errorf("--%s is %v: it must be positive and finite", name, v)
		}
	}
	if !given["watts"] {
		c.watts = c.setup.Chip.Watts
	}
	return c, nil
}

// usual is the format of the arithmetic that a chip is asked for at first.
func usual(c chips.Chip) string {
	for _, format := range []string{"BF16", "FP16", "FP32"} {
		if slices.ContainsFunc(c.Rates, func(r chips.Rate) bool { return r.Format == format }) {
			return format
		}
	}
	return "BF16" // and the error says that it has none
}

// usualStorage is the format in memory that goes with the arithmetic: 16 bits,
// for fewer are a choice.
func usualStorage(arithmetic string) string {
	if strings.EqualFold(arithmetic, "FP16") {
		return "FP16"
	}
	return "BF16"
}

func bandwidth(text string) (float64, error) {
	number := text
	scale := 1.0
	for _, unit := range []string{"GB/s", "GB", "G"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			number, scale = strings.TrimSpace(rest), 1e9
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v*scale, 1) {
		return 0, fmt.Errorf("--link is %q: it must be a positive number of GB/s, such as 450, or of bytes/s, such as 450e9", text)
	}
	if scale == 1 && v < 1e6 {
		scale = 1e9
	}
	return v * scale, nil
}

// inDomain refuses more chips than their links join.
func inDomain(s serving.Setup) error {
	if s.Chips <= 1 || s.Split == serving.Data {
		return nil
	}
	switch {
	case s.Chip.Link == 0:
		return fmt.Errorf("link is unknown: no source gives the bandwidth that joins one %s to another: give --link, in GB/s one way", s.Chip.Name)
	case s.Chip.Domain == 0:
		return fmt.Errorf("domain is unknown: no source says how many %s its links of %g GB/s join: give --link for the bandwidth between your %d", s.Chip.Name, s.Chip.Link/1e9, s.Chips)
	case s.Chips > s.Chip.Domain:
		return fmt.Errorf("--chips is %d: the links of %s (%g GB/s) join %d: give --link for the bandwidth beyond them, in GB/s one way", s.Chips, s.Chip.Name, s.Chip.Link/1e9, s.Chip.Domain)
	}
	return nil
}

// report is the JSON: what was asked, and the count.
type report struct {
	Model      string `json:"model"`
	Chip       string `json:"chip"`
	Chips      int64  `json:"chips"`
	Split      string `json:"split"`
	Arithmetic string `json:"peak_format"`
	Weights    string `json:"weights_format"`
	KV         string `json:"kv_format"`
	Batch      int64  `json:"batch"`
	Context    int64  `json:"context"`
	Prompt     int64  `json:"prompt,omitempty"`
	serving.Answer
	MBU    *float64 `json:"mbu,omitempty"` // of a measured rate
	MFU    *float64 `json:"mfu,omitempty"`
	Joules *float64 `json:"joules_per_token,omitempty"`
	Cost   *float64 `json:"price_per_million_tokens,omitempty"`
}

// count computes the answer, or says what is wrong with the call.
func (c call) count() (r report, err error) {
	if err := inDomain(c.setup); err != nil {
		return r, command.Mistake(err.Error())
	}
	if n := max(c.ask.Context, c.ask.Prompt); c.positions > 0 && n > c.positions {
		return r, command.Mistake(fmt.Sprintf("context or prompt is %d: the table of positions of %s has %d", n, c.setup.Model.Name, c.positions))
	}
	s := c.setup
	err = roofline.Maybe(func() { r.Answer = s.Answer(c.ask) })
	if err != nil {
		return r, err
	}
	name := s.Model.ID
	if name == "" {
		name = s.Model.Name
	}
	r = report{Model: name, Chip: s.Chip.Name, Chips: s.Chips, Split: s.Split.String(), Arithmetic: strings.ToUpper(c.arithmetic),
		Weights: s.Storage.Weights.Name, KV: s.Storage.KV.Name, Batch: c.ask.Batch, Context: c.ask.Context, Prompt: c.ask.Prompt, Answer: r.Answer}
	rate := r.All
	if c.measured > 0 {
		rate = c.measured
		steps := c.measured / float64(c.ask.Batch)
		mbu, above := serving.MBU(steps, r.ChipWeights+r.ChipKV, s.Chip.Bandwidth)
		mfu, beyond := serving.MFU(steps, r.ChipFLOPs, s.Chip.Peak)
		if err := errors.Join(above, beyond); err != nil {
			return r, err
		}
		r.MBU, r.MFU = &mbu, &mfu
	}
	err = roofline.Maybe(func() {
		if c.watts > 0 {
			j := serving.JoulesPerToken(c.watts*float64(s.Chips), rate)
			r.Joules = &j
		}
		if c.price > 0 {
			p := serving.CostPerMillion(c.price*float64(s.Chips), rate)
			r.Cost = &p
		}
	})
	return r, err
}

func (c call) answer(stdout io.Writer) error {
	if c.csv {
		return c.table(stdout)
	}
	r, err := c.count()
	if err != nil {
		return err
	}
	if c.json {
		return command.PrintJSON(stdout, r)
	}
	s := c.setup
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	how := ""
	if s.Chips > 1 {
		how = fmt.Sprintf(", %v split", s.Split)
	}
	requests := "requests"
	if c.ask.Batch == 1 {
		requests = "request"
	}
	fmt.Fprintf(w, "%s on %d × %s%s, %d %s of %d tokens, arithmetic in %s\n", command.Line(strings.ReplaceAll(s.Model.Name, "\n", " ")), s.Chips, s.Chip.Name, how, c.ask.Batch, requests, c.ask.Context, r.Arithmetic)
	for _, row := range r.Rows(s, c.ask) {
		fmt.Fprintf(w, "  %s\t%s\n", row.Label, row.Text)
	}
	basis := "at the bound"
	if r.MBU != nil {
		fmt.Fprintf(w, "  measured\t%g tokens/s: MBU %.1f%%, MFU %.1f%%\n", c.measured, 100**r.MBU, 100**r.MFU)
		basis = "as measured"
	}
	if r.Joules != nil {
		fmt.Fprintf(w, "  energy\t%.3g J a token at %g W a chip, %s\n", *r.Joules, c.watts, basis)
	}
	if r.Cost != nil {
		fmt.Fprintf(w, "  cost\t%.3g a million tokens at %g an hour and chip, %s\n", *r.Cost, c.price, basis)
	}
	return w.Flush()
}

// table prints a sweep.
func (c call) table(stdout io.Writer) error {
	what, values, err := c.values()
	if err != nil {
		return command.Mistake(err.Error())
	}
	w := csv.NewWriter(stdout)
	columns := []string{"batch", "context", "chips", "fits", "max_requests", "ttft_s", "tpot_s", "tpot_serial_s", "tokens_per_s_each", "tokens_per_s_all", "bound", "ridge_batch", "error"}
	if err := w.Write(columns); err != nil {
		return err
	}
	for _, v := range values {
		one := c
		switch what {
		case "batch":
			one.ask.Batch = v
		case "context":
			one.ask.Context = v
		case "chips":
			one.setup.Chips = v
		}
		row := []string{fmt.Sprint(one.ask.Batch), fmt.Sprint(one.ask.Context), fmt.Sprint(one.setup.Chips)}
		r, err := one.count()
		if err != nil {
			row = append(row, make([]string, 9)...)
			row = append(row, mistake(err).Error())
		} else {
			number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
			ttft, ridge := "", ""
			if r.TTFT != nil {
				ttft = number(*r.TTFT)
			}
			if r.RidgeBatch != nil {
				ridge = fmt.Sprint(*r.RidgeBatch)
			}
			row = append(row, fmt.Sprint(r.Fits), fmt.Sprint(r.MaxRequests), ttft, number(r.TPOT), number(r.TPOTSerial), number(r.Each), number(r.All), r.Bound, ridge, "")
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// values reads --sweep: powers of two, unless it names others.
func (c call) values() (what string, values []int64, err error) {
	what, text, some := strings.Cut(c.sweep, "=")
	if c.sweep == "" {
		what = "batch"
	}
	from, to := int64(1), map[string]int64{"batch": 1024, "context": 1 << 17, "chips": 64}[what]
	if to == 0 {
		return "", nil, fmt.Errorf("--sweep is %q: it must be batch, context or chips, with values if you like: batch=1,8,64", c.sweep)
	}
	if what == "context" {
		from = 1024
	}
	if !some {
		for v := from; v <= to; v *= 2 {
			values = append(values, v)
		}
		return what, values, nil
	}
	for _, word := range strings.Split(text, ",") {
		v, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil {
			return "", nil, fmt.Errorf("--sweep is %q: %q is no whole number", c.sweep, word)
		}
		values = append(values, v)
	}
	return what, values, nil
}

func list(stdout io.Writer) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "chips\tdense TFLOP/s\tGB/s\tGB (label)\tlink GB/s, one way")
	known := func(f chips.Figure, scale float64) string {
		if !f.Known() {
			return "–"
		}
		mark := ""
		if f.Secondary {
			mark = "?"
		}
		for _, o := range f.Others {
			mark += fmt.Sprintf(" (≠ %.6g)", o.Value/scale)
		}
		return fmt.Sprintf("%.6g%s", f.Value/scale, mark)
	}
	for _, c := range chips.All() {
		var rates []string
		for _, r := range c.Rates {
			rates = append(rates, r.Format+" "+known(r.Dense, 1e12))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", c.Name, strings.Join(rates, ", "), known(c.Bandwidth, 1e9), known(c.Label, 1e9), known(c.Link, 1e9))
	}
	fmt.Fprintln(w, "(? secondary source, ≠ another source disagrees, – no source found)\nmodels\tparameters\ta token uses\tKV bytes a token in BF16")
	for _, m := range transformer.Presets() {
		p := m.Params()
		fmt.Fprintf(w, "  %s\t%d\t%d\t%d\n", m.ID, p.Total, p.Active, m.KVBytesPerToken(transformer.Named("BF16")))
	}
	fmt.Fprintln(w, "formats\tbits")
	for _, f := range transformer.Formats() {
		fmt.Fprintf(w, "  %s\t%g\t%s\n", f.Name, f.Bits(), f.Note)
	}
	return w.Flush()
}
