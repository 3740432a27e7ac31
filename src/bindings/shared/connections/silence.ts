/** How long a server may be silent until a binding checks whether it is there. */

const MIN_SILENCE_MS = 100;
const MAX_SILENCE_MS = 1_000;

/** The share of the remaining time of an operation that a silent server gets. */
const SHARE = 1 / 4;

/**
 * Returns how long a call may be unanswered until its connection is checked. A quarter of the
 * remaining time, so that the check, its verdict and another server still fit into the operation.
 *
 * @param deadlineAt when the caller gives up, in milliseconds since the epoch
 */
export function getSilenceMs(deadlineAt: number | undefined, nowMs: number = Date.now()): number {
  if (deadlineAt === undefined) return MAX_SILENCE_MS;
  const shareMs = Math.ceil((deadlineAt - nowMs) * SHARE);
  return Math.min(MAX_SILENCE_MS, Math.max(MIN_SILENCE_MS, shareMs));
}
