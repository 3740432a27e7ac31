/**
 * No claim without a registration: it would be the janitor's, and others would not count its
 * binding.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, drain, open, sale, stock, findLastWriter } from '../set-up.ts';

const CONSUMERS = '/correctables/consumers';
const [THROTTLED, NODE_EXISTS] = [-127, -110];

test('the session expires, and the next registration is refused once → claims wait for it', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await using other = open(ensemble);
  await stock(shop, 4);
  expect(await sale(shop)).toBe('T0');
  const { server } = ensemble;
  const writer = findLastWriter(ensemble);
  let rejections = 0;
  const registeredAtClaims: number[] = [];
  server.onRequest = ({ type, path }) => {
    if (type !== OP.create) return undefined;
    if (path.startsWith(`${CLAIMS}/`)) registeredAtClaims.push(ensemble.children(CONSUMERS).length);
    if (!path.startsWith(`${CONSUMERS}/`) || rejections > 0) return undefined;
    rejections += 1;
    return { error: THROTTLED };
  };
  ensemble.leader.expire(writer);
  server.connectionOf(writer)?.cut();
  expect(await Promise.all([sale(shop), sale(shop)])).toEqual(['T1', 'T2']);
  expect([rejections, registeredAtClaims]).toEqual([1, [1, 1]]);
  expect(await other.binding.recoverOrphans('at-most-once')).toBe(0);
  expect(await drain(other)).toEqual(['T3']);
});

test('what stood in the way of the registration is gone already → registered', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 1);
  let rejections = 0;
  ensemble.server.onRequest = ({ type, path }) =>
    type === OP.create && path.startsWith(`${CONSUMERS}/`) && rejections++ === 1
      ? { error: NODE_EXISTS }
      : undefined;
  expect(await sale(shop)).toBe('T0');
  expect(ensemble.children(CONSUMERS)).toHaveLength(1);
});

test('the session expires while no operation runs → registered again all the same, by the janitor', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 1);
  expect(await sale(shop)).toBe('T0');
  const writer = findLastWriter(ensemble);
  ensemble.leader.expire(writer);
  expect(ensemble.children(CONSUMERS)).toEqual([]);
  ensemble.server.connectionOf(writer)?.cut();
  await expect.poll(() => ensemble.children(CONSUMERS)).toHaveLength(1);
});

test('the registration of the session before still stands → it is replaced by one of this session', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 2);
  expect(await sale(shop)).toBe('T0');
  const [name] = ensemble.children(CONSUMERS);
  const path = `${CONSUMERS}/${name}`;
  const writer = findLastWriter(ensemble);
  await using before = new ZooKeeper(ensemble.connectString);
  await before.whenConnected();
  ensemble.leader.expire(writer);
  await before.create(path, null, { mode: 'ephemeral' });
  ensemble.server.connectionOf(writer)?.cut();
  expect(await sale(shop)).toBe('T1');
  expect((await before.exists(path))?.ephemeralOwner).not.toBe(before.sessionId);
});
