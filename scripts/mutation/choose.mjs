/** A part of many, the same for the same seed. */

/**
 * @template T
 * @param {readonly T[]} all
 * @param {number} seed
 * @returns {T[]} all of them in an order that depends on the seed alone
 */
export function shuffled(all, seed) {
  const next = randomOf(seed);
  const out = [...all];
  for (let i = out.length - 1; i > 0; i -= 1) {
    const j = Math.floor(next() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** Mulberry32: numbers from 0 up to 1. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
