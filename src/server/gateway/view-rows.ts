/** Views as rows, and when a confirmation without payload says as much. */
import type { ViewDetails } from '../../correctable/binding.ts';
import type { Encoded } from '../../protocol/codec.ts';
import { confirm, type ConfirmRow } from '../../protocol/confirm.ts';
import { view, type ViewRow } from '../../protocol/view.ts';

/** What follows the value in a row. */
export interface RowTail extends ViewDetails {
  /** In a session: what it has seen with this view. */
  readonly token?: string;
}

/** A view whose value may be confirmed later. */
export interface HeldView {
  level: number;
  value: Encoded;
  details: ViewDetails | undefined;
  /** The number under which the client has the value; `undefined` if it has not got it. */
  at: number | undefined;
  /** The details that the client has under that number, which confirmations add to. */
  told: ViewDetails | undefined;
}

/** The names of the elements of the rows. */
export const VIEW_FIELDS: readonly string[] = view.fields;
export const CONFIRM_FIELDS: readonly string[] = confirm.fields;

// Spelt out, since a row is made for every view: spreading what is there costs more than all the rest.
export function viewRow(id: number, level: number, seq: number, value: unknown, details: RowTail | undefined): ViewRow {
  if (details?.token !== undefined) {
    const { version = null, meta = null, token } = details;
    return [id, 'view', level, seq, value, version, meta, token];
  }
  if (details?.meta !== undefined) return [id, 'view', level, seq, value, details.version ?? null, details.meta];
  if (details?.version !== undefined) return [id, 'view', level, seq, value, details.version];
  return [id, 'view', level, seq, value];
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

/** Whether confirming `held` with the details of `view` gives that view and nothing more. */
export function canConfirm(held: HeldView, view: HeldView): boolean {
  return covers(view.details, held.told) && sameEncoding(held.value, view.value);
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

function sameEncoding(a: Encoded, b: Encoded): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
