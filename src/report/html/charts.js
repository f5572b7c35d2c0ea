// --- Charts as SVG. They are drawn for the width they have on the screen, so that text keeps its size. Series differ by
// dashes and marks as well as by color. A tooltip follows the pointer or the arrow keys.

const ticks = (low, high, count) => {
  if (!(high > low)) return [low];
  const rough = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(rough)),
    factor = rough / power;
  const step = power * (factor > 5 ? 10 : factor > 2 ? 5 : factor > 1 ? 2 : 1);
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && all.length < 40; ++i) all.push(i * step);
  return all;
};
const tickText = (value, step) => {
  if (Math.abs(value) >= 1e6 || (step > 0 && step < 1e-5)) return value.toPrecision(3);
  return (Math.abs(value) < step * 1e-6 ? 0 : value).toFixed(
    step > 0 ? Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9))) : 2,
  );
};

// The range of an axis, at least `least` wide, so that nearly equal values are drawn close together.
function extent(values, { least = 0, widen = 0.06, include = [] } = {}) {
  const all = values.concat(include).filter(Number.isFinite);
  if (all.length === 0) return [0, 1];
  let low = all[0],
    high = all[0];
  for (const one of all) {
    low = Math.min(low, one);
    high = Math.max(high, one);
  }
  const missing = least - (high - low);
  if (missing > 0) {
    low -= missing / 2;
    high += missing / 2;
  }
  const by = high > low ? (high - low) * widen : Math.max(Math.abs(low) * widen, 1e-9);
  return [low - by, high + by];
}
const scale =
  ([low, high], [first, last]) =>
  (value) =>
    first + ((value - low) / (high - low)) * (last - first);

const tooltip = h("div", { class: "tooltip", hidden: true });
function showTooltip(lines, x, y) {
  tooltip.replaceChildren(...lines.filter(Boolean).map((line, i) => h(i === 0 ? "b" : "span", null, line)));
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect();
  tooltip.style.left = `${Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - width - 4)) + scrollX}px`;
  tooltip.style.top = `${(y + height + 24 > innerHeight ? y - height - 12 : y + 16) + scrollY}px`;
}
const hideTooltip = () => {
  tooltip.hidden = true;
};

const DRAWING = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-opacity",
  "fill-opacity",
  "opacity",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
];
// Saves a chart as a PNG file: a copy with all styles as attributes becomes an image.
async function savePng(drawing, name) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")],
    copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((one, i) => {
    const style = getComputedStyle(one);
    for (const property of DRAWING) copies[i].setAttribute(property, style.getPropertyValue(property));
    copies[i].removeAttribute("class");
  });
  const { width, height } = drawing.viewBox.baseVal,
    zoom = 2;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", "sans-serif");
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  await image.decode();
  const canvas = h("canvas", { width: width * zoom, height: height * zoom });
  const context = canvas.getContext("2d");
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && save(name + ".png", "image/png", blob));
}

