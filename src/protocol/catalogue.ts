/** What both ends of the wire need of a service contract: names, effects and the schemas of the arguments. */
import * as z from 'zod/mini';
import { CorrectableError } from '../correctable/errors.ts';
import type { Effect, Operation } from '../correctable/operation.ts';

/** One operation of a catalogue. `args` may be a schema of `zod` or of `zod/mini`. */
export interface CatalogueEntry {
  readonly effect: Effect;
  readonly args: z.core.$ZodType;
}

/** A closed set of named operations. A service contract is one. */
export interface Catalogue {
  readonly name: string;
  /** Changes whenever the meaning of the wire does: both ends compare it before any operation. */
  readonly hash: string;
  readonly operations: Readonly<Record<string, CatalogueEntry>>;
}

/** Whether the catalogue names the operation, with this effect. */
export function isListed(catalogue: Catalogue, operation: Operation): boolean {
  return entryOf(catalogue, operation)?.effect === operation.effect;
}

/** The operation with its arguments as the schema gives them back. Throws `UNSUPPORTED` or `INVALID_ARGUMENT`. */
export function checkOperation<T>(catalogue: Catalogue, operation: Operation<T>): Operation<T> {
  const args = checkArgs(catalogue, operation);
  if (args === operation.args) return operation;
  const { name, effect, key, equals } = operation;
  // Spelt out for those that most are: spreading costs more than the check.
  return key === undefined && equals === undefined ? { name, args, effect } : { ...operation, args };
}

/** The operation's arguments as the schema gives them back. Throws like `checkOperation`. */
export function checkArgs(catalogue: Catalogue, operation: Operation): unknown {
  const entry = entryOf(catalogue, operation);
  if (entry === undefined) {
    const known = Object.keys(catalogue.operations).join(', ');
    throw new CorrectableError('UNSUPPORTED', `${catalogue.name} has no operation ${operation.name}, only ${known}`);
  }
  if (entry.effect !== operation.effect) {
    const message = `${operation.name} is a ${entry.effect}, not a ${operation.effect}: build it from the contract`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'effect' });
  }
  const result = z.safeParse(entry.args, operation.args);
  if (!result.success) throw invalidArgument(operation.name, result.error.issues[0]);
  return result.data;
}

function entryOf({ operations }: Catalogue, { name }: Operation): CatalogueEntry | undefined {
  return Object.hasOwn(operations, name) ? operations[name] : undefined;
}

function invalidArgument(name: string, issue: z.core.$ZodIssue | undefined): CorrectableError {
  const field = ['args', ...(issue?.path ?? []).map(String)].join('.');
  return new CorrectableError('INVALID_ARGUMENT', `${name}: ${field}: ${issue?.message ?? 'invalid'}`, { field });
}
