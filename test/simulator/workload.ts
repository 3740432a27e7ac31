/** What clients of a run ask for. */
import type { ClientOperation } from '../../src/testing/simulator/history.ts';
import type { SimulationOptions } from '../../src/testing/simulator/options.ts';
import { PARTITION_NAMES } from '../../src/testing/simulator/cluster/simulated-partitions.ts';
import type { Random } from '../../src/server/service/collections/random.ts';

type Drawn = Pick<ClientOperation, 'operation' | 'args'>;
type Draw = (random: Random, own: string, queues: number) => Drawn;

const account = (random: Random): string => `account ${random.chance(0.8) ? 1 : 2}`;
const draft = (random: Random): string => `draft ${random.between(1, 2)}`;
const queueOf = (random: Random, queues: number): string => `queue ${random.between(1, queues)}`;

const withdrawal = (random: Random, here: boolean): Drawn => ({
  operation: 'withdraw',
  args: { key: account(random), amount: random.between(20, 100), here },
});

const WORKLOAD: readonly [Draw, ...Draw[]] = [
  (random, own, queues) => ({
    operation: 'enqueue',
    args: { key: queueOf(random, queues), text: own },
  }),
  (random, own, queues) => ({
    operation: 'enqueue',
    args: { key: queueOf(random, queues), text: own },
  }),
  (random, _own, queues) => ({ operation: 'dequeue', args: { key: queueOf(random, queues) } }),
  (random, _own, queues) => ({ operation: 'dequeue', args: { key: queueOf(random, queues) } }),
  (random, _own, queues) => ({ operation: 'size', args: { key: queueOf(random, queues) } }),
  (random) => ({
    operation: 'deposit',
    args: { key: account(random), amount: random.between(20, 100) },
  }),
  (random) => withdrawal(random, false),
  (random) => withdrawal(random, true),
  (random) => ({ operation: 'balance', args: { key: account(random) } }),
  (_random, own) => ({ operation: 'write', args: { key: 'note', text: own } }),
  (random) => ({
    operation: random.chance(0.5) ? 'tag' : 'untag',
    args: { key: 'note', text: random.pick(['x', 'y']) },
  }),
  (_random, own) => ({ operation: 'note', args: { key: 'note', text: own } }),
  (_random, own) => ({ operation: 'assign', args: { key: 'note', text: own } }),
  (random) => ({ operation: 'adjust', args: { key: account(random) } }),
  (random, own) => ({ operation: 'draft', args: { key: draft(random), text: own } }),
  (random) => ({ operation: 'discard', args: { key: draft(random) } }),
  (random, own) => ({
    operation: 'reserve',
    args: { key: `seat ${random.between(1, 4)}`, text: own },
  }),
];

/**
 * Red, of one row or two, each reading what the one before it writes; and blue ones of the same
 * fields in between.
 */
const HOT: readonly [Draw, ...Draw[]] = [
  (random) => withdrawal(random, false),
  (random) => withdrawal(random, false),
  () => ({ operation: 'adjust', args: { key: 'account 1' } }),
  (_random, own) => ({ operation: 'sign', args: { key: 'note', text: own } }),
  (_random, own) => ({ operation: 'sign', args: { key: 'note', text: own } }),
  (_random, own) => ({ operation: 'write', args: { key: 'note', text: own } }),
  (random, own) => ({
    operation: 'reserve',
    args: { key: 'seat 1', text: `${random.between(1, 9)}${own}` },
  }),
  (random) => ({
    operation: 'deposit',
    args: { key: account(random), amount: random.between(20, 100) },
  }),
];

const store = (random: Random): string => `store ${random.between(1, 2)}`;

/** Stores that are nearly empty most of the time, with takes of one store and of two. */
const STOCKS: readonly [Draw, ...Draw[]] = [
  (random) => ({ operation: 'restock', args: { key: store(random), amount: 1 } }),
  (random) => ({ operation: 'sell', args: { key: store(random), amount: 1 } }),
];

/**
 * The second account is empty most of the time. Then the last one is possible on top of the one
 * before it alone.
 */
