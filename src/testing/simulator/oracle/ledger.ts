/** Rights to a bounded field, counted from all changes to it: docs/spec/rights.md, and nothing clever. */
import type { Change } from './changes.ts';

/** What the changes add up to: numbers by the list that they stand in, of which the first is that of the red order. */
interface ModelLedger {
  readonly value: number;
  readonly left: number;
  readonly given: number;
  readonly taken: number;
  readonly burnt: number;
  readonly held: ReadonlyMap<number, number>;
  readonly closed: ReadonlySet<number>;
}

export function ledgerOf(changes: readonly Change[], min: number): ModelLedger {
  const held = new Map<number, number>();
  const closed = new Set<number>();
  const sums = { given: 0, taken: 0 };
  const change = (owner: number, amount: number): void => void held.set(owner, (held.get(owner) ?? 0) + amount);
  for (const { by, effect } of changes) {
    const { action, value } = effect;
    if (action === 'give') {
      sums.given += value as number;
      change(by.site, value as number);
    } else if (action === 'take') {
      sums.taken += value as number;
      change(by.list, -(value as number));
    } else if (action === 'transfer') {
      const { to, amount } = value as { readonly to: number; readonly amount: number };
      change(by.list, -amount);
      change(to, amount);
    } else closed.add(value as number);
  }
  let [left, burnt] = [0, 0];
  for (const [owner, rights] of held) {
    if (closed.has(owner)) burnt += rights;
    else left += rights;
  }
  return { value: min + left, left, burnt, held, closed, ...sums };
}

/** As generators at a site read it; of no site, all rights are there. */
export function ledgerViewAt({ value, left, held, closed }: ModelLedger, site: number | undefined): unknown {
  const rights = site === undefined ? left : closed.has(site) ? 0 : (held.get(site) ?? 0);
  return { value, left, rights };
}

/** What is compared of two ledgers, whoever has made them. */
export function comparedLedger(ledger: ModelLedger | SiteLedger): unknown {
  const { value, given, taken, burnt } = ledger;
  const held = 'held' in ledger ? [...ledger.held] : ledger.holders.map((each) => [each, ledger.at(each)] as const);
  const some = held.filter(([, rights]) => rights !== 0).toSorted(([a], [b]) => a - b);
  return { value, given, taken, burnt, held: some };
}

/** A ledger as a site has it. */
interface SiteLedger extends Pick<ModelLedger, 'value' | 'given' | 'taken' | 'burnt'> {
  readonly holders: readonly number[];
  at(origin: number): number;
}

export function isLedger(value: unknown): value is ModelLedger | SiteLedger {
  return typeof value === 'object' && value !== null && 'burnt' in value;
}
