// --- Sections: each function takes a result (and its run) and returns the content below the heading.

// The place of a quantity among all weights or activations, with thresholds.
function noisePlot(result) {
  const weights = [], biases = [];
  for (const tensor of list(result, "tensors")) {
    const noise = num(tensor, "sqnr_db");
    if (noise === null || !isTrue(tensor, "stored")) continue;
    const lines_ = [fullName(tensor), `${decibels(noise)}, ${storedText(tensor)}`, `${str(tensor, "op_type")}, ${shapeText(tensor)}`];
    (isVector(tensor) ? biases : weights).push({ x: weights.length + biases.length + 1, y: noise, lines: lines_ });
  }
  const activations = list(result, "activations").filter((one) => num(one, "sqnr_db") !== null).sort((a, b) => (num(a, "place") ?? 0) - (num(b, "place") ?? 0))
    .map((one, i) => ({ x: i + 1, y: num(one, "sqnr_db"), lines: [fullName(one), `${decibels(num(one, "sqnr_db"))} predicted`, `${digits(num(one, "range.low"), 3)} … ${digits(num(one, "range.high"), 3)} by ${str(one, "method")}`] }));
  const worst = (points) => points.reduce((low, one) => (low === null || one.y < low.y ? one : low), null);
  const says = (points, what) => `${plural(points.length, what)}; the lowest SQNR is ${decibels(worst(points).y)}, of ${worst(points).lines[0]}`;
  const made = [];
  if (weights.length > 1) {
    const series = [{ name: "weights", points: weights }];
    if (biases.length) series.push({ name: "biases and other vectors", points: biases });
    made.push(heading("SQNR of each weight", says(weights, "weight") + ". Below 20 dB, an error reaches a tenth of the signal."),
      lines("SQNR of each weight", says(weights, "weight"), series, { xTitle: "compressed tensors, in the order of the file", yTitle: "SQNR (dB)", limit: { y: 20, name: "20 dB" }, isJoined: false, xTicks: false, least: 20 }));
  }
  if (activations.length > 1) {
    made.push(heading("SQNR of each activation", says(activations, "activation") + "."),
      lines("SQNR of each activation", says(activations, "activation"), [{ name: "activations", points: activations }],
        { xTitle: "quantized activations, from the input to the output", yTitle: "predicted SQNR (dB)", limit: { y: 20, name: "20 dB" }, isJoined: false, xTicks: false, least: 20 }));
  }
  return made;
}

const HISTOGRAMS = 8;
function histograms(result) {
  const group = (title, key, remark) => {
    const entries = list(result, key).filter((one) => isObject(at(one, "histogram"))).sort((a, b) => (num(a, "sqnr_db") ?? 1e9) - (num(b, "sqnr_db") ?? 1e9));
    if (entries.length === 0) return null;
    return details(`${title}: the ${Math.min(HISTOGRAMS, entries.length)} with the lowest SQNR`, () => [quiet("Heights are square roots of counts, which makes the tails visible."),
      h("div", { class: "cards" }, entries.slice(0, HISTOGRAMS).map((entry) => h("figure", { class: "card" }, histogram(entry, `values of ${fullName(entry)}; ${remark(entry)}`),
        h("figcaption", null, h("b", null, fullName(entry)), h("small", null, remark(entry))))))], key === "activations" && !matchMedia("(max-width: 40rem)").matches);
  };
  return [group("Activation ranges", "activations", (one) => {
    const clipped = num(one, "histogram.clipped_share") ?? 0;
    return `${digits(num(one, "range.low"), 3)} … ${digits(num(one, "range.high"), 3)} by ${str(one, "method")}, ${clipped === 0 ? "nothing" : clipped < 1e-4 ? "< 0.01 %" : percent(clipped, 2)} clipped, ${sqnr(one)}`;
  }), group("Weights", "tensors", (one) => `${storedText(one)}, ${sqnr(one)}`)];
}

