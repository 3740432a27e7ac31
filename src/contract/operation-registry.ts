/**
 * The facts that both ends of the wire need from a service contract: names, access and argument
 * schemas of its operations.
 *
 * A caller passes the *input* of a schema, which is what is sent. The store that executes the
 * operation gets its *output*, made once where the operation arrives. Code in between discards the
 * output: the client, for example, parses to check arguments or to make a key of them.
 */
import { describeIssue } from '../values/describe-issue.ts';
import { $ZodAsyncError } from 'zod/v4/core';
import type * as z from 'zod/v4-mini';
import { CorrectableError, check } from '../correctable/errors.ts';
import { isRecord } from '../correctable/validate.ts';
import type { Access, Operation } from '../correctable/operation.ts';
import { hasTimeToLive, refuseTimeToLive } from '../values/time-to-live.ts';
import { parseSync, isPromiseAndHandled } from './parse-sync.ts';
import { hashOperation } from './schema-hash.ts';
import type { Schema } from './schema-parts.ts';

/** One operation of a registry. */
export interface RegisteredOperation {
  readonly access: Access;
  readonly args: Schema;
  /**
   * Returns the object that the operation acts on, from the parsed arguments. If absent, operations
   * have no `key`.
   */
  key?(args: unknown): string;
}

/** A closed set of named operations. A service contract is one. */
export interface OperationRegistry {
  readonly name: string;
  /**
   * Changes whenever the meaning of the wire format does. Both ends compare it before any
   * operation.
   */
  readonly hash: string;
  readonly operations: Readonly<Record<string, RegisteredOperation>>;
}

const operationHashCache = new WeakMap<RegisteredOperation, string>();

/**
 * Returns the fingerprint of the operation `name`, computed once. Returns `undefined` if there is
 * no such operation.
 */
export function findOperationHash(
  { operations }: OperationRegistry,
  name: string,
): string | undefined {
  const entry = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (entry === undefined) return undefined;
  let hash = operationHashCache.get(entry);
  if (hash === undefined) operationHashCache.set(entry, (hash = hashOperation(entry)));
  return hash;
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` if the value is no contract; the message shows the
 * correct `call`
 */
export function checkRegistry(value: unknown, call: string): void {
  check(
    isRecord((value as Partial<OperationRegistry> | null | undefined)?.operations),
    'contract',
    `write ${call}`,
  );
}

export function isRegistered(registry: OperationRegistry, operation: Operation): boolean {
  return findEntry(registry, operation)?.access === operation.access;
}

/**
 * Checks an operation and returns it with the caller's arguments. The schema's output may be no
 * valid input.
 */
export function checkOperation<T>(
  registry: OperationRegistry,
  operation: Operation<T>,
): Operation<T> {
  parseArgs(registry, operation);
  return restoreInputArgs(operation);
}

/**
 * Returns the arguments of `operation` as the schema returns them, for the code that executes it.
 * Call it once per operation in a store of your own, in process or behind a gateway with the same
 * contract. It parses what the caller passed, even if other code has parsed that before.
 *
 * @throws CorrectableError `UNSUPPORTED` if the contract does not name the operation;
 * `INVALID_ARGUMENT` with the path of the field if an argument does not fit
 * @example
 * const { queue } = parseArgs(shop, shop.dequeue({ queue: 'tickets' })) as { queue: string };
 */
export function parseArgs(registry: OperationRegistry, operation: Operation): unknown {
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
  const { name } = operation;
  const args = ParsedOperation.getInput(operation);
  const received = { name, args };
  if (hasTimeToLive(received) && dropsTimeToLive(entry.args))
    refuseTimeToLive(received, `the contract ${registry.name}`);
  return parseArgsWith(entry.args, args, name);
}

/** A plain schema without the field would drop it in silence, and the value would never expire. */
function dropsTimeToLive(schema: Schema): boolean {
  const def = schema._zod.def as Readonly<Record<string, unknown>>;
  const isPlain = def['type'] === 'object' && def['catchall'] === undefined;
  return isPlain && !('ttlMs' in (def['shape'] as object));
}

function findEntry(
  { operations }: OperationRegistry,
  { name }: Operation,
): RegisteredOperation | undefined {
  return Object.hasOwn(operations, name) ? operations[name] : undefined;
}

/**
 * Returns the parsed arguments of the operation with the name `operation`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the path of the field that does not fit;
 * `UNSUPPORTED` for an asynchronous schema
 */
export function parseArgsWith(schema: Schema, args: unknown, operation: string): unknown {
  const result = safeParseArgs(schema, args, operation);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = ['args', ...(issue?.path ?? []).map(String)].join('.');
  const message = `${operation}: ${field}: ${describeIssue(issue, 'invalid')}`;
  throw new CorrectableError('INVALID_ARGUMENT', message, {
    field,
    cause: result.error,
  });
}

function safeParseArgs(
  schema: Schema,
  args: unknown,
  operation: string,
): z.core.util.SafeParseResult<unknown> {
  try {
    return parseSync(schema, args);
  } catch (cause) {
    if (cause instanceof $ZodAsyncError) {
      const message = `${operation}: the schema of its args is asynchronous: check by what the generator reads instead`;
      throw new CorrectableError('UNSUPPORTED', message, {
        field: 'args',
        cause,
      });
    }
    const message = `${operation}: args: the schema threw; see cause`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'args',
      cause,
    });
  }
}

type KeyFunction = (args: never) => unknown;

/**
 * Returns the key of an operation with these parsed arguments, if it has one. Throws
 * `INVALID_ARGUMENT` if `make` fails.
 */
export function computeKey(
  make: KeyFunction | undefined,
  args: unknown,
  name: string,
): string | undefined {
  try {
    const key = make?.(args as never) ?? undefined;
    if (typeof key === 'string' || key === undefined) return key;
    isPromiseAndHandled(key);
    throw new TypeError(`a key must be a string, not of type ${typeof key}`);
  } catch (cause) {
    const message = `${name}: no key can be made of its args; see cause. Correct the contract.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'args',
      cause,
    });
  }
}

/**
 * Keeps the parsed arguments of this very object. A copy, whose arguments may have been changed, is
 * an ordinary operation.
 */
export class ParsedOperation {
  readonly #input: unknown;

  constructor(input: unknown) {
    this.#input = input;
  }

  /**
   * Returns the arguments that the caller passed. A store with another contract parses these by its
   * own schema.
   */
  static getInput(operation: Operation): unknown {
    return #input in operation ? operation.#input : operation.args;
  }
}

/** Returns the operation to send on, with the arguments that the caller passed. */
export function restoreInputArgs<T>(operation: Operation<T>): Operation<T> {
  const args = ParsedOperation.getInput(operation);
  return args === operation.args ? operation : { ...operation, args };
}
