/** Sites that use the log on etcd, with a model of etcd and a virtual clock. */
import { Random } from '../../src/server/service/collections/random.ts';
import { EtcdLog, type EtcdLogOptions } from '../../src/server/log/etcd/etcd-log.ts';
import type { EtcdReply } from '../../src/server/log/etcd/etcd-requests.ts';
import type {
  LogEntry,
  LogOutput,
  RedLogOptions,
  SavedLog,
  ServerReply,
} from '../../src/server/log/red-log.ts';
import type { ServerConnection } from '../../src/testing/simulator/etcd/simulated-etcd.ts';
import { SimulatedEtcd, type EtcdFaults } from '../../src/testing/simulator/etcd/simulated-etcd.ts';
import { Timeline } from '../../src/testing/simulator/timeline.ts';
import { getSiteIndex, siteAt, sitesTo } from './origins.ts';

const NO_FAULTS: EtcdFaults = {
  etcdDelayMeanMs: 1,
  etcdLossChance: 0,
  etcdLateChance: 0,
  etcdFaultEveryMs: Infinity,
  etcdFaultMeanMs: 0,
  etcdDropChance: 0,
};
const TICK_MS = 25;

/** A site, and what it has received. */
export class EtcdNode {
  log: EtcdLog<string>;
  server: ServerConnection;
  readonly disk: LogEntry<string>[];
  /** The place of the first entry that the site takes. */
  readonly #start: number;
  /** Whether the data that the site stores is synced at once. */
  isSyncing = true;
  /** Whether the process of the site has ended. */
  isStopped = false;
  readonly taken: string[] = [];
  readonly outputs: LogOutput<string>[] = [];

  constructor(
    log: EtcdLog<string>,
    server: ServerConnection,
    disk: LogEntry<string>[],
    start: number,
  ) {
    [this.log, this.server, this.disk, this.#start] = [log, server, disk, start];
  }

  sync(): void {
    this.log.onSynced(this.#start + this.disk.length);
  }

  kinds(): string[] {
    return this.outputs.map(({ kind }) => kind);
  }

  messages(kind: string): string[] {
    return this.outputs.flatMap((output) =>
      output.kind === kind && 'message' in output ? [String(output.message)] : [],
    );
  }
}

export class EtcdWorld {
  readonly timeline = new Timeline();
  readonly etcd: SimulatedEtcd;
  readonly nodes: EtcdNode[] = [];
  readonly #place: EtcdLogOptions;
  readonly #siteCount: number;

  constructor(
    siteCount = 2,
    place: Partial<EtcdLogOptions> = {},
    faults: Partial<EtcdFaults> = {},
  ) {
    this.#siteCount = siteCount;
    this.#place = { deployment: 'test', generation: 0, ...place };
    this.etcd = new SimulatedEtcd({ ...NO_FAULTS, ...faults }, new Random(1), this.timeline);
    for (let site = 0; site < siteCount; site += 1) this.start(site, { epoch: 1 });
    this.run(200);
  }

  get nowMs(): number {
    return this.timeline.nowMs;
  }

  connect(reply: (reply: ServerReply) => void): ServerConnection {
    return this.etcd.connect(reply);
  }

  settle(): void {
    this.run(200);
  }

  node(site: number): EtcdNode {
    return this.nodes[site] as EtcdNode;
  }

  /** Starts a site on a disk. What an earlier process of the site had in memory is lost. */
  start(
    site: number,
    options: Partial<RedLogOptions<string>> & { readonly saved?: SavedLog | undefined },
  ): EtcdNode {
    const { timeline } = this;
    this.nodes[site]?.server.close();
    const disk = [...(options.entries ?? [])];
    const place = {
      site: siteAt(site),
      sites: sitesTo(this.#siteCount),
      leader: siteAt(0),
      resendAfterMs: 10,
    };
    const log = new EtcdLog<string>({ epoch: 1, ...place, ...options }, this.#place);
    const server = this.etcd.connect((reply) => {
      log.onReply(reply as EtcdReply, timeline.nowMs);
      this.#act(site);
    });
    this.nodes[site] = new EtcdNode(log, server, disk, options.start ?? 0);
    this.#act(site);
    this.#planTick(site, log);
    return this.node(site);
  }

  propose(site: number, ...records: string[]): void {
    for (const record of records) this.node(site).log.propose(record, this.timeline.nowMs);
    this.#act(site);
  }

  /** Ends sites for good, unless they are started again. */
  stop(...sites: readonly number[]): void {
    for (const site of sites) {
      this.node(site).server.close();
      this.node(site).isStopped = true;
    }
  }

  /** Lets a site sync what it has stored. */
  sync(site: number): void {
    this.node(site).sync();
    this.#act(site);
  }

  run(forMs: number): void {
    this.timeline.run(this.timeline.nowMs + forMs);
  }

  #planTick(site: number, log: EtcdLog<string>): void {
    this.timeline.schedule(TICK_MS, () => {
      if (this.node(site).log !== log) return;
      log.tick(this.timeline.nowMs);
      this.#act(site);
      this.#planTick(site, log);
    });
  }

  #act(site: number): void {
    const node = this.nodes[site];
    if (node === undefined || node.isStopped) return;
    for (
      let outputs = node.log.takeOutputs();
      outputs.length > 0;
      outputs = node.log.takeOutputs()
    ) {
      for (const output of outputs) this.#apply(node, output);
      if (node.isSyncing) node.sync();
    }
  }

  #apply(node: EtcdNode, output: LogOutput<string>): void {
    node.outputs.push(output);
    if (output.kind === 'request') node.server.request(output.request);
    else if (output.kind === 'store') node.disk.push(...output.entries);
    else if (output.kind === 'deliver') node.taken.push(...output.records);
    else if (output.kind === 'send') {
      const from = siteAt(this.nodes.indexOf(node));
      this.timeline.schedule(1, () => {
        this.nodes[getSiteIndex(output.to)]?.log.receive(from, output.message as never);
        this.#act(getSiteIndex(output.to));
      });
    }
  }
}
