// The base case as a tree: the last verdict about each item, its evidence, and a person's decision where one is needed.

import { get, fail } from "./api.js";
import { h, replace } from "./dom.js";
import { ago } from "./format.js";
import { decide } from "./steer.js";

const STATES = { holds: ["✔", "holds"], fails: ["✘", "fails"], waits: ["?", "waits for a person"], open: ["·", "not tried"] };
const KINDS = { all: "all of", any: "one of", not_command: "command that must fail", not_file: "file that must not exist" };

export class BaseCaseView {
  constructor(model, key, may) {
    this.model = model;
    this.key = key;
    this.may = may;
    this.verdict = h("p", { class: "verdict", role: "status" });
    this.tree = h("ul", { class: "tree" });
    this.element = h("div", { class: "stack scrolled" }, this.verdict, this.tree);
    this.opened = new Map();
  }

  draw() {
    if (this.isAsking) { this.isMore = true; return; }
    this.isAsking = true;
    get(`/api/loops/${this.key}/base-case`).then((told) => this.paint(told), fail).finally(() => setTimeout(() => {
      this.isAsking = false;
      if (this.isMore) { this.isMore = false; this.draw(); }
    }, 500));
  }

  paint({ view, subject }) {
    const sign = JSON.stringify([view, subject]);
    if (sign === this.sign) return;
    this.sign = sign;
    const when = view.at ? `, ${ago(view.at)}${view.commit ? ` at ${view.commit.slice(0, 10)}` : ""}${view.is_outdated ? "; work was done since then" : ""}` : "";
    this.verdict.textContent = !view.at ? "It was not tried yet. A run tries it first, and again whenever work is merged." : `${view.passed ? "It holds" : view.passed === null ? "A person has to judge" : "It does not hold yet"}${when}.`;
    replace(this.tree, view.items.map((item) => this.item(item, subject)));
  }

  item(item, subject) {
    const [mark, words] = STATES[item.state];
    const evidence = [item.value, item.evidence].filter(Boolean).join("\n\n");
    return h("li", { class: `item state-${item.state}` },
      h("div", { class: "item-line" }, h("span", { class: "state", "aria-hidden": "true" }, mark), h("strong", {}, item.name), h("span", { class: "soft" }, `${KINDS[item.kind] ?? item.kind} · ${words}`),
        item.is_judged && this.may.steer ? h("span", { class: "buttons" },
          h("button", { type: "button", onclick: () => decide(this.key, subject, item, true) }, "Confirm"),
          h("button", { type: "button", onclick: () => decide(this.key, subject, item, false) }, "Reject")) : null),
      evidence ? h("details", { open: this.opened.get(item.path) ?? item.state === "fails", ontoggle: (event) => this.opened.set(item.path, event.target.open) }, h("summary", {}, item.evidence ? "Evidence" : "What is checked"), h("pre", { tabindex: "0" }, evidence)) : null,
      item.children.length ? h("ul", { class: "tree" }, item.children.map((child) => this.item(child, subject))) : null);
  }
}
