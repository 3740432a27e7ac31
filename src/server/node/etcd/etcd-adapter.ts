/** Executes the requests of the red log to etcd, using one server at a time. */
import type {
  EtcdEntry,
  EtcdKeyRange,
  EtcdReply,
  EtcdRequest,
  EtcdRequestId,
} from '../../log/etcd/etcd-requests.ts';
import {
  EtcdChannel,
  type CallError,
  type EtcdSecrets,
  type EtcdServers,
  type Watch,
} from './etcd-channel.ts';
import {
  COMPACT,
  DELETE_EVENT,
  DELETE_RANGE,
  RANGE,
  STATUS,
  TXN,
  type KeyValue,
  type Method,
  type WatchReply,
} from './etcd-messages.ts';
import type { GrpcModule } from './load-grpc.ts';
import type { Decoded, Encodable, Fields } from './protobuf.ts';

export interface EtcdConnectionStatus {
  readonly endpoint: string;
  readonly isConnected: boolean;
  /** The reason if it is not connected. */
  readonly problem?: string | undefined;
}

/**
 * etcd loses a write that is in flight to a leader that dies, and the server in between reports
 * that only after seconds. So a write is repeated.
 */
const REPEAT_WRITE_MS = 1000;
/** The pause after all servers were tried without success. */
const PAUSE_MS = 500;
/** The default quota of etcd. Versions before 3.6 do not report theirs. */
const DEFAULT_QUOTA_BYTES = 2 * 1024 ** 3;

type KeyRequest = Extract<EtcdRequest, { readonly id: EtcdRequestId }>;

/** A connection to etcd for one node of the red log. */
export class EtcdAdapter {
  readonly #grpc: GrpcModule;
  readonly #servers: EtcdServers;
  readonly #onReply: (reply: EtcdReply) => void;
  #serverIndex = 0;
  /** `undefined` if the secrets could not be read or used. */
  #channel: EtcdChannel | undefined;
  #isConnected = false;
  #problem: string | undefined;
  /** How many servers in a row could not be reached. */
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #watch: Watch | undefined;
  /** Requests for progress that are not answered yet. */
  #progressIds: EtcdRequestId[] = [];
  #isClosed = false;

  /** Connects at once. `onReply` is never called within a call. */
  constructor(grpc: GrpcModule, servers: EtcdServers, onReply: (reply: EtcdReply) => void) {
    this.#grpc = grpc;
    this.#servers = servers;
    this.#onReply = onReply;
    this.#channel = this.#connect();
  }

  get status(): EtcdConnectionStatus {
    return {
      endpoint: this.#endpoint,
      isConnected: this.#isConnected,
      problem: this.#problem,
    };
  }

  /** Sends a request. It is lost if there is no connection. */
  send(request: EtcdRequest): void {
    if (this.#isClosed) return;
    if (request.kind === 'etcd.reconnect') this.#moveOn();
    else if (this.#isConnected) this.#execute(request);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#channel?.close();
  }

  get #endpoint(): string {
    return this.#servers.endpoints[this.#serverIndex] as string;
  }

  #connect(): EtcdChannel | undefined {
    let channel: EtcdChannel;
    let secrets: EtcdSecrets = this.#servers;
    try {
      secrets = this.#servers.readSecrets?.() ?? secrets;
      channel = new EtcdChannel(this.#grpc, this.#endpoint, secrets);
    } catch (error) {
      // A file may be replaced just now. It is read again before the next try.
      this.#problem = `${this.#endpoint}: ${(error as Error).message}`;
      this.#timer = setTimeout(() => this.#moveOn(), PAUSE_MS);
      return undefined;
    }
    const isCurrent = (): boolean => this.#channel === channel && !this.#isClosed;
    channel
      .open(secrets, () => this.#onLost('the connection was lost'))
      .then(
        () => {
          if (isCurrent()) this.#onConnected();
        },
        (error: Error) => {
          if (isCurrent()) this.#onUnreachable(error);
        },
      );
    return channel;
  }

  #onConnected(): void {
    this.#isConnected = true;
    this.#problem = undefined;
    this.#failures = 0;
    this.#onReply({ kind: 'etcd.connected', endpoint: this.#endpoint });
  }

  #onUnreachable({ message }: Error): void {
    this.#problem = `${this.#endpoint}: ${message}`;
    this.#failures += 1;
    if (this.#failures % this.#servers.endpoints.length !== 0) return this.#moveOn();
    this.#timer = setTimeout(() => this.#moveOn(), PAUSE_MS);
  }

  #onLost(message: string): void {
    this.#problem = `${this.#endpoint}: ${message}`;
    this.#moveOn();
    this.#onReply({ kind: 'etcd.disconnected', message });
  }

  /** Leaves this server for the next one. */
  #moveOn(): void {
    clearTimeout(this.#timer);
    this.#isConnected = false;
    this.#watch = undefined;
    this.#progressIds = [];
    this.#channel?.close();
    this.#serverIndex = (this.#serverIndex + 1) % this.#servers.endpoints.length;
    this.#channel = this.#connect();
  }

