// --- Sections of quantize, check, diff and inspect. Each function takes a result and returns the content below the
// heading.

// The place of a quantity among all weights or activations, with thresholds.
function noisePlot(result) {
  const weights = [],
    biases = [];
  for (const tensor of list(result, "tensors")) {
    const noise = num(tensor, "sqnr_db");
    if (noise === null || !isTrue(tensor, "stored")) continue;
    const lines_ = [
      fullName(tensor),
      `${decibels(noise)}, ${storedText(tensor)}`,
      `${str(tensor, "op_type")}, ${shapeText(tensor)}`,
    ];
    (isVector(tensor) ? biases : weights).push({ x: weights.length + biases.length + 1, y: noise, lines: lines_ });
  }
  const activations = list(result, "activations")
    .filter((one) => num(one, "sqnr_db") !== null)
    .sort((a, b) => (num(a, "place") ?? 0) - (num(b, "place") ?? 0))
    .map((one, i) => ({
      x: i + 1,
      y: num(one, "sqnr_db"),
      lines: [
        fullName(one),
        `${decibels(num(one, "sqnr_db"))} predicted`,
        `${digits(num(one, "range.low"), 3)} … ${digits(num(one, "range.high"), 3)} by ${str(one, "method")}`,
      ],
    }));
  const worst = (points) => points.reduce((low, one) => (low === null || one.y < low.y ? one : low), null);
  const says = (points, what) =>
    `${plural(points.length, what)}; the lowest SQNR is ${decibels(worst(points).y)}, of ${worst(points).lines[0]}`;
  const made = [];
  if (weights.length > 1) {
    const series = [{ name: "weights", points: weights }];
    if (biases.length) series.push({ name: "biases and other vectors", points: biases });
    made.push(
      heading(
        "SQNR of each weight",
        says(weights, "weight") + ". Below 20 dB, an error reaches a tenth of the signal.",
      ),
      lines("SQNR of each weight", says(weights, "weight"), series, {
        xTitle: "compressed tensors, in the order of the file",
        yTitle: "SQNR (dB)",
        limit: { y: 20, name: "20 dB" },
        isJoined: false,
        xTicks: false,
        least: 20,
      }),
    );
  }
  if (activations.length > 1) {
    made.push(
      heading("SQNR of each activation", says(activations, "activation") + "."),
      lines(
        "SQNR of each activation",
        says(activations, "activation"),
        [{ name: "activations", points: activations }],
        {
          xTitle: "quantized activations, from the input to the output",
          yTitle: "predicted SQNR (dB)",
          limit: { y: 20, name: "20 dB" },
          isJoined: false,
          xTicks: false,
          least: 20,
        },
      ),
    );
  }
  return made;
}

const HISTOGRAMS = 8;
function histograms(result) {
  const group = (title, key, remark) => {
    const entries = list(result, key)
      .filter((one) => isObject(at(one, "histogram")))
      .sort((a, b) => (num(a, "sqnr_db") ?? 1e9) - (num(b, "sqnr_db") ?? 1e9));
    if (entries.length === 0) return null;
    return details(
      `${title}: the ${Math.min(HISTOGRAMS, entries.length)} with the lowest SQNR`,
      () => [
        quiet("Heights are square roots of counts, which makes the tails visible."),
        h(
          "div",
          { class: "cards" },
          entries
            .slice(0, HISTOGRAMS)
            .map((entry) =>
              h(
                "figure",
                { class: "card" },
                histogram(entry, `values of ${fullName(entry)}; ${remark(entry)}`),
                h("figcaption", null, h("b", null, fullName(entry)), h("small", null, remark(entry))),
              ),
            ),
        ),
      ],
      key === "activations" && !matchMedia("(max-width: 40rem)").matches,
    );
  };
  return [
    group("Activation ranges", "activations", (one) => {
      const clipped = num(one, "histogram.clipped_share") ?? 0;
      return `${digits(num(one, "range.low"), 3)} … ${digits(num(one, "range.high"), 3)} by ${str(one, "method")}, ${clipped === 0 ? "nothing" : clipped < 1e-4 ? "< 0.01 %" : percent(clipped, 2)} clipped, ${sqnr(one)}`;
    }),
    group("Weights", "tensors", (one) => `${storedText(one)}, ${sqnr(one)}`),
  ];
}

