/**
 * A set in which adding wins: a removal takes only the additions that its generator's site had seen. Elements are
 * strings or numbers, and are read in one order, the same at all sites: numbers by size, then strings by their units.
 * Additions come to each site in another one, and what a generator makes of it must not differ.
 */
import { compareScalars } from '../key-range.ts';
import type { Scalar } from '../key-range.ts';
import { compareStamps, loadPlace, savePlace } from '../effect.ts';
import type { Effect, Place, SavedPlace, Stamp } from '../effect.ts';
import { writes } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';
import { PendingList } from './pending-list.ts';
import { readOnlySet } from './read-only-set.ts';

/** One addition. */
type Tag = Place;

class SetState implements FieldState {
  readonly #tags: Map<unknown, Tag[]>;
  /** What was read last; made again once there is a change. */
  #elements: ReadonlySet<unknown> | undefined;
  constructor(saved: readonly (readonly [element: unknown, tags: readonly SavedPlace[]])[] = []) {
    this.#tags = new Map(saved.map(([element, tags]) => [element, tags.map(loadPlace)]));
  }
  read(): ReadonlySet<unknown> {
    return (this.#elements ??= readOnlySet(inOrder(this.#tags.keys())));
  }
  holds(element: unknown): boolean {
    return this.#tags.has(element);
  }
  apply(effect: Effect, stamp: Stamp): void {
    // An addition stands for those that it had seen: whatever takes it would have taken them.
    const unseen = (this.#tags.get(effect.value) ?? []).filter((tag) => !isSeen(tag, stamp));
    if (effect.action === 'add') unseen.push(stamp);
    this.#keep(effect.value, unseen);
  }
  clear(upTo: Stamp): void {
    for (const [element, tags] of this.#tags) {
      this.#keep(
        element,
        tags.filter((tag) => compareStamps(tag, upTo) > 0),
      );
    }
  }
  get isInitial(): boolean {
    return this.#tags.size === 0;
  }
  #keep(element: unknown, tags: Tag[]): void {
    if (this.#tags.has(element) !== tags.length > 0) this.#elements = undefined;
    if (tags.length > 0) this.#tags.set(element, tags);
    else this.#tags.delete(element);
  }
  snapshot(): unknown {
    const described = [...this.#tags].map(
      ([element, tags]) =>
        [element, tags.map(({ entry, version }) => [entry, version] as const).toSorted(byOrigin)] as const,
    );
    return described.toSorted(([a], [b]) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  save(): unknown {
    return [...this.#tags].map(([element, tags]) => [element, tags.map(savePlace)]);
  }
}

/** Whether the generator of `by` had seen the addition, or was that of the addition itself. */
function isSeen(tag: Tag, by: Stamp): boolean {
  return tag.version <= (by.seen[tag.entry] ?? 0) || (tag.entry === by.entry && tag.version === by.version);
}

type Origin = readonly [entry: number, version: number];

function byOrigin(a: Origin, b: Origin): number {
  return a[0] - b[0] || a[1] - b[1];
}

function inOrder(elements: Iterable<unknown>): readonly unknown[] {
  return ([...elements] as Scalar[]).toSorted(compareScalars);
}

class PendingChanges extends PendingList {
  protected readonly initial: ReadonlySet<unknown> = readOnlySet();
  protected show(base: unknown, pending: readonly { readonly effect: Effect }[]): unknown {
    if (pending.length === 0) return base;
    const elements = new Set(base as ReadonlySet<unknown>);
    for (const { effect } of pending) {
      if (effect.action === 'add') elements.add(effect.value);
      else elements.delete(effect.value);
    }
    return readOnlySet(inOrder(elements));
  }
}

export const setKind: FieldKind = {
  name: 'set',
  redOnly: false,
  effects: { add: writes('add'), remove: writes('remove') },
  state: (saved) => new SetState(saved as [unknown, SavedPlace[]][] | undefined),
  pending: () => new PendingChanges(),
};
