/**
 * What an application's session has seen of each key: no later view may be of before that.
 *
 * A replica may be behind, and absence has no version: what is not there was never written, not yet, or was deleted, and
 * only those who surely know can say which. So one answer about a key is judged by what was known when its read began:
 *
 * - *behind*: older than what was seen. One replica's is not shown; several are asked once more, then it is told.
 * - *missing*: absent, though it was seen. At `strong` that is believed of what the session wrote, or saw at `strong`: every
 *   quorum has it. Otherwise all replicas are asked, and believed.
 * - *doubted*: perhaps of before the key was found gone, or one that the session has forgotten, of the many that it saw. One
 *   replica's is not shown; `strong` is believed; otherwise all replicas are asked, and believed.
 * - *fine*: anything else.
 *
 * A key is found gone by those who surely know: what was seen of it is void, and what was written up to then is doubted,
 * until somebody who surely knows shows the key. What was learnt of a key while a read was under way stays, whatever the
 * read shows. Of a key that was forgotten, `strong` knows what was answered, not what one replica alone has shown.
 */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { ShownObject } from '../plan.ts';
import { isOlder, NOTHING_SEEN, VersionsSeen, type KnownBefore, type Sighting } from './versions-seen.ts';
import { writeClock } from './write-clock.ts';

const KEYS_MAX = 10_000;

export interface ReadSessionSettings {
  /** Whether final views show every write that was answered before they were asked for. */
  readonly isStrong: boolean;
  /** How many keys are remembered. */
  readonly keysMax?: number;
}

export class ReadSession implements BindingSession {
  readonly #isStrong: boolean;
  readonly #seen: VersionsSeen;

  constructor({ isStrong, keysMax = KEYS_MAX }: ReadSessionSettings) {
    this.#isStrong = isStrong;
    this.#seen = new VersionsSeen(keysMax);
  }

  close(): void {
    this.#seen.clear();
  }

  /** A read of these objects begins: what is known of them by now its views must not be behind. */
  begin(ids: readonly string[]): SessionRead {
    return new SessionRead(this.#seen, ids);
  }

  /** An update of the session was made. */
  wrote(objects: readonly ShownObject[] | undefined): void {
    objects?.forEach((object) => this.#seen.learn(object, this.#isStrong));
  }
}

/** What one answer is, beside what was known of the object. */
type Judgement = 'fine' | 'behind' | 'missing' | 'doubted';

/** How much the replicas that gave a final view know. */
export interface Knowledge {
  /** Whether they have every write that was answered before they were asked. */
  readonly isSure: boolean;
  /** Whether every later final view shows at least what this one does. */
  readonly isSettled: boolean;
}

/**
 * One read in a session. What the session's other operations see while it is under way does not count: the read began
 * before them.
 */
export class SessionRead {
  readonly #seen: VersionsSeen;
  readonly #learntBefore: number;
  readonly #floors: Map<string, Sighting>;

  constructor(seen: VersionsSeen, ids: readonly string[]) {
    this.#seen = seen;
    this.#learntBefore = seen.learnt;
    this.#floors = seen.floorsOf(ids);
  }

  /** Whether an answer of one replica shows nothing older than what was seen. What cannot be told is not admitted. */
  admits(objects: readonly ShownObject[] | undefined): boolean {
    return objects?.every((object) => this.#judge(object) === 'fine') === true;
  }

  /** Whether only all replicas can tell that an answer is none of before what was seen. */
  wantsAll(objects: readonly ShownObject[], { isSure }: Pick<Knowledge, 'isSure'>): boolean {
    return objects.some((object) => {
      const judgement = this.#judge(object);
      if (judgement === 'missing') return !(isSure && this.#floors.get(object.id)?.isSettled === true);
      return judgement === 'doubted' && !isSure;
    });
  }

  /** Whether the session has surely seen newer than this. */
  isAhead(objects: readonly ShownObject[]): boolean {
    return objects.some((object) => this.#judge(object) === 'behind');
  }

  /** A view that may still be corrected was shown: the read itself must not go back behind it. */
  showed(objects: readonly ShownObject[] | undefined): void {
    for (const object of objects ?? []) {
      this.#seen.learn(object);
      const { id, version } = object;
      const floor = this.#floors.get(id) ?? NOTHING_SEEN;
      // The same version with another value is then the later of two writes of one time, and no step back.
      if (version === undefined || floor.version === version) continue;
      this.#floors.set(id, { ...floor, version, content: undefined, isSettled: false, isForgotten: false });
    }
  }

  /** The final view. */
  ended(objects: readonly ShownObject[] | undefined, { isSure, isSettled }: Knowledge): void {
    const now = writeClock.current();
    for (const object of objects ?? []) {
      if (isSure) this.#seen.learnSure(object, isSettled, this.#knownBefore(object.id), now);
      else this.#seen.learn(object);
    }
  }

  #judge(object: ShownObject): Judgement {
    const floor = this.#floors.get(object.id);
    if (floor === undefined) return 'fine';
    if (isOlder(object, floor)) return 'behind';
    if (object.version !== undefined) return object.version <= floor.doubtedUpTo ? 'doubted' : 'fine';
    if (floor.version !== undefined) return 'missing';
    return floor.isForgotten ? 'doubted' : 'fine';
  }

  #knownBefore(id: string): KnownBefore {
    return { sighting: this.#floors.get(id), learnt: this.#learntBefore };
  }
}
