// The newest N log lines, each place once, in the order of their place. Pure, tested by `node --test`.

/** Order of two places: numbers by value, longer digit strings later, anything else as text. */
export function comparePlaces(left, right) {
  const digits = /^\d+$/;
  const [a, b] = [String(left), String(right)];
  if (digits.test(a) && digits.test(b) && a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

export class LineRing {
  constructor(limit = 5000) {
    this.limit = limit;
    this.lines = [];
    this.places = new Set();
    this.dropped = 0;
    this.last = null;
  }

  /** Add lines that are not here yet; returns those added in order and how many old ones fell off the front. */
  add(incoming) {
    const fresh = [];
    for (const line of incoming) {
      if (this.places.has(line.place)) continue;
      if (this.dropped > 0 && this.lines.length && comparePlaces(line.place, this.lines[0].place) < 0) continue;
      this.places.add(line.place);
      fresh.push(line);
    }
    fresh.sort((a, b) => comparePlaces(a.place, b.place));
    const inOrder = !this.lines.length || !fresh.length || comparePlaces(fresh[0].place, this.last) > 0;
    this.lines.push(...fresh);
    if (!inOrder) this.lines.sort((a, b) => comparePlaces(a.place, b.place));
    if (this.lines.length) this.last = this.lines[this.lines.length - 1].place;
    const gone = this.lines.splice(0, Math.max(0, this.lines.length - this.limit));
    for (const line of gone) this.places.delete(line.place);
    this.dropped += gone.length;
    return { added: fresh, gone: gone.length, inOrder };
  }

  clear() {
    this.lines = [];
    this.places.clear();
    this.dropped = 0;
    this.last = null;
  }
}
