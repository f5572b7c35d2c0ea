// --- Sections of verify and bench.

function verifyAudits(result) {
  const made = texts(result, "failures").map((one) => ({
    kind: "bad",
    title: one,
    fix: {
      line: `ounce tune ${shellWord(str(result, "reference"))} --data DATA --labels FIELD --max-drop 1%`,
      why: "Search for a model within the limits, which keeps sensitive layers in FP32:",
    },
  }));
  if (isTrue(result, "passed"))
    made.push({ kind: "good", title: "All thresholds are met", value: plural(num(result, "samples") ?? 0, "sample") });
  const needed = num(result, "samples_needed");
  if (str(result, "certainty"))
    made.push({
      kind: isTrue(result, "certain") ? "good" : "warn",
      title: isTrue(result, "certain") ? "Certain on unseen data, too" : "Not certain on unseen data",
      detail: str(result, "certainty"),
      fix: !isTrue(result, "certain") && needed ? `About ${plural(needed, "sample")} like these would show it.` : null,
    });
  for (const one of texts(result, "unbounded"))
    made.push({ kind: "info", title: "A threshold without a bound on unseen data", detail: one });
  if (isTrue(result, "generated"))
    made.push({
      kind: "warn",
      title: "Compared on random inputs",
      fix: {
        line: `ounce verify ${shellWord(str(result, "reference"))} ${shellWord(str(result, "candidate"))} --data DATA --labels FIELD`,
        why: "Random inputs show how well the models agree, not their accuracy. Give labeled samples:",
      },
    });
  else if (list(result, "metrics").length === 0)
    made.push({ kind: "info", title: "Accuracy was not measured", fix: "Name the field of the labels with --labels." });
  const broken = list(result, "outputs").filter((one) => num(one, "newly_not_finite") > 0);
  made.push(
    broken.length
      ? {
          kind: "bad",
          title: "New NaN or infinite values",
          detail: broken.map((one) => `${str(one, "name")}: ${num(one, "newly_not_finite")}`).join(", "),
          fix: "A wider activation range or FP32 for the last layers prevents them.",
        }
      : { kind: "good", title: "No new NaN or infinite values" },
  );
  const edges = list(result, "edge_cases"),
    failed = edges.filter((one) => !isTrue(one, "left_out") && !isTrue(one, "passed"));
  if (edges.length)
    made.push(
      failed.length
        ? {
            kind: "bad",
            title: `${plural(failed.length, "edge case")} failed`,
            detail: failed.slice(0, 8).map((one) => `${str(one, "name")}: ${str(one, "finding")}`),
          }
        : {
            kind: "good",
            title: "Edge cases",
            value: `${edges.filter((one) => !isTrue(one, "left_out")).length} tried, none failed`,
          },
    );
  return made.concat(cpuAudits(list(result, "cpus")));
}

const MATRIX = 14;
// Changed predictions: a matrix of few classes, a list of many.
function changedPredictions(result, output) {
  const all = list(output, "changed_answers").filter((one) => num(one, "from") !== null && num(one, "to") !== null);
  if (all.length === 0) return null;
  const classesAt = (key) => [...new Set(all.map((one) => num(one, key)))].sort((a, b) => a - b);
  const rows = classesAt("from"),
    columnsOf = classesAt("to");
  const most = Math.max(...all.map((one) => num(one, "count") ?? 0), 1),
    title = `Changed predictions of ${str(output, "name")}`;
  const share = num(output, "answers_compared")
    ? ` (${num(output, "answers_changed")} of ${num(output, "answers_compared")})`
    : "";
  const columns = [
    { title: "original", value: (one) => classNameOf(result, num(one, "from")) },
    { title: "candidate", value: (one) => classNameOf(result, num(one, "to")) },
    figureColumn("count", "count"),
    { title: "share", node: (one) => barNode((num(one, "count") ?? 0) / most) },
  ];
  if (rows.length > MATRIX || columnsOf.length > MATRIX)
    return [heading(title + share), table(title, all, columns, { total: total(output, "changed_answers") })];
  const count = (from, to) =>
    num(all.find((one) => num(one, "from") === from && num(one, "to") === to) ?? null, "count");
  return [
    heading(title + share, "Rows: prediction of the original. Columns: prediction of the candidate."),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": title },
      h(
        "table",
        { class: "matrix" },
        h("caption", null, title),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("td", null, "original ↓ candidate →"),
            columnsOf.map((to) => h("th", { scope: "col" }, classNameOf(result, to))),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map((from) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, classNameOf(result, from)),
              columnsOf.map((to) => {
                const found = count(from, to);
                const cell = h("td", { class: found ? "hit" : null }, found ?? (from === to ? "·" : ""));
                if (found) cell.style.setProperty("--heat", `${Math.round(20 + (60 * found) / most)}%`);
                return cell;
              }),
            ),
          ),
        ),
      ),
    ),
  ];
}

