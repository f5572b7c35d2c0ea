// --- Parts that the sections of several commands share.

// Four dials: size, speed, quality, memory. `figures` is an entry of the key figures that the program computed.
function dials(figures) {
  const pair = (key) => [num(figures, key + ".before"), num(figures, key + ".after")];
  const saved = (name, [before, after], fix) => {
    if (after === null) return { name, share: null, kind: "none", value: DASH, note: fix };
    if (before === null || before <= 0) return { name, share: null, kind: "none", value: bytes(after), note: "" };
    const change = after / before - 1;
    return {
      name,
      share: Math.abs(change),
      kind: change < -0.005 ? "good" : change > 0.02 ? "bad" : "even",
      value: Math.abs(change) < 0.005 ? "same" : `${change < 0 ? "−" : "+"}${Math.round(100 * Math.abs(change))} %`,
      note: `${bytes(before)} → ${bytes(after)}`,
    };
  };
  const speed = () => {
    const ratio = num(figures, "speed"),
      low = num(figures, "speed_low"),
      high = num(figures, "speed_high");
    if (ratio === null)
      return { name: "Speed", share: null, kind: "none", value: DASH, note: "not measured: ounce bench" };
    const isCertain = isTrue(figures, "speed_certain");
    return {
      name: "Speed",
      share: Math.abs(1 - 1 / Math.max(ratio, 1e-9)),
      kind: !isCertain ? "even" : ratio > 1 ? "good" : "bad",
      value: isCertain ? `${ratio.toFixed(ratio < 10 ? 1 : 0)}×` : "same",
      note: low === null ? "the original’s" : `${digits(low, 3)}–${digits(high, 3)}× the original`,
    };
  };
  const quality = () => {
    const [before, after] = pair("quality");
    if (after !== null) {
      const name = metricName(str(figures, "metric")),
        isShare = isTrue(figures, "share");
      const format = (value) => (isShare ? percent(value) : digits(value, 3));
      const drop = num(figures, "drop"),
        isWorse = drop !== null && drop > 0.0005;
      return {
        name: name === "accuracy" ? "Accuracy" : name,
        share: isShare ? after : 1,
        kind: str(figures, "verdict") === "bad" ? "bad" : isWorse ? "even" : "good",
        value: format(after),
        note: before === null ? "" : `original: ${format(before)}`,
      };
    }
    if (isTrue(figures, "exact"))
      return { name: "Quality", share: 1, kind: "good", value: "exact", note: "identical outputs" };
    const agreement = num(figures, "agreement"),
      noise = num(figures, "sqnr_db");
    if (agreement !== null)
      return {
        name: "Agreement",
        share: agreement,
        kind: str(figures, "verdict") === "bad" ? "bad" : agreement >= 0.98 ? "good" : "even",
        value: percent(agreement),
        note: "equal predictions",
      };
    if (noise === null)
      return { name: "Quality", share: null, kind: "none", value: DASH, note: "not measured: ounce verify" };
    return {
      name: "Output SQNR",
      share: noise / 60,
      kind: str(figures, "verdict") === "bad" || noise < 10 ? "bad" : noise >= 30 ? "good" : "even",
      value: `${noise.toFixed(0)} dB`,
      note: `error ${percent(10 ** (-noise / 20), noise > 40 ? 2 : 1)} of the signal`,
    };
  };
  return h(
    "div",
    { class: "dials" },
    [
      saved("Size", pair("bytes"), "not in these results"),
      speed(),
      quality(),
      saved("Memory", pair("memory"), "not measured: ounce bench"),
    ].map(dial),
  );
}

