// What a page knows of one loop: the state and the events, as they arrive.

import { follow } from "./api.js";

export class LoopModel {
  constructor(key, onChange) {
    this.key = key;
    this.head = null;
    this.atoms = new Map();
    this.order = [];
    this.events = [];
    this.attempts = new Map();
    this.lanes = [];
    this.isCut = false;
    this.problem = "";
    this.version = 0;
    follow(`/api/loops/${key}/stream`, {
      facts: (told) => { this.take(told); onChange("facts"); },
      events: (told) => { this.hear(told); onChange("events"); },
      unreadable: ({ error }) => this.lose(error, onChange),
      missing: ({ error }) => this.lose(error, onChange),
    });
  }

  // Why nothing new is known. A screen reader says it once.
  lose(problem, onChange) {
    if (problem === this.problem) return;
    this.problem = problem;
    onChange("problem");
  }

  take({ whole, difference }) {
    this.problem = "";
    if (whole) { this.atoms.clear(); this.order = []; }
    if (this.head?.ran_seconds !== difference.head.ran_seconds) this.ranAt = this.head ? Date.now() : Date.parse(this.events.at(-1)?.at);
    this.head = difference.head;
    for (const atom of difference.changed) this.atoms.set(atom.id, atom);
    for (const id of difference.removed) this.atoms.delete(id);
    if (difference.order) this.order = difference.order;
    this.version += 1;
  }

  hear({ events, reset, cut }) {
    if (reset) { this.events = []; this.attempts.clear(); this.lanes = []; this.isCut = cut; }
    for (const event of events) { this.events.push(event); this.note(event); }
    this.version += 1;
  }

  // The first lane without an attempt. The order of events decides, because times have no fractions of a second.
  lane(attempt) {
    const free = this.lanes.findIndex((one) => one === null);
    const lane = free < 0 ? this.lanes.length : free;
    this.lanes[lane] = attempt;
    return lane;
  }

  note(event) {
    if (event.kind === "attempt_began") {
      this.attempts.set(event.attempt, { ...event, name: event.name || `${event.atom} (${event.attempt})`, end: null, fate: "running", lane: this.lane(event.attempt) });
      return;
    }
    if (event.kind === "taken_back" && !event.problem) {
      for (const one of this.attempts.values()) if (event.atoms.includes(one.atom) && one.fate === "merged") one.fate = "taken back";
      return;
    }
    if (event.kind === "run_began" || event.kind === "run_ended") {
      for (const one of this.attempts.values()) if (one.end === null) { one.end = event.at; one.fate = "cut off"; }
      this.lanes = [];
      return;
    }
    const attempt = this.attempts.get(event.attempt);
    if (!attempt) return;
    if (event.kind === "attempt_ended") {
      this.lanes[attempt.lane] = null;
      attempt.end = event.at; attempt.seconds = event.seconds; attempt.outcome = event.outcome; attempt.cost = event.cost_usd ?? 0;
      attempt.fate = { done: "finished", proposed: "split", probed: "probed", must_wait: "waited", unavailable: "waited", cancelled: "cut off" }[event.outcome] ?? "failed";
    } else if (event.kind === "merged") attempt.fate = "merged";
    else if (event.kind === "not_merged") attempt.fate = event.why === "blocked" ? "finished" : "not merged";
  }
}

export const atomLink = (key, id, attempt = "") =>
  `/loop/${key}/atom?id=${encodeURIComponent(id)}${attempt ? `&attempt=${encodeURIComponent(attempt)}` : ""}`;
