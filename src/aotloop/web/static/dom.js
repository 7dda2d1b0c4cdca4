// Elements are made here and nowhere else. Every text becomes a text node, so nothing foreign can become markup.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(tag, properties, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function s(tag, properties, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

// Commands stand between backticks in the words of our use cases.
export function worded(text) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, number) => (number % 2 ? h("code", {}, part) : part)) : text;
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
}

const sign = (element) => `${element.tagName}${element.getAttribute("href") ?? element.textContent}`;

// The same for what is drawn again while a person is at it: the focus stays where it is, and what is open stays open.
export function redraw(element, ...children) {
  const opened = new Set([...element.querySelectorAll("details[open] > summary")].map(sign));
  const held = element.contains(document.activeElement) ? sign(document.activeElement) : "";
  replace(element, ...children);
  for (const summary of element.querySelectorAll("details > summary")) if (opened.has(sign(summary))) summary.parentElement.open = true;
  if (held) [...element.querySelectorAll("button, a, summary")].find((one) => sign(one) === held)?.focus({ preventScroll: true });
}

let timer = 0;

// One short message for the person; screen readers read it.
export function tell(text, isError = false) {
  const told = document.getElementById("told");
  told.textContent = text;
  told.className = isError ? "told shown error" : "told shown";
  clearTimeout(timer);
  timer = setTimeout(() => { told.className = "told"; }, isError ? 9000 : 5000);
}

// Calls `work` at the next frame, once, however often it is asked for.
export function atNextFrame(work) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; work(); });
  };
}
