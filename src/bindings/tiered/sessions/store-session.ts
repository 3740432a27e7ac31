/** A session whose versions are positions in one log of the whole store. */
import { SessionPositions } from '../../shared/session-positions.ts';
import { PositionedRead } from './positioned-read.ts';
import { decodeState, encodeState, type EncodedState } from './session-state.ts';
import type { GuardedRead, Reached, RecordWrite, TierSession } from './tier-session.ts';

export class StoreSession implements TierSession {
  readonly #reached: Reached;
  readonly #positions: SessionPositions<unknown>;

  constructor(reached: Reached) {
    this.#reached = reached;
    this.#positions = new SessionPositions(reached);
  }

  get state(): EncodedState {
    return encodeState(this.#positions.state);
  }

  continueFrom(state: EncodedState): void {
    this.#positions.continueFrom(decodeState(state));
  }

  beginRead(): GuardedRead {
    const positions = this.#positions;
    return new PositionedRead({
      positions,
      reached: this.#reached,
      onUnknownFinal: (before) => positions.recordPrimary(before, undefined),
    });
  }

  beginWrite(): RecordWrite {
    const before = this.#positions.beginRead();
    return (version) => this.#positions.recordWrite(version, before);
  }
}
