/**
 * Records a run from the events that checkers get. It draws no random number, so the run stays the
 * same.
 */
import { formatValue } from '../../../src/server/check/values/format-values.ts';
import { SEQUENCED_ENGINE } from '../../../src/server/log/sequenced/engine.ts';
import { EnvelopeCodec } from '../../../src/server/site/wire/envelope-codec.ts';
import { RejectedMessageError } from '../../../src/server/site/wire/envelope.ts';
import type { Conflict } from '../../../src/server/service/records/certification-result.ts';
import type { Origin, Origins } from '../../../src/server/service/records/origin.ts';
import type { RedOperation } from '../../../src/server/service/records/records.ts';
import {
  isRed,
  type AnyOperation,
  type Checker,
  type ClientDomainError,
  type ClientView,
  type SiteEvent,
} from '../../../src/testing/simulator/checkers/checker.ts';
import type { ClientOperation } from '../../../src/testing/simulator/history.ts';
import type { Link, MessageEnd, SentMessage } from '../../../src/testing/simulator/network.ts';
import { SIMULATED_DEPLOYMENT } from '../../../src/testing/simulator/replica-limits.ts';
import type { CheckerContext } from '../../../src/testing/simulator/scenario.ts';
import { describeMessage, describeOperation, type DescribedMessage } from './describe-message.ts';
import type {
  RecordedCut,
  RecordedMark,
  RecordedMessage,
  RecordedOperation,
  RecordedOutage,
  RecordedView,
} from './recorded-run.ts';

type OutageKind = RecordedOutage['kind'];

interface OpenOutage {
  readonly site: Origin;
  readonly kind: OutageKind;
  readonly fromMs: number;
}

interface OpenCut extends Link {
  readonly fromMs: number;
}

/** The outages that an event begins and ends. */
const BEGINS: Partial<Record<SiteEvent, OutageKind>> = {
  crashed: 'down',
  paused: 'paused',
  'disk full': 'disk full',
};
const ENDS: Partial<Record<SiteEvent, OutageKind>> = {
  resumed: 'paused',
  'disk has room': 'disk full',
};

const OUTAGE_TEXTS: Readonly<Record<OutageKind, string>> = {
  down: 'has crashed and loses what is not on its disk',
  paused: 'does nothing, and loses nothing',
  'disk full': 'has no room on its disk',
};

export class RunRecorder implements Checker {
  readonly name = 'recorder';
  readonly messages: RecordedMessage[] = [];
  readonly marks: RecordedMark[] = [];
  readonly #outages: RecordedOutage[] = [];
  readonly #cuts: RecordedCut[] = [];
  /** Those that have not ended, by their names. */
  readonly #openOutages = new Map<string, OpenOutage>();
  readonly #openCuts = new Map<string, OpenCut>();
  readonly #codec = new EnvelopeCodec(SEQUENCED_ENGINE.messages);
  readonly #context: CheckerContext;
  readonly #views = new Map<string, RecordedView[]>();
  readonly #lost = new Set<Origin>();
  #origins: Origins;

  constructor(context: CheckerContext) {
    this.#context = context;
    this.#origins = context.origins;
  }

  get nowMs(): number {
    return this.#context.healthyPeriods.nowMs;
  }

