// The address decides which page is shown. Every page is a load of its own, so that nothing is left of the one before.

import { get, logIn, logOut, fail, showLost } from "./api.js";
import { h, replace, worded } from "./dom.js";
import { setHome } from "./format.js";
import { showList } from "./list.js";
import { showLoop } from "./loop.js";
import { showAtom } from "./atom.js";
import { showFeature } from "./feature.js";

const main = document.getElementById("main");

const PAGES = [
  [/^\/$/, showList],
  [/^\/loop\/(\w+)$/, showLoop],
  [/^\/loop\/(\w+)\/atom$/, showAtom],
  [/^\/feature\/(\w+)$/, showFeature],
];

const RETRY_MILLISECONDS = 1000;

// A request that got no answer (a network that changes, a server that is away) is made again.
async function start(token) {
  try {
    if (token) await logIn(token);
    open(await get("/api/session"));
  } catch (error) {
    if (error.status === 0) { showLost(); setTimeout(start, RETRY_MILLISECONDS, token); }
    else if (error.status === 401 || token) askForToken(token ? error.message : "");
    else fail(error);
  }
}

function open(session) {
  setHome(session.home);
  const out = document.getElementById("log-out");
  out.hidden = false;
  out.addEventListener("click", logOut);
  const may = { steer: !session.read_only && localStorage.getItem("aot-secret") !== null };
  for (const [pattern, show] of PAGES) {
    const found = pattern.exec(location.pathname);
    if (found) { show(main, found[1], may); return; }
  }
  replace(main, h("h1", {}, "There is no such page"));
}

function askForToken(problem) {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  const said = h("p", { class: "problem", role: "alert" }, worded(problem));
  const form = h("form", { class: "panel narrow", onsubmit: async (event) => {
    event.preventDefault();
    try { await logIn(field.value.trim()); location.reload(); } catch (error) { replace(said, worded(error.message)); field.select(); }
  } },
  h("h1", {}, "Log in"),
  h("p", { class: "soft" }, "Paste the token that ", h("code", {}, "aot serve"), " printed in your terminal, or open its link."),
  h("label", { for: "token" }, "Token"), field, said,
  h("button", { class: "main", type: "submit" }, "Log in"));
  replace(main, form);
  field.focus();
}

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) history.replaceState(null, "", location.pathname + location.search);
start(given);
// The link of the terminal, opened where a page is open already: browsers do not load it anew.
addEventListener("hashchange", () => { if (location.hash.startsWith("#token=")) location.reload(); });
