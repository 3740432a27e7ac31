/** What is in flight on a bounded field: takes that will draw on the pool, and what is given. Their sums say all. */
import { Fifo } from '../../collections/fifo.ts';
import { LedgerOver } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { OwnedEffects } from './owned-effects.ts';
import type { Owned } from './owned-effects.ts';
import { plus } from './sum.ts';
import type { Sum } from './sum.ts';

/** Pending effects on one bounded field. */
export class PendingBounded extends OwnedEffects {
  #pending = new Fifo<Owned>();
  readonly #sums: { given: Sum; taken: Sum } = { given: 0, taken: 0 };

  protected add(owned: Owned): undefined {
    this.#pending.push(owned);
    this.#count(owned, 1);
  }

  protected addRemoval(): void {
    throw new Error('rows with a bounded field are not removed');
  }

  protected takeOldest(owner: number): boolean {
    if (this.#pending.at(0)?.owner !== owner) return false;
    while (this.#pending.at(0)?.owner === owner) this.#count(this.#pending.shift() as Owned, -1);
    return true;
  }

  protected keep(isWanted: (owned: Owned) => boolean): readonly Owned[] {
    const rest = this.#pending.slice().filter(isWanted);
    this.#pending = new Fifo(rest);
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