function samples(result) {
  const changed = list(result, "changed"),
    names = new Set(changed.map((one) => str(one, "sample"))),
    made = [];
  const others = list(result, "worst")
    .filter((one) => !names.has(str(one, "sample")))
    .slice(0, 24);
  const cards = (all) =>
    h(
      "div",
      { class: "cards" },
      all.map((one) => sampleCard(result, one)),
    );
  if (changed.length)
    made.push(heading("Samples with a changed prediction", "Largest difference first."), cards(changed.slice(0, 24)));
  if (others.length)
    made.push(
      heading(changed.length ? "Other samples with large differences" : "Samples with the largest differences"),
      cards(others),
    );
  return made;
}

function outputTable(result) {
  const rows = [];
  for (const output of list(result, "outputs")) {
    rows.push(output);
    for (const slice of list(output, "slices").slice(0, 50))
      rows.push({ ...slice, name: "part " + str(slice, "name") });
  }
  const kind = (one) =>
    isTrue(one, "state")
      ? " (state)"
      : at(one, "judged") === false
        ? " (not judged)"
        : isTrue(one, "labels")
          ? " (labels)"
          : "";
  return table("Outputs", rows, [
    { title: "output", value: (one) => str(one, "name") + kind(one) },
    figureColumn("values", "values", (value) => value.toLocaleString("en")),
    sqnrColumn("SQNR"),
    figureColumn("max |d|", "max_abs_diff", digits, { optional: true }),
    figureColumn("mean |d|", "mean_abs_diff", digits, { optional: true }),
    figureColumn("cosine", "cosine", (value) => digits(value, 7), { optional: true }),
    figureColumn("same top-1", "top1_agreement", (value) => percent(value, 2), { optional: true }),
    figureColumn("same top-5", "top5_agreement", (value) => percent(value, 2), { optional: true }),
    figureColumn("new NaN/Inf", "newly_not_finite"),
  ]);
}

const dropText = (metric, key) =>
  str(metric, "unit") === "share"
    ? either(num(metric, key), (value) => (100 * value).toFixed(2) + " points")
    : digits(num(metric, key), 3);
const metricTable = (result) =>
  table("Metrics", list(result, "metrics"), [
    { title: "metric", value: (one) => metricName(str(one, "name")) },
    {
      title: "original",
      value: (one) => num(one, "reference"),
      text: (one) => metricText(one, "reference"),
      number: true,
    },
    {
      title: "candidate",
      value: (one) => num(one, "candidate"),
      text: (one) => metricText(one, "candidate"),
      number: true,
    },
    { title: "drop", value: (one) => num(one, "drop"), text: (one) => dropText(one, "drop"), number: true },
    {
      title: "95 % interval of the drop",
      text: (one) =>
        num(one, "drop_low") === null ? DASH : `${dropText(one, "drop_low")} … ${dropText(one, "drop_high")}`,
    },
    textColumn("why not", "why_not", { optional: true }),
  ]);

