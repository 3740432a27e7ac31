/** The faults of the way to a server of one's own: over HTTP, and over a websocket. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { http } from '../../../src/bindings/http/index.ts';
import { remote } from '../../../src/bindings/remote/index.ts';
import { createClient, type Client, type CorrectableError } from '../../../src/index.ts';
import { LOOPBACK } from '../../../engines/ports.ts';
import { SilentRoute } from '../support/silent-route.ts';
import { httpRemote } from './columns/http-remote.ts';
import { book, LEVELS, seats, shop } from './support/seat-shop.ts';
import { describeFaults, expectRecovery } from './support/matrix.ts';

const TIMEOUT_MS = 3_000;
const FREEZE_MS = process.env['ENGINES_SHORT'] === '1' ? 5_000 : 30_000;
const ROOT = join(import.meta.dirname, '../../..');

type Store = Client<typeof LEVELS>;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A server of one's own as a process: its binding over HTTP and over a websocket. */
interface Shop {
  readonly process: ChildProcess;
  readonly http: string;
  readonly websocket: string;
}

async function startShop(token = 'paper'): Promise<Shop> {
  const program = join(import.meta.dirname, 'support/seat-shop-server.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, token], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const addresses = JSON.parse(line.toString()) as { http: string; websocket: string };
  return { process: child, ...addresses };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** The two ways, each through a route of its own. */
interface Way {
  readonly name: string;
  readonly route: SilentRoute;
  readonly store: Store;
  readonly toTarget: (shop: Shop) => string;
}

async function openWays(shopAt: Shop, { token = (): string => 'paper' } = {}): Promise<Way[]> {
  const toHttp = (at: Shop): string => new URL(at.http).host;
  const toWebsocket = (at: Shop): string => new URL(at.websocket).host;
  const routes = [
    await SilentRoute.open(toHttp(shopAt)),
    await SilentRoute.open(toWebsocket(shopAt)),
  ] as const;
  const bindings = [
    http(shop, {
      url: `http://${routes[0].address}/api`,
      levels: LEVELS,
      headers: () => ({ authorization: `Bearer ${token()}` }),
    }),
    remote({
      url: `ws://${routes[1].address}${new URL(shopAt.websocket).pathname}`,
      levels: LEVELS,
      contract: shop,
      token,
      heartbeatIntervalMs: 1_000,
      pongTimeoutMs: 1_000,
    }),
  ] as const;
  return [
    { name: 'http', route: routes[0], binding: bindings[0], toTarget: toHttp },
    { name: 'remote', route: routes[1], binding: bindings[1], toTarget: toWebsocket },
  ].map(({ binding, ...way }) => {
    const store = createClient(binding, { timeoutMs: TIMEOUT_MS }) as Store;
    ends.push(
      () => store.close(),
      () => way.route[Symbol.asyncDispose](),
    );
    return { ...way, store };
  });
}

async function getOutcome(operation: PromiseLike<unknown>): Promise<string> {
  return await operation.then(
    () => 'done',
    (error: unknown) => (error as CorrectableError).code,
  );
}

async function expectWorking({ store, name }: Way): Promise<void> {
  await expectRecovery(TIMEOUT_MS, async () => await store.invoke(book({ seat: name })));
  expect(await expectRecovery(TIMEOUT_MS, async () => await store.invoke(seats({})))).toContain(
    name,
  );
}

/** Both ways become silent at once. */
async function expectKeptThroughSilence(fail: (route: SilentRoute) => void): Promise<void> {
  const ways = await openWays(await startShop());
  await Promise.all(
    ways.map(async (way) => {
      await expectWorking(way);
      fail(way.route);
      const [write, read] = await Promise.all([
        getOutcome(way.store.invoke(book({ seat: 'silent' }))),
        getOutcome(way.store.invoke(seats({}))),
      ]);
      // `remote` may have noticed in time, and then sends both again.
      expect(['UNKNOWN', 'done'], way.name).toContain(write);
      expect(['TIMEOUT', 'UNAVAILABLE', 'done'], way.name).toContain(read);
      await expectWorking(way);
    }),
  );
}

/** A proxy that replies by itself. */
async function openProxy(reply: () => { status: number; body: string }): Promise<{ url: string }> {
  const server: Server = createServer((_request, response) => {
    const { status, body } = reply();
    response.writeHead(status, { 'content-type': 'text/html' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  ends.push(() => server.close());
  return { url: `http://${LOOPBACK}:${(server.address() as { port: number }).port}/api` };
}

describeFaults(httpRemote, {
  killed: async () => {
    const before = await startShop();
    const ways = await openWays(before);
    for (const way of ways) await expectWorking(way);
    await kill(before.process);
    const [overHttp, overWebsocket] = ways as [Way, Way];
    expect(await getOutcome(overHttp.store.invoke(seats({})))).toBe('UNAVAILABLE');
    const waiting = overWebsocket.store.invoke(seats({}), { timeoutMs: 30_000 });
    const after = await startShop();
    for (const way of ways) way.route.target = way.toTarget(after);
    expect(await waiting).toBeInstanceOf(Array);
    for (const way of ways) await expectWorking(way);
  },

  frozen: async () => {
    const at = await startShop();
    const ways = await openWays(at);
    for (const way of ways) await expectWorking(way);
    at.process.kill('SIGSTOP');
    const frozenAtMs = performance.now();
    await Promise.all(
      ways.map(async ({ store, name }) => {
        const [write, read] = await Promise.all([
          getOutcome(store.invoke(book({ seat: 'frozen' }))),
          getOutcome(store.invoke(seats({}))),
        ]);
        // `remote` sends nothing on a connection that it has given up.
        expect(name === 'http' ? ['UNKNOWN'] : ['UNKNOWN', 'UNAVAILABLE']).toContain(write);
        expect(name === 'http' ? ['TIMEOUT'] : ['TIMEOUT', 'UNAVAILABLE']).toContain(read);
      }),
    );
    await new Promise((resolve) =>
      setTimeout(resolve, FREEZE_MS - (performance.now() - frozenAtMs)),
    );
    at.process.kill('SIGCONT');
    await Promise.all(ways.map(expectWorking));
  },

  cut: async () => await expectKeptThroughSilence((route) => route.cutSilently()),

  halfOpen: async () => await expectKeptThroughSilence((route) => route.dropAnswers()),

  moved: async () => {
    const [before, after] = [await startShop(), await startShop()];
    const ways = await openWays(before);
    for (const way of ways) {
      await expectWorking(way);
      way.route.target = way.toTarget(after);
      way.route.closeAll();
      await expectWorking(way);
    }
  },

  credentials: async () => {
    const before = await startShop('paper');
    let token = 'paper';
    const ways = await openWays(before, { token: () => token });
    for (const way of ways) await expectWorking(way);
    const after = await startShop('scissors');
    for (const way of ways) {
      way.route.target = way.toTarget(after);
      way.route.closeAll();
      await expect
        .poll(async () => await getOutcome(way.store.invoke(seats({}))), { timeout: 20_000 })
        .toBe('UNAUTHENTICATED');
    }
    token = 'scissors';
    for (const way of ways) await expectWorking(way);
  },

  connections: async () => {
    const at = await startShop();
    let status = 429;
    const proxy = await openProxy(() => ({ status, body: 'too many' }));
    const store = createClient(http(shop, { url: proxy.url, levels: LEVELS }), {
      timeoutMs: TIMEOUT_MS,
    });
    expect(await getOutcome(store.invoke(seats({})))).toBe('OVERLOADED');
    expect(await getOutcome(store.invoke(book({ seat: 'a' })))).toBe('OVERLOADED');
    status = 503;
    expect(await getOutcome(store.invoke(seats({})))).toBe('UNAVAILABLE');
    expect(await getOutcome(store.invoke(book({ seat: 'a' })))).toBe('UNKNOWN');
    await store.close();
    for (const way of await openWays(at)) await expectWorking(way);
  },

  foreignValue: async () => {
    const proxy = await openProxy(() => ({ status: 200, body: '<h1>Sign in</h1>' }));
    const store = createClient(http(shop, { url: proxy.url, levels: LEVELS }), {
      timeoutMs: TIMEOUT_MS,
    });
    expect(await getOutcome(store.invoke(seats({})))).toBe('PROTOCOL');
    expect(await getOutcome(store.invoke(book({ seat: 'a' })))).toBe('UNKNOWN');
    await store.close();
  },

  callerLeaves: async () => {
    const ways = await openWays(await startShop());
    for (const way of ways) {
      await expectWorking(way);
      for (let n = 0; n < 10; n += 1) {
        const signal = AbortSignal.timeout(n);
        const write = await getOutcome(way.store.invoke(book({ seat: `left ${n}` }), { signal }));
        expect(['done', 'ABORTED', 'UNKNOWN'], way.name).toContain(write);
        const taken = await way.store.invoke(seats({}));
        if (write === 'done') expect(taken).toContain(`left ${n}`);
        if (write === 'ABORTED') expect(taken).not.toContain(`left ${n}`);
      }
      await expectWorking(way);
    }
  },
});