function quantizeAudits(result) {
  const trial = at(result, "trial"), ratio = num(result, "ratio"), speed = num(trial, "speed_up.ratio"), noise = num(trial, "sqnr_db");
  const format = str(result, "format"), model = str(result, "model"), output = str(result, "output"), made = [];
  if (ratio !== null) made.push(ratio < 0.98 ? { kind: "good", title: "The file is smaller", value: `${bytes(num(result, "bytes_before"))} → ${bytes(num(result, "bytes_after"))}` }
    : { kind: "warn", title: "The file is not smaller", value: percent(ratio), fix: "Check the reasons in the table of tensors below." });
  if (isTrue(trial, "tried")) {
    const value = isTrue(trial, "exact") ? "identical outputs" : `${decibels(noise)} SQNR`;
    const verify = { line: `ounce verify ${shellWord(model)} ${shellWord(output)} --data DATA --labels FIELD`, why: "Measure the accuracy on labeled data:" };
    if (isTrue(trial, "exact") || noise >= 30) made.push({ kind: "good", title: "Outputs are close to those of the original", value });
    else if (noise !== null) made.push({ kind: noise < 10 ? "bad" : "warn", title: noise < 10 ? "Outputs differ much from those of the original" : "Outputs differ from those of the original", value,
      detail: `An error of ${percent(10 ** (-noise / 20))} of the signal may change predictions.`, fix: verify });
    made.push(isTrue(trial, "generated") ? { kind: "warn", title: "Compared on random inputs", fix: "Give real samples with --data: random inputs show how far outputs differ, not whether predictions change." }
      : { kind: "good", title: "Compared on real samples", value: plural(num(trial, "samples") ?? 0, "sample") });
  } else if (!isTrue(result, "dry_run")) {
    made.push({ kind: "warn", title: "The result was not run", detail: str(trial, "why_not"), fix: { line: `ounce verify ${shellWord(model)} ${shellWord(output)}`, why: "Run it where a runtime is installed:" } });
  }
  if (speed !== null) {
    const interval = `${times(speed)} (${digits(num(trial, "speed_up.low"), 3)}–${digits(num(trial, "speed_up.high"), 3)})`;
    if (!isTrue(trial, "speed_up.reliable")) made.push({ kind: "warn", title: "The machine was too busy to measure the speed", fix: "Run it again on an idle machine." });
    else if (!isTrue(trial, "speed_up.measurable")) made.push({ kind: "info", title: "The speed does not differ measurably", value: interval });
    else made.push({ kind: speed > 1 ? "good" : "warn", title: speed > 1 ? "Runs faster than the original" : "Runs slower than the original", value: interval });
  } else if (/^w\d/.test(format)) {
    made.push({ kind: "info", title: "Speed: like the original", detail: "This format compresses weights and computes in FP32.", fix: { line: `ounce quantize ${shellWord(model)} --to int8 --data DATA`, why: "For more speed, INT8 arithmetic needs samples of real data:" } });
  }
  const memory = [num(trial, "load_memory_before.after_bytes"), num(trial, "load_memory_after.after_bytes")];
  if (memory[0] && memory[1]) made.push({ kind: memory[1] > memory[0] * 1.1 ? "warn" : "good", title: memory[1] > memory[0] * 1.1 ? "Needs more memory after loading" : "Memory after loading",
    value: `${bytes(memory[0])} → ${bytes(memory[1])}`, fix: memory[1] > memory[0] * 1.1 && "--memory low keeps the weights compressed in memory." });
  const kernels = [num(trial, "kernels.integer"), num(trial, "kernels.other")];
  if (kernels[0] !== null) made.push({ kind: kernels[0] > 0 ? "good" : "bad", title: kernels[0] > 0 ? "INT8 kernels run" : "No INT8 kernel runs", value: `${kernels[0]} of ${kernels[0] + kernels[1]} nodes of the runtime` });
  const floats = list(result, "nodes").filter((one) => str(one, "arithmetic") === "float"), reasons = new Map();
  for (const one of floats) reasons.set(str(one, "reason"), (reasons.get(str(one, "reason")) ?? 0) + 1);
  if (floats.length) made.push({ kind: floats.length > total(result, "nodes") / 2 ? "warn" : "info", title: "Nodes kept in FP32", value: `${floats.length} of ${total(result, "nodes")}`,
    detail: [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([reason, count]) => `${count}: ${reason}`) });
  const clipped = list(result, "activations").filter((one) => num(one, "histogram.clipped_share") > 0.01);
  if (clipped.length) made.push({ kind: "warn", title: "Activations with more than 1 % clipped values", value: plural(clipped.length, "activation"), detail: clipped.slice(0, 5).map(fullName).join(", "),
    fix: "Calibrate on more samples, or with --calibration minmax." });
  const weak = list(result, "tensors").filter((one) => isTrue(one, "stored") && !isVector(one) && num(one, "sqnr_db") !== null && num(one, "sqnr_db") < 20);
  if (weak.length) made.push({ kind: "warn", title: "Weights below 20 dB", value: plural(weak.length, "weight"), detail: weak.slice(0, 5).map((one) => `${fullName(one)}: ${sqnr(one)}`).join(", "),
    fix: { line: `ounce sensitivity ${shellWord(model)} --to ${format} --data DATA`, why: "Find out which layers matter for the outputs:" } });
  const unmatched = texts(result, "unmatched");
  if (unmatched.length) made.push({ kind: "warn", title: "Patterns that match nothing", detail: unmatched.join(", ") });
  return made.concat(cpuAudits(list(trial, "cpus")));
}

