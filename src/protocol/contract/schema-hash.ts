/**
 * A short fingerprint of a contract's schemas, by which client and server notice that they differ. It is read off the
 * schemas' own definitions, so that a browser bundle carries no schema converter. It guards against mistakes, not
 * against an adversary.
 */
import { definitionOf, fingerprint } from './schema-definition.ts';

/** The part of an operation that the fingerprint covers. */
interface Described {
  readonly effect: string;
  readonly args: object;
  readonly result?: object | undefined;
  readonly colour?: string | undefined;
  readonly errors?: Readonly<Record<string, object>> | undefined;
}

type DescribedOperations = Readonly<Record<string, Described>>;

/** The fingerprint: 16 hexadecimal digits. Equal schemas give equal ones, whatever the order of keys. */
export function schemaHash(name: string, operations: DescribedOperations): string {
  const described: Record<string, unknown> = {};
  for (const [operation, spec] of Object.entries(operations)) described[operation] = describe(spec);
  const operationNames = Object.keys(described).toSorted();
  return fingerprint(JSON.stringify([name, operationNames.map((operation) => [operation, described[operation]])]));
}

/** The fingerprint of each operation by itself: two contracts that differ may have most of them alike. */
export function operationHashes(operations: DescribedOperations): Readonly<Record<string, string>> {
  const hashes = Object.entries(operations).map(([operation, spec]) => [operation, operationHash(spec)] as const);
  return Object.fromEntries(hashes);
}

/** The fingerprint of one operation's effect and schemas. */
export function operationHash(operation: Described): string {
  return fingerprint(JSON.stringify(describe(operation)));
}

/** What is not declared leaves no trace: a contract that says nothing of colours and errors has the hash that it always had. */
function describe({ effect, args, result, colour, errors }: Described): object {
  return {
    effect,
    args: definitionOf(args),
    result: definitionOf(result),
    ...(colour !== undefined && { colour }),
    ...(errors !== undefined && {
      errors: Object.keys(errors)
        .toSorted()
        .map((name) => [name, definitionOf(errors[name])]),
    }),
  };
}
