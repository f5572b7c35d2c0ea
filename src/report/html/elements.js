// Renders the JSON documents of a report. Names in the documents are untrusted: they reach the page only as text
// nodes and as values of attributes from a fixed set, never as HTML.
"use strict";

// --- Access to documents: a value that is missing or has another type reads as absent. A key may be a path: "trial.sqnr_db".

const at = (object, path) =>
  path
    .split(".")
    .reduce(
      (value, key) =>
        value !== null && typeof value === "object" && Object.hasOwn(value, key) ? value[key] : undefined,
      object,
    );
const num = (object, path) => {
  const value = at(object, path);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
};
const str = (object, path) => {
  const value = at(object, path);
  return typeof value === "string" ? value : "";
};
const list = (object, path) => {
  const value = at(object, path);
  return Array.isArray(value) ? value : [];
};
const isTrue = (object, path) => at(object, path) === true;
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const texts = (object, path) => list(object, path).filter((one) => typeof one === "string");
const numbers = (object, path) =>
  list(object, path).map((one) => (typeof one === "number" && Number.isFinite(one) ? one : 0));
// The length of a list before it was cut for the page.
const total = (object, path) => num(object, path + "_total") ?? list(object, path).length;

const fileName = (path) => path.slice(path.lastIndexOf("/") + 1) || path;
const fullName = (entry) => (str(entry, "scope") ? str(entry, "scope") + "/" : "") + str(entry, "name");

// --- Text

const MOST_CHARACTERS = 600;
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]/gu;
// One line without control characters and characters that change the direction of text.
const escaped = (text) =>
  text.replace(HIDDEN, (character) => "\\u" + character.codePointAt(0).toString(16).padStart(4, "0"));
const plain = (text) => {
  const cut =
    text.length > MOST_CHARACTERS
      ? text.slice(0, MOST_CHARACTERS) + `… (${text.length.toLocaleString("en")} characters)`
      : text;
  return escaped(cut);
};
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

const DASH = "–";
const either = (value, format) => (value === null || value === undefined ? DASH : format(value));
const digits = (value, count = 4) =>
  either(value, (number) => {
    if (number !== 0 && (Math.abs(number) >= 1e9 || Math.abs(number) < 1e-4))
      return number.toExponential(Math.min(2, count - 1));
    return Number(number.toPrecision(count)).toLocaleString("en", { maximumFractionDigits: 9 });
  });
const bytes = (value) =>
  either(value, (number) => {
    if (Math.abs(number) < 1000) return `${number} B`;
    const power = Math.min(4, Math.floor(Math.log10(Math.abs(number)) / 3));
    return Number((number / 1000 ** power).toPrecision(3)) + " " + ["B", "kB", "MB", "GB", "TB"][power];
  });
const percent = (share, places = 1) => either(share, (value) => (100 * value).toFixed(places) + " %");
const decibels = (value) => either(value, (number) => number.toFixed(1) + " dB");
const times = (ratio) => either(ratio, (value) => value.toFixed(value < 10 ? 2 : 1) + "×");
const duration = (nanoseconds) =>
  either(nanoseconds, (value) => {
    if (value < 1e6) return digits(value / 1e3, 3) + " µs";
    return value < 1e9 ? digits(value / 1e6, 3) + " ms" : digits(value / 1e9, 3) + " s";
  });
// The SQNR is null if the values are equal.
const sqnr = (object, key = "sqnr_db", exact = "exact") =>
  isTrue(object, exact) ? "exact" : decibels(num(object, key));
const metricName = (name) =>
  ({ top1_accuracy: "accuracy", top5_accuracy: "top-5 accuracy" })[name] ?? name.replaceAll("_", " ");
const metricText = (metric, key) =>
  str(metric, "unit") === "share" ? percent(num(metric, key)) : digits(num(metric, key));

// --- Elements

const ATTRIBUTES = new Set([
  "class",
  "id",
  "type",
  "role",
  "tabindex",
  "scope",
  "title",
  "for",
  "name",
  "value",
  "min",
  "max",
  "step",
  "open",
  "hidden",
  "href",
  "alt",
  "src",
  "download",
  "width",
  "height",
  "checked",
  "placeholder",
  "autocomplete",
  "controls",
  "loop",
  "preload",
]);
const SHOWN = new Set(["aria-label", "title", "alt", "placeholder", "value"]);
const SVG = document.getElementById("none").namespaceURI;

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : SHOWN.has(name) ? plain(String(value)) : String(value));
  }
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    made.append(child instanceof Node ? child : document.createTextNode(plain(String(child))));
  }
  return made;
}