const shellWord = (word) => (/^[\w./=,:@%+-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'");

// Tensors that are not compressed, by reason.
function keptTable(result) {
  const reasons = new Map();
  for (const tensor of list(result, "tensors")) {
    if (isTrue(tensor, "stored")) continue;
    const sums = reasons.get(str(tensor, "reason")) ?? { reason: str(tensor, "reason"), count: 0, bytes: 0 };
    sums.count += 1;
    sums.bytes += num(tensor, "bytes_before") ?? 0;
    reasons.set(sums.reason, sums);
  }
  return table("Unchanged tensors", [...reasons.values()].sort((a, b) => b.bytes - a.bytes),
    [{ title: "reason", value: (one) => one.reason, class: "reason" }, { title: "tensors", value: (one) => one.count }, { title: "bytes", value: (one) => one.bytes, format: bytes }]);
}

const planDetails = (result, title = "The plan, tensor by tensor") => {
  const tensors = list(result, "tensors");
  return tensors.length ? details(`${title} (${total(result, "tensors")})`, () => table("Each float tensor with its decision and reason", tensors, tensorColumns(),
    { total: total(result, "tensors"), filter: { name: "only uncompressed", test: (one) => !isTrue(one, "stored") } })) : null;
};

function quantizeSection(result, context) {
  const nodes = list(result, "nodes");
  return [audits(quantizeAudits(result)), blockGraph(result, context.timesOf(str(result, "output")) ?? list(result, "trial.profile.nodes")), noisePlot(result), histograms(result),
    keptTable(result), planDetails(result),
    nodes.length ? details(`Arithmetic of each node (${total(result, "nodes")})`, () => table("Arithmetic of each node", nodes, [nameColumn("node"), textColumn("op", "op_type"),
      textColumn("arithmetic", "arithmetic"), textColumn("reason", "reason", { class: "reason" })], { total: total(result, "nodes"), filter: { name: "only FP32", test: (one) => str(one, "arithmetic") === "float" } })) : null,
    profileTable(at(result, "trial.profile"), fileName(str(result, "output"))), noteList(result)];
}

// --- verify

function verifyAudits(result) {
  const made = texts(result, "failures").map((one) => ({ kind: "bad", title: one, fix: { line: `ounce tune ${shellWord(str(result, "reference"))} --data DATA --labels FIELD --max-drop 1%`,
    why: "Search for a model within the limits, which keeps sensitive layers in FP32:" } }));
  if (isTrue(result, "passed")) made.push({ kind: "good", title: "All thresholds are met", value: plural(num(result, "samples") ?? 0, "sample") });
  const needed = num(result, "samples_needed");
  if (str(result, "certainty")) made.push({ kind: isTrue(result, "certain") ? "good" : "warn", title: isTrue(result, "certain") ? "Certain on unseen data, too" : "Not certain on unseen data",
    detail: str(result, "certainty"), fix: !isTrue(result, "certain") && needed ? `About ${plural(needed, "sample")} like these would show it.` : null });
  for (const one of texts(result, "unbounded")) made.push({ kind: "info", title: "A threshold without a bound on unseen data", detail: one });
  if (isTrue(result, "generated")) made.push({ kind: "warn", title: "Compared on random inputs", fix: { line: `ounce verify ${shellWord(str(result, "reference"))} ${shellWord(str(result, "candidate"))} --data DATA --labels FIELD`,
    why: "Random inputs show how well the models agree, not their accuracy. Give labeled samples:" } });
  else if (list(result, "metrics").length === 0) made.push({ kind: "info", title: "Accuracy was not measured", fix: "Name the field of the labels with --labels." });
  const broken = list(result, "outputs").filter((one) => num(one, "newly_not_finite") > 0);
  made.push(broken.length ? { kind: "bad", title: "New NaN or infinite values", detail: broken.map((one) => `${str(one, "name")}: ${num(one, "newly_not_finite")}`).join(", "), fix: "A wider activation range or FP32 for the last layers prevents them." }
    : { kind: "good", title: "No new NaN or infinite values" });
  const edges = list(result, "edge_cases"), failed = edges.filter((one) => !isTrue(one, "left_out") && !isTrue(one, "passed"));
  if (edges.length) made.push(failed.length ? { kind: "bad", title: `${plural(failed.length, "edge case")} failed`, detail: failed.slice(0, 8).map((one) => `${str(one, "name")}: ${str(one, "finding")}`) }
    : { kind: "good", title: "Edge cases", value: `${edges.filter((one) => !isTrue(one, "left_out")).length} tried, none failed` });
  return made.concat(cpuAudits(list(result, "cpus")));
}

const MATRIX = 14;
// Changed predictions: a matrix of few classes, a list of many.
function changedPredictions(result, output) {
  const all = list(output, "changed_answers").filter((one) => num(one, "from") !== null && num(one, "to") !== null);
  if (all.length === 0) return null;
  const classesAt = (key) => [...new Set(all.map((one) => num(one, key)))].sort((a, b) => a - b);
  const rows = classesAt("from"), columnsOf = classesAt("to");
  const most = Math.max(...all.map((one) => num(one, "count") ?? 0), 1), title = `Changed predictions of ${str(output, "name")}`;
  const share = num(output, "answers_compared") ? ` (${num(output, "answers_changed")} of ${num(output, "answers_compared")})` : "";
  const columns = [{ title: "original", value: (one) => classNameOf(result, num(one, "from")) }, { title: "candidate", value: (one) => classNameOf(result, num(one, "to")) },
    figureColumn("count", "count"), { title: "share", node: (one) => barNode((num(one, "count") ?? 0) / most) }];
  if (rows.length > MATRIX || columnsOf.length > MATRIX) return [heading(title + share), table(title, all, columns, { total: total(output, "changed_answers") })];
  const count = (from, to) => num(all.find((one) => num(one, "from") === from && num(one, "to") === to) ?? null, "count");
  return [heading(title + share, "Rows: prediction of the original. Columns: prediction of the candidate."),
    h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title }, h("table", { class: "matrix" }, h("caption", null, title),
      h("thead", null, h("tr", null, h("td", null, "original ↓ candidate →"), columnsOf.map((to) => h("th", { scope: "col" }, classNameOf(result, to))))),
      h("tbody", null, rows.map((from) => h("tr", null, h("th", { scope: "row" }, classNameOf(result, from)), columnsOf.map((to) => {
        const found = count(from, to);
        const cell = h("td", { class: found ? "hit" : null }, found ?? (from === to ? "·" : ""));
        if (found) cell.style.setProperty("--heat", `${Math.round(20 + 60 * found / most)}%`);
        return cell;
      }))))))];
}

function samples(result) {
  const changed = list(result, "changed"), names = new Set(changed.map((one) => str(one, "sample"))), made = [];
  const others = list(result, "worst").filter((one) => !names.has(str(one, "sample"))).slice(0, 24);
  const cards = (all) => h("div", { class: "cards" }, all.map((one) => sampleCard(result, one)));
  if (changed.length) made.push(heading("Samples with a changed prediction", "Largest difference first."), cards(changed.slice(0, 24)));
  if (others.length) made.push(heading(changed.length ? "Other samples with large differences" : "Samples with the largest differences"), cards(others));
  return made;
}

function outputTable(result) {
  const rows = [];
  for (const output of list(result, "outputs")) {
    rows.push(output);
    for (const slice of list(output, "slices").slice(0, 50)) rows.push({ ...slice, name: "part " + str(slice, "name") });
  }
  const kind = (one) => (isTrue(one, "state") ? " (state)" : at(one, "judged") === false ? " (not judged)" : isTrue(one, "labels") ? " (labels)" : "");
  return table("Outputs", rows, [{ title: "output", value: (one) => str(one, "name") + kind(one) }, figureColumn("values", "values", (value) => value.toLocaleString("en")), sqnrColumn("SQNR"),
    figureColumn("max |d|", "max_abs_diff", digits, { optional: true }), figureColumn("mean |d|", "mean_abs_diff", digits, { optional: true }), figureColumn("cosine", "cosine", (value) => digits(value, 7), { optional: true }),
    figureColumn("same top-1", "top1_agreement", (value) => percent(value, 2), { optional: true }), figureColumn("same top-5", "top5_agreement", (value) => percent(value, 2), { optional: true }),
    figureColumn("new NaN/Inf", "newly_not_finite")]);
}

