/** Carrying a Correctable across `async` functions and into renderers (C12). */
import type { Correctable, CorrectableState } from '../correctable.ts';
import type { CorrectableError } from '../errors.ts';
import { check } from '../errors.ts';
import type { Levels } from '../level.ts';
import { sourceOf } from '../source.ts';
import type { View } from '../view.ts';

/** A Correctable that `await` and `return` in an async function leave as it is. */
export interface Boxed<T, L extends Levels, F extends string = L[number]> {
  readonly correctable: Correctable<T, L, F>;
}

/**
 * Boxes a Correctable, so that an `async` function can return it without its being absorbed into its final value.
 *
 * @example
 * const open = async () => boxed(store.invoke(get('doc')));
 * const { correctable } = await open();
 */
export function boxed<T, L extends Levels, F extends string>(correctable: Correctable<T, L, F>): Boxed<T, L, F> {
  return { correctable };
}

/** What a Correctable is at one moment. */
export interface Snapshot<T, L extends Levels, F extends string = L[number]> {
  readonly state: CorrectableState;
  readonly latest: View<T, L, F> | undefined;
  readonly error: CorrectableError | undefined;
}

const snapshots = /* @__PURE__ */ new WeakMap<object, Snapshot<never, never, never>>();

/**
 * The present state of a Correctable: the same object until something changes, as renderers need it.
 *
 * @example
 * useSyncExternalStore((changed) => follow(c, changed), () => getSnapshot(c)); // docs/guide/rendering.md
 */
export function getSnapshot<T, L extends Levels, F extends string>(
  correctable: Correctable<T, L, F>,
): Snapshot<T, L, F> {
  check(correctable?.state, 'correctable', 'give one');
  const { state, latest } = correctable;
  // Held by what the snapshot shows: one of another copy of this package has no source to ask, and is not to be drawn for ever.
  let known = snapshots.get(correctable) as Snapshot<T, L, F> | undefined;
  if (known?.state !== state || known.latest !== latest) {
    known = { state, latest, error: sourceOf<T>(correctable)?.extras?.error };
    snapshots.set(correctable, known as Snapshot<never, never, never>);
  }
  return known;
}
