// --- Sections of tune, advise and sensitivity.

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
const trialBadge = (trial) =>
  rejection(trial)
    ? badge(hasFailed(trial) ? "bad" : "warn", (hasFailed(trial) ? "failed: " : "passed, but ") + rejection(trial))
    : badge("good", "passed");

function tuneSection(result) {
  const trials = list(result, "trials"),
    best = isTrue(result, "passed") ? str(result, "best.name") : "",
    made = [];
  const chosen = trials.findIndex((one) => best !== "" && str(one, "name") === best);
  const points = (key) =>
    trials
      .map((trial, i) => {
        const size = num(trial, "ratio"),
          value = num(trial, key);
        if (size === null || value === null || str(trial, "problem")) return null;
        const name = str(trial, "name");
        return {
          x: 100 * size,
          y: value,
          kind: i === chosen ? "chosen" : rejection(trial) ? "failed" : "passed",
          name: i === chosen || isTrue(trial, "on_front") ? name : "",
          lines: [
            name,
            `size: ${percent(size)}, ${bytes(num(trial, "bytes"))}`,
            `speed: ${times(num(trial, "speed_up.ratio"))}`,
            `SQNR: ${sqnr(trial)}`,
            isObject(at(trial, "metric")) &&
              `${metricName(str(trial, "metric.name"))}: ${metricText(at(trial, "metric"), "candidate")}`,
            rejection(trial) ? `rejected: ${rejection(trial)}` : i === chosen ? "chosen" : "passed",
          ],
        };
      })
      .filter(Boolean);
  const checks = [],
    samplesOf = `${num(result, "search_samples") ?? 0} for the search, ${num(result, "held_out_samples") ?? 0} held out`;
  checks.push(
    isTrue(result, "passed")
      ? { kind: "good", title: "A model passed on held-out samples", value: str(result, "best.name") }
      : {
          kind: "bad",
          title: "No model passed",
          detail: str(result, "best.verdict"),
          fix: num(result, "samples_needed")
            ? `About ${plural(num(result, "samples_needed"), "sample")} would show that the closest candidate is good enough.`
            : "Allow a larger drop, or give more samples.",
        },
  );
  if (isTrue(result, "out_of_time"))
    checks.push({
      kind: "warn",
      title: "The budget ended before all candidates were tried",
      fix: "Run it again with a larger --budget: measured candidates are remembered.",
    });
  if (isTrue(result, "interrupted")) checks.push({ kind: "warn", title: "The search was interrupted" });
  const promising = trials.filter((one) => num(one, "more_samples"));
  if (promising.length)
    checks.push({
      kind: "warn",
      title: `More samples would allow ${str(promising[0], "name")}`,
      value: `${num(promising[0], "more_samples")} more`,
      detail: `It has ${percent(num(promising[0], "ratio"))} of the size${num(promising[0], "speed_up.ratio") ? ` and is ${times(num(promising[0], "speed_up.ratio"))} as fast` : ""}.`,
    });
  checks.push({ kind: "info", title: "Samples", value: samplesOf }, ...cpuAudits(list(result, "cpus")));
  made.push(audits(checks));
  const speeds = points("speed_up.ratio");
  if (speeds.length)
    made.push(
      heading("Size and speed of each candidate", "Better: up and left."),
      scatter(
        "Size and speed of each candidate",
        `${plural(speeds.length, "candidate")} by size and speed${best ? "; chosen: " + best : ""}`,
        speeds.concat([
          { x: 100, y: 1, kind: "original", name: "original", lines: ["the original", "size: 100 %, speed: 1×"] },
        ]),
        {
          xTitle: "size (% of the original)",
          yTitle: "speed (× the original)",
          xLeast: 20,
          yLeast: 0.5,
          isFront: true,
        },
      ),
    );
  const hasMetric = trials.some((one) => isObject(at(one, "metric"))),
    metric = trials.map((one) => at(one, "metric")).find(isObject);
  const isShare = str(metric, "unit") === "share";
  const qualities = points(hasMetric ? "metric.candidate" : "sqnr_db").map((one) =>
    isShare ? { ...one, y: 100 * one.y } : one,
  );
  const reference = num(metric, "reference");
  if (qualities.length > 1)
    made.push(
      heading("Size and quality of each candidate", "Better: up and left."),
      scatter(
        "Size and quality of each candidate",
        `${plural(qualities.length, "candidate")} by size and ${hasMetric ? metricName(str(metric, "name")) : "SQNR"}`,
        qualities,
        {
          xTitle: "size (% of the original)",
          yTitle: hasMetric
            ? `${metricName(str(metric, "name"))}${isShare ? " (%)" : ""}`
            : "SQNR of the worst output (dB)",
          xLeast: 20,
          yLeast: hasMetric ? (isShare ? 2 : 0.02) : 10,
          isFront: true,
          limit:
            hasMetric && reference !== null ? { y: isShare ? 100 * reference : reference, name: "original" } : null,
        },
      ),
    );
  if (speeds.length || qualities.length > 1)
    made.push(
      quiet(
        "Dashed lines connect the Pareto front of each chart: the candidates that no other one beats in both values. The table below has the front of size, speed and quality together.",
      ),
    );
  made.push(
    heading("Search steps"),
    table(
      "Candidates in the order of the search",
      trials.map((trial, i) => ({ ...trial, step: i + 1 })),
      [
        { title: "step", value: (one) => one.step },
        textColumn("candidate", "name"),
        figureColumn("size", "ratio", percent),
        figureColumn("speed", "speed_up.ratio", times, { optional: true }),
        sqnrColumn("SQNR"),
        figureColumn("same top-1", "agreement", (value) => percent(value, 2), { optional: true }),
        {
          title: hasMetric ? metricName(str(metric, "name")) : "metric",
          value: (one) => num(one, "metric.candidate"),
          format: (value) => (isShare ? percent(value, 2) : digits(value)),
          optional: true,
        },
        { title: "thresholds", value: (one) => rejection(one) || "passed", node: trialBadge },
        {
          title: "role",
          value: (one) =>
            [one.step - 1 === chosen && "chosen", isTrue(one, "on_front") && "Pareto front", ...texts(one, "corners")]
              .filter(Boolean)
              .join(", "),
          optional: true,
        },
      ],
      { total: total(result, "trials"), rowClass: (one) => (one.step - 1 === chosen ? "chosen" : null) },
    ),
  );
  const layers = list(result, "layers"),
    formats = {};
  for (const layer of layers) formats[str(layer, "format")] = (formats[str(layer, "format")] ?? 0) + 1;
  if (layers.length)
    made.push(
      details(
        `Layers of the result: ${Object.entries(formats)
          .map(([format, count]) => `${count} ${format}`)
          .join(", ")}`,
        () =>
          table(
            "Format of each layer of the result",
            layers,
            [textColumn("layer", "name"), textColumn("op", "op_type"), textColumn("format", "format")],
            {
              total: total(result, "layers"),
              filter: { name: "only FP32", test: (one) => str(one, "format") === "fp32" },
            },
          ),
      ),
    );
  return [made, noteList(result)];
}

