/** The behaviour that every engine of the red log must have. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  LogEntry,
  LogMessage,
  RedLog,
  RedLogOptions,
  SavedLog,
} from '../../../src/server/log/red-log.ts';
import type { ServerReply } from '../../../src/server/log/red-log.ts';
import type { ServerConnection } from '../../../src/testing/simulator/etcd/simulated-etcd.ts';
import { RedLogConsumer } from '../../../src/server/log/red-log-consumer.ts';
import { getSiteIndex, siteAt, sitesTo } from '../origins.ts';

const RESEND_AFTER_MS = 10;
const SITES = 3;

/** How the suite creates an engine, and what the engine may do with records. */
export interface RedLogAdapter {
  readonly name: string;
  /**
   * @param server the result of `createServer`, if there is one
   * @param server what `createServer` has returned, if there is one
   */
  make(options: RedLogOptions<string>, server: RedLogServer | undefined): RedLog<string>;
  /**
   * Whether the log may lose records. Then a site halts instead of taking the records that follow.
   */
  readonly isUnsteady?: boolean;
  /** Creates the server that keeps the log of a deployment, for an engine that needs one. */
  createServer?(): RedLogServer;
}

/** The server of an engine, or a model of it, with its own clock. */
export interface RedLogServer {
  /** Separates the logs of deployments that share a server. */
  readonly deployment?: string;
  connect(reply: (reply: ServerReply) => void): ServerConnection;
  readonly nowMs: number;
  /** Lets time pass until `isQuiet` returns true. */
  settle(isQuiet: () => boolean): void | Promise<void>;
}

interface Node {
  log: RedLog<string>;
  server: ServerConnection | undefined;
  feed: RedLogConsumer<string>;
  readonly disk: LogEntry<string>[];
  /** The records that the site has taken, in order. */
  taken: string[];
  /** The first and the next place of each delivery. */
  spans: (readonly [from: number, next: number])[];
}

/** Three sites whose disks sync at once and whose messages arrive at once. */
class Deployment {
  readonly nodes: Node[] = [];
  readonly #adapter: RedLogAdapter;
  readonly #server: RedLogServer | undefined;
  readonly #sent: { readonly from: number; readonly to: number; readonly message: LogMessage }[] =
    [];

  constructor(adapter: RedLogAdapter) {
    this.#adapter = adapter;
    this.#server = adapter.createServer?.();
    for (let site = 0; site < SITES; site += 1) this.nodes.push(this.#made(site, 1, []));
  }

  #made(site: number, epoch: number, disk: LogEntry<string>[], saved?: SavedLog): Node {
    const entries = disk.slice();
    const place = { site: siteAt(site), sites: sitesTo(SITES), leader: siteAt(0) };
    const options = { ...place, epoch, entries, saved, resendAfterMs: RESEND_AFTER_MS };
    const log = this.#adapter.make(options, this.#server);
    const server = this.#server?.connect((reply) => {
      log.onReply?.(reply, this.#server?.nowMs ?? 0);
      this.#act(site);
    });
    return { log, server, feed: new RedLogConsumer(log, saved), disk, taken: [], spans: [] };
  }

  close(): void {
    for (const { server } of this.nodes) server?.close();
  }

  node(site: number): Node {
    return this.nodes[site] as Node;
  }

  async propose(site: number, ...records: string[]): Promise<void> {
    for (const record of records) {
      this.node(site).log.propose(record, this.#server?.nowMs ?? 0);
      await this.settle();
    }
  }

  /** Restarts a site with the log on its disk, and with its saved state if there is one. */
  async restart(site: number, saved?: SavedLog): Promise<void> {
    this.node(site).server?.close();
    this.nodes[site] = this.#made(site, 2, this.node(site).disk, saved);
    await this.settle();
  }

  /** Delivers all messages, syncs all disks, and lets time pass until the log is quiet. */
  async settle(): Promise<void> {
    for (let nowMs = 0; nowMs < 5 * RESEND_AFTER_MS; nowMs += RESEND_AFTER_MS) {
      for (const site of this.nodes.keys()) this.#act(site);
      // Without a server, nothing needs more time.
      if (this.#server !== undefined) await this.#server.settle(() => this.#isQuiet(nowMs));
      this.#passMessages(nowMs);
      for (const { log } of this.nodes) log.tick(this.#server?.nowMs ?? nowMs);
    }
  }

  #passMessages(nowMs: number): void {
    for (let next = this.#sent.shift(); next !== undefined; next = this.#sent.shift()) {
      this.node(next.to).log.receive(siteAt(next.from), next.message, nowMs);
      this.#act(next.to);
    }
  }

  /**
   * Returns whether nothing is in flight and all sites have read equally much. Sites propose only
   * after the others have replied.
   */
  #isQuiet(nowMs: number): boolean {
    this.#passMessages(nowMs);
    const lengths = new Set(this.nodes.map(({ log }) => log.save().delivered));
    return lengths.size === 1 && this.nodes.every(({ log }) => !log.isBusy);
  }

  #act(site: number): void {
    const node = this.node(site);
    for (
      let outputs = node.log.takeOutputs();
      outputs.length > 0;
      outputs = node.log.takeOutputs()
    ) {
      for (const output of outputs) {
        if (output.kind === 'send')
          this.#sent.push({ from: site, to: getSiteIndex(output.to), message: output.message });
        else if (output.kind === 'request') node.server?.request(output.request);
        else if (output.kind === 'store') node.disk.push(...output.entries);
        else if (output.kind === 'deliver') {
          node.spans.push([output.from, output.next]);
          node.taken.push(...node.feed.take(output));
        } else if (output.kind === 'gap' || output.kind === 'regressed') {
          node.feed.stop({ reason: output.kind, message: output.message });
        }
      }
      node.log.onSynced(node.disk.length);
    }
  }
}

