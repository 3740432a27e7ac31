/** Draws random transactions on lists. */
import type { Random } from '../../../src/server/service/collections/random.ts';
import { drawShare, type Shares } from '../repeat.ts';

/**
 * `strict`: reads and appends. `read`: only reads, and must be strictly serializable as well.
 * `snapshot`: only reads, of one state that may be an old one. `refused`: its function throws at
 * the end, because of what it has read.
 */
export type TransactionKind = 'strict' | 'read' | 'snapshot' | 'refused';

export type PlannedStep =
  | { readonly append: readonly [key: string, element: number] }
  /** The keys of one request. */
  | { readonly read: readonly string[] };

export interface TransactionPlan {
  readonly kind: TransactionKind;
  readonly steps: readonly PlannedStep[];
}

const KINDS: Shares<TransactionKind> = [
  [0.55, 'strict'],
  [0.1, 'read'],
  [0.15, 'snapshot'],
  [0.2, 'refused'],
];

/**
 * Bounds the lists, each of which is read and written as a whole. Many keys find more than long
 * lists.
 */
const MAX_APPENDS = 32;
const MAX_STEPS = 4;

export class ListAppendPlans {
  readonly #random: Random;
  /** The keys in use, with how often each was given out for an append. */
  readonly #keys: { name: string; appends: number }[];
  /** All keys that were ever in use. */
  readonly keys: string[] = [];
  #elements = 0;

  constructor(random: Random, keyCount: number) {
    this.#random = random;
    this.#keys = Array.from({ length: keyCount }, () => this.#createKey());
  }

  draw(): TransactionPlan {
    const kind = drawShare(this.#random, KINDS);
    const canAppend = kind === 'strict' || kind === 'refused';
    const count = this.#random.between(canAppend ? 1 : 2, MAX_STEPS);
    const steps = Array.from({ length: count }, () => this.#drawStep(canAppend));
    return { kind, steps };
  }

  #drawStep(canAppend: boolean): PlannedStep {
    if (canAppend && this.#random.chance(0.6)) return this.#drawAppend();
    const count = this.#random.chance(0.3) ? 2 : 1;
    return { read: Array.from({ length: count }, () => this.#keys[this.#drawIndex()]!.name) };
  }

  #drawAppend(): PlannedStep {
    const index = this.#drawIndex();
    const key = this.#keys[index]!;
    key.appends += 1;
    if (key.appends === MAX_APPENDS) this.#keys[index] = this.#createKey();
    this.#elements += 1;
    return { append: [key.name, this.#elements] };
  }

  #drawIndex(): number {
    return this.#random.between(0, this.#keys.length - 1);
  }

  #createKey(): { name: string; appends: number } {
    const name = `list:${this.keys.length}`;
    this.keys.push(name);
    return { name, appends: 0 };
  }
}
