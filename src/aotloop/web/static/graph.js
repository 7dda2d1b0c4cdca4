// The work graph as `aot graph` draws it: the server decides the places, this page makes the elements.

import { get, fail } from "./api.js";
import { h, s, replace, worded } from "./dom.js";
import { LOOKS } from "./format.js";
import { atomLink } from "./model.js";

const NEAREST = 0.05, FARTHEST = 2.5, WAIT = 400;
const READABLE = 0.45, MOST_OF_THE_WINDOW = 0.7;
const FIRST = ["in_progress", "failed", "ready"];

export class GraphView {
  constructor(model, key) {
    this.model = model;
    this.key = key;
    this.opened = new Set();
    this.isFolded = false;
    this.drawn = null;
    this.view = null;
    this.search = h("input", { type: "search", placeholder: "Find an atom", "aria-label": "Find an atom", oninput: () => this.find() });
    this.folding = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.fold() }, "Fold groups");
    this.said = h("span", { class: "soft", role: "status" });
    this.open = h("span", { class: "folds" });
    this.content = s("g", {});
    this.legend = h("ul", { class: "legend", "aria-label": "Legend" });
    this.svg = s("svg", { class: "graph", role: "group", "aria-label": "Work graph", tabindex: "0" }, heads(), this.content);
    this.element = h("div", { class: "stack" },
      h("div", { class: "line" }, this.search, this.folding,
        h("button", { type: "button", "aria-label": "Zoom in", onclick: () => this.zoom(1.25) }, "+"), h("button", { type: "button", "aria-label": "Zoom out", onclick: () => this.zoom(0.8) }, "−"),
        h("button", { type: "button", onclick: () => this.fit() }, "Fit"), this.said, this.open),
      this.svg, this.legend);
    this.hands();
  }

  draw() {
    const sign = `${[...this.model.atoms.values()].map((atom) => `${atom.id}${atom.look}${atom.is_selected}`).join("|")}${[...this.opened]}${this.isFolded}`;
    if (sign === this.sign || this.isAsking) return;
    this.sign = sign;
    this.isAsking = true;
    const folds = [...this.opened].map((name) => `&open=${encodeURIComponent(name)}`).join("");
    get(`/api/loops/${this.key}/graph?fold=${this.isFolded ? 1 : 0}${folds}`).then((drawing) => this.paint(drawing), fail)
      .finally(() => setTimeout(() => { this.isAsking = false; this.draw(); }, WAIT));
  }

  paint(drawing) {
    const isNewShape = !this.drawn || this.drawn.width !== drawing.width || this.drawn.height !== drawing.height;
    const known = new Set(this.drawn?.cards.map((card) => card.id)), held = this.content.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    this.drawn = drawing;
    this.grow();
    replace(this.legend, legend(new Set(drawing.cards.map((card) => card.look))));
    replace(this.content,
      drawing.groups.map((group) => s("g", {}, s("rect", { class: "group", rx: 14, ...place(group.box) }), s("text", { class: "caption", x: group.box.x + 14, y: group.box.y + group.box.height - 10 }, group.caption))),
      drawing.edges.map((edge) => s("path", { class: `edge${edge.kind === "decomposed" ? " decomposed-edge" : ""}${edge.course === "down" ? "" : " cycle-edge"}`, d: edge.path, "marker-end": "url(#head)" })),
      drawing.cards.map((card) => this.card(card)));
    replace(this.said, worded(drawing.cards.length < drawing.atoms ? `${drawing.atoms.toLocaleString("en")} atoms in ${drawing.cards.length} cards; select a card to open it` : drawing.atoms ? `${drawing.atoms} atoms` : "There is no work yet: an agent or `aot atom add` adds atoms."));
    replace(this.open, drawing.opened.map((fold) => h("button", { class: "quiet", type: "button", onclick: () => { this.opened.delete(fold.name); this.draw(); } }, `Close ${fold.label}`)));
    const opened = this.isOpening ? drawing.cards.find((card) => !known.has(card.id)) : null;
    this.isOpening = false;
    if (opened) this.centre(opened.box);
    else if (isNewShape) this.begin();
    this.find();
    if (held !== null) this.cardOf(opened?.id ?? held)?.focus({ preventScroll: true });
  }

  // As high as it takes to be read, with room left in the window from which the page can be scrolled.
  grow() {
    const wide = Math.min((this.svg.clientWidth - 40) / this.drawn.width, 1);
    this.svg.style.minHeight = matchMedia("(max-width: 640px)").matches ? "" : `${Math.min(this.drawn.height * wide + 60, innerHeight * MOST_OF_THE_WINDOW)}px`;
  }

  card(card) {
    const { x, y, width } = card.box;
    const parts = [
      s("title", {}, `${card.label} (${card.words}) ${card.lines.join(" ")}${card.fold ? ", open it" : ""}`),
      card.fold ? s("rect", { class: "face under", rx: 9, ...place({ ...card.box, x: x + 4, y: y + 4 }) }) : null,
      s("rect", { class: "face", rx: 9, ...place(card.box) }),
      s("path", { class: "mark", transform: `translate(${x + 10} ${y + 9})`, d: card.mark }),
      s("text", { class: "label", x: x + 31, y: y + 21 }, card.label),
      card.is_selected ? s("text", { class: "selected-word", x: x + width - 11, y: y + 20, "text-anchor": "end" }, "selected") : null,
      card.lines.map((line, row) => s("text", { class: "text", x: x + 11, y: y + 40 + 15.5 * row }, line)),
    ];
    const names = `card look-${card.look}${card.is_ghost ? " ghost" : ""}${card.is_selected ? " selected" : ""}`;
    const element = card.fold
      ? s("g", { class: names, role: "button", tabindex: "0", onclick: () => this.unfold(card.fold), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.unfold(card.fold); } } }, parts)
      : s("a", { class: names, href: atomLink(this.key, card.id) }, parts);
    element.dataset.names = [card.id, ...card.members].join("\n").toLowerCase();
    element.dataset.words = `${card.label} ${card.lines.join(" ")}`.toLowerCase();
    element.dataset.id = card.id;
    return element;
  }

  cardOf(id) { return [...this.content.querySelectorAll(".card")].find((card) => card.dataset.id === id); }

  unfold(name) { this.isOpening = true; this.opened.add(name); this.draw(); }

  fold() {
    this.isFolded = !this.isFolded;
    this.opened.clear();
    this.folding.setAttribute("aria-pressed", String(this.isFolded));
    this.draw();
  }

  find() {
    const wanted = this.search.value.trim().toLowerCase();
    let first = null;
    for (const card of this.content.querySelectorAll(".card")) {
      const isFound = wanted !== "" && (card.dataset.names.includes(wanted) || card.dataset.words.includes(wanted));
      card.classList.toggle("found", isFound);
      card.classList.toggle("dim", wanted !== "" && !isFound);
      if (isFound && !first) first = card.dataset.id;
    }
    if (first && wanted !== this.sought) this.centre(this.drawn.cards.find((card) => card.id === first).box);
    this.sought = wanted;
  }

  // A graph too large to be read as a whole begins where something happens.
  begin() {
    const isFirst = this.view === null;
    if (!isFirst && this.view.scale >= READABLE && this.scaleOfAll() < READABLE) return;
    this.fit();
    if (!this.view || this.view.scale >= READABLE) return;
    const cards = this.drawn.cards;
    this.view.scale = Math.min((this.svg.clientWidth - 40) / this.drawn.width, 1);
    this.centre((FIRST.map((look) => cards.find((card) => card.look === look)).find(Boolean) ?? cards[0]).box);
    this.view.y = Math.min(this.view.y, 48);
    this.look();
  }

  scaleOfAll() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    return Math.min(Math.max(Math.min((width - 40) / this.drawn.width, (height - 40) / this.drawn.height), NEAREST), 1.1);
  }

  // The card that the keyboard reached comes into sight.
  reveal(id) {
    const box = this.drawn?.cards.find((card) => card.id === id)?.box;
    if (!box || !this.view) return;
    const { scale, x, y } = this.view;
    const left = box.x * scale + x, top = box.y * scale + y;
    if (left < 0 || top < 0 || left + box.width * scale > this.svg.clientWidth || top + box.height * scale > this.svg.clientHeight) this.centre(box);
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.svg;
    if (!this.drawn || !width) return;
    const scale = this.scaleOfAll();
    const above = Math.max((height - this.drawn.height * scale) / 2, 20);
    this.view = { scale, x: (width - this.drawn.width * scale) / 2, y: Math.min(above, 48) };
    this.look();
  }

  centre(box) {
    const { clientWidth: width, clientHeight: height } = this.svg;
    const scale = Math.max(this.view?.scale ?? 1, 0.7);
    this.view = { scale, x: width / 2 - (box.x + box.width / 2) * scale, y: height / 2 - (box.y + box.height / 2) * scale };
    this.look();
  }

  zoom(factor, at = null) {
    if (!this.view) return;
    const point = at ?? { x: this.svg.clientWidth / 2, y: this.svg.clientHeight / 2 };
    const scale = Math.min(Math.max(this.view.scale * factor, NEAREST), FARTHEST);
    const ratio = scale / this.view.scale;
    this.view = { scale, x: point.x - (point.x - this.view.x) * ratio, y: point.y - (point.y - this.view.y) * ratio };
    this.look();
  }

  look() { this.content.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${this.view.scale})`); }

  hands() {
    const touched = new Map();
    let moved = 0;
    const here = (event) => { const box = this.svg.getBoundingClientRect(); return { x: event.clientX - box.x, y: event.clientY - box.y }; };
    this.svg.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(event.deltaY < 0 ? 1.12 : 0.89, here(event)); }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => { touched.set(event.pointerId, here(event)); moved = 0; });
    addEventListener("pointerup", (event) => touched.delete(event.pointerId));
    addEventListener("pointercancel", (event) => touched.delete(event.pointerId));
    this.svg.addEventListener("pointermove", (event) => {
      const before = touched.get(event.pointerId);
      if (!before || !this.view) return;
      const now = here(event);
      if (touched.size === 2) {
        const other = [...touched].find(([id]) => id !== event.pointerId)[1];
        this.zoom(Math.hypot(now.x - other.x, now.y - other.y) / Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1), other);
      } else {
        this.view.x += now.x - before.x; this.view.y += now.y - before.y; this.look();
      }
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      touched.set(event.pointerId, now);
    });
    this.svg.addEventListener("click", (event) => { if (moved > 6) { event.preventDefault(); event.stopPropagation(); } }, true);
    this.svg.addEventListener("focusin", (event) => { if (event.target !== this.svg && event.target.matches(":focus-visible")) this.reveal(event.target.dataset.id); });
    this.svg.addEventListener("dragstart", (event) => event.preventDefault());
    this.svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (step && this.view) { this.view.x += step[0]; this.view.y += step[1]; this.look(); event.preventDefault(); }
      else if (event.key === "+") this.zoom(1.25);
      else if (event.key === "-") this.zoom(0.8);
      else if (event.key === "0") this.fit();
    });
  }
}

const place = ({ x, y, width, height }) => ({ x, y, width, height });

function heads() {
  return s("defs", {}, s("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { class: "arrow", d: "M0 .6 7.4 4 0 7.4Z" })));
}

// Only what there is to see.
function legend(shown) {
  return Object.entries(LOOKS).filter(([look]) => shown.has(look)).map(([look, words]) => h("li", { class: `look-${look}` }, h("span", { class: "dot", "aria-hidden": "true" }), words));
}
