/**
 * A short fingerprint of a contract's schemas, by which client and server notice that they differ. It is read off the
 * schemas' own definitions, so that a browser bundle carries no schema converter. It guards against mistakes, not
 * against an adversary.
 */

/** The part of an operation that the fingerprint covers. */
interface Described {
  readonly effect: string;
  readonly args: object;
  readonly result?: object | undefined;
}

type DescribedOperations = Readonly<Record<string, Described>>;

/** The fingerprint: 16 hexadecimal digits. Equal schemas give equal ones, whatever the order of keys. */
export function schemaHash(name: string, operations: DescribedOperations): string {
  const described: Record<string, unknown> = {};
  for (const [operation, spec] of Object.entries(operations)) described[operation] = describe(spec);
  return fingerprint(JSON.stringify(sorted({ name, operations: described })));
}

/** The fingerprint of each operation by itself: two contracts that differ may have most of them alike. */
export function operationHashes(operations: DescribedOperations): Readonly<Record<string, string>> {
  const hashes = Object.entries(operations).map(([operation, spec]) => [operation, operationHash(spec)] as const);
  return Object.fromEntries(hashes);
}

/** The fingerprint of one operation's effect and schemas. */
export function operationHash(operation: Described): string {
  return fingerprint(JSON.stringify(sorted(describe(operation))));
}

function describe({ effect, args, result }: Described): object {
  return { effect, args: definitionOf(args), result: definitionOf(result) };
}

/**
 * A schema's definition as plain data: its own fields, with nested schemas and checks replaced by theirs. `path` holds
 * what encloses `value`: a schema that contains itself refers back by distance.
 */
function definitionOf(value: unknown, path: readonly object[] = []): unknown {
  if (typeof value === 'bigint' || value instanceof RegExp) return String(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'function') return 'function';
  if (typeof value !== 'object' || value === null) return value;
  const enclosing = path.indexOf(value);
  if (enclosing >= 0) return `^${path.length - enclosing}`;
  const inner = [...path, value];
  if (value instanceof Set || value instanceof Map) return definitionOf([...value], inner);
  if (Array.isArray(value)) return value.map((element) => definitionOf(element, inner));
  const internals = (value as { _zod?: { def?: object } })._zod;
  const described: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(internals?.def ?? value)) {
    if (key !== 'error' && key !== 'abort') described[key] = definitionOf(field, inner);
  }
  return described;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

/** Two independent 32-bit FNV-1a hashes, side by side. */
function fingerprint(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193) >>> 0;
    high = Math.imul(high ^ (unit + index), 0x811c9dc5 | 1) >>> 0;
  }
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}
