// --- The page: the summary, the sections of all runs, navigation, theme, printing.

const SECTIONS = {
  quantize: quantizeSection,
  verify: verifySection,
  bench: benchSection,
  tune: tuneSection,
  advise: adviseSection,
  sensitivity: sensitivitySection,
  check: checkSection,
  diff: diffSection,
  inspect: inspectSection,
};

// Commands to run next: of the documents, and those that a result recommends.
function nextCommands(runs) {
  const found = [],
    seen = new Set();
  const add = (line, why) => {
    if (!line || seen.has(line) || found.length >= 6) return;
    seen.add(line);
    found.push(command(line, why));
  };
  const addAll = (all) => {
    for (const one of all)
      typeof one === "string"
        ? add(one, "")
        : add(str(one, "line") || str(one, "command"), str(one, "why") || str(one, "reason"));
  };
  for (const run of runs) {
    const next = at(run, "document.next");
    addAll(Array.isArray(next) ? next : typeof next === "string" ? [next] : isObject(next) ? [next] : []);
    for (const result of list(run, "document.results").slice(0, 20)) {
      addAll([].concat(at(result, "next") ?? []).slice(0, 6));
      addAll(list(result, "commands"));
    }
  }
  return found.length ? [h("h2", null, "Do this next"), found] : null;
}

// The size of every model, originals first.
function sizesOf(figures) {
  const sizes = new Map();
  const add = (name, size) => {
    if (name && size !== null && size >= 0) sizes.set(name, size);
  };
  for (const one of figures) add(str(one, "original"), num(one, "bytes.before"));
  for (const one of figures) add(str(one, "model"), num(one, "bytes.after"));
  return [...sizes].slice(0, 30);
}

// All results in one table, and charts of the models that have sizes or speeds.
function comparison(figures) {
  if (figures.length < 2) return null;
  const before = (pair) => (one) => (num(one, pair + ".after") === null ? null : num(one, pair + ".after"));
  const name = (one) => `${str(one, "model")}${str(one, "verb") ? ` (${str(one, "verb")})` : ""}`;
  const unique = (all) => [...new Map(all.map((one) => [str(one, "model"), one])).values()].slice(0, 30);
  const speeds = unique(figures.filter((one) => num(one, "speed") !== null)),
    sizes = sizesOf(figures);
  const charts = [];
  if (sizes.length > 1)
    charts.push(
      heading("Sizes"),
      bars(
        "Sizes",
        `Sizes of ${sizes.length} models`,
        sizes.map(([name, value]) => ({ name, value, text: bytes(value) })),
        Math.max(...sizes.map(([, value]) => value)),
      ),
    );
  if (speeds.length > 1)
    charts.push(
      heading("Speeds"),
      intervals(
        "Speeds",
        `Speeds of ${speeds.length} models`,
        speeds.map((one) => ({
          name: str(one, "model"),
          value: num(one, "speed"),
          low: num(one, "speed_low") ?? num(one, "speed"),
          high: num(one, "speed_high") ?? num(one, "speed"),
          lines: [name(one), str(one, "words.speed")],
        })),
        "speed, relative to the original",
      ),
    );
  return h(
    "section",
    { id: "all", "aria-labelledby": "all-title" },
    h("h2", { id: "all-title" }, "All results"),
    table("All results in this report", figures, [
      { title: "model", value: (one) => str(one, "model") },
      textColumn("command", "verb"),
      { title: "size", value: before("bytes"), format: bytes },
      { title: "change", value: (one) => str(one, "words.size"), optional: true },
      {
        title: "speed",
        value: (one) => num(one, "speed"),
        text: (one) => str(one, "words.speed") || DASH,
        number: false,
      },
      { title: "quality", value: (one) => str(one, "words.quality") || DASH },
      { title: "memory", value: before("memory"), format: bytes, optional: true },
      {
        title: "result",
        value: (one) => str(one, "word"),
        node: (one) =>
          h("a", { href: "#" + anchor(one), class: "plain" }, badge(str(one, "verdict"), str(one, "word"))),
      },
    ]),
    charts.length
      ? h(
          "div",
          { class: "two" },
          charts.length === 4
            ? [h("div", null, charts.slice(0, 2)), h("div", null, charts.slice(2))]
            : h("div", null, charts),
        )
      : null,
  );
}

const anchor = (figures) => `run-${(num(figures, "run") ?? 0) + 1}-${(num(figures, "result") ?? 0) + 1}`;

// The node times that bench measured for a model, in any run of the page.
const timesIn = (runs) => (model) => {
  for (const run of runs) {
    for (const result of str(run, "document.verb") === "bench" ? list(run, "document.results") : []) {
      const found = list(result, "models").find(
        (one) => fileName(str(one, "model")) === fileName(model) && isObject(at(one, "profile")),
      );
      if (found) return list(found, "profile.nodes");
    }
  }
  return null;
};

