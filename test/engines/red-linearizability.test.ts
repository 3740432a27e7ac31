/**
 * Red operations are linearizable, as porcupine sees it: over real sites in real time, and under
 * simulated faults.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import {
  buildPorcupine,
  checkQueues,
  type QueueOperation,
} from '../../engines/porcupine/porcupine.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { createEmbedded } from '../../src/server/node/embedded/embedded.ts';
import type { ClientOperation } from '../../src/testing/simulator/history.ts';
import { INJECTED_BUGS } from '../simulator/injected-bugs.ts';
import { simulate } from '../simulator/simulate.ts';
import { ticketService, tickets } from '../unit/server/site/services.ts';
import { reasonToSkip } from './support/missing-tools.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
const IS_SHORT = process.env['ENGINES_SHORT'] === '1';
const SIMULATED_RUNS = IS_SHORT ? 20 : 150;
const DECIDE_WITHIN_MS = 10_000;
const OPERATIONS_PER_CLIENT = IS_SHORT ? 15 : 60;

let program = '';
let missing: string | undefined;

beforeAll(async () => {
  try {
    program = await buildPorcupine();
  } catch (error) {
    missing = reasonToSkip(error);
  }
});
beforeEach((context) => context.skip(missing !== undefined, missing));

const withItem = (item: unknown): { item?: string } => (typeof item === 'string' ? { item } : {});

/** Clients at all sites, one operation after the other, on one queue. */
async function historyOfSites(): Promise<QueueOperation[]> {
  const deployment = createEmbedded(ticketService, {
    sites: SITES,
    latency: { 'ireland-frankfurt': 4, 'ireland-virginia': 16, 'frankfurt-virginia': 16 },
  });
  const history: QueueOperation[] = [];
  const work = async (client: number): Promise<void> => {
    const shop = createClient(deployment.site(SITES[client % 3] ?? 'ireland'));
    for (let n = 0; n < OPERATIONS_PER_CLIENT; n += 1) {
      const kind = (['enqueue', 'dequeue', 'dequeue', 'peek'] as const)[(n + client) % 4] ?? 'peek';
      const item = `${client}.${n}`;
      const operation = {
        enqueue: tickets.enqueue({ queue: 'q', item }),
        dequeue: tickets.dequeue({ queue: 'q' }),
        peek: tickets.peek({ queue: 'q' }),
      }[kind];
      const callMs = performance.now();
      const result = (await shop.invokeStrong<unknown>(operation)) as
        | { item: unknown }
        | null
        | undefined;
      const reported = kind === 'enqueue' ? item : result?.item;
      history.push({
        client,
        queue: 'q',
        kind,
        callMs,
        returnMs: performance.now(),
        ...withItem(reported),
      });
    }
  };
  await Promise.all(Array.from({ length: 6 }, (_, client) => work(client)));
  await deployment.close();
  return history;
}

/** What the clients of a simulated run saw of its queues. */
function historyOfRun(operations: readonly ClientOperation[]): QueueOperation[] {
  return operations.flatMap(({ client, operation, args, submittedAtMs, replies, error }) => {
    if (operation !== 'enqueue' && operation !== 'dequeue') return [];
    const [first] = replies;
    // An operation that was reported as failed has done nothing.
    if (first === undefined && error !== 'UNKNOWN') return [];
    const kind = operation === 'enqueue' ? 'enqueue' : 'dequeue';
    const reported = withItem(kind === 'enqueue' ? args['text'] : first?.value);
    const returned: { returnMs?: number } = first === undefined ? {} : { returnMs: first.atMs };
    return [
      { client, queue: String(args['key']), kind, callMs: submittedAtMs, ...returned, ...reported },
    ];
  });
}

test('three sites, six clients, real time → linearizable', async () => {
  const history = await historyOfSites();
  expect(history).toHaveLength(6 * OPERATIONS_PER_CLIENT);
  expect(await checkQueues(program, history)).toBe('linearizable');
});

test('an item got twice → not linearizable', async () => {
  const history = await historyOfSites();
  const got = history.find(
    ({ kind, item }) => kind === 'dequeue' && item !== undefined,
  ) as QueueOperation;
  const later = { ...got, client: 7, callMs: 1e9, returnMs: 1e9 + 1 };
  expect(await checkQueues(program, [...history, later])).toBe('not linearizable');
});

// Few clients, each of which waits for its replies: the search grows exponentially with operations
// that overlap, or have an unknown outcome. So no red log halts: most outcomes after that are
// unknown.
const SEARCHABLE = {
  scenario: 'classic',
  workload: 'queues',
  queueCount: 2,
  clientCount: 4,
  operationsPerClient: 10,
  giveUpChance: 0,
  redJumpChance: 0,
  redRegressChance: 0,
} as const;

test(`${SIMULATED_RUNS} simulated runs with crashes, moves and partitions → linearizable`, async () => {
  let operations = 0;
  let withQueues = 0;
  const undecided: number[] = [];
  for (let seed = 1; seed <= SIMULATED_RUNS; seed += 1) {
    const { history, violation } = simulate(seed, 'swarm', { overrides: SEARCHABLE });
    expect(violation).toBeUndefined();
    const queues = historyOfRun(history);
    operations += queues.length;
    withQueues += queues.length > 0 ? 1 : 0;
    const verdict = await checkQueues(program, queues, DECIDE_WITHIN_MS);
    if (verdict === 'unknown') undecided.push(seed);
    else expect([seed, verdict]).toEqual([seed, 'linearizable']);
  }
  expect(operations).toBeGreaterThan(20 * SIMULATED_RUNS);
  expect(withQueues).toBe(SIMULATED_RUNS);
  expect(undecided.length).toBeLessThanOrEqual(SIMULATED_RUNS / 20);
});

test('a site that swaps records of the red log → some run is not linearizable', async () => {
  const planted = INJECTED_BUGS['swapped-records'];
  const isCaught = async (seed: number): Promise<boolean> => {
    const { history } = simulate(seed, 'calm', { planted, overrides: { workload: 'queues' } });
    return (await checkQueues(program, historyOfRun(history))) === 'not linearizable';
  };
  let caught = false;
  for (let seed = 1; seed <= 30 && !caught; seed += 1) caught = await isCaught(seed);
  expect(caught).toBe(true);
});
