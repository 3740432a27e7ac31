/** One site as a pure state machine: its replica and its node of the red log, wired to each other. */
import type { LogMessage, LogOutput, RedLog } from '../log/log.ts';
import { SequencedLog } from '../log/sequenced-log.ts';
import type { SequencedLogOptions } from '../log/sequenced-log.ts';
import { NOTHING_STORED } from '../log/stored-site.ts';
import type { Cut, LogPlaces, SavedSite, SiteLogName, StoredSite } from '../log/stored-site.ts';
import type { Section } from '../records/checkpoint.ts';
import { MessageDoor } from '../messages/message-door.ts';
import type { MessageDoorOptions } from '../messages/message-door.ts';
import { ONLY_PARTITION } from '../messages/envelope.ts';
import type { Envelope, SiteMessage } from '../messages/envelope.ts';
import type { Origin } from '../records/origin.ts';
import type { RedRecord } from '../records/records.ts';
import { Replica } from '../replica/replica.ts';
import type { StoredReplica } from '../replica/replica.ts';
import type { ReplicaOptions } from '../replica/core/replica-port.ts';
import type { ReplicaOutput, Submission } from '../records/submissions.ts';

/** What a site wants done. */
export type SiteOutput =
  | { readonly kind: 'send'; readonly envelope: Envelope }
  | { readonly kind: 'store'; readonly log: SiteLogName; readonly entries: readonly unknown[] }
  | Extract<ReplicaOutput, { kind: 'view' | 'failed' }>;

/** How a site is set up. */
export interface SiteOptions extends ReplicaOptions {
  /** Which deployment the site is of: the same at all its sites and at no other's. */
  readonly deployment: string;
  /** The site that sequences the red log. */
  readonly redLeader: Origin;
  /** Told of messages that were not taken. */
  readonly onRefused?: MessageDoorOptions['onRefused'];
}

/**
 * One site. After each input, `takeOutputs` says what has to be done, in order. Inputs come with the time by a clock that
 * only runs forward, and by the one that people set; that is the same one unless it is given.
 */
export class SiteMachine {
  readonly replica: Replica;
  readonly log: RedLog<RedRecord>;
  /** Through which messages leave and come. */
  readonly door: MessageDoor;
  #outputs: SiteOutput[] = [];
  /** The time of the last input. */
  #nowMs: number;

  constructor(options: SiteOptions, stored: StoredSite = NOTHING_STORED, nowMs = 0, wallMs = nowMs) {
    this.#nowMs = nowMs;
    const { site, origins, deployment, start, redLeader, resendAfterMs, windows, onRefused } = options;
    const self = { site, partition: ONLY_PARTITION };
    this.door = this.createDoor({ deployment, origins, self, term: start, onRefused });
    const { sections = {}, rest } = stored.checkpoint ?? {};
    const saved = rest as SavedSite | undefined;
    const checkpoint = saved && { sections, rest: saved.replica };
    this.replica = this.createReplica(options, { ...stored.local, checkpoint }, nowMs, wallMs);
    this.log = this.createLog({
      site,
      sites: origins.sites,
      leader: redLeader,
      epoch: start,
      ...stored.red,
      saved: saved?.log,
      committed: this.replica.redProven,
      resendAfterMs,
      windows,
    });
    this.#settle();
  }

  /** Whether something is under way that a lost message could hold up: then ticks are needed. */
  get busy(): boolean {
    return this.replica.busy || this.log.busy;
  }

  /** When a tick is due even if nothing happens; undefined if there is no such time. */
  get wakeAtMs(): number | undefined {
    return this.replica.wakeAtMs;
  }

  /** The parts of the state that are saved row by row. */
  get sections(): Readonly<Record<string, Section>> {
    return this.replica.sections;
  }

  /** What makes a checkpoint of the sections as they are now. */
  cut(): Cut {
    const rest: SavedSite = { replica: this.replica.save(), log: this.log.save() };
    return { rest, contained: { local: this.replica.synced, red: this.replica.redDelivered } };
  }

  /** Entries from these places on are needed even where a checkpoint contains them: other sites may lack them. */
  get keptFrom(): LogPlaces {
    return { local: this.replica.keptFrom, red: this.log.keptFrom };
  }

  /** How many entries of either log are kept because another site lacks them. */
  get backlog(): number {
    return Math.max(this.replica.backlog, this.log.backlog);
  }

  /** What has to be done since the last call, in order. */
  takeOutputs(): SiteOutput[] {
    this.#settle();
    const outputs = this.#outputs;
    if (outputs.length > 0) this.#outputs = [];
    return outputs;
  }

  /** What a submission leads to is done when the outputs are taken: once for several that came together. */
  submit(submission: Submission, nowMs: number, wallMs = nowMs): void {
    this.#nowMs = nowMs;
    this.replica.submit(submission, nowMs, wallMs);
  }

