import assert from "node:assert/strict";
import { test } from "node:test";
import { backoff, shortAge } from "../backoff.js";
import { LineRing, comparePlaces } from "../line_ring.js";

const line = (place) => ({ place: String(place), text: `line ${place}` });
const places = (ring) => ring.lines.map((entry) => entry.place);

test("the same place twice is one line", () => {
  const ring = new LineRing();
  ring.add([line(1), line(2)]);
  assert.deepEqual(ring.add([line(2), line(3)]).added.map((entry) => entry.place), ["3"]);
  assert.deepEqual(places(ring), ["1", "2", "3"]);
});

test("lines that come late take their place", () => {
  const ring = new LineRing();
  ring.add([line(1), line(10)]);
  assert.equal(ring.add([line(9)]).inOrder, false);
  assert.deepEqual(places(ring), ["1", "9", "10"]);
  assert.equal(ring.last, "10");
});

test("the ring keeps the newest and does not take back what fell off", () => {
  const ring = new LineRing(3);
  assert.equal(ring.add([1, 2, 3, 4, 5].map(line)).gone, 2);
  ring.add([line(1)]);
  assert.deepEqual([places(ring), ring.dropped], [["3", "4", "5"], 2]);
});

test("places of digits compare by value, others as text", () => {
  assert.ok(comparePlaces("9", "10") < 0);
  assert.ok(comparePlaces("2026-01-01/a", "2026-01-01/b") < 0);
  assert.equal(comparePlaces("7", 7), 0);
});

test("waiting doubles to a ceiling and is never nothing", () => {
  assert.deepEqual([0, 1, 2, 20].map((attempt) => backoff(attempt, 1)), [500, 1000, 2000, 20000]);
  assert.equal(backoff(0, 0), 100);
});

test("ages are short", () => {
  assert.deepEqual([0, 59_000, 61_000, 7_300_000].map(shortAge), ["0 s", "59 s", "1 min", "2 h"]);
});