const dropText = (metric, key) => (str(metric, "unit") === "share" ? either(num(metric, key), (value) => (100 * value).toFixed(2) + " points") : digits(num(metric, key), 3));
const metricTable = (result) => table("Metrics", list(result, "metrics"), [{ title: "metric", value: (one) => metricName(str(one, "name")) },
  { title: "original", value: (one) => num(one, "reference"), text: (one) => metricText(one, "reference"), number: true }, { title: "candidate", value: (one) => num(one, "candidate"), text: (one) => metricText(one, "candidate"), number: true },
  { title: "drop", value: (one) => num(one, "drop"), text: (one) => dropText(one, "drop"), number: true },
  { title: "95 % interval of the drop", text: (one) => (num(one, "drop_low") === null ? DASH : `${dropText(one, "drop_low")} … ${dropText(one, "drop_high")}`) },
  textColumn("why not", "why_not", { optional: true })]);

function verifySection(result) {
  const edges = list(result, "edge_cases");
  return [audits(verifyAudits(result)), samples(result), list(result, "outputs").map((output) => changedPredictions(result, output)), heading("Quality"), metricTable(result), outputTable(result),
    edges.length ? details(`Edge cases (${edges.length})`, () => table("Edge cases", edges, [textColumn("case", "name"),
      { title: "result", value: (one) => (isTrue(one, "left_out") ? "skipped" : isTrue(one, "passed") ? "passed" : "failed"), node: (one) => (isTrue(one, "left_out") ? badge("neutral", "skipped") : isTrue(one, "passed") ? badge("good", "passed") : badge("bad", "failed")) },
      textColumn("finding", "finding")])) : null,
    noteList(result), quiet([str(result, "runtime"), str(result, "cpu") && `CPU: ${str(result, "cpu")}`].filter(Boolean).join(", "))];
}

// --- bench

function speedText(batch) {
  const speed = at(batch, "speed_up");
  if (num(speed, "ratio") === null) return DASH;
  if (at(speed, "reliable") === false) return "machine too busy";
  const interval = `(${digits(num(speed, "low"), 3)}–${digits(num(speed, "high"), 3)})`;
  return isTrue(speed, "measurable") ? `${times(num(speed, "ratio"))} ${interval}` : `no measurable difference ${interval}`;
}

function benchSection(result) {
  const models = list(result, "models"), made = [], checks = [];
  const load = num(result, "load"), busy = load !== null && load > 1.1;
  const unreliable = models.some((model) => list(model, "batches").some((batch) => at(batch, "speed_up.reliable") === false));
  checks.push(load === null ? null : { kind: unreliable ? "bad" : busy ? "warn" : "good", title: unreliable ? "The machine was too busy to compare speeds" : busy ? "The machine was busy" : "The machine was idle",
    value: `load ${digits(load, 3)}`, detail: busy && !unreliable ? "Speeds are ratios of CPU time and remain comparable; intervals are wider." : null, fix: busy ? "Close other programs and run bench again." : null });
  checks.push(isTrue(result, "generated") ? { kind: "info", title: "Timed on random inputs", fix: "Give real samples with --data if the time depends on the values, such as lengths." } : { kind: "good", title: "Timed on real samples" });
  made.push(audits(checks), quiet(`${str(result, "runtime") || "ONNX Runtime " + str(result, "runtime_version")}${str(result, "cpu") ? ", CPU " + str(result, "cpu") : ""}, ${num(result, "threads") === 0 ? "all threads" : plural(num(result, "threads") ?? 1, "thread")}, ${plural(num(result, "rounds") ?? 0, "round")}.`));
  const compared = models.slice(1).flatMap((model) => list(model, "batches").filter((batch) => num(batch, "speed_up.ratio") !== null).map((batch) => ({
    name: fileName(str(model, "model")) + (list(model, "batches").length > 1 ? `, batch ${num(batch, "batch")}` : ""), value: num(batch, "speed_up.ratio"),
    low: num(batch, "speed_up.low") ?? 1, high: num(batch, "speed_up.high") ?? 1, lines: [fileName(str(model, "model")), speedText(batch)] }))).slice(0, 60);
  if (compared.length) made.push(heading("Speed relative to the first model", "Dots are the measured ratios, lines their 95 % confidence intervals. Right of 1× is faster."),
    intervals("Speed", `Speed of ${plural(compared.length, "model")} relative to the first`, compared, "speed, relative to " + fileName(str(models[0], "model"))));
  const sizes = [...new Set(models.flatMap((model) => list(model, "batches").map((batch) => num(batch, "batch") ?? 1)))];
  for (const size of sizes.slice(0, 20)) {
    const series = models.slice(0, 12).map((model) => {
      const batch = list(model, "batches").find((one) => (num(one, "batch") ?? 1) === size) ?? null, name = fileName(str(model, "model"));
      return { name, p50: num(batch, "latency.p50_ns"), p90: num(batch, "latency.p90_ns"), points: numbers(batch, "latency.quantiles_ns").slice(0, 100).map((time, share) => ({ x: 1e-6 * time, y: share,
        lines: [50, 90, 99].includes(share) ? [name, `${share} % of the calls took at most ${duration(time)}`] : null })) };
    }).filter((one) => one.points.length);
    if (series.length === 0) continue;
    const medians = series.map((one) => `${one.name} ${duration(one.p50)}`).join(", ");
    // The slowest calls are interruptions by other programs, and would compress the curves.
    const last = 1.5e-6 * Math.max(...series.map((one) => num(one, "p90") ?? 0));
    if (last > 0) for (const one of series) one.points = one.points.filter((point) => point.x <= last);
    made.push(heading(`Latency distribution${sizes.length > 1 ? `, batch ${size}` : ""}`, `Lines further left are faster; marks are p50, p90 and p99. Medians: ${medians}.`),
      lines("Latency distribution", `Cumulative distribution of latency; medians: ${medians}`, series, { xTitle: "latency (ms)", yTitle: "share of calls (%)", fromZero: true }));
  }
  if (sizes.length > 20) made.push(quiet(`The charts show the first 20 of ${sizes.length} batch sizes; the table has all.`));
  const rows = models.flatMap((model, i) => list(model, "batches").map((batch) => ({ model, batch, first: i === 0 })));
  const time = (title, key) => ({ title, value: (one) => num(one.batch, "latency." + key), format: duration, number: true });
  made.push(table("Latency", rows.slice(0, 2000), [{ title: "model", value: (one) => fileName(str(one.model, "model")) }, { title: "batch", value: (one) => num(one.batch, "batch") }, time("p50", "p50_ns"), time("p90", "p90_ns"),
    time("p99", "p99_ns"), time("min", "min_ns"), time("mean", "mean_ns"), { title: "samples/s", value: (one) => num(one.batch, "samples_per_second"), format: (value) => digits(value, 3) },
    { title: "speed (95 % interval)", value: (one) => (one.first ? 1 : num(one.batch, "speed_up.ratio")), text: (one) => (one.first ? "1" : speedText(one.batch)), number: false }]));
  made.push(table("Loading and memory", models, [{ title: "model", value: (one) => fileName(str(one, "model")) }, figureColumn("size", "bytes", bytes), figureColumn("load", "load_ns", duration), figureColumn("first run", "first_run_ns", duration),
    figureColumn("cold start", "cold_start_ns", duration, { optional: true }), figureColumn("peak memory", "peak_memory_bytes", bytes, { optional: true }), figureColumn("peak while loading", "load_memory.peak_bytes", bytes, { optional: true }),
    figureColumn("after loading", "load_memory.after_bytes", bytes, { optional: true })]));
  for (const model of models.slice(0, 12)) made.push(profileTable(at(model, "profile"), fileName(str(model, "model"))));
  return [made, noteList(result)];
}

