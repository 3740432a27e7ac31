/** What a field's changes add up to, kind by kind: the meaning of docs/spec/redblue.md §2, and nothing clever. */
import type { Effect } from '../../../server/records/effect.ts';
import type { Field } from '../../../server/service/tables.ts';
import { byPlace, byTime, compare, hasSeen, type Change } from './changes.ts';
import { ledgerOf } from './ledger.ts';

type Changes = readonly Change[];
const valuesOf = (changes: Changes): unknown[] => changes.map(({ effect }) => effect.value);

type Meaning = (changes: Changes, min: number) => unknown;

/** By its type it asks for a kind that is new. */
const KINDS: Readonly<Record<Field['kind'], Meaning>> = {
  bounded: ledgerOf,
  counter: (changes) => Number(valuesOf(changes).reduce<bigint>((sum, amount) => sum + BigInt(amount as number), 0n)),
  register: (changes) => valuesOf(changes.toSorted(byTime)).at(-1),
  cell: (changes) => valuesOf(changes.toSorted(byPlace)).at(-1),
  log: (changes) => valuesOf(changes.toSorted(byTime)),
  set: (changes) => {
    const removals = changes.filter(({ effect }) => effect.action === 'remove');
    const isTaken = (addition: Change): boolean =>
      removals.some((removal) => removal.effect.value === addition.effect.value && hasSeen(removal, addition));
    const left = changes.filter((change) => change.effect.action === 'add' && !isTaken(change));
    return new Set((valuesOf(left) as (string | number)[]).toSorted(compare));
  },
  stock: (changes) => {
    let left = 0n;
    for (const { effect } of changes.toSorted(byPlace)) left = stockAfter(left, effect).left;
    return Number(left);
  },
  queue: (changes) => {
    const items: unknown[] = [];
    for (const { effect } of changes.toSorted(byPlace)) {
      if (effect.action === 'push') items.push(effect.value);
      else items.shift();
    }
    return { size: items.length, at: (index: number) => items[index] };
  },
};

/** Fields that only red operations change: they go by the red order. */
export const RED_ONLY: ReadonlySet<string> = new Set(['cell', 'queue', 'stock']);

/** What an effect on a field of this kind yields, which read as `before`. */
export function resultOf(kind: string, effect: Effect, before: unknown): unknown {
  if (kind === 'cell') return before;
  if (kind === 'stock') {
    const { left, took } = stockAfter(BigInt(before as number), effect);
    return effect.action === 'add' ? { remaining: Number(left) } : { took, remaining: Number(left) };
  }
  if (kind !== 'queue') return undefined;
  const { size, at } = before as { readonly size: number; at(index: number): unknown };
  if (effect.action === 'push') return { size: size + 1 };
  return size === 0 ? { found: false, remaining: 0 } : { found: true, item: at(0), remaining: size - 1 };
}

/** A take that would leave too little takes nothing. */
function stockAfter(left: bigint, { action, value }: Effect): { readonly left: bigint; readonly took: boolean } {
  if (action === 'add') return { left: left + BigInt(value as number), took: true };
  const { amount, atLeast } = value as { readonly amount: number; readonly atLeast: number };
  const took = left - BigInt(amount) >= BigInt(atLeast);
  return { left: took ? left - BigInt(amount) : left, took };
}

/** The value of a field of this kind after these changes, in whatever order they are given; `min` of a bounded one. */
export function valueOf(kind: string, changes: Changes, min = 0): unknown {
  const add = (KINDS as Readonly<Record<string, Meaning>>)[kind];
  if (add === undefined)
    throw new Error(`the oracle knows no fields of kind '${kind}': say in kinds.ts what they mean`);
  return add(changes, min);
}
