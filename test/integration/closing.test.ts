/** What closes what: the table of docs/guides/errors-and-cancellation.md, row by row. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { cached, mapStore } from '../../src/bindings/cache/index.ts';
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import { tiered } from '../../src/bindings/tiered/index.ts';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import type { AnyClient } from '../../src/index.ts';
import { createClient, isCorrectableError } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { createEmbedded, createGateway, listenGateways, serve } from '../../src/server/index.ts';
import { bank, bankService } from '../unit/server/site/services.ts';

const closers: (() => Promise<unknown>)[] = [];
const closeLater = <T extends { close(): Promise<unknown> }>(item: T): T => {
  closers.push(() => item.close());
  return item;
};

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const rows = new Set(
  readFileSync(new URL('../../docs/guides/errors-and-cancellation.md', import.meta.url), 'utf8')
    .split('| You close |')[1]!
    .split('\n\n')[0]!
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ')[0]!.replace(/^\| /, '')),
);
const tested = new Set<string>();

/** Returns the name of the test of one row, from the text for what is closed. */
function row(closed: string): string {
  tested.add(closed);
  return `${closed} → closes what the table lists, and no more`;
}

const codeOf = (operation: PromiseLike<unknown>): Promise<string> =>
  Promise.resolve(operation).then(
    () => 'answered',
    (error: unknown) => (isCorrectableError(error) ? error.code : String(error)),
  );
const isOpen = async (client: AnyClient): Promise<boolean> =>
  (await codeOf(client.invoke(get('k')))) === 'answered';
const deposit = bank.deposit({ account: 'a', amount: 1 });
const LEVELS = ['weak', 'strong'] as const;

test(row('a subscription, a `for await` loop, a `settle` that has its view'), async () => {
  const client = closeLater(createClient(memory()));
  const read = client.invoke(get('k'));
  read.subscribe(() => 0).unsubscribe();
  for await (const _view of read) break;
  await read.settle({ enough: () => true });
  expect(await codeOf(read)).toBe('answered');
});

test(row('an operation: `cancel()`, its `signal`'), async () => {
  const store = memoryStore();
  const client = closeLater(createClient(memory({ store })));
  const [update, other] = [client.invoke(put('k', 1)), client.invoke(get('other'))];
  const derived = update.map(String);
  update.cancel();
  expect(await Promise.all([update, derived, other].map(codeOf))).toEqual([
    'UNKNOWN',
    'UNKNOWN',
    'answered',
  ]);
  expect(await client.invokeStrong(get('k'))).toBe(1);
});

test(row('a [session](sessions.md)'), async () => {
  const client = closeLater(createClient(memory()));
  const session = client.session();
  const read = client.invoke(get('k'), { session });
  session.close();
  session.close();
  expect(await codeOf(read)).toBe('answered');
  expect(await codeOf(client.invoke(get('k'), { session }))).toBe('INVALID_ARGUMENT');
  expect(await isOpen(client)).toBe(true);
});

test(
  row('a client of `memory`, `tiered`, `remote`, `redblue`, `zookeeper`, `cassandra`'),
  async () => {
    const store = memoryStore();
    const listener = closeLater(
      await listenGateways({ sites: { here: createGateway({ binding: memory({ store }) }) } }),
    );
    let hooks = 0;
    const bindings = [
      memory({ store }),
      tiered(LEVELS, { weak: () => 1, strong: () => 1 }, { close: () => void hooks++ }),
      remote({ url: listener.siteUrl('here'), levels: LEVELS, WebSocket }),
    ];
    for (const binding of bindings) {
      const [client, other] = [createClient(binding), createClient(binding)];
      expect(await isOpen(client)).toBe(true);
      await client.close();
      await client.close();
      expect(await codeOf(client.invoke(get('k')))).toBe('UNAVAILABLE');
      expect(await codeOf(other.invoke(get('k')))).toBe('UNAVAILABLE');
    }
    expect(hooks).toBe(1);
    for (const binding of [
      memory({ store }),
      remote({ url: listener.siteUrl('here'), levels: LEVELS, WebSocket }),
    ]) {
      expect(await isOpen(closeLater(createClient(binding)))).toBe(true);
    }
  },
);

test(row('a client of `cached(…)`'), async () => {
  const [store, retained] = [memoryStore(), mapStore()];
  const behind = memory({ store });
  const phone = createClient(cached(behind, { store: retained }));
  await phone.invoke(put('k', 1));
  await phone.close();
  expect(await codeOf(createClient(behind).invoke(get('k')))).toBe('UNAVAILABLE');
  const again = closeLater(createClient(cached(memory({ store }), { store: retained })));
  expect(await again.invokeWeak(get('k'))).toBe(1);
});

