/** What a cached view is filed under: whose it is and which operation gave it. */
import type { Operation } from '../../correctable/operation.ts';
import { isPlainBytes } from './values/copy.ts';

/** Arguments nested deeper than this, or without end, are not cached. */
const DEPTH_MAX = 32;

/**
 * Returns the id of an operation's view in the cache of `principal`: equal for operations with equal names, keys, arguments
 * and hashes, if their contract has one. `undefined` if the arguments are no plain data.
 */
export function viewId(principal: string, { name, key, args }: Operation, hash?: string): string | undefined {
  const parts = [canonical(key), canonical(args)];
  if (parts.includes(undefined)) return undefined;
  return JSON.stringify([principal, name, ...parts, ...(hash === undefined ? [] : [hash])]);
}

/** Whether a text was made by `viewId`, as far as its parts are concerned. */
export function isViewId(id: string): boolean {
  try {
    const parts = JSON.parse(id) as unknown;
    return (
      Array.isArray(parts) &&
      (parts.length === 4 || parts.length === 5) &&
      parts.every((part) => typeof part === 'string')
    );
  } catch {
    return false;
  }
}

/** The principal that a view id belongs to. */
export function principalOf(id: string): string {
  return (JSON.parse(id) as [string])[0];
}

/** The name of the operation whose view an id is for. */
export function nameOf(id: string): string {
  return (JSON.parse(id) as [string, string])[1];
}

/** Returns the hash of that operation, as its contract was then. */
export function hashOf(id: string): string | undefined {
  return (JSON.parse(id) as string[])[4];
}

/** Equal texts for structurally equal plain data, whatever the order of its keys; `undefined` for anything else. */
function canonical(value: unknown, depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '0' : String(value);
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'bigint':
      return `${value}n`;
    case 'object':
      return value === null ? 'null' : canonicalObject(value, depth + 1);
    case 'function':
    case 'symbol':
      return undefined;
  }
}

function canonicalObject(value: object, depth: number): string | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (Array.isArray(value))
    return bracketed(
      '[',
      value.map((part) => canonical(part, depth)),
      ']',
    );
  const prototype: unknown = Object.getPrototypeOf(value);
  // What extends these may have a state of its own.
  if (prototype === Date.prototype) return `@${(value as Date).getTime()}`;
  if (isPlainBytes(value)) return `#${value.join(' ')}`;
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const fields = Object.entries(value)
    // An argument that is absent and one that is undefined mean the same to every store.
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => {
      const text = canonical(field, depth);
      return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
    });
  return bracketed('{', fields, '}');
}

function bracketed(open: string, parts: readonly (string | undefined)[], close: string): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(',')}${close}`;
}
