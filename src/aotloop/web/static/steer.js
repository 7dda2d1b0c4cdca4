// A person steers: every action does what the command of the same name does.

import { get, post, fail } from "./api.js";
import { h, replace, tell, worded } from "./dom.js";

export function dialog(title, content, { act, label = "OK", isDanger = false } = {}) {
  const said = h("p", { class: "problem", role: "alert" });
  const submit = act ? h("button", { class: isDanger ? "danger" : "main", type: "submit" }, label) : null;
  const box = h("dialog", { "aria-labelledby": "dialog-title" }, h("form", { method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    submit.disabled = true;
    said.textContent = "";
    try { if ((await act()) !== false) box.close(); } catch (error) { fail(error); } finally { submit.disabled = false; }
  } }, h("h2", { id: "dialog-title" }, title), content, said, h("div", { class: "buttons end" }, h("button", { type: "button", onclick: () => box.close() }, "Cancel"), submit)));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return { box, submit, said };
}

export function steering(model, key) {
  const { status, is_accepted: isAccepted, changed } = model.head;
  const isUnderway = status === "running" || status === "stopped";
  return h("div", { class: "buttons steering", role: "group", "aria-label": "Steer" },
    isAccepted ? null : h("button", { type: "button", class: "main", onclick: () => acceptCommands(key) }, "Read and accept commands"),
    changed.length && isUnderway ? h("button", { type: "button", class: "main", onclick: () => propose(key, { accept: true }, "Accept the changed objective") }, "Changed objective") : null,
    model.head.proposals ? h("button", { type: "button", class: "main", onclick: () => reviewProposal(key) }, `Proposals (${model.head.proposals})`) : null,
    isUnderway ? h("button", { type: "button", onclick: () => redirect(model, key) }, "Redirect") : null,
    status === "running" ? h("button", { type: "button", class: "danger", onclick: () => stop(key) }, "Stop") : null);
}

// A session of an agent proposed it: all of it is shown, then what it would do; nothing happens before the person decides.
async function reviewProposal(key) {
  const told = await get(`/api/loops/${key}/proposals`).catch(fail);
  if (!told || !told.proposals.length) return;
  const [first] = told.proposals;
  const wishes = Object.entries(first.wishes).filter(([, value]) => value && (typeof value !== "object" || Object.keys(value).length));
  const shown = [h("p", { class: "soft" }, `${first.by}, ${first.at}`), h("dl", {}, wishes.map(([name, value]) => [h("dt", {}, name), h("dd", { class: "pre" }, typeof value === "string" ? value : JSON.stringify(value))])),
    h("button", { type: "button", onclick: async (event) => { const box = event.target.closest("dialog"); try { await post(`/api/loops/${key}/dismiss`, { name: first.name }); tell("The proposal was dismissed."); box.close(); } catch (error) { fail(error); } } }, "Dismiss it")];
  const { accept: _, ...without } = first.wishes;
  if ((await propose(key, without, "A session proposes", { shown, path: "adopt", body: { name: first.name } })) === false)
    dialog("A session proposes what is not possible now", shown);
}

function field(label, element, note = "") {
  element.id ||= `field-${Math.random().toString(36).slice(2)}`;
  return h("div", { class: "field" }, h("label", { for: element.id }, label), element, note ? h("span", { class: "soft" }, note) : null);
}

function stop(key) {
  const reason = h("input", { type: "text", maxlength: 500 });
  dialog("Stop the loop", [h("p", {}, "Resolved atoms stay resolved, and ", h("code", {}, "aot run"), " continues from there."), field("Why? (optional; it is kept)", reason)], {
    label: "Stop", isDanger: true, act: async () => { await post(`/api/loops/${key}/stop`, { reason: reason.value }); tell("The loop was asked to stop."); },
  });
}

export async function acceptCommands(key) {
  const told = await get(`/api/loops/${key}/commands`).catch(fail);
  if (!told) return;
  dialog("Accept these commands", [h("p", {}, "The loop runs them on your machine, with your rights. Read all of them."), commandsList(told.commands)], {
    label: "Accept all", act: async () => { await post(`/api/loops/${key}/accept`, { digest: told.digest }); tell("The commands are accepted."); },
  });
}

export const commandsList = (commands) => h("ol", { class: "commands" }, commands.map((command) => h("li", {}, h("pre", { tabindex: "0" }, command))));

export function decide(key, subject, item, isConfirmed) {
  const words = h("textarea", { rows: 3, required: !isConfirmed });
  dialog(isConfirmed ? "Confirm" : "Reject", [h("p", {}, h("strong", {}, item.name)), h("pre", { tabindex: "0" }, [item.value, item.evidence].filter(Boolean).join("\n\n")),
    field(isConfirmed ? "Your words (optional)" : "What is wrong? The repair needs to know.", words),
    h("p", { class: "soft" }, "It counts for this objective at the checked-out commit. The base case is then tried again, which may take a while.")], {
    label: isConfirmed ? "Confirm" : "Reject", isDanger: !isConfirmed,
    act: async () => {
      const done = await post(`/api/loops/${key}/confirm`, { ...subject, confirmed: isConfirmed ? [item.path] : [], rejected: isConfirmed ? {} : { [item.path]: words.value }, words: isConfirmed ? words.value : "" });
      tell(done.remembered ? "Noted; the process that runs the loop will use it." : done.completed ? "The base case holds, and the loop is completed." : done.passed ? "The base case holds." : done.waiting.length ? `Still undecided: ${done.waiting.join(", ")}` : `The base case does not hold: ${done.failing.join(", ")}`);
    },
  });
}