// h("td", { class: "number" }, "12 MB"). Strings become text nodes.
function h(tag, attributes, ...children) {
  for (const name of Object.keys(attributes ?? {})) {
    if (!ATTRIBUTES.has(name) && !name.startsWith("on") && !name.startsWith("aria-") && !name.startsWith("data-"))
      throw new Error("attribute " + name);
  }
  return fill(document.createElement(tag), attributes, children);
}
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A text of any length, such as a command to copy.
function whole(tag, attributes, text) {
  const made = h(tag, attributes);
  made.textContent = escaped(text);
  return made;
}

// A long name that may break after its separators.
const breakable = (text) =>
  plain(text)
    .split(/(?<=[/._:-])/)
    .flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

const heading = (text, note) => [h("h3", null, text), note && h("p", { class: "quiet" }, note)];
const paragraph = (text) => (text ? h("p", null, text) : null);
const quiet = (text) => (text ? h("p", { class: "quiet" }, text) : null);
const notes = (all) =>
  all.length
    ? h(
        "ul",
        { class: "notes" },
        all.slice(0, 200).map((one) => h("li", null, one)),
      )
    : null;
const SIGNS = { good: "✓", bad: "✗", warn: "!", neutral: "" };
const badge = (kind, text) =>
  h("span", { class: "badge " + kind }, SIGNS[kind] && h("span", { "aria-hidden": "true" }, SIGNS[kind] + " "), text);

// Content that is made when the reader opens it.
function details(title, make, isOpen) {
  const made = h("details", { open: isOpen }, h("summary", null, title));
  let isMade = false;
  const show = () => {
    if (isMade) return;
    isMade = true;
    made.append(...[make()].flat(4).filter((one) => one instanceof Node));
  };
  if (isOpen) show();
  made.addEventListener("toggle", () => made.open && show());
  made.addEventListener("show", show);
  return made;
}

