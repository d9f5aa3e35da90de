// Where direct labels stand. ECharts lays out all else of a figure; of its own
// labels two ridges', or a dot's and the name of a roof, lie on each other.
//
// A label is {text, x, y, spots, rotate, must, clear}: its text, the pixel that it
// belongs to, and where it may stand, best first, each {dx, dy, align, text}: the
// offset from the pixel, which side of the text is there ("left", "center",
// "right"), the text if it has other lines, and its angle if it has another. A
// turned label is centred on its spot. One that must be there may cover another,
// one that is to be clear is hidden rather than crossed, and one of a dot is led
// back to it by a thin line where it stands away from it. All is plain geometry in
// pixels, y downwards.
(function (root) {
  "use strict";

  // Widths of printable ASCII in thousandths of the font size: of each the advance
  // in DejaVu Sans or in Liberation Sans, whichever is greater. The faces that
  // other systems set interfaces in are narrower than the first.
  const WIDTHS = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556,
    1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863, 748, 787,
    667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
  ];
  const LINE_HEIGHT = 1.3;
  const APART = 6; // pixels between labels beside each other
  const LED = 9; // pixels from which on a label is led back to its dot

  /** How wide the longest line of a text is, about, on the safe side. */
  function wide(text, size) {
    const line = (s) => [...s].reduce((sum, c) => {
      const code = c.codePointAt(0);
      return sum + (WIDTHS[code - 32] ?? ("×−".includes(c) ? 838 : code < 0x2190 ? 640 : code < 0x2e80 ? 950 : 1000));
    }, 0);
    return Math.max(...text.split("\n").map(line)) / 1000 * size;
  }

  /** Breaks a text into lines of at most width pixels, at spaces. */
  function wrap(text, size, width) {
    return text.split("\n").map((part) => part.split(/\s+/).filter(Boolean).reduce((lines, word) => {
      const longer = lines.length > 0 && `${lines.at(-1)} ${word}`;
      if (longer && wide(longer, size) <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
      return lines;
    }, []).join("\n")).join("\n");
  }

  const lines = (text) => text.split("\n").length;

  /** Breaks a text as wrap does, into lines of about the same length. */
  function balanced(text, size, width) {
    let best = wrap(text, size, width);
    for (let w = width; w > width / 3; w -= size) {
      const narrower = wrap(text, size, w);
      if (lines(narrower) > lines(best)) break;
      best = narrower;
    }
    return best;
  }

  const shared = (a, b) => Math.max(0, Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0)) * Math.max(0, Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0));
  const outside = (a, frame) => (a.x1 - a.x0) * (a.y1 - a.y0) - shared(a, frame);
  const grown = (b, dx, dy = dx) => ({ x0: b.x0 - dx, y0: b.y0 - dy, x1: b.x1 + dx, y1: b.y1 + dy });

  /** The length of the part of a line [x0, y0, x1, y1] inside a box. */
  function crossing(box, [x0, y0, x1, y1]) {
    let from = 0, to = 1;
    for (const [p, d, lo, hi] of [[x0, x1 - x0, box.x0, box.x1], [y0, y1 - y0, box.y0, box.y1]]) {
      if (d === 0) {
        if (p < lo || p > hi) return 0;
        continue;
      }
      const [a, b] = [(lo - p) / d, (hi - p) / d];
      from = Math.max(from, Math.min(a, b));
      to = Math.min(to, Math.max(a, b));
    }
    return Math.max(0, to - from) * Math.hypot(x1 - x0, y1 - y0);
  }

  /** The boxes that a label covers in a spot: one, or squares along a turned one. */
  function boxes(label, spot, size) {
    const text = spot.text ?? label.text;
    const w = wide(text, size), h = lines(text) * size * LINE_HEIGHT;
    const x = label.x + spot.dx, y = label.y + spot.dy;
    const turn = spot.rotate ?? label.rotate;
    if (!turn) {
      const left = x - { left: 0, center: w / 2, right: w }[spot.align];
      return [{ x0: left, y0: y - h / 2, x1: left + w, y1: y + h / 2 }];
    }
    // A little less than its height: at whatever angle, none reaches the line
    // that the label stands beside.
    const half = 0.4 * h, count = Math.max(1, Math.ceil(w / (2 * half)));
    return Array.from({ length: count }, (_, i) => {
      const t = w * ((i + 0.5) / count - 0.5);
      const cx = x + t * Math.cos(turn), cy = y - t * Math.sin(turn);
      return { x0: cx - half, y0: cy - half, x1: cx + half, y1: cy + half };
    });
  }

  // What it costs to be where a label should not be: for each square pixel of it,
  // each pixel of a crossed line, and each step down the list of spots.
  // And what it costs to stand nearer to the dot of another label than to its own.
  const COST = { outside: 40, label: 40, dot: 30, line: 20, spot: 3, astray: 12 };

  /** The point of a box that is nearest to x, y. */
  const nearest = (box, x, y) => [Math.max(box.x0, Math.min(x, box.x1)), Math.max(box.y0, Math.min(y, box.y1))];
  const distance = (box, x, y) => Math.hypot(...nearest(box, x, y).map((v, i) => v - [x, y][i]));

  /** The line from a dot to its label at box, or nothing where they stand together. */
  function leader({ x, y, dot }, box) {
    if (!dot || distance(box, x, y) < dot + LED) return undefined;
    const [toX, toY] = nearest(box, x, y), far = Math.hypot(toX - x, toY - y);
    return [x + (toX - x) * (dot + 1) / far, y + (toY - y) * (dot + 1) / far, toX, toY];
  }

  /**
   * Chooses a spot for each label, in order, and hides those that would cover
   * another or be cut.
   *
   * @param {object[]} labels
   * @param {{frame: object, dots: object[], lines: number[][], size: number}} scene
   *   the box to stay inside, boxes and lines to keep clear of, the font's size
   * @returns {object[]} of each label that is shown: {label, spot, boxes, leader, crossed}
   */
  function place(labels, scene) {
    const placed = [], taken = [], leaders = [];
    for (const label of labels) {
      const others = labels.filter((one) => one.dot && Math.hypot(one.x - label.x, one.y - label.y) > one.dot);
      let best = { cost: Infinity };
      label.spots.forEach((spot, rank) => {
        const own = boxes(label, spot, scene.size);
        let cost = rank * COST.spot, cover = 0, crossed = 0; // cover: of other labels, and of what is outside
        for (const box of own) {
          cover += outside(box, scene.frame);
          cost += outside(box, scene.frame) * COST.outside;
          for (const other of taken) {
            cover += shared(box, other);
            cost += shared(box, grown(other, APART, 0)) * COST.label;
          }
          for (const dot of scene.dots) cost += shared(box, dot) * COST.dot;
          for (const line of scene.lines) {
            cost += crossing(grown(box, 1), line) * COST.line;
            crossed += crossing(box, line);
          }
          for (const line of leaders) cost += crossing(grown(box, 1), line) * COST.line;
        }
        const led = leader(label, own[0]);
        for (const other of led ? taken : []) cost += crossing(other, led) * COST.line;
        if (label.dot && others.some((one) => distance(own[0], one.x, one.y) <= distance(own[0], label.x, label.y))) cost += COST.astray;
        if (cost < best.cost) best = { cost, cover, crossed, spot, boxes: own, leader: led };
      });
      if (!best.spot || (best.cover > 4 && !label.must) || (best.crossed > 0 && label.clear)) continue;
      taken.push(...best.boxes);
      if (best.leader) leaders.push(best.leader);
      placed.push({ label, spot: best.spot, boxes: best.boxes, leader: best.leader, crossed: best.crossed > 0 });
    }
    return placed;
  }

  /** Spots round a dot: right, left, above, below, the corners, and further out. */
  function around(radius, size, count) {
    const up = count * size * LINE_HEIGHT / 2;
    return [4, 12, 24, 40, 60].map((more) => radius + more).flatMap((r) => [
      { dx: r, dy: 0, align: "left" }, { dx: -r, dy: 0, align: "right" },
      { dx: 0, dy: -r - up, align: "center" }, { dx: 0, dy: r + up, align: "center" },
      ...[-1, 1].flatMap((side) => [
        { dx: 0.7 * r, dy: side * (0.7 * r + up / 2), align: "left" }, { dx: -0.7 * r, dy: side * (0.7 * r + up / 2), align: "right" },
      ]),
      ...[0, 1.5].flatMap((back) => [-1, 1].flatMap((side) => [
        { dx: back * r, dy: side * (r + up), align: "right" }, { dx: -back * r, dy: side * (r + up), align: "left" },
      ])),
    ]);
  }

  /** Moves heights apart, at least by gap, as little as needed, inside lo to hi; they keep their order. */
  function spread(ys, gap, lo, hi) {
    const groups = [];
    const top = (g) => Math.max(lo, Math.min(g.sum / g.of.length - (g.of.length - 1) / 2 * gap, hi - (g.of.length - 1) * gap));
    for (const i of ys.map((_, i) => i).sort((a, b) => ys[a] - ys[b])) {
      groups.push({ sum: ys[i], of: [i] });
      while (groups.length > 1) {
        const [a, b] = groups.slice(-2);
        if (top(a) + a.of.length * gap <= top(b) + 1e-9) break;
        groups.splice(-2, 2, { sum: a.sum + b.sum, of: [...a.of, ...b.of] });
      }
    }
    const out = [...ys];
    for (const g of groups) g.of.forEach((i, k) => (out[i] = top(g) + k * gap));
    return out;
  }

  const kit = { wide, wrap, balanced, lines, crossing, shared, outside, grown, place, around, spread, LINE_HEIGHT };
  root.memorywall = Object.assign(root.memorywall || {}, { place: kit });
  if (typeof module === "object" && module.exports) module.exports = kit;
})(typeof window !== "undefined" ? window : globalThis);
