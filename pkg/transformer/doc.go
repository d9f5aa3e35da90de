// Package transformer counts what a decoder-only language model holds, reads
// and computes: parameters by part, bytes of weights and of the KV cache, FLOPs
// and bytes of a prefill and of a decoding step. It knows models and formats,
// and neither chips nor time.
//
// A [Model] is a published shape: one of [Presets], one that [ReadConfig] reads
// from the model's own config.json, or a literal.
//
// Counts are exact int64; one that does not fit is an error that matches
// [arg.ErrOverflow], never a wrapped number. What is expected rather than
// counted (how many experts a batch reads) is a float64. One multiply-add is 2
// FLOPs. A mistake in a call is a panic with an [*arg.Error].
package transformer
