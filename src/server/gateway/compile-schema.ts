/** Schemas as generated code: validation at a small share of a server's time, with one schema as the truth. */
import * as z from 'zod/mini';

/** Compiles a schema. Strict: one that cannot be compiled is a mistake to be seen when the server starts. */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return z.compile(schema, { strict: true });
}
