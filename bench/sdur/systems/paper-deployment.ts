/**
 * Servers of the paper's machine in virtual time, with the logs of their partitions and the links
 * between them.
 */
import type { Timeline } from '../../../src/testing/simulator/timeline.ts';
import type { Place } from './layouts.ts';
import {
  PaperServer,
  type PaperServerOptions,
  type PaperServerOutput,
  type Snapshot,
  type Vote,
} from './paper-server.ts';
import type { Part, Transaction } from './transaction.ts';
import type { Access, Request, System } from './system.ts';
import { Worker } from './worker.ts';

export interface PaperOptions extends Pick<PaperServerOptions, 'threshold' | 'delayMs'> {
  readonly timeline: Timeline;
  /** By partition. The first server of each leads its log. */
  readonly layout: readonly (readonly Place[])[];
  readonly getDelayMs: (from: Place, to: Place) => number;
  /** How long a server works for each transaction of its log. */
  readonly serviceMs: number;
  readonly createServer?: ((options: PaperServerOptions) => PaperServer) | undefined;
  /** Called with each read, and the writer that it has seen. */
  readonly onRead?: ((transaction: number, read: Read) => void) | undefined;
}

export interface Read {
  readonly partition: number;
  readonly row: number;
  readonly writer: number | undefined;
}

/** A server at its place. */
interface Node {
  readonly partition: number;
  readonly place: Place;
  readonly server: PaperServer;
  readonly worker: Worker;
  /**
   * How long after its arrival at the leader a transaction of the log is known here to be
   * committed.
   */
  readonly learnMs: number;
}

/** A transaction of a client in flight. */
interface Execution {
  readonly home: Node;
  readonly onEnd: (commits: boolean) => void;
}

export class PaperDeployment implements System {
  /** By partition. */
  readonly #nodes: readonly (readonly Node[])[];
  readonly #options: PaperOptions;
  readonly #executions = new Map<number, Execution>();
  #name = 0;

  constructor(options: PaperOptions) {
    this.#options = options;
    this.#nodes = options.layout.map((places, partition) =>
      places.map((place) => this.#createNode(places, { partition, place })),
    );
  }

  get busyMs(): readonly number[] {
    return this.#nodes.flat().map(({ worker }) => worker.busyMs);
  }

  /** Returns the name of the transaction. */
  begin({ home, rows }: Request, onEnd: (commits: boolean) => void): number {
    this.#name += 1;
    const name = this.#name;
    const node = this.#nodes[home]?.[0] as Node;
    this.#executions.set(name, { home: node, onEnd });
    // The client is in the region of its server.
    this.#send(node.place, node.place, () => this.#execute(name, node, rows));
    return name;
  }

