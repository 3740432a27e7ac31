/** Values that can be logged and sent: those of the codecs (`codec.ts`). */
import type { CorrectableError } from '../../correctable/errors.ts';
import { isBytes, isPlain } from '../../values/value-kinds.ts';
import { PortabilityError, VALUE_DEPTH } from './codec.ts';
import { fromJsonValue, toJsonField, toJsonValue } from './json-values.ts';
import { isWellFormed } from './tagged-values.ts';

/**
 * Returns the value as it arrives at the other end. Throws `INVALID_VALUE` with the path, which
 * begins with `where`.
 */
export function copyForWire(value: unknown, where: string): unknown {
  if (isBytes(value)) return new Uint8Array(value);
  if (isFlat(value)) return copyFlatObject(value);
  const json = toJsonField(value, where, VALUE_DEPTH);
  return typeof value === 'object'
    ? fromJsonValue(JSON.parse(JSON.stringify(json)))
    : value === 0
      ? 0
      : value;
}

/**
 * Copies most arguments and results without converting them to text. The text of bytes would be
 * much longer.
 */
function copyFlatObject(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    // `-0` becomes `0` when it is sent.
    copy[key] = item === 0 ? 0 : isBytes(item) ? new Uint8Array(item) : item;
  }
  return copy;
}

/**
 * Throws `INVALID_VALUE` with the path unless the value can be logged and sent. The path begins
 * with `where`, or with `at` in an array.
 */
export function checkPortable(value: unknown, where: string, at?: number): void {
  const problem = findPortabilityError(value, where, at);
  if (problem !== undefined) throw problem;
}

/**
 * Returns the error that `checkPortable` would throw. `depth` is the maximum path length, since
 * keys may be data.
 */
export function findPortabilityError(
  value: unknown,
  where: string,
  at?: number,
  depth = Infinity,
): CorrectableError | undefined {
  if (isPortableLeaf(value) || isFlat(value)) return undefined;
  try {
    toJsonValue(value, VALUE_DEPTH);
    return undefined;
  } catch (error) {
    if (!(error instanceof PortabilityError)) throw error;
    const path = error.path.slice(0, depth);
    return error.toError([where, ...(at === undefined ? [] : [at]), ...path]);
  }
}

/** Returns whether the value is a scalar that can certainly be sent. */
export function isPortableScalar(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || value === undefined || typeof value === 'boolean';
}

/** Returns whether the value is a plain object of such scalars and of bytes. */
export function isFlat(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isPlain(value))
    return false;
  // `Object.keys` would create an array for every effect of every update.
  for (const key in value) {
    if (
      !Object.hasOwn(value, key) ||
      key === '__proto__' ||
      !isPortableLeaf(value[key]) ||
      !isWellFormed(key)
    )
      return false;
  }
  return true;
}

/** Bytes can always be sent. The codec would convert them to text to find that out. */
function isPortableLeaf(value: unknown): boolean {
  return isPortableScalar(value) || isBytes(value);
}
