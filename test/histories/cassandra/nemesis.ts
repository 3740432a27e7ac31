/**
 * Who does harm: to the connections of single clients, to nodes, to the schema. What was done
 * stands in the history.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type cassandra from 'cassandra-driver';
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { Site } from '../../../engines/wan.ts';
import { Random } from '../../../src/server/service/collections/random.ts';
import type { Call, History } from '../history.ts';
import { NEMESIS } from './inputs.ts';
import { patiently } from './retry-until-works.ts';
import { SHAPES, getTableSchemas } from './plain-values.ts';
import type { ClientSession } from './client-session.ts';
import { SHAPE_KEY } from './steps.ts';

export interface NemesisParts {
  readonly cluster: Cluster;
  /** For changes of the schema, at a node that the nemesis spares while it makes them. */
  readonly driver: cassandra.Client;
  /** Of the table with the changing column. */
  readonly keyspace: string;
  readonly seats: readonly ClientSession[];
  /** Has a client begin some updates. */
  readonly beginUpdates: (subscriber: ClientSession, random: Random) => void;
  readonly history: History;
  readonly seed: number;
  readonly untilMs: number;
  readonly progress: (line: string) => void;
}

/** Peers take a node that is gone for alive about so long. */
const GONE_MS = 22_000;
/** With less time left there would be nothing after it. */
const RESTART_LEAST_MS = 60_000;
const BETWEEN_RESTARTS_MS = 60_000;
const CALM_MS = [5_000, 14_000] as const;
const FREEZE_MS = [500, 7_000] as const;
const FREEZE_TWO_MS = [500, 3_000] as const;
const DOWN_MS = [200, 3_000] as const;
const BETWEEN_CUTS_MS = [500, 3_000] as const;
/** About as long as an update takes. */
const CLOSE_AFTER_MS = 60;
const BETWEEN_SHAPES_MS = [1_500, 5_000] as const;

type Range = readonly [leastMs: number, mostMs: number];

export class Nemesis {
  readonly #parts: NemesisParts;
  #areNodesWell = true;
  #restartedMs = -Infinity;

  constructor(parts: NemesisParts) {
    this.#parts = parts;
  }

  /** Until it is time; then all nodes run. */
  async run(): Promise<void> {
    await Promise.all([this.#harmNodes(), this.#harmClients(), this.#changeShape()]);
  }

  /** Lets frozen nodes go on and starts those that were killed. */
  async heal(): Promise<void> {
    const { cluster } = this.#parts;
    for (const site of cluster.sites) cluster.resume(site);
    for (const site of cluster.sites) if (!cluster.isRunning(site)) await cluster.restart(site);
    await patiently(() => cluster.untilReady());
  }

  async #harmNodes(): Promise<void> {
    const random = this.#random(1);
    const { cluster } = this.#parts;
    while (await this.#waited(random, CALM_MS)) {
      const [first, second] = shuffled(cluster.sites, random) as [Site, Site];
      this.#areNodesWell = false;
      if (this.#isTimeToRestart()) await this.#harm('restart', '', () => this.#restart(first));
      else if (random.chance(0.2))
        await this.#freeze('freeze two nodes', [first, second], random.between(...FREEZE_TWO_MS));
      else await this.#freeze('freeze', [first], random.between(...FREEZE_MS));
      this.#areNodesWell = true;
    }
  }

  async #harmClients(): Promise<void> {
    const random = this.#random(2);
    while (await this.#waited(random, BETWEEN_CUTS_MS)) {
      const subscriber = random.pick(this.#parts.seats as [ClientSession, ...ClientSession[]]);
      const description = random.pick(['cut', 'cut', 'refuse', 'close client']);
      await this.#harm(description, subscriber.name, async () => {
        if (description === 'cut') subscriber.links.cut();
        else if (description === 'close client') await this.#close(subscriber, random);
        else await this.#refuse(subscriber, random.between(...DOWN_MS));
      });
    }
  }

  /**
   * Drops the column, creates it again with another type, and fills it. Reads in the meantime see
   * its content of that time.
   */
  async #changeShape(): Promise<void> {
    const random = this.#random(3);
    const { driver, keyspace, history } = this.#parts;
    for (let epoch = 1; await this.#waited(random, BETWEEN_SHAPES_MS); epoch += 1) {
      if (!this.#areNodesWell) continue;
      const type = SHAPES[epoch % SHAPES.length] ?? 'bigint';
      const number = epoch * 1_000;
      const input = { shape: getTableSchemas(type, number) };
      const call = history.record({
        session: 'schema',
        kind: 'reshape',
        key: SHAPE_KEY,
        input,
        beginMs: performance.now(),
      });
      try {
        await driver.execute(`ALTER TABLE ${keyspace}.shapes DROP IF EXISTS w`);
        await driver.execute(`ALTER TABLE ${keyspace}.shapes ADD IF NOT EXISTS w ${type}`);
        await driver.execute(
          `UPDATE ${keyspace}.shapes SET w = ${number} WHERE key = '${SHAPE_KEY}'`,
          [],
          {
            consistency: QUORUM,
          },
        );
        call.outcome = 'success';
      } catch (error) {
        call.outcome = `not changed: ${(error as Error).message}`;
      }
      call.endMs = performance.now();
      history.ended(call);
    }
  }

  async #freeze(description: string, sites: readonly Site[], forMs: number): Promise<void> {
    const { cluster } = this.#parts;
    await this.#harm(description, '', async () => {
      for (const site of sites) cluster.pause(site);
      await sleep(forMs);
      for (const site of sites) cluster.resume(site);
    });
  }

  async #restart(site: Site): Promise<void> {
    const { cluster, progress } = this.#parts;
    progress(`kills ${site}`);
    await cluster.kill(site);
    await sleep(GONE_MS);
    // On a busy machine it may take long: healing waits for it.
    const isBack = await cluster.restart(site).then(
      () => true,
      () => false,
    );
    this.#restartedMs = performance.now();
    progress(`${site} ${isBack ? 'is back' : 'takes its time'}`);
  }

  /** With updates under way, some of which are answered by then, or have not left. */
  async #close(subscriber: ClientSession, random: Random): Promise<void> {
    this.#parts.beginUpdates(subscriber, random);
    await sleep(random.between(0, CLOSE_AFTER_MS));
    subscriber.retake();
  }

  async #refuse(subscriber: ClientSession, forMs: number): Promise<void> {
    subscriber.links.down();
    await sleep(forMs);
    subscriber.links.up();
  }

  /** Does it, and writes it down. */
  async #harm(kind: string, key: string, harm: () => Promise<void>): Promise<Call> {
    const { history } = this.#parts;
    const call = history.record({ session: NEMESIS, kind, key, beginMs: performance.now() });
    await harm();
    call.endMs = performance.now();
    call.outcome = 'success';
    history.ended(call);
    return call;
  }

  #isTimeToRestart(): boolean {
    const now = performance.now();
    return (
      now - this.#restartedMs > BETWEEN_RESTARTS_MS && this.#parts.untilMs - now > RESTART_LEAST_MS
    );
  }

  /** Whether there is still time after a pause. */
  async #waited(random: Random, range: Range): Promise<boolean> {
    const leftMs = this.#parts.untilMs - performance.now();
    await sleep(Math.max(0, Math.min(leftMs, random.between(...range))));
    return performance.now() < this.#parts.untilMs;
  }

  #random(stream: number): Random {
    return new Random(this.#parts.seed * 10 + stream);
  }
}

const QUORUM = 4;

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(random.between(0, left.length - 1), 1)[0] as T);
}