function quantizeAudits(result) {
  const trial = at(result, "trial"),
    ratio = num(result, "ratio"),
    speed = num(trial, "speed_up.ratio"),
    noise = num(trial, "sqnr_db");
  const format = str(result, "format"),
    model = str(result, "model"),
    output = str(result, "output"),
    made = [];
  if (ratio !== null)
    made.push(
      ratio < 0.98
        ? {
            kind: "good",
            title: "The file is smaller",
            value: `${bytes(num(result, "bytes_before"))} → ${bytes(num(result, "bytes_after"))}`,
          }
        : {
            kind: "warn",
            title: "The file is not smaller",
            value: percent(ratio),
            fix: "Check the reasons in the table of tensors below.",
          },
    );
  if (isTrue(trial, "tried")) {
    const value = isTrue(trial, "exact") ? "identical outputs" : `${decibels(noise)} SQNR`;
    const verify = {
      line: `ounce verify ${shellWord(model)} ${shellWord(output)} --data DATA --labels FIELD`,
      why: "Measure the accuracy on labeled data:",
    };
    if (isTrue(trial, "exact") || noise >= 30)
      made.push({ kind: "good", title: "Outputs are close to those of the original", value });
    else if (noise !== null)
      made.push({
        kind: noise < 10 ? "bad" : "warn",
        title:
          noise < 10 ? "Outputs differ much from those of the original" : "Outputs differ from those of the original",
        value,
        detail: `An error of ${percent(10 ** (-noise / 20))} of the signal may change predictions.`,
        fix: verify,
      });
    made.push(
      isTrue(trial, "generated")
        ? {
            kind: "warn",
            title: "Compared on random inputs",
            fix: "Give real samples with --data: random inputs show how far outputs differ, not whether predictions change.",
          }
        : { kind: "good", title: "Compared on real samples", value: plural(num(trial, "samples") ?? 0, "sample") },
    );
  } else if (!isTrue(result, "dry_run")) {
    made.push({
      kind: "warn",
      title: "The result was not run",
      detail: str(trial, "why_not"),
      fix: {
        line: `ounce verify ${shellWord(model)} ${shellWord(output)}`,
        why: "Run it where a runtime is installed:",
      },
    });
  }
  if (speed !== null) {
    const interval = `${times(speed)} (${digits(num(trial, "speed_up.low"), 3)}–${digits(num(trial, "speed_up.high"), 3)})`;
    if (!isTrue(trial, "speed_up.reliable"))
      made.push({
        kind: "warn",
        title: "The machine was too busy to measure the speed",
        fix: "Run it again on an idle machine.",
      });
    else if (!isTrue(trial, "speed_up.measurable"))
      made.push({ kind: "info", title: "The speed does not differ measurably", value: interval });
    else
      made.push({
        kind: speed > 1 ? "good" : "warn",
        title: speed > 1 ? "Runs faster than the original" : "Runs slower than the original",
        value: interval,
      });
  } else if (/^w\d/.test(format)) {
    made.push({
      kind: "info",
      title: "Speed: like the original",
      detail: "This format compresses weights and computes in FP32.",
      fix: {
        line: `ounce quantize ${shellWord(model)} --to int8 --data DATA`,
        why: "For more speed, INT8 arithmetic needs samples of real data:",
      },
    });
  }
  const memory = [num(trial, "load_memory_before.after_bytes"), num(trial, "load_memory_after.after_bytes")];
  if (memory[0] && memory[1])
    made.push({
      kind: memory[1] > memory[0] * 1.1 ? "warn" : "good",
      title: memory[1] > memory[0] * 1.1 ? "Needs more memory after loading" : "Memory after loading",
      value: `${bytes(memory[0])} → ${bytes(memory[1])}`,
      fix: memory[1] > memory[0] * 1.1 && "--memory low keeps the weights compressed in memory.",
    });
  const kernels = [num(trial, "kernels.integer"), num(trial, "kernels.other")];
  if (kernels[0] !== null)
    made.push({
      kind: kernels[0] > 0 ? "good" : "bad",
      title: kernels[0] > 0 ? "INT8 kernels run" : "No INT8 kernel runs",
      value: `${kernels[0]} of ${kernels[0] + kernels[1]} nodes of the runtime`,
    });
  const floats = list(result, "nodes").filter((one) => str(one, "arithmetic") === "float"),
    reasons = new Map();
  for (const one of floats) reasons.set(str(one, "reason"), (reasons.get(str(one, "reason")) ?? 0) + 1);
  if (floats.length)
    made.push({
      kind: floats.length > total(result, "nodes") / 2 ? "warn" : "info",
      title: "Nodes kept in FP32",
      value: `${floats.length} of ${total(result, "nodes")}`,
      detail: [...reasons]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 6)
        .map(([reason, count]) => `${count}: ${reason}`),
    });
  const clipped = list(result, "activations").filter((one) => num(one, "histogram.clipped_share") > 0.01);
  if (clipped.length)
    made.push({
      kind: "warn",
      title: "Activations with more than 1 % clipped values",
      value: plural(clipped.length, "activation"),
      detail: clipped.slice(0, 5).map(fullName).join(", "),
      fix: "Calibrate on more samples, or with --calibration minmax.",
    });
  const weak = list(result, "tensors").filter(
    (one) => isTrue(one, "stored") && !isVector(one) && num(one, "sqnr_db") !== null && num(one, "sqnr_db") < 20,
  );
  if (weak.length)
    made.push({
      kind: "warn",
      title: "Weights below 20 dB",
      value: plural(weak.length, "weight"),
      detail: weak
        .slice(0, 5)
        .map((one) => `${fullName(one)}: ${sqnr(one)}`)
        .join(", "),
      fix: {
        line: `ounce sensitivity ${shellWord(model)} --to ${format} --data DATA`,
        why: "Find out which layers matter for the outputs:",
      },
    });
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
  return table(
    "Unchanged tensors",
    [...reasons.values()].sort((a, b) => b.bytes - a.bytes),
    [
      { title: "reason", value: (one) => one.reason, class: "reason" },
      { title: "tensors", value: (one) => one.count },
      { title: "bytes", value: (one) => one.bytes, format: bytes },
    ],
  );
}

