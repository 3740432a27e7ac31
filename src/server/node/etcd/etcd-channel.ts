/** A connection to one server of etcd, from the first try until it is lost. */
import type {
  ChannelCredentials,
  ChannelOptions,
  Client,
  ClientDuplexStream,
  Metadata,
  ServiceError,
  VerifyOptions,
} from '@grpc/grpc-js';
import { isIP, type Socket } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import {
  AUTHENTICATE,
  WATCH,
  type Method,
  type WatchReply,
  type WatchRequest,
} from './etcd-messages.ts';
import type { GrpcModule } from './load-grpc.ts';
import type { Decoded, Encodable, Fields } from './protobuf.ts';

/** The addresses of the servers, and what they require of clients. */
export interface EtcdServers extends EtcdSecrets {
  /** `http://host:port` or `https://host:port`. */
  readonly endpoints: readonly string[];
  /**
   * Reads the secrets. Called before each connection, because certificates and passwords may be
   * replaced on disk.
   */
  readSecrets?(): EtcdSecrets;
}

/** Certificates and login of a client. */
export interface EtcdSecrets {
  /** In PEM form. Without `ca`, the authorities that Node knows are trusted. */
  readonly tls?:
    | {
        readonly ca?: Buffer;
        readonly certificate?: Buffer;
        readonly key?: Buffer;
      }
    | undefined;
  readonly user?: { readonly name: string; readonly password: string } | undefined;
}

export interface CallError {
  /** The status code of gRPC, such as `UNAVAILABLE` or `RESOURCE_EXHAUSTED`. */
  readonly code: string;
  readonly message: string;
}

type Callback<Reply extends Fields> = (
  error: CallError | undefined,
  reply: Decoded<Reply> | undefined,
) => void;

export interface WatchListener {
  onReply(reply: WatchReply): void;
  onEnd(message: string): void;
}

/** A running watch. After it is canceled or has ended, it calls no callback. */
export interface Watch {
  /** Requests the progress of the watch. The reply is a message without events. */
  askProgress(): void;
  cancel(): void;
}

/**
 * etcd cuts fragments of events at 1.5 MiB, and a fragment may contain one more request of 1.5 MiB.
 */
const MAX_RECEIVED_BYTES = 16 * 1024 * 1024;
/**
 * The timeout of opening a connection. A running server answers in one round trip. A login takes
 * longer, because the server hashes the password.
 */
const CONNECT_TIMEOUT_MS = 5000;
/**
 * The options of a channel. It sends no pings, because etcd disconnects clients that send one more
 * often than every 5 s. Instead, requests for progress show that a server is silent.
 */
const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_RECEIVED_BYTES,
  // Use a separate pool of sockets: a shared pool would keep sockets open for other channels.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
};

export class EtcdChannel {
  readonly #grpc: GrpcModule;
  readonly #client: Client;
  /**
   * Requires a leader. Without that, requests to a server that is cut off from the others wait
   * without an error.
   */
  readonly #metadata: Metadata;
  readonly #calls = new Set<{ cancel(): void }>();
  readonly #sockets = new Set<Socket>();
  #isClosed = false;

