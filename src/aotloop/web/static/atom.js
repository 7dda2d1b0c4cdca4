// One atom and its attempts: prompt, transcript while it streams, diff, checks, cost, and what became of it.

import { get, follow, fail } from "./api.js";
import { h, replace, redraw, atNextFrame } from "./dom.js";
import { clock, fateWords, lasting, money, tokens, LOOKS } from "./format.js";
import { diffOf } from "./diff.js";
import { LoopModel, atomLink } from "./model.js";
import { propose } from "./steer.js";

export function showAtom(main, key, may) {
  const asked = new URLSearchParams(location.search);
  const id = asked.get("id") ?? "";
  document.title = `${id} · aotloop`;
  replace(document.getElementById("crumbs"), h("a", { href: `/loop/${key}` }, "The loop"), h("span", { class: "crumb" }, id));
  const head = h("section", { class: "head" });
  const attempts = h("section", { "aria-label": "Attempts" });
  replace(main, head, h("h2", {}, "Attempts"), attempts);
  const shown = new Map();
  let last = "", isAsking = false, isMore = false, seen = 0;
  const model = new LoopModel(key, atNextFrame(changed));

  function changed() {
    if (!model.head && model.problem) replace(head, h("h1", {}, id), h("p", { class: "problem pre", role: "alert" }, model.problem));
    const own = model.events.filter((event) => event.atom === id || event.atoms?.includes(id)).length;
    const row = JSON.stringify(model.atoms.get(id) ?? null) + own;
    if (!model.head || row === last) return;
    last = row;
    ask();
  }
  async function ask() {
    if (isAsking) { isMore = true; return; }
    isAsking = true;
    try { draw(await get(`/api/loops/${key}/atom?id=${encodeURIComponent(id)}`)); } catch (error) { if (!seen) replace(head, h("h1", {}, id), h("p", { class: "problem" }, error.message)); }
    seen += 1;
    isAsking = false;
    if (isMore) { isMore = false; ask(); }
  }

  function draw(facts) {
    const atom = facts.atom, look = model.atoms.get(id)?.look ?? "waiting";
    const links = (ids) => ids.map((one, number) => [number ? ", " : "", h("a", { href: atomLink(key, one) }, one)]);
    const fact = (label, value) => (value && value.length !== 0 ? [h("dt", {}, label), h("dd", {}, value)] : null);
    const group = atom.or_group ? model.head.groups[atom.or_group] : null;
    redraw(head,
      h("div", { class: "line" }, h("h1", {}, id), h("span", { class: `badge look-${look}` }, LOOKS[look])),
      h("p", { class: "description" }, atom.description),
      h("dl", { class: "plain-facts" },
        fact("Depends on", links(atom.depends_on)), fact("Needed by", links(facts.needed_by)), fact("Parts", links(facts.parts)),
        fact("Cannot start", facts.why_not_ready), fact("Command", atom.run ? h("code", {}, atom.run) : ""), fact("Covers", atom.covers.join(", ")), fact("Touches", atom.touches.join(", ")),
        fact("Result", facts.result ? h("span", { class: "pre" }, facts.result.summary) : ""),
        fact("Cost", `${money(facts.cost_usd)} · ${lasting(facts.seconds)}`)),
      group ? h("section", {}, h("h2", {}, `Alternatives of ${atom.or_group}`), h("ul", { class: "plain choices" }, group.choices.map((choice) => { const row = model.atoms.get(choice); return h("li", { class: `look-${row?.look ?? "waiting"}` }, h("span", { class: "dot", "aria-hidden": "true" }), h("div", {}, h("a", { href: atomLink(key, choice), "aria-current": choice === id ? "true" : null }, choice), h("span", { class: "soft" }, [choice === group.selected ? " selected" : group.failed.includes(choice) ? " had its turn" : " waits for its turn", row?.failures ? `failed ${row.failures}×` : ""].filter(Boolean).join(" · ")), h("div", { class: "two-lines" }, row?.description ?? "not an atom yet"))); }))) : null,
      facts.failures.length ? h("details", { open: facts.failures.length < 4 }, h("summary", {}, `What failed, and why (${facts.failures.length})`), h("ul", { class: "plain" }, facts.failures.map((one) => h("li", {}, h("time", { class: "soft", datetime: one.timestamp }, clock(one.timestamp)), " ", h("span", { class: "pre" }, one.reason))))) : null,
      may.steer && ["running", "stopped"].includes(model.head.status) ? h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => propose(key, { retry: [id] }, `Let ${id} start again`) }, "Retry")) : null);
    if (!facts.attempts.length) { replace(attempts, h("p", { class: "soft" }, "There is no attempt yet.")); return; }
    const wanted = asked.get("attempt") ?? facts.attempts.at(-1).name;
    for (const attempt of facts.attempts) {
      if (!shown.has(attempt.name)) {
        const panel = new AttemptPanel(key, attempt.name);
        shown.set(attempt.name, panel);
        attempts.prepend(panel.element);
        if (attempt.name === wanted) panel.element.open = true;
      }
      shown.get(attempt.name).head(attempt);
    }
  }
}

