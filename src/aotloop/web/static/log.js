// What happened, line by line, with filters.

import { h } from "./dom.js";
import { clock, number } from "./format.js";
import { atomLink } from "./model.js";
import { VirtualList } from "./virtual.js";

const KINDS = {
  "": ["everything", null],
  attempts: ["attempts", ["attempt_began", "attempt_ended", "retry"]],
  landed: ["merges and take-backs", ["merged", "not_merged", "taken_back", "resolved"]],
  search: ["the search", ["backtracked", "added", "withdrawn", "reopened", "exhausted", "generation", "half_spent"]],
  checks: ["checks", ["verifying", "verified", "receipt"]],
  person: ["people and warnings", ["correction", "warning", "run_began", "run_ended", "half_spent", "ship_began", "ship_ended", "phase_entered"]],
};

export class LogView {
  constructor(model, key) {
    this.model = model;
    this.key = key;
    this.kind = h("select", { "aria-label": "Show", onchange: () => this.draw() }, Object.entries(KINDS).map(([name, [words]]) => h("option", { value: name }, words)));
    this.search = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the log", oninput: () => this.draw() });
    this.counted = h("span", { class: "soft", role: "status" });
    const isNarrow = matchMedia("(max-width: 640px)").matches;
    this.list = new VirtualList("Log", isNarrow ? 50 : 30, (event) => this.row(event, isNarrow ? "two-lines" : "cut"));
    this.element = h("div", { class: "stack" }, h("div", { class: "line" }, this.kind, this.search, this.counted), this.list.element);
  }

  // What happened to an atom leads to its page, where nothing is shortened.
  row(event, look) {
    const parts = [h("time", { datetime: event.at }, clock(event.at)), h("span", { class: `${look} grow`, title: event.text }, event.text)];
    const isOfAtom = this.key && event.atom;
    return h(isOfAtom ? "a" : "div", { class: `log-row kind-${event.kind}`, href: isOfAtom ? atomLink(this.key, event.atom, event.name ?? "") : null }, parts);
  }

  draw() {
    const kinds = KINDS[this.kind.value][1], wanted = this.search.value.toLowerCase();
    const found = this.model.events.filter((event) => (!kinds || kinds.includes(event.kind)) && (!wanted || event.text.toLowerCase().includes(wanted)));
    this.counted.textContent = `${number(found.length)} of ${number(this.model.events.length)}${this.model.isCut ? ", earlier ones left out" : ""}`;
    this.list.empty = this.model.events.length ? "No entry fits." : "Nothing has happened yet.";
    this.list.show(found, { atEnd: true });
  }
}