// --- advise

const methodSpeed = (method) =>
  !isTrue(method, "measured")
    ? DASH
    : num(method, "speed_up.ratio") === null
      ? "not measured"
      : speedText({ speed_up: { reliable: true, ...at(method, "speed_up") } });
function adviseSection(result) {
  const methods = list(result, "methods"),
    made = [],
    checks = texts(result, "reasons").map((one) => ({ kind: "info", title: one }));
  for (const risk of list(result, "risks"))
    checks.push({
      kind: "warn",
      title: str(risk, "name").replaceAll("_", " "),
      detail: str(risk, "evidence"),
      fix: str(risk, "advice"),
    });
  for (const one of texts(result, "missing")) checks.push({ kind: "warn", title: one });
  made.push(
    audits(checks),
    h(
      "div",
      { class: "facts" },
      [
        [str(result, "family.description"), "model"],
        [bytes(num(result, "bytes")), "size"],
        [duration(num(result, "baseline.latency.p50_ns")), "per call (median)"],
        [bytes(num(result, "baseline.peak_memory_bytes")), "peak memory"],
        [`${num(result, "samples") ?? 0} ${isTrue(result, "generated") ? "random inputs" : "samples"}`, "compared on"],
      ]
        .filter(([value]) => value && value !== DASH)
        .map(([value, name]) => h("p", null, h("b", null, value), " ", name)),
    ),
  );
  const points = methods
    .filter(
      (one) =>
        num(one, "ratio") !== null && num(one, "speed_up.ratio") !== null && at(one, "speed_up.reliable") !== false,
    )
    .map((one) => ({
      x: 100 * num(one, "ratio"),
      y: num(one, "speed_up.ratio"),
      kind: isTrue(one, "acceptable") ? "passed" : isTrue(one, "uncertain") ? "uncertain" : "failed",
      name: str(one, "method"),
      lines: [
        str(one, "method"),
        `size: ${percent(num(one, "ratio"))}`,
        `speed: ${methodSpeed(one)}`,
        (isTrue(one, "uncertain") ? "uncertain: " : "") + str(one, "quality"),
      ],
    }));
  if (points.length)
    made.push(
      heading("Size and speed of each method", "Better: up and left."),
      scatter(
        "Size and speed of each method",
        `${plural(points.length, "method")} by size and speed`,
        points.concat([{ x: 100, y: 1, kind: "original", name: "original", lines: ["the original"] }]),
        { xTitle: "size (% of the original)", yTitle: "speed (× the original)", xLeast: 20, yLeast: 0.5 },
      ),
    );
  const quality = (one) =>
    isTrue(one, "measured")
      ? (isTrue(one, "uncertain") ? "uncertain: " : "") + str(one, "quality")
      : "not measured: " + str(one, "why_not");
  made.push(
    heading("Methods"),
    table("Measured methods", methods, [
      textColumn("method", "method"),
      {
        title: "size",
        value: (one) => (isTrue(one, "measured") ? num(one, "ratio") : null),
        format: percent,
        number: true,
      },
      { title: "speed (95 % interval)", value: (one) => num(one, "speed_up.ratio"), text: methodSpeed, number: false },
      {
        title: "SQNR",
        value: (one) => (isTrue(one, "measured") ? num(one, "sqnr_db") : null),
        text: (one) => (isTrue(one, "measured") ? sqnr(one) : DASH),
        number: true,
      },
      figureColumn("metric", "metric.candidate", digits, { optional: true }),
      figureColumn("peak memory", "peak_memory_bytes", bytes, { optional: true }),
      {
        title: "quality",
        value: quality,
        node: (one) =>
          isTrue(one, "measured")
            ? badge(isTrue(one, "acceptable") ? "good" : isTrue(one, "uncertain") ? "warn" : "bad", quality(one))
            : h("span", null, quality(one)),
      },
    ]),
  );
  made.push(profileTable(at(result, "baseline.profile"), "original"));
  return [made, noteList(result)];
}