  /** Returns the outages, with those that have not ended. */
  get outages(): readonly RecordedOutage[] {
    const open = [...this.#openOutages.values()];
    return [...this.#outages, ...open.map((outage) => this.#endOutage(outage))];
  }

  /** Returns the cut links, with those that are still cut. */
  get cuts(): readonly RecordedCut[] {
    const open = [...this.#openCuts.values()];
    return [...this.#cuts, ...open.map((cut) => ({ ...cut, toMs: this.nowMs }))];
  }

  onMembers(_site: Origin, origins: Origins): void {
    if (origins.size > this.#origins.size) this.#origins = origins;
  }

  onStarted(site: Origin, saved?: unknown): void {
    const isRestart = this.#isDown(site);
    this.#end(site, 'down');
    const from = saved === undefined ? 'its logs' : 'a checkpoint and its logs';
    if (isRestart) this.#mark(site, 'started', `starts again, from ${from}`);
  }

  onSiteEvent(site: Origin, event: SiteEvent): void {
    const begun = BEGINS[event];
    if (begun !== undefined) this.#begin(site, begun);
    const ended = ENDS[event];
    if (ended !== undefined) this.#end(site, ended);
    if (event === 'crashed') this.#end(site, 'paused');
    if (event === 'lost') {
      this.#lost.add(site);
      this.#begin(site, 'down');
    }
    if (event === 'deposed') this.#mark(site, 'deposed', 'loses its log to another process');
    if (event === 'halted')
      this.#mark(site, 'halted', 'stops taking from a red log that does not continue correctly');
  }

  onLinksCut(links: readonly Link[]): void {
    for (const link of links) {
      const name = formatLink(link);
      if (!this.#openCuts.has(name)) this.#openCuts.set(name, { ...link, fromMs: this.nowMs });
    }
  }

  onLinksRestored(links: readonly Link[]): void {
    for (const link of links) {
      const cut = this.#openCuts.get(formatLink(link));
      if (cut === undefined) continue;
      this.#openCuts.delete(formatLink(link));
      this.#cuts.push({ ...cut, toMs: this.nowMs });
    }
  }

  onMessageEnd({ message, sentAtMs, fate }: MessageEnd): void {
    const { from, to, kind } = message;
    const isDown = fate === 'delivered' && this.#isDown(to);
    this.messages.push({
      kind,
      from,
      to,
      sentAtMs,
      endedAtMs: this.nowMs,
      fate: isDown ? 'down' : fate,
      ...this.#describe(message),
    });
  }

  onApplied(site: Origin, operation: AnyOperation): void {
    const color = isRed(operation) ? 'red' : 'blue';
    this.#mark(site, color, `shows the ${color} operation ${describeOperation(operation)}`);
  }

  onRejected(site: Origin, operation: RedOperation, conflict: Conflict | undefined): void {
    const described = `${describeOperation(operation)}: ${describeConflict(conflict)}`;
    this.#mark(site, 'rejected', `rejects the red operation ${described}`);
  }

  onView({ site, operation, stage, value }: ClientView): void {
    this.#addView(operation, { atMs: this.nowMs, site, stage, value: formatValue(value) });
  }

  onDomainError({ site, operation, stage, domain }: ClientDomainError): void {
    this.#addView(operation, {
      atMs: this.nowMs,
      site,
      stage: stage ?? 'failed',
      value: domain.name,
    });
  }

  /** Returns an operation of the history with the views that were recorded. */
  recordOperation(operation: ClientOperation): RecordedOperation {
    const { id, client, args, level, submittedAtMs, replies, error } = operation;
    const views = this.#views.get(id) ?? [];
    return {
      id,
      client,
      level,
      call: `${operation.operation}(${formatValue(args)})`,
      submittedAtMs,
      views,
      endedAtMs: replies[0]?.atMs ?? (error === undefined ? undefined : views.at(-1)?.atMs),
      error: replies.length === 0 ? error : undefined,
    };
  }

  #describe(message: SentMessage): DescribedMessage {
    const [from, to] = [`Site ${message.from}`, `site ${message.to}`];
    try {
      const envelope = this.#codec.decode(message.bytes, this.#origins, SIMULATED_DEPLOYMENT);
      return describeMessage(envelope.message, from, to);
    } catch (error) {
      // A planted fault may send what no site can read.
      if (!(error instanceof RejectedMessageError)) throw error;
      return {
        group: 'request',
        text: `${from} sends ${message.kind} to ${to}, which cannot be read.`,
      };
    }
  }

  #addView(operation: ClientOperation, view: RecordedView): void {
    const views = this.#views.get(operation.id);
    if (views === undefined) this.#views.set(operation.id, [view]);
    else views.push(view);
  }

  #begin(site: Origin, kind: OutageKind): void {
    const name = formatOutage(site, kind);
    if (!this.#openOutages.has(name))
      this.#openOutages.set(name, { site, kind, fromMs: this.nowMs });
  }

  #end(site: Origin, kind: OutageKind): void {
    const name = formatOutage(site, kind);
    const outage = this.#openOutages.get(name);
    if (outage === undefined) return;
    this.#openOutages.delete(name);
    this.#outages.push(this.#endOutage(outage));
  }

  #isDown(site: Origin): boolean {
    return this.#openOutages.has(formatOutage(site, 'down'));
  }

  #endOutage({ site, kind, fromMs }: OpenOutage): RecordedOutage {
    const isLost = kind === 'down' && this.#lost.has(site);
    const text = `Site ${site} ${isLost ? 'is lost for good, with its disk' : OUTAGE_TEXTS[kind]}.`;
    return { site, kind, fromMs, toMs: this.nowMs, text };
  }

  #mark(site: Origin, kind: RecordedMark['kind'], text: string): void {
    this.marks.push({ site, kind, atMs: this.nowMs, text: `Site ${site} ${text}.` });
  }
}

function describeConflict(conflict: Conflict | undefined): string {
  if (conflict?.reason === 'name')
    return `${conflict.name.replaceAll('\0', ' ')} has changed since it was read`;
  if (conflict?.reason === 'range') return 'what it has scanned has changed';
  if (conflict?.reason === 'predecessor') return `it depends on ${conflict.id}, which was rejected`;
  if (conflict?.reason === 'held') return 'another operation holds a row of it';
  return 'it has read a state that is too old';
}

function formatOutage(site: Origin, kind: OutageKind): string {
  return `${kind} of ${site}`;
}

function formatLink({ from, to }: Link): string {
  return `${from}-${to}`;
}
