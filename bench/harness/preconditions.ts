/**
 * What has to be there where it is measured: a preliminary view that never came took no time and no bytes, and without the
 * delays of a wide area everything is within them.
 */

/** With fewer, the report would cover only the fast ones: a preliminary view that the final overtakes is none. */
const VIEWS_MIN = 0.99;
/** Timers may be early by a little; light is not. */
const DELAY_MIN = 0.95;

/** @param of how many operations should have had one @throws Error where fewer had a preliminary view */
export function checkViews(description: string, { views, of }: { readonly views: number; readonly of: number }): void {
  if (of > 0 && views >= VIEWS_MIN * of) return;
  throw new Error(
    `${description}: ${views} preliminary views of ${of} operations: what they take or cost was not measured`,
  );
}

/** @param atLeastMs what the way to the answer takes by itself @throws Error where an answer came sooner */
export function checkDelay(
  description: string,
  { ms, atLeastMs }: { readonly ms: number; readonly atLeastMs: number },
): void {
  if (ms >= DELAY_MIN * atLeastMs) return;
  throw new Error(
    `${description}: ${ms.toFixed(2)} ms, where the way alone takes ${atLeastMs} ms: the delays are not there`,
  );
}