// Audits: { kind: good, warn, bad or info; title; value; detail; fix }. `fix` says what to do; a command is { line, why }.
const ORDER = { bad: 0, warn: 1, info: 2, good: 3 };
const AUDIT_WORDS = { good: "passed", warn: "warning", bad: "failed", info: "note" };
function audits(all) {
  const entries = all.filter(Boolean).sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
  if (entries.length === 0) return null;
  const one = (audit) => {
    const title = [
      h(
        "span",
        { class: "sign " + audit.kind, role: "img", "aria-label": AUDIT_WORDS[audit.kind] },
        { good: "✓", warn: "!", bad: "✗", info: "i" }[audit.kind],
      ),
      h("span", { class: "what" }, audit.title),
      audit.value && h("span", { class: "figure" }, audit.value),
    ];
    const content = []
      .concat(audit.detail ?? [])
      .filter(Boolean)
      .map(paragraph)
      .concat(
        []
          .concat(audit.fix ?? [])
          .filter(Boolean)
          .map((fix) => (fix.line ? command(fix.line, fix.why) : h("p", { class: "fix" }, h("b", null, "Fix: "), fix))),
      );
    return h(
      "li",
      { class: audit.kind },
      content.length
        ? h("details", { open: audit.kind === "bad" || audit.kind === "warn" }, h("summary", null, title), content)
        : h("div", { class: "plain" }, title),
    );
  };
  return [heading("Checks"), h("ul", { class: "audits" }, entries.map(one))];
}

// Notes are texts without a verdict, so they are not among the checks.
const noteList = (result) => (texts(result, "notes").length ? [heading("Notes"), notes(texts(result, "notes"))] : null);

function cpuAudits(all) {
  return all.map((cpu) => {
    const name = `Runs on ${str(cpu, "cpu")}`;
    if (!isTrue(cpu, "run")) return { kind: "info", title: `${name}: not tried`, detail: str(cpu, "why_not") };
    return {
      kind: isTrue(cpu, "same") ? "good" : "bad",
      title: isTrue(cpu, "same") ? name : `Outputs differ on ${str(cpu, "cpu")}`,
      value: isTrue(cpu, "exact") ? "bit-identical" : sqnr(cpu) + " SQNR",
      detail: `${str(cpu, "how")}, ${plural(num(cpu, "samples") ?? 0, "sample")}`,
    };
  });
}

// --- Samples

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const isBase64 = (text, most) => text.length > 0 && text.length <= most && text.length % 4 === 0 && BASE64.test(text);
const MOST_PNG = 400_000,
  MOST_WAV = 200_000;

const imageOf = (picture, says, kind = "sample") => {
  const png = str(picture, "png");
  return isBase64(png, MOST_PNG) ? h("img", { src: "data:image/png;base64," + png, alt: says, class: kind }) : null;
};
const soundOf = (picture) => {
  const wav = str(picture, "wav");
  return isBase64(wav, MOST_WAV) ? h("audio", { src: "data:audio/wav;base64," + wav, preload: "auto" }) : null;
};

function pictureOf(picture) {
  if (!isObject(picture)) return null;
  const says = "input " + str(picture, "input");
  const image = imageOf(picture, says);
  if (image) return image;
  const wave = waveform(numbers(picture, "lowest"), numbers(picture, "highest"), says),
    sound = soundOf(picture);
  if (!sound) return wave;
  const button = h(
    "button",
    {
      type: "button",
      class: "small",
      onclick: () => (sound.paused ? ((sound.currentTime = 0), sound.play()) : sound.pause()),
    },
    "▶ Play",
  );
  sound.addEventListener("play", () => {
    button.textContent = "■ Stop";
  });
  sound.addEventListener("pause", () => {
    button.textContent = "▶ Play";
  });
  return h("div", { class: "sound" }, wave, sound, button);
}

