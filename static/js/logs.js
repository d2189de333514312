// The log viewer. One element with data-logs per page:
//
//   data-lines-url    answers {lines: [{at, instance, container, stream, text, place}], next}; takes after, tail, limit
//   data-limit        how many lines stay in the page (newest first to stay), default 5000
//   [data-log-view]   the scrolling box     [data-log-status]  a sentence below it
//   select[data-log-filter="instance" | "container" | "attempt"], input[data-log-filter="q"]
//   button[data-log-toggle="follow" | "wrap" | "times"]   button[data-log-error]   button[data-log-newest]   a[data-log-download]
//
// New lines come as the document event "live:log.lines" ({lines: […]}). Every line has a `place`; a line is shown once,
// in the order of places, whether it came by fetch or by socket, and after a reconnect the gap is fetched.

import { looksLikeError, parseLine } from "./ansi.js";
import { LineRing } from "./line_ring.js";

const PAGE = 1000;
const SETTINGS = "log-view";

class LogViewer {
  constructor(root) {
    this.root = root;
    this.view = root.querySelector("[data-log-view]");
    this.ring = new LineRing(Number(root.dataset.limit) || 5000);
    this.rows = new Map();
    this.waiting = [];
    this.frame = 0;
    this.unseen = 0;
    this.errorAt = -1;
    this.settings = { follow: true, wrap: false, times: false, ...remembered() };
    this.settings.follow = true;
    this.bind();
    this.applySettings();
    this.load();
  }

  bind() {
    for (const filter of this.root.querySelectorAll("[data-log-filter]")) {
      filter.addEventListener(filter.tagName === "SELECT" ? "change" : "input", () => this.filtered());
    }
    for (const button of this.root.querySelectorAll("[data-log-toggle]")) {
      button.addEventListener("click", () => this.toggle(button.dataset.logToggle));
    }
    this.root.querySelector("[data-log-error]")?.addEventListener("click", () => this.toNextError());
    this.root.querySelector("[data-log-newest]")?.addEventListener("click", () => this.setFollow(true));
    this.view.addEventListener("scroll", () => this.scrolled(), { passive: true });
    document.addEventListener("live:log.lines", (event) => this.arrived(event.detail.lines ?? []));
    document.addEventListener("live:reconnected", () => this.catchUp());
    document.addEventListener("live:hello", (event) => {
      // The server sends what arrived since then, also lines with an earlier time, which a fetch by place would miss.
      if (this.ring.last !== null) event.detail.logs = { after: String(this.ring.last) };
    });
    document.addEventListener("live:resync", () => this.catchUp());
  }

  filters() {
    const chosen = {};
    for (const filter of this.root.querySelectorAll("[data-log-filter]")) {
      if (filter.value) chosen[filter.dataset.logFilter] = filter.value;
    }
    return chosen;
  }

  filtered() {
    clearTimeout(this.filterTimer);
    this.filterTimer = setTimeout(() => {
      this.ring.clear();
      this.rows.clear();
      this.waiting = [];
      this.errorAt = -1;
      this.view.replaceChildren();
      this.aimDownload();
      this.load();
    }, 200);
  }

  aimDownload() {
    const link = this.root.querySelector("[data-log-download]");
    if (!link) return;
    const url = new URL(link.href);
    url.search = new URLSearchParams({ ...this.filters(), download: "1" });
    link.href = url.href;
  }

  async load() {
    this.turn = (this.turn ?? 0) + 1;
    await this.fetchLines({ tail: String(this.ring.limit) }, this.turn);
    this.say();
  }

  async catchUp() {
    if (this.ring.last !== null) await this.fetchLines({ after: String(this.ring.last) }, this.turn);
    else await this.load();
  }

  /** Page after page until there is none; a newer choice of filters ends it. */
  async fetchLines(from, turn) {
    let query = { ...this.filters(), ...from, limit: String(PAGE) };
    for (;;) {
      let answer;
      try {
        const response = await fetch(`${this.root.dataset.linesUrl}?${new URLSearchParams(query)}`, {
          headers: { Accept: "application/json" },
          credentials: "same-origin",
        });
        if (!response.ok) throw new Error(String(response.status));
        answer = await response.json();
      } catch {
        this.say(this.root.dataset.wordFailed);
        return;
      }
      if (turn !== this.turn) return;
      this.enqueue(answer.lines);
      if (answer.next === null || answer.next === undefined || answer.lines.length === 0) return;
      query = { ...this.filters(), after: String(answer.next), limit: String(PAGE) };
    }
  }

  arrived(lines) {
    const { q, ...wanted } = this.filters();
    const needle = q?.toLowerCase();
    this.enqueue(
      lines.filter(
        (line) =>
          Object.entries(wanted).every(([name, value]) => line[name] === undefined || String(line[name]) === value) &&
          (!needle || line.text.toLowerCase().includes(needle)),
      ),
    );
  }

  /** Lines wait for the next frame, so that thousands a second cost one layout each 16 ms. */
  enqueue(lines) {
    this.waiting.push(...lines);
    if (this.waiting.length && !this.frame) this.frame = requestAnimationFrame(() => this.render());
    // A page in the background gets no frames; it must not gather without bound.
    if (document.hidden && this.waiting.length > this.ring.limit) this.waiting.splice(0, this.waiting.length - this.ring.limit);
  }

