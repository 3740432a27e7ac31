/** What is in flight on a bounded field: takes that will draw on the pool, and what is given. Their sums say all. */
import { LedgerOver } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { OwnedEffects } from './owned-effects.ts';
import type { Owned } from './owned-effects.ts';
import { OwnedFifo } from './owned-fifo.ts';
import { plus } from './sum.ts';
import type { Sum } from './sum.ts';

/** Pending effects on one bounded field. */
export class PendingBounded extends OwnedEffects {
  readonly #pending = new OwnedFifo();
  readonly #sums: { given: Sum; taken: Sum } = { given: 0, taken: 0 };

  protected add(owned: Owned): undefined {
    this.#pending.push(owned);
    this.#count(owned, 1);
  }

  protected addRemoval(): void {
    throw new Error('rows with a bounded field are not removed');
  }

  protected takeOldest(owner: number): boolean {
    return this.#pending.takeOldest(owner, (owned) => this.#count(owned, -1));
  }

  protected keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    const rest = this.#pending.keep(isWanted);
    this.#sums.given = this.#sums.taken = 0;
    for (const owned of rest) this.#count(owned, 1);
    return rest;
  }

  protected shown(base: unknown): Ledger {
    return new LedgerOver(base as Ledger, { ...this.#sums });
  }

  #count({ effect }: Owned, sign: 1 | -1): void {
    const amount = sign * (effect?.value as number);
    if (effect?.action === 'give') this.#sums.given = plus(this.#sums.given, amount);
    else if (effect?.action === 'take') this.#sums.taken = plus(this.#sums.taken, amount);
  }
}
