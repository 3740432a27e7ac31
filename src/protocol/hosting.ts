/**
 * What a gateway and the binding directly under it know of each other. Such a binding need not
 * check arguments that the gateway has checked, nor copy values that the gateway encodes at once.
 */
import type { Access, Operation } from '../correctable/operation.ts';
import {
  ParsedOperation,
  parseArgsOf,
  type RegisteredOperation,
  computeKey,
} from '../contract/operation-registry.ts';
import { deepCopy } from '../values/deep-copy.ts';

/**
 * An operation whose arguments have been checked. A store with the same contract need not check
 * them again.
 */
export class CheckedOperation extends ParsedOperation implements Operation {
  readonly name: string;
  readonly access: Access;
  /** The arguments as the schema returned them. */
  readonly args: unknown;
  /**
   * The key that the contract computes from the arguments. The client's key is only a claim, and
   * may belong to another object.
   */
  readonly key?: string;
  readonly #prepared: object | undefined;

  /**
   * Checks an operation that a client submits, by its entry in the `contract`. `prepared` is what
   * the binding has prepared for it, if it prepares operations.
   */
  constructor(
    submitted: SubmittedOperation,
    entry: RegisteredOperation,
    contract: { readonly name: string },
    prepared?: object,
  ) {
    super(submitted.args);
    this.name = submitted.name;
    this.access = submitted.access;
    this.#prepared = prepared;
    this.args = parseArgsOf(entry, this, contract);
    const key = computeKey(entry.key, this.args, this.name);
    if (key !== undefined) this.key = key;
  }

  /**
   * Returns what the binding has prepared for this operation. It is `undefined` for a copy, whose
   * arguments may have been changed.
   */
  static getPrepared(operation: Operation): object | undefined {
    return #prepared in operation ? operation.#prepared : undefined;
  }
}

/** An operation as a client has sent it. */
interface SubmittedOperation {
  readonly name: string;
  readonly access: Access;
  readonly args: unknown;
}

/**
 * A binding that prepares the operations of a contract, as a database prepares statements. A
 * gateway asks for it once for each operation, and passes it back with the operations that clients
 * submit. So the binding need not find the operation by its name, nor check its arguments.
 */
export interface PreparingBinding {
  /**
   * Returns what is passed back. It is `undefined` if the binding does not execute `registered`,
   * but another operation of this name, or none.
   */
  prepareOperation(name: string, registered: RegisteredOperation): object | undefined;
}

/**
 * An operation for a caller that may keep it. Later changes to it do not change what is executed.
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

/**
 * A sink that encodes at once what it receives. So a store in the same process may pass it values
 * that it changes later.
 */
export abstract class EncodingSink {
  /** Marks this very object. A sink that wraps it is an ordinary one. */
  readonly #isMarked = true;

  static isEncodingSink(sink: object): boolean {
    return #isMarked in sink && sink.#isMarked;
  }
}
