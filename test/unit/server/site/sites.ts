/**
 * Sites whose disks sync, and whose messages arrive, only when the test triggers it: for
 * step-by-step tests.
 */
import type { MemberChange, RedRecord } from '../../../../src/server/service/records/records.ts';
import {
  SEQUENCED_MESSAGE_FORMAT,
  type SequencedMessage,
} from '../../../../src/server/log/sequenced/sequenced-messages.ts';
import {
  getRedKind,
  LOG_KINDS,
  type LogKind,
  type PartitionLogKind,
} from '../../../../src/server/log/local-log.ts';
import { getLogKinds, type LogCounts } from '../../../../src/server/log/log-positions.ts';
import { RULES_VERSION } from '../../../../src/server/service/records/deployment-version.ts';
import { EnvelopeCodec } from '../../../../src/server/site/wire/envelope-codec.ts';
import type { LogMessage } from '../../../../src/server/log/red-log.ts';
import type { Envelope, SiteMessage } from '../../../../src/server/site/wire/envelope.ts';
import type { Answer } from '../../../../src/server/site/answer.ts';
import type { LostRight, MemberEvent } from '../../../../src/server/site/site-event.ts';
import type { SiteEvent } from '../../../../src/server/site/ready.ts';
import { Origins, type Origin } from '../../../../src/server/service/records/origin.ts';
import type {
  SubmissionIdentity,
  Submission,
} from '../../../../src/server/site/core/submissions.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { getOperationPlans } from '../../../../src/server/service/operation-plan.ts';
import {
  getRecoveredLog,
  type RecoveredState,
} from '../../../../src/server/log/recovered-state.ts';
import { Site } from '../../../../src/server/site/site.ts';
import type { SiteOptions } from '../../../../src/server/site/site-options.ts';
import { getSiteIndex, siteAt } from '../../../support/origins.ts';

/** What these sites send each other: their red log is the one that is built in. */
export type SentMessage = Exclude<SiteMessage, LogMessage> | SequencedMessage<RedRecord>;

export interface Sent {
  readonly from: number;
  readonly to: number;
  readonly message: SentMessage;
  /** It all, as its bytes say it. */
  readonly envelope: Envelope;
}

/** What came of a submission: `undefined` until it has ended. */
export interface Outcome {
  value?: unknown;
  code?: string;
  /** Of a failure. */
  retryable?: boolean;
  seen?: readonly number[] | undefined;
}

/** Options of the sites, and the epoch of the n-th start of all: its number unless given. */
export type Given = Partial<Omit<SiteOptions, 'epoch'>> & {
  readonly createEpoch?: (count: number) => number;
  /** Options of one of the sites, at each of its starts. */
  readonly getOwnOptions?: (site: number) => Partial<SiteOptions>;
};

/** What a site has stored, by log. */
export interface StoredLogs {
  local: unknown[];
  red: unknown[];
  [partition: PartitionLogKind]: unknown[];
}

/** The home by its place, as all sites here. */
type Named = Pick<SubmissionIdentity, 'id'> &
  Partial<Omit<SubmissionIdentity, 'home'>> & { readonly home?: number };

/** What a site finds at a later start: its checkpoint, and its logs from where they began. */
function continueFrom(
  { checkpoint, local, red, partitions }: RecoveredState,
  logs: RecoveredState,
): RecoveredState {
  return {
    checkpoint,
    local: { start: local.start, entries: logs.local.entries.slice(local.start) },
    red: { start: red.start, entries: logs.red.entries.slice(red.start) },
    partitions: partitions?.map(({ start }, index) => ({
      start,
      entries: logs.partitions?.[index]?.entries.slice(start) ?? [],
    })),
  };
}

const CODEC = new EnvelopeCodec(SEQUENCED_MESSAGE_FORMAT);
export const NAMES = ['h', 's', 't', 'u', 'v'] as const;
const LIMITS = {
  maxAttempts: 1,
  resendAfterMs: 10,
  reachTimeoutMs: 100,
  sessionTimeoutMs: 100,
  maxClockSkewMs: 1000,
  // Only tests of comparisons have them: no other test expects their messages.
  comparisons: { intervalMs: Infinity, maxRows: 1 },
};

