/** A client, two gateways and the store behind them, on virtual time: plays a schedule, and judges what the client was told. */
import type { Binding } from '../../../src/correctable/binding.ts';
import type { Levels } from '../../../src/correctable/level.ts';
import { redblue } from '../../../src/bindings/redblue/index.ts';
import { remote, type RemoteBinding } from '../../../src/bindings/remote/index.ts';
import { createClient, type AnyClient } from '../../../src/index.ts';
import { createEmbedded } from '../../../src/server/embedded.ts';
import { createGateway, type Gateway } from '../../../src/server/gateway/gateway.ts';
import { contract, service } from '../../fuzz/service.ts';
import { bump, count, CountingStore } from '../hostile/counting-store.ts';
import { toldOf, untruth, type Told } from '../hostile/outcomes.ts';
import { LEVELS } from '../wire.ts';
import { Network } from './network.ts';
import type { Step } from './schedule.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What stands behind the gateways. */
export interface Deployment {
  binding(site: number): Binding;
  /** A binding of the client, to the sites in order of preference. */
  connect(options: Parameters<typeof redblue>[1]): RemoteBinding<Levels>;
  readonly contract?: typeof contract;
  update(mark: string, isRed: boolean): Parameters<AnyClient['invoke']>[0];
  read(mark: string): Parameters<AnyClient['invoke']>[0];
  /** How often the updates with these marks were executed, as the store itself says. */
  executed(marks: readonly string[]): Promise<number[]>;
  close(): Promise<void>;
}

/** Two sites that remember the names of updates, in their logs. */
export function redblueDeployment(): Deployment {
  const sites = ['a', 'b'] as const;
  const embedded = createEmbedded(service, { sites, onAlarm: () => {} });
  return {
    binding: (site) => embedded.site(sites[site] as 'a'),
    connect: (options) => redblue(contract, options) as unknown as RemoteBinding<Levels>,
    contract,
    update: (mark, isRed) => (isRed ? contract.bumpRed({ mark }) : contract.bump({ mark })),
    read: (mark) => contract.count({ mark }),
    async executed(marks) {
      const client = createClient(embedded.site('a'));
      return Promise.all(marks.map((mark) => client.invokeStrong(contract.count({ mark })) as PromiseLike<number>));
    },
    close: () => embedded.close(),
  };
}

/** Two gateways in front of one store that executes what is submitted, however often that was done before. */
export function forgetfulDeployment(): Deployment {
  const store = new CountingStore();
  store.delayMs = 3;
  return {
    binding: () => store as unknown as Binding,
    connect: (options) => remote({ ...options, levels: LEVELS }) as unknown as RemoteBinding<Levels>,
    update: (mark) => bump(mark),
    read: (mark) => count(mark),
    executed: (marks) => Promise.resolve(marks.map((mark) => store.timesOf(mark))),
    close: () => store.close(),
  };
}

const HOSTS = ['a.test', 'b.test'] as const;
const NAMES = ['a', 'b'] as const;
/** Longer than any time limit and any delay of a schedule together. */
const DRAINED_MS = 240_000;
const CLOSED_MS = 60_000;

/** An update of the schedule, and what became of it. */
interface Update {
  readonly mark: string;
  readonly abort: AbortController;
  /** Who the client was for the gateways when this was invoked; `undefined` before the first welcome. */
  readonly principal: string | undefined;
  /** Whether there was a connection since it was invoked. */
  hadConnection: boolean;
  told: Told | undefined;
  /** Whether it had left the client when that was told. */
  hadLeft: boolean;
}

const CONNECTED = /open|probing|draining/;

export class World {
  readonly #time: VirtualTime;
  readonly #deployment: Deployment;
  readonly #network = new Network();
  readonly #gateways: (Gateway | undefined)[] = [];
  readonly #binding: RemoteBinding<Levels>;
  readonly #client: AnyClient & { close(): Promise<void> };
  readonly #updates: Update[] = [];
  readonly #reads: (Told | undefined)[] = [];
  /** Who executed what, by mark. */
  readonly #executors = new Map<string, Set<string>>();
  readonly #closing: Promise<void>[] = [];
  readonly #heldBefore: number;
  #token = 'ann';
  #principal: string | undefined;
  #isClosed = false;

