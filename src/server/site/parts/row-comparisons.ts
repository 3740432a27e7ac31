/**
 * Compares rows of this site with those of the others, range by range, so that a divergence is
 * noticed within minutes and not by a client.
 *
 * 1. The site notes from now on which rows of a range change, and by which operations. It sends its
 *    stable vector, `seen`, to a peer.
 * 2. Once the peer covers `seen`, it answers with the sum of the digests of its rows, and with the
 *    vector `at` of that moment.
 * 3. Once this site covers `at`, it computes the sum of its own rows. If the sums differ, it asks
 *    for the digest of each row in the same way, which is also a second look.
 * 4. Rows that an operation beyond `at` has changed here are left out. All others must be the same.
 *
 * No row is blamed wrongly. A row is a function of the operations on it that were applied. Those
 * that `at` covers were applied at both sites. The peer has applied no others, because `at` is its
 * whole state. What else was applied here is not covered by `seen` either, so it came after the
 * noting began, and is noted. So neither site has to remember anything about the past.
 *
 * The peer keeps nothing, and both wait for a bounded time only. A comparison that finds no end is
 * dropped. The peer may have stopped, or may not know these messages.
 */
import { isInRange } from '../../service/records/read-range.ts';
import type { Effect, OrderPosition } from '../../service/records/effect.ts';
import type { Origin } from '../../service/records/origin.ts';
import type { KeyRange, RowsMessage } from '../../service/records/records.ts';
import { isCovered, type Vector } from '../../service/records/vector.ts';
import {
  MAX_COMPARED_ROWS,
  NOT_DIGESTED,
  sumDigests,
  type RowDigests,
} from '../../service/state/row-digests.ts';
import type { ComparisonLimits, SiteCore } from '../core/site-core.ts';
import type { PartMessage, SitePart } from '../core/site-part.ts';

const DEFAULT_LIMITS: ComparisonLimits = { intervalMs: 1000, maxRows: MAX_COMPARED_ROWS };

/** A comparison may take this many times as long as it is to the next one. */
const MAX_INTERVALS = 10;

/** After so many comparisons in a row without an end, the site goes on with another peer. */
const MAX_SILENCES = 3;

/** The comparison of all rows with one peer. */
interface Pass {
  readonly peer: Origin;
  /** The version of the state when it began. */
  readonly version: number;
  /** The tables that are not compared yet. */
  readonly tables: string[];
  /** The first key of the first of these tables that is not compared yet. */
  from: string | undefined;
  /** How many comparisons have found no end since the last one that did. */
  silences: number;
}

/** The stamps of the operations that have changed a row, by origin. The last one is enough. */
type RowChange = Map<Origin, number>;

interface Comparison {
  readonly peer: Origin;
  readonly range: KeyRange;
  readonly seen: Vector;
  readonly changes: Map<string, RowChange>;
  readonly isDetailed: boolean;
}

type Digest = Extract<RowsMessage, { kind: 'rows.digest' }>;
type Request = Extract<RowsMessage, { kind: 'rows.request' }>;

export class RowComparisons implements SitePart {
  readonly kinds: readonly PartMessage['kind'][] = ['rows.request', 'rows.digest'];
  readonly #core: SiteCore;
  readonly #digests: RowDigests;
  readonly #limits: ComparisonLimits;
  /** By peer: the version of the state when the last complete pass began. */
  readonly #compared = new Map<Origin, number>();
  #pass: Pass | undefined;
  #current: Comparison | undefined;
  /** When the next comparison begins, or when the present one has found no end. */
  #nextAtMs: number | undefined;
  /** The number of passes that have ended, with whatever result. The peers take turns. */
  #passes = 0;

  constructor(core: SiteCore, digests: RowDigests) {
    this.#core = core;
    this.#digests = digests;
    this.#limits = core.options.comparisons ?? DEFAULT_LIMITS;
  }

  /** Whether not all rows are compared with each other site. Then ticks are needed. */
  get isWaiting(): boolean {
    return this.#pass !== undefined || this.#findPeer() !== undefined;
  }

  tick(nowMs: number): void {
    this.#nextAtMs ??= nowMs + this.#limits.intervalMs;
    if (nowMs < this.#nextAtMs) return;
    if (this.#current !== undefined) this.#onSilence();
    this.#begin();
  }

  receive(from: Origin, message: PartMessage): void {
    if (message.kind === 'rows.request') this.#onRequest(from, message);
    else if (message.kind === 'rows.digest') this.#onDigest(from, message);
  }

  /** An effect of a row that is being compared is about to be applied. */
  noteChange({ table, key }: Effect, { entry, version }: OrderPosition): void {
    const { range, changes } = this.#current as Comparison;
    if (table !== range.table || !isInRange(range, key)) return;
    const change: RowChange = changes.get(key) ?? new Map<Origin, number>();
    changes.set(key, change.set(entry, version));
    if (changes.size <= this.#limits.maxRows) return;
    // A range with so many changes is compared in the next pass.
    this.#end();
    this.#goOnBehind(range);
  }

  // These compare the rows of a peer.

  #onRequest(from: Origin, { range, seen, isDetailed }: Request): void {
    const answer = (): void => {
      const { state, outputs, options } = this.#core;
      // A version of the service without the table has none of its rows: the version with it is not
      // in force where this site is.
      const isKnown = Object.hasOwn(options.service.tables, range.table);
      const before = isKnown ? this.#digests.findEnd(range) : range.before;
      const answered = toKeyRange(range.table, range.from, before);
      const rows = isKnown ? this.#digests.collect(answered) : new Map<string, number>();
      outputs.send(from, {
        kind: 'rows.digest',
        range: answered,
        at: [...state.stable],
        sum: sumDigests(rows.values()),
        ...(isDetailed && { rows: [...rows] }),
      });
    };
    this.#core.coverage.runWhenCovered(seen, {
      untilMs: this.#core.nowMs + this.#timeoutMs,
      run: answer,
      late: () => {},
    });
  }

