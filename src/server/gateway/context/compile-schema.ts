/**
 * Schemas as generated code: validation at a small share of a server's time,
 * with one schema as the truth.
 */
import * as z from 'zod/v4-mini';
import type {
  OperationRegistry,
  RegisteredOperation,
} from '../../../protocol/contract/operation-registry.ts';
import {
  canCompile,
  toCompiledSchema,
} from '../../../protocol/contract/parse-sync.ts';
import { hashOperations } from '../../../protocol/contract/schema-hash.ts';

/**
 * Compiles a schema if the process may evaluate code. Strict, so that a mistake
 * is seen at the start.
 */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return canCompile() ? z.compile(schema, { strict: true }) : schema;
}

/** A catalogue with compiled schemas. */
export interface CompiledRegistry extends OperationRegistry {
  /** The operations as they were given. */
  readonly originals: OperationRegistry['operations'];
  /** The fingerprint of each operation. */
  readonly operationHashes: Readonly<Record<string, string>>;
}

/**
 * The same catalogue, with schemas compiled where they can be: those of
 * applications may hold what cannot.
 */
export function compileRegistry({
  name,
  hash,
  operations,
}: OperationRegistry): CompiledRegistry {
  const faster: Record<string, RegisteredOperation> = {};
  for (const [operation, { access, args }] of Object.entries(operations)) {
    faster[operation] = { access, args: toCompiledSchema(args) };
  }
  return {
    name,
    hash,
    operations: faster,
    originals: operations,
    operationHashes: hashOperations(operations),
  };
}
