// Loads the page. If one of its files does not arrive, because a network changes or the server is away, all is loaded again.

const RELOAD_MILLISECONDS = 1000;

import("./app.js").catch(() => {
  const state = document.getElementById("link-state");
  state.textContent = "not connected";
  state.className = "link-state lost";
  setTimeout(() => location.reload(), RELOAD_MILLISECONDS);
});
