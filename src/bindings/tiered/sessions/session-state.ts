/** The state of a session as JSON, for its token. */
import type { SessionState } from '../../shared/session-positions.ts';
import { decodeVersion, encodeVersion, type EncodedVersion } from './version-codec.ts';

export interface EncodedState {
  readonly need: EncodedVersion | null;
  readonly needsPrimary: boolean;
  readonly isUnordered?: true | undefined;
}

export function encodeState(state: SessionState<unknown>): EncodedState {
  const { need } = state;
  return { ...state, need: need === null ? null : encodeVersion(need) };
}

export function decodeState(encoded: EncodedState): SessionState<unknown> {
  const { need } = encoded;
  return { ...encoded, need: need === null ? null : decodeVersion(need) };
}
