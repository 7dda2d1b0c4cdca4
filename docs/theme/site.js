/* The theme switch, the contents of the page, and the search. Everything else works without scripts. */
"use strict";

// --- theme ----------------------------------------------------------------------------------------------------------

const themeButton = document.getElementById("theme");
function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  themeButton.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
  themeButton.title = `Colours: ${theme}. Change them.`;
  themeButton.setAttribute("aria-label", themeButton.title);
}
themeButton.addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
  showTheme(next);
  try { localStorage.setItem("theme", next); } catch (_) { /* it holds for this page only */ }
});
showTheme(storedTheme());

// --- wide screens show the list of pages and the contents, narrow ones fold them ------------------------------------

for (const [id, width] of [["pages", "50rem"], ["contents", "78rem"]]) {
  const wide = matchMedia(`(min-width: ${width})`);
  const part = document.getElementById(id);
  const follow = () => { if (part) part.open = wide.matches; };
  wide.addEventListener("change", follow);
  follow();
}
document.querySelector("#pages [aria-current]")?.scrollIntoView({ block: "nearest" });

const links = new Map([...document.querySelectorAll("#contents a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
const headings = [...document.querySelectorAll("main [id]")].filter((heading) => links.has(heading.id));
function markSection() {
  const top = (heading) => heading.getBoundingClientRect().top;
  const isEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  const named = headings.find((heading) => heading.id === decodeURIComponent(location.hash.slice(1)));
  const reached = !isEnd ? headings.filter((heading) => top(heading) < 120).at(-1)
    : named && top(named) >= 0 && top(named) < innerHeight ? named : headings.at(-1);
  for (const link of links.values()) link.removeAttribute("aria-current");
  if (reached) links.get(reached.id).setAttribute("aria-current", "true");
}
addEventListener("scroll", markSection, { passive: true });
addEventListener("hashchange", markSection);
markSection();

// --- search ---------------------------------------------------------------------------------------------------------

const field = document.getElementById("search");
const results = document.getElementById("results");
const count = document.getElementById("count");
const root = document.documentElement.dataset.root;
const MOST = 30;
let index = null;

function load(name) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: `${root}/search/${name}`, onload: done, onerror: failed });
    document.head.append(script);
  });
}

async function prepared() {
  await Promise.all([load("lunr.js"), load("sections.js")]);
  lunr.tokenizer.separator = /[^\p{L}\p{N}]+/u;
  return lunr((builder) => {
    builder.ref("number");
    builder.field("title", { boost: 8 });
    builder.field("page", { boost: 3 });
    builder.field("text");
    sections.forEach((section, number) => builder.add({ ...section, number }));
  });
}

/* Every word has to occur. The last one may be unfinished; if nothing is found, one letter may be wrong. */
function found(words, lookup) {
  const required = (query, word, options) => query.term(word, { presence: lunr.Query.presence.REQUIRED, ...options });
  const unfinished = { wildcard: lunr.Query.wildcard.TRAILING, usePipeline: false };
  const ways = [
    (query) => words.forEach((word) => required(query, word, {})),
    (query) => words.forEach((word, at) => required(query, word, at === words.length - 1 ? unfinished : {})),
  ];
  const numbers = new Set(ways.flatMap((way) => lookup.query(way).map((result) => Number(result.ref))));
  if (!numbers.size) {
    const inexact = (query) => words.forEach((word) => required(query, word, { editDistance: word.length > 3 ? 1 : 0 }));
    lookup.query(inexact).forEach((result) => numbers.add(Number(result.ref)));
  }
  return [...numbers];
}

function marked(text, words) {
  const part = document.createDocumentFragment();
  const stems = words.map((word) => lunr.stemmer(new lunr.Token(word)).toString());
  for (const piece of text.split(/([\p{L}\p{N}]+)/u)) {
    const isHit = piece && stems.some((stem) => piece.toLowerCase().startsWith(stem));
    const node = isHit ? document.createElement("mark") : document.createTextNode(piece);
    if (isHit) node.textContent = piece;
    part.append(node);
  }
  return part;
}

/* The part of a text that has most of the words; of equal ones the first. */
function excerpt(text, words) {
  const lower = text.toLowerCase();
  let from = 0, most = 0;
  for (const word of words) {
    for (let place = lower.indexOf(word); place >= 0; place = lower.indexOf(word, place + 1)) {
      const part = lower.slice(Math.max(0, place - 50), place + 120);
      const count = words.filter((other) => part.includes(other)).length;
      if (count > most) [from, most] = [Math.max(0, place - 50), count];
    }
  }
  const begin = from ? text.indexOf(" ", from) + 1 : 0;
  return (begin ? "… " : "") + text.slice(begin, begin + 170) + (begin + 170 < text.length ? " …" : "");
}

function entry(section, words) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${root}/${section.place}`;
  const title = document.createElement("strong");
  title.append(marked(section.title === section.page ? section.title : `${section.page} › ${section.title}`, words));
  const text = document.createElement("span");
  text.append(marked(excerpt(section.text, words), words));
  link.append(title, text);
  item.append(link);
  return item;
}

async function search() {
  index ??= prepared();
  const lookup = await index;
  const all = lunr.tokenizer(field.value).map(String);
  const telling = all.filter((word, at) => at === all.length - 1 || lunr.stopWordFilter(word));
  const words = telling.length > 1 ? telling.filter((word) => lunr.stopWordFilter(word)) : telling;
  const numbers = words.length ? found(words, lookup) : [];
  results.replaceChildren(...numbers.slice(0, MOST).map((number) => entry(sections[number], words)));
  count.textContent = !words.length ? "" : numbers.length === 1 ? "1 section" : `${numbers.length || "No"} sections`;
  results.parentElement.hidden = !words.length;
}

const close = () => { results.parentElement.hidden = true; };
field.addEventListener("focus", () => { index ??= prepared(); if (field.value) search(); });
field.addEventListener("input", search);
document.querySelector("#find").hidden = false;
document.addEventListener("click", (event) => { if (!event.target.closest("#find")) close(); });
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
  }
  const inSearch = event.target.closest("#find");
  if (inSearch && event.key === "Escape") { close(); field.blur(); }
  if (event.target === field && event.key === "Enter") results.querySelector("a")?.click();
  if (inSearch && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    const stops = [field, ...results.querySelectorAll("a")];
    const next = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, next))].focus();
  }
});
results.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
