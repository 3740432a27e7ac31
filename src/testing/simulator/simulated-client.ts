/** A client of a run: one operation after the other at its site, each again and again until it is answered. */
import type { ClientOperation, History } from './history.ts';
import type { SimulationOptions } from './options.ts';
import type { Random } from './random.ts';
import type { SimulatedSite, SiteAnswer } from './simulated-site.ts';
import type { Timeline } from './timeline.ts';

/** What a client needs. */
export interface SimulatedClientOptions {
  readonly client: number;
  readonly siteIndex: number;
  readonly site: SimulatedSite;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly history: History;
  readonly options: SimulationOptions;
}

type Draw = (random: Random, own: string, queues: number) => Pick<ClientOperation, 'operation' | 'args'>;

const account = (random: Random): string => `account ${random.chance(0.8) ? 1 : 2}`;
const queueOf = (random: Random, queues: number): string => `queue ${random.between(1, queues)}`;

const WORKLOAD: readonly [Draw, ...Draw[]] = [
  (random, own, queues) => ({ operation: 'enqueue', args: { key: queueOf(random, queues), text: own } }),
  (random, own, queues) => ({ operation: 'enqueue', args: { key: queueOf(random, queues), text: own } }),
  (random, _own, queues) => ({ operation: 'dequeue', args: { key: queueOf(random, queues) } }),
  (random, _own, queues) => ({ operation: 'dequeue', args: { key: queueOf(random, queues) } }),
  (random, _own, queues) => ({ operation: 'size', args: { key: queueOf(random, queues) } }),
  (random) => ({ operation: 'deposit', args: { key: account(random), amount: random.between(20, 100) } }),
  (random) => ({ operation: 'withdraw', args: { key: account(random), amount: random.between(20, 100) } }),
  (random) => ({ operation: 'withdraw', args: { key: account(random), amount: random.between(20, 100) } }),
  (random) => ({ operation: 'balance', args: { key: account(random) } }),
  (_random, own) => ({ operation: 'write', args: { key: 'note', text: own } }),
  (random) => ({
    operation: random.chance(0.5) ? 'tag' : 'untag',
    args: { key: 'note', text: random.pick(['x', 'y']) },
  }),
  (_random, own) => ({ operation: 'note', args: { key: 'note', text: own } }),
  (_random, own) => ({ operation: 'assign', args: { key: 'note', text: own } }),
];

function drawFor(workload: SimulationOptions['workload'], random: Random): Draw {
  const isSpecial = workload !== 'mixed' && random.chance(0.8);
  const [from, to] = !isSpecial ? [0, WORKLOAD.length] : workload === 'queues' ? [0, 5] : [5, 9];
  return WORKLOAD[random.between(from, to - 1)] ?? WORKLOAD[0];
}

/** How long a client waits before it tries a site that is down again. */
const RETRY_MS = 50;

/** A client at one site. */
export class SimulatedClient {
  readonly #options: SimulatedClientOptions;
  #left: number;

  constructor(options: SimulatedClientOptions) {
    this.#options = options;
    this.#left = options.options.operationsPerClient;
    this.#think();
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  #think(): void {
    const { timeline, random, options } = this.#options;
    timeline.after(random.exponential(options.thinkMeanMs), () => this.#next());
  }

  #next(): void {
    const { client, siteIndex, random, history, timeline, options } = this.#options;
    const id = `c${client}/${this.#left}`;
    const drawn = drawFor(options.workload, random)(random, id, options.queueCount);
    const level = random.chance(0.5) ? 'strong' : 'causal';
    const operation: ClientOperation = {
      id,
      client,
      site: siteIndex,
      level,
      ...drawn,
      submittedAtMs: timeline.nowMs,
      answers: [],
    };
    history.operations.push(operation);
    this.#submit(operation);
  }

  /** Submits, and again under the same identifier when no answer comes: a late answer counts all the same. */
  #submit(operation: ClientOperation): void {
    const { site, timeline, random, options } = this.#options;
    const { operation: name, args, id, level } = operation;
    const isRead = name === 'size' || name === 'balance';
    const wants = { tentative: !isRead, causal: isRead && level === 'causal', strong: !isRead || level === 'strong' };
    const submission = {
      operation: name,
      args,
      seed: random.bits(),
      wants,
      ...(isRead ? {} : { origin: { id, home: this.#options.siteIndex, hop: 0, acknowledged: 0 } }),
    };
    const isUp = site.submit(submission, (answer) => this.#onAnswer(operation, answer));
    timeline.after(isUp ? options.clientTimeoutMs : RETRY_MS, () => {
      if (operation.answers.length === 0 && operation.error === undefined) this.#submit(operation);
      // Now and then somebody asks although it was answered: a copy of the request that came late.
      else if (!isRead && random.chance(0.2)) site.submit(submission, (answer) => this.#onAnswer(operation, answer));
    });
  }

  #onAnswer(operation: ClientOperation, answer: SiteAnswer): void {
    if (answer.kind === 'preliminary') return;
    const isFirst = operation.answers.length === 0 && operation.error === undefined;
    if (answer.kind === 'final') operation.answers.push({ value: answer.value, atMs: this.#options.timeline.nowMs });
    else operation.error = answer.code;
    if (!isFirst) return;
    this.#left -= 1;
    if (this.#left > 0) this.#think();
  }
}
