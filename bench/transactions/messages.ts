/** The definitions that the processes of this benchmark share. */

/**
 * How a transfer is made: by `transaction`, by one hand-written red operation, or by that operation
 * after a request for both balances, which is as many requests as a transaction has.
 */
export const WAYS = ['transaction', 'red operation', 'read and red operation'] as const;
export type Way = (typeof WAYS)[number];
