/**
 * Parses arguments by the schema of a contract. A caller passes the schema's
 * *input*, which is what is sent. The store that executes the operation gets
 * its *output*, made once where the operation arrives. Code in between discards
 * the output: the client, for example, parses to check arguments or to make a
 * key of them.
 */
import { $ZodAsyncError } from 'zod/v4/core';
import type * as z from 'zod/v4-mini';
import { CorrectableError } from '../../correctable/errors.ts';
import { parseSync, isPromiseAndHandled } from './parse-sync.ts';
import type { Schema } from './schema-parts.ts';

/**
 * Returns the parsed arguments of the operation with the name `operation`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the path of the field that
 * does not fit; `UNSUPPORTED` for an asynchronous schema
 */
export function parseArgsWith(
  schema: Schema,
  args: unknown,
  operation: string,
): unknown {
  const result = safeParseArgs(schema, args, operation);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = ['args', ...(issue?.path ?? []).map(String)].join('.');
  const message = `${operation}: ${field}: ${issue?.message ?? 'invalid'}`;
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
 * Returns the key of an operation with these parsed arguments, if it has one.
 * Throws `INVALID_ARGUMENT` if `make` fails.
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
