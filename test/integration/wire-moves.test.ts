/** Updates and sessions that go from one site's gateway to another's, over real websockets. */
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { createClient } from '../../src/correctable/client/client.ts';
import { CorrectableError } from '../../src/correctable/errors.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { RawClient, StoreDouble } from '../support/wire.ts';
import { serve, type RunningServer } from '../../src/server/serve.ts';
import { bank, bankService } from '../unit/server/site/services.ts';

type Site = 'ireland' | 'frankfurt' | 'virginia';
let server: RunningServer<Site> | undefined;

const clients: RawClient[] = [];

afterEach(async () => {
  // Do not wait for clients that send nothing any more.
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]();
  await server?.close();
  server = undefined;
});

const start = async (): Promise<RunningServer<Site>> =>
  (server = await serve({ service: bankService(), sites: ['ireland', 'frankfurt', 'virginia'] }));

/** A client of raw rows: sends a row, and returns the next row that comes. */
async function speak(
  url: string,
  client: string,
  levels: readonly string[] = ['tentative', 'causal', 'strong'],
): Promise<(row: readonly unknown[]) => Promise<readonly unknown[]>> {
  const contract = levels.length === 3 ? { contract: { name: bank.name, hash: bank.hash } } : {};
  const raw = await RawClient.greeted(url, { client, levels, ...contract });
  clients.push(raw);
  return async (row) => {
    raw.send(row);
    return (await raw.row()).slice(0, 4);
  };
}

describe('over two gateways', () => {
  test('a write sent to one site, then to another with its move → one effect', async () => {
    const { siteUrl } = await start();
    const client = 'a'.repeat(32);
    const deposit = [1, 'submit', 'deposit', 'write', 4, { account: 'a', amount: 5 }];
    const ireland = await speak(siteUrl('ireland'), client);
    expect(await ireland(deposit)).toEqual([1, 'final', 1, 0]);
    const frankfurt = await speak(siteUrl('frankfurt'), client);
    expect(await frankfurt([...deposit, null, null, null, null, ['ireland', 1]])).toEqual([
      1,
      'final',
      1,
      0,
    ]);
    // Back at the first one, whose site has the answer.
    expect(await ireland([...deposit, null, null, null, null, ['ireland', 2]])).toEqual([
      1,
      'final',
      1,
      0,
    ]);
    const reader = createClient(redblue(bank, { url: siteUrl('ireland'), WebSocket }));
    expect(await reader.invokeStrong(bank.balance({ account: 'a' }))).toBe(5);
    await reader.close();
  });

  test('back at a site where the first request never ended → submitted again, and only the second is answered', async () => {
    const store = new StoreDouble();
    store.isExactlyOnce = true;
    const listener = await listenGateways({
      sites: { ireland: createGateway({ binding: store }) },
    });
    const ireland = await speak(listener.siteUrl('ireland'), 'c'.repeat(32), ['weak', 'strong']);
    const put = [1, 'submit', 'put', 'write', 2, { key: 'k' }];
    const first = ireland(put);
    const { sink: firstSink } = await store.next();
    ireland([...put, null, null, null, null, ['ireland', 2]]).catch(() => {});
    const { sink, context } = await store.next();
    expect(context.origin).toMatchObject({ home: 'ireland', hop: 2, sequence: 1 });
    firstSink.fail(new CorrectableError('ABORTED', 'asked elsewhere since'));
    sink.view('done', 'strong');
    expect(await first).toEqual([1, 'view', 1, 0]);
    await listener.close({ drainMs: 0 });
  });

  test('a move that cannot be → INVALID_ARGUMENT with the field', async () => {
    const { siteUrl } = await start();
    const ireland = await speak(siteUrl('ireland'), 'b'.repeat(32));
    const deposit = [1, 'submit', 'deposit', 'write', 4, { account: 'a', amount: 5 }];
    const answer = await ireland([...deposit, null, null, null, null, ['nowhere', 1]]);
    expect(answer.slice(0, 3)).toEqual([1, 'fail', 'INVALID_ARGUMENT']);
    expect(answer[3]).toContain('origin.home');
  });

  test('a session taken to another site → reads its own writes', async () => {
    const { siteUrl } = await start();
    const ireland = createClient(redblue(bank, { url: siteUrl('ireland'), WebSocket }));
    const virginia = createClient(redblue(bank, { url: siteUrl('virginia'), WebSocket }));
    const here = ireland.session();
    await ireland.invoke(bank.deposit({ account: 'a', amount: 5 }), { session: here });
    expect(here.tokens).toHaveLength(1);
    const there = virginia.session({ tokens: here.tokens });
    expect(await virginia.invokeWeak(bank.balance({ account: 'a' }), { session: there })).toBe(5);
    await Promise.all([ireland.close(), virginia.close()]);
  });
});