const planDetails = (result, title = "The plan, tensor by tensor") => {
  const tensors = list(result, "tensors");
  return tensors.length
    ? details(`${title} (${total(result, "tensors")})`, () =>
        table("Each float tensor with its decision and reason", tensors, tensorColumns(), {
          total: total(result, "tensors"),
          filter: { name: "only uncompressed", test: (one) => !isTrue(one, "stored") },
        }),
      )
    : null;
};

function quantizeSection(result, context) {
  const nodes = list(result, "nodes");
  return [
    audits(quantizeAudits(result)),
    blockGraph(result, context.timesOf(str(result, "output")) ?? list(result, "trial.profile.nodes")),
    noisePlot(result),
    histograms(result),
    keptTable(result),
    planDetails(result),
    nodes.length
      ? details(`Arithmetic of each node (${total(result, "nodes")})`, () =>
          table(
            "Arithmetic of each node",
            nodes,
            [
              nameColumn("node"),
              textColumn("op", "op_type"),
              textColumn("arithmetic", "arithmetic"),
              textColumn("reason", "reason", { class: "reason" }),
            ],
            {
              total: total(result, "nodes"),
              filter: { name: "only FP32", test: (one) => str(one, "arithmetic") === "float" },
            },
          ),
        )
      : null,
    profileTable(at(result, "trial.profile"), fileName(str(result, "output"))),
    noteList(result),
  ];
}

// --- check, diff, inspect

