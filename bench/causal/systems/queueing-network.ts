/**
 * A queueing model in virtual time. Each partition is a server that processes one message after the
 * other, in the order of their arrival, for the service time of the message. Links have a delay and
 * no limit. Clients take no time.
 *
 * The code of the partitions really runs, so that messages, bytes and ids are counted rather than
 * assumed. The time that the code takes on this machine is measured separately. It has no effect on
 * virtual time, so a repeated run has the same result.
 */
import type { Stamp } from '../../../src/causal/stamps.ts';
import { MICROSECONDS_PER_MS } from '../../../src/causal/stamps.ts';
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import { countBytes, measureMessage, type MessageSize } from './message-size.ts';
import { computeExecutionUs, computeMessageUs, type ServiceTimes } from './service-times.ts';

/**
 * The purposes of messages. A message that a server sends because of another one has the same
 * purpose.
 */
export const PURPOSES = ['read', 'put', 'background'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** A server, or all clients of a site if it has no partition. */
export interface Place {
  readonly site: number;
  readonly partition?: number;
}

export interface ServerPlace extends Place {
  readonly partition: number;
}

export interface Call<Reply extends object> {
  readonly from: Place;
  readonly to: ServerPlace;
  readonly kind: string;
  readonly purpose: Purpose;
  readonly request: object;
  /** Runs at the server. It may reply at once, later, or never. */
  readonly execute: (reply: (value: Reply) => void) => void;
  /** Runs before `execute`, and is not measured. */
  readonly prepare?: (() => void) | undefined;
  readonly onReply: (reply: Reply) => void;
}

/** The work of servers. The work of clients for messages is not counted. */
export interface Account {
  messages: number;
  bytes: number;
  /** The time by the service times of the model. */
  serviceUs: number;
  /** The part of `serviceUs` for messages. */
  messageUs: number;
}

/** One measured execution, from which service times are fitted. */
export interface Execution {
  readonly kind: string;
  readonly purpose: Purpose;
  readonly ids: number;
  /** The time that it took on this machine. */
  readonly us: number;
}

export interface NetworkOptions {
  readonly timeline: Timeline;
  readonly times: ServiceTimes;
  /** Names a kind of message in the service times. */
  readonly nameExecution: (kind: string) => string;
  /** The physical clock at the start of the run. */
  readonly startedAt: Stamp;
  /** Draws the delay of a message, in milliseconds. */
  readonly drawDelayMs: (from: Place, to: Place) => number;
  readonly onExecution?: ((execution: Execution) => void) | undefined;
}

interface Message {
  readonly from: Place;
  readonly to: Place;
  readonly kind: string;
  readonly purpose: Purpose;
  readonly body: object;
  readonly deliver: () => void;
  readonly prepare?: (() => void) | undefined;
}

interface SizedMessage extends Message {
  readonly size: MessageSize;
}

interface Server {
  freeAtMs: number;
  busyMs: number;
}

/** The present work of a server. */
interface Work {
  readonly startMs: number;
  readonly purpose: Purpose;
  readonly outgoing: Message[];
}

export class QueueingNetwork {
  readonly accounts: Readonly<Record<Purpose, Account>>;
  readonly #options: NetworkOptions;
  readonly #servers = new Map<number, Server>();
  #work: Work | undefined;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.accounts = { read: createAccount(), put: createAccount(), background: createAccount() };
  }

  /** The physical time at the working server, or at the clients if no server is working. */
  get now(): Stamp {
    const ms = this.#work?.startMs ?? this.#options.timeline.nowMs;
    return this.#options.startedAt + Math.round(ms * MICROSECONDS_PER_MS);
  }

  /** The busy time of the busiest server. */
  get longestBusyMs(): number {
    return Math.max(0, ...[...this.#servers.values()].map(({ busyMs }) => busyMs));
  }

  call<Reply extends object>({
    from,
    to,
    kind,
    purpose,
    request,
    execute,
    prepare,
    onReply,
  }: Call<Reply>): void {
    const respond = (value: Reply): void =>
      this.#send({
        from: to,
        to: from,
        kind: `${kind} reply`,
        purpose,
        body: value,
        deliver: () => onReply(value),
      });
    this.#send({
      from,
      to,
      kind,
      purpose,
      body: request,
      prepare,
      deliver: () => execute(respond),
    });
  }

  #send(message: Message): void {
    // A server sends when its work ends.
    if (this.#work === undefined) this.#depart(measure(message), 0);
    else this.#work.outgoing.push(message);
  }

  #depart(message: SizedMessage, afterMs: number): void {
    const account = this.accounts[message.purpose];
    account.messages += 1;
    account.bytes += countBytes(message.size);
    const { timeline, drawDelayMs } = this.#options;
    timeline.schedule(afterMs + drawDelayMs(message.from, message.to), () => this.#arrive(message));
  }

  #arrive(message: SizedMessage): void {
    const { site, partition } = message.to;
    if (partition === undefined) message.deliver();
    else this.#serve(message, this.#getServer(site, partition));
  }

  #serve({ kind: message, purpose, size, prepare, deliver }: SizedMessage, server: Server): void {
    const { timeline, times, nameExecution, onExecution } = this.#options;
    const kind = nameExecution(message);
    // Earlier messages have been executed already, so executing this one now keeps the order.
    const startMs = Math.max(timeline.nowMs, server.freeAtMs);
    const work: Work = { startMs, purpose, outgoing: [] };
    this.#work = work;
    prepare?.();
    const before = performance.now();
    deliver();
    const us = (performance.now() - before) * MICROSECONDS_PER_MS;
    this.#work = undefined;

    const outgoing = work.outgoing.map(measure);
    const ids = outgoing.reduce((sum, sent) => sum + sent.size.ids, size.ids);
    onExecution?.({ kind, purpose, ids, us });
    const sizes = [size, ...outgoing.map((sent) => sent.size)];
    const messagesUs = sizes.reduce((sum, item) => sum + computeMessageUs(times, item), 0);
    const serviceUs = computeExecutionUs(times, kind, ids) + messagesUs;
    const account = this.accounts[purpose];
    account.serviceUs += serviceUs;
    account.messageUs += messagesUs;
    const serviceMs = serviceUs / MICROSECONDS_PER_MS;
    server.busyMs += serviceMs;
    server.freeAtMs = startMs + serviceMs;
    for (const sent of outgoing) this.#depart(sent, server.freeAtMs - timeline.nowMs);
  }

  #getServer(site: number, partition: number): Server {
    const place = site * 2 ** 20 + partition;
    const known = this.#servers.get(place);
    if (known !== undefined) return known;
    const server = { freeAtMs: 0, busyMs: 0 };
    this.#servers.set(place, server);
    return server;
  }
}

function measure(message: Message): SizedMessage {
  return { ...message, size: measureMessage(message.body) };
}

function createAccount(): Account {
  return { messages: 0, bytes: 0, serviceUs: 0, messageUs: 0 };
}
