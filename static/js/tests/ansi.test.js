import assert from "node:assert/strict";
import { test } from "node:test";
import { LONGEST_LINE, lastRewrite, looksLikeError, paletteColour, parseLine } from "../ansi.js";

const texts = (raw) => parseLine(raw).segments.map((segment) => segment.text).join("");
const looks = (raw) => parseLine(raw).segments.map(({ text, classes, fg, bg }) => [text, classes.join(" "), fg, bg]);

test("a plain line is one segment without classes", () => {
  assert.deepEqual(looks("epoch 3"), [["epoch 3", "", null, null]]);
});

test("the sixteen colours become classes", () => {
  assert.deepEqual(looks("\x1b[31mred\x1b[0m \x1b[92;1mok"), [
    ["red", "ansi-fg-1", null, null],
    [" ", "", null, null],
    ["ok", "ansi-bold ansi-fg-10", null, null],
  ]);
});

test("256 colours and true colour come as hex, because a class cannot say them", () => {
  assert.deepEqual(looks("\x1b[38;5;196ma\x1b[48;2;1;2;255mb\x1b[38;5;3mc"), [
    ["a", "", "#ff0000", null],
    ["b", "", "#ff0000", "#0102ff"],
    ["c", "ansi-fg-3", null, "#0102ff"],
  ]);
  assert.deepEqual([paletteColour(16), paletteColour(231), paletteColour(232), paletteColour(255)], ["#000000", "#ffffff", "#080808", "#eeeeee"]);
});

test("nonsense colour numbers are ignored and never reach the page", () => {
  assert.deepEqual(looks("\x1b[38;5;999mx\x1b[38;2;1mx\x1b[38;2;300;0;0my"), [
    ["x", "", null, null],
    ["x", "", null, null],
    ["y", "", null, null],
  ]);
});

test("F20: cursor movement, titles, hyperlinks and unfinished sequences are removed", () => {
  assert.equal(texts("\x1b[2J\x1b[H\x1b]0;title\x07a\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\b\x1b[?25l\x1b(Bc\x1bM"), "alinkbc");
  assert.equal(texts("kept\x1b]52;c;c2VjcmV0"), "kept");
});

test("markup stays text", () => {
  assert.equal(texts("<script>alert(1)</script>"), "<script>alert(1)</script>");
});

test("hidden and reordering characters are shown", () => {
  assert.equal(texts("a\u202egpj.exe"), "a⟨U+202E⟩gpj.exe");
  assert.equal(texts("zero\u200bwidth\u0000nul\tab"), "zero⟨U+200B⟩width␀nul\tab");
  assert.equal(parseLine("a\u202eb").segments[1].odd, true);
});

test("F20: a progress bar shows its last state", () => {
  assert.equal(lastRewrite("10%\r50%\r100%"), "100%");
  assert.equal(lastRewrite("100%\r"), "100%");
  assert.equal(lastRewrite("\r\r"), "");
});

test("a megabyte line is cut with the number of characters left out", () => {
  const { segments } = parseLine("x".repeat(1_000_000));
  assert.equal(segments[0].text.length, LONGEST_LINE);
  assert.match(segments[1].text, new RegExp(`${1_000_000 - LONGEST_LINE} more`));
});

test("the style of a line carries to the next when the caller wants it", () => {
  const { style } = parseLine("\x1b[33mwarn");
  assert.deepEqual(parseLine("still", style).segments[0].classes, ["ansi-fg-3"]);
});

test("errors are told from summaries that count none", () => {
  const trouble = ["RuntimeError: boom", "ERROR cuda", "Traceback (most recent call last):"];
  const fine = ["0 errors", "no error", "terror", "errors: none yet"];
  assert.deepEqual([...trouble, ...fine].map(looksLikeError), [true, true, true, false, false, false, false]);
});
