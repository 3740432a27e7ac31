/** Describes a service as plain data that can be compared with other versions of the service. */
import { hashOperation } from '../../contract/schema-hash.ts';
import { hashText } from '../../contract/schema-definition.ts';
import type { ServiceVersion, TableSchemas } from './records/deployment-version.ts';
import { MAIN } from './partitions.ts';
import type { Service } from './service.ts';
import { NO_PARTITION } from './tables.ts';

/**
 * Describes a service. Equal services have equal hashes, in any order of their parts.
 *
 * @param isPartitioned whether the deployment has several partitions, or may have them. With one
 * red log most declarations of partitions have no effect, so they are left out, and may still be
 * changed.
 */
export function describeService(service: Service, isPartitioned = true): ServiceVersion {
  const { contract, tables, shadowOperations, alwaysRed } = service;
  const operations = Object.entries(contract.operations).map(
    ([name, operation]) =>
      [name, `${hashOperation(operation)}${alwaysRed.has(name) ? ' red' : ''}`] as const,
  );
  const replies = Object.keys(shadowOperations).filter(
    (name) => shadowOperations[name]?.reply !== undefined,
  );
  const homes = isPartitioned ? describeHomes(contract) : [];
  const described = {
    tables: describeTables(tables, isPartitioned),
    operations: Object.fromEntries(operations.toSorted(compareNames)),
    ...(homes.length > 0 && {
      homes: Object.fromEntries(homes.toSorted(compareNames)),
    }),
    replies: replies.toSorted(),
  };
  return { hash: hashText(JSON.stringify(described)), ...described };
}

/** Operations without a home are left out: `main` orders them. */
function describeHomes(contract: Service['contract']): (readonly [name: string, home: string])[] {
  const homes: [string, string][] = [];
  for (const [name, spec] of Object.entries(contract.operations)) {
    const { partition = MAIN, partitionBy } = spec;
    if (partitionBy !== undefined) homes.push([name, `partitionBy: '${partitionBy}'`]);
    else if (partition !== MAIN) homes.push([name, `partition: '${partition}'`]);
  }
  return homes;
}

function describeTables(tables: Service['tables'], isPartitioned: boolean): TableSchemas {
  const described = Object.entries(tables).map(
    ([name, { fields, removable, partition = MAIN }]) => {
      const hasPlace = partition === NO_PARTITION || (isPartitioned && partition !== MAIN);
      const kinds = Object.entries(fields).map(([field, { kind }]) => [field, kind] as const);
      return [
        name,
        {
          removable,
          fields: Object.fromEntries(kinds.toSorted(compareNames)),
          ...(hasPlace && { partition }),
        },
      ] as const;
    },
  );
  return Object.fromEntries(described.toSorted(compareNames));
}

function compareNames([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
