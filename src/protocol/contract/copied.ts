/** Copies of what operations are given: nobody who changes one has changed another. */
import { structurallyEqual } from '../../correctable/equal.ts';

/** A copy of plain data, with all that is in it. What else there is, as bytes and dates, is copied where it can be. */
export function copied(value: unknown): unknown {
  return copyOf(value, new Map());
}

/** A copy that is equal to the value; nothing where there is none, as of what gives something else at each look. */
export function equalCopy(value: unknown): { readonly copy: unknown } | undefined {
  try {
    const copy = copied(value);
    return structurallyEqual(copy, value) ? { copy } : undefined;
  } catch {
    // A getter threw, or it is too deep.
    return undefined;
  }
}

/** `copies` has what was met before: it may hold itself. */
function copyOf(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value) && prototype === Array.prototype) {
    const list: unknown[] = [];
    copies.set(value, list);
    for (const each of value) list.push(copyOf(each, copies));
    return list;
  }
  // Not by `slice`: that of Node's buffers shares the memory. A clone would have all that a view looks at.
  if (value instanceof Uint8Array) return Object.setPrototypeOf(new Uint8Array(value), prototype as object);
  if (prototype !== Object.prototype && prototype !== null) return cloned(value, prototype);
  const copy = Object.create(prototype) as Record<string, unknown>;
  copies.set(value, copy);
  for (const [name, each] of Object.entries(value)) define(copy, name, copyOf(each, copies));
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    copy[symbol as never] = copyOf(value[symbol as never], copies) as never;
  }
  return copy;
}

/** A property of any name: one called `__proto__` would be taken for something else. */
export function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** What a clone would not be equal to stays as it is: objects of classes, and what a schema has made with functions. */
function cloned(value: object, prototype: unknown): unknown {
  try {
    const copy: object = structuredClone(value);
    return Object.getPrototypeOf(copy) === prototype && structurallyEqual(copy, value) ? copy : value;
  } catch {
    return value;
  }
}