// verify and bench of language models, token by token.
function tokenSection(result) {
  return [quiet(`${plural(num(result, "texts") ?? 0, "text")}, prompts of ${plural(num(result, "prompt") ?? 0, "token")}, ${plural(num(result, "tokens") ?? 0, "token")} after them.`),
    table("Language models, token by token", list(result, "models"), [{ title: "model", value: (one) => fileName(str(one, "model")) }, figureColumn("size", "bytes", bytes), figureColumn("prompt", "first_token.p50_ns", duration),
      figureColumn("next token", "next_token.p50_ns", duration), figureColumn("perplexity", "perplexity"), figureColumn("NLL", "nll"), figureColumn("changed tokens", "flips"), textColumn("verdict", "verdict", { optional: true })]), noteList(result)];
}

// --- tune

const hasFailed = (trial) => !isTrue(trial, "passed") || at(trial, "held_out") === false;
// Why a trial cannot be the result; empty if it can.
function rejection(trial) {
  if (str(trial, "problem")) return "could not be made: " + str(trial, "problem");
  if (str(trial, "reason")) return str(trial, "reason");
  if (isTrue(trial, "too_few_samples")) return "too few samples";
  if (!isTrue(trial, "passed")) return "exceeds a threshold";
  if (hasFailed(trial)) return "on held-out data";
  return isTrue(trial, "slower") ? "slower than the original" : "";
}
const trialBadge = (trial) => (rejection(trial) ? badge(hasFailed(trial) ? "bad" : "warn", (hasFailed(trial) ? "failed: " : "passed, but ") + rejection(trial)) : badge("good", "passed"));

function tuneSection(result) {
  const trials = list(result, "trials"), best = isTrue(result, "passed") ? str(result, "best.name") : "", made = [];
  const chosen = trials.findIndex((one) => best !== "" && str(one, "name") === best);
  const points = (key) => trials.map((trial, i) => {
    const size = num(trial, "ratio"), value = num(trial, key);
    if (size === null || value === null || str(trial, "problem")) return null;
    const name = str(trial, "name");
    return { x: 100 * size, y: value, kind: i === chosen ? "chosen" : rejection(trial) ? "failed" : "passed", name: i === chosen || isTrue(trial, "on_front") ? name : "",
      lines: [name, `size: ${percent(size)}, ${bytes(num(trial, "bytes"))}`, `speed: ${times(num(trial, "speed_up.ratio"))}`, `SQNR: ${sqnr(trial)}`,
        isObject(at(trial, "metric")) && `${metricName(str(trial, "metric.name"))}: ${metricText(at(trial, "metric"), "candidate")}`, rejection(trial) ? `rejected: ${rejection(trial)}` : i === chosen ? "chosen" : "passed"] };
  }).filter(Boolean);
  const checks = [], samplesOf = `${num(result, "search_samples") ?? 0} for the search, ${num(result, "held_out_samples") ?? 0} held out`;
  checks.push(isTrue(result, "passed") ? { kind: "good", title: "A model passed on held-out samples", value: str(result, "best.name") }
    : { kind: "bad", title: "No model passed", detail: str(result, "best.verdict"), fix: num(result, "samples_needed") ? `About ${plural(num(result, "samples_needed"), "sample")} would show that the closest candidate is good enough.` : "Allow a larger drop, or give more samples." });
  if (isTrue(result, "out_of_time")) checks.push({ kind: "warn", title: "The budget ended before all candidates were tried", fix: "Run it again with a larger --budget: measured candidates are remembered." });
  if (isTrue(result, "interrupted")) checks.push({ kind: "warn", title: "The search was interrupted" });
  const promising = trials.filter((one) => num(one, "more_samples"));
  if (promising.length) checks.push({ kind: "warn", title: `More samples would allow ${str(promising[0], "name")}`, value: `${num(promising[0], "more_samples")} more`, detail: `It has ${percent(num(promising[0], "ratio"))} of the size${num(promising[0], "speed_up.ratio") ? ` and is ${times(num(promising[0], "speed_up.ratio"))} as fast` : ""}.` });
  checks.push({ kind: "info", title: "Samples", value: samplesOf }, ...cpuAudits(list(result, "cpus")));
  made.push(audits(checks));
  const speeds = points("speed_up.ratio");
  if (speeds.length) made.push(heading("Size and speed of each candidate", "Better: up and left."),
    scatter("Size and speed of each candidate", `${plural(speeds.length, "candidate")} by size and speed${best ? "; chosen: " + best : ""}`, speeds.concat([{ x: 100, y: 1, kind: "original", name: "original", lines: ["the original", "size: 100 %, speed: 1×"] }]),
      { xTitle: "size (% of the original)", yTitle: "speed (× the original)", xLeast: 20, yLeast: 0.5, isFront: true }));
  const hasMetric = trials.some((one) => isObject(at(one, "metric"))), metric = trials.map((one) => at(one, "metric")).find(isObject);
  const isShare = str(metric, "unit") === "share";
  const qualities = points(hasMetric ? "metric.candidate" : "sqnr_db").map((one) => (isShare ? { ...one, y: 100 * one.y } : one));
  const reference = num(metric, "reference");
  if (qualities.length > 1) made.push(heading("Size and quality of each candidate", "Better: up and left."),
    scatter("Size and quality of each candidate", `${plural(qualities.length, "candidate")} by size and ${hasMetric ? metricName(str(metric, "name")) : "SQNR"}`, qualities,
      { xTitle: "size (% of the original)", yTitle: hasMetric ? `${metricName(str(metric, "name"))}${isShare ? " (%)" : ""}` : "SQNR of the worst output (dB)", xLeast: 20, yLeast: hasMetric ? (isShare ? 2 : 0.02) : 10, isFront: true,
        limit: hasMetric && reference !== null ? { y: isShare ? 100 * reference : reference, name: "original" } : null }));
  if (speeds.length || qualities.length > 1) made.push(quiet("Dashed lines connect the Pareto front of each chart: the candidates that no other one beats in both values. The table below has the front of size, speed and quality together."));
  made.push(heading("Search steps"), table("Candidates in the order of the search", trials.map((trial, i) => ({ ...trial, step: i + 1 })), [{ title: "step", value: (one) => one.step }, textColumn("candidate", "name"),
    figureColumn("size", "ratio", percent), figureColumn("speed", "speed_up.ratio", times, { optional: true }), sqnrColumn("SQNR"), figureColumn("same top-1", "agreement", (value) => percent(value, 2), { optional: true }),
    { title: hasMetric ? metricName(str(metric, "name")) : "metric", value: (one) => num(one, "metric.candidate"), format: (value) => (isShare ? percent(value, 2) : digits(value)), optional: true },
    { title: "thresholds", value: (one) => rejection(one) || "passed", node: trialBadge },
    { title: "role", value: (one) => [one.step - 1 === chosen && "chosen", isTrue(one, "on_front") && "Pareto front", ...texts(one, "corners")].filter(Boolean).join(", "), optional: true }],
    { total: total(result, "trials"), rowClass: (one) => (one.step - 1 === chosen ? "chosen" : null) }));
  const layers = list(result, "layers"), formats = {};
  for (const layer of layers) formats[str(layer, "format")] = (formats[str(layer, "format")] ?? 0) + 1;
  if (layers.length) made.push(details(`Layers of the result: ${Object.entries(formats).map(([format, count]) => `${count} ${format}`).join(", ")}`,
    () => table("Format of each layer of the result", layers, [textColumn("layer", "name"), textColumn("op", "op_type"), textColumn("format", "format")], { total: total(result, "layers"), filter: { name: "only FP32", test: (one) => str(one, "format") === "fp32" } })));
  return [made, noteList(result)];
}

