/**
 * A set in which additions win: a removal removes only the additions that its generator's site had
 * seen. Its order is the same at all sites: numbers by size, then strings. The first read sorts it.
 */
import { compareScalars, type Scalar } from '../records/read-range.ts';
import { compareStamps, loadPosition, savePosition } from '../records/effect.ts';
import type { Effect, OrderPosition, SavedPosition, Stamp } from '../records/effect.ts';
import { measureValue, STAMP_BYTES, STATE_BYTES } from '../records/memory-bytes.ts';
import { describeKind, createInternalError } from '../records/internal-errors.ts';
import {
  createEffectBuilder,
  type EffectBuilder,
  type FieldKind,
  type FieldState,
} from './field.ts';
import { PendingList } from './pending-list.ts';
import { createPlainField, type Field } from './field-declaration.ts';

/**
 * Declares a set of strings or numbers. An addition wins over a concurrent removal. Reads as a
 * `Set` in order: numbers by size, then strings by UTF-16 code units. The first read after a change
 * takes about 1 µs an element, later ones do not. If you only test for elements of a large set that
 * changes often, use a table with a row for each.
 *
 * @example
 * blue((a: { note: string; tag: string }) => [notes.row(a.note).tags.add(a.tag)])
 */
export function set<T extends string | number>(): Field<
  ReadonlySet<T>,
  {
    add(element: T): Effect<undefined, 'blue', false>;
    remove(element: T): Effect<undefined, 'blue', false>;
  }
>;
export function set(...options: readonly unknown[]): Field {
  return createPlainField('set', options);
}

function createRejectedMethod(action: string): PropertyDescriptor {
  const value = (): never => {
    throw new TypeError(
      `Cannot ${action}: a set that was read is not changed. Return a shadow operation that does.`,
    );
  };
  return { value };
}

const REJECTED_METHODS = {
  add: createRejectedMethod('add'),
  delete: createRejectedMethod('delete'),
  clear: createRejectedMethod('clear'),
};

/**
 * Returns a set that throws if it is changed. It must compare and copy like a plain set, so it has
 * no class of its own.
 */
function createReadOnlySet<T>(elements: Iterable<T> = []): ReadonlySet<T> {
  return Object.defineProperties(new Set(elements), REJECTED_METHODS);
}

type Addition = OrderPosition;

/** An element in the two maps: with its additions, and of the last read. */
const ELEMENT_BYTES = 144;

