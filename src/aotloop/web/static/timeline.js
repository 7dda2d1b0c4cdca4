// The timeline: one lane for each slot, one bar for each attempt, marks for what happened to the whole loop.

import { h, s, replace } from "./dom.js";
import { clock, count, lasting, number } from "./format.js";
import { atomLink } from "./model.js";

const LANE = 26, TOP = 34, SIDE = 56, MOST = 2000, PAUSE = 14, NARROW = 7, APART = 20;
const FATES = ["running", "finished", "merged", "failed", "not merged", "taken back", "split", "probed", "waited", "cut off"];
const MARKS = { generation: "generation ended", merged: "moment of a merge", taken_back: "work taken back", run_ended: "run ended", backtracked: "another choice", correction: "a person's correction" };

export class TimelineView {
  constructor(model, key) {
    this.model = model;
    this.key = key;
    this.scale = 1;
    this.said = h("span", { class: "soft", role: "status" });
    this.box = h("div", { class: "timeline", tabindex: "0", role: "region", "aria-label": "Timeline" });
    this.element = h("div", { class: "stack" },
      h("div", { class: "line" }, h("button", { type: "button", "aria-label": "Zoom in", onclick: () => this.zoom(1.6) }, "+"), h("button", { type: "button", "aria-label": "Zoom out", onclick: () => this.zoom(0.625) }, "−"), h("button", { type: "button", onclick: () => { this.scale = 1; this.draw(true); } }, "Fit"), this.said),
      this.box, this.legend = h("ul", { class: "legend", "aria-label": "Colours and marks" }));
    setInterval(() => { if (this.box.isConnected && model.head?.is_run) this.draw(true); }, 1000);
  }

  zoom(factor) { this.scale = Math.min(Math.max(this.scale * factor, 1), 200); this.draw(true); }

  draw(isForced = false) {
    if (!isForced && this.version === this.model.version) return;
    this.version = this.model.version;
    const all = [...this.model.attempts.values()], attempts = all.slice(-MOST);
    const begin = all.length > MOST ? Math.min(...attempts.map((attempt) => Date.parse(attempt.at))) : -Infinity;
    const events = this.model.events.filter((event) => Date.parse(event.at) >= begin), times = events.map((event) => Date.parse(event.at));
    if (!times.length) { replace(this.box, h("p", { class: "soft" }, "No run has begun yet.")); return; }
    const now = this.model.head?.is_run ? Math.max(Date.now(), times.at(-1)) : times.at(-1);
    const axis = this.axis(events, now);
    const lanes = [];
    const bars = attempts.map((attempt) => {
      const from = Date.parse(attempt.at), to = attempt.end ? Math.max(from + (attempt.seconds ?? 0) * 1000, from) : now;
      for (let lane = lanes.length; lane <= attempt.lane; lane += 1) lanes[lane] = 0;
      const left = Math.max(axis.x(from), lanes[attempt.lane] + 2), right = Math.max(axis.x(to), left + 4);
      lanes[attempt.lane] = right;
      return this.bar(attempt, attempt.lane, left, right, attempt.end ? attempt.seconds ?? 0 : (to - from) / 1000);
    });
    const height = TOP + Math.max(lanes.length, 1) * LANE + 18;
    const fates = new Set(attempts.map((one) => one.fate)), kinds = new Set(events.map((event) => event.kind));
    replace(this.legend, FATES.filter((fate) => fates.has(fate)).map((fate) => h("li", { class: `fate-${fate.replace(" ", "-")}` }, h("span", { class: "dot", "aria-hidden": "true" }), fate)),
      Object.entries(MARKS).filter(([kind]) => kinds.has(kind)).map(([kind, words]) => h("li", { class: `mark-${kind}` }, h("span", { class: "tick", "aria-hidden": "true" }), words)));
    this.said.textContent = `${all.length > MOST ? `the last ${number(MOST)} of ` : ""}${count(all.length, "attempt")} in ${count(lanes.length, "lane")}`;
    const isAtEnd = this.box.scrollLeft + this.box.clientWidth >= this.box.scrollWidth - 4;
    replace(this.box, s("svg", { class: "time", width: axis.width, height, role: "group", "aria-label": "Attempts over time" },
      axis.ticks.map(([x, label]) => s("g", {}, s("line", { class: "grid", x1: x, x2: x, y1: TOP - 8, y2: height - 14 }), s("text", { class: "axis", x: x + 3, y: height - 3 }, label))),
      lanes.map((_, lane) => s("text", { class: "axis", x: 6, y: TOP + lane * LANE + 16 }, `slot ${lane + 1}`)),
      this.marks(events, axis, height), bars));
    if (isAtEnd) this.box.scrollLeft = this.box.scrollWidth;
  }

