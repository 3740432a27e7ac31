/** What a client is told of an error that the hosted binding gave, however that was made. */
import { CorrectableError, isCorrectableError, type DomainRefusal } from '../../../correctable/errors.ts';
import { checkPortable } from '../../../protocol/codec/check-portable.ts';
import { fitsFrame, type Codec } from '../../../protocol/codec/codec.ts';
import { NAME_LENGTH_MAX } from '../../../protocol/rows/elements.ts';
import { wellFormed } from '../../../protocol/codec/value-domain.ts';
import { failRow } from '../../../protocol/wire-errors.ts';

/** How errors are written for a client, and how much of one. */
interface ErrorOutlet {
  readonly codec: Codec;
  readonly resultBytesMax: number;
}

const MESSAGE_LENGTH_MAX = 4_096;
const CODE = /^[A-Z_]{1,64}$/;

/**
 * The error with nothing in it that a row could not carry: a client counts malformed rows of a server, and gives it up
 * after a few. What is no typed error of this package stays as it is: it is not told.
 */
export function toldError(error: unknown): unknown {
  try {
    if (!isCorrectableError(error)) return error;
    const { code, message, retryAfterMs, field, domain } = error;
    // Whoever made it may have put anything there.
    const retryable: unknown = error.retryable;
    if (typeof code !== 'string' || !CODE.test(code)) return undefined;
    return new CorrectableError(code, textOf(message), {
      retryable: retryable === true,
      retryAfterMs:
        typeof retryAfterMs === 'number' && retryAfterMs >= 0 && retryAfterMs < Infinity ? retryAfterMs : undefined,
      field: typeof field === 'string' ? textOf(field) : undefined,
      domain: domain === undefined ? undefined : toldDomain(domain),
    });
  } catch {
    // Reading it runs code of whoever made it.
    return undefined;
  }
}

/** The same, unless what it says of the domain is larger than a view may be: an error is no way around that. */
export function fittingError(error: unknown, { codec, resultBytesMax }: ErrorOutlet): unknown {
  if (!isCorrectableError(error) || error.domain === undefined) return error;
  const row = codec.encodeRow(failRow(0, error));
  if (fitsFrame(codec, row, resultBytesMax)) return error;
  const bytes = codec.byteLength(row);
  const message = `${error.message}: what it says takes ${bytes} bytes, the server sends ${resultBytesMax} at most`;
  return new CorrectableError('INVALID_VALUE', message, { field: 'domain.data' });
}

/** Throws for data that no row could carry. */
function toldDomain({ name, data }: DomainRefusal): DomainRefusal {
  checkPortable(data, 'domain.data');
  return { name: textOf(name).slice(0, NAME_LENGTH_MAX), data };
}

function textOf(text: unknown): string {
  return wellFormed(String(text).slice(0, MESSAGE_LENGTH_MAX));
}
