/** Begins reads before a component requests them. */
import type { AnyClient, Session } from '../correctable/client/client.ts';
import type { Operation } from '../correctable/operation.ts';
import { getReads } from './reads.ts';

/** Options of `prefetch`. */
export interface PrefetchOptions {
  /** The session in which the component will read. Default: none */
  readonly session?: Session | undefined;
  /** Waits for a view of this level or a stronger one. Default: the first view */
  readonly until?: string | undefined;
}

/**
 * Begins a read, for example in the loader of a route. A component that then requests the same read
 * shows its views without a second request. If no component does so within 30 seconds, the read is
 * dropped. Resolves when there is a view, or the read has failed; never rejects.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if the operation is a write
 * @example
 * export const loader = ({ params }) => prefetch(client, get(`article:${params.id}`));
 */
export function prefetch(
  client: AnyClient,
  operation: Operation,
  options: PrefetchOptions = {},
): Promise<void> {
  const reads = getReads(client);
  const rank = reads.getRank(options.until);
  const read = reads.get(operation, options.session);
  read.request();
  return read.wait(rank);
}