test(row('a client of `deployment.site(…)`'), async () => {
  const deployment = closeLater(createEmbedded(bankService(), { sites: ['ireland', 'virginia'] }));
  const clientOf = (site: 'ireland' | 'virginia') => createClient(deployment.site(site));
  const [leaving, staying, elsewhere] = [
    clientOf('ireland'),
    clientOf('ireland'),
    clientOf('virginia'),
  ];
  await leaving.close();
  const outcomes = [leaving, staying, elsewhere, clientOf('ireland')].map((client) =>
    codeOf(client.invoke(deposit)),
  );
  expect(await Promise.all(outcomes)).toEqual(['UNAVAILABLE', 'answered', 'answered', 'answered']);
});

test('a binding that `deployment.site(…)` gave → closes itself; another one and a gateway that hosts it go on', async () => {
  const deployment = closeLater(createEmbedded(bankService(), { sites: ['ireland'] }));
  const binding = deployment.site('ireland');
  const listener = closeLater(
    await listenGateways({ sites: { ireland: createGateway({ binding, contract: bank }) } }),
  );
  const away = closeLater(
    createClient(redblue(bank, { url: listener.siteUrl('ireland'), WebSocket })),
  );
  expect(await codeOf(away.invoke(deposit))).toBe('answered');
  await binding.close();
  const outcomes = [createClient(binding), createClient(deployment.site('ireland')), away].map(
    (client) => codeOf(client.invoke(deposit)),
  );
  expect(await Promise.all(outcomes)).toEqual(['UNAVAILABLE', 'answered', 'answered']);
});

test(row('`createEmbedded(…)`'), async () => {
  const deployment = createEmbedded(bankService(), { sites: ['ireland', 'virginia'] });
  const clients = (['ireland', 'virginia'] as const).map((site) =>
    createClient(deployment.site(site)),
  );
  await deployment.close();
  await deployment.close();
  for (const client of [...clients, createClient(deployment.site('ireland'))]) {
    expect(await codeOf(client.invoke(deposit))).toBe('UNAVAILABLE');
  }
});

test(row('`createGateway(…)`'), async () => {
  const binding = memory();
  const gateway = createGateway({ binding });
  const listener = closeLater(await listenGateways({ sites: { here: gateway } }));
  const away = createClient(remote({ url: listener.siteUrl('here'), levels: LEVELS, WebSocket }));
  const here = closeLater(createClient(binding));
  expect(await isOpen(away)).toBe(true);
  const drained = away.invoke(put('k', 1));
  await drained.when('weak');
  await Promise.all([gateway.close(), expect(codeOf(drained)).resolves.toBe('answered')]);
  await away.close();
  expect(await isOpen(here)).toBe(true);
});

test(row('`listenGateways(…)`'), async () => {
  const binding = memory();
  const server = createServer();
  const listener = await listenGateways({ sites: { here: createGateway({ binding }) }, server });
  await listener.close({ drainMs: 0 });
  expect(server.listening).toBe(true);
  server.close();
  await once(server, 'close');
  const own = await listenGateways({ sites: { here: createGateway({ binding }) } });
  await own.close({ drainMs: 0 });
  await expect(fetch(`${own.url}/sites`)).rejects.toThrow(/fetch failed/);
  expect(await isOpen(closeLater(createClient(binding)))).toBe(true);
});

test(row('`serve(…)`, `correctables serve`'), async () => {
  const server = await serve({ service: bankService(), sites: ['ireland'] });
  const client = createClient(redblue(bank, { url: server.siteUrl('ireland'), WebSocket }));
  expect(await codeOf(client.invoke(deposit))).toBe('answered');
  await client.close();
  const other = createClient(redblue(bank, { url: server.siteUrl('ireland'), WebSocket }));
  expect(await codeOf(other.invoke(deposit))).toBe('answered');
  await other.close();
  await server.close({ drainMs: 0 });
  await expect(fetch(`${server.url}/sites`)).rejects.toThrow(/fetch failed/);
});

test(row('a connection that breaks'), async () => {
  const listener = closeLater(
    await listenGateways({ sites: { here: createGateway({ binding: memory() }) } }),
  );
  const sockets: WebSocket[] = [];
  class Watched extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      sockets.push(this);
    }
  }
  const url = listener.siteUrl('here');
  const client = closeLater(createClient(remote({ url, levels: LEVELS, WebSocket: Watched })));
  await client.invoke(put('k', 1));
  sockets[0]!.terminate();
  expect(await client.invoke(get('k'))).toBe(1);
  expect(sockets.length).toBe(2);
});

test('the table of the guide → the rows that are tested here', () => {
  expect(tested).toEqual(rows);
});
