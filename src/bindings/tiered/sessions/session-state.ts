/** The state of a session as JSON, for its token. */
import type { SessionState } from '../../shared/session-positions.ts';
import {
  decodeVersion,
  encodeVersion,
  type EncodedVersion,
} from './version-codec.ts';

export interface EncodedState {
  readonly need: EncodedVersion | null;
  readonly needsPrimary: boolean;
}

export function encodeState(state: SessionState<unknown>): EncodedState {
  const { need, needsPrimary } = state;
  return { need: need === null ? null : encodeVersion(need), needsPrimary };
}

export function decodeState(encoded: EncodedState): SessionState<unknown> {
  const { need, needsPrimary } = encoded;
  return { need: need === null ? null : decodeVersion(need), needsPrimary };
}
