/** What a field's changes add up to, kind by kind: the meaning of docs/spec/redblue.md §2, and nothing clever. */
import { byPlace, byTime, hasSeen } from './changes.ts';
import type { Change } from './changes.ts';

type Changes = readonly Change[];
const valuesOf = (changes: Changes): unknown[] => changes.map(({ effect }) => effect.value);

const KINDS: Readonly<Record<string, (changes: Changes) => unknown>> = {
  counter: (changes) => Number(valuesOf(changes).reduce<bigint>((sum, amount) => sum + BigInt(amount as number), 0n)),
  register: (changes) => valuesOf(changes.toSorted(byTime)).at(-1),
  cell: (changes) => valuesOf(changes.toSorted(byPlace)).at(-1),
  log: (changes) => valuesOf(changes.toSorted(byTime)),
  set: (changes) => {
    const removals = changes.filter(({ effect }) => effect.action === 'remove');
    const isTaken = (addition: Change): boolean =>
      removals.some((removal) => removal.effect.value === addition.effect.value && hasSeen(removal, addition));
    const left = changes.filter((change) => change.effect.action === 'add' && !isTaken(change));
    return new Set(valuesOf(left));
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

/** The value of a field of this kind after these changes, in whatever order they are given. */
export function valueOf(kind: string, changes: Changes): unknown {
  const add = KINDS[kind];
  if (add === undefined) throw new Error(`the oracle knows no fields of kind '${kind}': say in kinds.ts what they mean`);
  return add(changes);
}
