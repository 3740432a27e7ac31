/** Refused requests in the log: the client is not shown why, so the operator must find it there. */
import { WebSocket } from 'ws';
import { expect, test, vi } from 'vitest';
import { RawClient, startGateway, SUBPROTOCOL_JSON } from '../../../../support/wire.ts';

async function startLogged() {
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const server = await startGateway({ logger, origins: ['https://shop.example'] });
  const upgrade = (path: string, headers: Record<string, string> = {}): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(
        `${server.listener.url.replace('http', 'ws')}${path}`,
        SUBPROTOCOL_JSON,
        {
          headers,
        },
      );
      socket.on('error', ({ message }) => resolve(message));
      socket.on('close', (code) => resolve(String(code)));
    });
  const close = (): PromiseLike<void> => server[Symbol.asyncDispose]();
  return { server, upgrade, warnings: logger.warn.mock.calls, [Symbol.asyncDispose]: close };
}

const EVIL = { origin: 'https://evil.example' };

test('warns once of each origin that is not in `origins`, by websocket and by HTTP', async () => {
  await using gateway = await startLogged();
  for (let i = 0; i < 2; i++) expect(await gateway.upgrade('/here', EVIL)).toMatch(/403/);
  const pages = await fetch(`${gateway.server.listener.url}/sites`, { headers: EVIL });
  expect(pages.status).toBe(403);
  expect(gateway.warnings).toEqual([
    [EVIL, 'refused a page, because its origin is not in `origins`'],
  ]);
  await using _client = await RawClient.greeted(gateway.server.url);
  expect(gateway.warnings).toHaveLength(1);
});

test('warns once of each path that is no site, and of each host by which a loopback server is not called', async () => {
  await using gateway = await startLogged();
  expect(await gateway.upgrade('/nope')).toBe('4404');
  expect(await gateway.upgrade('/nope?x')).toBe('4404');
  expect(await gateway.upgrade('/here', { host: 'rebound.example' })).toMatch(/403/);
  expect(gateway.warnings).toEqual([
    [{ path: '/nope' }, 'refused a websocket, because its path is no site. Sites: /here'],
    [
      { host: 'rebound.example' },
      'refused a request, because a server on loopback accepts only loopback names as Host',
    ],
  ]);
});

test('warns of 20 paths at most, each cut at 200 characters: a stranger cannot fill the log', async () => {
  await using gateway = await startLogged();
  for (let i = 0; i < 22; i++) await gateway.upgrade(`/${i}${'x'.repeat(1_000)}`);
  expect(gateway.warnings).toHaveLength(20);
  expect(gateway.warnings[0]).toEqual([{ path: `/0${'x'.repeat(198)}` }, expect.any(String)]);
  await gateway.upgrade('/here', EVIL);
  expect(gateway.warnings.at(-1)?.[0]).toEqual(EVIL);
});