// A chart in a figure. `draw(width)` returns { height, content, marks }; marks are points with `lines` for the tooltip.
function chart(name, says, draw, legend) {
  const drawing = svg("svg", { role: "img", "aria-label": says, class: "chart", tabindex: "0" });
  const ring = svg("circle", { r: 8, class: "ring", visibility: "hidden" });
  const figure = h(
    "figure",
    { class: "plot" },
    drawing,
    h(
      "div",
      { class: "under" },
      legend,
      h("button", { type: "button", class: "small png", onclick: () => savePng(drawing, name) }, "PNG"),
    ),
  );
  let width = 0,
    marks = [],
    current = -1;
  const render = () => {
    const now = Math.round(figure.clientWidth) || width || 700;
    if (now === width) return;
    width = now;
    const made = draw(width);
    marks = made.marks ?? [];
    drawing.setAttribute("viewBox", `0 0 ${width} ${made.height}`);
    drawing.replaceChildren(...[made.content, ring].flat(4).filter(Boolean));
  };
  const point = (index) => {
    current = index;
    const mark = marks[index];
    const box = drawing.getBoundingClientRect(),
      zoom = box.width / width;
    ring.setAttribute("cx", mark.x);
    ring.setAttribute("cy", mark.y);
    ring.setAttribute("visibility", "visible");
    showTooltip(mark.lines, box.left + mark.x * zoom, box.top + mark.y * zoom);
  };
  const leave = () => {
    current = -1;
    ring.setAttribute("visibility", "hidden");
    hideTooltip();
  };
  const hover = (event) => {
    if (marks.length === 0) return;
    const box = drawing.getBoundingClientRect(),
      zoom = box.width / width;
    const x = (event.clientX - box.left) / zoom,
      y = (event.clientY - box.top) / zoom;
    let nearest = -1,
      distance = 40 ** 2;
    marks.forEach((mark, i) => {
      const away = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (away < distance) {
        nearest = i;
        distance = away;
      }
    });
    if (nearest >= 0) point(nearest);
    else leave();
  };
  drawing.addEventListener("pointermove", hover);
  drawing.addEventListener("pointerdown", hover);
  drawing.addEventListener("pointerleave", leave);
  drawing.addEventListener("blur", leave);
  drawing.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return leave();
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || marks.length === 0) return;
    event.preventDefault();
    point((current + step + marks.length) % marks.length);
  });
  new ResizeObserver(render).observe(figure); // draws as soon as the figure has a size
  figure.addEventListener("show", render);
  return figure;
}

const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
const label = (x, y, kind, text) => svg("text", { x, y, class: kind }, text);
const pathOf = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

// Grid, tick labels and titles of two axes.
function frame(
  width,
  height,
  xs,
  ys,
  { x, y, xTitle, yTitle, left = 56, right = 14, top = 12, bottom = 42, xTicks = true },
) {
  const made = [];
  const rows = ticks(ys[0], ys[1], 5),
    columns = ticks(xs[0], xs[1], Math.max(3, Math.round(width / 110)));
  for (const value of rows) {
    made.push(line(left, y(value), width - right, y(value), "grid"));
    made.push(label(left - 6, y(value) + 4, "tick end", tickText(value, rows.length > 1 ? rows[1] - rows[0] : 0)));
  }
  if (xTicks)
    for (const value of columns)
      made.push(
        label(
          x(value),
          height - bottom + 16,
          "tick middle",
          tickText(value, columns.length > 1 ? columns[1] - columns[0] : 0),
        ),
      );
  made.push(line(left, height - bottom, width - right, height - bottom, "axis"));
  made.push(
    label((left + width - right) / 2, height - 6, "axis-title middle", width < 420 ? xTitle.split(",")[0] : xTitle),
  );
  const middle = (top + height - bottom) / 2;
  made.push(
    svg("text", { x: 13, y: middle, class: "axis-title middle", transform: `rotate(-90 13 ${middle})` }, yTitle),
  );
  return made;
}

// A horizontal line with its name: a threshold.
const threshold = (y, from, to, text) => [
  line(from, y, to, y, "threshold"),
  label(to - 4, y - 5, "threshold-name end", text),
];

const MARKS = {
  circle: (x, y, kind) => svg("circle", { cx: x, cy: y, r: 5, class: kind }),
  cross: (x, y, kind) =>
    svg("path", {
      d: `M${x - 4.5},${y - 4.5}L${x + 4.5},${y + 4.5}M${x - 4.5},${y + 4.5}L${x + 4.5},${y - 4.5}`,
      class: kind,
    }),
  diamond: (x, y, kind) => svg("path", { d: `M${x},${y - 9}L${x + 9},${y}L${x},${y + 9}L${x - 9},${y}Z`, class: kind }),
  square: (x, y, kind) => svg("rect", { x: x - 5, y: y - 5, width: 10, height: 10, class: kind }),
  triangle: (x, y, kind) => svg("path", { d: `M${x},${y - 5}L${x + 5},${y + 4}L${x - 5},${y + 4}Z`, class: kind }),
};
const legendOf = (entries) =>
  h(
    "ul",
    { class: "legend" },
    entries.map(([shape, kind, name]) =>
      h(
        "li",
        null,
        svg(
          "svg",
          { viewBox: "0 0 28 20", class: "key", "aria-hidden": "true" },
          shape === "line" ? line(0, 10, 28, 10, kind) : MARKS[shape](14, 10, kind),
        ),
        name,
      ),
    ),
  );

