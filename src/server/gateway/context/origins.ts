/**
 * Decides which pages may connect to a server, and under which names it answers. This protects
 * against hostile pages and DNS rebinding.
 */
import { normalizeHost } from './ip-addresses.ts';

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** Whether an address is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(normalizeHost(host));
}

/**
 * Checks a list of origins that may connect. Other values than browsers send are refused, because
 * no page would match them.
 */
export function describeOriginsError(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'must be a list, for example ["https://shop.example"]';
  for (const item of value as readonly unknown[]) {
    const problem = describeOriginError(item);
    if (problem !== undefined) return `give origins as https://shop.example, ${problem}`;
  }
  return undefined;
}

/**
 * Returns why a value is not an origin as browsers send it, as the end of a sentence; `undefined`
 * if it is one.
 */
export function describeOriginError(value: unknown): string | undefined {
  if (typeof value !== 'string') return `not one of type ${typeof value}`;
  if (value.includes('*')) return `not "${value}": name each of them, there are no patterns`;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // Pages of other schemes than `http` and `https` have an origin too, although `URL` reports none.
  const reported = url?.origin === 'null' ? `${url.protocol}//${url.host}` : url?.origin;
  if (reported === value) return undefined;
  return `not "${value}"${reported === undefined ? '' : `: browsers say "${reported}"`}`;
}

/**
 * Returns whether a page of `origin` may connect to a server that the request names `host`. The
 * origin must be listed, or the page was served by this server.
 */
export function isAllowedOrigin(
  origin: string | undefined,
  host: string | undefined,
  listed: readonly string[],
): boolean {
  if (origin === undefined) return true;
  if (listed.includes(origin)) return true;
  return host !== undefined && origin === `http://${host}` && isLoopbackHost(parseHostname(host));
}

/**
 * Returns whether a server that listens on `boundTo` accepts a request that names it `host`. A
 * server on loopback answers only to a loopback name.
 */
export function isAllowedHost(host: string | undefined, boundTo: string | undefined): boolean {
  if (boundTo === undefined || !isLoopbackHost(boundTo)) return true;
  return host !== undefined && isLoopbackHost(parseHostname(host));
}

function parseHostname(host: string): string {
  return host.replace(/:\d+$/, '');
}
