/** The tokens of a session between a page and its server, in a header, a cookie or a message. */
import { check } from '../correctable/errors.ts';
import { compactTokens } from './covered-tokens.ts';

/**
 * Name of the header and of the cookie with the tokens. Allow it if pages of other origins use your
 * server.
 */
export const SESSION_HEADER = 'correctables-session';

/** The part of a `Socket` of Node that reports its end. */
export interface ConnectionLike {
  readonly destroyed: boolean;
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/** A request of any server: one of `fetch`, Node, Express, Fastify or Hono (`c.req.raw`). */
export interface RequestLike {
  readonly headers: { get(name: string): string | null } | Readonly<Record<string, unknown>>;
  /** A reply to `HEAD` has no views: the operation is canceled after the first. */
  readonly method?: string | undefined;
  /**
   * The connection of a request of Node, Express or Fastify. It closes when the client disconnects.
   */
  readonly socket?: ConnectionLike | undefined;
  /** Aborts when the client disconnects. Not used if there is a `socket`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `formatSessionCookie`. */
export interface SessionCookieOptions {
  /** The pages that send the cookie. Default: `/` */
  readonly path?: string | undefined;
  /** Whether the cookie is sent over HTTPS only. Default: `true` */
  readonly isSecure?: boolean | undefined;
  /** How long the browser keeps it, in seconds. Default: until the browser is closed */
  readonly maxAgeSeconds?: number | undefined;
}

/** The session of a page, for `fetchViews`. */
export interface HttpSession {
  /** Tokens of what the session has seen. Save them to continue the session after a reload. */
  readonly tokens: readonly string[];
}

/**
 * Maximum size of the name and the value of a cookie. Browsers drop a larger one without an error.
 */
const MAX_COOKIE_BYTES = 4_096;

/** Separates tokens. `encodeURIComponent` escapes it in tokens, and cookies may contain it. */
const SEPARATOR = ':';

export function formatTokens(tokens: readonly string[]): string {
  return tokens.map(encodeURIComponent).join(SEPARATOR);
}

function parseTokens(text: string): readonly string[] {
  try {
    return text === '' ? [] : text.split(SEPARATOR).map(decodeURIComponent);
  } catch {
    return [];
  }
}

/**
 * Returns the session tokens of a request: those of the header `correctables-session`, otherwise
 * those of the cookie of this name. Empty if it has none. The store checks them: a changed token
 * fails with `UNAUTHENTICATED`.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `request` is no request
 * @example
 * const session = store.session({ tokens: readSessionTokens(request) });
 */
export function readSessionTokens(request: RequestLike): readonly string[] {
  const cookies = getHeader(request, 'cookie').split(/; */);
  const cookie = cookies.find((part) => part.startsWith(`${SESSION_HEADER}=`));
  const text =
    getHeader(request, SESSION_HEADER) || (cookie?.slice(SESSION_HEADER.length + 1) ?? '');
  return compactTokens(parseTokens(text));
}

/** Returns a header of the request, by its name in lower case; an empty text if it has none. */
export function getHeader(request: RequestLike | undefined, name: string): string {
  const headers = request?.headers;
  check(headers, 'request', 'give one with headers');
  const value: unknown =
    typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Returns a `Set-Cookie` header that keeps the session in the browser, out of reach of scripts. Set
 * it after the final view of an update: a reply that has begun can set no cookie any more.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `tokens` is no list, or if the cookie has more
 * than 4096 bytes: browsers drop it, and the page would not see its own writes
 * @example
 * await store.invoke(put('name', name), { session });
 * response.setHeader('set-cookie', formatSessionCookie(session.tokens));
 */
export function formatSessionCookie(
  tokens: readonly string[],
  options: SessionCookieOptions = {},
): string {
  const { path = '/', isSecure = true, maxAgeSeconds } = options;
  check(Array.isArray(tokens), 'tokens', 'give the tokens of a session');
  const cookie = `${SESSION_HEADER}=${formatTokens(compactTokens(tokens))}`;
  const advice = `the cookie has ${cookie.length} bytes, and browsers drop one of more than ${MAX_COOKIE_BYTES}`;
  check(
    cookie.length <= MAX_COOKIE_BYTES,
    'tokens',
    `${advice}. Send them in the header ${SESSION_HEADER}`,
  );
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${cookie}; Path=${path}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}${age}`;
}

/**
 * Creates a session for `fetchViews`: each request and each reply carries the tokens of the
 * server's session.
 *
 * @example
 * const session = createHttpSession();
 * await fetchViews(levels)('/name', { method: 'PUT', body: 'Ada', session });
 * await fetchViews(levels)('/name', { session }); // no view is older than 'Ada'
 */
export function createHttpSession(tokens: readonly string[] = []): HttpSession {
  check(Array.isArray(tokens), 'tokens', 'give the tokens of a session');
  // The object has no state of its own, because frameworks freeze it and wrap it in proxies.
  let current = compactTokens(tokens);
  return {
    get tokens() {
      return current;
    },
    advance(sent, received) {
      const others = current.filter((token) => !sent.includes(token) && !received.includes(token));
      current = compactTokens([...others, ...received]);
    },
  } as PageSession;
}

export interface PageSession extends HttpSession {
  /**
   * Replaces the tokens of a request by those of its reply. Keeps tokens that other replies have
   * added meanwhile.
   */
  advance(sent: readonly string[], received: readonly string[]): void;
}
