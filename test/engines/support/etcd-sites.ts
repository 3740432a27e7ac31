/**
 * Nodes of the red log on a real etcd, as their sites drive them: disks sync at once, and messages
 * arrive at once.
 */
import * as grpc from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import type { EtcdCluster } from '../../../engines/etcd/cluster.ts';
import { EtcdAdapter } from '../../../src/server/node/etcd/etcd-adapter.ts';
import { EtcdLog, type EtcdLogOptions } from '../../../src/server/log/etcd/etcd-log.ts';
import type { EtcdReply, EtcdRequest } from '../../../src/server/log/etcd/etcd-requests.ts';
import type { LogEntry, LogOutput, RedLogOptions } from '../../../src/server/log/red-log.ts';
import { getSiteIndex, siteAt, sitesTo } from '../../support/origins.ts';

const SITES = 3;
const TICK_MS = 25;
let deployments = 0;

export class EtcdSite {
  readonly log: EtcdLog<string>;
  readonly adapter: EtcdAdapter;
  readonly disk: LogEntry<string>[];
  readonly taken: string[] = [];
  readonly outputs: LogOutput<string>[] = [];

  constructor(log: EtcdLog<string>, adapter: EtcdAdapter, disk: LogEntry<string>[]) {
    [this.log, this.adapter, this.disk] = [log, adapter, disk];
  }

  kinds(): string[] {
    return this.outputs.map(({ kind }) => kind);
  }
}

interface StartOptions extends Partial<RedLogOptions<string>> {
  /** Default: all servers, the first one first. */
  readonly endpoints?: readonly string[];
}

export class EtcdSites {
  readonly deployment: string;
  readonly #cluster: EtcdCluster;
  readonly #place: Partial<EtcdLogOptions>;
  readonly #sites = new Map<number, EtcdSite>();
  readonly #adapters: EtcdAdapter[] = [];

  constructor(cluster: EtcdCluster, place: Partial<EtcdLogOptions> = {}) {
    deployments += 1;
    this.deployment = `sites-${deployments}`;
    [this.#cluster, this.#place] = [cluster, place];
    const timer = setInterval(() => {
      for (const [index, { log }] of this.#sites) {
        log.tick(performance.now());
        this.#act(index);
      }
    }, TICK_MS);
    onTestFinished(() => {
      clearInterval(timer);
      for (const adapter of this.#adapters) adapter.close();
    });
  }

  get all(): readonly EtcdSite[] {
    return [...this.#sites.values()];
  }

  site(index: number): EtcdSite {
    return this.#sites.get(index) as EtcdSite;
  }

  startAll(): this {
    for (let index = 0; index < SITES; index += 1) this.start(index);
    return this;
  }

  /** Starts a site. Its earlier process goes on, but nothing reads from it any more. */
  start(
    index: number,
    { endpoints = this.#cluster.endpoints(), ...options }: StartOptions = {},
  ): EtcdSite {
    const disk = [...(options.entries ?? [])];
    const place = {
      site: siteAt(index),
      sites: sitesTo(SITES),
      leader: siteAt(0),
      resendAfterMs: 10,
    };
    const log = new EtcdLog<string>(
      { epoch: 1, ...place, ...options },
      { deployment: this.deployment, generation: 0, ...this.#place },
    );
    const adapter: EtcdAdapter = new EtcdAdapter(grpc, { endpoints }, (reply: EtcdReply) => {
      if (this.#sites.get(index)?.log !== log) return;
      log.onReply(reply, performance.now());
      this.#act(index);
    });
    this.#adapters.push(adapter);
    const site = new EtcdSite(log, adapter, disk);
    this.#sites.set(index, site);
    return site;
  }

  /** Ends a site. */
  end(index: number): void {
    this.site(index).adapter.close();
    this.#sites.delete(index);
  }

  propose(index: number, ...records: string[]): void {
    for (const record of records) this.site(index).log.propose(record, performance.now());
    this.#act(index);
  }

  #act(index: number): void {
    const site = this.#sites.get(index);
    if (site === undefined) return;
    for (
      let outputs = site.log.takeOutputs();
      outputs.length > 0;
      outputs = site.log.takeOutputs()
    ) {
      for (const output of outputs) this.#apply(site, siteAt(index), output);
      site.log.onSynced(site.disk.length);
    }
  }

  #apply(site: EtcdSite, from: ReturnType<typeof siteAt>, output: LogOutput<string>): void {
    if (output.kind === 'request') return site.adapter.send(output.request as EtcdRequest);
    site.outputs.push(output);
    if (output.kind === 'store') site.disk.push(...output.entries);
    else if (output.kind === 'deliver') site.taken.push(...output.records);
    else if (output.kind === 'send') {
      const to = getSiteIndex(output.to);
      this.#sites.get(to)?.log.receive(from, output.message as never);
    }
  }
}
