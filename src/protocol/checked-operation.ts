/** Operations on a server, between the gateway that checks their arguments and the store that executes them. */
import type { Effect, Operation } from '../correctable/operation.ts';
import type { Catalogue } from './catalogue.ts';

/** An operation whose arguments have been checked: a store with the same contract need not do so again. */
export class CheckedOperation implements Operation {
  readonly name: string;
  readonly effect: Effect;
  /** As the schema gave them back. */
  readonly args: unknown;
  readonly key?: string;
  /** The operations of the contract. */
  readonly checkedBy: Catalogue['operations'];

  constructor({ name, effect, key }: Operation, args: unknown, checkedBy: Catalogue['operations']) {
    this.name = name;
    this.effect = effect;
    this.args = args;
    if (key !== undefined) this.key = key;
    this.checkedBy = checkedBy;
  }
}
