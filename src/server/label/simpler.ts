/** Simpler arguments: smaller numbers, shorter lists, and without what may be left out. */

/** Numbers that are tried in the place of another one, if they are nearer to 0. */
const PLAIN = [0, 1, 2] as const;

/** Values that differ from this one in one place and are simpler there, the simplest first. */
export function* simplerValues(value: unknown): Generator<unknown> {
  if (typeof value === 'number') {
    const halved = Math.trunc(value / 2);
    const nearer = value - Math.sign(value);
    const candidates = new Set<number>([...PLAIN, -1, halved, nearer]);
    for (const each of candidates) if (Math.abs(each) < Math.abs(value)) yield each;
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

/** All texts in a value, each once. */
export function textsIn(value: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value === 'string') found.add(value);
  else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) textsIn(each, found);
  return found;
}

/** The same value with another text wherever there is this one. */
export function renamed(value: unknown, text: string, to: string): unknown {
  if (typeof value === 'string') return value === text ? to : value;
  if (Array.isArray(value)) return value.map((each) => renamed(each, text, to));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renamed(each, text, to)]));
}
