/** Carries a Correctable across `async` functions and into renderers (COR-12). */
import type { Correctable, CorrectableState } from '../correctable.ts';
import type { CorrectableError } from '../errors.ts';
import { check } from '../errors.ts';
import type { Levels } from '../level-types.ts';
import { getForeignSource } from '../copies/foreign-source.ts';
import type { View } from '../view.ts';

/**
 * Holds a Correctable. A Correctable itself is resolved by `await`, and by `return` in an async
 * function. A box is not.
 */
export interface CorrectableBox<T, L extends Levels, F extends string = L[number]> {
  readonly correctable: Correctable<T, L, F>;
}

/**
 * Boxes a Correctable, so that an `async` function can return it without resolving it to its final
 * value.
 *
 * @example
 * const open = async () => boxCorrectable(store.invoke(get('doc')));
 * const { correctable } = await open();
 */
export function boxCorrectable<T, L extends Levels, F extends string>(
  correctable: Correctable<T, L, F>,
): CorrectableBox<T, L, F> {
  return { correctable };
}

/** State of a Correctable at one moment. */
export interface Snapshot<T, L extends Levels, F extends string = L[number]> {
  readonly state: CorrectableState;
  readonly latest: View<T, L, F> | undefined;
  readonly error: CorrectableError | undefined;
}

const snapshots = /* @__PURE__ */ new WeakMap<object, Snapshot<never, never, never>>();

/**
 * Returns the present state of a Correctable: the same object until something changes, as renderers
 * need it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `correctable` is no Correctable
 * @example
 * // See docs/guides/user-interfaces.md.
 * useSyncExternalStore(
 *   (changed) => follow(c, changed),
 *   () => getSnapshot(c),
 * );
 */
export function getSnapshot<T, L extends Levels, F extends string>(
  correctable: Correctable<T, L, F>,
): Snapshot<T, L, F> {
  const source = getForeignSource(correctable);
  check(source, 'correctable', 'give one');
  const { state, latest } = correctable;
  const error = source.extras?.error;
  let known = snapshots.get(correctable) as Snapshot<T, L, F> | undefined;
  if (known?.state !== state || known.latest !== latest || known.error !== error)
    snapshots.set(correctable, (known = { state, latest, error }) as Snapshot<never, never, never>);
  return known;
}
