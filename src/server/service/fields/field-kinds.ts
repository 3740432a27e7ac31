/** All kinds of fields by name. */
import { boundedCounterKind } from './bounded-counter.ts';
import { counterKind } from './counter.ts';
import type { FieldKind } from './field.ts';
import { logKind } from './log.ts';
import { queueKind } from './queue.ts';
import { registerKind, cellKind } from './register.ts';
import { setKind } from './set.ts';
import { stockKind } from './stock.ts';

/** Names of the field kinds. */
export type FieldKindName =
  | 'counter'
  | 'register'
  | 'set'
  | 'log'
  | 'cell'
  | 'queue'
  | 'stock'
  | 'bounded';

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
