/** One request of an operator's command to a node, over its cluster address and with the key of the deployment. */
import { isRecord } from '../../correctable/validate.ts';
import type { ClusterAddress } from './cluster-file.ts';
import type { ClusterKeys } from './key-file.ts';
import { LinkConnection } from './link-connection.ts';
import { dialSecurely } from './link-security.ts';
import { LINK_VERSION, type ConnectRequest } from './outgoing-link.ts';

/** Whom to ask. */
export interface OperatorTarget {
  readonly address: ClusterAddress;
  /** The site that should be there. */
  readonly to: string;
  readonly keys: ClusterKeys;
}

/** Resolves with the reply. Rejects if the node cannot be reached, refuses the key or the request, or does not answer. */
export function requestOfOperator(
  { address, to, keys }: OperatorTarget,
  kind: string,
  body: unknown,
  timeoutMs?: number,
): Promise<unknown> {
  const { promise, resolve, reject } = createDeferred();
  const ask = async (): Promise<unknown> => {
    const hello: ConnectRequest = { version: LINK_VERSION, deployment: keys.deployment, from: null, to };
    const reply = await connection.request('connect', hello);
    if (isRecord(reply) && reply['refused'] !== undefined) throw new Error(String(reply['refused']));
    return connection.request(kind, body, timeoutMs);
  };
  const socket = dialSecurely(address, keys, () => {
    ask()
      .then(resolve, reject)
      .finally(() => connection.close());
  });
  const connection = new LinkConnection(socket, {
    onRequest: () => {
      throw new Error('a command answers no requests');
    },
    onClosed: (error) => reject(error ?? new Error('the node has closed the connection')),
  });
  connection.isKnown = true;
  return promise;
}

interface Deferred {
  readonly promise: Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

function createDeferred(): Deferred {
  let resolve!: Deferred['resolve'];
  let reject!: Deferred['reject'];
  const promise = new Promise<unknown>((onFulfilled, onRejected) => ([resolve, reject] = [onFulfilled, onRejected]));
  return { promise, resolve, reject };
}
