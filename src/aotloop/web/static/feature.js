// A feature on its way from idea to shipped: its phases, their receipts, and what was verified.

import { get, post, follow, fail } from "./api.js";
import { h, replace, redraw, tell, atNextFrame, worded } from "./dom.js";
import { clock, money, place } from "./format.js";
import { badge } from "./list.js";
import { LogView } from "./log.js";
import { commandsList, dialog } from "./steer.js";

const STATES = { done: ["✔", "done"], forced: ["!", "left by force"], now: ["▶", "now"], skipped: ["–", "skipped"], "": ["·", "to come"] };

export function showFeature(main, key, may) {
  const head = h("section", { class: "head" }), phases = h("ol", { class: "phases" }), log = { events: [], isCut: false };
  const view = new LogView(log);
  view.element.classList.add("fixed");
  replace(main, head, h("h2", {}, "Phases"), phases, h("h2", {}, "Log"), view.element);
  let feature = null, row = null;
  const draw = atNextFrame(() => { if (feature && row) paint(); view.draw(); });
  follow(`/api/features/${key}/stream`, {
    feature: (value) => { feature = value; draw(); },
    row: (value) => { row = value; draw(); },
    problem: (value) => { if (!feature) replace(head, h("h1", { class: "goal" }, "This feature cannot be shown"), h("p", { class: "problem pre" }, value.error)); else tell(value.error, true); },
    missing: ({ error }) => { if (!feature) replace(head, h("h1", { class: "goal" }, "This feature cannot be shown"), h("p", { class: "problem pre" }, error)); },
    events: ({ events, reset, cut }) => { if (reset) { log.events = []; log.isCut = cut; } log.events.push(...events); draw(); },
  });

  function paint() {
    document.title = `${feature.phase} · ${feature.feature}`;
    replace(document.getElementById("crumbs"), h("span", { class: "crumb" }, place(feature.folder)));
    redraw(head,
      h("div", { class: "line first" }, h("h1", { class: "goal" }, feature.feature), badge(feature.status, row.is_run), may.steer ? steer() : null),
      row.need ? h("p", { class: "need" }, worded(`Needs you: ${row.need}`)) : null,
      feature.stop_reason ? h("p", { class: "soft" }, feature.stop_reason) : null,
      h("dl", { class: "facts" }, fact("Turns", `${feature.global_iteration} of ${feature.max_iterations}`), fact("Rounds of fixing", `${feature.fix_review_cycles} of ${feature.max_fix_cycles}`),
        fact("Cost", `${money(feature.spent_usd)} of ${money(feature.budget_limit_usd)}`), fact("Branch", feature.artifacts.branch ?? "none"),
        fact("Acceptance tests", feature.tests_verdict ? `${feature.tests_verdict.passed ? "pass" : "fail"} at ${feature.tests_verdict.commit.slice(0, 10)}` : "not run yet", isEarly(feature) ? "as they must before the work" : "", "wide"),
        feature.findings ? fact("Findings", `${feature.findings.open.length} open, ${feature.findings.resolved.length} resolved`) : null)
    );
    replace(phases, feature.phases.map((phase) => {
      const [mark, words] = STATES[phase.state];
      const judged = log.events.filter((event) => event.kind === "receipt" && event.phase === phase.phase).slice(-3);
      return h("li", { class: `phase phase-${phase.state || "open"}`, "aria-current": phase.state === "now" ? "step" : null },
        h("span", { class: "state", "aria-hidden": "true" }, mark), h("strong", {}, phase.phase.replace("_", " ")), h("span", { class: "soft" }, words),
        phase.artifact ? h("div", { class: "receipt" }, h("code", {}, phase.artifact), h("span", { class: "soft" }, ` at ${phase.git_sha.slice(0, 10)}`)) : null,
        judged.map((event) => h("div", { class: event.accepted ? "receipt" : "receipt problem" }, h("time", { class: "soft", datetime: event.at }, clock(event.at)), ` ${event.accepted ? "verified" : "refused"}: `, event.accepted ? event.tests || "the receipt counts" : event.reasons.join("; "))));
    }));
  }

  const fact = (label, value, note = "", look = "") => h("div", { class: `fact ${look}` }, h("dt", {}, label), h("dd", {}, value, note ? h("span", { class: "soft" }, ` ${note}`) : null));
  const isEarly = ({ tests_verdict: verdict, phases: all }) => verdict && !verdict.passed && !all.find((one) => one.phase === "work").state;

  function steer() {
    return h("div", { class: "buttons steering", role: "group", "aria-label": "Steer" },
      feature.status === "waiting" ? h("button", { type: "button", class: "main", onclick: review }, "Read the acceptance tests") : null,
      ["running", "waiting"].includes(feature.status) ? h("button", { type: "button", class: "danger", onclick: stop }, "Stop") : null);
  }

  function stop() {
    const reason = h("input", { type: "text", "aria-label": "Why (optional)" });
    dialog("Stop the feature", [h("p", {}, "Accepted receipts stay, and ", h("code", {}, "aot ship"), " continues from there."), h("label", {}, "Why? (optional) ", reason)], { label: "Stop", isDanger: true, act: async () => { await post(`/api/features/${key}/stop`, { reason: reason.value }); tell("The feature is stopped."); } });
  }

  async function review() {
    const told = await get(`/api/features/${key}`).catch(fail);
    if (!told) return;
    const reason = h("textarea", { rows: 2, "aria-label": "What is wrong with them?" });
    const refuse = h("button", { type: "button", onclick: async () => {
      try { await post(`/api/features/${key}/refuse`, { reason: reason.value }); tell("Refused; an agent writes them again."); box.close(); } catch (error) { fail(error); }
    } }, "Refuse");
    const { box } = dialog("The acceptance tests", [
      h("p", {}, "They decide whether the feature works. After approval they must not be changed."),
      h("p", { class: "soft" }, told.artifacts.acceptance_tests_file, " · run by ", h("code", {}, told.tests.command)),
      h("pre", { class: "long", tabindex: "0" }, told.tests.text),
      told.tests.problem ? h("p", { class: "problem pre" }, told.tests.problem) : null,
      told.tests.accepted ? null : [h("p", {}, "With approval you also accept these commands, which run tests that an agent wrote:"), commandsList(told.tests.commands)],
      h("details", {}, h("summary", {}, "Refuse them"), h("label", {}, "What is wrong with them? ", reason), refuse)], {
      label: "Approve",
      act: async () => {
        if (!told.tests.accepted) await post(`/api/features/${key}/accept`, { digest: told.tests.digest });
        await post(`/api/features/${key}/approve`, {});
        tell("Approved; from now on they must not be changed.");
      },
    });
  }
}
