/**
 * What a site has to do after a turn. The caller does it in the order of the fields: this order is
 * the whole protocol between a site and the process that runs it.
 */
import type { LogKind } from '../log/local-log.ts';
import type { LogOutput, ServerRequest } from '../log/red-log.ts';
import type { RedHalt } from '../log/red-log-consumer.ts';
import type { Envelope } from './wire/envelope.ts';
import type { Answer } from './answer.ts';
import type { Origin } from '../service/records/origin.ts';
import type { LocalEntry, RedRecord } from '../service/records/records.ts';
import type { MemberEvent } from './site-event.ts';
import type { InnerEvent, SiteOutputs } from './core/outputs.ts';
import type { PartMessage } from './core/site-part.ts';

/** Entries of one log of the site. */
export interface LogAppend {
  readonly log: LogKind;
  readonly entries: readonly unknown[];
}

/** A request of the red log of a partition to the server that keeps it. */
export interface LogRequest {
  /** The ordinal of the partition. */
  readonly partition: number;
  readonly request: ServerRequest;
}

/** What operators see of a site, and how it ends. */
export type SiteEvent =
  | MemberEvent
  | Extract<InnerEvent, { kind: 'rights-lost' }>
  /**
   * The site takes no more of the red log. Red operations wait, blue ones go on. This is reported
   * once for each start.
   */
  | { readonly kind: 'halted'; readonly halt: RedHalt }
  /** Only engines whose log is kept by a server have these events. */
  | Extract<LogOutput<unknown>, { kind: 'unavailable' | 'available' | 'full' }>
  /** Another node of this site has gone on. This one takes and sends nothing more, for good. */
  | { readonly kind: 'forked'; readonly message: string }
  /**
   * A newer version of the program or the service is in force. The site takes and sends nothing
   * more.
   */
  | { readonly kind: 'outdated'; readonly message: string }
  /**
   * Another node of that site has gone on. This site takes nothing more of the start that was
   * overtaken.
   */
  | { readonly kind: 'peer-forked'; readonly peer: Origin; readonly message: string }
  /** No other site has confirmed this start for long. Updates are refused until one has. */
  | { readonly kind: 'alone' };

export interface Ready {
  /**
   * First, entries to append to the logs of the site. Once they are synced, `onSynced` has to be
   * called.
   */
  readonly appends: readonly LogAppend[];
  /** Then messages to send. What they claim of this site's logs was synced in an earlier turn. */
  readonly envelopes: readonly Envelope[];
  /** Then requests to servers that keep red logs. Each reply has to come to `onReply`. */
  readonly requests: readonly LogRequest[];
  /** Then answers to deliver. All but previews was synced in an earlier turn. */
  readonly answers: readonly Answer[];
  /** Last, events to report. After some of them the site has ended. */
  readonly events: readonly SiteEvent[];
}

/** What the site itself handles between two inputs. */
export type InnerOutput =
  | InnerEvent
  | { readonly kind: 'propose' | 'withdraw'; readonly record: RedRecord };

const NO_INNER: readonly InnerOutput[] = [];

/** Collects what the parts of a site put out during a turn. */
export class ReadyBuilder implements SiteOutputs {
  readonly #seal: (to: Origin, message: PartMessage) => Envelope | undefined;
  #ready = createReady();
  /** The entries of the last append, if it is one to the site's own log. More are added to them. */
  #localEntries: LocalEntry[] | undefined;
  #inner: InnerOutput[] = [];

  /** @param seal returns nothing if the message must not be sent */
  constructor(seal: (to: Origin, message: PartMessage) => Envelope | undefined) {
    this.#seal = seal;
  }

  append(entry: LocalEntry): void {
    if (this.#localEntries === undefined) {
      this.#localEntries = [entry];
      this.#ready.appends.push({ log: 'local', entries: this.#localEntries });
    } else this.#localEntries.push(entry);
  }

  /** Appends entries to any log of the site. */
  appendTo(log: LogKind, entries: readonly unknown[]): void {
    this.#localEntries = undefined;
    this.#ready.appends.push({ log, entries });
  }

  send(to: Origin, message: PartMessage): void {
    const envelope = this.#seal(to, message);
    if (envelope !== undefined) this.#ready.envelopes.push(envelope);
  }

  /** Sends a message that is sealed already. */
  sendEnvelope(envelope: Envelope): void {
    this.#ready.envelopes.push(envelope);
  }

  request(request: LogRequest): void {
    this.#ready.requests.push(request);
  }

  answer(answer: Answer): void {
    this.#ready.answers.push(answer);
  }

  /** Reports an event to the caller of the site, at the end of the turn. */
  notify(event: SiteEvent): void {
    this.#ready.events.push(event);
  }

  propose(record: RedRecord): void {
    this.#inner.push({ kind: 'propose', record });
  }

  withdraw(record: RedRecord): void {
    this.#inner.push({ kind: 'withdraw', record });
  }

  /** Reports an event to the site itself, which may notify its caller. */
  report(event: InnerEvent): void {
    this.#inner.push(event);
  }

  /** Returns what the site has to handle itself, in order. */
  takeInner(): readonly InnerOutput[] {
    if (this.#inner.length === 0) return NO_INNER;
    const inner = this.#inner;
    this.#inner = [];
    return inner;
  }

  get hasInner(): boolean {
    return this.#inner.length > 0;
  }

  /** Ends the turn. */
  take(): Ready {
    const ready = this.#ready;
    this.#ready = createReady();
    this.#localEntries = undefined;
    return ready;
  }
}

interface OpenReady extends Ready {
  readonly appends: LogAppend[];
  readonly envelopes: Envelope[];
  readonly requests: LogRequest[];
  readonly answers: Answer[];
  readonly events: SiteEvent[];
}

function createReady(): OpenReady {
  return { appends: [], envelopes: [], requests: [], answers: [], events: [] };
}
