// Adds search, sorting and a theme switch. The page is complete without this script.
"use strict";
(() => {
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  const theme = make("button", { className: "theme", type: "button", textContent: "Light/dark" });
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.querySelector("header").append(theme);

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return "";
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b, "en", { numeric: true });
  };

  for (const table of document.querySelectorAll("main table.data")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) continue;
    for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
      if (head.textContent.trim() === "") continue;
      const button = make("button", { type: "button", textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sorted = [...rows].sort((a, b) => compare(valueOf(a, column), valueOf(b, column)));
        body.append(...(down ? sorted.reverse() : sorted));
      });
    }
    if (rows.length < 10) continue;
    const label = make("label", { className: "search", textContent: "Search " + rows.length + " rows" });
    const field = make("input", { type: "search" });
    label.append(field);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
    table.closest(".scroll").before(label);
  }

  // Unfold everything for printing.
  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });
})();
