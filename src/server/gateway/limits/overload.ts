/** Refusals for want of room: each names the limit that was met, how high it is, and what to do. */
import { CorrectableError } from '../../../correctable/errors.ts';
import { OVERLOADED_RETRY_MS, type GatewayLimits } from './limits.ts';

/** What there is too much of, and what whoever asked can do. */
const REFUSALS = {
  inFlightMax: ['operations under way on this connection', 'wait for an answer before the next one'],
  inFlightBytesMax: ['bytes of requests under way on this connection', 'wait for an answer, or ask for less at a time'],
  inFlightBytesPerPrincipalMax: [
    'bytes of requests under way of this principal',
    'wait for answers on any of its connections, or ask for less at a time',
  ],
  inFlightBytesTotalMax: ['bytes of requests under way of all clients', 'try later, or ask for less at a time'],
  repliesMax: ['replies kept of this client', 'acknowledge those that have come'],
  repliesBytesMax: ['bytes of replies kept of this client', 'acknowledge those that have come'],
  repliesBytesPerPrincipalMax: [
    'bytes of replies kept of the clients of this principal',
    'acknowledge those that have come to any of them',
  ],
  repliesBytesTotalMax: ['bytes of replies kept of all clients', 'acknowledge those that have come, or try later'],
  sendBufferBytesMax: ['bytes that wait to be sent on this connection', 'read what has come'],
  operationsPerSecondMax: ['operations a second on this connection', 'wait for as long as is said'],
  operationsPerSecondPerPrincipalMax: ['operations a second of this principal', 'wait for as long as is said'],
} as const satisfies Partial<Record<keyof GatewayLimits, readonly [what: string, todo: string]>>;

/** A limit beyond which operations are refused. */
export type Budget = keyof typeof REFUSALS;

/** The error for an operation that would go beyond `limit`; it has not begun. */
export function beyond(
  limit: Budget,
  limits: GatewayLimits,
  retryAfterMs: number = OVERLOADED_RETRY_MS,
): CorrectableError {
  const [what, todo] = REFUSALS[limit];
  const message = `limits.${limit}: at most ${limits[limit]} ${what}; nothing was done: ${todo}`;
  return new CorrectableError('OVERLOADED', message, { retryAfterMs });
}
