/**
 * A client that knows several sites: the nearest first, the next when one is lost, operations under
 * way move along.
 */
import { WebSocket } from 'ws';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { exponentialBackoff, findSites, redblue } from '../../src/bindings/redblue/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { defineContract } from '../../src/contract/contract.ts';
import { createEmbedded } from '../../src/server/node/embedded/embedded.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { defineService } from '../../src/server/service/service.ts';
import { blue, red } from '../../src/server/service/shadow-operation.ts';
import { cell, counter, table } from '../../src/server/service/tables.ts';
import { LEVELS, StoreDouble } from '../support/wire.ts';

const reconnect = exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 20 });

const accounts = defineContract('accounts', {
  deposit: {
    access: 'write',
    args: z.object({ to: z.string(), amount: z.number() }),
    result: z.null(),
  },
  rank: { access: 'write', args: z.object({ of: z.string(), rank: z.number() }), result: z.null() },
  read: { access: 'read', args: z.object({ of: z.string() }), result: z.number() },
});

const service = defineService(accounts, {
  tables: { rows: table({ balance: counter(), rank: cell<number>() }) },
  shadowOperations: ({ rows }) => ({
    deposit: blue(({ to, amount }: { to: string; amount: number }) => [
      rows.row(to).balance.add(amount),
    ]),
    rank: red(({ of, rank }: { of: string; rank: number }) => [rows.row(of).rank.assign(rank)]),
  }),
  generators: {
    deposit: (args, { shadow }) => shadow.deposit(args, null),
    rank: (args, { shadow }) => shadow.rank(args, null),
    read: ({ of }, { tables }) => tables.rows.row(of).balance,
  },
});

test('RedBlue, a gateway closed again and again under load → every deposit counts once, at whichever site', async () => {
  const backend = createEmbedded(service, { sites: ['ireland', 'frankfurt'], latency: 'none' });
  const gatewayAt = (site: 'ireland' | 'frankfurt') =>
    createGateway({ site, binding: backend.site(site), contract: accounts });
  const listenAt = async (site: 'ireland' | 'frankfurt', port = 0) =>
    listenGateways({ sites: { [site]: gatewayAt(site) }, port });
  let ireland = await listenAt('ireland');
  const frankfurt = await listenAt('frankfurt');
  const port = Number(new URL(ireland.url).port);
  const url = [ireland.siteUrl('ireland'), frankfurt.siteUrl('frankfurt')];
  const client = createClient(redblue(accounts, { url, WebSocket, reconnect }));
  const deposits: PromiseLike<unknown>[] = [];
  for (let round = 0; round < 5; round++) {
    for (let n = 0; n < 40; n++) {
      deposits.push(client.invoke(accounts.deposit({ to: 'ada', amount: 1 })));
      deposits.push(client.invoke(accounts.rank({ of: 'ada', rank: n })));
    }
    // Some are answered, some on their way, some not yet sent.
    await new Promise(setImmediate);
    await ireland.close({ drainMs: 0 });
    ireland = await listenAt('ireland', port);
  }
  await Promise.all(deposits);
  expect(await client.invokeStrong(accounts.read({ of: 'ada' }))).toBe(200);
  await client.close();
  await Promise.all([ireland.close({ drainMs: 0 }), frankfurt.close({ drainMs: 0 })]);
  await backend.close();
});

describe('finding sites', () => {
  test('directory of a server → its sites, for the option url', async () => {
    const binding = new StoreDouble();
    const listener = await listenGateways({
      sites: { ireland: createGateway({ binding }), frankfurt: createGateway({ binding }) },
    });
    const urls = await findSites(listener.url);
    expect(urls.toSorted()).toEqual([listener.siteUrl('frankfurt'), listener.siteUrl('ireland')]);
    const store = remote({ url: urls, levels: LEVELS, WebSocket });
    await store.ready;
    await store.close();
    await listener.close({ drainMs: 0 });
  });
});

describe('an address without the name of a site', () => {
  const open = async () => {
    const sites = {
      ireland: createGateway({ binding: new StoreDouble() }),
      frankfurt: createGateway({ binding: new StoreDouble() }),
    };
    return listenGateways({ sites });
  };

  test.each(['', '/', '/nowhere', '/sites'])(
    '"%s" fails at once, with the names of the sites',
    async (path) => {
      const listener = await open();
      const client = createClient(
        remote({ url: `${listener.url.replace('http', 'ws')}${path}`, levels: LEVELS, WebSocket }),
      );
      await expect(
        client.invoke({ name: 'get', access: 'read', args: null }),
      ).rejects.toMatchObject({
        code: 'PROTOCOL',
        message: expect.stringContaining(
          'the path of the address is no site. Sites: /ireland, /frankfurt (4404)',
        ) as unknown,
      });
      await client.close();
      await listener.close();
    },
  );

  test('among others → the client uses one of the others', async () => {
    const listener = await open();
    const url = [`${listener.siteUrl('ireland')}-of-before`, listener.siteUrl('frankfurt')];
    const states: string[] = [];
    const client = createClient(
      remote({
        url,
        levels: LEVELS,
        WebSocket,
        reconnect,
        onStateChange: (state) => void states.push(state),
      }),
    );
    await expect.poll(() => states.at(-1)).toBe('open');
    await client.close();
    await listener.close();
  });
});