export class Sites {
  readonly machines: (Site | undefined)[];
  /** Messages on their way. */
  sent: Sent[] = [];
  nowMs = 0;
  /** By site: how far its clock is ahead. */
  readonly aheadMs: number[];
  readonly quarantined: [site: number, peer: number][] = [];
  readonly origins: Origins;
  /** Sites that take nothing more of the red log, and why. */
  readonly halted: [site: number, reason: string][] = [];
  /** Nodes that have ended as forks, and nodes that a site no longer listens to for that reason. */
  readonly forked: [site: number, message: string][] = [];
  readonly forkedPeers: [site: number, peer: number, message: string][] = [];
  /** Sites that have stopped since they need a newer version. */
  readonly outdated: [site: number, message: string][] = [];
  /** Sites that have gone on without hearing another one. */
  readonly alone: number[] = [];
  readonly #service: Service;
  protected value: Given;
  readonly #siteCount: number;
  /** What sites say of who the members are. */
  readonly memberEvents: [site: number, output: MemberEvent][] = [];
  /** Rights that were lost with closed sites, by the site that has reported them. */
  readonly lostRights: [site: number, origin: Origin, lost: readonly LostRight[]][] = [];
  protected readonly logs: StoredLogs[];
  protected readonly synced: LogCounts[];
  /** By site, start and serial, which are counted from 1 at each start. */
  readonly #outcomes = new Map<string, Outcome>();
  /** With what sites have begun that had a checkpoint. */
  readonly #begun = new Map<number, RecoveredState>();
  readonly #serials: number[];
  readonly #starts: number[];
  #serial = 0;
  /** Starts of all sites. */
  #count = 0;

  constructor(service: Service, siteCount = 3, value: Given = {}) {
    this.#service = service;
    this.#siteCount = siteCount;
    this.origins = Origins.create(NAMES.slice(0, siteCount), value.partitions?.names.slice(1));
    this.value = value;
    this.aheadMs = Array.from({ length: siteCount }, () => 0);
    this.logs = this.aheadMs.map(() => ({ local: [], red: [] }));
    this.synced = this.aheadMs.map(() => ({ local: 0, red: 0 }));
    this.machines = this.aheadMs.map(() => undefined);
    this.#serials = this.aheadMs.map(() => 0);
    this.#starts = this.aheadMs.map(() => 0);
    for (const site of this.aheadMs.keys()) this.start(site);
  }

