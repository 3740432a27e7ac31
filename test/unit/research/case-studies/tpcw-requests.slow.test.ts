/**
 * The clicks of TPC-W's users: each asks for one to four transactions, and all can be done at any
 * time.
 */
import { createClient } from 'correctables';
import { createEmbedded } from 'correctables/server';
import { expect, test } from 'vitest';
import type { Request } from '../../../../research/case-studies/case-study.ts';
import { populate } from '../../../../research/case-studies/tpcw/data.ts';
import { mixes } from '../../../../research/case-studies/tpcw/mixes.ts';
import { study } from '../../../../research/case-studies/tpcw/study.ts';
import { CountingStore } from '../../../../research/case-studies/user.ts';
import { seeded } from '../../../../demo/shared/random.ts';

const SCALE = 0.001;

test('every request, many times and in any order → one to four transactions, writes where TPC-W has them', async () => {
  const alarms: string[] = [];
  const onAlarm = ({ message }: { readonly message: string }): void => void alarms.push(message);
  const deployment = createEmbedded(study.service, {
    sites: ['ue'],
    onAlarm,
    generators: { determinismCheckRate: 1 },
  });
  const client = createClient(deployment.site('ue'));
  const store = new CountingStore(client);
  for (const operation of study.populate(SCALE, seeded(1))) await store.ask(operation);
  const random = seeded(2);
  const requests = study.enter({ store, random, scale: SCALE, user: 0 });
  expect(Object.keys(requests).sort()).toEqual(Object.keys(mixes.shopping).sort());
  const names = Object.keys(requests);
  const updating = new Set<string>();
  for (let n = 0; n < 600; n += 1) {
    const name = names[Math.floor(random() * names.length)] as string;
    store.asked = { operations: 0, updates: 0, red: 0 };
    await (requests[name] as Request)();
    expect(store.asked.operations, name).toBeGreaterThanOrEqual(1);
    expect(store.asked.operations, name).toBeLessThanOrEqual(4);
    if (store.asked.updates > 0) updating.add(name);
  }
  expect([...updating].sort()).toEqual([
    'adminConfirm',
    'buyConfirm',
    'buyRequest',
    'shoppingCart',
  ]);
  expect(await study.audit(store)).toMatchObject({ broken: [] });
  expect(alarms).toEqual([]);
  await deployment.close();
});

test('equal seeds → equal data', () => {
  const all = (seed: number): string => JSON.stringify([...populate(SCALE, seeded(seed))]);
  expect(all(5)).toBe(all(5));
  expect(all(5)).not.toBe(all(6));
});

test('the time between two clicks → seven seconds on average, a minute and ten at most', () => {
  const random = seeded(4);
  const times = Array.from({ length: 20_000 }, () => study.thinkMs(random));
  expect(Math.max(...times)).toBeLessThanOrEqual(70_000);
  expect(times.reduce((sum, ms) => sum + ms, 0) / times.length).toBeCloseTo(7000, -3);
});