  render() {
    this.frame = 0;
    const { added, inOrder } = this.ring.add(this.waiting);
    this.waiting = [];
    const kept = added.filter((line) => this.ring.places.has(line.place));
    for (const line of kept) this.rows.set(line.place, lineElement(line));
    if (inOrder) this.view.append(...kept.map((line) => this.rows.get(line.place)));
    else for (const line of kept) this.insert(line);
    this.dropOld();
    if (this.settings.follow) this.view.scrollTop = this.view.scrollHeight;
    else this.unseen += kept.length;
    this.say();
  }

  /** A late line goes before the first line of a later place. */
  insert(line) {
    const at = this.ring.lines.indexOf(line);
    const next = this.ring.lines.slice(at + 1).find((later) => this.rows.get(later.place)?.isConnected);
    this.view.insertBefore(this.rows.get(line.place), next ? this.rows.get(next.place) : null);
  }

  dropOld() {
    while (this.view.childElementCount > this.ring.lines.length) {
      const first = this.view.firstElementChild;
      this.rows.delete(first.place);
      first.remove();
      this.errorAt -= 1;
    }
  }

  say(trouble) {
    const words = this.root.dataset;
    const status = this.root.querySelector("[data-log-status]");
    const lines = this.ring.lines.length;
    const count = lines === 0 ? words.wordEmpty : `${lines.toLocaleString()} ${words.wordLines}`;
    const cut = this.ring.dropped > 0 ? ` · ${words.wordCut}` : "";
    if (status) status.textContent = trouble ?? `${count}${cut}`;
    const newest = this.root.querySelector("[data-log-newest]");
    if (!newest) return;
    newest.hidden = this.settings.follow || this.unseen === 0;
    newest.querySelector("[data-count]").textContent = this.unseen.toLocaleString();
  }

  scrolled() {
    const atEnd = this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight < 24;
    if (!atEnd && this.settings.follow && this.view.scrollTop < this.lastTop) this.setFollow(false);
    if (atEnd && !this.settings.follow && this.view.scrollTop > this.lastTop) this.setFollow(true);
    this.lastTop = this.view.scrollTop;
  }

  setFollow(on) {
    this.settings.follow = on;
    if (on) {
      this.unseen = 0;
      this.view.scrollTop = this.view.scrollHeight;
    }
    this.applySettings();
    this.say();
  }

  toggle(name) {
    if (name === "follow") return this.setFollow(!this.settings.follow);
    this.settings[name] = !this.settings[name];
    this.applySettings();
    try {
      localStorage.setItem(SETTINGS, JSON.stringify({ wrap: this.settings.wrap, times: this.settings.times }));
    } catch {
      // The choice lasts for this page then.
    }
    return undefined;
  }

  applySettings() {
    this.view.classList.toggle("is-wrapped", this.settings.wrap);
    this.view.classList.toggle("has-times", this.settings.times);
    for (const button of this.root.querySelectorAll("[data-log-toggle]")) {
      button.setAttribute("aria-pressed", String(this.settings[button.dataset.logToggle]));
    }
  }

  /** First press: the first error; each further press: the next one, then from the top again. */
  toNextError() {
    const rows = [...this.view.children];
    let at = rows.findIndex((row, index) => index > this.errorAt && row.classList.contains("is-error"));
    if (at === -1) at = rows.findIndex((row) => row.classList.contains("is-error"));
    if (at === -1) {
      this.say(this.root.dataset.wordNoError);
      return;
    }
    this.setFollow(false);
    this.errorAt = at;
    this.view.querySelector(".is-current")?.classList.remove("is-current");
    rows[at].classList.add("is-current");
    rows[at].scrollIntoView({ block: "center" });
  }
}

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(SETTINGS)) ?? {};
  } catch {
    return {};
  }
}

/** Text nodes and classes only; colours that have no class are set through the style object, which CSP allows. */
function lineElement(line) {
  const row = document.createElement("div");
  row.className = "log-line";
  row.place = line.place;
  if (line.stream === "stderr") row.classList.add("is-stderr");
  if (looksLikeError(line.text)) row.classList.add("is-error");
  const time = document.createElement("time");
  time.dateTime = line.at;
  time.title = line.at;
  time.className = "log-time";
  time.textContent = clockTime(line.at);
  const source = document.createElement("span");
  source.className = "log-source";
  source.textContent = line.container ?? "";
  source.title = `${line.instance ?? ""} / ${line.container ?? ""}`;
  const text = document.createElement("bdi");
  text.className = "log-text";
  text.dir = "ltr";
  for (const segment of parseLine(line.text).segments) text.append(segmentNode(segment));
  row.append(time, source, text);
  return row;
}

function segmentNode(segment) {
  if (!segment.classes.length && !segment.fg && !segment.bg && !segment.odd) return document.createTextNode(segment.text);
  const span = document.createElement("span");
  span.className = segment.classes.join(" ");
  if (segment.odd) span.classList.add("odd-character");
  if (segment.fg) span.style.color = segment.fg;
  if (segment.bg) span.style.backgroundColor = segment.bg;
  span.textContent = segment.text;
  return span;
}

function clockTime(at) {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return "";
  const two = (number) => String(number).padStart(2, "0");
  const clock = `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
  return `${clock}.${String(moment.getMilliseconds()).padStart(3, "0")}`;
}

function start() {
  for (const root of document.querySelectorAll("[data-logs]")) root.viewer ??= new LogViewer(root);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
document.addEventListener("htmx:afterSettle", start);
