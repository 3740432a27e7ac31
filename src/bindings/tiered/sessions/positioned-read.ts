/** A read in a session, of an object whose versions are ordered. */
import type { SessionPositions, SessionRead } from '../../shared/session-positions.ts';
import type { GuardedRead, Reached } from './tier-session.ts';

export interface PositionedReadOptions {
  readonly positions: SessionPositions<unknown>;
  readonly reached: Reached;
  /** Called with a final view without a version. */
  readonly onUnknownFinal: (before: SessionRead<unknown>) => void;
}

export class PositionedRead implements GuardedRead {
  readonly #options: PositionedReadOptions;
  readonly #before: SessionRead<unknown>;
  /** The newest version that an early view of this read has shown. */
  #shown: unknown;
  isDecided = false;

  constructor(options: PositionedReadOptions) {
    this.#options = options;
    this.#before = options.positions.beginRead();
  }

  canShow(version: unknown): boolean {
    return this.#options.positions.canShow(this.#before, version);
  }

  recordEarly(version: unknown): void {
    const { positions, reached } = this.#options;
    positions.recordReplica(this.#before, version);
    if (this.#shown === undefined || reached(version, this.#shown)) this.#shown = version;
  }

  isBehind(version: unknown): boolean {
    const { positions, reached } = this.#options;
    if (positions.isPrimaryBehind(this.#before, version)) return true;
    if (this.#shown === undefined || version === undefined) return false;
    return !reached(version, this.#shown) && reached(this.#shown, version);
  }

  recordFinal(version: unknown): void {
    const { positions, onUnknownFinal } = this.#options;
    this.isDecided = true;
    if (version === undefined) onUnknownFinal(this.#before);
    else positions.recordPrimary(this.#before, version);
  }
}
