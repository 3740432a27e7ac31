/**
 * The list of all kinds of fields. Checks and error texts come from it. The compiler asks for a new
 * kind in the lists of the simulator.
 */
import { boundedCounterKind } from './bounded-counter.ts';
import { counterKind } from './counter.ts';
import type { FieldKind, FieldKindName } from './field.ts';
import { logKind } from './log.ts';
import { queueKind } from './queue.ts';
import { registerKind, cellKind } from './register.ts';
import { setKind } from './set.ts';
import { stockKind } from './stock.ts';

export const FIELD_KINDS: Readonly<Record<FieldKindName, FieldKind>> = {
  counter: counterKind,
  register: registerKind,
  set: setKind,
  log: logKind,
  cell: cellKind,
  queue: queueKind,
  stock: stockKind,
  bounded: boundedCounterKind,
};

/** The functions that declare fields, as error texts list them. */
export const FIELD_BUILDERS = listAlternatives(
  Object.values(FIELD_KINDS).map(({ builder }) => builder),
);

/** The kinds that can be indexed, as error texts list them. */
export const INDEXABLE_KINDS = listAlternatives(
  Object.values(FIELD_KINDS)
    .filter(({ isIndexable }) => isIndexable === true)
    .map(({ name }) => name),
);

function listAlternatives(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
