/** One site as a pure state machine: its replica and its node of the red log, wired to each other. */
import type { LogEntry, LogMessage, LogOutput } from '../log/log.ts';
import { SequencedLog } from '../log/sequenced-log.ts';
import type { SequencedLogOptions } from '../log/sequenced-log.ts';
import type { BlueMessage, LocalEntry, RedRecord, SlotMessage } from './records.ts';
import { Replica } from './replica.ts';
import type { ReplicaOptions, ReplicaOutput, Submission } from './replica-port.ts';

/** What sites send each other. */
export type SiteMessage = BlueMessage | SlotMessage | LogMessage<RedRecord>;

/** What a site keeps: entries of its own log, and of the red log. */
export interface StoredEntries {
  readonly local: readonly LocalEntry[];
  readonly red: readonly LogEntry<RedRecord>[];
}

/** What a site wants done. */
export type SiteOutput =
  | { readonly kind: 'send'; readonly to: number; readonly message: SiteMessage }
  | { readonly kind: 'store'; readonly log: keyof StoredEntries; readonly entries: readonly unknown[] }
  | Extract<ReplicaOutput, { kind: 'view' | 'failed' }>;

/** How a site is set up. */
export interface SiteOptions extends ReplicaOptions {
  /** Index of the site that sequences the red log. */
  readonly redLeader: number;
}

const NOTHING_STORED: StoredEntries = { local: [], red: [] };

/** One site. After each input, `takeOutputs` says what has to be done, in order. */
export class SiteMachine {
  readonly replica: Replica;
  readonly log: SequencedLog<RedRecord>;
  #outputs: SiteOutput[] = [];

  constructor(options: SiteOptions, stored: StoredEntries = NOTHING_STORED, nowMs = 0) {
    const { site, sites, epoch, redLeader, resendAfterMs } = options;
    this.replica = this.createReplica(options, stored.local, nowMs);
    this.log = this.createLog({
      site,
      siteCount: sites.length,
      leader: redLeader,
      epoch,
      entries: stored.red,
      resendAfterMs,
    });
    this.#settle(nowMs);
  }

  /** Whether something is under way that a lost message could hold up: then ticks are needed. */
  get busy(): boolean {
    return this.replica.busy || this.log.busy;
  }

  /** What has to be done since the last call, in order. */
  takeOutputs(): SiteOutput[] {
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  submit(submission: Submission, nowMs: number): void {
    this.replica.submit(submission, nowMs);
    this.#settle(nowMs);
  }

  receive(from: number, message: SiteMessage, nowMs: number): void {
    if (isLogMessage(message)) this.#receiveLog(from, message, nowMs);
    else this.replica.receive(from, message, nowMs);
    this.#settle(nowMs);
  }

  /** The first `length` entries of one of the site's logs are synced. */
  onSynced(log: keyof StoredEntries, length: number, nowMs: number): void {
    if (log === 'red') this.log.onSynced(length);
    else this.replica.onSynced(length, nowMs);
    this.#settle(nowMs);
  }

  /** To be called now and then while `busy`. */
  tick(nowMs: number): void {
    this.replica.tick(nowMs);
    this.log.tick(nowMs);
    this.#settle(nowMs);
  }

  protected createReplica(options: SiteOptions, entries: readonly LocalEntry[], nowMs: number): Replica {
    return new Replica(options, entries, nowMs);
  }

  protected createLog(options: SequencedLogOptions<RedRecord>): SequencedLog<RedRecord> {
    return new SequencedLog(options);
  }

  /** A record with a stamp too far ahead is not taken into the log: sent again, it will be when its time has come. */
  #receiveLog(from: number, message: LogMessage<RedRecord>, nowMs: number): void {
    this.replica.nowMs = nowMs;
    if (recordsOf(message).every((record) => this.#accepts(record))) this.log.receive(from, message, nowMs);
  }

  #accepts(record: RedRecord): boolean {
    return record.kind !== 'operation' || this.replica.acceptsStamp(record.site, record.clock);
  }

  /** Hands outputs of one part to the other until neither has any. */
  #settle(nowMs: number): void {
    for (let moved = true; moved;) {
      const replicaOutputs = this.replica.takeOutputs();
      for (const output of replicaOutputs) this.#onReplicaOutput(output, nowMs);
      const logOutputs = this.log.takeOutputs();
      for (const output of logOutputs) this.#onLogOutput(output, nowMs);
      moved = replicaOutputs.length > 0 || logOutputs.length > 0;
    }
  }

  #onReplicaOutput(output: ReplicaOutput, nowMs: number): void {
    if (output.kind === 'propose') this.log.propose(output.record, nowMs);
    else if (output.kind === 'store') this.#outputs.push({ kind: 'store', log: 'local', entries: [output.entry] });
    else this.#outputs.push(output);
  }

  #onLogOutput(output: LogOutput<RedRecord>, nowMs: number): void {
    if (output.kind === 'deliver') this.replica.deliver(output.record, nowMs);
    else if (output.kind === 'store') this.#outputs.push({ kind: 'store', log: 'red', entries: output.entries });
    else this.#outputs.push(output);
  }
}

function isLogMessage(message: SiteMessage): message is LogMessage<RedRecord> {
  return message.kind.startsWith('log.');
}

function recordsOf(message: LogMessage<RedRecord>): RedRecord[] {
  if (message.kind === 'log.propose') return [message.record];
  return message.kind === 'log.append' ? message.entries.map(({ record }) => record) : [];
}