// --- advise

const methodSpeed = (method) => (!isTrue(method, "measured") ? DASH : num(method, "speed_up.ratio") === null ? "not measured" : speedText({ speed_up: { reliable: true, ...at(method, "speed_up") } }));
function adviseSection(result) {
  const methods = list(result, "methods"), made = [], checks = texts(result, "reasons").map((one) => ({ kind: "info", title: one }));
  for (const risk of list(result, "risks")) checks.push({ kind: "warn", title: str(risk, "name").replaceAll("_", " "), detail: str(risk, "evidence"), fix: str(risk, "advice") });
  for (const one of texts(result, "missing")) checks.push({ kind: "warn", title: one });
  made.push(audits(checks), h("div", { class: "facts" }, [[str(result, "family.description"), "model"], [bytes(num(result, "bytes")), "size"], [duration(num(result, "baseline.latency.p50_ns")), "per call (median)"],
    [bytes(num(result, "baseline.peak_memory_bytes")), "peak memory"], [`${num(result, "samples") ?? 0} ${isTrue(result, "generated") ? "random inputs" : "samples"}`, "compared on"]]
    .filter(([value]) => value && value !== DASH).map(([value, name]) => h("p", null, h("b", null, value), " ", name))));
  const points = methods.filter((one) => num(one, "ratio") !== null && num(one, "speed_up.ratio") !== null && at(one, "speed_up.reliable") !== false).map((one) => ({ x: 100 * num(one, "ratio"), y: num(one, "speed_up.ratio"),
    kind: isTrue(one, "acceptable") ? "passed" : isTrue(one, "uncertain") ? "uncertain" : "failed", name: str(one, "method"), lines: [str(one, "method"), `size: ${percent(num(one, "ratio"))}`, `speed: ${methodSpeed(one)}`, (isTrue(one, "uncertain") ? "uncertain: " : "") + str(one, "quality")] }));
  if (points.length) made.push(heading("Size and speed of each method", "Better: up and left."), scatter("Size and speed of each method", `${plural(points.length, "method")} by size and speed`,
    points.concat([{ x: 100, y: 1, kind: "original", name: "original", lines: ["the original"] }]), { xTitle: "size (% of the original)", yTitle: "speed (× the original)", xLeast: 20, yLeast: 0.5 }));
  const quality = (one) => (isTrue(one, "measured") ? (isTrue(one, "uncertain") ? "uncertain: " : "") + str(one, "quality") : "not measured: " + str(one, "why_not"));
  made.push(heading("Methods"), table("Measured methods", methods, [textColumn("method", "method"), { title: "size", value: (one) => (isTrue(one, "measured") ? num(one, "ratio") : null), format: percent, number: true }, { title: "speed (95 % interval)", value: (one) => num(one, "speed_up.ratio"), text: methodSpeed, number: false },
    { title: "SQNR", value: (one) => (isTrue(one, "measured") ? num(one, "sqnr_db") : null), text: (one) => (isTrue(one, "measured") ? sqnr(one) : DASH), number: true }, figureColumn("metric", "metric.candidate", digits, { optional: true }), figureColumn("peak memory", "peak_memory_bytes", bytes, { optional: true }),
    { title: "quality", value: quality, node: (one) => (isTrue(one, "measured") ? badge(isTrue(one, "acceptable") ? "good" : isTrue(one, "uncertain") ? "warn" : "bad", quality(one)) : h("span", null, quality(one))) }]));
  made.push(profileTable(at(result, "baseline.profile"), "original"));
  return [made, noteList(result)];
}

