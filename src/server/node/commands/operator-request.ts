/**
 * Sends one request of a command to a node, over its cluster address and with the key of the
 * deployment.
 */
import type { ClusterAddress } from '../cluster/cluster-file.ts';
import type { ClusterKeys } from '../cluster/key-file.ts';
import { HEARTBEAT_INTERVAL_MS, LinkConnection } from '../links/link-connection.ts';
import { dialSecurely, explainDialError } from '../links/link-security.ts';
import { introduce } from '../links/outgoing-link.ts';

export interface OperatorTarget {
  readonly address: ClusterAddress;
  /** The site that is expected at the address. */
  readonly to: string;
  readonly keys: ClusterKeys;
}

const REPLY_TIMEOUT_MS = 5000;
/**
 * Added to the timeout of the connection, so that the timeout of the request ends first: its error
 * reports that there was no reply.
 */
const SPARE_MS = 1000;

/** Reports that the node could not be reached, so nothing was done. */
export class NotReachedError extends Error {}

/** Reports that the node got the request and did not reply. It may have executed the request. */
export class NoReplyError extends Error {}

/**
 * Resolves with the reply. Rejects with `NotReachedError` if the node cannot be reached or refuses
 * the key, with `NoReplyError` if it does not reply, and with another error if it refuses the
 * request.
 */
export function requestOfOperator(
  { address, to, keys }: OperatorTarget,
  kind: string,
  body: unknown,
  timeoutMs: number = REPLY_TIMEOUT_MS,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let isAsked = false;
    const fail = (error: Error): void =>
      reject(
        isAsked
          ? new NoReplyError(error.message, { cause: error })
          : new NotReachedError(error.message, { cause: error }),
      );
    const socket = dialSecurely(address, keys, () => {
      introduce(connection, { deployment: keys.deployment, from: null, to })
        .then(() => {
          isAsked = true;
          const late = (): void =>
            connection.close(new Error(`no reply to ${kind} within ${timeoutMs} ms`));
          timer = setTimeout(late, timeoutMs);
          heartbeat = setInterval(() => ping(connection, timeoutMs), HEARTBEAT_INTERVAL_MS);
          return connection.request(kind, body, timeoutMs + SPARE_MS);
        })
        .then(resolve, (error: Error) => (isAsked ? reject(error) : fail(error)))
        .finally(() => connection.close());
    });
    let timer: NodeJS.Timeout | undefined;
    let heartbeat: NodeJS.Timeout | undefined;
    const connection = new LinkConnection(socket, {
      onRequest: () => {
        throw new Error('a command answers no requests');
      },
      onClosed: (error) => {
        clearTimeout(timer);
        clearInterval(heartbeat);
        fail(explainDialError(error ?? new Error('the node has closed the connection')));
      },
    });
    connection.isKnown = true;
  });
}

/**
 * Keeps the connection open with heartbeats: a node closes a silent connection, and its reply may
 * take longer. No limit applies to the silence of the node itself, because it does not reply to
 * heartbeats while it reads its data.
 */
function ping(connection: LinkConnection, timeoutMs: number): void {
  connection.request('ping', null, timeoutMs).catch(() => {});
}
