/**
 * A client, two gateways and the store behind them, on virtual time: plays a schedule, and judges
 * the client's outcomes.
 */
import type { Levels } from '../../../src/correctable/level-types.ts';
import type { Operation } from '../../../src/correctable/operation.ts';
import type { RemoteBinding } from '../../../src/bindings/remote/index.ts';
import { createClient, type AnyClient, type Correctable } from '../../../src/index.ts';
import { createGatewayWith, type Gateway } from '../../../src/server/gateway/gateway.ts';
import { silentLogger } from '../../../src/server/gateway/context/logger.ts';
import { Caller } from './caller.ts';
import { Accounts, type Read, type Update } from './calls.ts';
import type { Deployment } from './deployments.ts';
import { AuthorizationHook } from './authorization-hook.ts';
import { checkClientOutcomes, type Evidence } from './check-client-outcomes.ts';
import { Network } from './network.ts';
import { recorded, type Account } from './recorded-binding.ts';
import { isCalm, type Step, type UpdateStep, type Wanted } from './schedule.ts';
import type { OutcomeOptions } from './options.ts';
import type { Coverage } from './coverage.ts';
import type { VirtualTime } from './virtual-time.ts';

const HOSTS = ['a.test', 'b.test'] as const;
const NAMES = ['a', 'b'] as const;
/** Longer than any time limit and any delay of a schedule together. */
const DRAINED_MS = 240_000;
const CLOSED_MS = 60_000;

/** A time limit that nothing but a failure exceeds. */
const GENEROUS_MS = 60_000;
const CONNECTED = /open|probing|draining/;

/** Faults that affect an operation in flight. */
const FAULTS: ReadonlySet<Step['do']> = new Set([
  'cut',
  'lose',
  'restart',
  'deploy',
  'close-site',
  'cancel',
  'close',
]);

export class OutcomeSimulation {
  readonly #time: VirtualTime;
  readonly #deployment: Deployment;
  readonly #setting: OutcomeOptions;
  readonly #sights: Coverage;
  readonly #network = new Network();
  readonly #door = new AuthorizationHook();
  readonly #gateways: (Gateway | undefined)[] = [];
  readonly #binding: RemoteBinding<Levels>;
  readonly #client: AnyClient;
  readonly #updates: Update[] = [];
  readonly #reads: Read[] = [];
  readonly #accounts = new Accounts();
  readonly #closing: Promise<void>[] = [];
  readonly #heldBefore: number;
  /** What the client's binding got for the operation that is being invoked. */
  #heard: Account | undefined;
  #token = 'ann';
  #principal: string | undefined;
  #isClosed = false;
  /** Nothing has happened so far that an operation may fail of. */
  #isCalm = true;

