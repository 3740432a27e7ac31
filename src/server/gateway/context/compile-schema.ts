/**
 * Schemas compiled to code, which validate in a small part of the time. There
 * is still only one schema for each message, and for the arguments of each
 * operation.
 */
import * as z from 'zod/v4-mini';
import type { Binding } from '../../../correctable/binding.ts';
import type { PreparingBinding } from '../../../protocol/hosting.ts';
import type {
  OperationRegistry,
  RegisteredOperation,
} from '../../../protocol/contract/operation-registry.ts';
import {
  canCompile,
  toCompiledSchema,
} from '../../../protocol/contract/parse-sync.ts';
import { hashOperations } from '../../../protocol/contract/schema-hash.ts';
import type {
  OperationFigures,
  OperationStats,
} from '../operations/operation-stats.ts';

/**
 * Compiles a schema if the process may evaluate code. It is strict, so that a
 * mistake is seen at the start.
 */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return canCompile() ? z.compile(schema, { strict: true }) : schema;
}

/**
 * What a gateway knows of one operation of its contract. It is found by the
 * name in a message once, and carried along from there. Its schema is compiled
 * where that is possible: schemas of applications may contain parts that cannot
 * be compiled.
 */
export interface HostedEntry extends RegisteredOperation {
  /** What the hosted binding has prepared for it. */
  readonly prepared: object | undefined;
  /** Where its views and failures are counted. */
  readonly figures: OperationFigures;
}

/** The contract of a gateway. */
export interface HostedContract {
  readonly name: string;
  readonly hash: string;
  readonly operations: ReadonlyMap<string, HostedEntry>;
  /** The fingerprint of each operation. */
  readonly operationHashes: Readonly<Record<string, string>>;
}

export function createHostedContract(
  { name, hash, operations }: OperationRegistry,
  binding: Binding & Partial<PreparingBinding>,
  stats: OperationStats,
): HostedContract {
  const entries = Object.entries(operations).map(
    ([operation, registered]): [string, HostedEntry] => {
      const { access, args, key } = registered;
      const entry = {
        access,
        args: toCompiledSchema(args),
        prepared: binding.prepareOperation?.(operation, registered),
        figures: stats.find(operation),
      };
      return [operation, key === undefined ? entry : { ...entry, key }];
    },
  );
  return {
    name,
    hash,
    operations: new Map(entries),
    operationHashes: hashOperations(operations),
  };
}