  #createNode(
    places: readonly Place[],
    { partition, place }: Pick<Node, 'partition' | 'place'>,
  ): Node {
    const {
      threshold,
      delayMs,
      timeline,
      createServer = (options) => new PaperServer(options),
    } = this.#options;
    const server = createServer({ partition, threshold, delayMs });
    return {
      partition,
      place,
      server,
      worker: new Worker(timeline),
      learnMs: this.#computeLearnMs(places, place),
    };
  }

  /**
   * Two of three servers are a majority. So a follower knows that a transaction is committed when
   * it gets it from the leader, and the leader when the nearest follower has confirmed it.
   */
  #computeLearnMs([leader, ...followers]: readonly Place[], place: Place): number {
    const { getDelayMs } = this.#options;
    const from = leader as Place;
    if (place !== from) return getDelayMs(from, place);
    return 2 * Math.min(...followers.map((follower) => getDelayMs(from, follower)));
  }

  /**
   * Reads all rows, then submits the transaction. If it only reads, it ends with its reads. The
   * paper says that timelines only read, and not how they end.
   */
  #execute(name: number, node: Node, rows: readonly Access[]): void {
    const partitions = [...new Set(rows.map(({ partition }) => partition))];
    const parts = new Map<number, Part>();
    for (const partition of partitions) {
      const accesses = rows.filter((access) => access.partition === partition);
      const reads = accesses.filter(({ isRead }) => isRead).map(({ row }) => row);
      const writes = accesses.filter(({ isWritten }) => isWritten).map(({ row }) => row);
      this.#read(node, { partition, rows: reads }, ({ snapshot, writers }) => {
        for (const [row, writer] of writers)
          this.#options.onRead?.(name, { partition, row, writer });
        parts.set(partition, { partition, snapshot, reads, writes });
        if (parts.size < partitions.length) return;
        if (rows.some(({ isWritten }) => isWritten))
          this.#submit(node, { name, parts: [...parts.values()] });
        else this.#answer(name, true);
      });
    }
  }

  /** Reads at the server itself, or at the nearest server of another partition. */
  #read(
    from: Node,
    { partition, rows }: { readonly partition: number; readonly rows: readonly number[] },
    onRead: (snapshot: Snapshot) => void,
  ): void {
    if (partition === from.partition) return onRead(from.server.read(rows));
    const to = this.#findNearest(from.place, partition);
    this.#send(from.place, to.place, () => {
      const snapshot = to.server.read(rows);
      this.#send(to.place, from.place, () => onRead(snapshot));
    });
  }

  #findNearest(from: Place, partition: number): Node {
    const { getDelayMs } = this.#options;
    const nodes = this.#nodes[partition] ?? [];
    return nodes.reduce((near, node) =>
      getDelayMs(from, node.place) < getDelayMs(from, near.place) ? node : near,
    );
  }

  #submit({ server, place }: Node, transaction: Transaction): void {
    server.submit(transaction);
    this.#apply(server, place);
  }

  #apply(server: PaperServer, place: Place): void {
    for (const output of server.takeOutputs()) this.#applyOutput(output, server, place);
  }

  #applyOutput(output: PaperServerOutput, server: PaperServer, place: Place): void {
    if (output.kind === 'vote') {
      for (const node of this.#nodes[output.to] ?? [])
        this.#send(place, node.place, () => this.#receiveVote(node, output.vote));
    } else if (output.kind === 'broadcast') {
      const { partition, transaction, afterMs } = output;
      const leader = this.#nodes[partition]?.[0] as Node;
      const tripMs = leader.server === server ? 0 : this.#options.getDelayMs(place, leader.place);
      this.#options.timeline.schedule(afterMs + tripMs, () => this.#append(partition, transaction));
    } else {
      this.#end(output, server);
    }
  }

  /**
   * The leader of a log has got a transaction. All links keep the order of messages, so all servers
   * learn it.
   */
  #append(partition: number, transaction: Transaction): void {
    const { timeline, serviceMs } = this.#options;
    for (const node of this.#nodes[partition] ?? []) {
      timeline.schedule(node.learnMs, () =>
        node.worker.add(serviceMs, () => {
          node.server.deliver(transaction);
          this.#apply(node.server, node.place);
        }),
      );
    }
  }

  #receiveVote({ server, place, worker }: Node, vote: Vote): void {
    worker.add(0, () => {
      server.receiveVote(vote);
      this.#apply(server, place);
    });
  }

  #end({ transaction, commits }: PaperServerOutput & { kind: 'end' }, server: PaperServer): void {
    const execution = this.#executions.get(transaction.name);
    if (execution?.home.server === server) this.#answer(transaction.name, commits);
  }

  #answer(name: number, commits: boolean): void {
    const execution = this.#executions.get(name);
    if (execution === undefined) return;
    const { home, onEnd } = execution;
    this.#executions.delete(name);
    this.#send(home.place, home.place, () => onEnd(commits));
  }

  #send(from: Place, to: Place, receive: () => void): void {
    const { timeline, getDelayMs } = this.#options;
    timeline.schedule(getDelayMs(from, to), receive);
  }
}
