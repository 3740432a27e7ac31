/** The arguments of an operation as they are now, as one string. */

/** So many parts at most are written out: what refers to itself ends, and so does what shares parts, level upon level. */
const PARTS_MAX = 10_000;
const DEPTH_MAX = 100;
/** So many characters of a text count as one part. */
const PART_LENGTH = 8;

/**
 * The same for structurally equal arguments, another for others, whatever becomes of them later. Undefined for what is
 * large, and for what is not plain data, or cannot be read: of that nothing is known but its identity.
 */
export function keyOfArgs(args: unknown): string | undefined {
  try {
    return writtenOut(args);
  } catch {
    // A getter of somebody's, or a proxy that was revoked: the binding may never look at it.
    return undefined;
  }
}

function writtenOut(args: unknown): string | undefined {
  let left = PARTS_MAX;
  const refuse = (): string => {
    left = 0;
    return '';
  };
  const write = (value: unknown, depth: number): string => {
    if (left <= 0 || depth > DEPTH_MAX) return refuse();
    left -= typeof value === 'string' ? 1 + value.length / PART_LENGTH : 1;
    if (left <= 0) return refuse();
    if (typeof value !== 'object' || value === null) return scalar(value) ?? refuse();
    const part = (each: unknown): string => write(each, depth + 1);
    /** So many parts as there may be, at most, are looked at and sorted. */
    const sorted = (count: number, parts: () => Iterable<readonly [unknown, unknown]>): string =>
      count > left
        ? refuse()
        : Array.from(parts(), ([name, each]) => `${part(name)}:${part(each)}`)
            .sort()
            .join();
    const ofEntries = (all: Map<unknown, unknown> | Set<unknown>): string => sorted(all.size, () => all.entries());
    const ofObject = (object: object): string => sorted(Object.keys(object).length, () => Object.entries(object));
    if (Array.isArray(value)) return `[${value.length > left ? refuse() : Array.from(value, part).join()}]`;
    // Those of Node too, which are a subclass.
    if (value instanceof Uint8Array) return `bytes[${(left -= value.length) > 0 ? value.join() : refuse()}]`;
    switch (Object.getPrototypeOf(value)) {
      case Object.prototype:
        return `{${ofObject(value)}}`;
      case null:
        return `null{${ofObject(value)}}`;
      case Date.prototype:
        return `date ${(value as Date).getTime()}`;
      case Map.prototype:
        return `map{${ofEntries(value as Map<unknown, unknown>)}}`;
      case Set.prototype:
        return `set{${ofEntries(value as Set<unknown>)}}`;
      default:
        return refuse();
    }
  };
  const key = write(args, 0);
  return left > 0 ? key : undefined;
}

function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol' || typeof value === 'function') return undefined;
  return Object.is(value, -0) ? '-0' : String(value);
}
