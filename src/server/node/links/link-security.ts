/**
 * TLS with a pre-shared key: links are encrypted and both ends are authenticated without
 * certificates.
 */
import { createServer, type Server } from 'node:net';
import { connect, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { ClusterAddress } from '../cluster/cluster-file.ts';
import type { ClusterKeys, LinkKey } from '../cluster/key-file.ts';
import { UnknownConnections } from './unknown-connections.ts';

/**
 * Only the key can authenticate a peer: no other cipher is offered, and none falls back to
 * certificates.
 */
const TLS_OPTIONS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;
const HANDSHAKE_TIMEOUT_MS = 5000;

/** Maximum length of an identity that an unknown peer claims. */
const MAX_CLAIM_LENGTH = 64;

/**
 * Dials a peer. The TLS identity names the deployment and the key, so that the peer can report
 * which of them differs.
 */
export function dialSecurely(
  { host, port }: ClusterAddress,
  { deployment, keys }: ClusterKeys,
  onSecure: () => void,
): TLSSocket {
  const [key] = keys as readonly [LinkKey];
  const identity = `${deployment}/${key.id}`;
  const socket = connect(
    {
      host,
      port,
      ...TLS_OPTIONS,
      pskCallback: () => ({ identity, psk: key.bytes }),
      // The key authenticates the peer, and there is no certificate with a name to check.
      checkServerIdentity: () => undefined,
    },
    () => {
      socket.setTimeout(0);
      onSecure();
    },
  );
  socket.setNoDelay(true);
  socket.setTimeout(HANDSHAKE_TIMEOUT_MS, () => socket.destroy(new Error('it does not answer')));
  return socket;
}

/** Reports that the peer refuses this end, or is another program. Dialing again would not help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * The TLS alerts with which a peer ends a handshake if it does not know the key, or has another key
 * of that name.
 */
const KEY_ALERTS = ['UNKNOWN_PSK_IDENTITY', 'BAD_RECORD_MAC', 'DECRYPT_ERROR'];

/** Explains why a dialed peer ended the handshake. Other errors are returned unchanged. */
export function explainDialError(error: Error): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (!code.startsWith('ERR_SSL_')) return error;
  const hasOtherKey = KEY_ALERTS.some((alert) => code.endsWith(alert));
  const reason = hasOtherKey
    ? 'it has another key: compare the key files of both'
    : 'another program listens there, which is no site: compare the cluster address with the cluster.json of the site';
  return new RefusedError(reason, { cause: error });
}

/**
 * The claim of a peer without the key: this deployment with an unknown key, or another deployment.
 */
export type StrangerKind = 'key' | 'deployment';

export interface SecureServerOptions {
  readonly keys: ClusterKeys;
  onConnection(socket: TLSSocket): void;
  /**
   * Called when a connection was refused because it does not have the key. Its claims are not
   * trusted, so only two kinds are distinguished.
   */
  onRefused(kind: StrangerKind, problem: string): void;
  /** Called when a handshake has failed, for any reason. */
  onFailed(): void;
}

/** Creates a server that accepts peers with one of the keys. */
export function createSecureServer({
  keys: source,
  onConnection,
  onRefused,
  onFailed,
}: SecureServerOptions): Server {
  const findKey = (identity: string): Uint8Array | null => {
    const [claimed = '', id] = identity.split('/');
    const { deployment, keys } = source;
    const key = keys.find((item) => item.id === id);
    if (claimed === deployment && key !== undefined) return key.bytes;
    if (claimed === deployment)
      onRefused('key', 'it has another key of this deployment than this site');
    else {
      const claim = claimed.slice(0, MAX_CLAIM_LENGTH);
      onRefused('deployment', `it is of the deployment '${claim}', and this is '${deployment}'`);
    }
    return null;
  };
  const unknown = new UnknownConnections();
  const tlsServer = createTlsServer(
    {
      ...TLS_OPTIONS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      pskCallback: (_socket, identity) => findKey(identity) as Buffer | null,
    },
    (socket) => {
      unknown.remove(socket);
      socket.setNoDelay(true);
      onConnection(socket);
    },
  );
  // Do not report this error: port scanners and health checks cause it too. Only connections that
  // claim to be a peer are reported.
  tlsServer.on('tlsClientError', (_error, socket) => {
    onFailed();
    socket.destroy();
  });
  return createServer((socket) => unknown.add(socket, () => tlsServer.emit('connection', socket)));
}
