/** Simpler arguments: smaller numbers, shorter lists, and without what may be left out. */
import { isScalar, type Scalar } from '../../records/key-range.ts';

/** Values that differ from this one in one place and are simpler there, the simplest first. */
export function* simplerValues(value: unknown): Generator<unknown> {
  if (typeof value === 'number') {
    yield* simplerNumbers(value);
  } else if (value === true) {
    yield false;
  } else if (Array.isArray(value)) {
    for (const at of value.keys()) yield value.toSpliced(at, 1);
    for (const [at, each] of value.entries()) for (const simpler of simplerValues(each)) yield value.with(at, simpler);
  } else if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value);
    for (const [name] of entries) yield Object.fromEntries(entries.filter(([each]) => each !== name));
    for (const [name, each] of entries) for (const simpler of simplerValues(each)) yield { ...value, [name]: simpler };
  }
}

/** All texts and numbers in a value, each once. */
export function scalarsIn(value: unknown, found: Set<Scalar> = new Set()): ReadonlySet<Scalar> {
  if (isScalar(value)) found.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) scalarsIn(each, found);
  return found;
}

/** What is simpler than a number, the simplest first. */
export function simplerNumbers(value: number): readonly number[] {
  const candidates = new Set([0, 1, 2, -1, Math.trunc(value / 2), value - Math.sign(value)]);
  return [...candidates].filter((each) => Math.abs(each) < Math.abs(value));
}

/** The same value with another text or number wherever there is this one. */
export function replaced(value: unknown, from: Scalar, to: Scalar): unknown {
  if (isScalar(value)) return value === from ? to : value;
  if (Array.isArray(value)) return value.map((each) => replaced(each, from, to));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, from, to)]));
}
