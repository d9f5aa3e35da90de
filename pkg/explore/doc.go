// Package explore is what the live explorers of the lesson show: from settings,
// as a reader types them or a link holds them, it makes the picture, the
// values and the controls, or says which setting cannot be right.
//
// There are four. "roofline" places one multiply under the roof of a chip,
// "tile" draws how square tiles cut a multiply and walks through its loops,
// "decode" shows what a batch of requests can get from a chip, and "model" what a
// whole model can do on one chip or several.
//
// The same [Draw] runs in two places: natively, where a cell makes the first
// picture, and compiled to WebAssembly in the page, where it answers each move
// of a control. So a page computes nothing by itself. It hands over what was
// typed or dragged and shows what comes back.
//
// # Settings
//
// Settings are texts by key, such as n = "4096". A key that is missing or
// empty stands for its usual value. A number may have a prefix and its unit,
// "312T", "2039 GB/s" or "64 KiB", or an exponent, "2.039e12". A unit, and a prefix
// before it, may be of either case: "64kib". "@" and a whole number is a place on
// the control's slider, which the settings before it may bound: the tile's ends
// at the side of the matrix. A [View] holds the same settings in one fixed form,
// its [View.Query].
//
// Nothing here knows a page, a notebook or a clock: only the packages of the model
// and the standard library are imported.
package explore
