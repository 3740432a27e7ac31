/** Which operation comes n-th in a mix, and on which key: drawn from a seed, so that all contenders are asked the same. */
import { seeded, wholeBetween } from '../../demo/shared/random.ts';
import type { Submit } from './loops.ts';

/** Keys, or accounts, of every workload. */
export const KEYS = 1000;

const KINDS = ['read', 'deposit', 'withdraw'] as const;
type Kind = (typeof KINDS)[number];

/** Of a hundred operations, as in the shopping mix of RedBlue (OSDI 2012, Table 4): mostly reads. */
export const SHARES: Readonly<Record<Kind, number>> = { read: 80, deposit: 15, withdraw: 5 };

/** How to begin the n-th operation of a kind; its account is the n-th, counted round and round. */
export type Submits = Readonly<Record<Kind, Submit>>;

const SEED = 1;
/** More than a run begins: after so many the same operations come again. */
const DRAWS = 2 ** 18;

/**
 * Kind and key drawn independently of each other: every account is read and changed, and what changes it comes between
 * reads. Drawn beforehand, since drawing would take processor time of the clients that are measured.
 */
export function mixOf(submits: Submits): Submit {
  const draws = drawn();
  const oneOfKinds = KINDS.map((kind) => submits[kind]);
  return (n) => {
    const draw = draws[n % DRAWS] as number;
    return (oneOfKinds[Math.floor(draw / KEYS)] as Submit)(draw % KEYS);
  };
}

/** One number a draw: the kind's place times `KEYS`, and the key. */
function drawn(): Uint16Array {
  const random = seeded(SEED);
  return Uint16Array.from({ length: DRAWS }, () => {
    const kind = kindAt(wholeBetween(random, 0, 99));
    return KINDS.indexOf(kind) * KEYS + wholeBetween(random, 0, KEYS - 1);
  });
}

/** The kind of one operation of a hundred. */
function kindAt(hundredth: number): Kind {
  if (hundredth < SHARES.read) return 'read';
  return hundredth < SHARES.read + SHARES.deposit ? 'deposit' : 'withdraw';
}
