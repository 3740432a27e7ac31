/**
 * The part of the standard WebSocket interface that the client uses, so that any class with it can
 * be injected.
 */
import { WebSocket as WebSocketOfNode } from '#ws';
import { check, CorrectableError } from '../../correctable/errors.ts';
import type { EncodedData } from '../../protocol/codec/codec.ts';

/**
 * A websocket of a browser, of `ws`, of `undici`… Each has its own event types. `never` accepts all
 * of them.
 */
export interface WebSocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: EncodedData): void;
  close(code?: number, reason?: string): void;
}

/** A WebSocket class. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/**
 * Returns `injected`, or the class of the platform. In Node 20 that is the one of `ws`. Throws
 * `UNSUPPORTED` if there is none.
 */
export function getWebSocketClass(
  injected: WebSocketConstructor | undefined,
): WebSocketConstructor {
  const found: unknown =
    injected ?? (globalThis as { readonly WebSocket?: unknown }).WebSocket ?? WebSocketOfNode;
  if (typeof found === 'function') return found as WebSocketConstructor;
  throw new CorrectableError(
    'UNSUPPORTED',
    "this platform has no WebSocket: pass one, for example `import { WebSocket } from 'ws'` and `{ WebSocket }`",
    { field: 'WebSocket' },
  );
}

/** Returns one URL or several, normalized. Throws `INVALID_ARGUMENT` if one is no websocket URL. */
export function toWebSocketUrls(
  value: string | URL | readonly (string | URL)[],
): readonly string[] {
  // The object may be a URL of another realm.
  const isUrl = typeof value === 'string' || typeof (value as URL | undefined)?.href === 'string';
  const urls = (isUrl ? [value] : value) as readonly (string | URL)[];
  check(
    Array.isArray(urls) && urls.length > 0,
    'url',
    'give at least one, as ws://127.0.0.1:7070/ireland',
  );
  return urls.map(toWebSocketUrl);
}

function toWebSocketUrl(url: string | URL): string {
  const parsed = parseUrl(url);
  check(parsed, 'url', `${String(url)} is no URL`);
  const { protocol, username, password, href } = parsed;
  check(
    protocol === 'ws:' || protocol === 'wss:',
    'url',
    `must begin with ws:// or wss://, not ${protocol}//`,
  );
  const isPlain = username === '' && password === '';
  check(isPlain, 'url', 'must not carry credentials, which end up in logs: use the option token');
  check(
    !href.includes('#'),
    'url',
    'must not have a fragment, from # on: platforms refuse to connect to it',
  );
  return href;
}

/** Parses a URL. Some platforms, such as React Native, have no `URL.canParse`. */
export function parseUrl(url: string | URL): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
