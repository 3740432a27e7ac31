/**
 * A session whose versions belong to one key each.
 *
 * A write without a version forgets the version of its key, and the strongest level answers next.
 *
 * A row that was deleted has no version, and a new row in its place may count from 1 again. A
 * weaker level may still have the old row, with a higher version than the new one. So after a
 * `remove` or a final view without a version, only the strongest level answers for that key. If the
 * origin keeps a version for deleted rows, nothing of that happens.
 */
import type { Operation } from '../../../correctable/operation.ts';
import { getPortableTouches } from '../../shared/portable-touches.ts';
import { SessionPositions } from '../../shared/session-positions.ts';
import { PositionedRead } from './positioned-read.ts';
import { decodeState, encodeState, type EncodedState } from './session-state.ts';
import type { GuardedRead, Reached, RecordWrite, TierSession } from './tier-session.ts';

/** What a token carries. */
export interface KeySessionState {
  /** The keys that were used last, the latest first. */
  readonly keys: readonly (readonly [key: string, state: EncodedState])[];
  /** Whether the session has seen other keys too. */
  readonly isPartial: boolean;
  /** Whether a key that is not in `keys` has lost its order. Absent for false. */
  readonly isUnordered?: true | undefined;
}

/** With more, the keys that were used least recently are forgotten. */
const MAX_KEYS = 10_000;
/** The keys in a token, as JSON. Several tokens of concurrent requests must fit into one header. */
const MAX_TOKEN_KEYS_LENGTH = 700;

export class KeySession implements TierSession {
  readonly #reached: Reached;
  readonly #maxKeys: number;
  /** By key. The key that was used last is at the end. */
  readonly #keys = new Map<string, SessionPositions<unknown>>();
  /**
   * Whether keys were forgotten. The strongest level answers first for a key that is not known
   * then.
   */
  #isPartial = false;
  /** Whether one of the forgotten keys had lost its order. */
  #isUnordered = false;

  constructor(reached: Reached, maxKeys: number = MAX_KEYS) {
    this.#reached = reached;
    this.#maxKeys = maxKeys;
  }

  get state(): KeySessionState {
    const keys: KeySessionState['keys'][number][] = [];
    let length = 0;
    let isPartial = this.#isPartial;
    let isUnordered = this.#isUnordered;
    for (const [key, positions] of [...this.#keys].toReversed()) {
      if (!hasSeenAny(positions)) continue;
      const entry = [key, encodeState(positions.state)] as const;
      if (length <= MAX_TOKEN_KEYS_LENGTH) length += JSON.stringify(entry).length;
      if (length <= MAX_TOKEN_KEYS_LENGTH) keys.push(entry);
      else {
        isPartial = true;
        isUnordered ||= positions.isUnordered;
      }
    }
    return { keys, isPartial, ...(isUnordered && { isUnordered }) };
  }

  continueFrom({ keys, isPartial, isUnordered }: KeySessionState): void {
    for (const [key, state] of keys.toReversed()) this.#find(key).continueFrom(decodeState(state));
    // Last, because these keys are known.
    if (isPartial) this.#isPartial = true;
    if (isUnordered) this.#isUnordered = true;
  }

  beginRead(operation: Operation): GuardedRead {
    const [key, ...others] = getPortableTouches(operation) ?? [];
    if (key === undefined || others.length > 0) return UNGUARDED;
    const positions = this.#find(key);
    return new PositionedRead({
      positions,
      reached: this.#reached,
      onUnknownFinal: () => positions.loseOrder(),
    });
  }

  beginWrite(operation: Operation): RecordWrite {
    const keys = getPortableTouches(operation);
    if (keys === undefined) return () => this.#forgetAll();
    const [key] = keys;
    // One version of several keys belongs to none of them.
    if (key === undefined || keys.length > 1) return () => this.#forget(operation, keys);
    const before = this.#find(key).beginRead();
    return (version) => {
      if (version === undefined) this.#forget(operation, keys);
      else this.#find(key).recordWrite(version, before);
    };
  }

  #forget({ name }: Operation, keys: readonly string[]): void {
    for (const key of keys) {
      const positions = this.#find(key);
      if (name === 'remove') positions.loseOrder();
      else positions.forget();
    }
  }

  #find(key: string): SessionPositions<unknown> {
    const positions = this.#keys.get(key) ?? this.#create();
    this.#keys.delete(key); // to the end
    this.#keys.set(key, positions);
    if (this.#keys.size > this.#maxKeys) this.#dropOldest();
    return positions;
  }

  #create(): SessionPositions<unknown> {
    const positions = new SessionPositions(this.#reached);
    if (this.#isUnordered) positions.loseOrder();
    else if (this.#isPartial) positions.forget();
    return positions;
  }

  #dropOldest(): void {
    const [oldest] = this.#keys.entries();
    const [key, positions] = oldest!;
    this.#keys.delete(key);
    this.#isUnordered ||= positions.isUnordered;
    // Also if nothing was seen of it: a read of it may be in flight.
    this.#isPartial = true;
  }

  /** A write of unknown keys: the strongest level answers next for all. */
  #forgetAll(): void {
    this.#isPartial = true;
    for (const positions of this.#keys.values()) positions.forget();
  }
}

function hasSeenAny({ state }: SessionPositions<unknown>): boolean {
  return state.need !== null || state.needsPrimary;
}

/** A read of no key or of several: the strongest level answers alone. */
const UNGUARDED: GuardedRead = {
  isDecided: false,
  canShow: () => false,
  recordEarly: () => {},
  isBehind: () => false,
  recordFinal: () => {},
};
