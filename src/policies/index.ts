/** `correctables/policies`: policies by which a client retries operations and shares reads. */
export { exponentialBackoff, type Backoff, type BackoffOptions } from '../correctable/backoff.ts';
export { retryPolicy, type RetryOptions } from './retry.ts';
export type { Policy, SubmitFunction } from '../correctable/policy.ts';
export { dedupeReads } from './dedupe-reads.ts';
