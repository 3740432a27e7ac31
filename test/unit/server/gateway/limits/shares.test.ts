/** What a principal and an address may take up at a gateway, and how often a connection may renew its token. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Addresses } from '../../../../../src/server/gateway/addresses.ts';
import type { PrincipalLoad } from '../../../../../src/server/gateway/limits/load.ts';
import { Principals } from '../../../../../src/server/gateway/limits/principals.ts';
import { Renewals } from '../../../../../src/server/gateway/connection/renewals.ts';
import { virtualClock } from '../../../../../src/testing/virtual-clock.ts';
import { greetAt, openByHand, turn } from '../listen/socket-by-hand.ts';

afterEach(() => {
  vi.useRealTimers();
});

const bounds = { connectionsPerPrincipalMax: 2, operationsPerSecondPerPrincipalMax: 1 };

describe('principals', () => {
  test('one connection too many → refused; one leaves → room again; another principal has its own', () => {
    const principals = new Principals(bounds);
    const come = (id: string): boolean => principals.enter(id, 0) !== undefined;
    expect([come('a'), come('a'), come('a'), come('b')]).toEqual([true, true, false, true]);
    principals.leave('a', 0);
    expect([come('a'), come('a')]).toEqual([true, false]);
  });

  test('the rate is that of all connections, also of one that has just come back', () => {
    const principals = new Principals(bounds);
    const first = principals.enter('a', 0);
    const second = principals.enter('a', 0);
    expect([first?.rate.take(0), second?.rate.take(0)]).toEqual([0, 1000]);
    principals.leave('a', 10);
    principals.leave('a', 10);
    expect(principals.enter('a', 20)?.rate.take(20)).toBeGreaterThan(0);
  });

  test('gone for a while → forgotten', () => {
    const principals = new Principals(bounds);
    principals.enter('a', 0);
    principals.leave('a', 0);
    principals.enter('b', 1000);
    expect(principals.size).toBe(1);
  });

  test('gone for a while, and something of it is under way → remembered until that has ended', () => {
    const principals = new Principals(bounds);
    const load = principals.enter('a', 0)?.load as PrincipalLoad;
    load.bytes = 100;
    principals.leave('a', 0);
    principals.enter('b', 1000);
    expect(principals.enter('a', 1000)?.load).toBe(load);
    principals.leave('a', 1000);
    load.bytes = 0;
    principals.enter('b', 3000);
    expect(principals.size).toBe(1);
  });

  test('less than one operation a second → remembered until there is a permit again, however often it comes back', () => {
    const principals = new Principals({ ...bounds, operationsPerSecondPerPrincipalMax: 0.1 });
    let granted = 0;
    for (let nowMs = 0; nowMs < 10_000; nowMs += 1_200) {
      if (principals.enter('a', nowMs)?.rate.take(nowMs) === 0) granted += 1;
      principals.leave('a', nowMs);
    }
    expect(granted).toBe(1);
    principals.forgetIdle(9_600 + 10_000);
    expect(principals.size).toBe(0);
  });

  test('no bound of operations → forgotten at once, for there is nothing to remember', () => {
    const principals = new Principals({ ...bounds, operationsPerSecondPerPrincipalMax: Infinity });
    principals.enter('a', 0);
    principals.leave('a', 0);
    expect(principals.size).toBe(0);
  });
});

test('what a connection asks for beyond its own rate → takes nothing from the others of its principal', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const limits = { operationsPerSecondMax: 2, operationsPerSecondPerPrincipalMax: 4 };
  const { gateway, store, socket } = await openByHand({ limits });
  store.answer = ({ sink }) => sink.update('v', 'strong');
  const other = await greetAt(gateway, { client: 'b'.repeat(32) });
  for (const each of [socket, other]) {
    each.say(...Array.from({ length: 20 }, (_, n) => [n + 1, 'submit', 'get', 'read', 2, { key: 'x' }]));
    await turn();
    expect(each.rows.filter(([, kind]) => kind === 'view')).toHaveLength(2);
  }
});

test('addresses: connections are counted by address, those without one are not', () => {
  const addresses = new Addresses();
  const [one, other, local] = [{}, {}, {}];
  addresses.enter(one, '10.0.0.1');
  addresses.enter(other, '10.0.0.1');
  addresses.enter(local, undefined);
  expect([addresses.connectionsFrom('10.0.0.1'), addresses.connectionsFrom(undefined)]).toEqual([2, 0]);
  addresses.leave(one);
  addresses.leave(local);
  addresses.leave(one);
  expect(addresses.connectionsFrom('10.0.0.1')).toBe(1);
});

describe('renewals', () => {
  const verdict = { principal: { id: 'a' } };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  function make(): { clock: ReturnType<typeof virtualClock>; checked: string[]; renewals: Renewals } {
    const clock = virtualClock();
    const checked: string[] = [];
    const check = (token: string): Promise<typeof verdict> => {
      checked.push(token);
      return Promise.resolve(verdict);
    };
    return { clock, checked, renewals: new Renewals(check, () => {}, clock) };
  }

  test('a storm of fresh tokens → some are checked, then the newest, a moment later', async () => {
    const { clock, checked, renewals } = make();
    for (let token = 1; token <= 100; token += 1) {
      renewals.renew(`t${token}`);
      await settled();
    }
    expect(checked).toEqual(['t1', 't2', 't3', 't4']);
    await clock.advance(250);
    await settled();
    expect(checked).toEqual(['t1', 't2', 't3', 't4', 't100']);
  });

  test('the connection has ended → nothing is checked any more', async () => {
    const { clock, checked, renewals } = make();
    for (const token of ['t1', 't2', 't3', 't4', 't5']) {
      renewals.renew(token);
      await settled();
    }
    renewals.stop();
    await clock.advance(5000);
    renewals.renew('t6');
    expect(checked).toEqual(['t1', 't2', 't3', 't4']);
  });
});
