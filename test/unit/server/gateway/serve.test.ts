/** `serve`: what it hands to the gateways of all its sites, and to the port. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/index.ts';
import {
  blue,
  counter,
  defineService,
  serve,
  table,
  type ServeOptions,
} from '../../../../src/server/index.ts';
import { RawClient } from '../../../support/wire.ts';

const contract = defineContract('counts', {
  add: { access: 'write', args: z.object({ key: z.string() }), result: z.null() },
  total: { access: 'read', args: z.object({ key: z.string() }), result: z.number() },
});
const service = defineService(contract, {
  tables: { counts: table({ n: counter() }) },
  shadowOperations: ({ counts }) => ({
    add: blue(({ key }: { key: string }) => [counts.row(key).n.add(1)]),
  }),
  generators: {
    add: (args, { shadow }) => shadow.add(args, null),
    total: ({ key }, { tables }) => tables.counts.row(key).n,
  },
});
const levels = ['tentative', 'causal', 'strong'];

test('serve with authenticate, authorize and limits → they hold at every site', async () => {
  const server = await serve({
    service,
    sites: ['ireland', 'frankfurt'],
    authenticate: (token) => {
      if (token !== 'good') throw new Error('no such token');
      return { id: 'ada' };
    },
    authorize: async (_, { access }) => access === 'read',
    limits: { maxInFlight: 5 },
  });
  for (const site of server.sites) {
    await using stranger = new RawClient(server.siteUrl(site));
    await stranger.opened();
    stranger.send([0, 'hello', { ...RawClient.hello(), levels }]);
    expect((await stranger.closed).code).toBe(4401);
    await using client = new RawClient(server.siteUrl(site));
    expect(await client.greet({ token: 'good', levels })).toMatchObject([
      0,
      'welcome',
      { limits: { maxInFlight: 5 } },
    ]);
    client.send(
      [1, 'submit', 'add', 'write', 2, { key: 'k' }],
      [2, 'submit', 'total', 'read', 2, { key: 'k' }],
    );
    expect((await client.row()).slice(0, 3)).toEqual([1, 'fail', 'FORBIDDEN']);
    expect(await client.row()).toEqual([2, 'view', 1, 0, 0]);
  }
  await server.close();
});

test('serve with limits that do not fit → INVALID_ARGUMENT, and nothing is left running', async () => {
  const served = serve({ service, sites: ['ireland'], limits: { maxInFlight: 0 } });
  await expect(served).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'limits.maxInFlight',
  });
});

test('writes that are not acknowledged → the metrics say how much the site remembers of them', async () => {
  const server = await serve({ service, sites: ['ireland'] });
  const retained = async (): Promise<string[]> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return text.match(/^correctables_repl\w+\{site="ireland",log="own"\} \d+$/gm) ?? [];
  };
  await using client = await RawClient.greeted(server.siteUrl('ireland'), { levels });
  client.send(
    [1, 'submit', 'add', 'write', 2, { key: 'k' }],
    [2, 'submit', 'add', 'write', 2, { key: 'k' }],
  );
  await client.row();
  await client.row();
  const [answers, bytes] = await retained();
  expect(answers).toBe('correctables_replies_retained_in_log{site="ireland",log="own"} 2');
  expect(Number(bytes?.split(' ')[1])).toBeGreaterThan(100);
  client.send([2, 'ack'], [3, 'submit', 'add', 'write', 2, { key: 'k' }]);
  await client.row();
  expect((await retained())[0]).toBe(
    'correctables_replies_retained_in_log{site="ireland",log="own"} 1',
  );
  client.socket.terminate();
  await server.close();
});

test('messages between sites that are refused → counted in the metrics, by reason', async () => {
  const server = await serve({ service, sites: ['ireland', 'frankfurt'] });
  const text = await (await fetch(`${server.url}/metrics`)).text();
  for (const site of ['ireland', 'frankfurt'])
    for (const reason of ['content', 'term', 'clock', 'room'])
      expect(text).toContain(
        `correctables_site_messages_refused_total{site="${site}",reason="${reason}"} 0`,
      );
  await server.close();
});

test('serve with a page that fails, and upgrades to nowhere that are reset → goes on', async () => {
  const server = await serve({
    service,
    sites: ['ireland'],
    page: () => {
      throw new Error('of the page');
    },
  });
  expect((await fetch(server.url)).status).toBe(500);
  const peer = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {});
  peer.write(
    'GET /nope HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  const answer = await new Promise((resolve) =>
    peer.once('data', (data) => resolve(data.toString())),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  peer.resetAndDestroy();
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  await server.close();
});

describe('metrics of the red logs', () => {
  const readMetrics = async (
    partitions: ServeOptions<'ireland'>['partitions'],
  ): Promise<string> => {
    const server = await serve({ service, sites: ['ireland'], partitions });
    const text = await (await fetch(`${server.url}/metrics`)).text();
    await server.close();
    return text;
  };

  test('several logs → each has its own values', async () => {
    const text = await readMetrics({ us: { leader: 'ireland' } });
    for (const partition of ['main', 'us']) {
      const labels = `site="ireland",partition="${partition}"`;
      for (const line of [
        `red_rejected_total{${labels},reason="name"} 0`,
        `red_committed_total{${labels}} 0`,
        `globals_total{${labels},outcome="committed"} 0`,
        `hold_seconds_count{${labels}} 0`,
        `holds_standing{${labels}} 0`,
        `strong_checks_failed_total{${labels}} 0`,
        `red_gate_wait_seconds_sum{${labels}} `,
      ])
        expect(text).toContain(`correctables_${line}`);
    }
  });

  test('one log → no value names a partition', async () => {
    const text = await readMetrics(undefined);
    expect(text).toContain('correctables_red_rejected_total{site="ireland",reason="name"} 0');
    expect(text).not.toMatch(/partition|globals|hold/);
  });
});
