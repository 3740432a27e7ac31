/**
 * Operations on a server, between the gateway that checks their arguments and
 * the store that executes them.
 */
import type { Access, Operation } from '../../correctable/operation.ts';
import {
  ParsedOperation,
  parseArgs,
  type OperationRegistry,
} from './operation-registry.ts';
import { computeKey } from './parse-args.ts';
import { deepCopy } from '../../values/deep-copy.ts';

/**
 * An operation whose arguments have been checked: a store with the same
 * contract need not do so again.
 */
export class CheckedOperation extends ParsedOperation implements Operation {
  readonly name: string;
  readonly access: Access;
  /** As the schema gave them back. */
  readonly args: unknown;
  /**
   * As the contract makes it of these: what the client calls the key is a
   * claim, and may be of another object.
   */
  readonly key?: string;
  readonly #checkedBy: OperationRegistry['operations'];

  /**
   * Checks what a client submits. `catalogue` may have compiled schemas of the
   * operations in `checkedBy`.
   */
  constructor(
    name: string,
    effect: Access,
    args: unknown,
    catalogue: OperationRegistry,
    checkedBy: OperationRegistry['operations'],
  ) {
    super(args);
    this.name = name;
    this.access = effect;
    this.#checkedBy = checkedBy;
    this.args = parseArgs(catalogue, this);
    const key = computeKey(checkedBy[this.name]?.key, this.args, this.name);
    if (key !== undefined) this.key = key;
  }

  /**
   * Whether the arguments of `operation` are what the contract with these
   * operations gave.
   */
  static isCheckedBy(
    operations: OperationRegistry['operations'],
    operation: Operation,
  ): boolean {
    return #checkedBy in operation && operation.#checkedBy === operations;
  }
}

/**
 * An operation for a caller that may keep it: later changes to it do not change
 * what is executed.
 */
class BorrowedOperation extends ParsedOperation implements Operation {
  readonly name: string;
  readonly access: Access;
  readonly args: unknown;
  readonly key?: string;

  constructor(operation: Operation) {
    super(ParsedOperation.getInput(operation));
    const { name, access, args, key } = operation;
    this.name = name;
    this.access = access;
    this.args = deepCopy(args);
    if (key !== undefined) this.key = key;
  }
}

/** The same operation, in an object of its own. */
export function borrowOperation(operation: Operation): Operation {
  return new BorrowedOperation(operation);
}
