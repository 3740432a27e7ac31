/** Schemas as generated code: validation at a small share of a server's time, with one schema as the truth. */
import * as z from 'zod/mini';
import type { Catalogue, CatalogueEntry } from '../../protocol/catalogue.ts';
import { answersLater } from '../../protocol/parse-now.ts';
import { operationHashes } from '../../protocol/schema-hash.ts';

/** Compiles a schema. Strict: one that cannot be compiled is a mistake to be seen when the server starts. */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return z.compile(schema, { strict: true });
}

/** A catalogue with compiled schemas. */
export interface CompiledCatalogue extends Catalogue {
  /** The operations as they were given. */
  readonly given: Catalogue['operations'];
  /** The fingerprint of each operation. */
  readonly operationHashes: Readonly<Record<string, string>>;
}

/** The same catalogue, with schemas compiled where they can be: those of applications may hold what cannot. */
export function compileCatalogue({ name, hash, operations }: Catalogue): CompiledCatalogue {
  const compiled: Record<string, CatalogueEntry> = {};
  for (const [operation, { effect, args }] of Object.entries(operations)) {
    // Those fail at each operation, compiled or not.
    compiled[operation] = { effect, args: answersLater(args) ? args : z.compile(args) };
  }
  return { name, hash, operations: compiled, given: operations, operationHashes: operationHashes(operations) };
}