const RECORDS = ['a', 'b', 'c', 'd', 'e', 'f'];

function open(adapter: RedLogAdapter): Deployment {
  const deployment = new Deployment(adapter);
  onTestFinished(() => deployment.close());
  return deployment;
}

/** Describes the suite for one engine. */
export function describeRedLog(adapter: RedLogAdapter): void {
  describe(`red log: ${adapter.name}`, () => {
    test('what sites propose → each site takes it once, all in one order', async () => {
      const sites = open(adapter);
      for (const [index, record] of RECORDS.entries()) await sites.propose(index % SITES, record);
      const longest =
        sites.nodes.map(({ taken }) => taken).toSorted((a, b) => b.length - a.length)[0] ?? [];
      for (const { taken, feed } of sites.nodes) {
        expect(taken).toEqual(longest.slice(0, taken.length));
        expect(new Set(taken).size).toBe(taken.length);
        // Less than all only where the site has noticed that something is missing.
        if (taken.length < RECORDS.length || adapter.isUnsteady !== true)
          expect(feed.halt === undefined).toBe(taken.length === RECORDS.length);
      }
      if (adapter.isUnsteady !== true) expect(longest.toSorted()).toEqual(RECORDS);
    });

    test('deliveries → begin where one before them ended, or come again as a whole', async () => {
      const sites = open(adapter);
      for (const [index, record] of RECORDS.entries()) await sites.propose(index % SITES, record);
      for (const { spans, feed } of sites.nodes) {
        const ends = new Set([0]);
        for (const [from, next] of spans) {
          expect(from).toBeLessThan(next);
          if (!ends.has(from)) expect(feed.halt).toBeDefined();
          ends.add(next);
        }
      }
    });

    test('after a halt → nothing is taken, whatever comes', async () => {
      const sites = open(adapter);
      await sites.propose(0, 'a');
      const { feed, taken } = sites.node(1);
      feed.stop({ reason: 'gap', message: 'for the test' });
      const before = taken.length;
      await sites.propose(0, 'b', 'c');
      expect(taken).toHaveLength(before);
    });

    if (adapter.isUnsteady === true) return;

    test('started again with what it saved → the rest is taken, and none of what was before', async () => {
      const sites = open(adapter);
      await sites.propose(1, 'a', 'b');
      const { log, feed } = sites.node(2);
      const saved = log.save();
      expect(saved.delivered).toBe(feed.next);
      await sites.propose(1, 'c');
      await sites.restart(2, saved);
      await sites.propose(0, 'd');
      expect(sites.node(2).taken).toEqual(['c', 'd']);
      expect(sites.node(2).feed.halt).toBeUndefined();
    });

    test('released → what comes after that is delivered all the same', async () => {
      const sites = open(adapter);
      await sites.propose(1, 'a');
      for (const { log, feed } of sites.nodes) log.release(feed.next);
      await sites.propose(2, 'b');
      for (const { taken } of sites.nodes) expect(taken).toEqual(['a', 'b']);
    });

    test('what stands in it → one name and, at one place, one digest at all sites; another one after another record', async () => {
      const [sites, others] = [open(adapter), open(adapter)];
      await sites.propose(1, 'a', 'b');
      await others.propose(2, 'a', 'b');
      const [first, second, third] = sites.nodes;
      const place = first!.feed.next;
      for (const { log } of [second!, third!]) {
        expect(log.identity()).toBe(first!.log.identity());
        expect(log.digest(place)).toBe(first!.log.digest(place));
      }
      expect(first!.log.digest(place)).toBeDefined();
      expect(others.node(0).log.digest(place)).not.toBe(first!.log.digest(place));
      expect(first!.log.digest(0)).not.toBe(first!.log.digest(place));
    });

    test('started again as another log, or with other records → halts at once', async () => {
      const sites = open(adapter);
      await sites.propose(1, 'a');
      const { log } = sites.node(2);
      const saved = log.save();
      expect(new RedLogConsumer(log, { ...saved, identity: 'another' }).halt).toMatchObject({
        reason: 'regressed',
      });
      expect(
        new RedLogConsumer(log, { ...saved, digest: (saved.digest ?? 0) + 1 }).halt,
      ).toMatchObject({
        reason: 'regressed',
      });
      expect(new RedLogConsumer(log, saved).halt).toBeUndefined();
    });
  });
}
