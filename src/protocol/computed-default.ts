/** Defaults that a function makes: their value says nothing about the schema, and is another one at the other end. */
import { takeIn } from './parse-now.ts';

/** In between are all months, days of the week and hours, and most of what is meant to begin or to end some time. */
const STEP_MS = 397.213 * 86_400_000;
const STEPS = 12;

/**
 * The description of a schema's default; `undefined` where it is computed: it differs from one reading to the next, or
 * from one time to another, it is a moment since this process or page began, or it cannot be read.
 */
export function computedDefault(def: Record<string, unknown>, describe: (value: unknown) => unknown): unknown {
  try {
    const values = atManyTimes(() => def['defaultValue']);
    const isLater = values.map(takeIn).includes(true);
    const [first] = values;
    if (isLater || hasMoment(first)) return undefined;
    const described = describe(first);
    const text = JSON.stringify(described);
    return values.every((value) => JSON.stringify(describe(value)) === text) ? described : undefined;
  } catch {
    return undefined;
  }
}

/** What `read` gives at times years before and after now, as `Date` tells it. Where that may not be replaced, it is now. */
function atManyTimes(read: () => unknown): readonly unknown[] {
  const RealDate = Date;
  let shiftMs = -STEPS * STEP_MS;
  class ShiftedDate extends RealDate {
    constructor(...given: [number]) {
      super(...(given.length > 0 ? given : ([ShiftedDate.now()] as const)));
    }

    static override now(): number {
      return RealDate.now() + shiftMs;
    }
  }
  const values: unknown[] = [];
  Reflect.set(globalThis, 'Date', ShiftedDate);
  try {
    for (; shiftMs <= STEPS * STEP_MS; shiftMs += STEP_MS) values.push(read());
  } finally {
    Reflect.set(globalThis, 'Date', RealDate);
  }
  return values;
}

const MS_PER_SECOND = 1000;

function hasMoment(value: unknown): boolean {
  if (typeof value === 'number') return isMoment(value) || isMoment(value * MS_PER_SECOND);
  if (typeof value === 'string') return isMoment(Date.parse(value));
  if (value instanceof Date) return isMoment(value.getTime());
  return typeof value === 'object' && value !== null && Object.values(value).some(hasMoment);
}

/** In milliseconds since the epoch. Nobody writes such a time into a contract before it has come. */
function isMoment(timeMs: number): boolean {
  // Whole seconds are cut off from the time that they stand for.
  return timeMs >= performance.timeOrigin - MS_PER_SECOND && timeMs <= Date.now();
}