  constructor(
    time: VirtualTime,
    deployment: Deployment,
    setting: OutcomeOptions,
    sights: Coverage,
  ) {
    this.#time = time;
    this.#heldBefore = time.held;
    this.#deployment = deployment;
    this.#setting = setting;
    this.#sights = sights;
    for (const site of [0, 1]) this.#start(site);
    this.#network.onWelcome = (token) => (this.#principal = token);
    this.#network.onClosing = () => this.#closingOne();
    this.#binding = deployment.connect({
      url: HOSTS.map((host) => `ws://${host}/x`),
      WebSocket: this.#network.WebSocket,
      codec: setting.codec,
      random: () => 0.5,
      token: () => this.#token,
      onStateChange: (state) => this.#changed(state),
    });
    this.#client = createClient(recorded(this.#binding, (_, account) => (this.#heard = account)));
  }

  async play(steps: readonly Step[]): Promise<void> {
    this.#isCalm &&= isCalm(steps) && Object.keys(this.#setting.bounds).length === 0;
    for (const step of steps) await this.#do(step);
  }

  /** Heals everything, lets it drain, closes all, and returns what was untrue. */
  async verdict(): Promise<string[]> {
    await this.#do({ do: 'heal' });
    await this.#time.advance(DRAINED_MS);
    if (!this.#isClosed) void this.#do({ do: 'close' });
    await this.#time.advance(CLOSED_MS);
    const problems = [...(await this.#judge()), ...this.#remembered()];
    for (const gateway of this.#gateways)
      if (gateway !== undefined) this.#closing.push(gateway.close({ drainMs: 0 }));
    this.#closing.push(this.#deployment.close());
    let isOver = false;
    void Promise.all(this.#closing).then(() => (isOver = true));
    await this.#time.advance(CLOSED_MS);
    if (!isOver) problems.push('close did not come to an end');
    if (this.#network.connections > 0)
      problems.push(`${this.#network.connections} connections are left`);
    const left = this.#time.held - this.#heldBefore;
    if (left > 0) problems.push(`${left} timers are left`);
    return problems;
  }

  async #judge(): Promise<string[]> {
    const requested: { runs?: Evidence['runs']; failure?: string } = {
      failure: 'the store does not answer',
    };
    void this.#deployment.runs(this.#updates.map(({ mark }) => mark)).then(
      (runs) => (requested.runs = runs),
      (error: unknown) => (requested.failure = String(error)),
    );
    await this.#time.advance(CLOSED_MS);
    if (requested.runs === undefined) return [String(requested.failure)];
    return checkClientOutcomes({
      levels: this.#deployment.levels,
      isCalm: this.#isCalm,
      updates: this.#updates,
      reads: this.#reads,
      accounts: this.#accounts,
      runs: requested.runs,
      hasLeft: (mark) => this.#network.hasLeft(mark),
      hasAllowed: (mark) => this.#door.hasAllowed(mark),
      sights: this.#sights,
    });
  }

  /** What gateways still know of a client that was closed long ago. */
  #remembered(): string[] {
    return this.#gateways.flatMap((gateway) => {
      const { inFlight = 0, clients = 0, replyBytes = 0 } = gateway?.status() ?? {};
      const problems = inFlight > 0 ? [`${inFlight} operations are in flight for ever`] : [];
      const isForgotten =
        this.#setting.bounds.clientIdleMs === undefined || (clients === 0 && replyBytes === 0);
      return isForgotten
        ? problems
        : [...problems, `${clients} clients are remembered, with ${replyBytes} bytes`];
    });
  }

  async #do(step: Step): Promise<void> {
    const { weather } = this.#network;
    this.#noteFault(step);
    switch (step.do) {
      case 'write':
        return this.#update(step);
      case 'read':
        return this.#read(step.wants, step.timeoutMs);
      case 'cancel': {
        const open = this.#updates.filter(({ caller }) => caller.outcome === undefined);
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
      case 'close-site':
        return this.#closeSite(step.site, step.afterMs);
      case 'door':
        this.#door.answer = step.answer;
        return undefined;
      case 'principal':
        this.#token = step.name;
        return undefined;
      case 'close':
        this.#isClosed = true;
        this.#closing.push(this.#client.close());
        return undefined;
    }
  }

  /** Faults while no operation is in flight prove nothing. */
  #noteFault({ do: description }: Step): void {
    if (!FAULTS.has(description)) return;
    const isUnderWay = this.#updates.some(({ mark, caller }) => {
      return caller.outcome === undefined && this.#network.hasLeft(mark);
    });
    if (isUnderWay) this.#sights.saw(`${description}, with a write in flight`);
  }

  #update({ wants, timeoutMs, ...kind }: UpdateStep): void {
    const mark = `m${this.#updates.length}.`;
    const abort = new AbortController();
    const operation = this.#invoke(this.#deployment.update(mark, kind), wants, {
      timeoutMs,
      signal: abort.signal,
    });
    const update: Update = {
      mark,
      abort,
      caller: new Caller(operation, () => {
        update.hadLeft = this.#network.hasLeft(mark);
        update.caller.endedAtMs = this.#time.nowMs;
      }),
      principal: this.#principal,
      hadConnection: this.#isConnected(),
      isGenerous: timeoutMs >= GENEROUS_MS,
      viewsMax: wants === 'all' ? this.#deployment.collectViews(kind) : 1,
      isWeak: wants === 'weak',
      heard: this.#heard,
      hadLeft: false,
      wasCollected: false,
    };
    this.#updates.push(update);
  }

  #read(wants: Wanted, timeoutMs: number): void {
    const mark = 'm0.';
    const first = this.#updates[0];
    const least = first?.caller.outcome?.code === 'success' && !first.isWeak ? 1 : 0;
    const operation = this.#invoke(this.#deployment.read(mark), wants, { timeoutMs });
    const read: Read = {
      mark,
      caller: new Caller(operation, () => (read.most = Math.min(1, this.#updates.length))),
      isGenerous: timeoutMs >= GENEROUS_MS,
      viewsMax: wants === 'all' ? this.#deployment.collectViews('read') : 1,
      heard: this.#heard,
      least,
      most: 0,
    };
    this.#reads.push(read);
  }

  #invoke(
    operation: Operation,
    wants: Wanted,
    options: Parameters<AnyClient['invoke']>[1],
  ): Correctable<unknown, Levels, string> {
    this.#heard = undefined;
    if (wants === 'all') return this.#client.invoke(operation, options);
    return wants === 'weak'
      ? this.#client.invokeWeak(operation, options)
      : this.#client.invokeStrong(operation, options);
  }

  #isConnected(): boolean {
    return CONNECTED.test(this.#binding.connectionState);
  }

  #closingOne(): void {
    if (!this.#isConnected()) return;
    for (const update of this.#updates) {
      const isOpen =
        update.caller.outcome === undefined || update.caller.endedAtMs === this.#time.nowMs;
      if (isOpen && !this.#network.hasLeft(update.mark)) update.wasCollected = true;
    }
  }

  #changed(state: string): void {
    if (!CONNECTED.test(state)) return;
    for (const update of this.#updates)
      if (update.caller.outcome === undefined) update.hadConnection = true;
  }

  #start(site: number): void {
    const binding = this.#deployment.open(site);
    if (binding === undefined) return;
    const gateway = createGatewayWith(this.#setting.bounds, {
      binding: recorded(binding, (operation, account) => this.#submitted(operation, account)),
      site: NAMES[site],
      contract: this.#deployment.contract,
      authenticate: (token) => ({ id: token ?? '' }),
      authorize: this.#door.authorize,
      logger: { ...silentLogger, warn: (_, message) => this.#sights.saw(message) },
    });
    this.#gateways[site] = gateway;
    this.#network.gateways.set(HOSTS[site] as string, gateway);
  }

  #submitted(operation: Operation, account: Account): void {
    this.#accounts.add(operation, account);
    if ((account.context.origin?.hop ?? 0) > 0) this.#sights.saw('move');
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

  /** The store is closed under its gateway, which is shut down only then. */
  #closeSite(site: number, afterMs: number): void {
    if (this.#gateways[site] === undefined || !this.#deployment.closeSite(site)) return;
    this.#sights.saw('a site closed');
    setTimeout(() => this.#stop(site, 0, false), afterMs);
  }
}
