/**
 * Drawn runs of the paper's servers, with their histories: what each transaction has read, and the
 * order in which each server has committed. The checker of strict serializability judges them, and
 * shares nothing with the servers.
 */
import { PaperDeployment } from '../../bench/sdur/systems/paper-deployment.ts';
import type { Place } from '../../bench/sdur/systems/layouts.ts';
import type {
  PaperServer,
  PaperServerOptions,
  PaperServerOutput,
} from '../../bench/sdur/systems/paper-server.ts';
import type { Access } from '../../bench/sdur/systems/system.ts';
import { Random } from '../../src/server/service/collections/random.ts';
import {
  findStrictCycle,
  type StrictOperation,
} from '../../src/testing/simulator/checkers/strict.ts';
import { Timeline } from '../../src/testing/simulator/timeline.ts';

export interface HistoryOptions {
  readonly seed: number;
  readonly threshold: number;
  readonly delayMs: number;
  readonly globalShare: number;
  /** How many rows each partition has. */
  readonly rows: number;
  readonly Server: typeof PaperServer;
}

export interface HistoryResult {
  /** The first problem of the history, if it has one. */
  readonly problem: string | undefined;
  readonly counts: Readonly<Record<'aborted' | 'globals' | 'leaps', number>>;
}

const LAYOUT: readonly (readonly Place[])[] = [
  ['eu-1', 'eu-2', 'us-east-1'],
  ['us-east-2', 'us-east-3', 'eu-3'],
];
const TRANSACTIONS = 60;
const MAX_DELAY_MS = 30;
const DURATION_MS = 200;

type AccessKind = Pick<Access, 'isRead' | 'isWritten'>;
const ACCESSES: readonly [AccessKind, ...AccessKind[]] = [
  { isRead: true, isWritten: false },
  { isRead: true, isWritten: true },
  { isRead: false, isWritten: true },
];

/** Rows that only transactions at the end have, of which each ends pending globals. */
const LAST_ROW = 1_000;

export function runPaperHistory(options: HistoryOptions): HistoryResult {
  return new PaperHistory(options).run();
}