  bar(attempt, lane, from, to, seconds) {
    const text = `${attempt.name}: ${attempt.fate}, ${attempt.agent}, ${lasting(seconds)}`;
    const width = to - from;
    return s("a", { class: `fate${width < NARROW ? " narrow-bar" : ""} fate-${attempt.fate.replace(" ", "-")}`, href: atomLink(this.key, attempt.atom, attempt.name), "aria-label": text },
      s("title", {}, text), s("rect", { x: from, y: TOP + lane * LANE, width, height: LANE - 6, rx: Math.min(4, width / 4) }),
      width > 9 * attempt.name.length ? s("text", { class: "bar-text", x: from + 6, y: TOP + lane * LANE + 14 }, attempt.name) : null);
  }

  // Lines so close to each other that they would hide the bars are left out; their heads stay.
  marks(events, axis, height) {
    const marked = events.filter((event) => MARKS[event.kind]).slice(-MOST);
    const isDense = marked.filter((event) => event.kind !== "merged").length * APART > axis.width;
    return marked.map((event) => {
      const x = axis.x(Date.parse(event.at)), isLine = event.kind !== "merged" && !isDense;
      return s("g", { class: `mark-${event.kind}` }, s("title", {}, `${clock(event.at)} ${event.text}`),
        isLine ? s("line", { x1: x, x2: x, y1: 9, y2: height - 14 }) : null, s("circle", { cx: x, cy: event.kind === "merged" ? 20 : 9, r: event.kind === "merged" ? 3 : 4.5 }));
    });
  }

  // Time runs evenly inside of a run; between two runs there is only a small gap.
  axis(events, now) {
    const runs = [];
    let last = null;
    for (const event of events) {
      const at = Date.parse(event.at);
      if (!runs.length || ["run_began", "ship_began"].includes(event.kind) || at - last > 600000) runs.push({ from: at, to: at });
      runs.at(-1).to = Math.max(runs.at(-1).to, at);
      last = at;
    }
    if (this.model.head?.is_run && runs.length) runs.at(-1).to = Math.max(runs.at(-1).to, now);
    const total = Math.max(runs.reduce((sum, run) => sum + run.to - run.from, 0), 1000);
    const room = Math.max(this.box.clientWidth - SIDE - 44, 240) * this.scale - PAUSE * (runs.length - 1);
    const each = Math.max(room, 100) / total;
    let left = SIDE;
    for (const run of runs) { run.x = left; left += (run.to - run.from) * each + PAUSE; }
    const x = (at) => {
      const run = runs.findLast((one) => one.from <= at) ?? runs[0];
      return run.x + Math.min(Math.max(at - run.from, 0), run.to - run.from) * each;
    };
    const ticks = [];
    for (const run of runs) if (!ticks.length || run.x - ticks.at(-1)[0] > 70) ticks.push([run.x, clock(new Date(run.from).toISOString())]);
    const step = 110 / each;
    const longest = runs.at(-1);
    for (let at = longest.from + step; at < longest.to - step / 3 && ticks.length < 400; at += step) ticks.push([x(at), clock(new Date(at).toISOString())]);
    for (let number = ticks.length - 1; number > 0; number -= 1) if (ticks[number][1] === ticks[number - 1][1]) ticks[number][1] = "";
    return { x, ticks, width: left + 20 };
  }
}