  /** Throws if the certificate and the key are damaged, or do not belong together. */
  constructor(grpc: GrpcModule, endpoint: string, { tls = {} }: EtcdSecrets) {
    this.#grpc = grpc;
    const [protocol, address = ''] = endpoint.split('//');
    const { hostname } = new URL(endpoint);
    const { ca = null, key = null, certificate = null } = tls;
    const { createInsecure, createSsl } = grpc.credentials;
    const named = nameServer(hostname.replace(/^\[(.*)\]$/, '$1'));
    const credentials =
      protocol === 'http:' ? createInsecure() : createSsl(ca, key, certificate, named.verifying);
    observeSockets(credentials, (socket) => this.#sockets.add(socket));
    this.#client = new grpc.Client(address, credentials, {
      ...CHANNEL_OPTIONS,
      ...named.options,
    });
    this.#metadata = new grpc.Metadata();
    this.#metadata.set('hasleader', 'true');
  }

  /**
   * Connects, and logs in. Rejects with the cause if it cannot. Calls `onLost` when the connection
   * is lost.
   */
  async open({ user }: EtcdSecrets, onLost: () => void): Promise<void> {
    const channel = this.#client.getChannel();
    const { IDLE, CONNECTING, READY } = this.#grpc.connectivityState;
    const deadline = Date.now() + CONNECT_TIMEOUT_MS;
    let state = channel.getConnectivityState(true);
    while (state === IDLE || state === CONNECTING) {
      await new Promise<void>((resolve, reject) => {
        channel.watchConnectivityState(state, deadline, (error) => {
          if (error === undefined) resolve();
          else reject(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`));
        });
      });
      state = channel.getConnectivityState(true);
    }
    if (state !== READY) throw new Error('no connection');
    if (user !== undefined) this.#metadata.set('token', await this.#logIn(user));
    channel.watchConnectivityState(READY, Infinity, () => {
      if (!this.#isClosed) onLost();
    });
    // The connection may have been lost and restored meanwhile.
    if (channel.getConnectivityState(false) !== READY) throw new Error('the connection was lost');
  }

  call<Request extends Fields, Reply extends Fields>(
    { path, request, reply }: Method<Request, Reply>,
    value: Encodable<Request>,
    timeoutMs: number,
    callback: Callback<Reply>,
  ): void {
    const call = this.#client.makeUnaryRequest<Encodable<Request>, Decoded<Reply>>(
      path,
      (message) => request.encode(message),
      (bytes) => reply.decode(bytes),
      value,
      this.#metadata,
      { deadline: Date.now() + timeoutMs },
      (error, decoded) => {
        this.#calls.delete(call);
        if (!this.#isClosed)
          callback(error === null ? undefined : this.#toCallError(error), decoded);
      },
    );
    this.#calls.add(call);
  }

  watch(create: NonNullable<WatchRequest['create']>, listener: WatchListener): Watch {
    const { path, request, reply } = WATCH;
    const stream: ClientDuplexStream<WatchRequest, WatchReply> = this.#client.makeBidiStreamRequest(
      path,
      (message: WatchRequest) => request.encode(message),
      (bytes) => reply.decode(bytes),
      this.#metadata,
    );
    this.#calls.add(stream);
    let isOver = false;
    const end = (message: string): void => {
      this.#calls.delete(stream);
      if (isOver || this.#isClosed) return;
      isOver = true;
      stream.cancel();
      listener.onEnd(message);
    };
    stream.on('data', (value: WatchReply) => {
      if (isOver || this.#isClosed) return;
      if (value.canceled) end(describeCancel(value));
      else listener.onReply(value);
    });
    stream.on('error', (error: ServiceError) => end(this.#toCallError(error).message));
    stream.on('end', () => end('the server has ended the watch'));
    stream.write({ create });
    return {
      askProgress: () => {
        if (!isOver) stream.write({ progress: {} });
      },
      cancel: () => {
        isOver = true;
        stream.cancel();
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const call of this.#calls) call.cancel();
    this.#client.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #logIn(user: { readonly name: string; readonly password: string }): Promise<string> {
    return new Promise((resolve, reject) => {
      this.call(AUTHENTICATE, user, CONNECT_TIMEOUT_MS, (error, reply) => {
        if (reply !== undefined) resolve(reply.token);
        else reject(new Error(`cannot log in as ${user.name}: ${error?.message}`));
      });
    });
  }

  #toCallError({ code, details, message }: ServiceError): CallError {
    return {
      code: this.#grpc.status[code],
      message: details === '' ? message : details,
    };
  }
}

/**
 * Returns the options that name the server in the TLS handshake. The name must not be an IP address
 * (RFC 6066, §3), and Node warns about one. The certificate is still checked against the address.
 */
function nameServer(host: string): {
  readonly options: ChannelOptions;
  readonly verifying?: VerifyOptions;
} {
  if (isIP(host) === 0) return { options: {} };
  return {
    options: { 'grpc.ssl_target_name_override': 'address.invalid' },
    verifying: {
      checkServerIdentity: (_name, cert) => checkServerIdentity(host, cert),
    },
  };
}

/**
 * Passes each new socket to a callback, so that it can be destroyed. A closed client waits for the
 * server to close its side. A server that hangs never does, so its sockets would accumulate. The
 * package offers no other way to get the sockets.
 */
function observeSockets(credentials: ChannelCredentials, onSocket: (socket: Socket) => void): void {
  const create = credentials._createSecureConnector?.bind(credentials);
  if (create === undefined) return;
  credentials._createSecureConnector = (...parameters) => {
    const connector = create(...parameters);
    const connect = connector.connect.bind(connector);
    connector.connect = (socket) => {
      onSocket(socket);
      return connect(socket);
    };
    return connector;
  };
}

function describeCancel({ compactRevision, cancelReason }: WatchReply): string {
  return compactRevision > 0
    ? `what comes next is compacted, up to revision ${compactRevision}`
    : cancelReason;
}