  receive(envelope: Envelope, nowMs: number, wallMs = nowMs): void {
    this.#nowMs = nowMs;
    this.replica.pass(nowMs, wallMs);
    const message = this.door.open(envelope);
    if (message === undefined) {
      for (const answer of this.door.takeAnswers()) this.#outputs.push({ kind: 'send', envelope: answer });
      return;
    }
    const from = envelope.from.site;
    this.replica.hear(from, envelope.sentAtMs);
    if (isLogMessage(message)) this.#receiveLog(from, message, nowMs);
    else this.replica.receive(from, message);
    this.#settle();
  }

  /** Nobody waits any more for what was submitted under this token: it ends at once where nothing of it has left. */
  abandon(token: number): void {
    this.replica.abandon(token);
    this.#settle();
  }

  /** The first `length` entries of one of the site's logs are synced. */
  onSynced(log: SiteLogName, length: number, nowMs: number, wallMs = nowMs): void {
    this.#nowMs = nowMs;
    this.replica.pass(nowMs, wallMs);
    if (log === 'red') this.log.onSynced(length);
    else this.replica.onSynced(length, nowMs, wallMs);
    this.#settle();
  }

  /** To be called now and then while `busy`. */
  tick(nowMs: number, wallMs = nowMs): void {
    this.#nowMs = nowMs;
    this.replica.tick(nowMs, wallMs);
    this.log.tick(nowMs);
    this.#settle();
  }

  protected createReplica(options: SiteOptions, stored: StoredReplica, nowMs: number, wallMs: number): Replica {
    return new Replica(options, stored, nowMs, wallMs);
  }

  /** Where another engine of the red log is plugged in. */
  protected createLog(options: SequencedLogOptions<RedRecord>): RedLog<RedRecord> {
    return new SequencedLog(options);
  }

  protected createDoor(options: MessageDoorOptions): MessageDoor {
    return new MessageDoor(options);
  }

  /** A record with a wild stamp is not taken into the log: sent again, it will be once its site's clock is right. */
  #receiveLog(from: Origin, message: LogMessage<RedRecord>, nowMs: number): void {
    if (recordsOf(message).every((record) => this.#accepts(from, record))) this.log.receive(from, message, nowMs);
  }

  /** What the leader passes on of others, it has accepted. */
  #accepts(from: Origin, record: RedRecord): boolean {
    if (record.kind !== 'operation' || record.site !== from) return true;
    return this.replica.acceptsStamp(from, record.clock);
  }

  /** Hands outputs of one part to the other until neither has any. */
  #settle(): void {
    for (let moved = true; moved;) {
      const replicaOutputs = this.replica.takeOutputs();
      for (const output of replicaOutputs) this.#onReplicaOutput(output);
      const logOutputs = this.log.takeOutputs();
      for (const output of logOutputs) this.#onLogOutput(output);
      moved = replicaOutputs.length > 0 || logOutputs.length > 0;
    }
  }

  #onReplicaOutput(output: ReplicaOutput): void {
    if (output.kind === 'propose') this.log.propose(output.record, this.#nowMs);
    else if (output.kind === 'withdraw') this.#withdraw(output.record);
    else if (output.kind === 'send') this.#send(output.to, output.message);
    else this.#outputs.push(output);
  }

  #withdraw(record: RedRecord): void {
    const { red } = this.replica;
    if (this.log.withdraw(record)) red.withdrawn(record);
    else red.notWithdrawn(record);
  }

  #onLogOutput(output: LogOutput<RedRecord>): void {
    if (output.kind === 'deliver') this.replica.deliver(output.records);
    else if (output.kind === 'store') this.#outputs.push({ kind: 'store', log: 'red', entries: output.entries });
    else this.#send(output.to, output.message);
  }

  #send(to: Origin, message: SiteMessage): void {
    this.#outputs.push({ kind: 'send', envelope: this.door.seal(to, message) });
  }
}

/** Whether what a message leads to has to be written down: without room a site takes only the others. */
export function needsRoom({ message }: Envelope): boolean {
  switch (message.kind) {
    case 'log.append':
      return message.entries.length > 0;
    case 'log.propose':
    case 'blue.operations':
    case 'slot.ask':
    case 'slot.told':
      return true;
    case 'blue.have':
    case 'blue.heartbeat':
    case 'blue.received':
    case 'blue.resend':
    case 'log.appended':
    case 'term.passed':
      return false;
  }
}

function isLogMessage(message: SiteMessage): message is LogMessage<RedRecord> {
  return message.kind.startsWith('log.');
}

function recordsOf(message: LogMessage<RedRecord>): RedRecord[] {
  if (message.kind === 'log.propose') return [message.record];
  return message.kind === 'log.append' ? message.entries.map(({ record }) => record) : [];
}
