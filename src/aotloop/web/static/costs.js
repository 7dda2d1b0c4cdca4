// Cost over time, by agent and by role.

import { get, fail } from "./api.js";
import { h, s, replace } from "./dom.js";
import { clock, count, lasting, money, tokens } from "./format.js";

const WIDEST = 900, HEIGHT = 220, SIDE = 60;

export class CostView {
  constructor(model, key) {
    this.model = model;
    this.key = key;
    this.by = h("select", { "aria-label": "Lines for", onchange: () => this.chart() }, h("option", { value: "agent" }, "agents"), h("option", { value: "role" }, "roles"));
    this.picture = h("div", { class: "chart" });
    this.tables = h("div", { class: "tables" });
    this.element = h("div", { class: "stack scrolled" }, h("div", { class: "line" }, h("h2", {}, "Cost over time by"), this.by), this.picture, this.tables);
  }

  draw() {
    this.chart();
    if (this.isAsking) return;
    this.isAsking = true;
    get(`/api/loops/${this.key}/costs`).then((costs) => replace(this.tables,
      this.table("Agents", costs.by_agent), this.table("Roles", costs.by_role), this.table("Atoms", costs.by_atom, 20),
      costs.unknown_usd ? h("p", { class: "soft" }, `${money(costs.unknown_usd)} more are in the state file; the journal does not say for what.`) : null), fail)
      .finally(() => setTimeout(() => { this.isAsking = false; }, 1500));
  }

  table(title, costs, most = 50) {
    return h("table", {}, h("caption", {}, title), h("thead", {}, h("tr", {}, ["", "attempts", "cost", "time", "tokens"].map((name) => h("th", { scope: "col" }, name || "name")))),
      h("tbody", {}, Object.entries(costs).slice(0, most).map(([name, cost]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, String(cost.attempts)), h("td", {}, cost.usd === null ? "unknown" : money(cost.usd)), h("td", {}, lasting(cost.seconds)), h("td", {}, tokens(cost.used.input + cost.used.output + cost.used.cache_read + cost.used.cache_write))))));
  }

  chart() {
    const ended = [...this.model.attempts.values()].filter((one) => one.end && one.cost).sort((one, other) => Date.parse(one.end) - Date.parse(other.end));
    if (!ended.length) { replace(this.picture, h("p", { class: "soft" }, "No attempt has told its cost yet.")); return; }
    const names = [...new Set(ended.map((one) => one[this.by.value]))];
    const from = Math.min(...ended.map((one) => Date.parse(one.at))), to = Math.max(...ended.map((one) => Date.parse(one.end)), from + 1000);
    const width = Math.min(this.picture.clientWidth || WIDEST, WIDEST);  // drawn as wide as it is shown, so that its words can be read
    const total = ended.reduce((sum, one) => sum + one.cost, 0);
    const most = Math.max(...names.map((name) => ended.reduce((sum, one) => sum + (one[this.by.value] === name ? one.cost : 0), 0)));
    const x = (at) => SIDE + ((at - from) / (to - from)) * (width - SIDE - 20), y = (usd) => HEIGHT - 24 - (usd / most) * (HEIGHT - 44);
    const lines = names.map((name, number) => {
      let sum = 0;
      const points = [[x(from), y(0)]];
      for (const one of ended.filter((each) => each[this.by.value] === name)) { const at = x(Date.parse(one.end)); points.push([at, y(sum)]); sum += one.cost; points.push([at, y(sum)]); }
      points.push([x(to), y(sum)]);
      return s("polyline", { class: `series series-${number % 6}`, points: points.map((point) => point.join(",")).join(" ") }, s("title", {}, `${name}: ${money(sum)}`));
    });
    replace(this.picture, s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `Cost over time: ${money(total)} by ${count(names.length, this.by.value)}` },
      [0, 0.5, 1].map((part) => s("g", {}, s("line", { class: "grid", x1: SIDE, x2: width - 20, y1: y(most * part), y2: y(most * part) }), s("text", { class: "axis", x: 4, y: y(most * part) + 4 }, money(most * part)))),
      s("text", { class: "axis", x: SIDE, y: HEIGHT - 6 }, clock(new Date(from).toISOString())), s("text", { class: "axis", x: width - 20, y: HEIGHT - 6, "text-anchor": "end" }, clock(new Date(to).toISOString())), lines),
    h("ul", { class: "legend", "aria-label": "Lines" }, names.map((name, number) => h("li", { class: `series-${number % 6}` }, h("span", { class: "dot", "aria-hidden": "true" }), name))));
  }
}