function sectionsOf(runs, figures) {
  const made = [],
    context = { timesOf: timesIn(runs) };
  runs.forEach((run, number) => {
    const verb = str(run, "document.verb"),
      results = list(run, "document.results"),
      mine = figures.filter((one) => num(one, "run") === number);
    const places = [...new Set(mine.map((one) => num(one, "result")))];
    places.forEach((place, i) => {
      const rows = mine.filter((one) => num(one, "result") === place),
        result = results[place];
      const id = `run-${number + 1}-${place + 1}`,
        first = rows[0];
      const title = rows.length > 1 || !str(first, "model") ? verb : `${verb}: ${str(first, "model")}`;
      const summary = rows.map((one) =>
        h(
          "p",
          { class: "headline" },
          badge(str(one, "verdict"), str(one, "word")),
          " ",
          rows.length > 1 && h("b", null, str(one, "model") + ": "),
          [str(one, "words.size"), str(one, "words.speed"), str(one, "words.quality")].filter(Boolean).join(", "),
          str(one, "sentence") && h("span", { class: "why" }, str(one, "sentence")),
        ),
      );
      const section = h(
        "section",
        { id, "aria-labelledby": id + "-title" },
        h("h2", { id: id + "-title" }, title),
        figures.length > 1 ? summary.slice(0, 40) : null,
      );
      if (result !== undefined) {
        try {
          const draw = isObject(at(list(result, "models")[0] ?? null, "next_token")) ? tokenSection : SECTIONS[verb];
          const content = [
            draw ? draw(result, context) : null,
            verb === "check" && i === 0 ? supportMatrix(results) : null,
          ]
            .flat(5)
            .filter((one) => one instanceof Node);
          section.append(...content);
        } catch (error) {
          section.append(h("p", { class: "quiet" }, `This result could not be shown: ${error.message}`));
          console.error(error);
        }
      }
      if (i === places.length - 1) {
        const line_ = str(run, "document.command"),
          worse = texts(run, "document.regressions").map((one) => ({ kind: "bad", title: one }));
        section.append(
          ...[
            audits(worse),
            line_ && heading("Command"),
            command(line_),
            str(run, "name") && quiet("Source: " + str(run, "name")),
          ]
            .flat(3)
            .filter((one) => one instanceof Node),
        );
      }
      made.push({ id, title, verdict: str(first, "verdict"), section });
    });
  });
  return made;
}

function themeButton() {
  return h(
    "button",
    {
      class: "theme",
      type: "button",
      onclick: () => {
        const root = document.documentElement;
        const isDark = root.dataset.theme
          ? root.dataset.theme === "dark"
          : matchMedia("(prefers-color-scheme: dark)").matches;
        root.dataset.theme = isDark ? "light" : "dark";
      },
    },
    "Light/dark",
  );
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent),
    runs = list(data, "runs"),
    figures = list(data, "figures"),
    top = at(data, "top");
  const sections = sectionsOf(runs, figures),
    main = document.getElementById("main"),
    summary = document.getElementById("summary");
  const next = nextCommands(runs);
  const links = sections.map((one) => h("a", { href: "#" + one.id }, one.verdict === "bad" ? "✗ " : "", one.title));
  if (figures.length > 1) links.unshift(h("a", { href: "#all" }, "All results"));
  const hasFigures =
    ["bytes.before", "speed", "quality.after", "sqnr_db", "agreement"].some((key) => num(top, key) !== null) ||
    isTrue(top, "exact");
  if (hasFigures) summary.append(dials(top));
  document.getElementById("plain").remove();
  if (links.length > 1) summary.after(h("nav", { "aria-label": "Parts of this report" }, links.slice(0, 60)));
  main.append(
    ...[
      next && h("section", { class: "next", "aria-label": "Do this next" }, next),
      comparison(figures),
      ...sections.map((one) => one.section),
    ].filter(Boolean),
  );
  document.querySelector("header").append(
    h(
      "div",
      { class: "actions" },
      themeButton(),
      h(
        "button",
        {
          class: "theme",
          type: "button",
          onclick: () =>
            save(
              "ounce.json",
              "application/json",
              JSON.stringify(
                runs.map((run) => at(run, "document")),
                null,
                2,
              ),
            ),
        },
        "JSON",
      ),
    ),
  );
  document.body.append(tooltip);
  // Links open what they point to; printing opens everything.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) {
      folded.dispatchEvent(new Event("show"));
      folded.open = true;
    }
    for (const one of document.querySelectorAll("div.table, figure.plot")) one.dispatchEvent(new Event("show"));
  });
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

start();
