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
 * An operation whose arguments have been checked. A store with the same
 * contract need not check them again.
 */
export class CheckedOperation extends ParsedOperation implements Operation {
  readonly name: string;
  readonly access: Access;
  /** The arguments as the schema returned them. */
  readonly args: unknown;
  /**
   * The key that the contract computes from the arguments. The client's key is
   * only a claim, and may belong to another object.
   */
  readonly key?: string;
  readonly #checkedBy: OperationRegistry['operations'];

  /**
   * Checks an operation that a client submits. The registry may have compiled
   * schemas of the operations in `checkedBy`.
   */
  constructor(
    name: string,
    access: Access,
    args: unknown,
    registry: OperationRegistry,
    checkedBy: OperationRegistry['operations'],
  ) {
    super(args);
    this.name = name;
    this.access = access;
    this.#checkedBy = checkedBy;
    this.args = parseArgs(registry, this);
    const key = computeKey(checkedBy[this.name]?.key, this.args, this.name);
    if (key !== undefined) this.key = key;
  }

  /**
   * Returns whether the contract with these operations has returned the
   * arguments of `operation`.
   */
  static isCheckedBy(
    operations: OperationRegistry['operations'],
    operation: Operation,
  ): boolean {
    return #checkedBy in operation && operation.#checkedBy === operations;
  }
}

/**
 * An operation for a caller that may keep it. Later changes to it do not change
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

/** Returns the same operation in an object of its own. */
export function borrowOperation(operation: Operation): Operation {
  return new BorrowedOperation(operation);
}
