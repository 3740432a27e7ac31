/**
 * The blue path of a site (Contrarian, VLDB 2018, §4, with one partition). An operation commits
 * at its own site, and its stream is replicated in order. It becomes visible at another site once
 * everything that it depends on is.
 *
 * With one partition a vector needs to name only operations, and never the passing of time. So
 * visibility waits for operations alone, and heartbeats only report how long a stream is.
 */
import type { Settling, SitePart } from '../../core/site-part.ts';
import type { Reply, Choice } from '../../../service/records/reply.ts';
import type {
  OperationId,
  BlueMessage,
  BlueOperation,
  StreamPoint,
} from '../../../service/records/records.ts';
import { getClient, getSequence } from '../../core/operation-id.ts';
import type { Origin, StreamEnd } from '../../../service/records/origin.ts';
import type { SiteCore } from '../../core/site-core.ts';
import { Fifo } from '../../../service/collections/fifo.ts';
import {
  MAX_OPERATIONS_PER_MESSAGE,
  DEFAULT_SEND_WINDOWS,
  type SendWindows,
} from '../../../log/send-windows.ts';
import type { IncomingStream, LoggedOperation, SavedStream } from './blue-streams.ts';
import { StreamTable } from './stream-table.ts';
import { isCovered, getMaxEntry, getStampOf } from '../../../service/records/vector.ts';
import { DEFAULT_MACHINE_SIZES, limitBatch } from '../../../log/machine-sizes.ts';

/** The parts from which a blue operation of this site is created. */
export interface BlueDraft {
  readonly id: OperationId;
  readonly reply: Reply;
  /** The slot that a named operation decides. */
  readonly hop: number | undefined;
  readonly choice: Choice;
}

/** Blue operations of this site and of the others. */
/** The kinds of all messages between the blue paths of two sites. */
const BLUE_KINDS = [
  'blue.operations',
  'blue.received',
  'blue.heartbeat',
  'blue.have',
  'blue.resend',
  'blue.gone',
] as const satisfies readonly BlueMessage['kind'][];

export class BluePath implements SitePart, Settling {
  readonly kinds = BLUE_KINDS;
  /** Whether operations are synced here and not visible yet. */
  isDue = true;
  readonly core: SiteCore;
  readonly streams: StreamTable;
  /** Operations of this site that are not synced, in the order in which they were stored. */
  readonly #unsynced = new Fifo<BlueOperation>();
  /** Operations of this site that are synced and not yet sent. */
  #unsent: BlueOperation[] = [];
  /** Sites whose operations were synced since the last acknowledgment to them. */
  readonly #unconfirmed = new Set<Origin>();
  readonly #onApplied: (operation: BlueOperation) => void;
  readonly #windows: SendWindows;
  /**
   * Set until another site has accepted this start. The stream may be an older copy, which must not
   * continue.
   */
  isHeld = false;

  constructor(core: SiteCore, onApplied: (operation: BlueOperation) => void) {
    this.core = core;
    this.#onApplied = onApplied;
    this.#windows = { ...DEFAULT_SEND_WINDOWS, ...core.options.windows };
    const { site, origins, createDigest } = core.options;
    this.streams = new StreamTable(site, origins, createDigest);
  }

