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

// A stream that reconnects by itself, also after the server was away. `mark` is the last event that arrived.
export function follow(path, listeners) {
  const state = document.getElementById("link-state");
  let source = null, mark = "", isClosed = false;
  function connect() {
    source = new EventSource(mark ? `${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(mark)}` : path);
    source.onopen = () => { state.textContent = "live"; state.className = "link-state live"; };
    for (const [kind, listener] of Object.entries(listeners)) {
      source.addEventListener(kind, (message) => {
        if (message.lastEventId) mark = message.lastEventId;
        listener(JSON.parse(message.data));
      });
    }
    source.onerror = () => {
      showLost();
      if (source.readyState === EventSource.CLOSED && !isClosed) setTimeout(retry, 1000);
    };
  }
  async function retry() {
    if (isClosed) return;
    try { await get("/api/session"); } catch (error) {
      if (error.status === 401) { location.reload(); return; }
    }
    connect();
  }
  connect();
  return () => { isClosed = true; source.close(); };
}

export function fail(error) {
  tell([error.message, error.hint].filter(Boolean).join(" "), true);
}
