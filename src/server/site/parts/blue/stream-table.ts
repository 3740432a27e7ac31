/**
 * The blue streams of all origins at one site, by ordinal: what was received of each, and what
 * other sites may still lack.
 */
import { measurePlainData } from '../../../../values/estimate-bytes.ts';
import type { Origin, Origins } from '../../../service/records/origin.ts';
import type { BlueOperation } from '../../../service/records/records.ts';
import type { DigestFactory } from '../../../log/prefix-digest.ts';
import { IncomingStream, OutgoingStream } from './blue-streams.ts';
import type { MachineSizes } from '../../../log/machine-sizes.ts';

const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

export class StreamTable {
  readonly #site: Origin;
  readonly #origins: Origins;
  readonly #createDigest: DigestFactory | undefined;
  /** The slots of red logs stay empty, because those are no streams. */
  readonly #outgoing: OutgoingStream[] = [];
  readonly #incoming: IncomingStream[] = [];
  /** The stream of this site. */
  readonly ownIncoming: IncomingStream;
  readonly ownOutgoing: OutgoingStream;
  #leftBehind: ReadonlySet<Origin> = new Set();

  constructor(site: Origin, origins: Origins, createDigest?: DigestFactory) {
    this.#site = site;
    this.#origins = origins;
    this.#createDigest = createDigest;
    this.updateMembers();
    this.ownIncoming = this.getIncoming(site);
    this.ownOutgoing = this.getOutgoing(site);
    this.ownIncoming.sent = 0;
  }

  /** Origins were added, or their states have changed: other sites need the streams now. */
  updateMembers(): void {
    this.growTo(Math.max(this.#incoming.length, this.#origins.size));
    const others = this.#origins
      .getOthers(this.#site)
      .filter((item) => !this.#leftBehind.has(item));
    for (const [origin, outgoing] of this.#outgoing.entries())
      outgoing.setReceivers(
        this.#origins.isLog(origin) ? [] : others.filter((item) => item !== origin),
      );
    for (const origin of this.#origins.sites) {
      const { final } = this.#origins.get(origin);
      if (final !== undefined) this.getIncoming(origin).endAt(final.sequence);
    }
  }

  growTo(size: number): void {
    while (this.#incoming.length < size) {
      this.#incoming.push(new IncomingStream(this.#createDigest));
      this.#outgoing.push(new OutgoingStream());
    }
  }

  /** Keeps nothing for these sites. */
  leaveBehind(sites: ReadonlySet<Origin>): void {
    this.#leftBehind = sites;
    this.updateMembers();
  }

  isLeftBehind(site: Origin): boolean {
    return this.#leftBehind.has(site);
  }

  getIncoming(origin: Origin): IncomingStream {
    const stream = this.#incoming[origin];
    if (stream === undefined) throw new Error(`no site has ordinal ${origin} in this deployment`);
    return stream;
  }

  getOutgoing(origin: Origin): OutgoingStream {
    return this.#outgoing[origin] as OutgoingStream;
  }

  get incoming(): readonly IncomingStream[] {
    return this.#incoming;
  }

  /** Whether other sites may need what this site has. */
  get hasReceivers(): boolean {
    return this.#outgoing.length > 1;
  }

  // These two are called after every input. They are loops, because callbacks would be allocated at
  // each call.

  /** Whether another site lacks operations, or some are not visible here yet. */
  get isBusy(): boolean {
    for (const { isBehind } of this.#outgoing) if (isBehind) return true;
    return this.hasWaiting;
  }

  /** Whether operations are synced here and not visible yet. */
  get hasWaiting(): boolean {
    for (const { waiting } of this.#incoming) if (waiting.size > 0) return true;
    return false;
  }

  /** The greatest number of operations of one stream that a site lacks. */
  getBacklog(site: Origin): number {
    let most = 0;
    for (const outgoing of this.#outgoing) most = Math.max(most, outgoing.getBacklog(site));
    return most;
  }

  /** The number of operations of all streams that a site has confirmed. */
  getConfirmed(site: Origin): number {
    let sum = 0;
    for (const outgoing of this.#outgoing) sum += outgoing.getAcknowledged(site);
    return sum;
  }

  /** Whether there is a stream of which none of these sites keeps what is lacking here. */
  isGoneAt(sites: readonly Origin[]): boolean {
    return sites.length > 0 && this.#incoming.some((stream) => stream.isGoneAt(sites));
  }

  /** Own operations that no other site is known to have: those after `final`, if that is known. */
  getUnsent(final: number | null): readonly BlueOperation[] {
    const { ownOutgoing } = this;
    return ownOutgoing.getAfter(final ?? ownOutgoing.maxAcknowledged, Infinity);
  }

  /**
   * Returns the unsent operations that are in the rows. Returns none if they are too many for the
   * small part of a checkpoint.
   */
  saveUnsent({ maxSavedUnsent, onExceeded }: MachineSizes): readonly BlueOperation[] {
    const unsent = this.ownOutgoing.getAfter(this.ownOutgoing.maxAcknowledged, maxSavedUnsent + 1);
    if (unsent.length > maxSavedUnsent || measurePlainData(unsent) > MAX_UNSENT_BYTES) {
      onExceeded?.('maxSavedUnsent');
      return [];
    }
    const { applied } = this.ownIncoming;
    return unsent.filter(({ sequence }) => sequence <= applied);
  }

  /** The approximate memory of the operations that are not visible yet. */
  get waitingBytes(): number {
    let bytes = 0;
    for (const { waiting } of this.#incoming) bytes += measurePlainData(waiting.slice());
    return bytes;
  }

  // These two are called after every input, like those above.

  /** About how many bytes the operations take in memory that other sites may lack. */
  get retainedBytes(): number {
    let bytes = 0;
    for (const outgoing of this.#outgoing) bytes += outgoing.retainedBytes;
    return bytes;
  }

  /** Returns the same of the operations that are not visible at the end of a turn. */
  measureWaiting(): number {
    let bytes = 0;
    for (const incoming of this.#incoming) bytes += incoming.measureWaiting();
    return bytes;
  }

  /** The position in the site's own log from which on other sites may lack operations. */
  get retainedFrom(): number | undefined {
    let first: number | undefined;
    for (const { retainedFrom } of this.#outgoing) {
      if (retainedFrom !== undefined && (first === undefined || retainedFrom < first))
        first = retainedFrom;
    }
    return first;
  }
}