// Two images on top of each other; a slider moves the border between them.
function beforeAfter(reference, candidate) {
  const before = imageOf(reference, "output of the original", "output"),
    after = imageOf(candidate, "output of the candidate", "output");
  if (!before || !after) return null;
  const border = h("span", { class: "border", "aria-hidden": "true" });
  const stage = h(
    "div",
    { class: "stage" },
    before,
    after,
    border,
    h("span", { class: "tag left" }, "original"),
    h("span", { class: "tag right" }, "candidate"),
  );
  const slider = h("input", {
    type: "range",
    min: "0",
    max: "100",
    value: "50",
    "aria-label": "border between the original and the candidate",
  });
  const place = () => {
    after.style.clipPath = `inset(0 0 0 ${slider.value}%)`;
    border.style.left = `${slider.value}%`;
  };
  slider.addEventListener("input", place);
  stage.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch" && event.buttons === 0) return;
    const box = stage.getBoundingClientRect();
    slider.value = Math.round((100 * (event.clientX - box.left)) / box.width);
    place();
  });
  place();
  return h("div", { class: "compare" }, stage, slider);
}

// Plays the outputs of both models at the same position; a switch selects which one is heard.
function soundComparison(reference, candidate) {
  const sounds = [soundOf(reference), soundOf(candidate)];
  if (!sounds[0] || !sounds[1]) return null;
  let heard = 0;
  const play = h("button", { type: "button", class: "small" }, "▶ Play");
  const hear = (index) => {
    heard = index;
    sounds.forEach((sound, i) => {
      sound.muted = i !== index;
    });
    choices.forEach((choice, i) => choice.setAttribute("aria-pressed", String(i === index)));
  };
  const choices = ["A: original", "B: candidate"].map((name, i) =>
    h("button", { type: "button", class: "small choice", onclick: () => hear(i) }, name),
  );
  play.addEventListener("click", () => {
    if (!sounds[0].paused) return sounds.forEach((sound) => sound.pause());
    sounds.forEach((sound) => {
      sound.currentTime = 0;
      sound.play();
    });
  });
  sounds[0].addEventListener("play", () => {
    play.textContent = "■ Stop";
  });
  sounds[0].addEventListener("pause", () => {
    play.textContent = "▶ Play";
  });
  hear(heard);
  const waves = [reference, candidate].map((picture, i) =>
    waveform(numbers(picture, "lowest"), numbers(picture, "highest"), `output of the ${i ? "candidate" : "original"}`),
  );
  return h(
    "div",
    { class: "sound both" },
    waves,
    sounds,
    play,
    h("span", { role: "group", "aria-label": "model to hear" }, choices),
  );
}

const outputComparison = (sample) =>
  beforeAfter(at(sample, "reference_output"), at(sample, "candidate_output")) ??
  soundComparison(at(sample, "reference_output"), at(sample, "candidate_output"));

const classNameOf = (result, number) => {
  if (number === null) return DASH;
  const name = list(result, "class_names")[number];
  return typeof name === "string" && name !== "" ? name : `class ${number}`;
};

const scoreText = (value) => (Math.abs(value) < 100 ? value.toFixed(2) : digits(value, 3));
// The scores of both models, as bars.
function scores(result, sample) {
  const all = list(sample, "answers").slice(0, 8);
  if (all.length === 0) return null;
  const values = all.flatMap((one) => [num(one, "reference") ?? 0, num(one, "candidate") ?? 0]);
  const low = Math.min(0, ...values),
    high = Math.max(...values, low + 1e-9);
  const share = (value) => (value === null ? 0 : (value - low) / (high - low));
  return h(
    "table",
    { class: "scores" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "class"),
        h("th", { scope: "col" }, "original"),
        h("th", { scope: "col" }, "candidate"),
      ),
    ),
    h(
      "tbody",
      null,
      all.map((one) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, classNameOf(result, num(one, "class"))),
          h("td", null, barNode(share(num(one, "reference")), "a"), either(num(one, "reference"), scoreText)),
          h("td", null, barNode(share(num(one, "candidate")), "b"), either(num(one, "candidate"), scoreText)),
        ),
      ),
    ),
  );
}

