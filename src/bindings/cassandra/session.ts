/** What an application's session has seen of each key: a view below it would break its guarantees. */
import type { BindingSession } from '../../correctable/binding.ts';
import { VersionsSeen } from './versions-seen.ts';
import type { ShownObject } from './plan.ts';

const KEYS_MAX = 10_000;

export class ReadSession implements BindingSession {
  readonly #seen = new VersionsSeen(KEYS_MAX);

  close(): void {
    this.#seen.clear();
  }

  /** Whether an answer of one replica shows nothing older than what was seen. What cannot be told is not admitted. */
  admits(objects: readonly ShownObject[] | undefined): boolean {
    if (objects === undefined) return false;
    return objects.every(
      (object) => !this.#seen.isBehind(object) && (this.#seen.knows(object.id) || !this.#seen.hasForgotten),
    );
  }

  /** Whether the session has surely seen newer than this. */
  isAhead(objects: readonly ShownObject[]): boolean {
    return objects.some((object) => this.#seen.isBehind(object));
  }

  advanceTo(objects: readonly ShownObject[] | undefined): void {
    objects?.forEach((object) => this.#seen.learn(object));
  }
}
