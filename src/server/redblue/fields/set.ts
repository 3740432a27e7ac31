/**
 * A set in which adding wins: a removal takes only the additions that its generator's site had seen. Elements are
 * strings or numbers.
 */
import type { Effect, Stamp } from '../effect.ts';
import { PendingList } from './field.ts';
import type { FieldKind, FieldState } from './field.ts';

type Tag = readonly [entry: number, version: number];

class SetState implements FieldState {
  readonly #tags = new Map<unknown, Tag[]>();
  read(): ReadonlySet<unknown> {
    return new Set(this.#tags.keys());
  }
  apply(effect: Effect, stamp: Stamp): void {
    const tags = this.#tags.get(effect.value) ?? [];
    if (effect.action === 'add') {
      this.#tags.set(effect.value, [...tags, [stamp.entry, stamp.version]]);
      return;
    }
    const unseen = tags.filter(([entry, version]) => version > (stamp.seen[entry] ?? 0));
    if (unseen.length > 0) this.#tags.set(effect.value, unseen);
    else this.#tags.delete(effect.value);
  }
  snapshot(): unknown {
    const described = [...this.#tags].map(([element, tags]) => [element, tags.toSorted(byOrigin)] as const);
    return described.toSorted(([a], [b]) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
}

function byOrigin(a: Tag, b: Tag): number {
  return a[0] - b[0] || a[1] - b[1];
}

class PendingChanges extends PendingList {
  over(base: unknown): unknown {
    if (this.entries.length === 0) return base;
    const elements = new Set(base as ReadonlySet<unknown>);
    for (const { effect } of this.entries) {
      if (effect.action === 'add') elements.add(effect.value);
      else elements.delete(effect.value);
    }
    return elements;
  }
}

export const setKind: FieldKind = {
  name: 'set',
  redOnly: false,
  effects: (address) => ({
    add: (value) => ({ ...address, action: 'add', value }),
    remove: (value) => ({ ...address, action: 'remove', value }),
  }),
  state: () => new SetState(),
  pending: () => new PendingChanges(),
};
