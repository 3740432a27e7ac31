/**
 * One request of an operator's command to a node, over its cluster address and with the key of the
 * deployment.
 */
import type { ClusterAddress } from './cluster-file.ts';
import type { ClusterKeys } from './key-file.ts';
import { LinkConnection } from './link-connection.ts';
import { dialSecurely, explainDialError } from './link-security.ts';
import { introduce } from './outgoing-link.ts';

export interface OperatorTarget {
  readonly address: ClusterAddress;
  /** The site that should be there. */
  readonly to: string;
  readonly keys: ClusterKeys;
}

/**
 * Resolves with the reply. Rejects if the node cannot be reached, refuses the key or the request,
 * or does not answer.
 */
export function requestOfOperator(
  { address, to, keys }: OperatorTarget,
  kind: string,
  body: unknown,
  timeoutMs?: number,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = dialSecurely(address, keys, () => {
      introduce(connection, { deployment: keys.deployment, from: null, to })
        .then(() => connection.request(kind, body, timeoutMs))
        .then(resolve, reject)
        .finally(() => connection.close());
    });
    const connection = new LinkConnection(socket, {
      onRequest: () => {
        throw new Error('a command answers no requests');
      },
      onClosed: (error) =>
        reject(explainDialError(error ?? new Error('the node has closed the connection'))),
    });
    connection.isKnown = true;
  });
}
