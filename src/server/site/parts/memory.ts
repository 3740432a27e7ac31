/**
 * The memory of a site, which is bounded by counts of its own: rows, replies, logs, and what waits.
 * The use of the heap is no measure, because it has garbage in it, and differs between two runs of
 * the same inputs. What a red log's prefix decides, such as the window of certification, never
 * depends on this: then two sites would decide differently. A site without room takes no more, and
 * goes on where it was once it has more memory.
 */
import type { CorrectableError } from '../../../correctable/errors.ts';
import type { GeneratorOutcome } from '../../service/generator/generator-runner.ts';
import { isRemoval, type Effect } from '../../service/records/effect.ts';
import { memoryFullError } from '../../service/records/failures.ts';
import { FIELD_KINDS } from '../../service/fields/field-kinds.ts';
import type { Tables } from '../../service/tables.ts';
import type { MemoryLevel, MemoryPort, MemoryStatus } from '../core/memory-port.ts';
import type { SiteCore } from '../core/site-core.ts';
import type { Settling } from '../core/site-part.ts';
import type { RedPath } from '../lane/red-path.ts';
import type { BluePath } from './blue/blue-path.ts';
import type { OperationLookups } from './lookups/operation-lookup.ts';

/** The shares of the limit at which a site does something. */
const LOW_SHARE = 0.8;
/** How far the use has to fall below a share before the level is a lower one again. */
const SHARE_BELOW = 0.05;
/** From here on, updates are refused that do not make the site smaller. */
const REFUSING_SHARE = 0.9;
/** From here on, nothing of other sites is taken that takes memory. */
const STUCK_SHARE = 0.95;
/** From here on, removals are refused too. */
const FULL_SHARE = 1;
/**
 * Replies, the window and entries of logs have limits of their own, and go without an operator. So
 * they count for at most this share: alone they refuse nothing.
 */
const MAX_LIMITED_SHARE = 0.5;

/**
 * From this share on, changed rows are written to the store of rows, so that they can leave memory.
 */
const CHECKPOINT_SHARE = 1 / 8;

/** Below this share, memory is counted once in so many inputs: it costs some calls each time. */
const COUNTING_SHARE = 0.5;
const MAX_UNCOUNTED = 16;

/** An own update that has begun and is not in the rows yet, with the row that it may create. */
const BEGUN_BYTES = 1500;
/** A red request in flight, with its preview. */
const REQUEST_BYTES = 3000;
/** A record that waits at a gate. The log has its entry. */
const GATE_BYTES = 300;

export class SiteMemory implements MemoryPort, Settling {
  /** Any input may take memory. */
  readonly isDue = true;
  readonly #core: SiteCore;
  readonly #blue: BluePath;
  readonly #red: RedPath;
  readonly #lookups: OperationLookups;
  readonly #maxBytes: number;
  readonly #error: CorrectableError;
  #settledBytes = 0;
  /** The number of inputs since then. */
  #uncounted = MAX_UNCOUNTED;
  /** The number of own updates that have come since then. */
  #begun = 0;
  #level: MemoryLevel = 'enough';

  constructor(core: SiteCore, blue: BluePath, red: RedPath, lookups: OperationLookups) {
    this.#core = core;
    this.#blue = blue;
    this.#red = red;
    this.#lookups = lookups;
    this.#maxBytes = core.options.maxMemoryBytes ?? Infinity;
    this.#error = memoryFullError(this.#maxBytes);
  }

  get fullRejection(): CorrectableError | undefined {
    return this.#isBeyond(FULL_SHARE) ? this.#error : undefined;
  }

  /** Whether nothing of other sites is taken that takes memory. */
  get isStuck(): boolean {
    return this.#isBeyond(STUCK_SHARE);
  }

  /** Whether updates are refused that do not make the site smaller. */
  get isFull(): boolean {
    return this.#isBeyond(REFUSING_SHARE);
  }

  get redRejection(): CorrectableError | undefined {
    return this.isStuck ? this.#error : undefined;
  }

  isRejection(error: CorrectableError): boolean {
    return error === this.#error;
  }

  noteBegun(): void {
    this.#begun += 1;
  }

