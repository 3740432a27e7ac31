/**
 * Converts an error of the hosted binding to one that can be sent to a client. The error may have
 * fields of any type.
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
 * Returns the error without fields that a message cannot contain. Errors that are not of this
 * package are returned unchanged, because they are never sent.
 */
export function sanitizeError(error: unknown): unknown {
  try {
    if (!isCorrectableError(error)) return error;
    const { code, message, retryAfterMs, field, domain } = error;
    // The author of the error may have put any value there.
    const retryable: unknown = error.retryable;
    if (typeof code !== 'string' || !ERROR_CODE.test(code)) return undefined;
    return new CorrectableError(code, toSafeText(message), {
      retryable: retryable === true,
      retryAfterMs:
        typeof retryAfterMs === 'number' && retryAfterMs >= 0 && retryAfterMs < Infinity
          ? retryAfterMs
          : undefined,
      field: typeof field === 'string' ? toSafeText(field) : undefined,
      domain: domain === undefined ? undefined : sanitizeDomain(domain),
    });
  } catch {
    // Reading the error may run code of its author.
    return undefined;
  }
}

/**
 * Replaces an error whose domain data is larger than a view may be: errors have the same limit as
 * views.
 */
export function truncateError(error: unknown, { codec, maxResultBytes }: SubmissionOwner): unknown {
  if (!isCorrectableError(error) || error.domain === undefined) return error;
  const encoded = codec.encodeMessage(toFailMessage(0, error));
  if (canFitFrame(codec, encoded, maxResultBytes)) return error;
  const bytes = codec.byteLength(encoded);
  const message = `${error.message}: its details take ${bytes} bytes, the server sends ${maxResultBytes} at most`;
  return new CorrectableError('INVALID_VALUE', message, {
    field: 'domain.data',
  });
}

/** Copies the domain error. Throws if a message cannot contain its data. */
function sanitizeDomain({ name, data }: DomainErrorInfo): DomainErrorInfo {
  checkPortable(data, 'domain.data');
  return { name: toSafeText(name).slice(0, MAX_NAME_LENGTH), data };
}

function toSafeText(text: unknown): string {
  return toWellFormed(String(text).slice(0, MAX_MESSAGE_LENGTH));
}
