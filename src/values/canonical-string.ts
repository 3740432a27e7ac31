/**
 * Converts a value to one string, the same for structurally equal values. A
 * later change of the value does not change it.
 */
import { getBuiltInClass } from '../correctable/built-in-class.ts';

/** What refers to itself ends. */
const MAX_DEPTH = 100;
/** So many characters of a text count as one part. */
const ESTIMATED_PART_LENGTH = 8;

export interface CanonicalStringOptions {
  /**
   * At most so many parts: what shares parts, level upon level, ends. Default:
   * 10 000.
   */
  readonly maxParts?: number;
  /**
   * Whether values are the same if a store cannot tell them apart: `-0` and
   * `0`, no field and one that is `undefined`.
   */
  readonly isLoose?: boolean;
}

/**
 * Returns equal strings for structurally equal values only; `undefined` if a
 * value is large or no plain data.
 */
export function toCanonicalString(
  value: unknown,
  writing: CanonicalStringOptions = {},
): string | undefined {
  try {
    return serializeParts(value, writing);
  } catch {
    // A getter, or a revoked proxy: the binding may never read it.
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
    left -=
      typeof part === 'string' ? 1 + part.length / ESTIMATED_PART_LENGTH : 1;
    if (left <= 0) return refuse();
    if (typeof part !== 'object' || part === null)
      return serializeScalar(isLoose && part === 0 ? 0 : part) ?? refuse();
    const inner = (item: unknown): string => write(item, depth + 1);
    /** So many parts as there may be, at most, are looked at and sorted. */
    const sorted = (
      count: number,
      parts: () => Iterable<readonly [unknown, unknown]>,
    ): string =>
      count > left
        ? refuse()
        : Array.from(parts(), ([name, item]) => `${inner(name)}:${inner(item)}`)
            .sort()
            .join();
    const fields = (): [string, unknown][] =>
      Object.entries(part).filter(([, item]) => !isLoose || item !== undefined);
    const ofFields = (): string =>
      `{${sorted(Object.keys(part).length, fields)}}`;
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
        return ofFields();
      case 'null':
        return isLoose ? ofFields() : `null${ofFields()}`;
      case 'Date':
        return `date ${(part as Date).getTime()}`;
      case 'Map':
      case 'Set': {
        const collection = part as
          | ReadonlyMap<unknown, unknown>
          | ReadonlySet<unknown>;
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
  if (typeof value === 'symbol' || typeof value === 'function')
    return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}
