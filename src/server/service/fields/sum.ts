/**
 * Sums of whole numbers. One that numbers no longer hold exactly is kept as a bigint, so that sites agree there too, in
 * whatever order they add.
 */

/** A bigint exactly where a number could be another one. */
export type Sum = number | bigint;

export function plus(sum: Sum, amount: number): Sum {
  if (typeof sum === 'number') {
    const next = sum + amount;
    if (Number.isSafeInteger(next)) return next;
  }
  const exact = BigInt(sum) + BigInt(amount);
  const next = Number(exact);
  return Number.isSafeInteger(next) ? next : exact;
}

/** Equal for equal sums, as JSON too. */
export function shownSum(sum: Sum): number | string {
  return typeof sum === 'number' ? sum : String(sum);
}
