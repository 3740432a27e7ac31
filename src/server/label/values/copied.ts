/** Copies of what operations are given: nobody who changes one has changed another. */

/** A copy of plain data, with all that is in it. What else there is, as bytes and dates, is copied where it can be. */
export function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return cloned(value);
  const copy: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(value)) define(copy, name, copied(each));
  return copy;
}

/** A property of any name: one called `__proto__` would be taken for something else. */
export function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** What a schema has made with functions in it stays as it is. */
function cloned(value: object): unknown {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}