function sampleCard(result, sample) {
  const answers = list(sample, "answers");
  const best = (key) =>
    answers.reduce(
      (most, one) => (num(one, key) !== null && (most === null || num(one, key) > num(most, key)) ? one : most),
      null,
    );
  const ours = best("reference"),
    theirs = best("candidate"),
    truth = num(sample, "label");
  const isChanged = ours !== null && theirs !== null && num(ours, "class") !== num(theirs, "class");
  const is = (one) => truth !== null && num(one, "class") === truth;
  let says = null,
    kind = "neutral";
  if (ours !== null && theirs !== null) {
    says = isChanged
      ? `${classNameOf(result, num(ours, "class"))} → ${classNameOf(result, num(theirs, "class"))}`
      : classNameOf(result, num(ours, "class"));
    if (isChanged) kind = is(theirs) ? "good" : is(ours) ? "bad" : "warn";
  }
  const changedLabels = num(sample, "answers_changed") ?? 0;
  return h(
    "figure",
    { class: "card " + (isChanged ? kind : "") },
    pictureOf(at(sample, "picture")),
    h(
      "figcaption",
      null,
      says && h("b", null, says),
      says && " ",
      isChanged &&
        badge(
          kind,
          truth === null ? "changed" : is(theirs) ? "now right" : is(ours) ? "now wrong" : "changed, both wrong",
        ),
      h("small", null, `${str(sample, "sample")}${truth !== null ? `, label: ${classNameOf(result, truth)}` : ""}`),
      h(
        "small",
        null,
        changedLabels
          ? `${str(sample, "output")}: ${plural(changedLabels, "label")} changed`
          : `${str(sample, "output")} differs by up to ${digits(num(sample, "max_abs_diff"), 3)}`,
      ),
    ),
    outputComparison(sample),
    scores(result, sample),
  );
}

// --- The graph, by blocks

const PRECISIONS = {
  int8: "INT8",
  dynamic: "INT8, dynamic",
  int4: "4-bit weights",
  w8: "8-bit weights",
  half: "16-bit",
  fp32: "FP32",
};
const precisionOfNode = (node) =>
  ({ static: "int8", dynamic: "dynamic", float16: "half", bfloat16: "half" })[str(node, "arithmetic")] ?? null;
const precisionOfTensor = (tensor) => {
  const encoding = str(tensor, "encoding");
  if (!isTrue(tensor, "stored")) return "fp32";
  if (/16$/.test(encoding) && !/codebook/.test(encoding)) return "half";
  return /4$|2$|codebook16/.test(encoding) ? "int4" : "w8";
};
const isVector = (tensor) => numbers(tensor, "shape").filter((size) => size !== 1).length < 2;
const least = (values) =>
  values.reduce((low, one) => (one === null ? low : low === null ? one : Math.min(low, one)), null);