// Shows what a correction would reset and revert; only then it can be applied.
export async function propose(key, wishes, title, { shown = null, path = "redirect", body = wishes } = {}) {
  let seen;
  try { seen = await post(`/api/loops/${key}/preview`, wishes); } catch (error) { fail(error); return false; }
  const list = (label, names) => (names.length ? h("li", {}, `${label}: `, h("strong", {}, names.join(", "))) : null);
  dialog(title, [
    shown,
    h("ul", { class: "plain" }, seen.told.map((text) => h("li", {}, text)), seen.difference.map((line) => h("li", {}, h("code", {}, line)))),
    h("h3", {}, "What this does"),
    h("ul", { class: "preview" },
      list("Done again", seen.reset), list("Work taken back from the branch", seen.reverted), list("Agents ended now", seen.interrupted),
      seen.added ? list("New atom", [seen.added]) : null, list("Removed", seen.removed),
      seen.reset.length + seen.reverted.length + seen.interrupted.length === 0 ? h("li", {}, "Nothing is reset, and nothing is taken back.") : null,
      h("li", {}, `At most ${seen.attempts_left} more attempts afterwards.`), h("li", {}, seen.is_run ? "The running loop continues with it." : worded("No process runs the loop now; `aot run` continues with it."))),
    seen.commands.length ? [h("h3", {}, "Commands that you accept with it"), commandsList(seen.commands)] : null,
  ], { label: "Apply", isDanger: seen.reverted.length > 0, act: async () => { await post(`/api/loops/${key}/${path}`, { ...body, seen: seen.corrections }); tell("The correction was made."); } });
  return true;
}

export function redirect(model, key) {
  const head = model.head, atoms = model.order, groups = Object.entries(head.groups);
  const pick = (names) => h("select", {}, names.map((name) => h("option", { value: name }, name)));
  const text = (value = "") => h("input", { type: "text", value });
  const lines = (value = "") => h("textarea", { rows: 2, value });
  const ids = () => { const element = h("input", { type: "text", list: "atom-names", required: true }); return element; };
  const names = h("datalist", { id: "atom-names" }, atoms.slice(0, 500).map((id) => h("option", { value: id })));
  const kinds = {
    objective: ["The objective (all begins anew)", () => {
      const goal = lines(head.goal), why = lines(head.background_intent), things = lines(head.deliverables), done = lines(head.definition_of_done);
      const base = h("textarea", { rows: 4, placeholder: "checklist:\n- item: tests pass\n  check: {type: command, value: make test}" });
      return [[field("Goal", goal), field("Why", why), field("Deliverables", things), field("Done when", done), field("New base case, as YAML (optional)", base)], () => {
        const words = Object.fromEntries(Object.entries({ goal: goal.value, background_intent: why.value, deliverables: things.value, definition_of_done: done.value }).filter(([name, value]) => value !== head[name]));
        return { words, base_case: base.value };
      }];
    }],
    add: ["Add an atom", () => {
      const description = lines(), after = text(), group = text(), run = text();
      description.required = true;
      return [[field("What is to be done", description), field("After these atoms", after, "ids, with commas between them"), field("In the group (optional)", group), field("Command that does it (optional)", run)],
        () => ({ add: { description: description.value, after: split(after.value), group: group.value || null, run: run.value || null } })];
    }],
    remove: ["Remove an atom", () => { const atom = ids(); return [[field("Atom", atom), names], () => ({ remove: [atom.value] })]; }],
    choose: ["Select the choice of a group", () => {
      if (!groups.length) return [[h("p", {}, "This loop has no groups.")], null];
      const choices = pick(groups.flatMap(([name, group]) => group.choices.map((choice) => `${name} → ${choice}`)));
      const pairs = groups.flatMap(([name, group]) => group.choices.map((choice) => [name, choice]));
      return [[field("Group → choice", choices)], () => ({ choose: [pairs[choices.selectedIndex]] })];
    }],
    limits: ["A limit, or the effort", () => {
      const name = pick(Object.keys(head.constraints)), value = text();
      value.required = true;
      return [[field("Limit", name), field("Value", value, "`none` removes an optional limit")], () => ({ limits: [`${name.value}=${value.value}`] })];
    }],
    summary: ["The words of a result", () => { const atom = ids(), summary = lines(); summary.required = true; return [[field("Atom", atom), names, field("What it led to", summary, "work that is based on it is done again")], () => ({ summaries: [[atom.value, summary.value]] })]; }],
    retry: ["An atom starts again", () => { const atom = ids(); return [[field("Atom", atom), names], () => ({ retry: [atom.value] })]; }],
  };
  const kind = h("select", { onchange: change }, Object.entries(kinds).map(([name, [label]]) => h("option", { value: name }, label)));
  const fields = h("div", { class: "stack" });
  const reason = text();
  let wishes = null;
  function change() { const [elements, wanted] = kinds[kind.value][1](); wishes = wanted; replace(fields, elements); }
  change();
  dialog("Redirect", [h("p", { class: "soft" }, "Running agents end at once when the correction is made. You see what it does before that."), field("What should change?", kind), fields, field("Why? (optional; kept in the log)", reason)], {
    label: "Preview", act: async () => (wishes ? propose(key, { ...wishes(), reason: reason.value }, "This change would be made") : false),
  });
}

const split = (value) => value.split(",").map((name) => name.trim()).filter(Boolean);