function verifySection(result) {
  const edges = list(result, "edge_cases");
  return [
    audits(verifyAudits(result)),
    samples(result),
    list(result, "outputs").map((output) => changedPredictions(result, output)),
    heading("Quality"),
    metricTable(result),
    outputTable(result),
    edges.length
      ? details(`Edge cases (${edges.length})`, () =>
          table("Edge cases", edges, [
            textColumn("case", "name"),
            {
              title: "result",
              value: (one) => (isTrue(one, "left_out") ? "skipped" : isTrue(one, "passed") ? "passed" : "failed"),
              node: (one) =>
                isTrue(one, "left_out")
                  ? badge("neutral", "skipped")
                  : isTrue(one, "passed")
                    ? badge("good", "passed")
                    : badge("bad", "failed"),
            },
            textColumn("finding", "finding"),
          ]),
        )
      : null,
    noteList(result),
    quiet([str(result, "runtime"), str(result, "cpu") && `CPU: ${str(result, "cpu")}`].filter(Boolean).join(", ")),
  ];
}

// --- bench

function speedText(batch) {
  const speed = at(batch, "speed_up");
  if (num(speed, "ratio") === null) return DASH;
  if (at(speed, "reliable") === false) return "machine too busy";
  const interval = `(${digits(num(speed, "low"), 3)}–${digits(num(speed, "high"), 3)})`;
  return isTrue(speed, "measurable")
    ? `${times(num(speed, "ratio"))} ${interval}`
    : `no measurable difference ${interval}`;
}