// Each block with its precisions, bytes, lowest SQNR and share of the time.
function blocksOf(result, nodeTimes) {
  const blocks = list(result, "blocks"),
    tensors = new Map(),
    arithmetic = new Map(),
    activations = [];
  for (const one of list(result, "tensors")) tensors.set(str(one, "name"), one);
  for (const one of list(result, "nodes")) arithmetic.set(str(one, "name"), one);
  for (const one of list(result, "activations")) activations.push([str(one, "name"), num(one, "sqnr_db")]);
  // The runtime names fused nodes after one of their parts or of their values, with a suffix.
  const blockOfNode = new Map(blocks.flatMap((block, i) => texts(block, "nodes").map((name) => [name, i])));
  const times = blocks.map(() => 0);
  let all = 0;
  for (const one of nodeTimes) {
    const name = str(one, "node").replace(/(_token_\d+|_nchwc|_quant|_output_\d+|_fp16|_kernel_time)+$/g, "");
    const block = blockOfNode.get(name) ?? blocks.findIndex((other) => name.startsWith(str(other, "name") + "/"));
    all += num(one, "duration_ns") ?? 0;
    if (block >= 0) times[block] += num(one, "duration_ns") ?? 0;
  }
  return blocks.map((block, place) => {
    const weights = texts(block, "weights")
        .map((name) => tensors.get(name))
        .filter(Boolean),
      nodes = texts(block, "nodes");
    const counts = {};
    for (const name of nodes) {
      const found = arithmetic.get(name),
        precision = found && precisionOfNode(found);
      if (precision) counts[precision] = (counts[precision] ?? 0) + 1;
      else if (found) counts.fp32 = (counts.fp32 ?? 0) + 1;
    }
    if (Object.keys(counts).length === 0) {
      for (const tensor of weights.filter((one) => !isVector(one))) {
        const precision = precisionOfTensor(tensor);
        counts[precision] = (counts[precision] ?? 0) + 1;
      }
    }
    const inner = activations
      .filter(([name]) => nodes.some((node) => name.startsWith(node + "_output") || name === node))
      .map(([, value]) => value);
    const byOp = {};
    for (const op of texts(block, "ops")) byOp[op] = (byOp[op] ?? 0) + 1;
    const before = weights.reduce((sum, one) => sum + (num(one, "bytes_before") ?? 0), 0),
      after = weights.reduce((sum, one) => sum + (num(one, "bytes_after") ?? 0), 0);
    return {
      name: str(block, "name"),
      nodes,
      byOp,
      counts,
      before,
      after,
      weights,
      from: numbers(block, "predecessors").filter((one) => Number.isInteger(one) && one >= 0 && one < blocks.length),
      weightNoise: least(weights.filter((one) => !isVector(one)).map((one) => num(one, "sqnr_db"))),
      noise: least(inner),
      time: all > 0 ? times[place] / all : null,
      arithmetic,
    };
  });
}

