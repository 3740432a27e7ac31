/** Views as rows, and whether one may take the place of another. */
import type { BindingSession, ViewDetails } from '../../../correctable/binding.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import { fitsFrame, type EncodedRow } from '../../../protocol/codec/codec.ts';
import { encodeAs } from '../../../protocol/rows/define-row.ts';
import type { ConfirmRow } from '../../../protocol/rows/confirm.ts';
import { isPlain } from '../../../values/kinds.ts';
import { view, type ViewRow } from '../../../protocol/rows/view.ts';
import type { SubmissionOwner } from './submission-parts.ts';

/** What follows the value in a row. */
export interface RowTail extends ViewDetails {
  /** In a session: what it has seen with this view. */
  readonly token?: string;
}

/** Longest token of a session that clients take. */
const TOKEN_LENGTH_MAX = 4_096;

// Spelt out, since a row is made for every view: spreading what is there costs more than all the rest.
export function viewRow(id: number, level: number, seq: number, value: unknown, details: RowTail | undefined): ViewRow {
  const kind = details?.final === true ? 'final' : 'view';
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, kind, level, seq, value, version, meta, token];
  }
  if (details?.meta !== undefined) return [id, kind, level, seq, value, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, kind, level, seq, value, details.version];
  return [id, kind, level, seq, value];
}

export function confirmRow(id: number, level: number, seq: number, details: RowTail | undefined): ConfirmRow {
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, 'confirm', level, seq, version, meta, token];
  }
  if (details?.meta !== undefined) return [id, 'confirm', level, seq, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, 'confirm', level, seq, details.version];
  return [id, 'confirm', level, seq];
}

/** Whether nothing of `told` remains where a client merges `details` into it, key by key. */
export function covers(details: ViewDetails | undefined, told: ViewDetails | undefined): boolean {
  if (told === undefined) return true;
  if (isGiven(told.version) && !isGiven(details?.version)) return false;
  const { meta } = told;
  if (!isGiven(meta)) return true;
  return Object.keys(meta).every((key) => meta[key] === undefined || details?.meta?.[key] !== undefined);
}

/** What a row can leave out stands for nothing at all. */
function isGiven<T>(part: T | null | undefined): part is T {
  return part !== undefined && part !== null;
}

/** The row of a view as it is sent. Throws `INVALID_VALUE` for one that cannot be, or is too large. */
export function encodeView(row: ViewRow, { codec, resultBytesMax }: SubmissionOwner): EncodedRow {
  const encoded = encodeAs(view, row, codec);
  if (fitsFrame(codec, encoded, resultBytesMax)) return encoded;
  const bytes = codec.byteLength(encoded);
  const message = `value: the view takes ${bytes} bytes, the server sends ${resultBytesMax} at most`;
  throw new CorrectableError('INVALID_VALUE', message, { field: 'value' });
}

/** What follows the value: in a session, the token that goes with it as well. Throws what clients would not take. */
export function tailOf(details: ViewDetails | undefined, session: BindingSession | undefined): RowTail | undefined {
  checkMeta(details?.meta);
  if (session === undefined) return details;
  const token: unknown = session.tokens?.[0];
  if (token === undefined) return details;
  if (typeof token !== 'string' || token === '' || token.length > TOKEN_LENGTH_MAX) {
    throw new CorrectableError('INVALID_VALUE', `token: must be a string of up to ${TOKEN_LENGTH_MAX} characters`);
  }
  return { ...details, token };
}

function checkMeta(meta: unknown): void {
  if (meta === undefined || meta === null || (typeof meta === 'object' && isPlain(meta))) return;
  throw new CorrectableError('INVALID_VALUE', 'meta: must be a plain object', { field: 'meta' });
}
