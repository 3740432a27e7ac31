/**
 * Checks causality exactly, in time linear in the history.
 *
 * Each write carries the frontier of its past: for each key the newest write that it depends on. A
 * read of several keys merges the frontiers of what it returned. Each key must then be at least as
 * new as that, and as what the session has seen before.
 */
import type { Stamp } from '../../../causal/stamps.ts';
import type { VersionPlace } from '../../../causal/version.ts';

/** A broken property. */
export interface CausalViolation {
  readonly checker: string;
  readonly message: string;
}

/**
 * The version of a key that a read has returned, in any store that orders writes by stamp and site.
 */
export interface ReadVersion extends VersionPlace {
  readonly value: unknown;
}

/** The place of a write in the order of the writes of its key. */
export interface WritePlace {
  readonly id: string;
  readonly stamp: Stamp;
  readonly site: number;
}

type Frontier = Map<string, WritePlace>;

interface KnownWrite {
  readonly id: string;
  readonly key: string;
  readonly past: Frontier;
  place: WritePlace | undefined;
}

/** The writes that one client has seen. */
export class SessionFrontier {
  readonly seen: Frontier = new Map();
}

/** Differences that are no violation after the faults of the run. */
export interface Excuses {
  /** Whether the write was lost with all its copies. */
  isLost(id: string): boolean;
  /** Whether a delete that came after the write, or the write itself, may be forgotten by now. */
  mayBeForgotten(key: string, write: WritePlace): boolean;
  /** Whether the partition of the key may have forgotten ids of writes. */
  mayBeRepeated(key: string): boolean;
}

export class FrontierChecker {
  readonly #excuses: Excuses;
  readonly #writes = new Map<string, KnownWrite>();
  readonly #acknowledged: Frontier = new Map();

  constructor(excuses: Excuses) {
    this.#excuses = excuses;
  }

  /** Call it when the client sends the write: others may read it before its reply. */
  beginWrite(id: string, key: string, session: SessionFrontier): void {
    this.#writes.set(id, {
      id,
      key,
      past: new Map(session.seen),
      place: undefined,
    });
  }

  endWrite(
    id: string,
    { stamp, site }: { readonly stamp: Stamp; readonly site: number },
    session: SessionFrontier,
  ): CausalViolation | undefined {
    const write = this.#writes.get(id) as KnownWrite;
    const place = { id, stamp, site };
    const violation = this.#notePlace(write, place);
    raise(session.seen, write.key, place);
    raise(this.#acknowledged, write.key, place);
    return violation;
  }

  /** Returns the writes that a read at `latest` that begins now has to see. */
  getAcknowledged(): ReadonlyMap<string, WritePlace> {
    return new Map(this.#acknowledged);
  }

  checkRead(
    keys: readonly string[],
    versions: readonly (ReadVersion | undefined)[],
    {
      session,
      atLeast,
    }: {
      readonly session: SessionFrontier;
      readonly atLeast?: ReadonlyMap<string, WritePlace> | undefined;
    },
  ): CausalViolation | undefined {
    const returned: Frontier = new Map();
    const merged: Frontier = new Map();
    for (const [at, key] of keys.entries()) {
      const version = versions[at];
      if (version === undefined) continue;
      const write = this.#writes.get(getWriteId(version));
      if (write === undefined || write.key !== key)
        return {
          checker: 'ghost',
          message: `${key} has ${getWriteId(version)}, which was not written to it`,
        };
      const place = { id: write.id, stamp: version.stamp, site: version.site };
      const violation = this.#notePlace(write, place);
      if (violation !== undefined) return violation;
      returned.set(key, place);
      for (const [past, pastPlace] of write.past) raise(merged, past, pastPlace);
    }
    for (const key of keys) {
      const found = returned.get(key);
      const violation =
        this.#compare('torn', key, found, merged.get(key)) ??
        this.#compare('session', key, found, session.seen.get(key)) ??
        this.#compare('latest', key, found, atLeast?.get(key));
      if (violation !== undefined) return violation;
    }
    for (const frontier of [merged, returned])
      for (const [key, place] of frontier) raise(session.seen, key, place);
    return undefined;
  }

  /** Checks at the end that each site has all acknowledged writes. */
  checkFinal(
    keys: readonly string[],
    versions: readonly (ReadVersion | undefined)[],
  ): CausalViolation | undefined {
    for (const [at, key] of keys.entries()) {
      const version = versions[at];
      const found = version && {
        id: getWriteId(version),
        stamp: version.stamp,
        site: version.site,
      };
      const violation = this.#compare('visibility', key, found, this.#acknowledged.get(key));
      if (violation !== undefined) return violation;
    }
    return undefined;
  }

  #compare(
    checker: string,
    key: string,
    found: WritePlace | undefined,
    required: WritePlace | undefined,
  ): CausalViolation | undefined {
    if (required === undefined || (found !== undefined && compare(found, required) >= 0))
      return undefined;
    if (this.#excuses.isLost(required.id)) return undefined;
    if (found === undefined && this.#excuses.mayBeForgotten(key, required)) return undefined;
    return {
      checker,
      message: `${key} was ${format(found)}, and ${format(required)} came before`,
    };
  }

  #notePlace(write: KnownWrite, place: WritePlace): CausalViolation | undefined {
    const known = write.place;
    if (
      known !== undefined &&
      compare(known, place) !== 0 &&
      !this.#excuses.mayBeRepeated(write.key)
    )
      return {
        checker: 'twice',
        message: `${write.id} is ${format(known)} and ${format(place)}`,
      };
    write.place = place;
    for (const past of write.past.values()) {
      if (past.stamp >= place.stamp && !this.#excuses.mayBeRepeated(write.key))
        return {
          checker: 'order',
          message: `${format(place)} depends on ${format(past)}`,
        };
    }
    return undefined;
  }
}

/** Values of simulated writes are their ids. A tombstone has its id too. */
export function getWriteId({ value }: ReadVersion): string {
  return String(value);
}

function raise(frontier: Frontier, key: string, place: WritePlace): void {
  const known = frontier.get(key);
  if (known === undefined || compare(known, place) < 0) frontier.set(key, place);
}

function compare(a: WritePlace, b: WritePlace): number {
  return a.stamp - b.stamp || a.site - b.site;
}

function format(place: WritePlace | undefined): string {
  return place === undefined ? 'absent' : `${place.id} (${place.stamp}@${place.site})`;
}
