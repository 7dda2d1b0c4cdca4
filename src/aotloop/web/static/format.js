// Numbers and times for people.

export const money = (usd) => (usd ? `$${usd < 0.1 ? usd.toFixed(3) : usd.toFixed(2)}` : "$0");
export const number = (n) => n.toLocaleString("en");
export const count = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

export function lasting(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 60) return `${seconds > 0 && seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  const [first, second] = minutes < 60 ? [`${minutes} min`, `${Math.floor(seconds % 60)} s`] : [`${Math.floor(minutes / 60)} h`, `${minutes % 60} min`];
  return second.startsWith("0 ") ? first : `${first} ${second}`;
}

export function clock(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? "" : at.toLocaleTimeString("en-GB");
}

let home = "";

export function setHome(folder) { home = folder; }

// As a shell writes it: short, and without the name of the person.
export const place = (path) => (home && (path === home || path.startsWith(`${home}/`)) ? `~${path.slice(home.length)}` : path);

export function ago(iso) {
  const seconds = (Date.now() - new Date(iso).getTime()) / 1000;
  if (!(seconds >= 0)) return "";
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86400)} d ago`;
}

export const tokens = (n) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)}M` : n >= 1e3 ? `${(n / 1e3).toFixed(1)}k` : String(n));

// What became of an attempt, in the words of the timeline.
export const fateWords = (fate) => ({ landed: "merged", undone: "taken back" })[fate] ?? fate.replace("_", " ");

export const LOOKS = {
  resolved: "resolved", in_progress: "in progress", ready: "ready", waiting: "waiting",
  decomposed: "decomposed", failed: "failed", unselected: "not selected",
};
