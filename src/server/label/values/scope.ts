/** How large the values of a run are: small ones as often as large ones, since in them operations meet. */

/** What a run is drawn from. */
export interface Scope {
  /** So many names. */
  readonly names: number;
  /** Whole numbers from 0 on, or from the smallest that fits, up to so much more. */
  readonly numberMax: number;
  /** Operations of the common past at most. */
  readonly past: number;
  /** Few operations over and over, on few rows or with few names: what has room for some becomes full. */
  readonly isNarrow?: true;
}

const SCOPES: readonly [Scope, ...Scope[]] = [
  { names: 1, numberMax: 2, past: 3 },
  { names: 2, numberMax: 3, past: 5 },
  { names: 3, numberMax: 10, past: 7 },
  { names: 4, numberMax: 100, past: 7 },
];

const NARROW: Scope = { names: 16, numberMax: 16, past: 24, isNarrow: true };
/** Rounds of the others between two narrow ones: each of them twice. */
const WIDE_ROUNDS = 2 * SCOPES.length;

/** That of the round with this number: they take turns, so that however many there are, some have each. */
export function scopeOf(round: number): Scope {
  const turn = round % (WIDE_ROUNDS + 1);
  return turn === WIDE_ROUNDS ? NARROW : (SCOPES[turn % SCOPES.length] ?? SCOPES[0]);
}
