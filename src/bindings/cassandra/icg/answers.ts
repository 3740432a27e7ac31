/** What an answer to a read means: the entry `icg` of its payload (docs/spec/cassandra-icg.md). */
import { protocolError, type CqlError, type ServerError } from './cql-error.ts';
import { ICG_KEY } from './requests.ts';
import type { RawRows, Response } from './responses.ts';

export type Meaning =
  /** What one replica has; more is to come. */
  | { readonly kind: 'preliminary'; readonly rows: RawRows }
  /** The final view is the preliminary one. */
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'final'; readonly rows: RawRows }
  | { readonly kind: 'error'; readonly error: ServerError }
  /** An answer that this request cannot have. */
  | { readonly kind: 'nonsense'; readonly error: CqlError };

const ICG = { preliminary: 1, confirmed: 2, differs: 3, equals: 4 } as const;
const NONE = 0;

/** @param hasPreliminary whether one has come before */
export function meaningOf(response: Response, hasPreliminary: boolean): Meaning {
  const icg = icgOf(response);
  const { kind } = response;
  if (kind === 'error') return { kind, error: response.error };
  if (kind === 'rows') {
    if (icg === ICG.preliminary && !hasPreliminary) return { kind: 'preliminary', rows: response.rows };
    const isFinal = hasPreliminary ? icg === ICG.differs || icg === ICG.equals : icg === NONE;
    if (isFinal) return { kind: 'final', rows: response.rows };
  }
  if (kind === 'void' && icg === ICG.confirmed && hasPreliminary) return { kind: 'confirmed' };
  const after = hasPreliminary ? 'after a preliminary view' : 'as the first answer';
  return { kind: 'nonsense', error: protocolError(`"${kind}" with icg ${icg} ${after}`) };
}

/** The byte of the entry; 0 where there is none, -1 where it is no byte. */
function icgOf({ payload }: Response): number {
  const entry = payload?.get(ICG_KEY);
  if (entry === undefined) return NONE;
  return entry?.length === 1 ? (entry[0] as number) : -1;
}
