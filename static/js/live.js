// Live pages. An element with data-live-socket="/ws/…" opens that WebSocket; fragments that declare
// data-live="task instances events" and an hx-get with hx-trigger="live" are fetched again when a message of that
// subject comes, at most four times a second, and swapped by morphing so that focus and scroll stay.
//
// Messages: {"type": "task.changed" | "instance.changed" | "log.lines" | "event.added" | "resync", "seq": n, …}.
// Every message is also dispatched on document as the event "live:<type>". After (re)connecting the client says
// {"type": "hello", "since": <last seq>} and is sent what it missed, or "resync".

import htmx from "htmx.org";
import { Idiomorph } from "idiomorph/dist/idiomorph.esm.js";
import { backoff, shortAge } from "./backoff.js";

const SUBJECTS = { "task.changed": "task", "instance.changed": "instances", "event.added": "events" };
const GAP = 250;
const sockets = new Map();
const pending = new Set();
let timer = null;
let lastFlush = 0;

class LiveSocket {
  constructor(path) {
    this.path = path;
    this.since = null;
    this.attempt = 0;
    this.heard = Date.now();
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}${this.path}`);
    this.socket.addEventListener("open", () => this.opened());
    this.socket.addEventListener("message", (event) => this.received(event.data));
    this.socket.addEventListener("close", (event) => this.closed(event));
  }

  opened() {
    const again = this.attempt > 0;
    this.attempt = 0;
    this.alive = true;
    this.welcome = true;
    this.heard = Date.now();
    // Others on the page add what they have: the log viewer its last line's place.
    const hello = { type: "hello", since: this.since };
    document.dispatchEvent(new CustomEvent("live:hello", { detail: hello }));
    this.socket.send(JSON.stringify(hello));
    if (again) document.dispatchEvent(new CustomEvent("live:reconnected", { detail: { path: this.path } }));
    showConnection();
  }

  received(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    this.heard = Date.now();
    if (typeof message.seq === "number") {
      // The messages of one change share a seq, so an equal one is news too.
      if (this.since !== null && message.seq < this.since && message.type !== "resync") return;
      this.since = message.seq;
    }
    dispatch(message);
  }

  closed(event) {
    this.alive = false;
    showConnection();
    if (this.ended) return;
    // 4401/4403/4404: signed out, or not (any more) ours to see. Asking again would not help.
    if (event.code >= 4400 && event.code < 4500) {
      if (event.code === 4401 && this.welcome) location.reload(); // once let in, now signed out: to the login and back
      else if (this.welcome) {
        this.gone = true;
        document.dispatchEvent(new CustomEvent("live:gone"));
        showConnection();
      }
      return;
    }
    const wait = backoff(this.attempt);
    this.attempt += 1;
    this.retry = setTimeout(() => this.connect(), wait);
  }

  end() {
    this.ended = true;
    clearTimeout(this.retry);
    this.socket.close();
  }
}

function dispatch(message) {
  document.dispatchEvent(new CustomEvent(`live:${message.type}`, { detail: message }));
  if (message.type === "resync") refresh(() => true);
  else if (SUBJECTS[message.type]) refresh((subjects) => subjects.includes(SUBJECTS[message.type]));
}

/** Note every fragment whose subjects are concerned; one flush per GAP asks the server for each once. */
function refresh(concerned) {
  for (const element of document.querySelectorAll("[data-live]")) {
    if (concerned(element.dataset.live.split(/\s+/))) pending.add(element.id);
  }
  if (pending.size && timer === null) timer = setTimeout(flush, Math.max(0, lastFlush + GAP - Date.now()));
}

function flush() {
  timer = null;
  lastFlush = Date.now();
  for (const id of pending) {
    const element = document.getElementById(id);
    if (!element || busy(element)) continue;
    pending.delete(id);
    if (element) htmx.trigger(element, "live");
  }
  for (const id of [...pending]) if (!document.getElementById(id)) pending.delete(id);
  if (pending.size) timer = setTimeout(flush, GAP);
}

/** A fragment with an open menu or a field being typed in waits: nothing is pulled from under the reader. */
function busy(element) {
  if (element.querySelector("details.menu[open], dialog[open]")) return true;
  const focus = document.activeElement;
  return element.contains(focus) && focus.matches("input:not([type=checkbox]), textarea, select");
}

/** Rows of a list are updated in place; new ones wait behind a button while the reader points or has scrolled. */
function mergeRows(body, html) {
  const template = document.createElement("template");
  template.innerHTML = `<table>${html}</table>`;
  const fresh = template.content.querySelector("tbody");
  if (!fresh) return false;
  const held = body.matches(":hover") || body.contains(document.activeElement) || window.scrollY > 200;
  const here = new Set([...body.rows].map((row) => row.id));
  const added = [...fresh.rows].filter((row) => row.id && !here.has(row.id));
  const button = document.querySelector(`[data-new-rows="${body.id}"]`);
  if (!held || here.size === 0) {
    body.heldRows = null;
    if (button) button.hidden = true;
    Idiomorph.morph(body, fresh.childNodes, { morphStyle: "innerHTML" });
    htmx.process(body);
    return true;
  }
  for (const row of fresh.rows) {
    const old = row.id && document.getElementById(row.id);
    if (old && body.contains(old)) Idiomorph.morph(old, row.cloneNode(true), { morphStyle: "outerHTML" });
  }
  htmx.process(body);
  body.heldRows = fresh;
  if (button) {
    button.hidden = added.length === 0;
    button.querySelector("[data-count]").textContent = String(added.length);
  }
  return true;
}

function showConnection() {
  const light = document.getElementById("connection");
  if (!light) return;
  const all = [...sockets.values()].filter((socket) => !socket.gone);
  light.hidden = all.length === 0;
  const down = all.filter((socket) => !socket.alive);
  const state = down.length ? "reconnecting" : "live";
  light.dataset.state = state;
  const age = down.length ? shortAge(Date.now() - Math.min(...down.map((socket) => socket.heard))) : "";
  light.querySelector("[data-word]").textContent = light.dataset[state === "live" ? "wordLive" : "wordReconnecting"];
  light.querySelector("[data-age]").textContent = age;
}

/** Open what the page asks for, close what it no longer does; called on load and after each swap. */
export function syncSockets() {
  const wanted = new Set([...document.querySelectorAll("[data-live-socket]")].map((element) => element.dataset.liveSocket));
  for (const [path, socket] of sockets) {
    if (!wanted.has(path)) {
      socket.end();
      sockets.delete(path);
    }
  }
  for (const path of wanted) if (!sockets.has(path)) sockets.set(path, new LiveSocket(path));
  showConnection();
}

export function startLive() {
  syncSockets();
  document.addEventListener("htmx:afterSettle", syncSockets);
  document.addEventListener("htmx:beforeSwap", (event) => {
    const body = event.detail.target;
    const live = event.detail.requestConfig?.triggeringEvent?.type === "live";
    if (live && body.matches("tbody[data-live]") && mergeRows(body, event.detail.serverResponse)) {
      event.detail.shouldSwap = false;
    }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-new-rows]");
    if (!button) return;
    const body = document.getElementById(button.dataset.newRows);
    if (body?.heldRows) Idiomorph.morph(body, body.heldRows, { morphStyle: "innerHTML" });
    htmx.process(body);
    button.hidden = true;
    window.scrollTo({ top: 0 });
  });
  setInterval(showConnection, 1000);
  // A laptop that slept finds dead sockets late; the network's return is the earliest sign.
  window.addEventListener("online", () => {
    for (const socket of sockets.values()) if (!socket.alive && socket.retry) {
      clearTimeout(socket.retry);
      socket.connect();
    }
  });
}