const MOST_BLOCKS = 120;
function blockGraph(result, nodeTimes) {
  const everything = blocksOf(result, nodeTimes);
  if (everything.length < 2) return null;
  const blocks = everything.slice(0, MOST_BLOCKS);
  const hasTimes = blocks.some((one) => one.time > 0);
  const noiseOf = (one) => one.noise ?? one.weightNoise;
  const hasNoise = blocks.some((one) => noiseOf(one) !== null);
  const precisions = Object.keys(PRECISIONS).filter((kind) => blocks.some((one) => one.counts[kind]));
  const last = (name) => name.slice(name.lastIndexOf("/") + 1),
    isShort = new Set(blocks.map((one) => last(one.name))).size === blocks.length;
  const mostTime = Math.max(...blocks.map((one) => one.time ?? 0), 1e-9);
  // Connections that skip blocks, as arcs in lanes at the left.
  const arcs = [];
  blocks.forEach((one, to) =>
    one.from.forEach((from) => {
      if (from < to - 1 && from < MOST_BLOCKS) arcs.push({ from, to, lane: 0 });
    }),
  );
  arcs.sort((a, b) => a.to - a.from - (b.to - b.from));
  const used = [];
  for (const arc of arcs) {
    while ((used[arc.lane] ?? []).some((other) => other.from < arc.to && arc.from < other.to)) ++arc.lane;
    (used[arc.lane] ??= []).push(arc);
  }
  const lanes = Math.min(6, used.length);
  const picked = h("div", { class: "picked", "aria-live": "polite" });
  const show = (one) => {
    picked.replaceChildren(
      h("h4", null, one.name),
      table(
        `Nodes of ${one.name}`,
        one.nodes.map((name, i) => ({ name, i, found: one.arithmetic.get(name) })),
        [
          { title: "node", value: (entry) => entry.name },
          {
            title: "computes in",
            value: (entry) => (entry.found ? PRECISIONS[precisionOfNode(entry.found) ?? "fp32"] : ""),
          },
          { title: "why FP32", value: (entry) => str(entry.found, "reason"), optional: true },
        ],
      ),
      ...[table(`Weights of ${one.name}`, one.weights, tensorColumns())].filter(Boolean),
    );
  };
  const row = 34,
    top = 26;
  const says =
    `${blocks.length} blocks in the order of the network: ` +
    precisions.map((kind) => `${blocks.filter((one) => one.counts[kind]).length} with ${PRECISIONS[kind]}`).join(", ");
  const figure = chart(
    "Graph by blocks",
    says,
    (width) => {
      const left = 8 + 9 * lanes,
        isNarrow = width < 560,
        columns = (hasNoise ? 1 : 0) + (hasTimes ? 1 : 0),
        column = isNarrow ? 74 : 120;
      const right = width - columns * column - 4,
        middle = left + (right - left) * (isNarrow ? 1 : 0.62);
      const content = [
        label(left, 14, "axis-title", "block"),
        !isNarrow && label(middle + 8, 14, "axis-title", "weights"),
      ];
      if (hasNoise) content.push(label(right + 10, 14, "axis-title", isNarrow ? "SQNR" : "lowest SQNR"));
      if (hasTimes)
        content.push(
          label(right + 10 + (hasNoise ? column : 0), 14, "axis-title", isNarrow ? "time" : "share of time"),
        );
      for (const arc of arcs) {
        if (arc.lane >= lanes) continue;
        const x = left - 5 - 9 * arc.lane,
          from = top + row * arc.from + 20,
          to = top + row * arc.to + 8;
        content.push(
          svg("path", {
            d: `M${left},${from}H${x + 4}Q${x},${from} ${x},${from + 4}V${to - 4}Q${x},${to} ${x + 4},${to}H${left}`,
            class: "arc-line",
          }),
        );
      }
      const marks = blocks.map((one, i) => {
        const y = top + row * i,
          wide = middle - left,
          all = Object.values(one.counts).reduce((sum, count) => sum + count, 0);
        if (i > 0 && one.from.includes(i - 1)) content.push(line(left + 16, y - 6, left + 16, y, "arc-line"));
        let x = left;
        content.push(svg("rect", { x: left, y, width: wide, height: row - 6, rx: 5, class: "block none" }));
        for (const kind of precisions) {
          if (!one.counts[kind]) continue;
          const part = (wide * one.counts[kind]) / all;
          content.push(svg("rect", { x, y, width: part, height: row - 6, rx: 5, class: "block " + kind }));
          x += part;
        }
        const fits = Math.max(6, Math.floor(wide / 7.4));
        const ops = Object.entries(one.byOp)
          .map(([op, count]) => (count > 1 ? `${op}×${count}` : op))
          .join(" ");
        const text = `${isNarrow && isShort ? last(one.name) : one.name}  ${ops}`;
        content.push(label(left + 8, y + 18, "block-name", text.length > fits ? text.slice(0, fits - 1) + "…" : text));
        if (!isNarrow && one.before > 0)
          content.push(
            label(
              middle + 8,
              y + 18,
              "label",
              one.after === one.before ? bytes(one.before) : `${bytes(one.before)} → ${bytes(one.after)}`,
            ),
          );
        const noise = noiseOf(one);
        if (hasNoise && noise !== null) {
          content.push(
            svg("rect", {
              x: right + 10,
              y: y + 20,
              width: Math.max(1, (column - 24) * Math.min(1, Math.max(0, noise) / 60)),
              height: 4,
              class: noise < 20 ? "bars clipped" : "bars",
            }),
            label(right + 10, y + 15, "label", decibels(noise)),
          );
        }
        if (hasTimes) {
          const at = right + 10 + (hasNoise ? column : 0);
          content.push(
            svg("rect", {
              x: at,
              y: y + 20,
              width: Math.max(1, ((column - 24) * one.time) / mostTime),
              height: 4,
              class: "bars time",
            }),
            label(at, y + 15, "label", percent(one.time)),
          );
        }
        const hit = svg("rect", { x: left, y, width: width - left, height: row - 4, class: "hit" });
        hit.addEventListener("click", () => show(one));
        content.push(hit);
        return {
          x: left + 8,
          y: y + 14,
          lines: [
            one.name,
            ops,
            precisions
              .filter((kind) => one.counts[kind])
              .map((kind) => `${one.counts[kind]} in ${PRECISIONS[kind]}`)
              .join(", "),
            one.before > 0 && `weights: ${bytes(one.before)} → ${bytes(one.after)}`,
            noise !== null && `lowest SQNR: ${decibels(noise)}`,
            one.time !== null && hasTimes && `${percent(one.time)} of the time`,
          ],
        };
      });
      return { height: top + row * blocks.length + 4, content, marks };
    },
    h(
      "ul",
      { class: "legend" },
      precisions.map((kind) =>
        h(
          "li",
          null,
          svg(
            "svg",
            { viewBox: "0 0 20 20", class: "key", "aria-hidden": "true" },
            svg("rect", { x: 2, y: 4, width: 16, height: 12, rx: 3, class: "block " + kind }),
          ),
          PRECISIONS[kind],
        ),
      ),
    ),
  );
  figure.classList.add("graph");
  return [
    heading(
      "Graph by blocks",
      "Each row is a block of the network, colored by the precision of its nodes; lines at the left skip blocks. Select a block to see its nodes and weights.",
    ),
    figure,
    everything.length > MOST_BLOCKS && quiet(`The first ${MOST_BLOCKS} of ${everything.length} blocks.`),
    picked,
    details("The blocks as a table", () =>
      table("Blocks", everything, [
        { title: "block", value: (one) => one.name },
        { title: "nodes", value: (one) => one.nodes.length },
        {
          title: "precision",
          value: (one) =>
            Object.entries(one.counts)
              .map(([kind, count]) => `${count} ${PRECISIONS[kind]}`)
              .join(", "),
        },
        { title: "weights before", value: (one) => one.before, format: bytes },
        { title: "after", value: (one) => one.after, format: bytes },
        { title: "lowest SQNR", value: noiseOf, format: decibels, optional: true },
        { title: "time", value: (one) => (hasTimes ? one.time : null), format: percent, optional: true },
      ]),
    ),
  ];
}