// Points of several kinds: { x, y, kind, lines, name }. `front`: points that a line connects.
const KINDS = {
  chosen: ["diamond", "point chosen", "chosen"],
  passed: ["circle", "point passed", "passed"],
  uncertain: ["triangle", "point uncertain", "uncertain"],
  failed: ["cross", "point failed", "rejected"],
  original: ["square", "point original", "original"],
};
// The accepted points that no other one beats in both directions: smaller, and higher.
function frontOf(points) {
  const front = [];
  for (const one of points
    .filter((p) => p.kind !== "failed" && p.kind !== "uncertain")
    .sort((a, b) => a.x - b.x || b.y - a.y)) {
    if (front.length === 0 || one.y > front.at(-1).y) front.push(one);
  }
  return front;
}
function scatter(
  name,
  says,
  points,
  { xTitle, yTitle, xLeast = 0, yLeast = 0, isFront = false, limit = null, xInclude = [], yInclude = [] },
) {
  if (points.length === 0) return null;
  const xs = extent(
    points.map((one) => one.x),
    { least: xLeast, widen: 0.07, include: xInclude },
  );
  const ys = extent(
    points.map((one) => one.y),
    { least: yLeast, widen: 0.1, include: yInclude.concat(limit ? [limit.y] : []) },
  );
  const front = isFront ? frontOf(points) : [];
  const kinds = Object.keys(KINDS).filter((kind) => points.some((one) => one.kind === kind));
  const legend = legendOf(
    kinds.map((kind) => KINDS[kind]).concat(front.length > 1 ? [["line", "line front", "Pareto front"]] : []),
  );
  return chart(
    name,
    says,
    (width) => {
      const height = Math.max(260, Math.min(380, width * 0.46));
      const x = scale(xs, [56, width - 14]),
        y = scale(ys, [height - 42, 12]);
      const content = frame(width, height, xs, ys, { x, y, xTitle, yTitle });
      if (limit) content.push(...threshold(y(limit.y), 56, width - 14, limit.name));
      if (front.length > 1)
        content.push(svg("path", { d: pathOf(front.map((one) => [x(one.x), y(one.y)])), class: "line front" }));
      const order = points.filter((one) => one.kind !== "chosen").concat(points.filter((one) => one.kind === "chosen"));
      const marks = order.map((one) => ({ x: x(one.x), y: y(one.y), lines: one.lines }));
      const taken = [];
      order.forEach((one, i) => {
        content.push(MARKS[KINDS[one.kind][0]](marks[i].x, marks[i].y, KINDS[one.kind][1]));
        if (!one.name) return;
        const isLeft = marks[i].x > width - 120;
        const place = { x: marks[i].x + (isLeft ? -10 : 10), y: marks[i].y - 9 };
        if (taken.some((other) => Math.abs(other.x - place.x) < 90 && Math.abs(other.y - place.y) < 13)) return;
        taken.push(place);
        content.push(
          label(
            place.x,
            place.y,
            isLeft ? "label end" : "label",
            one.name.length > 24 ? one.name.slice(0, 23) + "…" : one.name,
          ),
        );
      });
      return { height, content, marks };
    },
    legend,
  );
}

