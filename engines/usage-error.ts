/**
 * A command line or environment that cannot be run: the message names the flag and what it takes.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