const shapeText = (tensor) => numbers(tensor, "shape").join("×") || "scalar";
const storedText = (tensor) =>
  isTrue(tensor, "stored")
    ? `${str(tensor, "encoding")} per ${str(tensor, "granularity")}, ${str(tensor, "decoder")}`
    : "unchanged";
const tensorColumns = () => [
  nameColumn("tensor"),
  textColumn("op", "op_type"),
  { title: "shape", value: shapeText },
  figureColumn("before", "bytes_before", bytes),
  figureColumn("after", "bytes_after", bytes),
  { title: "stored as", value: storedText },
  sqnrColumn("SQNR"),
  figureColumn("max error", "max_abs_error", (value) => digits(value, 3), { optional: true }),
  textColumn("reason", "reason", { class: "reason" }),
];
const profileTable = (profile, title) => {
  if (!isObject(profile)) return null;
  const whole = num(profile, "duration_ns") || 1;
  return [
    table(`${title}: time by op`, list(profile, "ops"), [
      textColumn("op", "op_type"),
      figureColumn("nodes", "nodes"),
      figureColumn("time", "duration_ns", duration),
      { title: "share", value: (one) => (num(one, "duration_ns") ?? 0) / whole, format: percent },
      { title: "bar", node: (one) => barNode((num(one, "duration_ns") ?? 0) / whole) },
    ]),
    details(`${title}: time of each node (${total(profile, "nodes")})`, () =>
      table(
        `${title}: time of each node`,
        list(profile, "nodes"),
        [textColumn("node", "node"), textColumn("op", "op_type"), figureColumn("time", "duration_ns", duration)],
        { total: total(profile, "nodes") },
      ),
    ),
  ];
};
