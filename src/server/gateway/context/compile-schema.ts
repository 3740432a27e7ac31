/**
 * Schemas compiled to code, which validate in a small part of the time. There
 * is still only one schema for each message.
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
 * Compiles a schema if the process may evaluate code. It is strict, so that a
 * mistake is seen at the start.
 */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return canCompile() ? z.compile(schema, { strict: true }) : schema;
}

/** A registry with compiled schemas. */
export interface CompiledRegistry extends OperationRegistry {
  /** The operations with their own schemas. */
  readonly originals: OperationRegistry['operations'];
  /** The fingerprint of each operation. */
  readonly operationHashes: Readonly<Record<string, string>>;
}

/**
 * Compiles the schemas of a registry where that is possible. Schemas of
 * applications may contain parts that cannot be compiled.
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
