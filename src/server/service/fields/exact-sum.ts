/** Sums of integers that are exact beyond 2^53, so that sites agree in any order of additions. */

/** A bigint only where a number would be inexact. */
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

/** Returns equal plain data for equal sums, which JSON can carry. */
export function toPlainSum(sum: ExactSum): number | string {
  return typeof sum === 'number' ? sum : String(sum);
}

export function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
