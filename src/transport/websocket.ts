/** The part of the standard WebSocket interface that the client uses, so that any class with it can be injected. */
import { CorrectableError } from '../correctable/errors.ts';
import type { Encoded } from '../protocol/codec.ts';

/** A websocket of a browser, of `ws`, of `undici`… Each has its own event types, which `never` stands for. */
export interface WebSocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: Encoded): void;
  close(code?: number, reason?: string): void;
}

/** A WebSocket class. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

interface Platform {
  readonly WebSocket?: unknown;
  readonly process?: {
    getBuiltinModule?(name: 'node:module'): { createRequire(from: string): (name: string) => unknown } | undefined;
  };
}

/** The class given, or the one of the platform: in Node 20 that of `ws`. Throws `UNSUPPORTED` where there is none. */
export function webSocketClass(given: WebSocketConstructor | undefined): WebSocketConstructor {
  const found = given ?? (globalThis as Platform).WebSocket ?? webSocketOfNode();
  if (typeof found === 'function') return found as WebSocketConstructor;
  throw new CorrectableError(
    'UNSUPPORTED',
    "this platform has no WebSocket: pass one, for example `import { WebSocket } from 'ws'` and `{ WebSocket }`",
    { field: 'WebSocket' },
  );
}

/** By Node's own means, so that bundles for browsers have nothing of it. */
function webSocketOfNode(): unknown {
  try {
    const { process } = globalThis as Platform;
    return process?.getBuiltinModule?.('node:module')?.createRequire(import.meta.url)('ws');
  } catch {
    return undefined;
  }
}

/** One URL or several, normalised. Throws `INVALID_ARGUMENT` for what is no websocket URL. */
export function webSocketUrls(given: string | URL | readonly (string | URL)[]): readonly string[] {
  const urls = typeof given === 'string' || given instanceof URL ? [given] : given;
  if (urls.length > 0) return urls.map(webSocketUrl);
  throw new CorrectableError('INVALID_ARGUMENT', 'url: give at least one', { field: 'url' });
}

function webSocketUrl(url: string | URL): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch (cause) {
    throw new CorrectableError('INVALID_ARGUMENT', `url: ${String(url)} is no URL`, { field: 'url', cause });
  }
  if (parsed.protocol !== 'ws:' && parsed.protocol !== 'wss:') {
    const message = `url: must begin with ws:// or wss://, not ${parsed.protocol}//`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'url' });
  }
  if (parsed.username !== '' || parsed.password !== '') {
    const message = 'url: must not carry credentials, which end up in logs: use the option token';
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'url' });
  }
  return parsed.href;
}
