/**
 * Knows which other processes take from the queues, and how fast. Measures the time between the
 * state that a replica shows and a dequeue of this process (docs/spec/thresholds.md).
 *
 * Each process writes its limits into a table before it takes. Processes that have not renewed
 * theirs for a while are removed from it.
 */
import { randomUUID } from 'node:crypto';
import { CommitLatency, type PendingCommit } from '../../correctable/throttle/commit-latency.ts';
import type { ConcurrentWriters, Throttle } from '../../correctable/throttle/concurrent-writes.ts';
import type { Page, Row } from '../shared/statements/page.ts';
import { parseJsonColumn } from './own-columns.ts';
import type { SqlStatement } from './connections/server.ts';

const EXPIRY_S = 60;
/** After this time, a dequeue renews the registration beside it. */
const RENEWAL_MS = 20_000;
/** After this time, it waits for the renewal. */
const MAX_AGE_MS = 40_000;
/** Recent dequeues whose times count. */
const MAX_TRIPS = 64;

/** What a replica has shown to a dequeue. */
export interface ShownState {
  /** When the dequeue began, by `performance.now()`. */
  readonly startedAtMs: number;
  /** What {@link QueueConsumers.readReplica} has returned. */
  readonly shown: Row | undefined;
}

export interface QueueConsumersOptions {
  /** The name of the table, quoted. */
  readonly table: string;
  readonly throttle: Throttle;
  /** Runs a statement at the primary. */
  readonly run: (statement: SqlStatement) => Promise<Page>;
}

export class QueueConsumers {
  /** Columns of a dequeue at the primary: what `end` needs of its row. */
  readonly columns: string;
  /**
   * What to read at a replica before its view. All that was committed before `shown_at`, by the
   * clock of the primary, is in what is read next.
   */
  readonly readReplica: SqlStatement;
  readonly #id: string = randomUUID();
  readonly #registration: SqlStatement;
  readonly #run: QueueConsumersOptions['run'];
  readonly #latency = new CommitLatency();
  /**
   * From the start of each recent dequeue, by the clock of this process, to its place in the order,
   * by that of the primary. Each of these times contains the difference of the clocks.
   */
  readonly #tripsMs: number[] = [];
  #others: readonly Consumer[] = [];
  #newestAtMs = -Infinity;
  #registeredAtMs = -Infinity;
  #registering: Promise<void> | undefined;

  constructor({ table, throttle, run }: QueueConsumersOptions) {
    const all = `(select json_agg(c) from ${table} c)::text as consumers`;
    this.columns = `${toMilliseconds('clock_timestamp()')} as taken_at, ${all}`;
    const shown =
      'case when pg_is_in_recovery() then pg_last_xact_replay_timestamp() else clock_timestamp() end';
    this.readReplica = {
      text: `select ${toMilliseconds(shown)} as shown_at, ${all}`,
      values: [],
    };
    this.#registration = {
      text: `with gone as (
  delete from ${table} where seen_at < now() - interval '${EXPIRY_S} seconds' and id <> $1
)
insert into ${table} (id, max_in_flight, min_slot_interval_ms) values ($1, $2, $3)
on conflict (id) do update set seen_at = now()
returning ${all}`,
      values: [this.#id, throttle.maxInFlight, throttle.minSlotIntervalMs],
    };
    this.#run = run;
  }

  /**
   * Makes this process known to the others. Returns `undefined` if it is, and a promise otherwise.
   */
  register(): Promise<void> | undefined {
    const ageMs = performance.now() - this.#registeredAtMs;
    if (ageMs < RENEWAL_MS) return undefined;
    this.#registering ??= this.#register().finally(() => (this.#registering = undefined));
    if (ageMs > MAX_AGE_MS) return this.#registering;
    this.#registering.catch(() => {}); // The next dequeue tries again.
    return undefined;
  }

  async #register(): Promise<void> {
    const nowMs = performance.now();
    const { rows } = await this.#run(this.#registration);
    this.#registeredAtMs = nowMs;
    this.#others = this.#parseOthers(rows[0]);
  }

  /** How long a dequeue that begins now is likely to take. */
  get estimateMs(): number {
    return this.#latency.estimateMs(performance.now()) ?? 0;
  }

  begin(): PendingCommit {
    return this.#latency.begin(performance.now());
  }

  /** @param row what the dequeue has returned, if it has taken an item */
  end(pending: PendingCommit, row: Row | undefined): void {
    const takenAtMs = parseNumber(row?.['taken_at']);
    // The result of an idempotency key may be an old one.
    const isNew = takenAtMs > this.#newestAtMs;
    if (!isNew) return this.#latency.discard(pending);
    this.#latency.end(pending, performance.now());
    this.#tripsMs.push(takenAtMs - pending.startedAtMs);
    if (this.#tripsMs.length > MAX_TRIPS) this.#tripsMs.shift();
    this.#newestAtMs = takenAtMs;
    this.#others = this.#parseOthers(row);
  }

  /**
   * Returns the other processes that may take before a dequeue, unknown to its early view.
   * `undefined` if that is unknown.
   */
  getConcurrentWriters({ startedAtMs, shown }: ShownState): ConcurrentWriters | undefined {
    // Neither of the two lists is always the newer one.
    const others = [...this.#others, ...this.#parseOthers(shown)];
    const throttles = [...new Map(others).values()];
    if (throttles.length === 0) return { commitLatencyMs: 0, throttles };
    const latencyMs = this.#latency.estimateMs(performance.now());
    const shownAtMs = parseNumber(shown?.['shown_at']);
    if (latencyMs === undefined || Number.isNaN(shownAtMs)) return undefined;
    const unseenMs = startedAtMs + Math.max(...this.#tripsMs) - shownAtMs;
    return {
      commitLatencyMs: Math.max(latencyMs, unseenMs + latencyMs / 3),
      throttles,
    };
  }

  #parseOthers(row: Row | undefined): readonly Consumer[] {
    const consumers = (parseJsonColumn(row?.['consumers']) ?? []) as readonly ConsumerRow[];
    return consumers.flatMap((item): Consumer[] => {
      if (item.id === this.#id) return [];
      const { max_in_flight, min_slot_interval_ms } = item;
      return [
        [
          item.id,
          {
            maxInFlight: max_in_flight,
            minSlotIntervalMs: min_slot_interval_ms,
          },
        ],
      ];
    });
  }
}

type Consumer = readonly [id: string, throttle: Throttle];

interface ConsumerRow {
  readonly id: string;
  readonly max_in_flight: number;
  readonly min_slot_interval_ms: number;
}

/** Returns `NaN` for a time that is unknown. */
function parseNumber(text: unknown): number {
  return typeof text === 'string' ? Number(text) : NaN;
}

function toMilliseconds(time: string): string {
  return `(extract(epoch from ${time}) * 1000)::float8::text`;
}
