/**
 * A fingerprint of schemas, to notice mistakes, not adversaries. Read off zod's
 * definitions: no converter in bundles.
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
 * The fingerprint: 16 hexadecimal digits. Equal schemas give equal ones,
 * whatever the order of keys.
 */
export function hashSchema(
  name: string,
  operations: DescribedOperations,
): string {
  const described: Record<string, unknown> = {};
  for (const [operation, spec] of Object.entries(operations))
    described[operation] = describeOperation(spec);
  const operationNames = Object.keys(described).toSorted();
  return hashText(
    JSON.stringify([
      name,
      operationNames.map((operation) => [operation, described[operation]]),
    ]),
  );
}

/**
 * The fingerprint of each operation by itself: two contracts that differ may
 * have most of them alike.
 */
export function hashOperations(
  operations: DescribedOperations,
): Readonly<Record<string, string>> {
  const hashes = Object.entries(operations).map(
    ([operation, spec]) => [operation, hashOperation(spec)] as const,
  );
  return Object.fromEntries(hashes);
}

export function hashOperation(operation: DescribedOperation): string {
  return hashText(JSON.stringify(describeOperation(operation)));
}

/**
 * What is not declared leaves no trace: a contract that says nothing of colors
 * and errors has the hash that it always had.
 */
function describeOperation({
  access,
  args,
  result,
  color,
  errors,
}: DescribedOperation): object {
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
