/** A session of a page travels between two servers, whose caches know nothing of each other. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { http } from '../../../../src/bindings/http/index.ts';
import {
  skipLevel,
  tiered,
  versionSessions,
  withDetails,
} from '../../../../src/bindings/tiered/index.ts';
import { signedTokens } from '../../../../src/bindings/tiered/node.ts';
import { defineContract, keyValueOperations } from '../../../../src/contract/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import {
  createHttpSession,
  fetchViews,
  httpHandler,
  readSessionTokens,
  sendViews,
} from '../../../../src/http/index.ts';
import { get, put } from '../../../../src/operations/index.ts';
import { seen } from './set-up.ts';

const LEVELS = ['cache', 'origin'] as const;
const contract = defineContract('values', {
  get: keyValueOperations.get,
  put: keyValueOperations.put,
});

interface Row {
  readonly value: unknown;
  readonly version: number;
}

/** Starts a server with a cache of its own, which keeps the first view of each key. */
async function startServer(rows: Map<string, Row>): Promise<string> {
  const cache = new Map<string, Row>();
  const show = (row: Row | undefined, absent: unknown): unknown =>
    row === undefined ? absent : withDetails(row.value, { version: row.version });
  const binding = tiered(
    LEVELS,
    {
      cache: ({ key = '' }) => show(cache.get(key), skipLevel),
      origin: async ({ access, key = '', args }) => {
        await new Promise(setImmediate);
        const row = rows.get(key);
        if (access === 'read') {
          if (row !== undefined && !cache.has(key)) cache.set(key, row);
          return show(row, undefined);
        }
        const version = (row?.version ?? 0) + 1;
        rows.set(key, { value: (args as { value: unknown }).value, version });
        return withDetails(undefined, { version });
      },
    },
    {
      sessions: versionSessions({ tokens: signedTokens({ tokenKey: 'a secret of all servers' }) }),
    },
  );
  const handle = httpHandler(contract, binding);
  const store = createClient(binding);
  const server = createServer((request, response) => {
    if (request.url !== '/api/k') return void handle(request, response);
    // As the guide shows it, without a contract.
    const session = store.session({ tokens: readSessionTokens(request) });
    const operation = request.method === 'PUT' ? put('k', 'new') : get('k');
    void sendViews(response, store.invoke<unknown>(operation, { session }), { request, session });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
}

// @rule TIER-5
test('createHttpSession: no view of the other server is older than the page has written', async () => {
  const rows = new Map<string, Row>([['k', { value: 'old', version: 1 }]]);
  const [here, there] = [await startServer(rows), await startServer(rows)];
  const fetchValue = fetchViews(LEVELS);
  await fetchValue(`${there}/k`); // Its cache has the old value now.

  const session = createHttpSession();
  await fetchValue(`${here}/k`, { method: 'PUT', session });
  expect(session.tokens).toHaveLength(1);
  expect(await seen(fetchValue(`${there}/k`, { session }))).toEqual(['origin=new!']);
  expect(await seen(fetchValue(`${there}/k`))).toEqual(['cache=old', 'origin=new!']);
});

// @rule TIER-5
test('the http binding: a session of its client goes from server to server', async () => {
  const rows = new Map<string, Row>();
  const servers = [await startServer(rows), await startServer(rows)];
  const connect = (url: string) =>
    createClient(http(contract, { url, levels: LEVELS, hasSessions: true }));
  const clients = servers.map(connect);
  let tokens: readonly string[] = [];
  for (let n = 0; n < 10; n += 1) {
    const client = clients[n % 2]!;
    const session = client.session({ tokens });
    await client.invoke(contract.put({ key: 'k', value: n }), { session });
    const other = clients[(n + 1) % 2]!;
    const there = other.session({ tokens: session.tokens });
    for await (const { value } of other.invoke(contract.get({ key: 'k' }), { session: there }))
      expect(value).toBe(n);
    tokens = there.tokens;
  }
  for (const client of clients) await client.close();
});
