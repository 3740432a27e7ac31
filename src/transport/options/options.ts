/** The options of a connection, checked and with their defaults. */
import { exponentialBackoff, type Backoff } from '../../correctable/backoff.ts';
import { CorrectableError, check } from '../../correctable/errors.ts';
import {
  amount,
  anyValue,
  callback,
  integer,
  matches,
  objectWith,
  oneOf,
  optional,
  readOptions,
  required,
  type OptionsOf,
} from '../../correctable/options.ts';
import type { Codec } from '../../protocol/codec/codec.ts';
import { jsonCodec } from '../../protocol/codec/json-codec.ts';
import { msgpackCodec } from '../../protocol/codec/msgpack-codec.ts';
import { guardListener, guardPrincipal, guardToken, type Credentials } from './guard-callbacks.ts';
import type { ConnectionState } from './connection-state.ts';
import { createPlatformScheduling, type Scheduling } from './scheduling.ts';
import { getWebSocketClass, toWebSocketUrls, type WebSocketConstructor } from './websocket.ts';
import type { OperationRegistry } from '../../contract/operation-registry.ts';
import { hashOperations } from '../../contract/schema-hash.ts';
import type { ServedContract } from '../../protocol/messages/welcome.ts';

/** Options of a connection to a gateway. */
export interface ConnectionOptions {
  /**
   * Address of the gateway, for example `ws://127.0.0.1:7070/ireland`. An array lists the sites of
   * one store, in order of preference. `findSites` returns such an array, the nearest site first.
   * If one is lost, its operations move to the next.
   */
  readonly url: string | URL | readonly (string | URL)[];
  /**
   * The WebSocket class. Default: the platform's, in Node 20 that of `ws`. Pass a class of your own
   * to set options of the socket, such as TLS options.
   */
  readonly WebSocket?: WebSocketConstructor | undefined;
  /**
   * Sent in the first message of every connection. A function is called each time, and may return a
   * fresh token. If it fails, the client retries it after a growing delay. If the gateway refuses
   * the token, operations fail with `UNAUTHENTICATED`, and the next one calls it again.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /**
   * Name of the signed-in user, which changes with the `token`; `''` for none. A function is called
   * at each submission and with each token.
   *
   * A submission belongs to the principal who is signed in when it is made. It is never sent over a
   * connection of another principal. When the principal changes, operations in flight fail with
   * `UNAVAILABLE`, not `retryable`, and updates that were sent with `UNKNOWN`. Sessions end. The
   * next connection uses a fresh token and a new client id.
   *
   * Default: the client learns its principal from the gateway's welcome. See the guide's page on
   * signing in.
   */
  readonly principal?: string | (() => string) | undefined;
  /**
   * When to reconnect. Default: `exponentialBackoff()`, without end. Attempts are counted from the
   * last connection that held for 5 s.
   */
  readonly reconnect?: Backoff | undefined;
  /** Timeout for opening a connection and its handshake, in milliseconds. Default: 10 000 */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Time without a message from the server, in milliseconds, after which the client sends a
   * heartbeat. While operations wait for a result, the client waits only a fifth of it. Default: 15
   * 000
   */
  readonly heartbeatIntervalMs?: number | undefined;
  /** Timeout for the reply to a heartbeat, in milliseconds. Default: 5000 */
  readonly pongTimeoutMs?: number | undefined;
  /** Maximum of operations without a final; one more fails with `OVERLOADED`. Default: 16 384 */
  readonly maxInFlight?: number | undefined;
  /**
   * Encoding of messages: `msgpack` is faster, `json` readable in a browser's network panel.
   * Default: `msgpack`
   */
  readonly codec?: 'msgpack' | 'json' | undefined;
  /**
   * Called on every change of the connection's state, with its reason, for example to show that it
   * is offline.
   */
  readonly onStateChange?:
    | ((state: ConnectionState, reason: CorrectableError | undefined) => void)
    | undefined;
  /**
   * Called each time the connection is open after it was lost, or could not be opened at first,
   * once pending operations were resent. Changes of other clients meanwhile are not pushed: fetch
   * here what a page shows.
   *
   * @example
   * remote({ url, levels, onReconnect: () => void queryClient.invalidateQueries() });
   */
  readonly onReconnect?: (() => void) | undefined;
  /** Source of time; for tests. */
  readonly scheduling?: Scheduling | undefined;
  /** Returns random numbers in [0, 1) for the jitter of reconnects; for tests. */
  readonly random?: (() => number) | undefined;
}

const duration = amount({ above: 0, max: Infinity });

