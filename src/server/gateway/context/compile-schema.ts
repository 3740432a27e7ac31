/**
 * Compiles schemas to code, which validates values several times as fast. The code is generated
 * from the one schema of each message and each operation, so it cannot differ from it.
 */
import * as z from 'zod/v4-mini';
import type { Binding } from '../../../correctable/binding.ts';
import type { PreparingBinding } from '../../../protocol/hosting.ts';
import type {
  OperationRegistry,
  RegisteredOperation,
} from '../../../contract/operation-registry.ts';
import { canCompile, toCompiledSchema } from '../../../contract/parse-sync.ts';
import { hashOperations } from '../../../contract/schema-hash.ts';
import type { OperationFigures, OperationStats } from '../operations/operation-stats.ts';

/**
 * Compiles a schema if the process may evaluate code. It is strict, so that a mistake is seen at
 * the start.
 */
export function compileSchema(schema: z.ZodMiniType): z.ZodMiniType {
  return canCompile() ? z.compile(schema, { strict: true }) : schema;
}

/**
 * What a gateway knows of one operation of its contract. The entry is looked up once by the name in
 * a message, and passed on from there. Its schema is compiled if possible: schemas of applications
 * may contain parts that cannot be compiled.
 */
export interface HostedEntry extends RegisteredOperation {
  /**
   * The result of the hosted binding's preparation for this operation, if it prepares operations.
   */
  readonly prepared: object | undefined;
  /** The statistics of its views and failures. */
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
