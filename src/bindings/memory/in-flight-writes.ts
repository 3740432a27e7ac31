/** The updates of this site that its backup copy has not applied yet, by object, in the order of their submission. */
import type { Operation } from '../../correctable/operation.ts';
import type { PendingWrite } from './memory-store.ts';

export class InFlightWrites {
  readonly #byKey = new Map<string, PendingWrite[]>();

  add(update: PendingWrite): void {
    const key = getWriteKey(update);
    const updates = this.#byKey.get(key);
    if (updates === undefined) this.#byKey.set(key, [update]);
    else updates.push(update);
  }

  remove(update: PendingWrite): void {
    const key = getWriteKey(update);
    const updates = this.#byKey.get(key);
    const at = updates?.indexOf(update) ?? -1;
    if (updates === undefined || at < 0) return;
    // Emptied in any case: a map that has grown goes on pointing to what it held before.
    updates.splice(at, 1);
    if (updates.length === 0) this.#byKey.delete(key);
  }

  /** The operations on the same object that were submitted before `update`. */
  getEarlier(update: PendingWrite): Operation[] {
    const updates = this.#byKey.get(getWriteKey(update)) ?? [];
    const at = updates.indexOf(update);
    return updates.slice(0, at < 0 ? undefined : at).map(({ operation }) => operation);
  }
}

function getWriteKey({ operation }: PendingWrite): string {
  const { key, queue } = operation.args as { readonly key?: string; readonly queue?: string };
  return key === undefined ? `queue ${queue}` : `key ${key}`;
}
