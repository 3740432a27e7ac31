/**
 * What is sent to a client of an error of the hosted binding, however that was
 * made.
 */
import {
  CorrectableError,
  isCorrectableError,
  type DomainErrorInfo,
} from '../../../correctable/errors.ts';
import { checkPortable } from '../../../protocol/codec/portable-values.ts';
import { canFitFrame } from '../../../protocol/codec/codec.ts';
import { MAX_NAME_LENGTH } from '../../../protocol/messages/field-schemas.ts';
import { toWellFormed } from '../../../protocol/codec/tagged-values.ts';
import { toFailMessage } from '../../../protocol/errors.ts';
import type { SubmissionOwner } from './submission-types.ts';

const MAX_MESSAGE_LENGTH = 4_096;
const ERROR_CODE = /^[A-Z_]{1,64}$/;

/**
 * The error without what a row could not carry. Errors that are not of this
 * package stay: they are not sent.
 */
export function sanitizeError(error: unknown): unknown {
  try {
    if (!isCorrectableError(error)) return error;
    const { code, message, retryAfterMs, field, domain } = error;
    // Its author may have put anything there.
    const retryable: unknown = error.retryable;
    if (typeof code !== 'string' || !ERROR_CODE.test(code)) return undefined;
    return new CorrectableError(code, toSafeText(message), {
      retryable: retryable === true,
      retryAfterMs:
        typeof retryAfterMs === 'number' &&
        retryAfterMs >= 0 &&
        retryAfterMs < Infinity
          ? retryAfterMs
          : undefined,
      field: typeof field === 'string' ? toSafeText(field) : undefined,
      domain: domain === undefined ? undefined : sanitizeDomain(domain),
    });
  } catch {
    // Reading it runs code of its author.
    return undefined;
  }
}

/**
 * The same, unless what it says of the domain is larger than a view may be: an
 * error is no way around that.
 */
export function truncateError(
  error: unknown,
  { codec, maxResultBytes }: Pick<SubmissionOwner, 'codec' | 'maxResultBytes'>,
): unknown {
  if (!isCorrectableError(error) || error.domain === undefined) return error;
  const row = codec.encodeMessage(toFailMessage(0, error));
  if (canFitFrame(codec, row, maxResultBytes)) return error;
  const bytes = codec.byteLength(row);
  const message = `${error.message}: its details take ${bytes} bytes, the server sends ${maxResultBytes} at most`;
  return new CorrectableError('INVALID_VALUE', message, {
    field: 'domain.data',
  });
}

/** Throws for data that no row could carry. */
function sanitizeDomain({ name, data }: DomainErrorInfo): DomainErrorInfo {
  checkPortable(data, 'domain.data');
  return { name: toSafeText(name).slice(0, MAX_NAME_LENGTH), data };
}

function toSafeText(text: unknown): string {
  return toWellFormed(String(text).slice(0, MAX_MESSAGE_LENGTH));
}