class PaperHistory {
  readonly #options: HistoryOptions;
  readonly #random: Random;
  readonly #timeline = new Timeline();
  readonly #deployment: PaperDeployment;
  readonly #operations = new Map<
    number,
    { -readonly [K in keyof StrictOperation]: StrictOperation[K] }
  >();
  readonly #seen = new Map<number, Map<string, string | undefined>>();
  /** By partition and server: the names of what it has committed, in its order. */
  readonly #committed: (readonly [
    partition: number,
    names: number[],
    rows: Map<string, string[]>,
  ])[] = [];
  #aborted = 0;
  /** Globals that have committed. */
  #globals = 0;
  /** Counts a transaction that commits after a later one of the log. */
  #leaps = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const delays = new Map<string, number>();
    const getDelayMs = (from: Place, to: Place): number => {
      const link = `${from} ${to}`;
      const delayMs = delays.get(link) ?? this.#random.fraction() * MAX_DELAY_MS;
      delays.set(link, delayMs);
      return delayMs;
    };
    const { threshold, delayMs } = options;
    this.#deployment = new PaperDeployment({
      timeline: this.#timeline,
      layout: LAYOUT,
      getDelayMs,
      serviceMs: this.#random.fraction(),
      threshold,
      delayMs,
      createServer: (server) => this.#createServer(server),
      onRead: (name, { partition, row, writer }) => {
        const rows = this.#seen.get(name) ?? new Map<string, string | undefined>();
        this.#seen.set(
          name,
          rows.set(`${partition}/${row}`, writer === undefined ? undefined : String(writer)),
        );
      },
    });
  }

  run(): HistoryResult {
    for (let count = 0; count < TRANSACTIONS; count += 1)
      this.#timeline.schedule(this.#random.fraction() * DURATION_MS, () =>
        this.#begin(this.#drawRows()),
      );
    this.#timeline.run(DURATION_MS + 20 * MAX_DELAY_MS);
    // A global ends only after other transactions.
    for (let count = 0; count <= this.#options.threshold; count += 1)
      for (const partition of LAYOUT.keys())
        this.#begin([{ partition, row: LAST_ROW + count, isRead: true, isWritten: true }]);
    this.#timeline.run(Infinity);
    const counts = { aborted: this.#aborted, globals: this.#globals, leaps: this.#leaps };
    return { problem: this.#findProblem(), counts };
  }

  #drawRows(): readonly [Access, ...Access[]] {
    const home = this.#random.between(0, 1);
    const second = this.#random.chance(this.#options.globalShare) ? 1 - home : home;
    return [this.#drawAccess(home), this.#drawAccess(second)];
  }

  #drawAccess(partition: number): Access {
    const row = this.#random.between(1, this.#options.rows);
    return { partition, row, ...this.#random.pick(ACCESSES) };
  }

  #begin(rows: readonly [Access, ...Access[]]): void {
    const begunAt = this.#timeline.nowMs;
    const name = this.#deployment.begin({ home: rows[0].partition, rows }, (commits) => {
      const operation = this.#operations.get(name);
      if (operation !== undefined) operation.endedAt = this.#timeline.nowMs;
      if (!commits) this.#aborted += 1;
      else if (new Set(rows.map(({ partition }) => partition)).size > 1) this.#globals += 1;
    });
    this.#operations.set(name, {
      name: String(name),
      begunAt,
      endedAt: undefined,
      seen: new Map(),
    });
  }

  #createServer(options: PaperServerOptions): PaperServer {
    const server = new this.#options.Server(options);
    const [names, rows] = [[] as number[], new Map<string, string[]>()];
    this.#committed.push([options.partition, names, rows]);
    const places = new Map<number, number>();
    const takeOutputs = server.takeOutputs.bind(server);
    const deliver = server.deliver.bind(server);
    server.deliver = (transaction) => {
      places.set(transaction.name, places.size);
      deliver(transaction);
    };
    server.takeOutputs = (): PaperServerOutput[] => {
      const outputs = takeOutputs();
      for (const output of outputs) {
        if (output.kind !== 'end' || !output.commits) continue;
        const { name, parts } = output.transaction;
        const last = names.at(-1);
        if (last !== undefined && (places.get(last) ?? 0) > (places.get(name) ?? 0))
          this.#leaps += 1;
        names.push(name);
        for (const { partition, writes } of parts) {
          if (partition !== options.partition) continue;
          for (const row of new Set(writes)) {
            const key = `${partition}/${row}`;
            rows.set(key, [...(rows.get(key) ?? []), String(name)]);
          }
        }
      }
      return outputs;
    };
    return server;
  }

  #findProblem(): string | undefined {
    for (const partition of LAYOUT.keys()) {
      const orders = this.#committed
        .filter(([of]) => of === partition)
        .map(([, names]) => names.join(' '));
      if (new Set(orders).size > 1) return `servers of ${partition} differ: ${orders.join(' | ')}`;
    }
    const byPartition = new Map(this.#committed.map((item) => [item[0], item] as const));
    const committed = new Set([...byPartition.values()].flatMap(([, names]) => names));
    const operations = [...this.#operations].flatMap(([name, operation]) =>
      committed.has(name) ? [{ ...operation, seen: this.#seen.get(name) ?? new Map() }] : [],
    );
    const unanswered = [...this.#operations.values()].filter(
      ({ endedAt }) => endedAt === undefined,
    );
    if (unanswered.length > 0)
      return `not answered: ${unanswered.map(({ name }) => name).join(' ')}`;
    const writers = new Map([...byPartition.values()].flatMap(([, , rows]) => [...rows]));
    const cycle = findStrictCycle(operations, writers);
    return cycle && `not serializable: ${cycle.join(' ')}`;
  }
}
