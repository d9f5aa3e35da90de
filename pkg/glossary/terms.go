package glossary

const roofline = "Williams, Waterman and Patterson, *Roofline: An Insightful Visual Performance Model for Multicore Architectures*, Communications of the ACM"

// terms is the list. The sentences of a definition stand in the chapter that
// it names, word for word.
var terms = []Term{
	// The index.
	{
		Name: "arithmetic unit", Forms: []string{"arithmetic units"}, Chapter: 0,
		Definition: "An **arithmetic unit** is a part of a chip that adds and multiplies numbers. A chip has many of them.",
	},
	{
		Name: "FLOP", Forms: []string{"FLOPs"}, Chapter: 0, Unit: "FLOP",
		Definition: "A **FLOP** is one floating-point operation: one addition or one multiplication of two numbers.",
	},
	{
		Name: "FLOP per second", Forms: []string{"FLOP/s", "GFLOP/s", "TFLOP/s"}, Chapter: 0, Unit: "FLOP/s",
		Definition: "Speed is measured in **FLOP per second**, written FLOP/s: the FLOPs that are done, divided by the seconds that they take.",
		Not:        []string{"FLOPs per second", "flops per second", "FLOPs/s"},
	},
	{
		Name: "peak", Forms: []string{"peaks"}, Chapter: 0, Unit: "FLOP/s",
		Definition: "The **peak** of a chip is the most FLOPs that it can do in a second, in FLOP/s.",
		Not:        []string{"theoretical peak"},
	},
	{
		Name: "bandwidth", Forms: []string{"bandwidths"}, Chapter: 0, Unit: "bytes/s",
		Definition: "The **bandwidth** of a memory is the most bytes that can travel to and from it in a second, in bytes/s.",
		Not:        []string{"memory throughput"},
	},
	{
		Name: "slow memory", Chapter: 0,
		Definition: "**Slow memory** is large: a chip's main memory. Data move between slow and fast memory with a limited bandwidth.",
		Not:        []string{"backing store"},
	},
	{
		Name: "fast memory", Chapter: 0,
		Definition: "**Fast memory** is small and close to the arithmetic units. In the model, moving data inside fast memory is free.",
	},

	// FLOPs and bytes.
	{
		Name: "element", Forms: []string{"elements"}, Chapter: 1,
		Definition: "An **element** is one number of a matrix.",
	},
	{
		Name: "multiply-add", Forms: []string{"multiply-adds"}, Chapter: 1, Unit: "FLOP",
		Definition: "A **multiply-add** multiplies two numbers and adds the product to a third.",
		Formula:    `c \leftarrow c + a \cdot b`,
		Not:        []string{"multiply-accumulate"},
	},
	{
		Name: "work", Everyday: true, Chapter: 1, Unit: "FLOP",
		Definition: "The **work** of a run is the number of FLOPs that it does. One multiply-add counts as two: one multiplication and one addition.",
		Formula:    `\mathrm{FLOPs} = 2\,m\,n\,k`,
	},
	{
		Name: "traffic", Chapter: 1, Unit: "bytes",
		Definition: "The **traffic** of a run is the number of bytes that cross between slow and fast memory, in both directions.",
		Not:        []string{"memory traffic", "data movement"},
	},
	{
		Name: "load", Forms: []string{"loads"}, Everyday: true, Chapter: 1,
		Definition: "A **load** brings an element from slow memory into fast memory.",
	},
	{
		Name: "store", Forms: []string{"stores"}, Everyday: true, Chapter: 1,
		Definition: "A **store** takes an element from fast memory to slow memory.",
	},
	{
		Name: "compulsory traffic", Chapter: 1, Unit: "bytes",
		Definition: "The **compulsory traffic** of a multiply is the least that any program can move: each operand, A and B, read once, the result C written once.",
		Formula:    `\mathrm{compulsory\ traffic} = (m\,k + k\,n + m\,n)\,s`,
	},
	{
		Name: "arithmetic intensity", Forms: []string{"intensity", "intensities"}, Chapter: 1, Unit: "FLOP/byte",
		Definition: "The **arithmetic intensity** of a run is its work divided by its traffic, in FLOP/byte.",
		Formula:    `I = \frac{\mathrm{FLOPs}}{\mathrm{bytes}}`,
		Not:        []string{"operational intensity", "computational intensity", "arithmetic density"},
		Source:     roofline,
	},

	// The roofline.
	{
		Name: "time floor", Forms: []string{"time floors", "compute time", "compute times", "memory time", "memory times", "math floor", "math floors", "traffic floor", "traffic floors", "floor", "floors"}, Chapter: 2, Unit: "s",
		Definition: "A **time floor** is the shortest time in which a run can do one of its two jobs: its compute time is its FLOPs divided by the peak, its memory time its bytes divided by the bandwidth.",
		Formula:    `\mathrm{compute\ time} = \frac{\mathrm{FLOPs}}{\mathrm{peak}} \qquad \mathrm{memory\ time} = \frac{\mathrm{bytes}}{\mathrm{bandwidth}}`,
	},
	{
		Name: "attainable performance", Forms: []string{"attainable"}, Chapter: 2, Unit: "FLOP/s",
		Definition: "The **attainable performance** of a run is the smaller of the peak and of bandwidth times intensity, in FLOP/s. No program with this intensity is faster on this chip.",
		Formula:    `\mathrm{attainable} = \min\left(\mathrm{peak},\ \mathrm{bandwidth} \cdot I\right)`,
		Not:        []string{"achievable performance"},
	},
	{
		Name: "ridge point", Forms: []string{"ridge points"}, Chapter: 2, Unit: "FLOP/byte",
		Definition: "The **ridge point** of a chip is its peak divided by its bandwidth. It says for how many FLOPs each byte must be used to keep the arithmetic units busy.",
		Formula:    `\mathrm{ridge} = \frac{\mathrm{peak}}{\mathrm{bandwidth}}`,
		Not:        []string{"machine balance", "balance point", "critical intensity"},
	},
	{
		Name: "memory-bound", Chapter: 2,
		Definition: "Work whose intensity is below the ridge point is **memory-bound**: its memory time is the longer one, and the arithmetic units wait.",
		Not:        []string{"bandwidth-bound", "bandwidth-limited", "memory-limited"},
	},
	{
		Name: "compute-bound", Chapter: 2,
		Definition: "Work at the ridge point or above it is **compute-bound**: its compute time is at least as long, and the arithmetic sets the pace.",
		Not:        []string{"compute-limited", "math-bound"},
	},
	{
		Name: "roofline", Forms: []string{"rooflines", "roof", "roofs"}, Chapter: 2,
		Definition: "A **roofline** is the line of attainable performance against arithmetic intensity: a slope up to the ridge point, and level from there on.",
		Source:     roofline,
	},

	// Naive versus compulsory.
	{
		Name: "naive traffic", Chapter: 3, Unit: "bytes",
		Definition: "The **naive traffic** of a multiply is what it moves when every multiply-add loads its element of A and its element of B. Each element of C is stored once, when its sum is complete.",
		Formula:    `\mathrm{naive\ traffic} = (2\,m\,n\,k + m\,n)\,s`,
	},
	{
		Name: "reuse", Forms: []string{"reused", "reuses"}, Chapter: 3,
		Definition: "**Reuse** is using an element again while it is still in fast memory, instead of loading it again.",
	},

	// A tile by hand.
	{
		Name: "tile", Forms: []string{"tiles", "tile size", "tile sizes"}, Chapter: 4,
		Definition: "A **tile** is a square piece of a matrix: b rows and b columns. The number b is the tile size.",
	},
	{
		Name: "partial product", Forms: []string{"partial products"}, Chapter: 4,
		Definition: "A **partial product** is the product of one A tile and one B tile. A finished C tile is the sum of its partial products.",
	},
	{
		Name: "edge tile", Forms: []string{"edge tiles"}, Chapter: 4,
		Definition: "An **edge tile** is a smaller tile at the right or lower edge, where the matrix ends before the tile is full.",
		Not:        []string{"fringe tile", "boundary tile", "ragged tile", "remainder tile"},
	},

	// Tile size.
	{
		Name: "capacity", Forms: []string{"capacities"}, Chapter: 5, Unit: "bytes",
		Definition: "The **capacity** is the size of the fast memory in bytes. It sets the largest tile.",
		Formula:    `3\,b^2 s \le \mathrm{capacity}`,
	},
	{
		Name: "ridge tile", Forms: []string{"ridge tiles"}, Chapter: 5,
		Definition: "The **ridge tile** is the smallest tile size with which the multiply reaches the ridge point.",
	},

	// Decode and prefill.
	{
		Name: "token", Forms: []string{"tokens"}, Chapter: 6,
		Definition: "A **token** is the piece of text that a language model works with: a short word, or a part of a long one. Inside the model it is a row of numbers.",
	},
	{
		Name: "weights", Forms: []string{"weight"}, Chapter: 6,
		Definition: "The **weights** of a model are the large matrices of fixed numbers that it has learned.",
	},
	{
		Name: "prefill", Chapter: 6,
		Definition: "In **prefill** the model reads the question. All of its tokens are known, so they go through each layer together: m is the number of tokens in the question.",
		Not:        []string{"prompt processing"},
	},
	{
		Name: "decode", Forms: []string{"decoding"}, Chapter: 6,
		Definition: "In **decode** the model writes the answer. It needs each new token before it can work on the next, so a request contributes one token a step: m is one.",
		Not:        []string{"token generation"},
	},
	{
		Name: "batch", Forms: []string{"batches"}, Chapter: 6,
		Definition: "Several requests can decode side by side. Such a group is a **batch**, and then m is the number of requests in it.",
	},
	{
		Name: "time per output token", Chapter: 6, Unit: "s",
		Definition: "The **time per output token** is the time from one token of the answer to the next: one decode step.",
		Formula:    `\mathrm{time} \ge \frac{\mathrm{bytes\ of\ the\ weights}}{\mathrm{bandwidth}}`,
		Not:        []string{"inter-token latency", "TPOT"},
	},
	{
		Name: "time to first token", Chapter: 6, Unit: "s",
		Definition: "The **time to first token** is how long you wait for the answer to begin: at least the prefill of your question.",
		Not:        []string{"TTFT"},
	},
	{
		Name: "KV cache", Forms: []string{"attention cache", "KV caches"}, Chapter: 6,
		Definition: "The **KV cache**, or attention cache, is what a model keeps of the earlier tokens of a request and reads again in every step.",
	},

	// Measure your machine.
	{
		Name: "cache", Forms: []string{"caches"}, Chapter: 7,
		Definition: "A **cache** is fast memory that fills itself: it keeps what was used lately.",
	},
	{
		Name: "warm-up", Chapter: 7,
		Definition: "The **warm-up** is the calls before the measurement. They are not counted.",
	},
	{
		Name: "sample", Forms: []string{"samples"}, Everyday: true, Chapter: 7, Unit: "s",
		Definition: "A **sample** is one timing. If the work is short, a sample is many calls, and its time is divided by their number.",
	},
	{
		Name: "core", Forms: []string{"cores"}, Chapter: 7,
		Definition: "A **core** is the part of a processor that runs a program. Most processors have several.",
	},
	{
		Name: "thread", Forms: []string{"threads"}, Chapter: 7,
		Definition: "A **thread** is a piece of a program that runs on one core; with several threads a program can use several cores at once.",
	},
	{
		Name: "memory wall", Chapter: 7,
		Definition: "The **memory wall** is the gap between what arithmetic units can do and what the memory can feed them with.",
		Source:     "Wulf and McKee, *Hitting the Memory Wall: Implications of the Obvious*, ACM SIGARCH Computer Architecture News",
	},
	{
		Name: "cache line", Forms: []string{"cache lines"}, Chapter: 7,
		Definition: "A **cache line** is the piece of memory, often 64<!--fact ch09.line64_bytes--> bytes, that a cache moves as a whole. One number brings its neighbours along.",
		Not:        []string{"cache block"},
	},
	{
		Name: "hierarchical roofline", Chapter: 7,
		Definition: "A **hierarchical roofline** has one slope for each level of memory, all under the same peak. A program is held against the level that its data come from.",
	},
	{
		Name: "working set", Forms: []string{"working sets"}, Chapter: 7, Unit: "bytes",
		Definition: "The **working set** of a loop is all the data that it goes through before it begins again.",
	},
	{
		Name: "write-allocate", Chapter: 7,
		Definition: "**Write-allocate** means that a store to a line which is not in the cache first loads that line.",
		Not:        []string{"fetch on write", "read for ownership"},
	},

	// The kernel ladder.
	{
		Name: "register", Forms: []string{"registers"}, Chapter: 8,
		Definition: "A **register** is a place inside a core that holds a few numbers. The arithmetic units compute with what is in registers, and there are only a few dozen of them.",
	},
	{
		Name: "block", Forms: []string{"blocks"}, Everyday: true, Chapter: 8,
		Definition: "A **block** is a part of a matrix that stays in a cache while a loop works on it.",
	},
	{
		Name: "panel", Forms: []string{"panels"}, Chapter: 8,
		Definition: "A **panel** is a strip of a block, as high (in A) or as wide (in B) as the tile of C in the registers.",
	},
	{
		Name: "microkernel", Forms: []string{"microkernels"}, Chapter: 8,
		Definition: "The **microkernel** is the innermost part of a fast multiply: it keeps a tile of C of MR×NR elements in registers and adds the product of a panel of A and a panel of B to it.",
		Not:        []string{"micro-kernel", "inner kernel"},
	},
	{
		Name: "MR", Chapter: 8, Unit: "elements",
		Definition: "**MR** and **NR** are the rows and the columns of the tile of C in the registers.",
	},
	{
		Name: "NR", Chapter: 8, Unit: "elements",
		Definition: "**MR** and **NR** are the rows and the columns of the tile of C in the registers.",
	},
	{
		Name: "KC", Chapter: 8, Unit: "elements",
		Definition: "**KC** is how far a block reaches along k.",
	},
	{
		Name: "NC", Chapter: 8, Unit: "elements",
		Definition: "**NC** is the number of columns of the block of B.",
	},
	{
		Name: "MC", Chapter: 8, Unit: "elements",
		Definition: "**MC** is the number of rows of the block of C.",
	},
	{
		Name: "packing", Forms: []string{"packed"}, Chapter: 8,
		Definition: "**Packing** is copying a block into the order in which it will be read.",
	},
	{
		Name: "SIMD", Chapter: 8,
		Definition: "**SIMD** (single instruction, multiple data) means that one instruction does the same operation on a row of numbers. The row lies in a vector register.",
	},
	{
		Name: "FMA", Chapter: 8,
		Definition: "An **FMA** (fused multiply-add) is one instruction that does a multiply-add, or with SIMD a row of them.",
	},

	// The model meets the machine.
	{
		Name: "hit", Forms: []string{"hits"}, Everyday: true, Chapter: 9,
		Definition: "A **hit** is an access to something that the cache holds.",
	},
	{
		Name: "miss", Forms: []string{"misses"}, Everyday: true, Chapter: 9,
		Definition: "A **miss** is an access to something that the cache does not hold: it must come from slow memory, and if the cache is full, something else must leave.",
	},
	{
		Name: "least recently used", Forms: []string{"LRU"}, Chapter: 9,
		Definition: "A cache with the rule **least recently used** gives up what it has not used for the longest time.",
	},
	{
		Name: "set", Forms: []string{"sets"}, Everyday: true, Chapter: 9,
		Definition: "The address of a line names one **set** of the cache: the line may lie there and nowhere else.",
	},
	{
		Name: "way", Forms: []string{"ways"}, Everyday: true, Chapter: 9,
		Definition: "A set has room for a few lines: one in each **way**.",
	},
	{
		Name: "conflict miss", Forms: []string{"conflict misses"}, Chapter: 9,
		Definition: "If too many lines want the same set, some must leave although other sets have room. A miss that this causes is a **conflict miss**.",
		Not:        []string{"collision miss"},
	},
	{
		Name: "write-back", Forms: []string{"writes back"}, Chapter: 9,
		Definition: "With **write-back** a changed line goes to slow memory only when it leaves the cache.",
		Not:        []string{"copy-back"},
	},
	{
		Name: "write-through", Chapter: 9,
		Definition: "With **write-through** each write goes to slow memory at once.",
	},
	{
		Name: "streaming store", Forms: []string{"streaming stores"}, Chapter: 9,
		Definition: "A **streaming store** writes whole lines past the cache, so that their old values need not come in.",
		Not:        []string{"non-temporal store"},
	},
	{
		Name: "leading dimension", Forms: []string{"leading dimensions"}, Chapter: 8, Unit: "elements",
		Definition: "The **leading dimension** of a matrix is the distance in memory from one row to the next, in elements.",
		Formula:    `\text{place of } a_{ij} = i \cdot \mathrm{ld} + j`,
		Not:        []string{"row pitch", "row stride"},
	},
	{
		Name: "overhead", Chapter: 10, Unit: "s",
		Definition: "**Overhead** is time that goes neither into math nor into traffic: calling a function, checking its arguments, starting its loops.",
	},

	// From layer to model.
	{
		Name: "attention", Everyday: true, Chapter: 11,
		Definition: "In **attention** a token looks back on the earlier tokens of its request.",
	},
	{
		Name: "head", Forms: []string{"heads"}, Everyday: true, Chapter: 11,
		Definition: "A **head** is one of several parts in which attention does this side by side, each with short queries, keys and values of its own.",
	},
	{
		Name: "feed-forward block", Forms: []string{"feed-forward blocks"}, Chapter: 11,
		Definition: "A **feed-forward block** works on each token alone: it widens the row, bends each number, and narrows the row again.",
	},
	{
		Name: "context", Forms: []string{"contexts"}, Everyday: true, Chapter: 11, Unit: "tokens",
		Definition: "The **context** of a request is the number of tokens that it has so far, in question and answer.",
	},
	{
		Name: "grouped heads", Chapter: 11,
		Definition: "With **grouped heads** several heads ask their own queries but share keys and values. The KV cache is smaller by the number of heads that share.",
		Not:        []string{"grouped-query attention", "GQA"},
	},
	{
		Name: "sliding window", Forms: []string{"sliding windows"}, Chapter: 11,
		Definition: "A layer with a **sliding window** looks back on the last tokens alone, so its KV cache stops growing.",
	},
	{
		Name: "latent attention", Chapter: 11,
		Definition: "**Latent attention** keeps one short row for all heads of a layer, and makes keys and values from it when they are needed.",
	},
	{
		Name: "mixture of experts", Forms: []string{"mixtures of experts"}, Chapter: 11,
		Definition: "In a **mixture of experts** a layer has many feed-forward blocks, the experts, and sends each token through a few of them.",
	},
	{
		Name: "active parameters", Chapter: 11,
		Definition: "The **active parameters** of a model are those that one token uses.",
	},
	{
		Name: "model bandwidth utilisation", Forms: []string{"MBU"}, Chapter: 11,
		Definition: "The **model bandwidth utilisation** (MBU) of a measured rate is the bytes that it must have moved in a second, over the bandwidth.",
	},
	// Many chips.
	{
		Name: "network-bound", Chapter: 12,
		Definition: "A run is **network-bound** if what its chips send each other takes longest.",
	},
	{
		Name: "hop", Forms: []string{"hops"}, Chapter: 12,
		Definition: "A **hop** is one message from one chip to another. It has a latency, however short the message.",
	},
	{
		Name: "tensor split", Forms: []string{"tensor splits"}, Chapter: 12,
		Definition: "A **tensor split** cuts every matrix into as many parts as there are chips. All chips work on each token, and add up their parts twice in a layer.",
		Not:        []string{"tensor parallelism"},
	},
	{
		Name: "pipeline split", Chapter: 12,
		Definition: "A **pipeline split** gives each chip some of the layers. A token goes through all chips in turn.",
		Not:        []string{"pipeline parallelism"},
	},
	{
		Name: "expert split", Chapter: 12,
		Definition: "An **expert split** spreads the experts of a mixture. Tokens travel to their experts and back.",
		Not:        []string{"expert parallelism"},
	},
	{
		Name: "data split", Chapter: 12,
		Definition: "In a **data split** every chip has the whole model, and requests of its own. Nothing is sent.",
		Not:        []string{"data parallelism"},
	},
	{
		Name: "all-reduce", Forms: []string{"all-reduces"}, Chapter: 12,
		Definition: "An **all-reduce** gives every chip the sum of a message of each. Round a ring of p chips, each sends $2(p-1)/p$ of the message, in $2(p-1)$ hops.",
	},
	{
		Name: "quantisation", Forms: []string{"quantised", "quantise"}, Chapter: 13,
		Definition: "**Quantisation** stores weights with fewer bits, and a scale for each group of them.",
		Not:        []string{"quantization"},
	},
}
