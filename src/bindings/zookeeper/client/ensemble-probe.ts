/**
 * Finds out the last transaction of an ensemble whose servers refuse a session. A server refuses a
 * client that has seen a later transaction than itself, and gives no reason. If the ensemble was
 * restored from a backup or created again, all servers refuse that client for ever.
 *
 * The probe opens and closes a session of its own, which has seen nothing. The ensemble agrees on
 * both. So if these transactions have lower numbers than one that was seen before, the ensemble has
 * lost that one.
 */
import type { ServerAddress } from '../../shared/server-address.ts';
import {
  Connection,
  encodeFrame,
  type ConnectionOptions,
  type PendingRequest,
} from './connection.ts';
import { createRequestNumbers } from './request-numbers.ts';
import { OP, type Request } from './requests.ts';

export interface EnsembleProbeOptions extends Pick<
  ConnectionOptions,
  'sessionTimeoutMs' | 'connectTimeoutMs' | 'maxReplyBytes' | 'bytes'
> {
  readonly server: ServerAddress;
  /**
   * Called once with the last transaction; `undefined` if the server accepts no session, or no
   * majority agrees.
   */
  readonly onResult: (zxid: bigint | undefined) => void;
}

const SYNC: Request<void> = {
  type: OP.sync,
  path: undefined,
  isWrite: false,
  write: (writer) => void writer.string('/'),
  read: () => {},
};
/** The end of a session is a transaction. The number is in the header. */
const CLOSE_SESSION: Request<void> = {
  type: OP.closeSession,
  path: undefined,
  isWrite: false,
  write: () => {},
  read: () => {},
};

/** Begins a probe. Returns a function that gives it up. */
export function probeEnsemble(options: EnsembleProbeOptions): () => void {
  let zxid: bigint | undefined;
  let isReported = false;
  const report = (): void => {
    if (!isReported) options.onResult(zxid);
    isReported = true;
  };
  const connection = new Connection({
    ...options,
    nextRequestNumber: createRequestNumbers(),
    credentials: undefined,
    lastZxid: 0n,
    onAccepted: () => void check(),
    onZxid: (seen) => (zxid = seen),
    onWatchEvent: () => {},
    onAuthFailed: () => {},
    onClosed: report,
  });
  const check = async (): Promise<void> => {
    // A local session of a server, which ends without a transaction, needs the sync: the server may
    // be behind.
    const replies = [SYNC, CLOSE_SESSION].map((item) => send(connection, item));
    const isAnswered = await Promise.all(replies).then(
      () => true,
      () => false,
    );
    if (!isAnswered) zxid = undefined;
    report();
    connection.destroy('the probe has ended');
  };
  return () => {
    isReported = true;
    connection.destroy('the probe was canceled');
  };
}

function send(connection: Connection, request: Request<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.send({
      request,
      frame: encodeFrame(request),
      resolve,
      reject,
      startedAtMs: performance.now(),
    } as PendingRequest);
  });
}
