/**
 * The facts that both ends of the wire need from a service contract: names,
 * access and argument schemas of its operations.
 */
import { CorrectableError, check } from '../../correctable/errors.ts';
import { isRecord } from '../../correctable/validate.ts';
import type { Access, Operation } from '../../correctable/operation.ts';
import { hasTimeToLive, refuseTimeToLive } from '../../values/time-to-live.ts';
import { parseArgsWith } from './parse-args.ts';
import { hashOperation } from './schema-hash.ts';
import type { Schema } from './schema-parts.ts';

/** One operation of a registry. */
export interface RegisteredOperation {
  readonly access: Access;
  readonly args: Schema;
  /**
   * Returns the object that the operation acts on, from the parsed arguments.
   * If absent, operations have no `key`.
   */
  key?(args: unknown): string;
}

/** A closed set of named operations. A service contract is one. */
export interface OperationRegistry {
  readonly name: string;
  /**
   * Changes whenever the meaning of the wire format does. Both ends compare it
   * before any operation.
   */
  readonly hash: string;
  readonly operations: Readonly<Record<string, RegisteredOperation>>;
}

const operationHashCache = new WeakMap<RegisteredOperation, string>();

/**
 * Returns the fingerprint of the operation `name`, computed once. Returns
 * `undefined` if there is no such operation.
 */
export function findOperationHash(
  { operations }: Pick<OperationRegistry, 'operations'>,
  name: string,
): string | undefined {
  const entry = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (entry === undefined) return undefined;
  let hash = operationHashCache.get(entry);
  if (hash === undefined)
    operationHashCache.set(entry, (hash = hashOperation(entry)));
  return hash;
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if the value is no contract; the
 * message shows the correct `call`
 */
export function checkRegistry(value: unknown, call: string): void {
  check(
    isRecord(
      (value as Partial<OperationRegistry> | null | undefined)?.operations,
    ),
    'contract',
    `write ${call}`,
  );
}

export function isRegistered(
  registry: OperationRegistry,
  operation: Operation,
): boolean {
  return findEntry(registry, operation)?.access === operation.access;
}

/**
 * Checks an operation and returns it with the caller's arguments. The schema's
 * output may be no valid input.
 */
export function checkOperation<T>(
  registry: OperationRegistry,
  operation: Operation<T>,
): Operation<T> {
  parseArgs(registry, operation);
  return restoreInputArgs(operation);
}

/**
 * Returns the arguments of `operation` as the schema returns them, for the code
 * that executes it. Call it once per operation in a store of your own, in
 * process or behind a gateway with the same contract. It parses what the caller
 * passed, even if other code has parsed that before.
 *
 * @throws CorrectableError `UNSUPPORTED` if the contract does not name the
 * operation; `INVALID_ARGUMENT` with the path of the field if an argument does
 * not fit
 * @example
 * const { queue } = parseArgs(shop, shop.dequeue({ queue: 'tickets' })) as { queue: string };
 */
export function parseArgs(
  registry: OperationRegistry,
  operation: Operation,
): unknown {
  checkRegistry(registry, 'parseArgs(contract, operation)');
  check(isRecord(operation), 'operation', 'give one of the contract');
  const entry = findEntry(registry, operation);
  if (entry === undefined)
    throw createUnknownOperationError(
      registry.name,
      operation.name,
      Object.keys(registry.operations),
    );
  return parseArgsOf(entry, operation, registry);
}

/** Returns the error for an operation that the contract does not name. */
export function createUnknownOperationError(
  contract: string,
  operation: string,
  known: Iterable<string>,
): CorrectableError {
  return new CorrectableError(
    'UNSUPPORTED',
    `${contract} has no operation ${operation}, only ${[...known].join(', ')}`,
  );
}

/** Does what `parseArgs` does, for an operation whose entry was found. */
export function parseArgsOf(
  entry: RegisteredOperation,
  operation: Operation,
  registry: { readonly name: string },
): unknown {
  if (entry.access !== operation.access) {
    const message = `${operation.name} is a ${entry.access}, not a ${operation.access}: build it from the contract`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'access',
    });
  }
  const input = ParsedOperation.getInput(operation);
  if (dropsTimeToLive(entry.args, { ...operation, args: input }))
    refuseTimeToLive(
      { ...operation, args: input },
      `the contract ${registry.name}`,
    );
  return parseArgsWith(entry.args, input, operation.name);
}

/**
 * A plain schema without the field would drop it in silence, and the value
 * would never expire.
 */
function dropsTimeToLive(schema: Schema, operation: Operation): boolean {
  const def = schema._zod.def as Readonly<Record<string, unknown>>;
  const isPlain = def['type'] === 'object' && def['catchall'] === undefined;
  return (
    isPlain &&
    hasTimeToLive(operation) &&
    !('ttlMs' in (def['shape'] as object))
  );
}

function findEntry(
  { operations }: OperationRegistry,
  { name }: Operation,
): RegisteredOperation | undefined {
  return Object.hasOwn(operations, name) ? operations[name] : undefined;
}

/**
 * Keeps the parsed arguments of this very object. A copy, whose arguments may
 * have been changed, is an ordinary operation.
 */
export class ParsedOperation {
  readonly #input: unknown;

  constructor(input: unknown) {
    this.#input = input;
  }

  /**
   * Returns the arguments that the caller passed. A store with another contract
   * parses these by its own schema.
   */
  static getInput(operation: Operation): unknown {
    return #input in operation ? operation.#input : operation.args;
  }
}

/**
 * Returns the operation to send on, with the arguments that the caller passed.
 */
export function restoreInputArgs<T>(operation: Operation<T>): Operation<T> {
  const args = ParsedOperation.getInput(operation);
  return args === operation.args ? operation : { ...operation, args };
}
