/** A causal store behind a gateway at each site: what distant clients and web pages see. */
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createCausalStore } from '../../src/bindings/causal/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import { createClient, type Binding, type Client } from '../../src/index.ts';
import { get, getMany, put, remove } from '../../src/operations/index.ts';
import { startGateway, type RunningGateway } from '../support/wire.ts';

const LEVELS = ['causal', 'latest'] as const;
type CausalClient = Client<typeof LEVELS>;

const store = () =>
  createCausalStore({ sites: ['dublin', 'oregon'], latency: { 'dublin-oregon': 20 } });
const closing: (() => PromiseLike<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connect(binding: Binding<typeof LEVELS>): Promise<CausalClient> {
  const gateway: RunningGateway = await startGateway({ binding });
  closing.push(() => gateway[Symbol.asyncDispose]());
  const client = createClient(
    remote({ url: gateway.url, levels: LEVELS, hasSessions: true, WebSocket }),
  );
  closing.push(() => client.close());
  return client as unknown as CausalClient;
}

test('views of both levels, snapshots, ttlMs and remove travel over the wire', async () => {
  const { site } = store();
  const dublin = await connect(site('dublin'));
  await dublin.invoke(put('a', { n: 1 }));
  await dublin.invoke(put('b', 2, { ttlMs: 60_000 }));
  const levels: string[] = [];
  for await (const { level } of dublin.invoke(get('a'))) levels.push(level);
  expect(levels).toEqual(['causal', 'latest']);
  await dublin.invoke(remove('a'));
  expect(await dublin.invoke(getMany(['a', 'b']))).toEqual([undefined, 2]);
});

test('a session that moves to the other gateway reads its own writes there (CAUSAL-20)', async () => {
  const { site } = store();
  const [dublin, oregon] = [await connect(site('dublin')), await connect(site('oregon'))];
  const session = dublin.session();
  await dublin.invoke(put('a', 1), { session });
  const moved = oregon.session({ tokens: session.tokens });
  expect(await oregon.invokeWeak(get('a'), { session: moved })).toBe(1);
});

test('a token that a client made up is refused (CAUSAL-21)', async () => {
  const dublin = await connect(store().site('dublin'));
  const session = dublin.session({ tokens: ['c1.99999999999999999_99999999999999999'] });
  await expect(dublin.invoke(put('a', 1), { session })).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
});