const SUPPORT = {
  runs: ["good", "runs"],
  slow: ["warn", "runs, partly in slow kernels"],
  wrong: ["bad", "wrong results"],
  not_implemented: ["bad", "does not load"],
  fails: ["bad", "fails"],
};
const supportOf = (target) => SUPPORT[str(target, "verdict")] ?? ["neutral", "unknown"];
function checkSection(result) {
  const targets = list(result, "targets");
  const checks = targets.slice(0, 100).map((target) => {
    const [kind, word] = supportOf(target),
      findings = list(target, "findings");
    return {
      kind: kind === "neutral" ? "info" : kind,
      title: `${str(target, "target")}: ${word}`,
      value: `${num(target, "runs") ?? 0} of ${num(target, "nodes") ?? 0} nodes run`,
      detail: texts(target, "problems").concat(
        findings.slice(0, 5).map((one) => `${str(one, "op_type")} ${fullName(one)}: ${str(one, "why")}`),
        findings.length > 5 ? [`… and ${findings.length - 5} more nodes, in the table below`] : [],
      ),
      fix:
        kind === "bad"
          ? {
              line: `ounce quantize ${shellWord(str(result, "model"))} --target ${shellWord(str(target, "target"))}`,
              why: "Quantize the original with what this target supports:",
            }
          : null,
    };
  });
  return [
    quiet(
      `${str(result, "format") || "ONNX"}${num(result, "opset") ? `, opset ${num(result, "opset")}, IR ${num(result, "ir_version")}` : ""}; ${bytes(num(result, "file_bytes"))} in the file, ${bytes(num(result, "memory_bytes"))} of weights in memory.`,
    ),
    audits(checks),
    targets.map((target) => {
      const findings = list(target, "findings"),
        execution = at(target, "execution");
      if (findings.length === 0 && texts(target, "notes").length === 0 && !isObject(execution)) return null;
      return details(`${str(target, "target")}: ${plural(total(target, "findings"), "finding")}`, () => [
        notes(texts(target, "notes")),
        isObject(execution) &&
          paragraph(
            str(execution, "error")
              ? "Executed on the target: " + str(execution, "error")
              : `Executed on the target by ONNX Runtime ${str(execution, "runtime_version")}.`,
          ),
        table(
          `Nodes with findings on ${str(target, "target")}`,
          findings,
          [
            nameColumn("node"),
            textColumn("op", "op_type"),
            textColumn("types", "types"),
            textColumn("verdict", "verdict"),
            textColumn("reason", "why", { class: "reason" }),
          ],
          { total: total(target, "findings") },
        ),
      ]);
    }),
    table("Execution providers, according to their documentation", list(result, "hints"), [
      textColumn("provider", "provider"),
      figureColumn("nodes taken", "taken"),
      figureColumn("of", "nodes"),
      figureColumn("computing", "computing"),
      figureColumn("partitions", "partitions"),
      textColumn("note", "note", { class: "reason" }),
    ]),
  ];
}

// Models by targets, over all results of a run.
const COLUMNS = 40;
function supportMatrix(results) {
  const targets = [...new Set(results.flatMap((one) => list(one, "targets").map((target) => str(target, "target"))))];
  if (results.length < 2 || targets.length === 0) return null;
  const made = table(
    "Support by target",
    results,
    [{ title: "model", value: (one) => str(one, "model") }].concat(
      targets.slice(0, COLUMNS).map((name) => {
        const find = (one) => list(one, "targets").find((target) => str(target, "target") === name) ?? null;
        return {
          title: name,
          value: (one) => (find(one) ? supportOf(find(one))[1] : ""),
          node: (one) => (find(one) ? badge(...supportOf(find(one))) : h("span", null, DASH)),
        };
      }),
    ),
  );
  return [made, targets.length > COLUMNS && quiet(`The first ${COLUMNS} of ${targets.length} targets.`)];
}