  /**
   * Starts a site on what it has synced, or on `value`: what another one has given it, or a copy of
   * logs. What it sends first is answered at once, unless it is not to be reached yet.
   */
  start(site: number, value?: RecoveredState, isReached = true): void {
    if (value !== undefined) {
      const logs: StoredLogs = { local: [], red: [] };
      const synced: LogCounts = { local: 0, red: 0 };
      const kinds = [
        ...LOG_KINDS,
        ...(value.partitions ?? []).map((_, index) => getRedKind(index + 1)),
      ];
      for (const kind of kinds) {
        const { start, entries } = getRecoveredLog(value, kind);
        logs[kind] = [...Array.from({ length: start }), ...entries];
        synced[kind] = start + entries.length;
      }
      this.logs[site] = logs;
      this.synced[site] = synced;
    }
    if (value?.checkpoint !== undefined) this.#begun.set(site, value);
    const stored = value ?? this.copyStored(site);
    // Of its own, since the records of the red log change it as they are delivered.
    const origins = Origins.create(
      NAMES.slice(0, this.#siteCount),
      this.value.partitions?.names.slice(1),
    );
    const observer = {
      onQuarantined: (peer: Origin) => void this.quarantined.push([site, this.#placeOf(peer)]),
    };
    this.#count += 1;
    this.#serials[site] = 0;
    this.#starts[site] = this.#count;
    const options = {
      service: this.#service,
      deployment: 'test',
      site: this.originAt(site),
      origins,
      redLeader: siteAt(0),
      epoch: this.value.createEpoch?.(this.#count) ?? this.#count,
      observer,
      ...LIMITS,
      ...this.value,
      ...this.value.getOwnOptions?.(site),
    };
    this.machines[site] = new Site(options, stored, this.nowMs, this.#clockOf(site));
    this.#act(site);
    if (isReached) this.#greet();
  }

  /** Sites that are up say which nodes they are before a test goes on. */
  #greet(): void {
    while (this.deliver(({ envelope: { message } }) => message.kind === 'node.hello'));
  }

  /** Makes room for one more site, which is not started. Gives its place. */
  addPlace(): number {
    this.aheadMs.push(0);
    this.logs.push({ local: [], red: [] });
    this.synced.push({ local: 0, red: 0 });
    this.machines.push(undefined);
    this.#serials.push(0);
    this.#starts.push(0);
    return this.machines.length - 1;
  }

  /** Proposes a change of the members at a site. */
  change(site: number, change: MemberChange): void {
    this.machines[site]?.proposeChange(change, this.nowMs);
    this.#act(site);
  }

  /** Proposes that what a site runs is in force. */
  activate(site: number): void {
    this.machines[site]?.activation.propose();
    this.#act(site);
  }

  /** The logs of a site as they are now. */
  copyLogs(site: number): RecoveredState {
    const logs = this.logs[site] ?? { local: [], red: [] };
    const [local, red, ...partitions] = getLogKinds(logs).map((kind) => ({
      start: 0,
      entries: [...(logs[kind] ?? [])],
    }));
    return { local, red, ...(partitions.length > 0 && { partitions }) } as RecoveredState;
  }

  /**
   * What a site finds at its next start: its logs, behind the checkpoint that it began with, if
   * there was one.
   */
  copyStored(site: number): RecoveredState {
    const begun = this.#begun.get(site);
    const logs = this.copyLogs(site);
    return begun === undefined ? logs : continueFrom(begun, logs);
  }

  /** Stops a site; what it has not synced is gone. */
  crash(site: number): void {
    this.machines[site] = undefined;
    const [logs, synced] = [this.logs[site], this.synced[site]];
    if (logs === undefined || synced === undefined) return;
    for (const kind of getLogKinds(logs)) logs[kind]!.length = synced[kind] ?? 0;
  }

  /** The red log of a site that is down comes back without anything that it had. */
  loseRed(site: number): void {
    const [logs, synced] = [this.logs[site], this.synced[site]];
    if (logs === undefined || synced === undefined) return;
    logs.red = [];
    synced.red = 0;
  }

  /** Submits at a site; the outcome is filled in when there is one. */
  submit(
    site: number,
    operation: { name: string; args: unknown },
    value: Partial<Submission> = {},
  ): Outcome {
    this.#serial = (this.#serials[site] ?? 0) + 1;
    this.#serials[site] = this.#serial;
    const outcome: Outcome = {};
    this.#outcomes.set(this.#keyOf(site, this.#serial), outcome);
    const plan = getOperationPlans(this.#service).get(operation.name)!;
    const wantedStages = { tentative: false, causal: plan.isRead, strong: !plan.isRead };
    const submittedAtMs = this.#clockOf(site);
    const submission = {
      plan,
      args: operation.args,
      seed: 1,
      submittedAtMs,
      wantedStages,
      ...value,
    };
    this.machines[site]?.submit({ ...submission, serial: this.#serial }, this.nowMs, submittedAtMs);
    this.#act(site);
    return outcome;
  }

  /** The same, with a name under which it may be submitted again. Default for `home`: this site. */
  ask(
    site: number,
    operation: { name: string; args: unknown },
    named: Named,
    value: Partial<Submission> = {},
  ): Outcome {
    const { home = 0, ...rest } = named;
    const identity = { hop: 0, acknowledged: 0, ...rest, home: this.originAt(home) };
    return this.submit(site, operation, { identity, ...value });
  }

  /** What the latest submission is called. */
  get lastSerial(): number {
    return this.#serial;
  }

  /** Ends a submission for which its caller no longer waits. Default: the latest. */
  abandon(site: number, serial = this.#serial): void {
    this.machines[site]?.abandon(serial);
    this.#act(site);
  }

  /** The answer of a read at a site's snapshot. */
  read(site: number, operation: { name: string; args: unknown }): unknown {
    return this.submit(site, operation).value;
  }

  /** Syncs all that the site has stored. Default: all logs. */
  sync(site: number, which: readonly LogKind[] = getLogKinds(this.logs[site] ?? {})): void {
    const [logs, synced] = [this.logs[site], this.synced[site]];
    if (logs === undefined || synced === undefined) return;
    for (const log of which) {
      const length = logs[log]?.length ?? 0;
      if ((synced[log] ?? 0) === length) continue;
      synced[log] = length;
      this.machines[site]?.onSynced(log, length, this.nowMs, this.#clockOf(site));
      this.#act(site);
    }
  }

  /** Delivers messages. Default: all. Returns whether there were any. */
  deliver(isMeant: (sent: Sent) => boolean = () => true): boolean {
    const now = this.sent.filter(isMeant);
    this.sent = this.sent.filter((sent) => !isMeant(sent));
    for (const { to, envelope } of now) {
      this.machines[to]?.receive(envelope, this.nowMs, this.#clockOf(to));
      this.#act(to);
    }
    return now.length > 0;
  }

  /** Syncs and delivers until nothing is under way, but for what is held back. */
  settle(isHeld: (sent: Sent) => boolean = () => false): void {
    do for (const site of this.machines.keys()) this.sync(site);
    while (this.deliver((sent) => !isHeld(sent)));
  }

  /** 10 ms go by: what follows from that is on its way. */
  tick(): void {
    this.nowMs += 10;
    for (const [site, machine] of this.machines.entries()) {
      machine?.tick(this.nowMs, this.#clockOf(site));
      this.#act(site);
    }
  }

  /** Lets time pass, with a tick and all that follows from it every 10 ms. */
  pass(ms: number): void {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs;) {
      this.tick();
      this.settle();
    }
  }

  /**
   * The ordinals of the first sites come before those of red logs, and those of sites that join
   * behind them.
   */
  originAt(place: number): Origin {
    return siteAt(place < this.#siteCount ? place : place + this.#logCount);
  }

  #placeOf(origin: Origin): number {
    const ordinal = getSiteIndex(origin);
    return ordinal < this.#siteCount ? ordinal : ordinal - this.#logCount;
  }

  /** The red logs beside that of `main`. */
  get #logCount(): number {
    return (this.value.partitions?.count ?? 1) - 1;
  }

  #keyOf(site: number, serial: number): string {
    return `${site} ${String(this.#starts[site])} ${serial}`;
  }

  #clockOf(site: number): number {
    return this.nowMs + (this.aheadMs[site] ?? 0);
  }

  /** As bytes, so that no site has what belongs to another. */
  #send(value: Envelope): void {
    const [from, to] = [this.#placeOf(value.from.site), this.#placeOf(value.to.site)];
    // No codec of this program reads newer ones.
    if (value.rules > RULES_VERSION)
      return void this.sent.push({
        from,
        to,
        message: value.message as SentMessage,
        envelope: value,
      });
    for (const bytes of CODEC.encode(value)) {
      const envelope = CODEC.decode(bytes, this.origins, value.deployment);
      this.sent.push({ from, to, message: envelope.message as SentMessage, envelope });
    }
  }

  #act(site: number): void {
    const ready = this.machines[site]?.takeReady();
    if (ready === undefined) return;
    for (const { log, entries } of ready.appends)
      (this.logs[site]![log] ??= []).push(...(entries as never[]));
    for (const envelope of ready.envelopes)
      this.#send({ ...envelope, sentAtMs: this.#clockOf(site) });
    for (const answer of ready.answers) this.#onAnswer(site, answer);
    for (const event of ready.events) this.#onEvent(site, event);
  }

  #onAnswer(site: number, answer: Answer): void {
    const outcome = this.#outcomes.get(this.#keyOf(site, answer.serial));
    if (answer.kind === 'view') {
      if (answer.isLast && outcome !== undefined)
        Object.assign(outcome, { value: answer.reply.value, seen: answer.seen });
    } else if (answer.stage === undefined) {
      const { code, retryable } = answer.error;
      Object.assign(outcome ?? {}, { code, retryable });
    }
  }

  #onEvent(site: number, event: SiteEvent): void {
    switch (event.kind) {
      case 'members':
      case 'changed':
      case 'retired':
      case 'behind':
        return void this.memberEvents.push([site, event]);
      case 'halted':
        return void this.halted.push([site, event.halt.reason]);
      case 'forked':
        return void this.forked.push([site, event.message]);
      case 'outdated':
        return void this.outdated.push([site, event.message]);
      case 'peer-forked':
        return void this.forkedPeers.push([site, this.#placeOf(event.peer), event.message]);
      case 'rights-lost':
        return void this.lostRights.push([site, event.origin, event.lost]);
      case 'alone':
        return void this.alone.push(site);
      case 'unavailable':
      case 'available':
      case 'full':
        return undefined;
    }
  }
}
