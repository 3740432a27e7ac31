/** Operations on a server, between the gateway that checks their arguments and the store that executes them. */
import type { Effect, Operation } from '../correctable/operation.ts';
import { parseArgs } from './catalogue.ts';
import type { Catalogue } from './catalogue.ts';
import { INPUT } from './parse-args.ts';
import type { SubmitRow } from './submit.ts';

/** An operation whose arguments have been checked: a store with the same contract need not do so again. */
export class CheckedOperation implements Operation {
  readonly name: string;
  readonly effect: Effect;
  /** As the schema gave them back. */
  readonly args: unknown;
  /** As they came: a store with another contract makes its own of them. */
  readonly [INPUT]: unknown;
  readonly key?: string;
  /** The operations of the contract. */
  readonly checkedBy: Catalogue['operations'];

  /**
   * The operation of a row, checked by `catalogue`: its schemas may be compiled ones of those in `checkedBy`.
   *
   * @throws CorrectableError `UNSUPPORTED` or `INVALID_ARGUMENT`, as `parseArgs`.
   */
  constructor(row: SubmitRow, catalogue: Catalogue, checkedBy: Catalogue['operations']) {
    const key = row[6];
    this.name = row[2];
    this.effect = row[3];
    this[INPUT] = row[5];
    if (typeof key === 'string') this.key = key;
    this.checkedBy = checkedBy;
    this.args = parseArgs(catalogue, this);
  }
}
