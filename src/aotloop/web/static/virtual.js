// A list of any length: only the rows in sight are elements.

import { h, replace } from "./dom.js";

export class VirtualList {
  constructor(label, rowHeight, row) {
    this.rows = [];
    this.rowHeight = rowHeight;
    this.row = row;
    this.inner = h("div", { class: "virtual-inner", role: "list" });
    this.element = h("div", { class: "virtual", tabindex: "0", role: "region", "aria-label": label, onscroll: () => this.draw() }, this.inner);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(rows, { atEnd = false } = {}) {
    const element = this.element;
    const wasAtEnd = element.scrollTop + element.clientHeight >= this.rows.length * this.rowHeight - this.rowHeight;
    this.rows = rows;
    this.inner.style.height = `${rows.length * this.rowHeight}px`;
    if (atEnd && wasAtEnd) element.scrollTop = rows.length * this.rowHeight;
    this.draw();
  }

  draw() {
    if (!this.rows.length) { replace(this.inner, h("p", { class: "soft nothing", role: "listitem" }, this.empty ?? "")); return; }
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(Math.floor(scrollTop / this.rowHeight) - 4, 0);
    const last = Math.min(first + Math.ceil(clientHeight / this.rowHeight) + 8, this.rows.length);
    replace(this.inner, this.rows.slice(first, last).map((value, offset) => {
      const element = h("div", { role: "listitem" }, this.row(value));
      element.style.top = `${(first + offset) * this.rowHeight}px`;
      element.style.height = `${this.rowHeight}px`;
      return element;
    }));
  }
}