  // These begin and end comparisons.

  #begin(): void {
    const { state, options } = this.#core;
    if (this.#pass !== undefined && !options.origins.isMember(this.#pass.peer)) this.#endPass();
    this.#pass ??= this.#beginPass();
    const [table] = this.#pass?.tables ?? [];
    if (this.#pass === undefined || table === undefined) return;
    const { peer, from } = this.#pass;
    const before = this.#digests.findEnd(toKeyRange(table, from, undefined));
    const comparison: Comparison = {
      peer,
      range: toKeyRange(table, from, before),
      seen: [...state.stable],
      changes: new Map<string, RowChange>(),
      isDetailed: false,
    };
    state.store.onApply = (effect, stamp) => this.noteChange(effect, stamp);
    this.#request(comparison);
  }

  #beginPass(): Pass | undefined {
    const { state, options } = this.#core;
    const peer = this.#findPeer();
    if (peer === undefined) return undefined;
    const tables = Object.keys(options.service.tables);
    return { peer, version: state.version, tables, from: undefined, silences: 0 };
  }

  /** Finds a peer with which not all of the present state is compared. */
  #findPeer(): Origin | undefined {
    const { state, options } = this.#core;
    const others = options.origins.getOthers(options.site);
    for (const place of others.keys()) {
      const peer = others[(place + this.#passes) % others.length] as Origin;
      if (this.#compared.get(peer) !== state.version) return peer;
    }
    return undefined;
  }

  #request(comparison: Comparison): void {
    const { peer, range, seen, isDetailed } = comparison;
    this.#current = comparison;
    this.#nextAtMs = this.#core.nowMs + this.#timeoutMs;
    this.#core.outputs.send(peer, { kind: 'rows.request', range, seen, isDetailed });
  }

  #onDigest(from: Origin, digest: Digest): void {
    const current = this.#current;
    if (current === undefined || !isAnswer(current, from, digest)) return;
    this.#core.coverage.runWhenCovered(digest.at, {
      untilMs: this.#nextAtMs ?? 0,
      run: () => {
        if (this.#current === current) this.#compare(current, digest);
      },
      late: () => {},
    });
  }

  #compare(current: Comparison, digest: Digest): void {
    const { range, at, rows } = digest;
    const own = this.#digests.collect(range);
    const isSame = sumDigests(own.values()) === digest.sum;
    if (!isSame && rows === undefined)
      return this.#request({ ...current, range, isDetailed: true });
    this.#end();
    const differing = isSame ? [] : findDiffering(own, new Map(rows), current.changes, at);
    const { peer } = current;
    const isLast = this.#goOnBehind(range);
    const compared = { peer, table: range.table, rows: own.size, differing, isLast };
    this.#core.options.observer?.onRowsCompared?.(compared);
  }

  #onSilence(): void {
    this.#end();
    if (this.#pass === undefined) return;
    this.#pass.silences += 1;
    if (this.#pass.silences === MAX_SILENCES) this.#endPass();
  }

  #end(): void {
    this.#current = undefined;
    this.#core.state.store.onApply = undefined;
    this.#nextAtMs = this.#core.nowMs + this.#limits.intervalMs;
  }

  /** The next comparison begins behind this range. Returns whether the pass has ended. */
  #goOnBehind({ before }: KeyRange): boolean {
    const pass = this.#pass as Pass;
    pass.silences = 0;
    pass.from = before;
    if (before === undefined) pass.tables.shift();
    if (pass.tables.length > 0) return false;
    this.#compared.set(pass.peer, pass.version);
    this.#endPass();
    return true;
  }

  #endPass(): void {
    this.#pass = undefined;
    this.#passes += 1;
  }

  get #timeoutMs(): number {
    return MAX_INTERVALS * this.#limits.intervalMs;
  }
}

function toKeyRange(table: string, from: string | undefined, before: string | undefined): KeyRange {
  return {
    table,
    ...(from !== undefined && { from }),
    ...(before !== undefined && { before }),
  };
}

/**
 * Whether the digest can be compared. It may be the answer to an earlier request: it counts as long
 * as all changes since are noted.
 */
function isAnswer({ peer, range, seen, isDetailed }: Comparison, from: Origin, digest: Digest) {
  const { table, from: first, before } = digest.range;
  return (
    from === peer &&
    table === range.table &&
    first === range.from &&
    (range.before === undefined || (before !== undefined && before <= range.before)) &&
    isDetailed === (digest.rows !== undefined) &&
    isCovered(seen, digest.at)
  );
}

/** Returns the keys of the rows that differ though no later operation has changed them. */
function findDiffering(
  own: ReadonlyMap<string, number>,
  theirs: ReadonlyMap<string, number>,
  changes: ReadonlyMap<string, RowChange>,
  at: Vector,
): string[] {
  return [...new Set([...own.keys(), ...theirs.keys()])].filter((key) => {
    const [here, there] = [own.get(key), theirs.get(key)];
    if (here === there || here === NOT_DIGESTED || there === NOT_DIGESTED) return false;
    for (const [entry, version] of changes.get(key) ?? [])
      if (version > (at[entry] ?? 0)) return false;
    return true;
  });
}
