/** Judges one queue of a round: its calls, and its nodes in the ensemble. */
import { QueueCalls } from '../checks/queue-calls.ts';
import { queueFaults } from '../checks/queues.ts';
import type { Call } from '../history.ts';
import { LAST } from './drain.ts';
import { QUEUE, type Plan } from './fixture.ts';
import type { QueueTree } from './tree.ts';

export interface QueueRound {
  readonly plan: Plan;
  readonly key: string;
  readonly name: string;
  readonly calls: readonly Call[];
  /** Before the last items were taken, and after; undefined where there was none. */
  readonly before: QueueTree | undefined;
  readonly after: QueueTree | undefined;
}

/**
 * How many nodes a dequeue may cost a queue: one that comes late owes it a filler, and asks again.
 */
const NODES_PER_DEQUEUE = 2;
const NODES_BESIDE = 20;
const NO_QUEUE: QueueTree = { items: [], claims: [], itemsEver: 0, claimsEver: 0 };
/**
 * Queues whose items in hand are put back, or stay, and whose preliminary views may be of items
 * that others get.
 */
const UNORDERED: ReadonlySet<string> = new Set([QUEUE.weakly, QUEUE.closing, QUEUE.mortal]);

export function checkQueue({
  plan,
  key,
  name,
  calls,
  before = NO_QUEUE,
  after = NO_QUEUE,
}: QueueRound): string[] {
  const isOrdered = !UNORDERED.has(name);
  const comesBack = (session: string): boolean =>
    plan.delivery === 'at-least-once' && /^(mortal|closing)-/.test(session);
  const sorted = new QueueCalls(calls, () => false);
  const { unseen } = sorted;
  // Who closes under a fault may leave claims: without a janitor they stay.
  const maxClaims = plan.delivery !== undefined ? 0 : name === QUEUE.closing ? Infinity : unseen;
  const faults = [
    ...misread(calls, before),
    ...(isOrdered && unseen === 0 ? misplaced(sorted, before) : []),
    ...wasted(calls, before),
    ...leftBehind(after, maxClaims),
  ];
  return [
    ...queueFaults({ name: key, calls, isOrdered, comesBack }),
    ...faults.map((fault) => `${key}: ${fault}`),
  ];
}

/** What a new client reads of the queue in the end must be what ZooKeeper's own client has read. */
function misread(calls: readonly Call[], { items, itemsEver, claimsEver }: QueueTree): string[] {
  const last = calls.filter(({ session }) => session === LAST);
  const freezeForUser = last.flatMap(({ kind, output }) =>
    kind === 'dequeue' && typeof output === 'object' && output !== null
      ? [(output as { item: string }).item]
      : [],
  );
  const left = items
    .filter(({ number }) => number >= claimsEver)
    .sort((a, b) => a.number - b.number);
  const faults: string[] = [];
  for (let n = 0; n < Math.max(left.length, freezeForUser.length); n += 1) {
    const [there, handed] = [left[n]?.item, freezeForUser[n]];
    if (there === handed) continue;
    faults.push(
      `of what was left, number ${n + 1} is ${there ?? 'none'}, and a new client was handed ${handed ?? 'none'}`,
    );
    break;
  }
  const reported = last.find(({ kind }) => kind === 'length')?.output;
  const length = Math.max(0, itemsEver - claimsEver);
  // A queue that was never created is not read.
  if (reported !== length && itemsEver + claimsEver > 0)
    faults.push(`its length is ${length}, and a new client read ${String(reported)}`);
  return faults;
}

/** Items that have another number in the end than their enqueue returned. */
function misplaced({ puts }: QueueCalls, { items }: QueueTree): string[] {
  const numbers = new Map(items.map(({ item, number }) => [item, number]));
  return puts.flatMap(({ item, call }) => {
    const number = numbers.get(item);
    const reported = (call.views?.at(-1)?.meta as { readonly number?: number } | undefined)?.number;
    if (number === undefined || reported === undefined || reported === number) return [];
    return [`"${item}" got number ${reported}, and is number ${number}`];
  });
}

/** More nodes than the operations may cost. */
function wasted(calls: readonly Call[], { itemsEver }: QueueTree): string[] {
  const count = (requested: string): number =>
    calls.filter(({ kind }) => kind === requested).length;
  const max = count('enqueue') + NODES_PER_DEQUEUE * count('dequeue') + NODES_BESIDE;
  if (itemsEver <= max) return [];
  return [
    `${itemsEver} items and fillers were made for ${count('enqueue')} enqueues and ${count('dequeue')} dequeues`,
  ];
}

/**
 * Nodes that stay when all has been taken: items that no claim takes, and claims beyond those of
 * unknown outcome.
 */
function leftBehind({ items, claims }: QueueTree, maxClaims: number): string[] {
  const claimed = new Set(claims);
  const free = items.filter(({ number }) => !claimed.has(number)).map(({ item }) => item);
  const faults =
    free.length === 0
      ? []
      : [`${free.length} items are left that no claim takes: ${free.slice(0, 3).join(', ')}`];
  if (claims.length > maxClaims)
    faults.push(`${claims.length} claims are left, at most ${maxClaims} may be`);
  return faults;
}