function copyButton(text) {
  const button = h("button", { type: "button", class: "small" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const selection = getSelection();
      selection.selectAllChildren(button.parentElement.querySelector("code"));
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  return button;
}

const command = (line, why) =>
  line
    ? h(
        "div",
        { class: "command" },
        why && h("p", null, why),
        h(
          "div",
          { class: "prompt" },
          h("pre", { tabindex: "0", role: "group", "aria-label": "command" }, whole("code", null, line)),
          copyButton(line),
        ),
      )
    : null;

// Saves a file without a request: the link points to data of this page.
function save(name, type, content) {
  const link = h("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name.replace(/[^\w.-]+/g, "_").slice(0, 80);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// --- Tables

const FIRST_ROWS = 40,
  FEW_ROWS = 12;
const cellValue = (column, entry) => {
  const value = column.value ? column.value(entry) : null;
  return value === undefined ? null : value;
};
const cellText = (column, entry) =>
  String(
    column.text
      ? column.text(entry)
      : either(
          cellValue(column, entry),
          column.format ?? ((value) => (typeof value === "number" ? digits(value) : value)),
        ),
  );

const compareCells = (a, b) => {
  if (a === null || a === "") return b === null || b === "" ? 0 : 1;
  if (b === null || b === "") return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
};

const csvField = (text) => {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[-+]?[\d.]/.test(text) ? "'" + text : text;
  return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
};

// A table that can be sorted, searched, filtered and saved as CSV. A column has a title and `value` (a number or text, which
// sorts and is saved), and optionally `format` (of the value), `text` (to show) or `node` (to show).
//   table("Layers", list(result, "layers"), [{ title: "layer", value: (one) => str(one, "name") }, …])
function table(caption, entries, columns, options = {}) {
  if (entries.length === 0) return null;
  const shown = columns.filter(
    (column) =>
      !column.optional || entries.some((entry) => cellValue(column, entry) !== null && cellValue(column, entry) !== ""),
  );
  const isNumber = (column) => column.number ?? entries.some((entry) => typeof cellValue(column, entry) === "number");
  const areNumbers = shown.map(isNumber);
  const state = { column: -1, isDown: false, words: "", filter: false, isWhole: false };
  const body = h("tbody");
  const status = h("p", { class: "quiet", role: "status" });
  const searchable = entries.map((entry) =>
    shown
      .map((column) => cellText(column, entry))
      .join(" ")
      .toLowerCase(),
  );
  const row = (entry) =>
    h(
      "tr",
      { class: options.rowClass ? options.rowClass(entry) : null },
      shown.map((column, i) => {
        const content = column.node
          ? column.node(entry)
          : i === 0
            ? breakable(cellText(column, entry))
            : cellText(column, entry);
        return h(
          i === 0 ? "th" : "td",
          { scope: i === 0 ? "row" : null, class: areNumbers[i] ? "number" : (column.class ?? null) },
          content,
        );
      }),
    );
  const more = h("button", {
    type: "button",
    class: "small",
    onclick: () => {
      state.isWhole = true;
      render();
    },
  });
  function render() {
    let order = entries
      .map((_, i) => i)
      .filter((i) => searchable[i].includes(state.words) && (!state.filter || options.filter.test(entries[i])));
    if (state.column >= 0) {
      const column = shown[state.column];
      const keys = entries.map((entry) => (column.value ? cellValue(column, entry) : cellText(column, entry)));
      order.sort((a, b) => compareCells(keys[a], keys[b]));
      if (state.isDown) {
        const known = order.filter((i) => keys[i] !== null && keys[i] !== "");
        order = known.reverse().concat(order.filter((i) => keys[i] === null || keys[i] === ""));
      }
    }
    const visible =
      state.isWhole || order.length <= FIRST_ROWS * 1.5 ? order : order.slice(0, options.first ?? FIRST_ROWS);
    body.replaceChildren(...visible.map((i) => row(entries[i])));
    more.hidden = visible.length === order.length;
    more.textContent = `Show all ${order.length.toLocaleString("en")} rows`;
    const missing = (options.total ?? entries.length) - entries.length;
    status.textContent =
      (order.length < entries.length ? `${order.length} of ${entries.length} rows. ` : "") +
      (missing > 0 ? `${plural(missing, "more row")} in the JSON document.` : "");
    status.hidden = status.textContent === "";
  }
  const head = h(
    "tr",
    null,
    shown.map((column, i) =>
      h(
        "th",
        { scope: "col", class: areNumbers[i] ? "number" : null },
        entries.length < 2
          ? column.title
          : h(
              "button",
              {
                type: "button",
                title: "Sort",
                onclick: () => {
                  state.isDown = state.column === i ? !state.isDown : false;
                  state.column = i;
                  for (const [k, cell] of [...head.cells].entries()) {
                    if (k === i) cell.setAttribute("aria-sort", state.isDown ? "descending" : "ascending");
                    else cell.removeAttribute("aria-sort");
                  }
                  render();
                },
              },
              column.title,
            ),
      ),
    ),
  );
  const tools = h("div", { class: "tools" });
  if (entries.length > FEW_ROWS) {
    tools.append(
      h(
        "label",
        { class: "search" },
        h("span", null, "Search"),
        h("input", {
          type: "search",
          autocomplete: "off",
          oninput: (event) => {
            state.words = event.target.value.toLowerCase();
            render();
          },
        }),
      ),
    );
  }
  if (options.filter && entries.some(options.filter.test) && !entries.every(options.filter.test)) {
    tools.append(
      h(
        "label",
        { class: "check" },
        h("input", {
          type: "checkbox",
          onchange: (event) => {
            state.filter = event.target.checked;
            render();
          },
        }),
        options.filter.name,
      ),
    );
  }
  if (entries.length > 1) {
    tools.append(
      h(
        "button",
        {
          type: "button",
          class: "small",
          onclick: () => {
            const lines = [shown.map((column) => csvField(column.title))];
            for (const entry of entries)
              lines.push(
                shown.map((column) =>
                  csvField(String(column.value ? (cellValue(column, entry) ?? "") : cellText(column, entry))),
                ),
              );
            save(caption + ".csv", "text/csv", lines.map((line) => line.join(",")).join("\r\n") + "\r\n");
          },
        },
        "CSV",
      ),
    );
  }
  render();
  const made = h(
    "div",
    { class: "table" },
    tools.children.length ? tools : null,
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
      h("table", null, h("caption", null, caption), h("thead", null, head), body),
    ),
    more,
    status,
  );
  made.addEventListener("show", () => {
    state.isWhole = true;
    render();
  });
  return made;
}

// Common columns.
const textColumn = (title, key, more) => ({ title, value: (entry) => str(entry, key), ...more });
const nameColumn = (title) => ({ title, value: fullName });
const figureColumn = (title, key, format = digits, more = {}) => ({
  title,
  value: (entry) => num(entry, key),
  format,
  number: true,
  ...more,
});
const sqnrColumn = (title, key = "sqnr_db", more = {}) => ({
  title,
  value: (entry) => (isTrue(entry, "exact") && num(entry, key) === null ? "exact" : num(entry, key)),
  format: (value) => (value === "exact" ? value : decibels(value)),
  number: true,
  ...more,
});
const barNode = (share, kind = "") => {
  const fillOfBar = h("span", { class: "fill " + kind });
  fillOfBar.style.width = `${100 * Math.max(0, Math.min(1, share || 0))}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, fillOfBar);
};
