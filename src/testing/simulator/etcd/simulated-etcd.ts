/**
 * A model of etcd with three endpoints and one order of writes, and with the faults that a client
 * can meet.
 */
import type { EtcdReply, EtcdRequest } from '../../../server/log/etcd/etcd-requests.ts';
import type { ServerReply, ServerRequest } from '../../../server/log/red-log.ts';
import type { Random } from '../../../server/service/collections/random.ts';
import { EtcdStore } from './etcd-store.ts';
import type { Timeline } from '../timeline.ts';

/** A start's connection to the server of its red log. */
export interface ServerConnection {
  request(request: ServerRequest): void;
  /** Ends the connection. Requests that were sent may still take effect. */
  close(): void;
}

export interface EtcdFaults {
  readonly etcdDelayMeanMs: number;
  readonly etcdLossChance: number;
  readonly etcdLateChance: number;
  readonly etcdFaultEveryMs: number;
  readonly etcdFaultMeanMs: number;
  readonly etcdDropChance: number;
}

const ENDPOINTS = 3;
/** The time until a client is connected again, and until it notices that a write failed. */
const [CONNECT_MS, TIMEOUT_MS] = [30, 400];
/** The mean delay of a write that takes effect after its connection has ended. */
const LATE_MEAN_MS = 600;
const QUOTA_BYTES = 1e6;
const MAX_EVENTS = 5;

export class SimulatedEtcd {
  readonly counts = {
    'etcd writes late': 0,
    'etcd replies lost': 0,
    'etcd faults': 0,
    'etcd put back': 0,
    'etcd put back unseen by a site': 0,
  };
  readonly faults: EtcdFaults;
  readonly random: Random;
  readonly timeline: Timeline;
  store = new EtcdStore();
  isHealed = false;
  /** The end of each endpoint's present freeze. */
  readonly frozenUntilMs = Array.from({ length: ENDPOINTS }, () => 0);
  /** The delay with which an endpoint sends events to watches. */
  readonly lagMs = Array.from({ length: ENDPOINTS }, () => 0);
  bytesPerMs = Infinity;
  isFull = false;
  usedBytes = 0;
  /** Kinds of requests that its clients have no permission for. */
  readonly refused = new Set<EtcdRequest['kind']>();
  readonly #clients = new Set<EtcdClient>();

  constructor(faults: EtcdFaults, random: Random, timeline: Timeline) {
    [this.faults, this.random, this.timeline] = [faults, random, timeline];
    if (faults.etcdFaultEveryMs !== Infinity) this.#planFault();
  }

  connect(reply: (reply: ServerReply) => void): ServerConnection {
    const client = new EtcdClient(this, reply, this.random.between(0, ENDPOINTS - 1));
    this.#clients.add(client);
    return {
      request: (request: ServerRequest) => client.request(request as EtcdRequest),
      close: () => {
        client.close();
        this.#clients.delete(client);
      },
    };
  }

  heal(): void {
    this.isHealed = true;
    this.isFull = false;
    this.frozenUntilMs.fill(0);
    this.lagMs.fill(0);
  }

