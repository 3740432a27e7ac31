/**
 * A fingerprint of schemas, which finds mistakes but no attacks. It reads zod's definitions, so
 * bundles need no converter.
 */
import { getDefinition, hashText } from './schema-definition.ts';

interface DescribedOperation {
  readonly access: string;
  readonly args: object;
  readonly result?: object | undefined;
  readonly color?: string | undefined;
  readonly errors?: Readonly<Record<string, object>> | undefined;
}

type DescribedOperations = Readonly<Record<string, DescribedOperation>>;

/**
 * Returns the fingerprint: 16 hexadecimal digits. Equal schemas have equal ones, for any order of
 * keys.
 */
export function hashSchema(name: string, operations: DescribedOperations): string {
  const described: Record<string, unknown> = {};
  for (const [operation, spec] of Object.entries(operations))
    described[operation] = describeOperation(spec);
  const operationNames = Object.keys(described).toSorted();
  return hashText(
    JSON.stringify([name, operationNames.map((operation) => [operation, described[operation]])]),
  );
}

/**
 * Returns the fingerprint of each operation. Two different contracts may have most operations
 * alike.
 */
export function hashOperations(operations: DescribedOperations): Readonly<Record<string, string>> {
  const hashes = Object.entries(operations).map(
    ([operation, spec]) => [operation, hashOperation(spec)] as const,
  );
  return Object.fromEntries(hashes);
}

export function hashOperation(operation: DescribedOperation): string {
  return hashText(JSON.stringify(describeOperation(operation)));
}

/**
 * Parts that are not declared are left out. So a contract without colors and errors keeps the hash
 * that it has always had.
 */
function describeOperation({ access, args, result, color, errors }: DescribedOperation): object {
  return {
    access,
    args: getDefinition(args),
    result: getDefinition(result),
    ...(color !== undefined && { color }),
    ...(errors !== undefined && {
      errors: Object.keys(errors)
        .toSorted()
        .map((name) => [name, getDefinition(errors[name])]),
    }),
  };
}
