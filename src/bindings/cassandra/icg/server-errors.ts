/** ERROR messages of a node. */
import type { BodyReader } from './body-reader.ts';
import type { ServerError } from './cql-error.ts';

export const SERVER_ERROR = {
  protocol: 0x000a,
  badCredentials: 0x0100,
  unavailable: 0x1000,
  readTimeout: 0x1200,
  readFailure: 0x1300,
  unprepared: 0x2500,
} as const;

/** Reads what reads can meet in full, of the others the message. */
export function readServerError(reader: BodyReader): ServerError {
  const code = reader.int();
  const message = reader.string();
  switch (code) {
    case SERVER_ERROR.unavailable:
      return { code, message, consistency: reader.short(), required: reader.int(), alive: reader.int() };
    case SERVER_ERROR.readTimeout:
    case SERVER_ERROR.readFailure: {
      const counts = { consistency: reader.short(), received: reader.int(), required: reader.int() };
      const failures = code === SERVER_ERROR.readFailure ? { failures: reader.int() } : {};
      return { code, message, ...counts, ...failures, hasData: reader.byte() !== 0 };
    }
    case SERVER_ERROR.unprepared:
      return { code, message, unpreparedId: Buffer.from(reader.shortBytes()) };
    default:
      return { code, message };
  }
}

/** Whether the replicas that were asked for are the reason: one alone may have answered all the same. */
export function isForWantOfReplicas({ code }: ServerError): boolean {
  return code === SERVER_ERROR.unavailable || code === SERVER_ERROR.readTimeout || code === SERVER_ERROR.readFailure;
}
