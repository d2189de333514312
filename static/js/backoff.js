// How long to wait before the next connection attempt. Pure.

/** Milliseconds for the given attempt (0 = first retry): doubling from 0.5 s to 20 s, with full jitter above a fifth. */
export function backoff(attempt, chance = Math.random()) {
  const ceiling = Math.min(20000, 500 * 2 ** Math.min(attempt, 10));
  return Math.round(ceiling * (0.2 + 0.8 * chance));
}

/** The age of data in the fewest words: 4 s, 3 min, 2 h. */
export function shortAge(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}
