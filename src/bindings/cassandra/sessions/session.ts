/** What an application's session has seen of each key: a view below it would break its guarantees. */
import type { BindingSession } from '../../../correctable/binding.ts';
import type { ShownObject } from '../plan.ts';
import { isOlder, VersionsSeen, type Sighting } from './versions-seen.ts';
import { writeClock } from './write-clock.ts';

const KEYS_MAX = 10_000;

export class ReadSession implements BindingSession {
  readonly #seen = new VersionsSeen(KEYS_MAX);

  close(): void {
    this.#seen.clear();
  }

  /** A read of these objects begins: what is known of them by now its views must not be behind. */
  begin(ids: readonly string[]): SessionRead {
    return new SessionRead(this.#seen, ids);
  }

  /** An update of the session was made. */
  wrote(objects: readonly ShownObject[] | undefined): void {
    objects?.forEach((object) => this.#seen.learnWritten(object));
  }
}

/**
 * One read in a session. What the session's other operations see while it is under way does not count: the read began
 * before them.
 */
export class SessionRead {
  readonly #seen: VersionsSeen;
  readonly #began: number;
  readonly #floors = new Map<string, Sighting>();
  /** Whether what is not among the floors may have been seen all the same. */
  readonly #hasForgotten: boolean;

  constructor(seen: VersionsSeen, ids: readonly string[]) {
    this.#seen = seen;
    this.#began = writeClock.current();
    this.#hasForgotten = seen.hasForgotten;
    for (const id of ids) {
      const sighting = seen.of(id);
      if (sighting !== undefined) this.#floors.set(id, sighting);
    }
  }

  /** Whether an answer of one replica shows nothing older than what was seen. What cannot be told is not admitted. */
  admits(objects: readonly ShownObject[] | undefined): boolean {
    if (objects === undefined) return false;
    return objects.every((object) => {
      const floor = this.#floors.get(object.id);
      if (floor === undefined) return !this.#hasForgotten;
      return !isOlder(object, floor) && !this.#isMissing(object);
    });
  }

  /** Whether this shows something as absent that was seen: it was deleted, its time was up, or the answer is old. */
  isMissingSome(objects: readonly ShownObject[]): boolean {
    return objects.some((object) => this.#isMissing(object));
  }

  /** Whether the session has surely seen newer than this. What is absent has been deleted, or its time was up. */
  isAhead(objects: readonly ShownObject[]): boolean {
    return objects.some((object) => {
      const floor = this.#floors.get(object.id);
      return floor?.isGone !== true && isOlder(object, floor);
    });
  }

  /** A view that may still be corrected was shown: the read itself must not go back behind it. */
  showed(objects: readonly ShownObject[] | undefined): void {
    for (const object of objects ?? []) {
      this.#seen.learn(object);
      const { id, version } = object;
      // The same version with another value is then the later of two writes of one time, and no step back.
      if (version === undefined || this.#floors.get(id)?.version === version) continue;
      this.#floors.set(id, { version, content: undefined, isGone: false });
    }
  }

  /** The final view. `isSure`: what is absent in it was nowhere when the read began. */
  ended(objects: readonly ShownObject[] | undefined, isSure: boolean): void {
    for (const object of objects ?? []) {
      this.#seen.learn(object);
      if (object.version === undefined && isSure) this.#seen.learnGone(object.id, this.#began);
    }
  }

  #isMissing({ id, version }: ShownObject): boolean {
    return version === undefined && this.#floors.get(id)?.isGone === false;
  }
}
