/**
 * Sums of integers, exact beyond 2^53 too, so that sites agree in whatever
 * order they add.
 */

/** A bigint exactly where a number could be another one. */
export type ExactSum = number | bigint;

export function addExact(sum: ExactSum, amount: ExactSum): ExactSum {
  if (typeof sum === 'number' && typeof amount === 'number') {
    const next = sum + amount;
    if (Number.isSafeInteger(next)) return next;
  }
  const exact = BigInt(sum) + BigInt(amount);
  const next = Number(exact);
  return Number.isSafeInteger(next) ? next : exact;
}

export function subtractExact(sum: ExactSum, amount: ExactSum): ExactSum {
  return addExact(sum, -amount);
}

/** Equal for equal sums, as JSON too. */
export function toPlainSum(sum: ExactSum): number | string {
  return typeof sum === 'number' ? sum : String(sum);
}

export function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
