/** Creates and encodes the messages of views, and determines whether one confirms another. */
import type { BindingSession, ViewDetails } from '../../../correctable/binding.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { canFitFrame, type EncodedMessage } from '../../../protocol/codec/codec.ts';
import { encodeMessageOf } from '../../../protocol/messages/define-message.ts';
import type { ConfirmMessage } from '../../../protocol/messages/confirm.ts';
import { isPlain } from '../../../values/value-kinds.ts';
import { view, type ViewMessage } from '../../../protocol/messages/view.ts';
import type { SubmissionOwner } from './submission-types.ts';

/** The elements that follow the value in a message. */
export interface MessageTail extends ViewDetails {
  /** In a session: the token for what the session has seen with this view. */
  readonly token?: string | undefined;
}

/** Longest session token that clients accept. */
const MAX_TOKEN_LENGTH = 4_096;

// Creates the message of a view. Each possible form is written out, because spreading optional
// parts costs more than everything else that is done for a view. Absent elements before the last
// present one are `null`.
export function createViewMessage(
  id: number,
  level: number,
  seq: number,
  value: unknown,
  details: MessageTail | undefined,
): ViewMessage {
  const kind = details?.final === true ? 'final' : 'view';
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, kind, level, seq, value, version, meta, token];
  }
  if (details?.meta !== undefined)
    return [id, kind, level, seq, value, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, kind, level, seq, value, details.version];
  return [id, kind, level, seq, value];
}

export function createConfirmMessage(
  id: number,
  level: number,
  seq: number,
  details: MessageTail | undefined,
): ConfirmMessage {
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, 'confirm', level, seq, version, meta, token];
  }
  if (details?.meta !== undefined)
    return [id, 'confirm', level, seq, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, 'confirm', level, seq, details.version];
  return [id, 'confirm', level, seq];
}

/** Returns whether merging `details` into `reported`, key by key, replaces all of `reported`. */
export function coversDetails(
  details: ViewDetails | undefined,
  reported: ViewDetails | undefined,
): boolean {
  if (reported === undefined) return true;
  if (isPresent(reported.version) && !isPresent(details?.version)) return false;
  const { meta } = reported;
  if (!isPresent(meta)) return true;
  return Object.keys(meta).every(
    (key) => meta[key] === undefined || details?.meta?.[key] !== undefined,
  );
}

/** A message may leave out both `undefined` and `null`. */
function isPresent<T>(part: T | null | undefined): part is T {
  return part !== undefined && part !== null;
}

/** Encodes a view. Throws `INVALID_VALUE` if it cannot be encoded or is too large. */
export function encodeView(
  viewMessage: ViewMessage,
  { codec, maxResultBytes }: SubmissionOwner,
): EncodedMessage {
  const encoded = encodeMessageOf(view, viewMessage, codec);
  if (canFitFrame(codec, encoded, maxResultBytes)) return encoded;
  const bytes = codec.byteLength(encoded);
  const message = `value: the view takes ${bytes} bytes, the server sends ${maxResultBytes} at most`;
  throw new CorrectableError('INVALID_VALUE', message, { field: 'value' });
}

/**
 * Returns the elements that follow the value, including the token if there is a session. Throws if
 * clients would not accept one of them.
 */
export function createTail(
  details: ViewDetails | undefined,
  session: BindingSession | undefined,
): MessageTail | undefined {
  checkMeta(details?.meta);
  if (session === undefined) return details;
  const token: unknown = session.tokens?.[0];
  if (token === undefined) return details;
  if (typeof token !== 'string' || token === '' || token.length > MAX_TOKEN_LENGTH) {
    throw new CorrectableError(
      'INVALID_VALUE',
      `token: must be a string of up to ${MAX_TOKEN_LENGTH} characters`,
    );
  }
  if (details === undefined) return { token };
  // This is a literal, since a copy of an object costs more than the rest of the view.
  return { version: details.version, meta: details.meta, final: details.final, token };
}

function checkMeta(meta: unknown): void {
  if (meta === undefined || meta === null || (typeof meta === 'object' && isPlain(meta))) return;
  throw new CorrectableError('INVALID_VALUE', 'meta: must be a plain object', {
    field: 'meta',
  });
}