// Lines through points: series of { name, points: [{ x, y, lines }] }. Points with `lines` have a mark.
function lines(
  name,
  says,
  series,
  { xTitle, yTitle, limit = null, fromZero = false, isJoined = true, xTicks = true, least = 0 },
) {
  const all = series.flatMap((one) => one.points);
  if (all.length === 0) return null;
  const xs = extent(
    all.map((one) => one.x),
    { widen: 0.02 },
  );
  const ys = fromZero
    ? [0, 1.04 * Math.max(...all.map((one) => one.y), 1e-9)]
    : extent(
        all.map((one) => one.y),
        { widen: 0.08, least, include: limit ? [limit.y] : [] },
      );
  const shapes = ["circle", "triangle", "square", "diamond", "circle", "triangle"];
  const legend =
    series.length > 1
      ? legendOf(
          series.map((one, i) =>
            isJoined
              ? ["line", `line series-${(i % 6) + 1}`, one.name]
              : [shapes[i % 6], `mark series-${(i % 6) + 1}`, one.name],
          ),
        )
      : null;
  return chart(
    name,
    says,
    (width) => {
      const height = Math.max(220, Math.min(300, width * 0.4));
      const x = scale(xs, [56, width - 14]),
        y = scale(ys, [height - 42, 12]);
      const content = frame(width, height, xs, ys, { x, y, xTitle, yTitle, xTicks });
      if (limit) content.push(...threshold(y(limit.y), 56, width - 14, limit.name));
      const marks = [];
      series.forEach((one, i) => {
        const kind = `series-${(i % 6) + 1}`;
        if (isJoined)
          content.push(svg("path", { d: pathOf(one.points.map((p) => [x(p.x), y(p.y)])), class: "line " + kind }));
        for (const p of one.points) {
          if (!p.lines) continue;
          marks.push({ x: x(p.x), y: y(p.y), lines: p.lines });
          content.push(
            isJoined
              ? svg("circle", { cx: x(p.x), cy: y(p.y), r: 3.5, class: "mark " + kind })
              : MARKS[shapes[i % 6]](x(p.x), y(p.y), "mark faint " + kind),
          );
        }
      });
      return { height, content, marks };
    },
    legend,
  );
}

// Ratios with their 95 % intervals, and a line at 1: { name, value, low, high, lines }.
function intervals(name, says, all, xTitle) {
  if (all.length === 0) return null;
  const xs = extent(
    all.flatMap((one) => [one.low, one.high]),
    { include: [1], widen: 0.08, least: 0.4 },
  );
  return chart(name, says, (width) => {
    const row = 40,
      height = row * all.length + 46;
    const x = scale(xs, [14, width - 20]);
    const columns = ticks(xs[0], xs[1], Math.max(3, Math.round(width / 110)));
    const content = columns.map((value) =>
      label(
        x(value),
        height - 26,
        "tick middle",
        tickText(value, columns.length > 1 ? columns[1] - columns[0] : 0) + "×",
      ),
    );
    content.push(
      label(width / 2, height - 6, "axis-title middle", xTitle),
      line(x(1), 4, x(1), height - 42, "threshold"),
    );
    const marks = all.map((one, i) => {
      const y = row * i + 30;
      content.push(
        label(14, y - 12, "label", one.name),
        line(x(one.low), y, x(one.high), y, "interval"),
        svg("circle", { cx: x(one.value), cy: y, r: 6, class: "mark series-1" }),
      );
      return { x: x(one.value), y, lines: one.lines };
    });
    return { height, content, marks };
  });
}

// Horizontal bars of several measures side by side: { name, value, text, kind }.
function bars(name, says, all, most) {
  if (all.length === 0) return null;
  return chart(name, says, (width) => {
    const row = 42,
      height = row * all.length + 4,
      right = 86;
    const x = scale([0, most], [0, width - right]);
    const content = all.flatMap((one, i) => {
      const y = row * i;
      return [
        label(0, y + 13, "label", one.name),
        svg("rect", {
          x: 0,
          y: y + 18,
          width: Math.max(2, x(one.value)),
          height: 16,
          rx: 3,
          class: "bars " + (one.kind ?? ""),
        }),
        label(Math.max(2, x(one.value)) + 6, y + 31, "label", one.text),
      ];
    });
    return {
      height,
      content,
      marks: all.map((one, i) => ({ x: x(one.value), y: row * i + 26, lines: [one.name, one.text] })),
    };
  });
}

