/**
 * Draws the n-th operation of a mix and its key from a seed, so that all contenders get the same
 * operations.
 */
import { seeded, wholeBetween } from '../../demo/shared/random.ts';
import type { Submit } from './loops.ts';

/** Keys, or accounts, of every workload. */
export const KEYS = 1000;

const KINDS = ['read', 'deposit', 'withdraw'] as const;
type Kind = (typeof KINDS)[number];

/**
 * The number of each kind among a hundred operations, as in the shopping mix of RedBlue (OSDI 2012,
 * Table 4): mostly reads.
 */
export const SHARES: Readonly<Record<Kind, number>> = { read: 80, deposit: 15, withdraw: 5 };

/**
 * Functions that start the n-th operation of each kind. Its account is the n-th one, modulo the
 * number of accounts.
 */
export type Submits = Readonly<Record<Kind, Submit>>;

const SEED = 1;
/** The number of drawn operations, after which they repeat. It is more than a run starts. */
const DRAWS = 2 ** 18;

/**
 * Returns the mix. Kind and key are drawn independently, so every account is both read and changed.
 * They are drawn in advance, because drawing would take processor time of the measured clients.
 */
export function mixOf(submits: Submits): Submit {
  const draws = drawn();
  const oneOfKinds = KINDS.map((kind) => submits[kind]);
  return (n) => {
    const draw = draws[n % DRAWS] as number;
    return (oneOfKinds[Math.floor(draw / KEYS)] as Submit)(draw % KEYS);
  };
}

/** Draws the operations. Each is one number: the index of its kind times `KEYS`, plus its key. */
function drawn(): Uint16Array {
  const random = seeded(SEED);
  return Uint16Array.from({ length: DRAWS }, () => {
    const kind = kindAt(wholeBetween(random, 0, 99));
    return KINDS.indexOf(kind) * KEYS + wholeBetween(random, 0, KEYS - 1);
  });
}

/** Returns the kind of the operation with this number among a hundred. */
function kindAt(hundredth: number): Kind {
  if (hundredth < SHARES.read) return 'read';
  return hundredth < SHARES.read + SHARES.deposit ? 'deposit' : 'withdraw';
}
