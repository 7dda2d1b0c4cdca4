/* Before anything is drawn: the colours that the reader chose on an earlier page. Without a choice, those of the system. */
"use strict";
var themes = ["system", "light", "dark"];
function storedTheme() {
  try {
    var stored = localStorage.getItem("theme");
    return themes.includes(stored) ? stored : "system";
  } catch (_) {
    return "system"; // a browser that forbids storage
  }
}
document.documentElement.dataset.theme = storedTheme();
