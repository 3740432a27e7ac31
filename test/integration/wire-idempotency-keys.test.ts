/**
 * Updates that a caller names: retried by another client of the same principal, at any site, before
 * and after restarts.
 */
import { WebSocket } from 'ws';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { isCorrectableError } from '../../src/correctable/errors.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import { defineContract } from '../../src/contract/contract.ts';
import { createEmbedded, openEmbedded } from '../../src/server/node/embedded/embedded.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { defineService } from '../../src/server/service/service.ts';
import { blue, red } from '../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../src/server/service/tables.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const args = z.object({ amount: z.number() });
const shop = defineContract('shop', {
  order: { access: 'write', args, result: z.number() },
  pay: { access: 'write', args, result: z.number() },
  total: { access: 'read', args: z.object({}), result: z.number() },
});

const service = defineService(shop, {
  tables: { rows: table({ total: counter() }) },
  shadowOperations: ({ rows }) => ({
    order: blue((value: { amount: number }) => [rows.row('one').total.add(value.amount)]),
    pay: red((value: { amount: number }) => [rows.row('one').total.add(value.amount)]),
  }),
  generators: {
    order: (value, { shadow, tables }) => shadow.order(value, tables.rows.row('one').total),
    pay: (value, { shadow, tables }) => shadow.pay(value, tables.rows.row('one').total),
    total: (_, { tables }) => tables.rows.row('one').total,
  },
});

const SITES = ['ireland', 'frankfurt'] as const;
type Site = (typeof SITES)[number];

/** Starts all sites with a gateway each. */
async function start(dataDir?: string) {
  const options = { sites: SITES, latency: 'none', checkColors: false } as const;
  const backend =
    dataDir === undefined
      ? createEmbedded(service, options)
      : await openEmbedded(service, { ...options, dataDir });
  const gateways = SITES.map((site) => [
    site,
    createGateway({
      site,
      binding: backend.site(site),
      contract: shop,
      authenticate: (token = '') => ({ id: token }),
    }),
  ]);
  const listener = await listenGateways({ sites: Object.fromEntries(gateways) });
  const stop = async (): Promise<void> => {
    await listener.close({ drainMs: 0 });
    await backend.close();
  };
  return { url: (site: Site) => listener.siteUrl(site), stop };
}

type Deployment = Awaited<ReturnType<typeof start>>;

/** What a process of its own is answered: the final value, or the code of the error. */
async function invoke(
  sites: Deployment,
  site: Site,
  operation: Operation,
  key?: string,
  token = 'ann',
) {
  const client = createClient(redblue(shop, { url: sites.url(site), WebSocket, token }));
  try {
    return await client.invoke(operation, { idempotencyKey: key });
  } catch (error) {
    return isCorrectableError(error) ? error.code : error;
  } finally {
    await client.close();
  }
}

const total = (sites: Deployment, site: Site): Promise<unknown> =>
  invoke(sites, site, shop.total({}));

test.each([['order'], ['pay']] as const)(
  '%s: retried by another process, at each site → done once',
  async (name) => {
    const sites = await start();
    onTestFinished(sites.stop);
    const update = shop[name]({ amount: 5 });
    const first = await invoke(sites, 'ireland', update, 'order-4711');
    const later = [
      await invoke(sites, 'ireland', update, 'order-4711'),
      await invoke(sites, 'frankfurt', update, 'order-4711'),
      await invoke(sites, 'frankfurt', shop[name]({ amount: 6 }), 'order-4711'),
      await invoke(sites, 'ireland', update, 'order-4712'),
      await invoke(sites, 'ireland', update, 'order-4711', 'bob'),
    ];
    expect([first, ...later]).toEqual([0, 0, 0, 'INVALID_ARGUMENT', 5, 10]);
    expect(await total(sites, 'ireland')).toBe(15);
  },
);

test('all sites started again from their directory → what was done is known', async () => {
  const folder = temporaryFolder();
  const before = await start(folder);
  const updates = [shop.order({ amount: 5 }), shop.pay({ amount: 7 })];
  const first = [];
  for (const update of updates)
    first.push(await invoke(before, 'ireland', update, `key of ${update.name}`));
  await before.stop();
  const after = await start(folder);
  onTestFinished(after.stop);
  for (const site of SITES) {
    const again = [];
    for (const update of updates)
      again.push(await invoke(after, site, update, `key of ${update.name}`));
    expect(again).toEqual(first);
  }
  expect(await invoke(after, 'frankfurt', shop.order({ amount: 6 }), 'key of order')).toBe(
    'INVALID_ARGUMENT',
  );
  expect(await total(after, 'ireland')).toBe(12);
});
