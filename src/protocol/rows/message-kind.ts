/** What a message kind consists of: its name, its fields in the order of the row, and the schema of the row. */
import * as z from 'zod/v4-mini';

/** One kind of message. A row is `[id, kind, …]`; `fields` names its elements for error messages and documents. */
export interface MessageKind<Row> {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly schema: z.ZodMiniType<Row>;
}

/** Longest name of an operation, a level, a key… Bounds what a log line or a table entry can hold. */
export const NAME_LENGTH_MAX = 1024;

/** Longest token of a client that is looked at. */
export const TOKEN_LENGTH_MAX = 16_384;

/** Number of an operation, chosen by the client, counted from 1; 0 where the row is about the connection. */
export const operationNumber: z.ZodMiniType<number> = z.int().check(z.minimum(1));
/** The first element of rows that are about the connection as a whole. */
export const connectionNumber: z.ZodMiniType<0> = z.literal(0);
/** A number that is echoed or a watermark. */
export const count: z.ZodMiniType<number> = z.int().check(z.minimum(0));
/** Index of a level in the tuple that `hello` and `welcome` agreed on. */
export const levelIndex: z.ZodMiniType<number> = z.int().check(z.minimum(0), z.maximum(30));
/** A short text: names and codes. */
export const shortText: z.ZodMiniType<string> = z.string().check(z.minLength(1), z.maxLength(NAME_LENGTH_MAX));
/** The names of the levels, weakest first. */
export const levelNames: z.ZodMiniType<string[]> = z.array(shortText).check(z.minLength(1), z.maxLength(31));
/** A session's token, as opaque text. */
export const sessionToken: z.ZodMiniType<string> = z.string().check(z.minLength(1), z.maxLength(4096));
/** Extra facts about a view. */
export const metaRecord: z.ZodMiniType<Record<string, unknown>> = z.record(z.string(), z.unknown());

/** A field at the end of a row that may be left out, or be `null` where a later one follows. */
export function maybe<T>(schema: z.ZodMiniType<T>): z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniType<T>>> {
  return z.optional(z.nullable(schema));
}
