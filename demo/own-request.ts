/** What a demo's server lets act on its processes. */
import type { IncomingMessage } from 'node:http';

/** Whether a request comes from the server's own page, or from a program of this machine: no other page ends a process. */
export function isOwnRequest({ headers: { host, origin } }: IncomingMessage): boolean {
  const isLoopback = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '');
  return isLoopback && (origin === undefined || origin === `http://${host}`);
}
