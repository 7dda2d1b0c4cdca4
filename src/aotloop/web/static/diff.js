// A diff, coloured line by line, one part for each file.

import { h } from "./dom.js";

const MOST_LINES = 3000;

export function diffOf(files, why) {
  if (!files.length) return h("p", { class: "soft" }, why || "No file was changed.");
  return h("div", { class: "diff" }, files.map((file, number) => h("details", { open: number < 5 && files.length < 30 },
    h("summary", {}, h("code", {}, file.path), h("span", { class: "soft" }, ` ${file.change} `), h("span", { class: "plus" }, `+${file.added}`), " ", h("span", { class: "minus" }, `−${file.removed}`)),
    h("pre", { tabindex: "0" }, lines(file)))));
}

function lines(file) {
  const all = file.patch.replace(/\n$/, "").split("\n");
  const start = Math.max(all.findIndex((line) => line.startsWith("@@")), 0);
  const shown = all.slice(start, start + MOST_LINES).map((line) => h("span", { class: `diff-line ${line.startsWith("@@") ? "at" : line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : ""}` }, `${line}\n`));
  if (file.is_cut || all.length > start + MOST_LINES) shown.push(h("span", { class: "soft" }, "… the rest is left out"));
  return shown;
}
