/** A client, two gateways and the store behind them, on virtual time: plays a schedule, and judges what the client was told. */
import { inspect, isDeepStrictEqual } from 'node:util';
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
import { isCalm, type Step } from './schedule.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What stands behind the gateways. */
export interface Deployment {
  binding(site: number): Binding;
  /** A binding of the client, to the sites in order of preference. */
  connect(options: Parameters<typeof redblue>[1]): RemoteBinding<Levels>;
  readonly contract?: typeof contract;
  update(mark: string, isRed: boolean): Parameters<AnyClient['invoke']>[0];
  read(mark: string): Parameters<AnyClient['invoke']>[0];
  /** What an update that was executed once answers with. */
  readonly updated: unknown;
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
    updated: true,
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
    updated: { times: 1 },
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
  readonly isGenerous: boolean;
  told: Told | undefined;
  toldAtMs: number | undefined;
  value: unknown;
  /** Whether it had left the client when that was told. */
  hadLeft: boolean;
  /**
   * Whether a connection ended in the very tick in which this was submitted on it: what is collected in a tick counts as
   * sent for the client, although no socket was given it.
   */
  wasCollected: boolean;
}

/** A read of the schedule: of how often the first update was executed. */
interface Read {
  readonly isGenerous: boolean;
  /** How often that was at least, when it was invoked, and at most, when it was answered. */
  readonly least: number;
  most: number;
  told: Told | undefined;
  value: unknown;
}

/** A time limit that nothing but a failure exceeds. */
const GENEROUS_MS = 60_000;

function keepingValue(operation: PromiseLike<unknown>, keeper: { value: unknown }): PromiseLike<unknown> {
  return operation.then((value) => (keeper.value = value));
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
  readonly #reads: Read[] = [];
  /** Who executed what, by mark. */
  readonly #executors = new Map<string, Set<string>>();
  readonly #closing: Promise<void>[] = [];
  readonly #heldBefore: number;
  #token = 'ann';
  #principal: string | undefined;
  #isClosed = false;
  /** Nothing has happened so far that an operation may fail of. */
  #isCalm = true;

  constructor(time: VirtualTime, deployment: Deployment, codec: 'json' | 'msgpack') {
    this.#time = time;
    this.#heldBefore = time.held;
    this.#deployment = deployment;
    for (const site of [0, 1]) this.#start(site);
    this.#network.onWelcome = (token) => (this.#principal = token);
    this.#network.onClosing = () => this.#closingOne();
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
    this.#isCalm &&= isCalm(steps);
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
    for (const [i, read] of this.#reads.entries()) {
      const problem = this.#judgeRead(read);
      if (problem !== undefined) problems.push(`read ${i} ${problem}`);
    }
    return problems;
  }

  #judgeRead({ told, value, least, most, isGenerous }: Read): string | undefined {
    if (told === undefined) return 'was never told';
    if (told.code !== 'success') return this.#uselessness(told, isGenerous);
    const isRight = Number(value) >= (this.#isCalm ? least : 0) && Number(value) <= most;
    return isRight ? undefined : `told ${String(value)}, which is not in ${least}..${most}`;
  }

  /** What a client is told that says nothing is true, but of no use. */
  #uselessness(told: Told | undefined, isGenerous: boolean): string | undefined {
    if (!this.#isCalm || !isGenerous || told === undefined || told.code === 'success') return undefined;
    return `told ${told.code} "${told.message}", though nothing went wrong`;
  }

  #judgeOne(update: Update, executed: number): string[] {
    const { mark, told, hadLeft, hadConnection, principal } = update;
    const problems: string[] = [];
    const say = (what: string | undefined): void => void (what !== undefined && problems.push(`${mark} ${what}`));
    say(untruth(told, executed));
    say(this.#uselessness(told, update.isGenerous));
    // Looked at when all is over: one that is cancelled in the tick in which it was submitted leaves at the tick's end.
    const isUnknownRightly = update.wasCollected || this.#network.hasLeft(mark);
    if (told?.code === 'UNKNOWN' && !isUnknownRightly) say(`told UNKNOWN "${told.message}", though it never left`);
    if (told?.code === 'success' && !isDeepStrictEqual(update.value, this.#deployment.updated))
      say(`told ${inspect(update.value)}, which is not its result`);
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
      isGenerous: timeoutMs >= GENEROUS_MS,
      told: undefined,
      toldAtMs: undefined,
      value: undefined,
      hadLeft: false,
      wasCollected: false,
    };
    this.#updates.push(update);
    const { signal } = update.abort;
    const operation = this.#client.invokeStrong(this.#deployment.update(mark, isRed), { timeoutMs, signal });
    void toldOf(keepingValue(operation, update)).then((told) => {
      update.hadLeft = this.#network.hasLeft(mark);
      update.toldAtMs = this.#time.nowMs;
      update.told = told;
    });
  }

  #read(timeoutMs: number): void {
    const first = this.#updates[0];
    const isGenerous = timeoutMs >= GENEROUS_MS;
    const least = first?.told?.code === 'success' ? 1 : 0;
    const read: Read = { isGenerous, least, most: 0, told: undefined, value: undefined };
    this.#reads.push(read);
    const operation = this.#client.invokeStrong(this.#deployment.read('m0.'), { timeoutMs });
    void toldOf(keepingValue(operation, read)).then((told) => {
      read.most = Math.min(1, this.#updates.length);
      read.told = told;
    });
  }

  #isConnected(): boolean {
    return CONNECTED.test(this.#binding.connectionState);
  }

  #closingOne(): void {
    if (!this.#isConnected()) return;
    for (const update of this.#updates) {
      const isOpen = update.told === undefined || update.toldAtMs === this.#time.nowMs;
      if (isOpen && !this.#network.hasLeft(update.mark)) update.wasCollected = true;
    }
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
