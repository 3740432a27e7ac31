/** Implements the store contract of Svelte with a Correctable. */
import { getSnapshot, type Snapshot } from '../correctable/client/interop.ts';
import type { Correctable } from '../correctable/correctable.ts';
import { check, checkFunction } from '../correctable/errors.ts';
import type { Levels } from '../correctable/level-types.ts';
import { hasMethods } from '../correctable/validate.ts';

/** A store that has a value at any time: what Svelte calls `Readable`. */
export interface Readable<V> {
  /**
   * Calls `run` at once with the present value, then at each change. Returns a function that ends
   * that.
   *
   * @throws CorrectableError `INVALID_ARGUMENT` if `run` is no function
   */
  subscribe(this: void, run: (value: V) => void): () => void;
}

/**
 * Returns a store of the snapshots of a Correctable: `{ state, latest, error }`. It changes with
 * each view and with the failure. If all subscribers leave, the operation goes on: there may be
 * other consumers.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if `correctable` is no Correctable
 * @example
 * // In a component of Svelte: {$stock.latest?.value}
 * const stock = readable(store.invoke(get('stock:book')));
 */
export function readable<T, L extends Levels, F extends string = L[number]>(
  correctable: Correctable<T, L, F>,
): Readable<Snapshot<T, L, F>> {
  const isCorrectable = hasMethods(correctable, 'subscribe', 'speculate');
  check(isCorrectable, 'correctable', "give one, as readable(store.invoke(get('news')))");
  return {
    subscribe(run) {
      checkFunction(run, 'run');
      let shown: Snapshot<T, L, F> | undefined;
      const showChange = (): void => {
        const snapshot = getSnapshot(correctable);
        if (snapshot !== shown) run((shown = snapshot));
      };
      const { unsubscribe } = correctable.subscribe({
        next: showChange,
        error: showChange,
      });
      showChange();
      return unsubscribe;
    },
  };
}
