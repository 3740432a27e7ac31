/** The schemas of elements that several kinds of messages have, with their limits. */
import * as z from 'zod/v4-mini';
import { MAX_LEVEL_INDEX, MAX_LEVELS } from './level-bits.ts';

/**
 * Maximum length of the name of an operation, a level, a key… It limits the size of log lines and
 * table entries.
 */
export const MAX_NAME_LENGTH = 1024;

/** Maximum length of a client's token. */
export const MAX_TOKEN_LENGTH = 16_384;

/**
 * Number of an operation, chosen by the client and counted from 1. It is 0 if the message is about
 * the connection.
 */
export const operationNumber: z.ZodMiniType<number> = z.int().check(z.minimum(1));
/** The first element of messages that are about the connection as a whole. */
export const connectionNumber: z.ZodMiniType<0> = z.literal(0);
/** A number that is echoed or a watermark. */
export const count: z.ZodMiniType<number> = z.int().check(z.minimum(0));
/** Index of a level in the tuple of `hello` and `welcome`. */
export const levelIndex: z.ZodMiniType<number> = z
  .int()
  .check(z.minimum(0), z.maximum(MAX_LEVEL_INDEX));
export const shortText: z.ZodMiniType<string> = z
  .string()
  .check(z.minLength(1), z.maxLength(MAX_NAME_LENGTH));
export const levelNames: z.ZodMiniType<string[]> = z
  .array(shortText)
  .check(z.minLength(1), z.maxLength(MAX_LEVELS));
export const authToken: z.ZodMiniType<string> = z.string().check(z.maxLength(MAX_TOKEN_LENGTH));
/** A session's token, as opaque text. */
export const sessionToken: z.ZodMiniType<string> = z
  .string()
  .check(z.minLength(1), z.maxLength(4096));
export const metaRecord: z.ZodMiniType<Readonly<Record<string, unknown>>> = z.record(
  z.string(),
  z.unknown(),
);

/** An element at the end of a message that may be left out, or be `null` if a later one follows. */
export function nullish<S extends z.ZodMiniType>(
  schema: S,
): z.ZodMiniOptional<z.ZodMiniNullable<S>> {
  return z.optional(z.nullable(schema));
}
