/**
 * An ensemble that was restored from a backup or created again: it has lost what a binding has
 * seen.
 */
import { describe, expect, test } from 'vitest';
import { OP } from '../../../../src/bindings/zookeeper/client/requests.ts';
import { dequeue, enqueue, get, put } from '../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../support/zookeeper-server/ensemble.ts';
import { createAgain, open, outcomeOf, QUEUE, stock } from './set-up.ts';

function eventually<T>(run: () => PromiseLike<T>): Promise<T> {
  return new Promise((resolve) => {
    const attempt = (): void => void run().then(resolve, () => setTimeout(attempt, 20));
    attempt();
  });
}

const WARNING = expect.objectContaining({
  code: 'REPLICA_BEHIND',
  message: expect.stringContaining('restored from a backup or created again') as string,
});

describe('a binding', () => {
  test('goes on in new sessions, and reports the loss once', async () => {
    await using before = await FakeEnsemble.start();
    const warnings: unknown[] = [];
    await using shop = open(before, { onBackgroundError: (error) => warnings.push(error) });
    for (let n = 0; n < 20; n += 1) await shop.client.invoke(put('k', n));
    await shop.client.invoke(get('k'));
    await using after = await createAgain(before);
    await eventually(() => shop.client.invoke(put('k', 'again')));
    expect(await eventually(() => shop.client.invoke(get('k')))).toBe('again');
    expect(warnings).toEqual([WARNING]);
    await expect.poll(() => after.leader.sessions.size).toBe(2);
  });

  test('a session of the application gets one error, and then the state of the ensemble', async () => {
    await using before = await FakeEnsemble.start();
    await using shop = open(before, { onBackgroundError: () => {} });
    const session = shop.client.session();
    for (let n = 0; n < 20; n += 1) await shop.client.invoke(put('k', n), { session });
    await using after = await createAgain(before);
    await eventually(() => shop.client.invoke(get('k')));
    const failure = await shop.client
      .invoke(get('k'), { session })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'REPLICA_BEHIND', retryable: true });
    expect(await shop.client.invoke(get('k'), { session })).toBeUndefined();
    await shop.client.invoke(put('k', 'again'), { session });
    expect(await shop.client.invokeWeak(get('k'), { session })).toBe('again');
    expect(after.servers).toHaveLength(1);
  });

  test('a session that writes first gets the error too', async () => {
    await using before = await FakeEnsemble.start();
    await using shop = open(before, { onBackgroundError: () => {} });
    const session = shop.client.session();
    for (let n = 0; n < 20; n += 1) await shop.client.invoke(put('k', n), { session });
    await using after = await createAgain(before);
    await eventually(() => shop.client.invoke(get('k')));
    await shop.client.invoke(put('other', 1), { session });
    expect(await outcomeOf(shop.client.invokeWeak(get('k'), { session }))).toBe(
      'REPLICA_BEHIND, retryable',
    );
    expect(await outcomeOf(shop.client.invokeWeak(get('other'), { session }))).toBe(1);
    expect(after.servers).toHaveLength(1);
  });

  test('a queue counts from the state of the ensemble', async () => {
    await using before = await FakeEnsemble.start();
    await using shop = open(before, { onBackgroundError: () => {} });
    await stock(shop, 10);
    for (let n = 0; n < 5; n += 1) await shop.client.invoke(dequeue(QUEUE));
    await using after = await createAgain(before);
    await eventually(() => shop.client.invoke(enqueue(QUEUE, 'second life')));
    const views: unknown[] = [];
    for await (const { level, value } of shop.client.invoke(dequeue(QUEUE)))
      views.push([level, value]);
    expect(views.at(-1)).toEqual(['strong', { item: 'second life' }]);
    expect(await shop.client.invoke(dequeue(QUEUE))).toBeNull();
    expect(after.servers).toHaveLength(1);
  });
});

test('an identity that is refused, and accepted later → the binding works again', async () => {
  await using ensemble = await FakeEnsemble.start();
  ensemble.server.refusesAuth = true;
  const warnings: unknown[] = [];
  await using shop = open(ensemble, {
    auth: { scheme: 'digest', secret: 'ada:secret' },
    sessionTimeoutMs: 200,
    onBackgroundError: (error) => warnings.push(error),
  });
  await expect.poll(() => outcomeOf(shop.client.invoke(get('k')))).toBe('UNAUTHENTICATED');
  expect(warnings).toContainEqual(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
  ensemble.server.refusesAuth = false;
  await eventually(() => shop.client.invoke(put('k', 1)));
});

test('an identity that is refused for long → reported once, and once more after it was accepted', async () => {
  await using ensemble = await FakeEnsemble.start();
  const { server } = ensemble;
  server.refusesAuth = true;
  const warnings: unknown[] = [];
  await using shop = open(ensemble, {
    auth: { scheme: 'digest', secret: 'ada:secret' },
    sessionTimeoutMs: 100,
    onBackgroundError: (error) => warnings.push(error),
  });
  const countAttempts = (): number => server.requests.filter(({ type }) => type === OP.auth).length;
  await expect.poll(countAttempts, { timeout: 10_000 }).toBeGreaterThanOrEqual(8);
  expect(warnings).toHaveLength(1);
  server.refusesAuth = false;
  await eventually(() => shop.client.invoke(put('k', 1)));
  server.refusesAuth = true;
  server.cut();
  await expect.poll(() => warnings.length).toBe(2);
});

describe('onBackgroundError throws', () => {
  const fail = (): never => {
    throw new Error('a fault of the application');
  };

  test('a restored ensemble → the binding goes on', async () => {
    await using before = await FakeEnsemble.start();
    await using shop = open(before, { onBackgroundError: fail });
    for (let n = 0; n < 20; n += 1) await shop.client.invoke(put('k', n));
    await using after = await createAgain(before);
    await eventually(() => shop.client.invoke(put('k', 'again')));
    await expect.poll(() => after.leader.sessions.size).toBe(2);
  });

  test('an identity that is refused, and accepted later → the binding works again', async () => {
    await using ensemble = await FakeEnsemble.start();
    ensemble.server.refusesAuth = true;
    const auth = { scheme: 'digest', secret: 'ada:secret' };
    await using shop = open(ensemble, { auth, sessionTimeoutMs: 200, onBackgroundError: fail });
    await expect.poll(() => outcomeOf(shop.client.invoke(get('k')))).toBe('UNAUTHENTICATED');
    ensemble.server.refusesAuth = false;
    await eventually(() => shop.client.invoke(put('k', 1)));
  });
});
