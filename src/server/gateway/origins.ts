/** Which pages may talk to a server, and under which names it answers: against hostile pages and DNS rebinding. */

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:127(?:\.\d{1,3}){3}\])$/i;

/** Whether an address is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);
}

/**
 * Whether a page of `origin` may connect to a server that it calls `host` (the header, with its port). Without an origin
 * there is no page. A page that this loopback server itself has served may; others only if they are listed.
 */
export function isAllowedOrigin(
  origin: string | undefined,
  host: string | undefined,
  listed: readonly string[],
): boolean {
  if (origin === undefined) return true;
  if (listed.includes(origin)) return true;
  return host !== undefined && origin === `http://${host}` && isLoopbackHost(hostname(host));
}

/**
 * Whether a server bound to `boundTo` may be called `host`: one on loopback only by a loopback name. One without an
 * address is a socket in the file system, which no page can reach.
 */
export function isAllowedHost(host: string | undefined, boundTo: string | undefined): boolean {
  if (boundTo === undefined || !isLoopbackHost(boundTo)) return true;
  return host !== undefined && isLoopbackHost(hostname(host));
}

function hostname(host: string): string {
  return host.replace(/:\d+$/, '');
}