  /** Sends a message that a site answers, even if it lacks nothing. */
  probe(site: Origin): void {
    this.#send(site, {
      kind: 'blue.heartbeat',
      sequence: this.streams.ownOutgoing.last,
    });
  }

  get isBusy(): boolean {
    return this.streams.isBusy;
  }

  onMembersChanged(): void {
    this.streams.updateMembers();
  }

  /** Whether all operations that the log held at the start are applied again. */
  get isRecovered(): boolean {
    return this.streams.ownIncoming.waiting.size === 0;
  }

  /** Whether this site may create operations. */
  get canOriginate(): boolean {
    const { origins, site } = this.core.options;
    return this.isRecovered && !this.isHeld && origins.get(site).state === 'open';
  }

  /** Returns the end of the synced part of an origin's stream. */
  getHeld(origin: Origin): StreamEnd {
    const { waiting, synced } = this.streams.getIncoming(origin);
    const last = waiting.size > 0 ? waiting.at(waiting.size - 1)?.vector : this.core.state.stable;
    return { sequence: synced, stamp: last?.[origin] ?? 0 };
  }

  /**
   * Whether another member is known to have everything that is synced here of an origin's stream.
   */
  isElsewhere(origin: Origin): boolean {
    return (
      this.streams.getOutgoing(origin).maxAcknowledged >= this.streams.getIncoming(origin).synced
    );
  }

  /** Commits an operation of this site. It counts once it is synced. */
  commit({ id, hop, choice, reply }: BlueDraft): BlueOperation {
    const { state, clock, nowMs, wallMs, options } = this.core;
    const vector = state.stable.slice();
    const { site } = options;
    vector[site] = clock.next(wallMs, getMaxEntry(vector));
    const { shadow, effects } = choice;
    const sequence = this.streams.ownIncoming.received + 1;
    // These are literals because copies of objects cost several times more on this hot path.
    const operation: BlueOperation =
      hop === undefined
        ? { id, site, shadow, effects, reply, sequence, vector }
        : { id, site, shadow, effects, reply, sequence, vector, hop };
    this.streams.ownIncoming.take(operation, nowMs);
    options.observer?.onCreated?.(operation);
    this.#unsynced.push(operation);
    const { redDelivered } = this.core;
    const entry = {
      kind: 'blue',
      operation,
      redDelivered,
      client: getClient(id),
      number: getSequence(id),
    } as const;
    this.core.store(entry, this.#onOwnSynced);
    this.core.rights?.onCommitted(operation);
    return operation;
  }

  /** Saves the streams by ordinal. */
  save(): SavedStream[] {
    return this.streams.incoming.map((stream) => stream.save());
  }

  /**
   * Restores saved streams. `retained` are operations from before the checkpoint that other sites
   * may lack.
   */
  load(streams: readonly SavedStream[], retained: readonly LoggedOperation[]): void {
    for (const origin of this.core.options.origins.sites) {
      const saved = streams[origin];
      // The origin has joined since.
      if (saved === undefined) continue;
      this.streams.getIncoming(origin).load(saved);
      const ofOrigin = retained.filter(({ operation }) => operation.site === origin);
      this.streams.getOutgoing(origin).load(saved.synced, ofOrigin);
    }
    this.streams.ownIncoming.sent = this.streams.ownIncoming.synced;
  }

  /** Takes an operation from the site's own log after a restart. */
  restore(logged: LoggedOperation): void {
    const { site, vector } = logged.operation;
    // A start reads the site's own log first. The record by which the origin joined may come later,
    // in the red log.
    this.streams.growTo(site + 1);
    const stream = this.streams.getIncoming(site);
    // The rows of a checkpoint may contain the operation already.
    if (logged.operation.sequence > stream.synced) stream.restore(logged.operation);
    this.streams.getOutgoing(site).add(logged.operation, logged.position, this.core.nowMs);
    if (site === this.core.options.site) this.core.clock.advanceTo(vector[site] ?? 0);
  }

  receive(from: Origin, message: BlueMessage): void {
    switch (message.kind) {
      case 'blue.operations':
        return this.#onOperations(from, message);
      case 'blue.received':
        if (!this.#hasSent(from, message.sequence)) return;
        return this.streams.ownOutgoing.acknowledge(from, message.sequence, this.core.nowMs);
      case 'blue.heartbeat':
        return this.#onHeartbeat(from, message.sequence);
      case 'blue.have':
        return this.onHave(from, message);
      case 'blue.resend':
        return this.#sendFrom(from, message);
      case 'blue.gone':
        return this.#onGone(from, message);
    }
  }

  /**
   * After a restart: asks other sites for their lengths of the streams, and reports the own ones.
   * Only then is it known that a second site has the operations on which red records depend.
   */
  sendGreetings(): void {
    if (!this.streams.incoming.some(({ synced }) => synced > 0)) return;
    for (const site of this.core.options.origins.getOthers(this.core.options.site))
      this.#sendHave(site, true);
  }

  /** Returns the end of a stream here. Of the own stream that is the synced end. */
  getEnd(origin: Origin): StreamPoint {
    const stream = this.streams.getIncoming(origin);
    if (origin !== this.core.options.site) return stream.end;
    return { length: stream.synced, digest: stream.getDigest(stream.synced) };
  }

  /** Returns the digest of the first operations of a stream. It is `undefined` if it is unknown. */
  getDigest(origin: Origin, length: number): number | undefined {
    return this.streams.getIncoming(origin).getDigest(length);
  }

  /** Applies all operations that have become visible. Returns whether there were any. */
  settle(): boolean {
    let moved = false;
    for (const site of this.core.options.origins.sites) {
      const stream = this.streams.getIncoming(site);
      const { waiting } = stream;
      for (
        let next = waiting.first;
        next !== undefined && this.isVisible(next, site);
        next = waiting.first
      ) {
        stream.shiftWaiting();
        this.core.state.applyBlue(next);
        this.core.options.observer?.onApplied?.(next, this.core.state);
        this.#onApplied(next);
        moved = true;
      }
    }
    this.isDue = this.streams.hasWaiting;
    return moved;
  }

  /** Whether an operation waits for operations of a red log. */
  waitsForLog(log: Origin): boolean {
    const { state, options } = this.core;
    const applied = getStampOf(state.stable, log);
    return options.origins.sites.some((site) => {
      const next = this.streams.getIncoming(site).waiting.first;
      return next !== undefined && getStampOf(next.vector, log) > applied;
    });
  }

  /** Sends what was synced during one input, and confirms what was received. */
  flush(): void {
    while (this.#unsent.length > 0) {
      const isAll = this.#unsent.length <= MAX_OPERATIONS_PER_MESSAGE;
      const operations = isAll ? this.#unsent : this.#unsent.slice(0, MAX_OPERATIONS_PER_MESSAGE);
      this.#unsent = isAll ? [] : this.#unsent.slice(MAX_OPERATIONS_PER_MESSAGE);
      const message = this.#createMessage(this.streams.ownIncoming, operations);
      this.streams.ownIncoming.sent = (operations.at(-1) as BlueOperation).sequence;
      for (const site of this.core.options.origins.members) {
        if (site === this.core.options.site || this.streams.isLeftBehind(site)) continue;
        if (!this.streams.ownOutgoing.isFarBehind(site, this.#windows.maxSent))
          this.#send(site, message);
      }
    }
    if (this.#unconfirmed.size === 0) return;
    for (const site of this.#unconfirmed) this.#confirm(site);
    this.#unconfirmed.clear();
  }

  /** Asks peers that have been silent for long how much they have. */
  tick(): void {
    const { nowMs, options } = this.core;
    const requested = new Set<Origin>();
    for (const origin of options.origins.sites) {
      const outgoing = this.streams.getOutgoing(origin);
      for (const site of outgoing.takeSilentSites(nowMs, options.resendAfterMs)) {
        if (origin === options.site)
          this.#send(site, { kind: 'blue.heartbeat', sequence: outgoing.last });
        else requested.add(site);
      }
    }
    for (const site of requested) this.#sendHave(site, true);
  }

  /**
   * The last own operation in the stable snapshot, and the last one that another site has synced
   * too.
   */
  get ownProgress(): { readonly applied: number; readonly durable: number } {
    const { applied } = this.streams.ownIncoming;
    return {
      applied,
      durable:
        this.core.options.origins.members.length === 1
          ? applied
          : this.streams.ownOutgoing.maxAcknowledged,
    };
  }

  isVisible(operation: BlueOperation, site: Origin): boolean {
    return isCovered(
      operation.vector,
      this.core.state.stable,
      site,
      this.core.options.origins.finals,
    );
  }

  /**
   * One function is enough for all entries, because they are synced in the order in which they were
   * stored.
   */
  readonly #onOwnSynced = (position: number): void => {
    const operation = this.#unsynced.shift() as BlueOperation;
    this.streams.ownOutgoing.add(operation, position, this.core.nowMs);
    this.streams.ownIncoming.onSynced(operation);
    this.isDue = true;
    if (this.streams.hasReceivers) this.#unsent.push(operation);
  };

  /** Creates a message with operations of a stream, and the digest of all before them. */
  #createMessage(stream: IncomingStream, operations: readonly BlueOperation[]): BlueMessage {
    const digest = stream.getDigest((operations[0] as BlueOperation).sequence - 1);
    return digest === undefined
      ? { kind: 'blue.operations', operations }
      : { kind: 'blue.operations', operations, digest };
  }

  /**
   * Whether the own stream has got this far. If another site has more of it, that came from another
   * node of this site.
   */
  #hasSent(from: Origin, sequence: number): boolean {
    const { synced } = this.streams.ownIncoming;
    if (sequence <= synced) return true;
    const name = this.core.options.origins.getName(from);
    const message = `${name} has ${sequence} operations of this site, and there are ${synced} here`;
    this.core.outputs.report({ kind: 'forked', message });
    return false;
  }

  /** Whether operations continue the stream that is here, as far as both are known. */
  #continues({ operations, digest }: BlueMessage & { kind: 'blue.operations' }): boolean {
    const { site, sequence } = operations[0] as BlueOperation;
    const here = this.streams.getIncoming(site).getDigest(sequence - 1);
    if (here === undefined || digest === undefined || here === digest) return true;
    const message = `its first ${sequence - 1} operations are not those that are here`;
    this.core.outputs.report(
      site === this.core.options.site
        ? { kind: 'forked', message }
        : { kind: 'fork', origin: site, message },
    );
    return false;
  }

  #onOperations(from: Origin, message: BlueMessage & { kind: 'blue.operations' }): void {
    if (!this.#continues(message)) return;
    const { operations } = message;
    let isNew = false;
    for (const operation of operations) {
      const origin = operation.site;
      const stream = this.streams.getIncoming(origin);
      stream.noteAnnounced(operation.sequence);
      if (operation.sequence > stream.received + 1) return this.#requestMissing(from, origin);
      if (operation.sequence <= stream.received || origin === this.core.options.site) continue;
      // An operation that another site passes on was accepted there.
      if (from === origin && !this.core.acceptsStamp(origin, operation.vector[origin] ?? 0)) return;
      isNew = true;
      stream.take(operation, this.core.nowMs);
      this.core.store({ kind: 'blue', operation }, (position) => {
        stream.onSynced(operation);
        this.isDue = true;
        this.streams.getOutgoing(origin).add(operation, position, this.core.nowMs);
        this.#unconfirmed.add(origin);
      });
    }
    const origin = operations[0]?.site;
    if (origin !== undefined) this.#requestMissing(from, origin);
    // Confirms again, because the last confirmation may have been lost.
    if (!isNew) this.#confirm(from);
  }

  /** Requests missing operations of a stream from a site, unless they were requested already. */
  #requestMissing(from: Origin, origin: Origin): void {
    const { nowMs, options } = this.core;
    const stream = this.streams.getIncoming(origin);
    if (
      origin === options.site ||
      !stream.takeRequest(nowMs, options.resendAfterMs, this.#windows.maxRequested)
    )
      return;
    this.#send(from, { kind: 'blue.resend', origin, after: stream.received });
  }

  #onHeartbeat(from: Origin, sequence: number): void {
    const stream = this.streams.getIncoming(from);
    stream.noteAnnounced(sequence);
    if (stream.received < sequence) this.#requestMissing(from, from);
    else this.#confirm(from);
  }

  /**
   * A site reports its length of each stream. Operations that it lacks, or that are lacking here,
   * need not come from their origin.
   */
  onHave(from: Origin, { synced, isRequest }: BlueMessage & { kind: 'blue.have' }): void {
    const { nowMs, options } = this.core;
    if (!this.#hasSent(from, synced[options.site] ?? 0)) return;
    for (const origin of options.origins.sites) {
      const sequence = synced[origin] ?? 0;
      this.streams.getOutgoing(origin).acknowledge(from, sequence, nowMs);
      const stream = this.streams.getIncoming(origin);
      stream.noteAnnounced(sequence);
      if (stream.received < sequence) this.#requestMissing(from, origin);
    }
    if (isRequest) this.#sendHave(from, false);
  }

  #sendHave(site: Origin, isRequest: boolean): void {
    this.#send(site, {
      kind: 'blue.have',
      synced: this.streams.incoming.map(({ synced }) => synced),
      isRequest,
    });
  }

  #onGone(from: Origin, { origin, after }: BlueMessage & { kind: 'blue.gone' }): void {
    const { origins, site } = this.core.options;
    const stream = this.streams.getIncoming(origin);
    if (!stream.noteGone(from, after)) return;
    const keeper = stream.findKeeper(origins.getOthers(site));
    if (keeper !== undefined) this.#requestMissing(keeper, origin);
  }

  #sendFrom(site: Origin, { origin, after }: BlueMessage & { kind: 'blue.resend' }): void {
    if (!this.streams.getOutgoing(origin).hasAfter(after))
      return this.#send(site, { kind: 'blue.gone', origin, after });
    const missing = this.streams.getOutgoing(origin).getAfter(after, this.#windows.maxRequested);
    const stream = this.streams.getIncoming(origin);
    const { sizes = DEFAULT_MACHINE_SIZES } = this.core.options;
    const maxBatch = limitBatch(sizes, missing.length);
    for (let start = 0; start < missing.length; start += maxBatch)
      this.#send(site, this.#createMessage(stream, missing.slice(start, start + maxBatch)));
  }

  #confirm(site: Origin): void {
    this.#send(site, {
      kind: 'blue.received',
      sequence: this.streams.getIncoming(site).synced,
    });
  }

  #send(to: Origin, message: BlueMessage): void {
    this.core.outputs.send(to, message);
  }
}
