/**
 * Describes a service as plain data that can be compared with other versions of
 * the service.
 */
import { hashOperation } from '../../protocol/contract/schema-hash.ts';
import { hashText } from '../../protocol/contract/schema-definition.ts';
import type {
  ServiceVersion,
  TableSchemas,
} from '../records/deployment-version.ts';
import type { Service } from './service.ts';

/**
 * Describes a service. Equal services have equal hashes, in any order of their
 * parts.
 */
export function describeService({
  contract,
  tables,
  shadowOperations,
  alwaysRed,
}: Service): ServiceVersion {
  const operations = Object.entries(contract.operations).map(
    ([name, operation]) =>
      [
        name,
        `${hashOperation(operation)}${alwaysRed.has(name) ? ' red' : ''}`,
      ] as const,
  );
  const replies = Object.keys(shadowOperations).filter(
    (name) => shadowOperations[name]?.reply !== undefined,
  );
  const described = {
    tables: describeTables(tables),
    operations: Object.fromEntries(operations.toSorted(compareNames)),
    replies: replies.toSorted(),
  };
  return { hash: hashText(JSON.stringify(described)), ...described };
}

function describeTables(tables: Service['tables']): TableSchemas {
  const described = Object.entries(tables).map(
    ([name, { fields, removable }]) => {
      const kinds = Object.entries(fields).map(
        ([field, { kind }]) => [field, kind] as const,
      );
      return [
        name,
        { removable, fields: Object.fromEntries(kinds.toSorted(compareNames)) },
      ] as const;
    },
  );
  return Object.fromEntries(described.toSorted(compareNames));
}

function compareNames(
  [a]: readonly [string, unknown],
  [b]: readonly [string, unknown],
): number {
  return a < b ? -1 : 1;
}
