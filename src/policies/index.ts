/** `correctables/policies`: what a client may do beside handing each operation on to its binding once. */
export { exponentialBackoff, type Backoff, type BackoffOptions } from '../correctable/backoff.ts';
export { retryPolicy, type RetryOptions } from './retry.ts';
export type { Policy, SubmitFunction } from '../correctable/policy.ts';
export { dedupeReads } from './dedupe-reads.ts';