class AttemptPanel {
  constructor(key, name) {
    this.key = key;
    this.name = name;
    this.summary = h("summary", {});
    this.body = h("div", { class: "stack" });
    this.element = h("details", { class: "attempt panel", ontoggle: () => { if (this.element.open) this.load(); else this.leave(); } }, this.summary, this.body);
  }

  head(attempt) {
    const isOther = this.fate !== attempt.fate;
    this.fate = attempt.fate;
    const used = attempt.used.input + attempt.used.output + attempt.used.cache_read + attempt.used.cache_write;
    replace(this.summary, h("strong", {}, attempt.name), " ", h("span", { class: `badge fate-${attempt.fate}` }, fateWords(attempt.fate)), " ",
      h("span", { class: "soft" }, [attempt.role === "probe" ? "probe" : "", attempt.agent, clock(attempt.began), attempt.ended ? lasting(attempt.seconds) : "", attempt.cost_usd === null ? "" : money(attempt.cost_usd), used ? `${tokens(used)} tokens` : "", attempt.commit ? attempt.commit.slice(0, 10) : ""].filter(Boolean).join(" · ")));
    if (isOther && this.element.open && this.isLoaded) this.load();
  }

  async load() {
    this.isLoaded = true;
    let facts;
    try { facts = await get(`/api/loops/${this.key}/attempt?name=${encodeURIComponent(this.name)}`); } catch (error) { fail(error); return; }
    const steps = h("div", { class: "transcript", tabindex: "0", role: "log", "aria-label": `Transcript of ${this.name}` });
    const start = h("p", { class: "soft", hidden: true }, "Only the end of a very long transcript is shown; ", h("code", {}, `aot show ${this.name}`), " has more.");
    const part = (title, content, isOpen) => h("details", { class: "part", open: isOpen }, h("summary", {}, title), content);
    const checks = facts.attempt.checks;
    replace(this.body,
      h("p", { class: "pre" }, facts.fate),
      facts.attempt.summary ? h("p", { class: "pre soft" }, facts.attempt.summary) : null,
      checks.length ? part(`Checks (${checks.length})`, h("ul", { class: "tree" }, checks.map((one) => h("li", { class: `item state-${one.passed ? "holds" : one.passed === null ? "waits" : "fails"}` }, h("div", { class: "item-line" }, h("span", { class: "state", "aria-hidden": "true" }, one.passed ? "✔" : one.passed === null ? "?" : "✘"), h("strong", {}, one.name), h("span", { class: "soft" }, one.passed ? "holds" : one.passed === null ? "undecided" : "fails")), one.evidence ? h("pre", { tabindex: "0" }, one.evidence) : null))), true) : null,
      part("Changes", diffOf(facts.diff, facts.no_diff), true),
      part("Transcript", [start, steps], true),
      facts.prompt ? part("Prompt", h("pre", { class: "long", tabindex: "0" }, facts.prompt), false) : null);
    this.leave();
    const rows = [];
    this.stop = follow(`/api/loops/${this.key}/transcript?name=${encodeURIComponent(this.name)}`, { steps: ({ from, steps: fresh, cut }) => {
      start.hidden = !cut;
      const isAtEnd = steps.scrollTop + steps.clientHeight >= steps.scrollHeight - 20;
      while (rows.length > from) rows.pop().remove();
      for (const step of fresh) { const row = h("div", { class: `step step-${step.kind}` }, h("span", { class: "step-kind" }, step.tool ? `${step.kind} ${step.tool}` : step.kind), h("span", { class: "pre" }, step.text)); rows.push(row); steps.append(row); }
      if (isAtEnd && this.fate === "running") steps.scrollTop = steps.scrollHeight;
    } });
    if (this.fate !== "running") setTimeout(() => this.leave(), 4000);
  }

  leave() { this.stop?.(); this.stop = null; }
}
