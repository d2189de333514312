// Log text to plain segments with classes. Pure: no DOM, tested by `node --test static/js/tests`.
// A log line is untrusted: only SGR colours are understood, every other escape sequence is removed (hyperlinks
// included), and characters that hide or reorder text are shown as marks.

const SEQUENCE =
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|\x1b[ -/]*[0-~]|\x9b([0-?]*)[ -/]*([@-~])|\x1b/g;

// Zero-width, bidirectional controls, soft hyphen, byte order mark, line separators, tags block.
const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
const ODD = new RegExp(`${HIDDEN.source}|${CONTROL.source}`, "u");
const PLAIN = { fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, inverse: false, strike: false };

export const LONGEST_LINE = 16384;

/** The colour style after one SGR sequence; a new object, the old one is left as it was. */
export function applySgr(style, parameters) {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map((part) => (part === "" ? 0 : Number(part)));
  let next = { ...style };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 7) next.inverse = true;
    else if (code === 9) next.strike = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 27) next.inverse = false;
    else if (code === 29) next.strike = false;
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 90 && code <= 97) next.fg = code - 82;
    else if (code >= 40 && code <= 47) next.bg = code - 40;
    else if (code >= 100 && code <= 107) next.bg = code - 92;
    else if (code === 39) next.fg = null;
    else if (code === 49) next.bg = null;
    else if (code === 38 || code === 48) {
      const [colour, used] = extendedColour(codes.slice(at + 1));
      if (colour !== undefined) next[code === 38 ? "fg" : "bg"] = colour;
      at += used;
    }
  }
  return next;
}

/** 256-colour index or "#rrggbb" from what follows 38 or 48, with how many codes it took. */
function extendedColour(rest) {
  if (rest[0] === 5) return [byte(rest[1]) ? rest[1] : undefined, 2];
  if (rest[0] === 2) {
    const channels = rest.slice(1, 4);
    if (channels.length < 3 || !channels.every(byte)) return [undefined, 4];
    return [`#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`, 4];
  }
  return [undefined, 1];
}

const byte = (value) => Number.isInteger(value) && value >= 0 && value <= 255;

/** "#rrggbb" of a 256-colour index from 16 on: the 6×6×6 cube, then the greys. */
export function paletteColour(index) {
  if (index >= 232) {
    const grey = (8 + (index - 232) * 10).toString(16).padStart(2, "0");
    return `#${grey}${grey}${grey}`;
  }
  const steps = [0, 95, 135, 175, 215, 255];
  const cube = index - 16;
  const channels = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6];
  return `#${channels.map((channel) => steps[channel].toString(16).padStart(2, "0")).join("")}`;
}

/** Of a line that a progress bar rewrote with carriage returns, the last state that has text. */
export function lastRewrite(text) {
  if (!text.includes("\r")) return text;
  const states = text.split("\r").filter((state) => state !== "");
  return states.length ? states[states.length - 1] : "";
}

/** Visible stand-in for a hidden or control character, such as ␛ or ⟨U+202E⟩. */
export function visible(character) {
  const point = character.codePointAt(0);
  if (point < 0x20) return String.fromCodePoint(0x2400 + point);
  if (point === 0x7f) return "\u2421";
  return `⟨U+${point.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * One log line to `[{text, classes, fg, bg, odd}]` and the style it ends in.
 * `fg`/`bg` are "#rrggbb" where a class cannot say the colour; `odd` marks stand-ins for hidden characters.
 */
export function parseLine(raw, style = PLAIN) {
  const cut = raw.length > LONGEST_LINE;
  const text = lastRewrite(cut ? raw.slice(0, LONGEST_LINE) : raw);
  const segments = [];
  let current = style;
  let from = 0;
  for (const match of text.matchAll(SEQUENCE)) {
    pushText(segments, text.slice(from, match.index), current);
    from = match.index + match[0].length;
    const [parameters, final] = match[2] ? [match[1], match[2]] : [match[3], match[4]];
    if (final === "m" && /^[0-9;:]*$/.test(parameters)) current = applySgr(current, parameters);
  }
  pushText(segments, text.slice(from), current);
  if (cut) segments.push({ text: ` … ${raw.length - LONGEST_LINE} more characters`, classes: ["log-cut"], fg: null, bg: null, odd: false });
  return { segments, style: current };
}

function pushText(segments, text, style) {
  if (text === "") return;
  const look = { classes: classesOf(style), ...coloursOf(style) };
  let run = "";
  for (const character of ODD.test(text) ? text : [text]) {
    if (character.length <= 2 && ODD.test(character)) {
      if (run) segments.push({ text: run, ...look, odd: false });
      run = "";
      segments.push({ text: visible(character), ...look, odd: true });
    } else run += character;
  }
  if (run) segments.push({ text: run, ...look, odd: false });
}

function classesOf(style) {
  const classes = [];
  for (const flag of ["bold", "dim", "italic", "underline", "inverse", "strike"]) if (style[flag]) classes.push(`ansi-${flag}`);
  if (typeof style.fg === "number" && style.fg < 16) classes.push(`ansi-fg-${style.fg}`);
  if (typeof style.bg === "number" && style.bg < 16) classes.push(`ansi-bg-${style.bg}`);
  return classes;
}

function coloursOf(style) {
  const hex = (value) => (value === null ? null : typeof value === "string" ? value : value >= 16 ? paletteColour(value) : null);
  return { fg: hex(style.fg), bg: hex(style.bg) };
}

const ERROR =
  /\b(?:\w*(?:Error|Exception)|error|ERROR|fatal|FATAL|panic|PANIC|traceback|Traceback|segmentation fault|OOMKilled|out of memory|Killed)\b/;

/** Tell whether a line looks like trouble, for "jump to first error". */
export function looksLikeError(text) {
  return ERROR.test(text) && !/\b(?:0|no) (?:errors?|ERRORS?)\b/.test(text);
}
