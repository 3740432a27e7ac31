/**
 * Dequeues that are cancelled before their claim is sent: they fail as not sent, and nothing is
 * taken for them.
 */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ThrottleGate } from '../../../../../src/bindings/shared/throttle-gate.ts';
import { dequeue, get, put } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import {
  CLAIMS,
  cutOff,
  drain,
  open,
  outcomeOf,
  QUEUE,
  sale,
  stock,
  type Shop,
} from '../set-up.ts';

/** Ways to give up within half a second, with the outcome if nothing was sent. */
const WAYS = [
  ['cancelled', () => ({ signal: AbortSignal.timeout(50) }), 'ABORTED'],
  ['in time no more', () => ({ timeoutMs: 50 }), 'UNAVAILABLE, retryable'],
] as const;

function attempt(
  { client }: Shop,
  options: { signal?: AbortSignal; timeoutMs?: number },
): Promise<unknown> {
  return outcomeOf(client.invoke(dequeue<string>(QUEUE), options));
}

function held(): { readonly until: Promise<void>; readonly release: () => void } {
  let release = (): void => {};
  const until = new Promise<void>((resolve) => (release = resolve));
  return { until, release };
}

/**
 * Resolves once the binding has had the answers to what it asked before, and whatever it then sends
 * has been answered.
 */
async function beyond({ client }: Shop): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await client.invokeStrong(get('k'));
    await client.invokeStrong(put('k', round));
  }
}

test.each(WAYS)(
  'waiting for a place, %s → not sent, and the next in line is served',
  async (_what, options, reported) => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble, { maxInFlight: 1 });
    await using other = open(ensemble);
    await stock(other, 4);
    expect(await sale(shop)).toBe('T0');
    ensemble.leader.agreement.hold();
    const first = sale(shop);
    const gone = [1, 2, 3].map(() => attempt(shop, options()));
    const last = sale(shop);
    expect(await Promise.all(gone)).toEqual([reported, reported, reported]);
    ensemble.leader.agreement.release();
    expect(await Promise.all([first, last])).toEqual(['T1', 'T2']);
    expect(await drain(other)).toEqual(['T3']);
  },
);

test.each(WAYS)(
  'asking whether anything is left, %s → not sent',
  async (_what, options, reported) => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble);
    await using other = open(ensemble);
    await stock(other, 2);
    const { until, release } = held();
    ensemble.server.onRequest = ({ type }) => (type === OP.exists ? { until } : undefined);
    expect(await attempt(shop, options())).toBe(reported);
    release();
    await beyond(shop);
    expect(await drain(other)).toEqual(['T0', 'T1']);
  },
);

test.each(WAYS)('registering, %s → not sent', async (_what, options, reported) => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await using other = open(ensemble);
  await stock(other, 2);
  const { until, release } = held();
  ensemble.server.onRequest = ({ path }) => (path.includes('/consumers/') ? { until } : undefined);
  expect(await attempt(shop, options())).toBe(reported);
  release();
  await beyond(shop);
  expect(ensemble.children(CLAIMS)).toEqual([]);
});

test.each(WAYS)('without a connection, %s → not sent', async (_what, options, reported) => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 3);
  expect(await sale(shop)).toBe('T0');
  await cutOff(ensemble.server);
  expect(await attempt(shop, options())).toBe(reported);
  ensemble.server.connectionsMax = Infinity;
  expect(await drain(shop)).toEqual(['T1', 'T2']);
});

test.each(WAYS)('the claim was sent, %s → UNKNOWN', async (_what, options) => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 2);
  expect(await sale(shop)).toBe('T0');
  ensemble.leader.agreement.hold();
  expect(await attempt(shop, options())).toBe('UNKNOWN');
  ensemble.leader.agreement.release();
});

test('window: an operation that is cancelled waits no more; more than ten thousand do not wait', async () => {
  const window = new ThrottleGate({ maxInFlight: 1, minSlotIntervalMs: 0 }, () => 0);
  const patient = { signal: new AbortController().signal, deadlineAt: undefined };
  expect(window.enter(patient)).toBeUndefined();
  const hasty = new AbortController();
  const value = window.enter({ ...patient, signal: hasty.signal });
  const next = window.enter(patient);
  for (let n = 2; n < 10_000; n += 1) void window.enter(patient)?.catch(() => {});
  expect(() => window.enter(patient)).toThrow(
    expect.objectContaining({ code: 'OVERLOADED', retryable: true }) as Error,
  );
  hasty.abort();
  await expect(value).rejects.toMatchObject({ code: 'ABORTED' });
  void window.enter(patient)?.catch(() => {});
  window.release(0);
  await next;
  window.close(new Error('end'));
});

test('window: an operation whose deadline would pass first gets no place, and the next one has it', async () => {
  const window = new ThrottleGate({ maxInFlight: 1, minSlotIntervalMs: 0 }, () => 10_000);
  const patient = { signal: new AbortController().signal, deadlineAt: undefined };
  expect(window.enter({ ...patient, deadlineAt: Date.now() + 5_000 })).toBeUndefined();
  const late = window.enter({ ...patient, deadlineAt: Date.now() + 5_000 });
  const next = window.enter({ ...patient, deadlineAt: Date.now() + 60_000 });
  window.release(0);
  await expect(late).rejects.toMatchObject({ code: 'OVERLOADED', retryable: true });
  await next;
});

test('window: an operation that has entered, was rejected or was cancelled → listens to no signal any more', async () => {
  const window = new ThrottleGate({ maxInFlight: 1, minSlotIntervalMs: 0 }, () => 0);
  const { signal } = new AbortController();
  const hasty = new AbortController();
  void window.enter({ signal, deadlineAt: undefined });
  const entered = window.enter({ signal, deadlineAt: undefined });
  const left = window.enter({ signal: hasty.signal, deadlineAt: undefined });
  const refused = window.enter({ signal, deadlineAt: undefined });
  hasty.abort();
  await expect(left).rejects.toMatchObject({ code: 'ABORTED' });
  window.release(0);
  await entered;
  window.close(new Error('end'));
  await expect(refused).rejects.toThrow('end');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(getEventListeners(hasty.signal, 'abort')).toEqual([]);
});
