/**
 * The servers of etcd that keep the red log of a run: what can be done to them, one thing at a
 * time.
 */
import { execFile } from 'node:child_process';
import { cp, rename, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { EtcdCluster } from '../../engines/etcd/cluster.ts';
import type { Site } from '../../engines/wan.ts';
import { pause } from '../histories/pause.ts';

/** So small that a run can use it up. */
export const QUOTA_BYTES = 48 * 1024 * 1024;
const PAYLOAD = Buffer.alloc(1_000_000, 1).toString('base64');
const PAYLOADS_MAX = 3 * (QUOTA_BYTES / 1_000_000);
/** Keys that are no part of the red log, and the end of their range. */
const PAYLOAD_PREFIX = 'payload/';
const PAYLOAD_END = 'payload0';
const REPAIR_MS = 60_000;
/** A write that was refused before may raise the alarm again. */
const ALARM_MS = 1_000;
const RETRY_MS = 300;
/** A server that starts on an older disk has ended by then, or serves. */
const OLD_MEMBER_MS = 10_000;

export interface EtcdServersOptions {
  readonly cluster: EtcdCluster;
  /** The built command line, and a cluster file for it. */
  readonly cli: string;
  readonly clusterFile: string;
}

export class EtcdServers {
  readonly cluster: EtcdCluster;
  readonly #options: EtcdServersOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: EtcdServersOptions) {
    this.#options = options;
    this.cluster = options.cluster;
  }

  /** Runs once all earlier runs have ended. */
  async runAlone<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run, run);
    this.#last = result.catch(() => {});
    return await result;
  }

  /** Copies the disks of these servers, which are killed meanwhile. */
  async copyDisks(sites: readonly Site[]): Promise<void> {
    await this.#killAll(sites);
    await Promise.all(
      sites.map((site) => cp(this.#disk(site), this.#copy(site), { recursive: true })),
    );
    await Promise.all(sites.map((site) => this.cluster.restart(site)));
  }

  /** Puts the disks of these servers back to the copies, and launches them. */
  async putBackDisks(sites: readonly Site[]): Promise<void> {
    await this.#killAll(sites);
    await Promise.all(
      sites.map(async (site) => {
        await rm(this.#disk(site), { recursive: true });
        await rename(this.#copy(site), this.#disk(site));
      }),
    );
    for (const site of sites) await this.cluster.launch(site);
  }

  /** Starts a server again that has ended, as an operator's system does. */
  async untilAllServe(progress: (text: string) => void = () => {}): Promise<void> {
    const { cluster } = this;
    const serve = async (site: Site): Promise<void> => {
      try {
        await cluster.untilServing(site);
      } catch (error) {
        progress((error as Error).message);
        if (!cluster.isRunning(site)) await cluster.launch(site);
        throw error;
      }
    };
    await Promise.all(
      cluster.sites.map((site) => insist(`start etcd of ${site}`, () => serve(site))),
    );
  }

  /** Whether a server that was launched on an older disk serves: it may refuse to. */
  async servesOnOldDisk(site: Site): Promise<boolean> {
    const serves = this.cluster.untilServing(site).then(
      () => true,
      () => false,
    );
    return await Promise.race([serves, pause(OLD_MEMBER_MS).then(() => false)]);
  }

  /** Puts a server with an empty disk in the place of one, as an operator does. */
  async replace(site: Site): Promise<void> {
    await insist('replace a member', () => this.cluster.replace(site));
  }

  /** Writes until etcd refuses writes. */
  async useUpQuota(): Promise<void> {
    const [site] = this.cluster.sites as [Site];
    for (let n = 0; n < PAYLOADS_MAX; n += 1) {
      try {
        await this.cluster.request(site, 'kv/put', {
          key: toBase64(`${PAYLOAD_PREFIX}${n}`),
          value: PAYLOAD,
        });
      } catch (error) {
        if ((error as Error).message.includes('space')) return;
        await pause(RETRY_MS);
      }
    }
    throw new Error('the quota of etcd cannot be used up');
  }

  /** Deletes what used it up, then does what the alarm of the sites asks for. */
  async freeQuota(): Promise<void> {
    const [site] = this.cluster.sites as [Site];
    await insist('free the quota of etcd', async () => {
      const range = { key: toBase64(PAYLOAD_PREFIX), range_end: toBase64(PAYLOAD_END) };
      const { header } = await this.cluster.request<{
        readonly header: { readonly revision: string };
      }>(site, 'kv/deleterange', range);
      await this.cluster.request(site, 'kv/compaction', {
        revision: header.revision,
        physical: true,
      });
    });
    await insist('defragment etcd', async () => {
      await this.cluster.freeSpace();
      await pause(ALARM_MS);
      const { alarms = [] } = await this.cluster.request<{ readonly alarms?: object[] }>(
        site,
        'maintenance/alarm',
        {},
      );
      if (alarms.length > 0) throw new Error('the alarm has come again');
    });
  }

  /** Runs `cluster restore-red` until it succeeds: sites may be out of reach. */
  async restoreRed(): Promise<void> {
    const { cli, clusterFile } = this.#options;
    await insist('run cluster restore-red', () =>
      promisify(execFile)(process.execPath, [
        cli,
        'cluster',
        'restore-red',
        '--cluster',
        clusterFile,
      ]),
    );
  }

  async #killAll(sites: readonly Site[]): Promise<void> {
    await Promise.all(sites.map((site) => this.cluster.kill(site)));
  }

  #disk(site: Site): string {
    return this.cluster.dataFolder(site);
  }

  #copy(site: Site): string {
    return `${this.#disk(site)}.copy`;
  }
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function insist(what: string, run: () => Promise<unknown>): Promise<void> {
  const untilMs = performance.now() + REPAIR_MS;
  for (;;) {
    try {
      await run();
      return;
    } catch (error) {
      if (performance.now() > untilMs)
        throw new Error(`cannot ${what}: ${(error as Error).message}`, { cause: error });
      await pause(RETRY_MS);
    }
  }
}