export const CONNECTION_OPTIONS = {
  url: required(anyValue),
  WebSocket: optional(matches((value) => typeof value === 'function', 'give a class')),
  token: optional(anyValue),
  principal: optional(
    matches(
      (value) => typeof value === 'string' || typeof value === 'function',
      'must be a name, or a function that gives one',
    ),
  ),
  reconnect: optional(objectWith(['delayMs'], 'neverReconnect')),
  connectTimeoutMs: optional(duration, 10_000),
  heartbeatIntervalMs: optional(duration, 15_000),
  pongTimeoutMs: optional(duration, 5_000),
  maxInFlight: optional(integer({ max: Infinity }), 16_384),
  codec: optional(oneOf('msgpack', 'json')),
  onStateChange: optional(callback),
  onReconnect: optional(callback),
  scheduling: optional(anyValue),
  random: optional(callback),
} satisfies OptionsOf<ConnectionOptions>;

/** The facts about the store that a connection needs beside the options. */
export interface ConnectionTarget {
  readonly levels: readonly string[];
  readonly contract?: ClientContract | undefined;
}

type DefaultedOptions = {
  readonly [
    K in Exclude<keyof ConnectionOptions, 'url' | 'token' | 'principal' | 'codec'>
  ]-?: NonNullable<ConnectionOptions[K]>;
};

export interface ResolvedConnectionOptions extends DefaultedOptions {
  readonly urls: readonly string[];
  /** Requests a token and the principal that it belongs to. */
  readonly credentials: () => Promise<Credentials>;
  /**
   * Returns the signed-in user; absent if the application has no such option. Throws what its
   * function throws.
   */
  readonly principal: (() => string) | undefined;
  /** A text is constant. Only a function may return another token. */
  readonly token?: ConnectionOptions['token'];
  readonly codec: Codec;
}

/** Fills in defaults. Throws `INVALID_ARGUMENT` or `UNSUPPORTED`, naming the field. */
export function resolveConnectionOptions(input: ConnectionOptions): ResolvedConnectionOptions {
  const options = readOptions(
    input,
    { call: "remote({ url: 'ws://127.0.0.1:7070/ireland', levels })" },
    CONNECTION_OPTIONS,
  );
  const { token } = options;
  const principal = resolvePrincipal(options);
  checkRandomness();
  return {
    ...options,
    urls: toWebSocketUrls(options.url),
    WebSocket: getWebSocketClass(options.WebSocket),
    credentials: guardToken(typeof token === 'function' ? token : () => token, principal),
    principal,
    reconnect: options.reconnect ?? exponentialBackoff(),
    codec: getCodec(options.codec),
    onStateChange: guardListener(options.onStateChange),
    onReconnect: guardListener(options.onReconnect),
    scheduling: options.scheduling ?? createPlatformScheduling(),
    random: options.random ?? Math.random,
  };
}

function resolvePrincipal({
  principal: value,
  token,
}: ConnectionOptions): (() => string) | undefined {
  if (typeof value !== 'function') return value === undefined ? value : () => value;
  check(
    typeof token !== 'string',
    'token',
    'must be a function where the principal is: a text is for one user only',
  );
  return guardPrincipal(value);
}

/**
 * Checks that the platform has randomness, because clients have random ids. Throws `UNSUPPORTED`
 * otherwise, as on React Native.
 */
function checkRandomness(): void {
  const { crypto } = globalThis as Partial<typeof globalThis>;
  if (crypto?.getRandomValues !== undefined) return;
  const advice =
    'this platform has no crypto.getRandomValues: load a polyfill, as react-native-get-random-values';
  throw new CorrectableError('UNSUPPORTED', advice, { field: 'crypto' });
}

/**
 * Returns whether the platform can write UTF-8 and reject invalid UTF-8. MessagePack needs both.
 */
function hasUtf8(): boolean {
  try {
    return 'encodeInto' in TextEncoder.prototype && new TextDecoder('utf-8', { fatal: true }).fatal;
  } catch {
    return false;
  }
}

function getCodec(name: ConnectionOptions['codec'] = hasUtf8() ? 'msgpack' : 'json'): Codec {
  check(
    name === 'json' || hasUtf8(),
    'codec',
    "give 'json': this platform has no TextEncoder, or no strict TextDecoder",
  );
  return name === 'json' ? jsonCodec : msgpackCodec;
}

export interface ClientContract {
  readonly name: string;
  readonly hash: string;
  /**
   * Returns the fingerprint of each operation. Called only if the server has another version of the
   * contract.
   */
  readonly getOperationHashes: () => Readonly<Record<string, string>>;
}

/** Returns how a client written for the registry identifies its contract. */
export function toClientContract({ name, hash, operations }: OperationRegistry): ClientContract {
  return { name, hash, getOperationHashes: () => hashOperations(operations) };
}

/** Returns the names of the operations that both ends share, or `undefined` for all. */
export function findAgreedOperations(
  own: ClientContract | undefined,
  served: ServedContract | undefined,
): ReadonlySet<string> | undefined {
  if (own === undefined || own.hash === served?.hash) return undefined;
  const theirs = new Map(Object.entries(served?.operations ?? {}));
  const alike = Object.entries(own.getOperationHashes()).filter(
    ([name, hash]) => theirs.get(name) === hash,
  );
  return new Set(alike.map(([name]) => name));
}
