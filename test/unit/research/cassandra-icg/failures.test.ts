/**
 * Failures of the protocol client become those that the driver's would: the way that a read took
 * does not show.
 */
import { expect, test } from 'vitest';
import type { CorrectableError } from '../../../../src/correctable/errors.ts';
import { toCorrectableError } from '../../../../src/bindings/cassandra/errors.ts';
import { CqlError, type CqlErrorCode } from '../../../../src/research/cassandra-icg/cql-error.ts';

const requested = { access: 'read', name: 'get' } as const;

/** A failure as the driver reports it. */
function driverError(name: string, code: number | undefined): Error {
  return Object.assign(new Error('as scripted'), { name, ...(code !== undefined && { code }) });
}

test('failures: an error of the node, by either client → the same code, with its cause', () => {
  for (const code of [
    0x000a, 0x0100, 0x1000, 0x1001, 0x1002, 0x1200, 0x1300, 0x2000, 0x2100, 0x2200, 0x2500,
  ]) {
    const ours = new CqlError('SERVER', 'as scripted', {
      node: 'n',
      server: { code, message: 'as scripted' },
    });
    const theirs = toCorrectableError(driverError('ResponseError', code), requested);
    const translated = toCorrectableError(ours, requested);
    expect(translated).toMatchObject({ name: 'CorrectableError', cause: ours });
    const { code: expected, message, retryable } = theirs as CorrectableError;
    expect(translated).toMatchObject({ code: expected, message, retryable });
  }
});

test('failures: of the connection or of the read → a code of their own, with their cause', () => {
  const codes: Readonly<Record<Exclude<CqlErrorCode, 'SERVER'>, string>> = {
    CONNECTION_LOST: 'UNAVAILABLE',
    TIMEOUT: 'TIMEOUT',
    AUTHENTICATION: 'UNAUTHENTICATED',
    PROTOCOL: 'PROTOCOL',
    BAD_VALUE: 'INVALID_ARGUMENT',
    OVERLOADED: 'OVERLOADED',
    CLOSED: 'UNAVAILABLE',
  };
  for (const [code, expected] of Object.entries(codes)) {
    const cause = new CqlError(code as CqlErrorCode, 'why', { node: 'n:9042' });
    expect(toCorrectableError(cause, requested)).toMatchObject({
      code: expected,
      cause,
      message: 'get: n:9042: why',
    });
  }
});
