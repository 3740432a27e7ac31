/** Schemas as generated code: validation at a small share of a server's time, with one schema as the truth. */
import * as z from 'zod/v4-mini';
import type { Catalogue, CatalogueEntry } from '../../../protocol/contract/catalogue.ts';
import { canCompile, compiled } from '../../../protocol/contract/parse-now.ts';
import { operationHashes } from '../../../protocol/contract/schema-hash.ts';

/**
 * Compiles a schema, by zod from 4.5 on, if the process may make code of texts. Strict: one that cannot be compiled is a
 * mistake to be seen when the server starts.
 */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return canCompile() ? z.compile(schema, { strict: true }) : schema;
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
  const faster: Record<string, CatalogueEntry> = {};
  for (const [operation, { effect, args }] of Object.entries(operations)) {
    faster[operation] = { effect, args: compiled(args) };
  }
  return { name, hash, operations: faster, given: operations, operationHashes: operationHashes(operations) };
}
