// All loops of this machine.

import { follow } from "./api.js";
import { h, replace, redraw, worded } from "./dom.js";
import { ago, money, number, place } from "./format.js";

export function badge(status, isRun) {
  const word = status === "running" && !isRun ? "left running" : status;
  return h("span", { class: `badge ${status}${isRun ? " live" : ""}` }, word);
}

export function bar(done, all, label) {
  const part = all ? Math.round((100 * done) / all) : 0;
  const inner = h("span", { class: "bar-inner" });
  inner.style.width = `${part}%`;
  return h("span", { class: "bar", role: "progressbar", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": all || 1, "aria-valuenow": done }, inner);
}

const KINDS = {
  "": ["all", () => true],
  run: ["are at work", (row) => row.is_run],
  need: ["need a person", (row) => row.need],
  open: ["are not complete", (row) => row.status !== "completed"],
  completed: ["are complete", (row) => row.status === "completed"],
};

// What a person is needed for comes first, then what is at work, then the rest; in each the last driven one first.
const urgency = (row) => (row.need || row.problem ? 0 : row.is_run ? 1 : 2);

export function showList(main) {
  document.title = "Loops · aotloop";
  const search = h("input", { type: "search", "aria-label": "Search", placeholder: "Search", oninput: draw });
  const only = h("select", { "aria-label": "Only loops that", onchange: draw }, Object.entries(KINDS).map(([name, [words]]) => h("option", { value: name }, words)));
  const rows = h("ul", { class: "rows" });
  const needs = h("p", { class: "soft", id: "needs" });
  replace(main, h("div", { class: "line" }, h("h1", {}, "Loops on this machine"), only, search), needs, rows);
  let known = null;
  follow("/api/stream", { loops: (value) => { known = value; draw(); } });
  setInterval(draw, 30000);

  function draw() {
    if (known === null) return;
    const wanted = search.value.toLowerCase();
    const shown = known.filter((row) => KINDS[only.value][1](row) && `${row.goal} ${row.folder} ${row.status}`.toLowerCase().includes(wanted)).sort((one, other) => urgency(one) - urgency(other));
    const waiting = known.filter((row) => row.need).length;
    needs.textContent = known.length === 0 ? ""
      : waiting ? `${waiting} of ${known.length} ${waiting === 1 ? "needs" : "need"} a person.` : `${known.length} in all; none needs a person now.`;
    search.hidden = only.hidden = known.length === 0;
    if (known.length === 0) replace(rows, h("li", { class: "empty" }, h("strong", {}, "No loop has run here yet"), h("span", { class: "soft" }, "Agree on one with ", h("code", {}, "aot align"), ", then start it with ", h("code", {}, "aot run"), ". It appears here by itself.")));
    else if (!shown.length) replace(rows, h("li", { class: "empty" }, h("strong", {}, "None fits")));
    else redraw(rows, shown.map((row) => h("li", {}, line(row))));
  }
}

function line(row) {
  const kind = row.kind === "feature" ? "phases" : "required atoms";
  return h("a", { class: `row${row.need ? " needs" : ""}`, href: `/${row.kind}/${row.key}` },
    h("span", { class: "row-head" }, badge(row.status || "unreadable", row.is_run), h("strong", {}, row.goal || (row.problem ? place(row.folder) : "(no goal)"))),
    h("span", { class: "row-progress" }, row.all ? [bar(row.done, row.all, `${kind} done`), h("span", { class: "soft" }, `${number(row.done)} of ${number(row.all)} ${kind}`)] : h("span", { class: "soft" }, row.problem ? "" : `no ${kind} yet`)),
    h("span", { class: "row-facts soft" }, [ago(row.last_at), row.cost_usd ? money(row.cost_usd) : "", place(row.folder)].filter(Boolean).join(" · ")),
    row.problem ? h("span", { class: "row-problem problem" }, row.problem) : null,
    row.last_text ? h("span", { class: "row-last soft" }, row.last_text) : null,
    row.need ? h("span", { class: "need" }, worded(`Needs you: ${row.need}`)) : null);
}
