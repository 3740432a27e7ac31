/** A view that may be confirmed: what the server gave, whatever its receivers have made of it meanwhile. */
import type { ViewDetails } from '../../correctable/binding.ts';

export interface SeenView {
  /** The sink's number for it. */
  readonly seq: number;
  /** What the server gave. */
  readonly value: unknown;
  readonly details: ViewDetails;
  /** Whether what was handed on is that still. */
  isUntouched(): boolean;
}

/**
 * Takes note of a value before it is handed on; what comes of it says how the view was numbered. Lists and objects are
 * copied: who shows the first ten of a list by `splice` has not shortened the one that the store confirms.
 */
export function beforeHandedOn(value: unknown, details: ViewDetails = {}): (seq: number) => SeenView {
  if (typeof value !== 'object' || value === null) return (seq) => ({ seq, value, details, isUntouched: always });
  const own = copyOf(value);
  return (seq) => ({ seq, value: own, details, isUntouched: () => isAlike(own, value) });
}

const always = (): boolean => true;

/** Of what was decoded: lists, plain objects, bytes and dates alone. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  if (value instanceof Uint8Array) return value.slice();
  if (value instanceof Date) return new Date(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)]));
}

/** Whether a value is still like its copy. */
function isAlike(copy: unknown, value: unknown): boolean {
  if (typeof copy !== 'object' || typeof value !== 'object' || copy === null || value === null) return copy === value;
  if (copy instanceof Date) return value instanceof Date && +copy === +value;
  if (copy instanceof Uint8Array) return value instanceof Uint8Array && String(copy) === String(value);
  const names = Object.keys(copy);
  const isList = Array.isArray(copy) === Array.isArray(value) && Object.keys(value).length === names.length;
  return isList && names.every((name) => isAlike(copy[name as never], value[name as never]));
}
