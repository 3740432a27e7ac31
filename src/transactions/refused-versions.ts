/**
 * The versions for which earlier runs of a transaction were refused. If the nearest copy of the
 * data still has one of these versions, it is stale, and another run on it would be refused for the
 * same reason.
 */
import type { Version, VersionedValue } from '../operations/versioned.ts';

export class RefusedVersions {
  readonly #versions = new Map<string, Set<Version>>();

  add(key: string, version: Version): void {
    const versions = this.#versions.get(key);
    if (versions === undefined) this.#versions.set(key, new Set([version]));
    else versions.add(version);
  }

  /** Returns whether one of `values`, which belong to `keys`, is known to be out of date. */
  hasAny(keys: readonly string[], values: readonly VersionedValue[]): boolean {
    if (this.#versions.size === 0) return false;
    return keys.some((key, at) => this.#versions.get(key)?.has(values[at]!.version));
  }
}
