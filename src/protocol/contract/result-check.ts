/** Results held to a contract, by compiled schemas: about 30 ns an operation. */
import { $ZodAsyncError } from 'zod/v4/core';
import type * as z from 'zod/v4-mini';
import { CorrectableError } from '../../correctable/errors.ts';
import { compiled, parseNow, takeIn } from './parse-now.ts';
import type { Schema } from './schema-parts.ts';

/** Gives the result of an operation as its schema lets it out: without what that does not name. */
export type ResultCheck = (operation: string, result: unknown) => unknown;

/** What is needed of a contract's operations. */
export type ResultSchemas = Readonly<Record<string, { readonly result: Schema }>>;

/**
 * Compiles the result schemas of a contract into a check. The check throws `INVALID_VALUE` with the path of what does
 * not fit, `UNSUPPORTED` for a schema that answers later, and nothing but `CorrectableError`s.
 */
export function resultCheck(operations: ResultSchemas): ResultCheck {
  const schemas = new Map(Object.entries(operations).map(([name, { result }]) => [name, compiled(result)]));
  return (operation, result) => {
    const schema = schemas.get(operation);
    if (schema === undefined) return result;
    if (takeIn(result)) throw promised(operation);
    const parsed = safeParse(schema, result, operation);
    if (!parsed.success) throw misfit(operation, parsed.error.issues[0]);
    return parsed.data;
  };
}

function safeParse(schema: Schema, result: unknown, operation: string): z.core.util.SafeParseResult<unknown> {
  try {
    return parseNow(schema, result);
  } catch (cause) {
    const field = 'result';
    if (cause instanceof $ZodAsyncError) {
      const message = `${operation}: the schema of its result is asynchronous. Check in the generator instead.`;
      throw new CorrectableError('UNSUPPORTED', message, { field, cause });
    }
    const message = `${operation}: the schema of its result threw; the alarms of the site say what. Correct the contract.`;
    throw new CorrectableError('INVALID_VALUE', message, { field, cause });
  }
}

function promised(operation: string): CorrectableError {
  const message = `The generator of '${operation}' gave a promise. It must run on its snapshot alone, without waiting.`;
  return new CorrectableError('INVALID_VALUE', message, { field: 'result' });
}

function misfit(operation: string, issue: z.core.$ZodIssue | undefined): CorrectableError {
  const field = ['result', ...(issue?.path ?? []).map(String)].join('.');
  const message = `${operation}: ${field} does not fit the contract: ${issue?.message ?? 'invalid'}. Correct the service.`;
  return new CorrectableError('INVALID_VALUE', message, { field });
}
