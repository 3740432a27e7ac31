/** A simulated client: one session, one operation at a time, each repeated until it is answered. */
import type { OnSiteRead, OperationRefusal } from '../../../src/causal/causal-site.ts';
import { CausalSession } from '../../../src/causal/session.ts';
import { createZeroVector, MICROSECONDS_PER_MS } from '../../../src/causal/stamps.ts';
import type { Version } from '../../../src/causal/version.ts';
import { SessionFrontier } from '../../../src/testing/simulator/checkers/frontier-checker.ts';
import type { CausalWorld } from './world.ts';

const MAX_ATTEMPTS = 25;
const RETRY_MS = 15;
const TTL_MS = 50;

export class SimulatedClient {
  readonly #world: CausalWorld;
  readonly #name: string;
  #site: number;
  #gateway: number;
  #session: CausalSession;
  #frontier = new SessionFrontier();
  #operations = 0;
  /** Whether the session has seen what its site may lack: then it may have to wait (CAUSAL-20). */
  #mayWait = false;
  #restartsSeen = 0;
  isDone = false;

  constructor(
    world: CausalWorld,
    {
      name,
      site,
      gateway = 0,
    }: { readonly name: string; readonly site: number; readonly gateway?: number },
  ) {
    this.#world = world;
    this.#name = name;
    this.#site = site;
    this.#gateway = gateway;
    this.#session = new CausalSession(createZeroVector(world.options.siteCount));
  }

  start(): void {
    this.#think();
  }

  /** Reads all keys at `causal`, and reads again while that is refused. */
  readAll(onRead: (versions: readonly (Version | undefined)[]) => void): void {
    this.#read(this.#world.keys, { attempts: 0, isLatest: false, isFinal: true }, onRead);
  }

  #think(): void {
    const { random, options, timeline } = this.#world;
    timeline.schedule(random.exponential(options.thinkMeanMs), () => this.#next());
  }

  #next(): void {
    const { random, options } = this.#world;
    if (this.#operations === options.operationsPerClient || this.#world.isEnding) {
      this.isDone = true;
      return;
    }
    this.#operations += 1;
    if (random.chance(options.moveChance)) this.#move();
    // A new session now and then: it must not need what the old one has seen.
    if (random.chance(0.1)) this.#startSession();
    if (random.chance(0.4)) this.#write();
    else this.#startRead();
  }

  #move(): void {
    const { random, options } = this.#world;
    const site = random.between(0, options.siteCount - 1);
    const gateway = random.between(0, options.gatewaysPerSite - 1);
    // Another gateway may not know yet what is stable.
    if (site !== this.#site || gateway !== this.#gateway) this.#mayWait = true;
    [this.#site, this.#gateway] = [site, gateway];
  }

  #startSession(): void {
    this.#session = new CausalSession(createZeroVector(this.#world.options.siteCount));
    this.#frontier = new SessionFrontier();
    this.#mayWait = false;
    this.#restartsSeen = this.#world.restarts;
  }

  #write(): void {
    const { random, options, keys, checker } = this.#world;
    const key = keys[random.between(0, keys.length - 1)] as string;
    const id = `${this.#name}.${this.#operations}`;
    const isRemove = random.chance(options.removeChance);
    const ttl = random.chance(options.ttlChance) ? TTL_MS * MICROSECONDS_PER_MS : 0;
    checker.beginWrite(id, key, this.#frontier);
    // A tombstone has its id as its value too, so that the checker knows it.
    this.#put({ key, kind: isRemove ? 'tombstone' : 'value', value: id, ttl, id }, 0);
  }

  #put(
    write: { key: string; kind: 'value' | 'tombstone'; value: string; ttl: number; id: string },
    attempts: number,
  ): void {
    const world = this.#world;
    const site = this.#site;
    world.getSite(site, this.#gateway).put(this.#session, write, (result) => {
      if ('stamp' in result) {
        const { stamp } = result;
        world.count('writes');
        world.acknowledged.add(write.id);
        world.report(world.checker.endWrite(write.id, { stamp, site }, this.#frontier));
        return this.#think();
      }
      this.#noteRefusal(result);
      if (attempts === MAX_ATTEMPTS) {
        world.count('writes given up');
        return this.#think();
      }
      world.count('repeated writes');
      world.timeline.schedule(RETRY_MS, () => this.#put(write, attempts + 1));
    });
  }

  #startRead(): void {
    const { random, options, keys } = this.#world;
    const count = random.between(1, keys.length);
    const chosen = new Set(
      Array.from({ length: count }, () => keys[random.between(0, keys.length - 1)] as string),
    );
    const isLatest = random.chance(options.latestChance);
    this.#read([...chosen], { attempts: 0, isLatest, isFinal: false }, () => this.#think());
  }

  #read(
    keys: readonly string[],
    call: { readonly attempts: number; readonly isLatest: boolean; readonly isFinal: boolean },
    onRead: (versions: readonly (Version | undefined)[]) => void,
  ): void {
    const world = this.#world;
    const { random, options } = world;
    const atLeast = call.isLatest ? world.checker.getAcknowledged() : undefined;
    const session = this.#frontier;
    const onEnd: OnSiteRead = (result) => {
      if ('versions' in result) {
        world.count(call.isLatest ? 'reads at latest' : 'reads');
        const versions = result.versions.map((version, at) =>
          this.#toKnownVersion(keys[at] as string, version),
        );
        world.report(world.checker.checkRead(keys, versions, { session, atLeast }));
        if (call.isLatest) this.#mayWait = true;
        return onRead(versions);
      }
      // The time of another site is a trip old at the second step of `latest`, on a slow network.
      if (!call.isLatest || result.refused !== 'CLOCK') this.#noteRefusal(result);
      if (call.attempts === MAX_ATTEMPTS && !call.isFinal) {
        world.count('reads given up');
        return this.#think();
      }
      const delayMs = result.refused === 'TOO_OLD' ? 0 : RETRY_MS;
      const again = { ...call, attempts: call.attempts + 1 };
      world.timeline.schedule(delayMs, () => this.#read(keys, again, onRead));
    };
    const source = random.chance(options.coordinatorChance) ? 'coordinator' : 'gateway';
    const site = world.getSite(this.#site, this.#gateway);
    if (call.isLatest) site.readLatest(this.#session, keys, onEnd);
    else site.read(this.#session, { keys, source }, onEnd);
  }

  /**
   * A tombstone says no more than that the key is absent, if the delete that came last is
   * forgotten.
   */
  #toKnownVersion(key: string, version: Version | undefined): Version | undefined {
    if (version?.kind !== 'tombstone') return version;
    // One without an id was written by a copy, for a delete that another site has forgotten.
    const isForgotten =
      version.value === undefined || this.#world.mayBeForgotten(key, version.stamp + 1);
    return isForgotten ? undefined : version;
  }

  /** Within a site nothing waits: each refusal has a fault of the run behind it. */
  #noteRefusal({ refused }: OperationRefusal): void {
    const world = this.#world;
    world.count(`refused ${refused}`);
    const hasRestarted = world.restarts > this.#restartsSeen;
    const isExcused: Readonly<Record<string, boolean>> = {
      SESSION_AHEAD: this.#mayWait || hasRestarted,
      BEHIND: world.hasLostState,
      REWOUND: world.hasLostState,
      CLOCK: world.options.clockStepMs > 1_000,
    };
    if (isExcused[refused] === false)
      world.report({ checker: 'waits', message: `${this.#name} was refused with ${refused}` });
  }
}