// A histogram with the chosen range. Heights are square roots of counts, because the tails decide the range.
function histogram(entry, says) {
  const counts = numbers(entry, "histogram.counts");
  const first = num(entry, "histogram.low") ?? 0,
    last = num(entry, "histogram.high") ?? 0;
  const low = num(entry, "range.low"),
    high = num(entry, "range.high"),
    hasRange = low !== null && high !== null;
  if (counts.length === 0) return null;
  const width = 240,
    height = 78,
    floor = 62;
  const xs = extent([first, last], { widen: first === last ? 0.5 : 0, include: hasRange ? [low, high] : [] });
  const x = scale(xs, [2, width - 2]),
    most = Math.sqrt(Math.max(...counts, 1)),
    step = (last - first) / counts.length;
  let inside = "",
    outside = "";
  counts.forEach((count, i) => {
    if (!(count > 0)) return;
    const left = first + step * i,
      middle = left + step / 2,
      up = Math.max(1, (Math.sqrt(count) / most) * (floor - 4));
    const bar = `M${x(left).toFixed(1)},${floor}v-${up.toFixed(1)}h${Math.max(1, x(left + step) - x(left) - 0.4).toFixed(1)}v${up.toFixed(1)}z`;
    if (hasRange && (middle < low || middle > high)) outside += bar;
    else inside += bar;
  });
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": says, class: "chart" },
    hasRange && svg("rect", { x: x(low), y: 0, width: Math.max(0, x(high) - x(low)), height: floor, class: "range" }),
    inside && svg("path", { d: inside, class: "bars" }),
    outside && svg("path", { d: outside, class: "bars clipped" }),
    line(0, floor, width, floor, "axis"),
    label(2, height - 3, "tick", digits(xs[0], 3)),
    label(width - 2, height - 3, "tick end", digits(xs[1], 3)),
  );
}

function waveform(lowest, highest, says) {
  const count = Math.min(lowest.length, highest.length, 1000);
  if (count === 0) return null;
  const width = 240,
    height = 64;
  let largest = 1e-12;
  for (let i = 0; i < count; ++i) largest = Math.max(largest, Math.abs(lowest[i]), Math.abs(highest[i]));
  const x = scale([0, count], [0, width]),
    y = scale([-largest, largest], [height - 1, 1]);
  let d = "";
  for (let i = 0; i < count; ++i)
    d += `M${x(i + 0.5).toFixed(1)},${(y(lowest[i]) + 0.4).toFixed(1)}V${(y(highest[i]) - 0.4).toFixed(1)}`;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": says, class: "chart sound" },
    svg("path", { d, class: "wave" }),
  );
}

// A dial: a ring that is filled by `share`, with a value in the middle.
function dial({ name, share, kind, value, note, title }) {
  const radius = 46,
    length = 2 * Math.PI * radius,
    part = Math.max(0, Math.min(1, share ?? 0));
  const ringOf = (kindOf, dash) =>
    svg("circle", {
      cx: 60,
      cy: 60,
      r: radius,
      class: kindOf,
      "stroke-dasharray": dash,
      transform: "rotate(-90 60 60)",
    });
  return h(
    "div",
    { class: "dial " + kind, title },
    svg(
      "svg",
      { viewBox: "0 0 120 120", role: "img", "aria-label": `${name}: ${value}. ${note}` },
      ringOf("track", null),
      share !== null && part > 0.002 && ringOf("arc", `${(part * length).toFixed(1)} ${length.toFixed(1)}`),
      svg("text", { x: 60, y: 67, class: "value" + (value.length > 5 ? " long" : "") }, value),
    ),
    h("div", { class: "about" }, h("b", null, name), h("span", null, note)),
  );
}
