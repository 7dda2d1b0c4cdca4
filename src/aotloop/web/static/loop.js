// One loop, live: its head, and one tab for each question a person has.

import { h, replace, redraw, atNextFrame, worded } from "./dom.js";
import { count, lasting, money, number, place, tokens } from "./format.js";
import { badge, bar } from "./list.js";
import { LoopModel } from "./model.js";
import { GraphView } from "./graph.js";
import { TimelineView } from "./timeline.js";
import { BaseCaseView } from "./base_case.js";
import { LogView } from "./log.js";
import { CostView } from "./costs.js";
import { AtomsView } from "./atoms.js";
import { steering } from "./steer.js";

const TABS = [["graph", "Graph", GraphView], ["atoms", "Atoms", AtomsView], ["timeline", "Timeline", TimelineView],
  ["base-case", "Base case", BaseCaseView], ["log", "Log", LogView], ["cost", "Cost", CostView]];

export function showLoop(main, key, may) {
  const head = h("section", { class: "head", "aria-label": "The loop" });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
  const panel = h("section", { class: "panel tall", role: "tabpanel", id: "panel", tabindex: "-1" });
  replace(main, head, tabs, panel);
  const model = new LoopModel(key, changed);
  const views = new Map();
  let shown = "";

  const drawHead = atNextFrame(() => redraw(head, headOf(model, key, may)));
  const drawView = atNextFrame(() => { if (model.head) views.get(shown)?.draw(); });

  function changed() {
    tabs.hidden = panel.hidden = !model.head && model.problem !== "";
    if (tabs.hidden) replace(head, h("h1", { class: "goal" }, "This loop cannot be shown now"), h("p", { class: "problem pre", role: "alert" }, model.problem), h("p", { class: "soft" }, "The page shows it as soon as its file can be read."));
    if (model.head) {
      document.title = `${model.head.resolved}/${model.head.required} ${model.head.goal}`;
      replace(document.getElementById("crumbs"), h("span", { class: "crumb" }, place(model.head.folder)));
      drawHead();
    }
    drawView();
  }

  function open(name) {
    shown = name;
    for (const tab of tabs.children) {
      const isShown = tab.dataset.name === name;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (isShown) panel.setAttribute("aria-labelledby", tab.id);
    }
    history.replaceState(null, "", `#${name}`);
    if (!views.has(name)) views.set(name, new (TABS.find(([id]) => id === name)[2])(model, key, may));
    replace(panel, views.get(name).element);
    panel.classList.toggle("grows", name === "graph");
    if (model.head) views.get(name).draw();
  }

  for (const [name, label] of TABS) {
    tabs.append(h("button", { role: "tab", type: "button", id: `tab-${name}`, "data-name": name, "aria-controls": "panel", onclick: () => open(name), onkeydown: move }, label));
  }
  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs.children[([...tabs.children].indexOf(event.target) + step + TABS.length) % TABS.length];
    open(next.dataset.name);
    next.focus();
  }
  setInterval(() => { if (model.head?.is_run) replace(head.querySelector(".ran"), lasting(ranSeconds(model))); }, 1000);
  const wanted = location.hash.slice(1);
  open(TABS.some(([name]) => name === wanted) ? wanted : "graph");
}

// The state tells the time at the last change; what runs goes on.
function ranSeconds(model) {
  const since = (Date.now() - model.ranAt) / 1000;
  return model.head.ran_seconds + (model.head.is_run && since > 0 ? since : 0);
}

function headOf(model, key, may) {
  const head = model.head;
  const fact = (label, value, note = "") => h("div", { class: "fact" }, h("dt", {}, label), h("dd", {}, value, note ? h("span", { class: "soft" }, ` ${note}`) : null));
  return [
    h("div", { class: "line first" }, h("h1", { class: "goal" }, head.goal || "(no goal yet)"), badge(head.status, head.is_run), may.steer ? steering(model, key) : null),
    model.problem ? h("p", { class: "need", role: "alert" }, `This is the last known state. ${model.problem}`) : null,
    head.need ? h("p", { class: "need" }, worded(`Needs you: ${head.need}`)) : null,
    head.stop_reason && head.status !== "running" && !head.need?.startsWith("it stopped") ? h("p", { class: "soft" }, `Stopped: ${head.stop_reason}`) : null,
    head.required === 0 ? h("p", { class: "soft" }, "It has no atoms yet.") : h("div", { class: "progress" }, bar(head.resolved, head.required, "Required atoms resolved"), h("span", {}, `${number(head.resolved)} of ${count(head.required, "required atom")} resolved`)),
    h("dl", { class: "facts" },
      fact("Iteration", String(head.iteration), `of ${head.max_iterations}`),
      fact("Stalls", String(head.stall_count), `of ${head.max_stall_count}`),
      fact("Attempts", number(head.tried), head.status === "completed" ? "" : `at most ${number(head.attempts_left)} more`),
      fact("Cost", money(head.cost_usd), head.max_cost_usd ? `of ${money(head.max_cost_usd)}` : ""),
      fact("Tokens", tokens(head.tokens)),
      fact("Time", h("span", { class: "ran" }, lasting(ranSeconds(model))), head.max_seconds ? `of ${lasting(head.max_seconds)}` : "")),
    h("details", { class: "objective" }, h("summary", {}, "Objective"),
      h("dl", {}, h("dt", {}, "Why"), h("dd", {}, head.background_intent), h("dt", {}, "Deliverables"), h("dd", {}, head.deliverables),
        h("dt", {}, "Done when"), h("dd", {}, head.definition_of_done), h("dt", {}, "Protected"), h("dd", {}, head.protect.join(", ") || "nothing"),
        h("dt", {}, "Driven by"), h("dd", {}, head.runner ?? "no process"), h("dt", {}, "File"), h("dd", {}, h("code", {}, place(head.state_file))))),
    may.steer ? null : h("p", { class: "soft" }, "This page only shows; nothing can be changed here."),
  ];
}