  /** Notifies watches that something was written. */
  notify(): void {
    for (const client of this.#clients) client.pump();
  }

  /** Replaces the disks of all servers. Connections end. */
  replaceStore(store: EtcdStore): void {
    this.store = store;
    this.counts['etcd put back'] += 1;
    for (const client of this.#clients) client.disconnect();
  }

  #planFault(): void {
    const { etcdFaultEveryMs, etcdFaultMeanMs } = this.faults;
    this.timeline.schedule(this.random.exponential(etcdFaultEveryMs), () => {
      if (this.isHealed) return;
      this.counts['etcd faults'] += 1;
      const forMs = this.random.exponential(etcdFaultMeanMs);
      const endpoint = this.random.between(0, ENDPOINTS - 1);
      switch (this.random.between(0, 3)) {
        case 0:
          this.frozenUntilMs[endpoint] = this.timeline.nowMs + forMs;
          break;
        case 1:
          this.lagMs[endpoint] = forMs;
          this.timeline.schedule(forMs, () => (this.lagMs[endpoint] = 0));
          break;
        case 2:
          this.isFull = true;
          this.timeline.schedule(forMs, () => (this.isFull = false));
          break;
        default:
          for (const client of this.#clients) if (this.random.chance(0.5)) client.disconnect();
      }
      this.#planFault();
    });
  }
}

type Watch = Extract<EtcdRequest, { kind: 'etcd.watch' }> & {
  next: number;
  revision: number;
};

/** One start of a site as a client, with the adapter of production. */
class EtcdClient {
  readonly #etcd: SimulatedEtcd;
  readonly #reply: (reply: ServerReply) => void;
  #endpoint: number;
  /** Counts connections. Replies of an earlier one are dropped. */
  #connection = 0;
  #isClosed = false;
  #watch: Watch | undefined;
  #isPumping = false;
  /** Requests of a connection arrive in order. This is the time of the last one. */
  #arrivesAtMs = 0;
  #repliesAtMs = 0;
  /** When the link has sent the values that wait on it. */
  #sentAtMs = 0;

  constructor(etcd: SimulatedEtcd, reply: (reply: ServerReply) => void, endpoint: number) {
    [this.#etcd, this.#reply, this.#endpoint] = [etcd, reply, endpoint];
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  disconnect(): void {
    this.#end();
    this.#reply({
      kind: 'etcd.disconnected',
      message: 'the connection was lost',
    } as EtcdReply);
    this.#connect();
  }

  request(request: EtcdRequest): void {
    const { timeline, random, faults, isHealed } = this.#etcd;
    if (request.kind === 'etcd.reconnect') {
      this.#end();
      this.#endpoint = (this.#endpoint + 1) % ENDPOINTS;
      return this.#connect();
    }
    const connection = this.#connection;
    this.#arrivesAtMs = Math.max(
      this.#arrivesAtMs,
      timeline.nowMs + random.exponential(faults.etcdDelayMeanMs),
    );
    const isLost = !isHealed && random.chance(faults.etcdLossChance);
    if (isLost && random.chance(0.5)) return this.#fail(request, connection);
    timeline.schedule(this.#arrivesAtMs - timeline.nowMs, () =>
      this.#arrive(request, connection, isLost),
    );
  }

  /** Sends new events to the watch, with the delay of its endpoint. */
  pump(): void {
    const { lagMs, random, faults } = this.#etcd;
    if (this.#watch === undefined || this.#isPumping) return;
    const connection = this.#connection;
    this.#isPumping = true;
    const delayMs = (lagMs[this.#endpoint] ?? 0) + random.exponential(faults.etcdDelayMeanMs);
    this.#whenAwake(delayMs, () => {
      if (connection !== this.#connection) return;
      this.#isPumping = false;
      this.#sendEvents();
    });
  }

  #connect(): void {
    const connection = (this.#connection += 1);
    this.#whenAwake(CONNECT_MS, () =>
      this.#answer({ kind: 'etcd.connected', endpoint: String(this.#endpoint) }, connection),
    );
  }

  #end(): void {
    this.#connection += 1;
    this.#watch = undefined;
    this.#isPumping = false;
    this.#sentAtMs = 0;
  }

  /**
   * A frozen endpoint executes requests later. A write may be delayed longer than its connection
   * lasts.
   */
  #arrive(request: EtcdRequest, connection: number, isReplyLost: boolean): void {
    const { random, faults, isHealed, counts } = this.#etcd;
    this.#whenAwake(0, () => {
      if (request.kind !== 'etcd.create') {
        if (connection === this.#connection) this.#execute(request, connection, isReplyLost);
        return;
      }
      const isLate = !isHealed && random.chance(faults.etcdLateChance);
      if (!isLate) return this.#execute(request, connection, isReplyLost);
      counts['etcd writes late'] += 1;
      this.#fail(request, connection);
      this.#etcd.timeline.schedule(random.exponential(LATE_MEAN_MS), () =>
        this.#execute(request, connection, true),
      );
    });
  }

  #execute(request: EtcdRequest, connection: number, isReplyLost: boolean): void {
    const reply = this.#perform(request);
    if (reply === undefined) return;
    if (!isReplyLost) return this.#answerLater(reply, connection);
    this.#etcd.counts['etcd replies lost'] += 1;
    this.#fail(request, connection);
  }

  #perform(request: EtcdRequest): EtcdReply | undefined {
    const { store, isFull, usedBytes, refused } = this.#etcd;
    if (refused.has(request.kind) && 'id' in request)
      return createFailure(request.id, 'other', 'permission denied');
    switch (request.kind) {
      case 'etcd.create':
        if (isFull) return createFailure(request.id, 'no-space', 'no space');
        store.create(request.key, request.value);
        this.#etcd.notify();
        return { kind: 'etcd.created', id: request.id, revision: store.revision };
      case 'etcd.delete':
        store.delete(request);
        return { kind: 'etcd.deleted', id: request.id, revision: store.revision };
      case 'etcd.compact':
        store.compact(request.revision);
        return { kind: 'etcd.compacted', id: request.id };
      case 'etcd.range': {
        const found = store.range(request, request.limit, request.revision);
        if (found === undefined) return createFailure(request.id, 'compacted', 'compacted');
        return {
          kind: 'etcd.range',
          id: request.id,
          revision: store.revision,
          ...found,
        };
      }
      case 'etcd.watch':
        this.#watch = { ...request, next: request.fromRevision, revision: 0 };
        this.pump();
        return undefined;
      case 'etcd.progress':
        // Returns the last event that was sent.
        if (this.#watch === undefined) return undefined;
        return {
          kind: 'etcd.progress',
          id: request.id,
          revision: this.#watch.next - 1,
        };
      case 'etcd.status':
        return {
          kind: 'etcd.status',
          id: request.id,
          usedBytes,
          sizeBytes: usedBytes,
          quotaBytes: QUOTA_BYTES,
        };
      case 'etcd.reconnect':
        return undefined;
    }
  }

  #sendEvents(): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    const { store, random, faults, isHealed } = this.#etcd;
    if (watch.next <= store.compacted) {
      this.#watch = undefined;
      return this.#answerLater(
        { kind: 'etcd.canceled', id: watch.id, message: 'compacted' },
        this.#connection,
      );
    }
    const events = store.getEvents(watch, watch.next);
    const entries = events.slice(0, MAX_EVENTS);
    watch.next =
      events.length > MAX_EVENTS ? (entries.at(-1)?.modRevision ?? 0) + 1 : store.revision + 1;
    if (entries.length === 0) return;
    const isDropped = !isHealed && random.chance(faults.etcdDropChance);
    const sent = isDropped ? entries.slice(1) : entries;
    this.#answerLater(
      {
        kind: 'etcd.events',
        id: watch.id,
        revision: watch.next - 1,
        entries: sent,
      },
      this.#connection,
    );
    if (events.length > MAX_EVENTS) this.pump();
  }

  /** The client notices after a time, or never. Then its own timeout ends the wait. */
  #fail(request: EtcdRequest, connection: number): void {
    if (!('id' in request) || this.#etcd.random.chance(0.5)) return;
    const reply = {
      kind: 'etcd.failed',
      id: request.id,
      reason: 'other',
      message: 'timeout',
    } as const;
    this.#etcd.timeline.schedule(TIMEOUT_MS, () => this.#answer(reply, connection));
  }

  /** Replies of a connection arrive in order. */
  #answerLater(reply: EtcdReply, connection: number): void {
    const { timeline, random, faults, bytesPerMs } = this.#etcd;
    this.#repliesAtMs = Math.max(
      this.#repliesAtMs,
      timeline.nowMs + random.exponential(faults.etcdDelayMeanMs),
    );
    this.#sentAtMs = Math.max(this.#sentAtMs, this.#repliesAtMs);
    if ('entries' in reply)
      for (const { value } of reply.entries) this.#sentAtMs += value.length / bytesPerMs;
    timeline.schedule(this.#sentAtMs - timeline.nowMs, () => this.#answer(reply, connection));
  }

  #answer(reply: EtcdReply, connection: number): void {
    if (!this.#isClosed && connection === this.#connection) this.#reply(reply);
  }

  #whenAwake(delayMs: number, run: () => void): void {
    const { timeline, frozenUntilMs } = this.#etcd;
    timeline.schedule(delayMs, () => {
      const forMs = (frozenUntilMs[this.#endpoint] ?? 0) - timeline.nowMs;
      if (forMs > 0) this.#whenAwake(forMs, run);
      else run();
    });
  }
}

type EtcdFailure = Extract<EtcdReply, { readonly kind: 'etcd.failed' }>;

function createFailure(
  id: EtcdFailure['id'],
  reason: EtcdFailure['reason'],
  message: string,
): EtcdFailure {
  return { kind: 'etcd.failed', id, reason, message };
}