function diffSection(result) {
  const side = (key) => ({ class: "reason", title: key, value: (one) => str(one, key) || DASH });
  const renamed = (one) => fullName(one) + (str(one, "name_after") ? " → " + str(one, "name_after") : "");
  const nodes = ["changed", "added", "removed"].flatMap((change) =>
    list(result, "nodes_" + change).map((node) => ({ ...node, change })),
  );
  const count = ["changed", "added", "removed"].reduce((sum, change) => sum + total(result, "nodes_" + change), 0);
  return [
    h(
      "div",
      { class: "facts" },
      [
        [bytes(num(result, "bytes_before")), fileName(str(result, "a"))],
        [bytes(num(result, "bytes_after")), fileName(str(result, "b"))],
        [String(num(result, "nodes_matched") ?? 0), `common nodes, ${num(result, "nodes_renamed") ?? 0} renamed`],
        [String(num(result, "tensors_matched") ?? 0), `common weights, ${num(result, "tensors_renamed") ?? 0} renamed`],
      ].map(([value, name]) => h("p", null, h("b", null, value), " ", name)),
    ),
    table("Model properties", list(result, "changes"), [
      { title: "property", value: (one) => `${str(one, "what")} ${str(one, "name")}` },
      side("before"),
      side("after"),
    ]),
    table("Ops", list(result, "ops"), [
      textColumn("op", "op_type"),
      figureColumn("before", "before"),
      figureColumn("after", "after"),
      {
        title: "change",
        value: (one) => (num(one, "after") ?? 0) - (num(one, "before") ?? 0),
        format: (value) => (value > 0 ? `+${value}` : value ? String(value) : ""),
      },
    ]),
    nodes.length
      ? details(`Changed, added and removed nodes (${count})`, () =>
          table(
            "Changed, added and removed nodes",
            nodes,
            [
              { title: "node", value: renamed },
              textColumn("op", "op_type"),
              textColumn("change", "change"),
              { title: "details", value: (one) => texts(one, "changes").join("; "), class: "reason" },
            ],
            { total: count },
          ),
        )
      : null,
    list(result, "tensors").length
      ? details(`Changed, added and removed weights (${total(result, "tensors")})`, () =>
          table(
            "Changed, added and removed weights",
            list(result, "tensors"),
            [
              { title: "weight", value: renamed },
              side("before"),
              side("after"),
              sqnrColumn("SQNR"),
              figureColumn("max |d|", "max_abs_diff", digits, { optional: true }),
              textColumn("remark", "remark"),
            ],
            { total: total(result, "tensors") },
          ),
        )
      : null,
  ];
}

function inspectSection(result) {
  const after = num(result, "bytes_after"),
    before = num(result, "bytes"),
    checks = [],
    ports = (key) =>
      list(result, key)
        .map((one) => `${str(one, "name")}: ${str(one, "type")}`)
        .join(", ");
  for (const one of texts(result, "blockers")) checks.push({ kind: "bad", title: one });
  if (after && before)
    checks.push({
      kind: "good",
      title: "Compressed weights would make the file smaller",
      value: `${bytes(before)} → ${bytes(after)}`,
      fix: { line: `ounce quantize ${shellWord(str(result, "model"))}`, why: "Compress the weights, without data:" },
    });
  if (num(result, "saturating_nodes") > 0)
    checks.push({
      kind: "warn",
      title: "Integer nodes may saturate on x86 CPUs without VNNI",
      value: plural(num(result, "saturating_nodes"), "node"),
    });
  const most = Math.max(...list(result, "ops").map((one) => num(one, "bytes") ?? 0), 1);
  return [
    audits(checks),
    h(
      "div",
      { class: "facts" },
      [
        [str(result, "format"), num(result, "ir_version") ? `IR ${num(result, "ir_version")}` : "format"],
        [bytes(before), "file"],
        [bytes(num(result, "weight_bytes")), "weights"],
        [String(num(result, "nodes") ?? 0), "nodes"],
        [ports("inputs"), "inputs"],
        [ports("outputs"), "outputs"],
        [str(result, "producer"), "producer"],
      ]
        .filter(([value]) => value)
        .map(([value, name]) => h("p", null, h("b", null, value), " ", name)),
    ),
    blockGraph(result, []),
    heading("Contents"),
    table("Ops", list(result, "ops"), [
      textColumn("op", "name"),
      figureColumn("nodes", "count"),
      figureColumn("weights", "bytes", bytes),
      { title: "share", node: (one) => barNode((num(one, "bytes") ?? 0) / most) },
    ]),
    table("Element types", list(result, "element_types"), [
      textColumn("type", "name"),
      figureColumn("tensors", "count"),
      figureColumn("bytes", "bytes", bytes),
    ]),
    isObject(at(result, "metadata")) &&
      table("Metadata", Object.entries(at(result, "metadata")).slice(0, 200), [
        { title: "key", value: ([key]) => key },
        { title: "value", value: ([, value]) => (typeof value === "string" ? value : ""), class: "reason" },
      ]),
    planDetails(result, "Float tensors and how they would be stored"),
    noteList(result),
  ];
}
