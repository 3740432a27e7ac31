/**
 * How long people look at a page: TPC-W's time between two clicks (clause 5.3.2), which RUBiS has
 * taken over.
 */
import type { Random } from '../../demo/shared/random.ts';

const THINK_MS = 7000;
const THINK_MS_MAX = 70_000;

/** Of an exponential distribution, up to a bound. */
export const thinkMs = (random: Random): number =>
  Math.min(THINK_MS_MAX, -Math.log(1 - random()) * THINK_MS);