function benchSection(result) {
  const models = list(result, "models"),
    made = [],
    checks = [];
  const load = num(result, "load"),
    busy = load !== null && load > 1.1;
  const unreliable = models.some((model) =>
    list(model, "batches").some((batch) => at(batch, "speed_up.reliable") === false),
  );
  checks.push(
    load === null
      ? null
      : {
          kind: unreliable ? "bad" : busy ? "warn" : "good",
          title: unreliable
            ? "The machine was too busy to compare speeds"
            : busy
              ? "The machine was busy"
              : "The machine was idle",
          value: `load ${digits(load, 3)}`,
          detail:
            busy && !unreliable ? "Speeds are ratios of CPU time and remain comparable; intervals are wider." : null,
          fix: busy ? "Close other programs and run bench again." : null,
        },
  );
  checks.push(
    isTrue(result, "generated")
      ? {
          kind: "info",
          title: "Timed on random inputs",
          fix: "Give real samples with --data if the time depends on the values, such as lengths.",
        }
      : { kind: "good", title: "Timed on real samples" },
  );
  made.push(
    audits(checks),
    quiet(
      `${str(result, "runtime") || "ONNX Runtime " + str(result, "runtime_version")}${str(result, "cpu") ? ", CPU " + str(result, "cpu") : ""}, ${num(result, "threads") === 0 ? "all threads" : plural(num(result, "threads") ?? 1, "thread")}, ${plural(num(result, "rounds") ?? 0, "round")}.`,
    ),
  );
  const compared = models
    .slice(1)
    .flatMap((model) =>
      list(model, "batches")
        .filter((batch) => num(batch, "speed_up.ratio") !== null)
        .map((batch) => ({
          name:
            fileName(str(model, "model")) + (list(model, "batches").length > 1 ? `, batch ${num(batch, "batch")}` : ""),
          value: num(batch, "speed_up.ratio"),
          low: num(batch, "speed_up.low") ?? 1,
          high: num(batch, "speed_up.high") ?? 1,
          lines: [fileName(str(model, "model")), speedText(batch)],
        })),
    )
    .slice(0, 60);
  if (compared.length)
    made.push(
      heading(
        "Speed relative to the first model",
        "Dots are the measured ratios, lines their 95 % confidence intervals. Right of 1× is faster.",
      ),
      intervals(
        "Speed",
        `Speed of ${plural(compared.length, "model")} relative to the first`,
        compared,
        "speed, relative to " + fileName(str(models[0], "model")),
      ),
    );
  const sizes = [
    ...new Set(models.flatMap((model) => list(model, "batches").map((batch) => num(batch, "batch") ?? 1))),
  ];
  for (const size of sizes.slice(0, 20)) {
    const series = models
      .slice(0, 12)
      .map((model) => {
        const batch = list(model, "batches").find((one) => (num(one, "batch") ?? 1) === size) ?? null,
          name = fileName(str(model, "model"));
        return {
          name,
          p50: num(batch, "latency.p50_ns"),
          p90: num(batch, "latency.p90_ns"),
          points: numbers(batch, "latency.quantiles_ns")
            .slice(0, 100)
            .map((time, share) => ({
              x: 1e-6 * time,
              y: share,
              lines: [50, 90, 99].includes(share)
                ? [name, `${share} % of the calls took at most ${duration(time)}`]
                : null,
            })),
        };
      })
      .filter((one) => one.points.length);
    if (series.length === 0) continue;
    const medians = series.map((one) => `${one.name} ${duration(one.p50)}`).join(", ");
    // The slowest calls are interruptions by other programs, and would compress the curves.
    const last = 1.5e-6 * Math.max(...series.map((one) => num(one, "p90") ?? 0));
    if (last > 0) for (const one of series) one.points = one.points.filter((point) => point.x <= last);
    made.push(
      heading(
        `Latency distribution${sizes.length > 1 ? `, batch ${size}` : ""}`,
        `Lines further left are faster; marks are p50, p90 and p99. Medians: ${medians}.`,
      ),
      lines("Latency distribution", `Cumulative distribution of latency; medians: ${medians}`, series, {
        xTitle: "latency (ms)",
        yTitle: "share of calls (%)",
        fromZero: true,
      }),
    );
  }
  if (sizes.length > 20)
    made.push(quiet(`The charts show the first 20 of ${sizes.length} batch sizes; the table has all.`));
  const rows = models.flatMap((model, i) => list(model, "batches").map((batch) => ({ model, batch, first: i === 0 })));
  const time = (title, key) => ({
    title,
    value: (one) => num(one.batch, "latency." + key),
    format: duration,
    number: true,
  });
  made.push(
    table("Latency", rows.slice(0, 2000), [
      { title: "model", value: (one) => fileName(str(one.model, "model")) },
      { title: "batch", value: (one) => num(one.batch, "batch") },
      time("p50", "p50_ns"),
      time("p90", "p90_ns"),
      time("p99", "p99_ns"),
      time("min", "min_ns"),
      time("mean", "mean_ns"),
      { title: "samples/s", value: (one) => num(one.batch, "samples_per_second"), format: (value) => digits(value, 3) },
      {
        title: "speed (95 % interval)",
        value: (one) => (one.first ? 1 : num(one.batch, "speed_up.ratio")),
        text: (one) => (one.first ? "1" : speedText(one.batch)),
        number: false,
      },
    ]),
  );
  made.push(
    table("Loading and memory", models, [
      { title: "model", value: (one) => fileName(str(one, "model")) },
      figureColumn("size", "bytes", bytes),
      figureColumn("load", "load_ns", duration),
      figureColumn("first run", "first_run_ns", duration),
      figureColumn("cold start", "cold_start_ns", duration, { optional: true }),
      figureColumn("peak memory", "peak_memory_bytes", bytes, { optional: true }),
      figureColumn("peak while loading", "load_memory.peak_bytes", bytes, { optional: true }),
      figureColumn("after loading", "load_memory.after_bytes", bytes, { optional: true }),
    ]),
  );
  for (const model of models.slice(0, 12)) made.push(profileTable(at(model, "profile"), fileName(str(model, "model"))));
  return [made, noteList(result)];
}

// verify and bench of language models, token by token.
function tokenSection(result) {
  return [
    quiet(
      `${plural(num(result, "texts") ?? 0, "text")}, prompts of ${plural(num(result, "prompt") ?? 0, "token")}, ${plural(num(result, "tokens") ?? 0, "token")} after them.`,
    ),
    table("Language models, token by token", list(result, "models"), [
      { title: "model", value: (one) => fileName(str(one, "model")) },
      figureColumn("size", "bytes", bytes),
      figureColumn("prompt", "first_token.p50_ns", duration),
      figureColumn("next token", "next_token.p50_ns", duration),
      figureColumn("perplexity", "perplexity"),
      figureColumn("NLL", "nll"),
      figureColumn("changed tokens", "flips"),
      textColumn("verdict", "verdict", { optional: true }),
    ]),
    noteList(result),
  ];
}
