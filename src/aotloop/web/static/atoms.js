// All atoms, in the order of the file. The list is virtual: thousands of atoms are as quick as ten.

import { h } from "./dom.js";
import { LOOKS, number } from "./format.js";
import { atomLink } from "./model.js";
import { VirtualList } from "./virtual.js";

export class AtomsView {
  constructor(model, key) {
    this.model = model;
    this.search = h("input", { type: "search", placeholder: "Search id or description", "aria-label": "Search atoms", oninput: () => this.draw() });
    this.look = h("select", { "aria-label": "Only atoms that are", onchange: () => this.draw() }, h("option", { value: "" }, "all"), Object.entries(LOOKS).map(([look, words]) => h("option", { value: look }, words)));
    this.counted = h("span", { class: "soft", role: "status" });
    const isNarrow = matchMedia("(max-width: 640px)").matches;
    this.list = new VirtualList("Atoms", isNarrow ? 62 : 44, (atom) => h("a", { class: `atom-row look-${atom.look}`, href: atomLink(key, atom.id) },
      h("span", { class: "dot", "aria-hidden": "true" }), h("strong", { class: "cut" }, atom.id), h("span", { class: "description cut" }, atom.description),
      h("span", { class: "soft cut" }, [atom.failures && atom.look === "failed" ? "" : LOOKS[atom.look], atom.failures ? `failed ${atom.failures}×` : "", atom.group ? `${atom.group}${atom.is_selected ? " (selected)" : ""}` : ""].filter(Boolean).join(" · "))));
    this.element = h("div", { class: "stack" }, h("div", { class: "line" }, this.search, this.look, this.counted), this.list.element);
  }

  draw() {
    const wanted = this.search.value.toLowerCase(), look = this.look.value;
    const found = this.model.order.map((id) => this.model.atoms.get(id)).filter((atom) => atom && (!look || atom.look === look)
      && (!wanted || atom.id.toLowerCase().includes(wanted) || atom.description.toLowerCase().includes(wanted)));
    this.counted.textContent = `${number(found.length)} of ${number(this.model.order.length)}`;
    this.list.empty = this.model.order.length ? "No atom fits." : "There is no work yet.";
    this.list.show(found);
  }
}
