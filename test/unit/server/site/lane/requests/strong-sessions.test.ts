/**
 * A strong read of a session that has moved shows what that session has seen, blue operations too.
 */
import { expect, test } from 'vitest';
import { bankService } from '../../services.ts';
import { Sites } from '../../sites.ts';
import { siteAt } from '../../../../../support/origins.ts';

test('strong read after a move, the own blue write still in flight → waits for it, and shows it', () => {
  const sites = new Sites(bankService(), 3);
  const sessionVector = [0, 0, 0, 0];
  const identity = { id: 'c/1', home: siteAt(1), hop: 0, acknowledged: 0 };
  const deposited = sites.submit(
    1,
    { name: 'deposit', args: { account: 'a', amount: 100 } },
    { sessionVector, identity },
  );
  sites.sync(1);
  expect(deposited.seen?.[siteAt(1)]).toBeGreaterThan(0);
  const wantedStages = { tentative: false, causal: false, strong: true };
  const balance = { name: 'balance', args: { account: 'a' } };
  const read = sites.submit(2, balance, { sessionVector: deposited.seen, wantedStages });
  sites.settle(({ message }) => message.kind.startsWith('blue.'));
  expect(read).toEqual({});
  sites.settle();
  expect(read.value).toBe(100);
});
