/**
 * Converts a value to a string that is the same for structurally equal values. Later changes of the
 * value do not change the string.
 */
import { getBuiltInClass } from '../correctable/built-in-class.ts';

/** Values that refer to themselves end here. */
const MAX_DEPTH = 100;
/** This number of characters of a text counts as one part. */
const ESTIMATED_PART_LENGTH = 8;

export interface CanonicalStringOptions {
  /**
   * Maximum number of parts. It bounds values that share parts over many levels. Default: 10 000
   */
  readonly maxParts?: number;
  /**
   * Whether values count as equal if a store cannot distinguish them: `-0` and `0`, or a missing
   * field and one that is `undefined`.
   */
  readonly isLoose?: boolean;
}

/**
 * Returns equal strings for structurally equal values only. Returns `undefined` if a value is large
 * or no plain data.
 */
export function toCanonicalString(
  value: unknown,
  writing: CanonicalStringOptions = {},
): string | undefined {
  try {
    return serializeParts(value, writing);
  } catch {
    // A getter or a revoked proxy has thrown. The binding may never read that part.
    return undefined;
  }
}

function serializeParts(
  value: unknown,
  { maxParts = 10_000, isLoose = false }: CanonicalStringOptions,
): string | undefined {
  let left = maxParts;
  const refuse = (): string => {
    left = 0;
    return '';
  };
  const write = (part: unknown, depth: number): string => {
    if (left <= 0 || depth > MAX_DEPTH) return refuse();
    left -= typeof part === 'string' ? 1 + part.length / ESTIMATED_PART_LENGTH : 1;
    if (left <= 0) return refuse();
    if (typeof part !== 'object' || part === null)
      return serializeScalar(isLoose && part === 0 ? 0 : part) ?? refuse();
    const inner = (item: unknown): string => write(item, depth + 1);
    /** At most the maximum number of parts is read and sorted. */
    const sorted = (count: number, parts: () => Iterable<readonly [unknown, unknown]>): string =>
      count > left
        ? refuse()
        : Array.from(parts(), ([name, item]) => `${inner(name)}:${inner(item)}`)
            .sort()
            .join();
    const fields = (): [string, unknown][] =>
      Object.entries(part).filter(([, item]) => !isLoose || item !== undefined);
    const kind = getBuiltInClass(part);
    switch (kind ?? '') {
      case 'Array': {
        const list = part as readonly unknown[];
        return `[${list.length > left ? refuse() : Array.from(list, inner).join()}]`;
      }
      case 'Uint8Array': {
        const bytes = part as Uint8Array;
        return `bytes[${(left -= bytes.length) > 0 ? bytes.join() : refuse()}]`;
      }
      case 'Object':
        return `{${sorted(Object.keys(part).length, fields)}}`;
      case 'Date':
        return `date ${(part as Date).getTime()}`;
      case 'Map':
      case 'Set': {
        const collection = part as ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>;
        return `${kind}{${sorted(collection.size, () => collection.entries())}}`;
      }
      default:
        return refuse();
    }
  };
  const text = write(value, 0);
  return left > 0 ? text : undefined;
}

function serializeScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol' || typeof value === 'function') return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}