  findRejection({ choice }: GeneratorOutcome): CorrectableError | undefined {
    if (!this.isFull) return undefined;
    const { tables } = this.#core.options.service;
    const { effects = [] } = choice ?? {};
    const isGrowing = effects.some((effect) => !isShrinkingEffect(tables, effect));
    return isGrowing ? this.#error : undefined;
  }

  settle(): boolean {
    this.#uncounted += 1;
    if (this.#uncounted < MAX_UNCOUNTED && !this.#isBeyond(COUNTING_SHARE)) return false;
    this.#uncounted = 0;
    this.#begun = 0;
    this.#settledBytes = this.#judgedBytes;
    const level = this.#findLevel();
    if (level === this.#level) return false;
    this.#level = level;
    this.#core.options.observer?.onMemoryLevel?.(level, this.status);
    return true;
  }

  get bytes(): number {
    const { store } = this.#core.state;
    return store.bytes + this.#limitedBytes + this.#waitingBytes;
  }

  /** The bytes that a start needs for the checkpoint. Entries of logs are not in it. */
  get savedBytes(): number {
    return this.#core.state.store.bytesAtStart + this.#replyBytes + this.#windowBytes;
  }

  /** Whether so much has changed since the last checkpoint that another one should begin. */
  get isCheckpointDue(): boolean {
    return this.#core.state.store.dirtyBytes >= CHECKPOINT_SHARE * this.#maxBytes;
  }

  get status(): MemoryStatus {
    const { store } = this.#core.state;
    const use = {
      rows: store.bytes,
      replies: this.#replyBytes,
      window: this.#windowBytes,
      logs: this.#logBytes,
      waiting: this.#waitingBytes,
    };
    const maxBytes = this.#maxBytes === Infinity ? undefined : this.#maxBytes;
    return { use, bytes: this.bytes, maxBytes, tables: store.measureTables() };
  }

  /** What decides whether the site takes more. */
  get #judgedBytes(): number {
    const { store } = this.#core.state;
    const limited = Math.min(this.#limitedBytes, MAX_LIMITED_SHARE * this.#maxBytes);
    return store.bytes + limited + this.#waitingBytes;
  }

  get #limitedBytes(): number {
    return this.#replyBytes + this.#windowBytes + this.#logBytes;
  }

  #isBeyond(share: number): boolean {
    return this.#settledBytes + this.#begun * BEGUN_BYTES >= share * this.#maxBytes;
  }

  /** Operations in flight come and go, and must not raise an alarm each time. */
  #findLevel(): MemoryLevel {
    const wasFull = this.#level === 'full';
    const wasLow = this.#level !== 'enough';
    if (this.#isBeyond(REFUSING_SHARE - (wasFull ? SHARE_BELOW : 0))) return 'full';
    return this.#isBeyond(LOW_SHARE - (wasLow ? SHARE_BELOW : 0)) ? 'low' : 'enough';
  }

  // These run after each input. They are loops, because callbacks would be allocated at each call.

  get #replyBytes(): number {
    let bytes = this.#lookups.memoryBytes;
    for (const { order } of this.#red.lanes.all)
      bytes += order.outcomes.table.memoryBytes + order.certifier.outcomes.memoryBytes;
    return bytes;
  }

  get #windowBytes(): number {
    let bytes = 0;
    for (const { order } of this.#red.lanes.all) bytes += order.certifier.windowBytes;
    return bytes;
  }

  get #logBytes(): number {
    let bytes = this.#blue.streams.retainedBytes;
    for (const { node } of this.#red.lanes.all) bytes += node.retainedBytes;
    return bytes;
  }

  get #waitingBytes(): number {
    const { streams } = this.#blue;
    const { received, applied } = streams.ownIncoming;
    let bytes = streams.measureWaiting() + (received - applied) * BEGUN_BYTES;
    bytes += this.#red.requestCount * REQUEST_BYTES;
    for (const { order } of this.#red.lanes.all) bytes += order.waitingCount * GATE_BYTES;
    return bytes;
  }
}

/** Whether an effect leaves a row smaller than it was, or without it. */
function isShrinkingEffect(tables: Tables, effect: Effect): boolean {
  if (isRemoval(effect)) return true;
  const field = tables[effect.table]?.fields[effect.field];
  return (
    field !== undefined &&
    FIELD_KINDS[field.kind].shrinkingActions?.includes(effect.action) === true
  );
}
