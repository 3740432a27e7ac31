/** `correctables/policies`: what a client may do beside handing each operation on to its binding once. */
export { exponentialBackoff, type Backoff, type BackoffOptions } from '../correctable/backoff.ts';
export { retries, type RetryOptions } from './retries.ts';
export type { Policy, Submit } from '../correctable/policy.ts';
export { sharedReads } from './shared-reads.ts';
