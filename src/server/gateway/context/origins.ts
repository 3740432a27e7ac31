/**
 * Which pages may talk to a server, and under which names it answers: against
 * hostile pages and DNS rebinding.
 */
import { createInvalidArgumentError } from '../../../correctable/errors.ts';
import { normalizeHost } from './ip-addresses.ts';

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** Whether an address is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(normalizeHost(host));
}

/**
 * A copy of the origins that may connect. Throws `INVALID_ARGUMENT` for what
 * browsers never send.
 */
export function checkOrigins(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value))
    throw createInvalidArgumentError(
      'origins',
      'must be a list, for example ["https://shop.example"]',
    );
  const all: readonly unknown[] = [...(value as readonly unknown[])];
  for (const item of all) {
    const problem = describeOriginError(item);
    if (problem !== undefined)
      throw createInvalidArgumentError(
        'origins',
        `give origins as https://shop.example, ${problem}`,
      );
  }
  return all as readonly string[];
}

/**
 * Why this is no origin as browsers say it, to end a sentence that says how one
 * looks; `undefined` if it is one.
 */
export function describeOriginError(value: unknown): string | undefined {
  if (typeof value !== 'string') return `not one of type ${typeof value}`;
  if (value.includes('*'))
    return `not "${value}": name each of them, there are no patterns`;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  // Other schemes than those of the web have an origin too, although not for
  // `URL`.
  const reported =
    url?.origin === 'null' ? `${url.protocol}//${url.host}` : url?.origin;
  if (reported === value) return undefined;
  return `not "${value}"${reported === undefined ? '' : `: browsers say "${reported}"`}`;
}

/**
 * Whether a page of `origin` may connect to a server that it calls `host`: a
 * listed one, or one that it has served.
 */
export function isAllowedOrigin(
  origin: string | undefined,
  host: string | undefined,
  listed: readonly string[],
): boolean {
  if (origin === undefined) return true;
  if (listed.includes(origin)) return true;
  return (
    host !== undefined &&
    origin === `http://${host}` &&
    isLoopbackHost(parseHostname(host))
  );
}

/**
 * Whether a server bound to `boundTo` may be called `host`: one on loopback
 * only by a loopback name.
 */
export function isAllowedHost(
  host: string | undefined,
  boundTo: string | undefined,
): boolean {
  if (boundTo === undefined || !isLoopbackHost(boundTo)) return true;
  return host !== undefined && isLoopbackHost(parseHostname(host));
}

function parseHostname(host: string): string {
  return host.replace(/:\d+$/, '');
}