// --- sensitivity

function sensitivitySection(result) {
  const groups = list(result, "groups"), limit = num(result, "min_sqnr_db"), checks = [], made = [];
  checks.push({ kind: isTrue(result, "enough") ? "good" : "bad", title: isTrue(result, "enough") ? `The outputs reach ${digits(limit)} dB` : `The outputs do not reach ${digits(limit)} dB`,
    value: `${decibels(num(result, "all_db"))} with all layers quantized`, detail: texts(result, "exclude").length ? `${decibels(num(result, "exclude_db"))} with ${plural(texts(result, "exclude").length, "layer")} in FP32.` : null });
  for (const one of texts(result, "findings")) checks.push({ kind: "info", title: one });
  const excludes = texts(result, "exclude");
  if (excludes.length) checks.push({ kind: "info", title: "Layers to keep in FP32", value: plural(excludes.length, "layer"),
    fix: { line: `ounce quantize ${shellWord(str(result, "model"))} --to ${str(result, "format")} ` + excludes.map((one) => `--exclude ${shellWord(one)}`).join(" "), why: "Quantize without these layers:" } });
  made.push(audits(checks));
  const most = Math.max(...groups.map((one) => num(one, "noise_share") ?? 0), 1e-9);
  const alone = groups.filter((one) => num(one, "alone_db") !== null && num(one, "place") !== null).sort((a, b) => num(a, "place") - num(b, "place"));
  if (alone.length > 1) made.push(heading("Sensitivity along the network", "Output SQNR when only one layer is quantized. A low value means a sensitive layer."),
    lines("Sensitivity along the network", "Output SQNR when only one layer is quantized, in the order of the network", [{ name: "quantized alone", points: alone.map((one, i) => ({ x: i + 1, y: num(one, "alone_db"),
      lines: [str(one, "name"), `${decibels(num(one, "alone_db"))} when only it is quantized`, `${percent(num(one, "noise_share"))} of the noise, ${bytes(num(one, "weight_bytes"))} of weights`] })) }],
    { xTitle: "layers, from the input to the output", yTitle: "SQNR of the outputs (dB)", limit: limit !== null ? { y: limit, name: `wanted: ${digits(limit)} dB` } : null }));
  const marks = (one) => ["first", "last", "attention"].filter((key) => isTrue(one, key)).join(", ");
  made.push(heading("Sensitive layers"), table("Layers, most sensitive first", groups, [textColumn("layer", "name"), textColumn("op", "op_type"), figureColumn("weights", "weight_bytes", bytes),
    { title: "noise share", value: (one) => num(one, "noise_share"), text: (one) => (at(one, "measured") === false ? "not measured" : percent(num(one, "noise_share"))), number: true }, { title: "noise", node: (one) => barNode((num(one, "noise_share") ?? 0) / most) },
    sqnrColumn("only it", "alone_db"), figureColumn("all but it", "without_db", decibels, { optional: true }), figureColumn("drop", "alone_drop", (value) => digits(value, 3), { optional: true }),
    figureColumn("estimated", "estimated_db", decibels, { optional: true }), { title: "position", value: marks, optional: true }], { total: total(result, "groups") }));
  const nodes = isObject(at(result, "nodes")) ? Object.entries(at(result, "nodes")).slice(0, 500) : [];
  made.push(table("Formats for --node", nodes, [{ title: "layer", value: ([name]) => name }, { title: "format", value: ([, format]) => (typeof format === "string" ? format : "") }]));
  return [made, noteList(result)];
}

// --- check, diff, inspect

const SUPPORT = { runs: ["good", "runs"], slow: ["warn", "runs, partly in slow kernels"], wrong: ["bad", "wrong results"], not_implemented: ["bad", "does not load"], fails: ["bad", "fails"] };
const supportOf = (target) => SUPPORT[str(target, "verdict")] ?? ["neutral", "unknown"];
function checkSection(result) {
  const targets = list(result, "targets");
  const checks = targets.slice(0, 100).map((target) => {
    const [kind, word] = supportOf(target), findings = list(target, "findings");
    return { kind: kind === "neutral" ? "info" : kind, title: `${str(target, "target")}: ${word}`, value: `${num(target, "runs") ?? 0} of ${num(target, "nodes") ?? 0} nodes run`,
      detail: texts(target, "problems").concat(findings.slice(0, 5).map((one) => `${str(one, "op_type")} ${fullName(one)}: ${str(one, "why")}`), findings.length > 5 ? [`… and ${findings.length - 5} more nodes, in the table below`] : []),
      fix: kind === "bad" ? { line: `ounce quantize ${shellWord(str(result, "model"))} --target ${shellWord(str(target, "target"))}`, why: "Quantize the original with what this target supports:" } : null };
  });
  return [quiet(`${str(result, "format") || "ONNX"}${num(result, "opset") ? `, opset ${num(result, "opset")}, IR ${num(result, "ir_version")}` : ""}; ${bytes(num(result, "file_bytes"))} in the file, ${bytes(num(result, "memory_bytes"))} of weights in memory.`),
    audits(checks), targets.map((target) => {
      const findings = list(target, "findings"), execution = at(target, "execution");
      if (findings.length === 0 && texts(target, "notes").length === 0 && !isObject(execution)) return null;
      return details(`${str(target, "target")}: ${plural(total(target, "findings"), "finding")}`, () => [notes(texts(target, "notes")),
        isObject(execution) && paragraph(str(execution, "error") ? "Executed on the target: " + str(execution, "error") : `Executed on the target by ONNX Runtime ${str(execution, "runtime_version")}.`),
        table(`Nodes with findings on ${str(target, "target")}`, findings, [nameColumn("node"), textColumn("op", "op_type"), textColumn("types", "types"), textColumn("verdict", "verdict"), textColumn("reason", "why", { class: "reason" })], { total: total(target, "findings") })]);
    }), table("Execution providers, according to their documentation", list(result, "hints"), [textColumn("provider", "provider"), figureColumn("nodes taken", "taken"), figureColumn("of", "nodes"), figureColumn("computing", "computing"),
      figureColumn("partitions", "partitions"), textColumn("note", "note", { class: "reason" })])];
}