  constructor(time: VirtualTime, deployment: Deployment, codec: 'json' | 'msgpack') {
    this.#time = time;
    this.#heldBefore = time.held;
    this.#deployment = deployment;
    for (const site of [0, 1]) this.#start(site);
    this.#network.onWelcome = (token) => (this.#principal = token);
    this.#binding = deployment.connect({
      url: HOSTS.map((host) => `ws://${host}/x`),
      WebSocket: this.#network.WebSocket,
      codec,
      random: () => 0.5,
      token: () => this.#token,
      onStateChange: (state) => this.#changed(state),
    });
    this.#client = createClient(this.#binding) as unknown as AnyClient & { close(): Promise<void> };
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#do(step);
  }

  /** Heals everything, lets it drain, closes all, and returns what was untrue. */
  async verdict(): Promise<string[]> {
    await this.#do({ do: 'heal' });
    await this.#time.advance(DRAINED_MS);
    if (!this.#isClosed) void this.#do({ do: 'close' });
    await this.#time.advance(CLOSED_MS);
    const problems = await this.#judge();
    for (const gateway of this.#gateways) if (gateway !== undefined) this.#closing.push(gateway.close({ drainMs: 0 }));
    this.#closing.push(this.#deployment.close());
    let isOver = false;
    void Promise.all(this.#closing).then(() => (isOver = true));
    await this.#time.advance(CLOSED_MS);
    if (!isOver) problems.push('close did not come to an end');
    if (this.#network.connections > 0) problems.push(`${this.#network.connections} connections are left`);
    const left = this.#time.held - this.#heldBefore;
    if (left > 0) problems.push(`${left} timers are left`);
    return problems;
  }

  async #judge(): Promise<string[]> {
    const marks = this.#updates.map(({ mark }) => mark);
    let executed: number[] | undefined;
    void this.#deployment.executed(marks).then((counts) => (executed = counts));
    await this.#time.advance(CLOSED_MS);
    if (executed === undefined) return ['the store does not answer'];
    const problems = this.#updates.flatMap((update, i) => this.#judgeOne(update, executed?.[i] as number));
    for (const [i, told] of this.#reads.entries()) if (told === undefined) problems.push(`read ${i} was never told`);
    return problems;
  }

  #judgeOne(update: Update, executed: number): string[] {
    const { mark, told, hadLeft, hadConnection, principal } = update;
    const problems: string[] = [];
    const say = (what: string | undefined): void => void (what !== undefined && problems.push(`${mark} ${what}`));
    say(untruth(told, executed));
    if (told !== undefined && !hadLeft && !hadConnection) {
      const said = `given up on as ${told.code} before there was a connection`;
      if (executed > 0) say(`${said}, executed later`);
      if (!/^(UNAVAILABLE|ABORTED)$/.test(told.code) && !told.retryable)
        say(`${said}, though it certainly was not executed`);
    }
    const executors = [...(this.#executors.get(mark) ?? [])];
    if (executors.length > 1) say(`ran as ${executors.join(' and ')}`);
    else if (principal !== undefined && executors.some((name) => name !== principal))
      say(`was submitted as ${principal}, ran as ${executors.join()}`);
    return problems;
  }

  async #do(step: Step): Promise<void> {
    const { weather } = this.#network;
    switch (step.do) {
      case 'update':
        return this.#update(step.isRed, step.timeoutMs);
      case 'read':
        return this.#read(step.timeoutMs);
      case 'cancel': {
        const open = this.#updates.filter(({ told }) => told === undefined);
        return open[step.which % Math.max(1, open.length)]?.abort.abort();
      }
      case 'wait':
        return this.#time.advance(step.ms);
      case 'cut':
        return this.#network.cut();
      case 'lose':
        weather.losesRequests = step.requests;
        weather.losesAnswers = step.answers;
        return undefined;
      case 'slow':
        weather.delayMs = step.delayMs;
        return undefined;
      case 'heal':
        Object.assign(weather, { delayMs: 1, losesRequests: false, losesAnswers: false });
        return undefined;
      case 'restart':
        return this.#stop(step.site, step.afterMs, true);
      case 'deploy':
        return this.#stop(step.site, step.afterMs, false);
      case 'principal':
        this.#token = step.name;
        return undefined;
      case 'close':
        this.#isClosed = true;
        this.#closing.push(this.#client.close());
        return undefined;
    }
  }

  #update(isRed: boolean, timeoutMs: number): void {
    const mark = `m${this.#updates.length}.`;
    const update: Update = {
      mark,
      abort: new AbortController(),
      principal: this.#principal,
      hadConnection: this.#isConnected(),
      told: undefined,
      hadLeft: false,
    };
    this.#updates.push(update);
    const { signal } = update.abort;
    const operation = this.#client.invokeStrong(this.#deployment.update(mark, isRed), { timeoutMs, signal });
    void toldOf(operation).then((told) => {
      update.hadLeft = this.#network.hasLeft(mark);
      update.told = told;
    });
  }

  #read(timeoutMs: number): void {
    const at = this.#reads.push(undefined) - 1;
    const operation = this.#client.invokeStrong(this.#deployment.read('m0.'), { timeoutMs });
    void toldOf(operation).then((told) => (this.#reads[at] = told));
  }

  #isConnected(): boolean {
    return CONNECTED.test(this.#binding.connectionState);
  }

  #changed(state: string): void {
    if (!CONNECTED.test(state)) return;
    for (const update of this.#updates) if (update.told === undefined) update.hadConnection = true;
  }

  #start(site: number): void {
    const gateway = createGateway({
      binding: this.#deployment.binding(site),
      site: this.#deployment.contract && (NAMES[site] as string),
      contract: this.#deployment.contract,
      authenticate: (token) => ({ id: token ?? '' }),
      authorise: (principal, operation) => {
        const { mark } = operation.args as { mark: string };
        if (operation.effect === 'read') return true;
        this.#executors.set(mark, (this.#executors.get(mark) ?? new Set()).add(principal.id));
        return true;
      },
    });
    this.#gateways[site] = gateway;
    this.#network.gateways.set(HOSTS[site] as string, gateway);
  }

  #stop(site: number, afterMs: number, isKilled: boolean): void {
    const gateway = this.#gateways[site];
    // Down already.
    if (gateway === undefined) return;
    this.#gateways[site] = undefined;
    this.#network.gateways.delete(HOSTS[site] as string);
    if (isKilled) this.#network.kill(gateway);
    // Lets go of its timers; it has no connections any more where it was killed.
    this.#closing.push(gateway.close({ drainMs: isKilled ? 0 : 2_000 }));
    setTimeout(() => this.#start(site), afterMs);
  }
}