const CHAINS: readonly [Draw, ...Draw[]] = [
  () => ({ operation: 'deposit', args: { key: 'account 1', amount: 100 } }),
  () => ({ operation: 'withdraw', args: { key: 'account 1', amount: 50, here: false } }),
  () => ({ operation: 'transfer', args: { key: 'account 1', to: 'account 2', amount: 50 } }),
  () => ({
    operation: 'transfer',
    args: { key: 'account 2', to: `${PARTITION_NAMES[0]}/account 2`, amount: 50 },
  }),
];

/** Draws an operation; `own` is a text that no other operation has. */
export function drawOperation(options: SimulationOptions, random: Random, own: string): Drawn {
  const drawn = drawInMain(options, random, own);
  if (options.maxLogs === 1) return drawn;
  if (options.workload === 'rivals') return drawRival(random, own);
  if (options.workload === 'chains') return random.pick(CHAINS)(random, own, options.queueCount);
  if (options.hotRowShare > 0 && random.chance(options.hotRowShare))
    return drawHot(random, options);
  if (random.chance(options.pairShare))
    return options.workload === 'stocks' ? drawMove(random) : drawPair(random, own);
  const { key, ...args } = drawn.args as { readonly key: string };
  return { ...drawn, args: { ...args, key: inSomePartition(random, key) } };
}

/** Draws an operation with rows of two keys, which may be in two partitions. */
function drawPair(random: Random, own: string): Drawn {
  const isPost = random.chance(0.4);
  const name = isPost ? () => 'note' : account;
  const [key, to] = [inSomePartition(random, name(random)), inSomePartition(random, name(random))];
  if (random.chance(0.3)) return { operation: isPost ? 'posts' : 'balances', args: { key, to } };
  if (isPost && random.chance(0.3)) return { operation: 'copy', args: { key, to } };
  if (isPost) {
    const also = random.chance(0.4) ? inSomePartition(random, 'note') : to;
    return { operation: 'post', args: { key, to, also, text: own } };
  }
  return { operation: 'transfer', args: { key, to, amount: random.between(5, 60) } };
}

/** Draws a post to the same two rows each time. Its home is one of their partitions. */
function drawRival(random: Random, text: string): Drawn {
  const rows = ['note', `${PARTITION_NAMES[0]}/note`] as const;
  const [key, to] = random.chance(0.5) ? rows : rows.toReversed();
  return { operation: 'post', args: { key, to, also: key, text } };
}

function drawMove(random: Random): Drawn {
  const [key, to] = [
    inSomePartition(random, store(random)),
    inSomePartition(random, store(random)),
  ];
  return { operation: 'move', args: { key, to, amount: 1 } };
}

/** Draws a local or a global of one account, which is held most of the time. */
function drawHot(random: Random, { pairShare }: SimulationOptions): Drawn {
  const hot = `${PARTITION_NAMES[0]}/account 1`;
  const other = inSomePartition(random, 'account 2');
  const [key, to] = random.chance(0.5) ? [hot, other] : [other, hot];
  if (random.chance(pairShare))
    return { operation: 'transfer', args: { key, to, amount: random.between(5, 60) } };
  if (random.chance(0.3)) return { operation: 'balances', args: { key, to } };
  return { operation: 'adjust', args: { key: hot } };
}

/** The last partition may have the name of none: then its rows are in `main`. */
function inSomePartition(random: Random, key: string): string {
  return `${random.pick(['', ...PARTITION_NAMES.map((name) => `${name}/`)])}${key}`;
}

function drawInMain(
  { workload, queueCount }: SimulationOptions,
  random: Random,
  own: string,
): Drawn {
  if (workload === 'stocks') return random.pick(STOCKS)(random, own, queueCount);
  if (workload === 'hot' && random.chance(0.9)) return random.pick(HOT)(random, own, queueCount);
  const isSpecial = workload !== 'mixed' && random.chance(0.8);
  const [from, to] = !isSpecial ? [0, WORKLOAD.length] : workload === 'queues' ? [0, 5] : [5, 9];
  const draw = WORKLOAD[random.between(from, to - 1)] ?? WORKLOAD[0];
  return draw(random, own, queueCount);
}