// Models by targets, over all results of a run.
const COLUMNS = 40;
function supportMatrix(results) {
  const targets = [...new Set(results.flatMap((one) => list(one, "targets").map((target) => str(target, "target"))))];
  if (results.length < 2 || targets.length === 0) return null;
  const made = table("Support by target", results, [{ title: "model", value: (one) => str(one, "model") }].concat(targets.slice(0, COLUMNS).map((name) => {
    const find = (one) => list(one, "targets").find((target) => str(target, "target") === name) ?? null;
    return { title: name, value: (one) => (find(one) ? supportOf(find(one))[1] : ""), node: (one) => (find(one) ? badge(...supportOf(find(one))) : h("span", null, DASH)) };
  })));
  return [made, targets.length > COLUMNS && quiet(`The first ${COLUMNS} of ${targets.length} targets.`)];
}

function diffSection(result) {
  const side = (key) => ({ class: "reason", title: key, value: (one) => str(one, key) || DASH });
  const renamed = (one) => fullName(one) + (str(one, "name_after") ? " → " + str(one, "name_after") : "");
  const nodes = ["changed", "added", "removed"].flatMap((change) => list(result, "nodes_" + change).map((node) => ({ ...node, change })));
  const count = ["changed", "added", "removed"].reduce((sum, change) => sum + total(result, "nodes_" + change), 0);
  return [h("div", { class: "facts" }, [[bytes(num(result, "bytes_before")), fileName(str(result, "a"))], [bytes(num(result, "bytes_after")), fileName(str(result, "b"))], [String(num(result, "nodes_matched") ?? 0), `common nodes, ${num(result, "nodes_renamed") ?? 0} renamed`],
    [String(num(result, "tensors_matched") ?? 0), `common weights, ${num(result, "tensors_renamed") ?? 0} renamed`]].map(([value, name]) => h("p", null, h("b", null, value), " ", name))),
  table("Model properties", list(result, "changes"), [{ title: "property", value: (one) => `${str(one, "what")} ${str(one, "name")}` }, side("before"), side("after")]),
  table("Ops", list(result, "ops"), [textColumn("op", "op_type"), figureColumn("before", "before"), figureColumn("after", "after"), { title: "change", value: (one) => (num(one, "after") ?? 0) - (num(one, "before") ?? 0), format: (value) => (value > 0 ? `+${value}` : value ? String(value) : "") }]),
  nodes.length ? details(`Changed, added and removed nodes (${count})`, () => table("Changed, added and removed nodes", nodes, [{ title: "node", value: renamed }, textColumn("op", "op_type"), textColumn("change", "change"), { title: "details", value: (one) => texts(one, "changes").join("; "), class: "reason" }], { total: count })) : null,
  list(result, "tensors").length ? details(`Changed, added and removed weights (${total(result, "tensors")})`, () => table("Changed, added and removed weights", list(result, "tensors"), [{ title: "weight", value: renamed }, side("before"), side("after"), sqnrColumn("SQNR"),
    figureColumn("max |d|", "max_abs_diff", digits, { optional: true }), textColumn("remark", "remark")], { total: total(result, "tensors") })) : null];
}

function inspectSection(result) {
  const after = num(result, "bytes_after"), before = num(result, "bytes"), checks = [], ports = (key) => list(result, key).map((one) => `${str(one, "name")}: ${str(one, "type")}`).join(", ");
  for (const one of texts(result, "blockers")) checks.push({ kind: "bad", title: one });
  if (after && before) checks.push({ kind: "good", title: "Compressed weights would make the file smaller", value: `${bytes(before)} → ${bytes(after)}`, fix: { line: `ounce quantize ${shellWord(str(result, "model"))}`, why: "Compress the weights, without data:" } });
  if (num(result, "saturating_nodes") > 0) checks.push({ kind: "warn", title: "Integer nodes may saturate on x86 CPUs without VNNI", value: plural(num(result, "saturating_nodes"), "node") });
  const most = Math.max(...list(result, "ops").map((one) => num(one, "bytes") ?? 0), 1);
  return [audits(checks), h("div", { class: "facts" }, [[str(result, "format"), num(result, "ir_version") ? `IR ${num(result, "ir_version")}` : "format"], [bytes(before), "file"], [bytes(num(result, "weight_bytes")), "weights"], [String(num(result, "nodes") ?? 0), "nodes"],
    [ports("inputs"), "inputs"], [ports("outputs"), "outputs"], [str(result, "producer"), "producer"]].filter(([value]) => value).map(([value, name]) => h("p", null, h("b", null, value), " ", name))),
  blockGraph(result, []),
  heading("Contents"), table("Ops", list(result, "ops"), [textColumn("op", "name"), figureColumn("nodes", "count"), figureColumn("weights", "bytes", bytes), { title: "share", node: (one) => barNode((num(one, "bytes") ?? 0) / most) }]),
  table("Element types", list(result, "element_types"), [textColumn("type", "name"), figureColumn("tensors", "count"), figureColumn("bytes", "bytes", bytes)]),
  isObject(at(result, "metadata")) && table("Metadata", Object.entries(at(result, "metadata")).slice(0, 200), [{ title: "key", value: ([key]) => key }, { title: "value", value: ([, value]) => (typeof value === "string" ? value : ""), class: "reason" }]),
  planDetails(result, "Float tensors and how they would be stored"), noteList(result)];
}

const SECTIONS = { quantize: quantizeSection, verify: verifySection, bench: benchSection, tune: tuneSection, advise: adviseSection, sensitivity: sensitivitySection, check: checkSection, diff: diffSection, inspect: inspectSection };
