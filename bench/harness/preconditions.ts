/**
 * Checks the preconditions of measurements. A preliminary view that never arrived takes no time and
 * no bytes. And without the delays between sites, every latency would reach its goal.
 */

/**
 * The minimum share of operations with a preliminary view. With fewer, the report would cover only
 * fast views, because a view that the final view overtakes is dropped.
 */
const VIEWS_MIN = 0.99;
/** The minimum delay, as a share of the configured one. Timers may fire slightly early. */
const DELAY_MIN = 0.95;

/**
 * Checks preliminary views. @param of how many operations should have one @throws Error if too few
 * have one
 */
export function checkViews(
  description: string,
  { views, of }: { readonly views: number; readonly of: number },
): void {
  if (of > 0 && views >= VIEWS_MIN * of) return;
  throw new Error(
    `${description}: ${views} preliminary views of ${of} operations: what they take or cost was not measured`,
  );
}

/**
 * Checks a delay. @param atLeastMs the configured delay of the answer @throws Error if an answer
 * arrived sooner
 */
export function checkDelay(
  description: string,
  { ms, atLeastMs }: { readonly ms: number; readonly atLeastMs: number },
): void {
  if (ms >= DELAY_MIN * atLeastMs) return;
  throw new Error(
    `${description}: ${ms.toFixed(2)} ms, where the way alone takes ${atLeastMs} ms: the delays are not there`,
  );
}
