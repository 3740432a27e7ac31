/** Decides which requests may control the processes of a demo's server. */
import type { IncomingMessage } from 'node:http';

/**
 * Returns whether a request comes from the server's own page, or from a program of this machine.
 * Another page must not end a process.
 */
export function isOwnRequest({ headers: { host, origin } }: IncomingMessage): boolean {
  const isLoopback = /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '');
  return isLoopback && (origin === undefined || origin === `http://${host}`);
}
