/**
 * Sums of whole numbers. One that numbers no longer hold exactly is kept as a bigint, so that sites agree there too, in
 * whatever order they add.
 */

/** A bigint exactly where a number could be another one. */
export type Sum = number | bigint;

export function plus(sum: Sum, amount: Sum): Sum {
  if (typeof sum === 'number' && typeof amount === 'number') {
    const next = sum + amount;
    if (Number.isSafeInteger(next)) return next;
  }
  const exact = BigInt(sum) + BigInt(amount);
  const next = Number(exact);
  return Number.isSafeInteger(next) ? next : exact;
}

export function minus(sum: Sum, amount: Sum): Sum {
  return plus(sum, -amount);
}

/** Equal for equal sums, as JSON too. */
export function shownSum(sum: Sum): number | string {
  return typeof sum === 'number' ? sum : String(sum);
}