  #execute(request: KeyRequest): void {
    const { id } = request;
    switch (request.kind) {
      case 'etcd.create':
        return this.#create(request);
      case 'etcd.range':
        return this.#call(
          id,
          RANGE,
          {
            ...toRange(request),
            limit: request.limit,
            revision: request.revision,
          },
          (reply) => ({
            kind: 'etcd.range',
            id,
            revision: reply.header?.revision ?? 0,
            entries: reply.keyValues.map(toEntry),
            hasMore: reply.more,
          }),
        );
      case 'etcd.watch':
        return this.#startWatch(request);
      case 'etcd.progress':
        this.#progressIds.push(id);
        return this.#watch?.askProgress();
      case 'etcd.delete':
        return this.#call(id, DELETE_RANGE, toRange(request), ({ header }) => ({
          kind: 'etcd.deleted',
          id,
          revision: header?.revision ?? 0,
        }));
      case 'etcd.compact':
        return this.#call(id, COMPACT, { revision: request.revision }, () => ({
          kind: 'etcd.compacted',
          id,
        }));
      case 'etcd.status':
        return this.#call(id, STATUS, {}, ({ dbSizeInUse, dbSize, dbSizeQuota }) => ({
          kind: 'etcd.status',
          id,
          usedBytes: dbSizeInUse,
          sizeBytes: dbSize,
          quotaBytes: dbSizeQuota === 0 ? DEFAULT_QUOTA_BYTES : dbSizeQuota,
        }));
    }
  }

  /**
   * Creates a key. If the key exists already, it has the same value, because no other request
   * writes it.
   */
  #create(request: Extract<EtcdRequest, { kind: 'etcd.create' }>): void {
    const { id, value } = request;
    const key = Buffer.from(request.key);
    const txn = {
      compare: [{ key, version: 0 }],
      success: [{ put: { key, value } }],
    };
    this.#channel?.call(TXN, txn, REPEAT_WRITE_MS, (error, reply) => {
      if (error === undefined)
        this.#onReply({
          kind: 'etcd.created',
          id,
          revision: reply?.header?.revision ?? 0,
        });
      else if (error.code === 'DEADLINE_EXCEEDED') this.#create(request);
      else this.#onFailed(id, error);
    });
  }

  #call<Request extends Fields, Reply extends Fields>(
    id: EtcdRequestId,
    method: Method<Request, Reply>,
    request: Encodable<Request>,
    toReply: (reply: Decoded<Reply>) => EtcdReply,
  ): void {
    this.#channel?.call(method, request, Infinity, (error, reply) => {
      if (reply !== undefined) this.#onReply(toReply(reply));
      else if (error !== undefined) this.#onFailed(id, error);
    });
  }

  #onFailed(id: EtcdRequestId, error: CallError): void {
    // A restarted server has forgotten its logins. A new connection logs in again.
    if (error.code === 'UNAUTHENTICATED' || error.message.includes('auth store is old'))
      return this.#onLost(error.message);
    this.#onReply({
      kind: 'etcd.failed',
      id,
      reason: getReason(error),
      message: error.message,
    });
  }

  #startWatch(request: Extract<EtcdRequest, { kind: 'etcd.watch' }>): void {
    const { id, fromRevision } = request;
    this.#watch?.cancel();
    this.#progressIds = [];
    this.#watch = this.#channel?.watch(
      { ...toRange(request), startRevision: fromRevision, fragment: true },
      {
        onReply: (reply) => this.#onWatched(id, reply),
        onEnd: (message) => {
          this.#watch = undefined;
          this.#onReply({ kind: 'etcd.canceled', id, message });
        },
      },
    );
  }

  #onWatched(id: EtcdRequestId, { created, header, events }: WatchReply): void {
    const revision = header?.revision ?? 0;
    if (events.length === 0) {
      if (created) return;
      // etcd drops requests for progress while the watch is behind, so this reply answers all
      // earlier requests.
      const ids = this.#progressIds;
      this.#progressIds = [];
      for (const asked of ids) this.#onReply({ kind: 'etcd.progress', id: asked, revision });
      return;
    }
    const stored = events.filter(({ type }) => type !== DELETE_EVENT);
    const entries = stored.flatMap(({ keyValue }) =>
      keyValue === undefined ? [] : [toEntry(keyValue)],
    );
    if (entries.length > 0) this.#onReply({ kind: 'etcd.events', id, revision, entries });
  }
}

function toRange({ key, end }: EtcdKeyRange): {
  key: Buffer;
  rangeEnd: Buffer;
} {
  return { key: Buffer.from(key), rangeEnd: Buffer.from(end) };
}

function toEntry({ key, value, modRevision }: KeyValue): EtcdEntry {
  return { key: Buffer.from(key).toString(), value, modRevision };
}

function getReason({ message }: CallError): Extract<EtcdReply, { kind: 'etcd.failed' }>['reason'] {
  if (message.includes('database space exceeded')) return 'no-space';
  return message.includes('has been compacted') ? 'compacted' : 'other';
}
