/** Defaults that a function makes: their value says nothing about the schema, and is another one at the other end. */
import { takeIn } from './parse-now.ts';

/**
 * The description of a schema's default; `undefined` where it is computed: it differs from one reading to the next, it is
 * a moment since this process or page began, or it cannot be read.
 */
export function computedDefault(def: Record<string, unknown>, describe: (value: unknown) => unknown): unknown {
  try {
    const [first, second] = [def['defaultValue'], def['defaultValue']];
    const isLater = [first, second].map(takeIn).includes(true);
    if (isLater || hasMoment(first)) return undefined;
    const described = describe(first);
    return JSON.stringify(described) === JSON.stringify(describe(second)) ? described : undefined;
  } catch {
    return undefined;
  }
}

const MS_PER_SECOND = 1000;

function hasMoment(value: unknown): boolean {
  if (typeof value === 'number') return isMoment(value) || isMoment(value * MS_PER_SECOND);
  if (typeof value === 'string') return isMoment(Date.parse(value));
  if (value instanceof Date) return isMoment(value.getTime());
  if (Array.isArray(value)) return value.some(hasMoment);
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && Object.values(value).some(hasMoment);
}

/** In milliseconds since the epoch. Nobody writes such a time into a contract before it has come. */
function isMoment(timeMs: number): boolean {
  // Whole seconds are cut off from the time that they stand for.
  return timeMs >= performance.timeOrigin - MS_PER_SECOND && timeMs <= Date.now();
}
