// Requests to the server. The second secret proves that this page, and not another port of this machine, asks.

import { tell } from "./dom.js";

const SECRET = "aot-secret";

export class Refused extends Error {
  constructor(status, told) {
    super(told.error ?? `the server answered ${status}`);
    this.status = status;
    this.hint = told.hint ?? "";
    this.commands = told.commands ?? [];
  }
}

async function answerOf(response) {
  let told = {};
  try { told = await response.json(); } catch { /* no JSON: the status says enough */ }
  if (!response.ok) throw new Refused(response.status, told);
  return told;
}

export async function get(path) {
  let response;
  try { response = await fetch(path, { credentials: "same-origin" }); } catch {
    throw new Refused(0, { error: "the server does not answer" });
  }
  return answerOf(response);
}

export function showLost() {
  const state = document.getElementById("link-state");
  state.textContent = "not connected";
  state.className = "link-state lost";
}

export async function post(path, body = {}) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-AOT-Secret": localStorage.getItem(SECRET) ?? "" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refused(0, { error: "the server does not answer; it is not known whether this was done", hint: "Look again when the page is connected." });
  }
  return answerOf(response);
}

export async function logIn(token) {
  const told = await post("/api/login", { token });
  localStorage.setItem(SECRET, told.secret);
}

export async function logOut() {
  try { await post("/api/logout"); } finally { localStorage.removeItem(SECRET); location.assign("/"); }
}

const BEAT_MILLISECONDS = 2000, BEATS_OF_REST = 10;

// A stream that reconnects by itself, also after the server was away. `mark` is the last event that arrived.
export function follow(path, listeners) {
  const state = document.getElementById("link-state");
  let source = null, mark = "", isClosed = false, resting = 0;
  function leave() { source?.close(); source = null; }
  function connect() {
    leave();
    const opened = source = new EventSource(mark ? `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(mark)}` : path);
    opened.onopen = () => { state.textContent = "live"; state.className = "link-state live"; };
    for (const [kind, listener] of Object.entries(listeners)) {
      opened.addEventListener(kind, (message) => {
        if (message.lastEventId) mark = message.lastEventId;
        listener(JSON.parse(message.data));
      });
    }
    opened.onerror = () => {
      showLost();
      if (opened.readyState === EventSource.CLOSED && opened === source) setTimeout(retry, 1000, opened);
    };
  }
  async function retry(lost) {
    if (isClosed || lost !== source) return;
    try { await get("/api/session"); await whether(path); } catch (error) {
      if (error.status === 401) { location.reload(); return; }
      if (error.status === 404) {
        state.textContent = "";
        listeners.missing?.({ error: error.message });
        setTimeout(retry, 3000, lost);
        return;
      }
    }
    if (!isClosed && lost === source) connect();
  }
  // A browser opens six connections to one server, and more than six pages may be open: one in the background only looks
  // from time to time, so that its title stays true.
  function rest() {
    clearInterval(resting);
    if (!document.hidden) { if (!source) connect(); return; }
    let beat = 0;
    resting = setInterval(() => { beat += 1; if (beat % BEATS_OF_REST) leave(); else connect(); }, BEAT_MILLISECONDS);
  }
  document.addEventListener("visibilitychange", rest);
  connect();
  rest();
  return () => { isClosed = true; clearInterval(resting); document.removeEventListener("visibilitychange", rest); leave(); };
}

// Raises what the server says about a stream that it does not give: a browser does not tell.
async function whether(path) {
  const asking = new AbortController();
  try { const response = await fetch(path, { signal: asking.signal }); if (!response.ok) await answerOf(response); } finally { asking.abort(); }
}

// In the dialog that is open, because it covers all else.
export function fail(error) {
  const text = [error.message, error.hint].filter(Boolean).join(" ");
  const said = [...document.querySelectorAll("dialog[open] [role=alert]")].at(-1);
  if (said) said.textContent = text; else tell(text, true);
}