class SetState implements FieldState {
  readonly #tags: Map<unknown, Addition[]>;
  /** The elements of the last read. They are updated at the next read. */
  #elements: ReadonlySet<unknown> | undefined;
  /** Elements that may have come or gone since then. */
  readonly #changed = new Set<unknown>();
  #bytes = 6 * STATE_BYTES;
  constructor(
    saved: readonly (readonly [element: unknown, tags: readonly SavedPosition[]])[] = [],
  ) {
    this.#tags = new Map(saved.map(([element, tags]) => [element, tags.map(loadPosition)]));
    for (const [element, tags] of this.#tags) this.#bytes += measureElement(element, tags.length);
  }
  get bytes(): number {
    return this.#bytes;
  }
  read(): ReadonlySet<unknown> {
    if (this.#elements === undefined)
      this.#elements = createReadOnlySet(sortElements(this.#tags.keys()));
    else if (this.#changed.size > 0)
      this.#elements = applyChanges(this.#elements, this.#changed, this.#tags);
    this.#changed.clear();
    return this.#elements;
  }
  holds(element: unknown): boolean {
    return this.#tags.has(element);
  }
  apply(effect: Effect, stamp: Stamp): void {
    // An addition replaces those that it had seen: each removal of it would have removed them too.
    const unseen = (this.#tags.get(effect.value) ?? []).filter((tag) => !isSeen(tag, stamp));
    // This is no push, because an array that grows gets room for 16 more elements.
    this.#keep(effect.value, effect.action === 'add' ? unseen.concat(stamp) : unseen);
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
  #keep(element: unknown, tags: Addition[]): void {
    const before = this.#tags.get(element)?.length ?? 0;
    this.#bytes += measureElement(element, tags.length) - measureElement(element, before);
    if (this.#elements !== undefined && this.#tags.has(element) !== tags.length > 0)
      this.#changed.add(element);
    if (tags.length > 0) this.#tags.set(element, tags);
    else this.#tags.delete(element);
    // The set was not read for long, so the result of the last read is dropped.
    if (this.#changed.size > this.#tags.size) this.#forgetRead();
  }
  #forgetRead(): void {
    this.#elements = undefined;
    this.#changed.clear();
  }
  snapshot(): unknown {
    return sortElements(this.#tags.keys()).map((element) => {
      const tags = this.#tags.get(element) as Addition[];
      return [
        element,
        tags.map(({ entry, version }) => [entry, version] as const).toSorted(compareNames),
      ];
    });
  }
  save(): unknown {
    return [...this.#tags].map(([element, tags]) => [element, tags.map(savePosition)]);
  }
}

function measureElement(element: unknown, tagCount: number): number {
  return tagCount === 0 ? 0 : ELEMENT_BYTES + measureValue(element) + tagCount * STAMP_BYTES;
}

/** Returns whether the generator of `by` had seen the addition, or made it. */
function isSeen(tag: Addition, by: Stamp): boolean {
  return (
    tag.version <= (by.seen[tag.entry] ?? 0) ||
    (tag.entry === by.entry && tag.version === by.version)
  );
}

type SavedAddition = readonly [entry: number, version: number];

function compareNames(a: SavedAddition, b: SavedAddition): number {
  return a[0] - b[0] || a[1] - b[1];
}

function sortElements(elements: Iterable<unknown>): readonly unknown[] {
  return ([...elements] as Scalar[]).toSorted(compareScalars);
}

/**
 * Returns the elements in order after a change: those of `changed` in `present` are added, and the
 * others removed.
 */
function applyChanges(
  elements: ReadonlySet<unknown>,
  changed: ReadonlySet<unknown>,
  present: { has(element: unknown): boolean },
): ReadonlySet<unknown> {
  const added = sortElements([...changed].filter((element) => present.has(element)));
  const merged: unknown[] = [];
  let next = 0;
  for (const element of elements) {
    if (changed.has(element)) continue;
    while (next < added.length && compareScalars(added[next] as Scalar, element as Scalar) < 0) {
      merged.push(added[next++]);
    }
    merged.push(element);
  }
  return createReadOnlySet(merged.concat(added.slice(next)));
}

/**
 * A set that was read, with the set below it. If the difference between both is the same, the set
 * is the same.
 */
interface ShownSet {
  readonly base: unknown;
  readonly changed: ReadonlySet<unknown>;
  readonly elements: ReadonlySet<unknown>;
}

class PendingChanges extends PendingList {
  protected readonly initial: ReadonlySet<unknown> = createReadOnlySet();
  /** The last set that was read: most reads return the same again. */
  #shown: ShownSet | undefined;
  protected computeValue(base: unknown, pending: readonly { readonly effect: Effect }[]): unknown {
    const elements = base as ReadonlySet<unknown>;
    const [present, changed] = [new Set<unknown>(), new Set<unknown>()];
    for (const { effect } of pending) {
      const { value } = effect;
      if (effect.action === 'add') present.add(value);
      else present.delete(value);
      if (present.has(value) === elements.has(value)) changed.delete(value);
      else changed.add(value);
    }
    if (changed.size === 0) return base;
    const known = this.#shown;
    const isKnown =
      known !== undefined && known.base === base && known.changed.size === changed.size;
    if (isKnown && [...changed].every((element) => known.changed.has(element)))
      return known.elements;
    const shown = applyChanges(elements, changed, present);
    this.#shown = { base, changed, elements: shown };
    return shown;
  }
}

const createAddEffect = createEffectBuilder('add');

const isElement = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number';

const buildAddEffect: EffectBuilder = (name, key, element) => {
  if (!isElement(element)) {
    const message = `A set has strings and numbers, not ${describeKind(element)}.`;
    throw createInternalError('INVALID_ARGUMENT', message, `${name.table}.${name.field}`);
  }
  return createAddEffect(name, key, element);
};

export const setKind: FieldKind = {
  name: 'set',
  builder: 'set',
  isRedOnly: false,
  isIndexable: true,
  effects: { add: buildAddEffect, remove: createEffectBuilder('remove') },
  shrinkingActions: ['remove'],
  // If a value cannot be an element, two sites might order it differently.
  accepts: (action, value) => action !== 'add' || isElement(value),
  state: (saved) => new SetState(saved as [unknown, SavedPosition[]][] | undefined),
  pending: () => new PendingChanges(),
};
