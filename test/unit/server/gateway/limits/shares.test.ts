/**
 * What a principal and an address may take up at a gateway, and how often a connection may renew
 * its token.
 */
import { describe, expect, test } from 'vitest';
import { ConnectionsPerAddress } from '../../../../../src/server/gateway/context/ip-addresses.ts';
import type { PrincipalLoad } from '../../../../../src/server/gateway/limits/in-flight-load.ts';
import { Principals } from '../../../../../src/server/gateway/limits/principal-shares.ts';
import { TokenRenewals } from '../../../../../src/server/gateway/connection/token-check.ts';
import { virtualClock } from '../../../../../src/testing/virtual-clock.ts';

describe('principals', () => {
  const bounds = { maxConnectionsPerPrincipal: 2, maxOperationsPerSecond: 1 };

  test('one connection too many → refused; one leaves → room again; another principal has its own', () => {
    const principals = new Principals(bounds);
    const come = (id: string): boolean => principals.acquire(id, 0) !== undefined;
    expect([come('a'), come('a'), come('a'), come('b')]).toEqual([true, true, false, true]);
    principals.release('a');
    expect([come('a'), come('a')]).toEqual([true, false]);
  });

  test.each([1, 0.1])(
    '%d operations a second → of all connections; remembered until there is a permit again',
    (rate) => {
      const principals = new Principals({ ...bounds, maxOperationsPerSecond: rate });
      const [first, second] = [principals.acquire('a', 0), principals.acquire('a', 0)];
      expect([first?.rate.tryTake(0), second?.rate.tryTake(0)]).toEqual([0, 1000 / rate]);
      principals.release('a');
      principals.release('a');
      principals.forgetIdle(999 / rate);
      expect(principals.acquire('a', 999 / rate)?.rate.tryTake(999 / rate)).toBeGreaterThan(0);
      principals.release('a');
      principals.forgetIdle(1000 / rate);
      expect(principals.size).toBe(0);
    },
  );

  test('gone, and something of it is in flight → remembered until that has ended', () => {
    const principals = new Principals({ ...bounds, maxOperationsPerSecond: Infinity });
    const load = principals.acquire('a', 0)?.load as PrincipalLoad;
    load.bytes = 100;
    principals.release('a');
    principals.forgetIdle(1000);
    expect(principals.acquire('a', 1000)?.load).toBe(load);
    principals.release('a');
    load.bytes = 0;
    principals.forgetIdle(1000);
    expect(principals.size).toBe(0);
  });

  test('it is here → not forgotten', () => {
    const principals = new Principals({ ...bounds, maxConnectionsPerPrincipal: 1 });
    principals.acquire('a', 0);
    principals.forgetIdle(100_000);
    expect(principals.acquire('a', 100_000)).toBeUndefined();
  });
});

test('addresses: connections are counted by address, those without one are not', () => {
  const addresses = new ConnectionsPerAddress();
  const [item, other, local] = [{}, {}, {}];
  addresses.enter(item, '10.0.0.1');
  addresses.enter(other, '10.0.0.1');
  addresses.enter(local, undefined);
  expect([addresses.count('10.0.0.1'), addresses.count(undefined)]).toEqual([2, 0]);
  addresses.leave(item);
  addresses.leave(local);
  addresses.leave(item);
  expect(addresses.count('10.0.0.1')).toBe(1);
});

describe('renewals', () => {
  const verdict = { principal: { id: 'a' } };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  function make(): {
    clock: ReturnType<typeof virtualClock>;
    checked: string[];
    renewals: TokenRenewals;
  } {
    const clock = virtualClock();
    const checked: string[] = [];
    const check = (token: string): Promise<typeof verdict> => {
      checked.push(token);
      return Promise.resolve(verdict);
    };
    return { clock, checked, renewals: new TokenRenewals(check, () => {}, clock) };
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