// --- sensitivity

function sensitivitySection(result) {
  const groups = list(result, "groups"),
    limit = num(result, "min_sqnr_db"),
    checks = [],
    made = [];
  checks.push({
    kind: isTrue(result, "enough") ? "good" : "bad",
    title: isTrue(result, "enough")
      ? `The outputs reach ${digits(limit)} dB`
      : `The outputs do not reach ${digits(limit)} dB`,
    value: `${decibels(num(result, "all_db"))} with all layers quantized`,
    detail: texts(result, "exclude").length
      ? `${decibels(num(result, "exclude_db"))} with ${plural(texts(result, "exclude").length, "layer")} in FP32.`
      : null,
  });
  for (const one of texts(result, "findings")) checks.push({ kind: "info", title: one });
  const excludes = texts(result, "exclude");
  if (excludes.length)
    checks.push({
      kind: "info",
      title: "Layers to keep in FP32",
      value: plural(excludes.length, "layer"),
      fix: {
        line:
          `ounce quantize ${shellWord(str(result, "model"))} --to ${str(result, "format")} ` +
          excludes.map((one) => `--exclude ${shellWord(one)}`).join(" "),
        why: "Quantize without these layers:",
      },
    });
  made.push(audits(checks));
  const most = Math.max(...groups.map((one) => num(one, "noise_share") ?? 0), 1e-9);
  const alone = groups
    .filter((one) => num(one, "alone_db") !== null && num(one, "place") !== null)
    .sort((a, b) => num(a, "place") - num(b, "place"));
  if (alone.length > 1)
    made.push(
      heading(
        "Sensitivity along the network",
        "Output SQNR when only one layer is quantized. A low value means a sensitive layer.",
      ),
      lines(
        "Sensitivity along the network",
        "Output SQNR when only one layer is quantized, in the order of the network",
        [
          {
            name: "quantized alone",
            points: alone.map((one, i) => ({
              x: i + 1,
              y: num(one, "alone_db"),
              lines: [
                str(one, "name"),
                `${decibels(num(one, "alone_db"))} when only it is quantized`,
                `${percent(num(one, "noise_share"))} of the noise, ${bytes(num(one, "weight_bytes"))} of weights`,
              ],
            })),
          },
        ],
        {
          xTitle: "layers, from the input to the output",
          yTitle: "SQNR of the outputs (dB)",
          limit: limit !== null ? { y: limit, name: `wanted: ${digits(limit)} dB` } : null,
        },
      ),
    );
  const marks = (one) => ["first", "last", "attention"].filter((key) => isTrue(one, key)).join(", ");
  made.push(
    heading("Sensitive layers"),
    table(
      "Layers, most sensitive first",
      groups,
      [
        textColumn("layer", "name"),
        textColumn("op", "op_type"),
        figureColumn("weights", "weight_bytes", bytes),
        {
          title: "noise share",
          value: (one) => num(one, "noise_share"),
          text: (one) => (at(one, "measured") === false ? "not measured" : percent(num(one, "noise_share"))),
          number: true,
        },
        { title: "noise", node: (one) => barNode((num(one, "noise_share") ?? 0) / most) },
        sqnrColumn("only it", "alone_db"),
        figureColumn("all but it", "without_db", decibels, { optional: true }),
        figureColumn("drop", "alone_drop", (value) => digits(value, 3), { optional: true }),
        figureColumn("estimated", "estimated_db", decibels, { optional: true }),
        { title: "position", value: marks, optional: true },
      ],
      { total: total(result, "groups") },
    ),
  );
  const nodes = isObject(at(result, "nodes")) ? Object.entries(at(result, "nodes")).slice(0, 500) : [];
  made.push(
    table("Formats for --node", nodes, [
      { title: "layer", value: ([name]) => name },
      { title: "format", value: ([, format]) => (typeof format === "string" ? format : "") },
    ]),
  );
  return [made, noteList(result)];
}
