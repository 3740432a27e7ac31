/**
 * Where a Cassandra cluster listens, what is delayed on the way there, and what `up` makes of its
 * options.
 */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { cassandra } from '../../../engines/cassandra/engine.ts';
import { clientAddress, layOut, NODE_SITES } from '../../../engines/cassandra/layout.ts';
import { EngineUnavailable } from '../../../engines/engine.ts';
import { UsageError } from '../../../engines/usage-error.ts';
import { accessDelayMs, roundTripMs } from '../../../engines/wan.ts';

test('layout: no delays → no proxy, clients and peers reach nodes where they listen', async () => {
  const layout = await layOut({ nodes: 3, wan: 'none', nodesDelay: false });
  expect(layout.routes).toEqual([]);
  for (const { site, address, peerAddress } of layout.nodes) {
    expect(peerAddress).toBe(address);
    for (const from of NODE_SITES) expect(clientAddress(layout, from, site)).toBe(address);
  }
});

test('layout: two sites in one data centre, one in another → a quorum beside Frankfurt is Frankfurt and Ireland', async () => {
  const { nodes } = await layOut({ nodes: 3, wan: 'none', nodesDelay: false });
  expect(nodes.map(({ site, dataCenter }) => [site, dataCenter])).toEqual([
    ['frankfurt', 'eu'],
    ['ireland', 'eu'],
    ['virginia', 'us'],
  ]);
});

test("layout: the paper's delays → each way between two nodes takes its round trip, there and back", async () => {
  const { nodes, routes } = await layOut({ nodes: 3, wan: 'paper', nodesDelay: false });
  const getDelayMs = (host: string): number =>
    routes.find(({ listenHost }) => listenHost === host)?.oneWayMs ?? Number.NaN;
  for (const a of nodes) {
    for (const b of nodes.filter((item) => item !== a)) {
      expect(getDelayMs(a.peerAddress) + getDelayMs(b.peerAddress)).toBe(
        roundTripMs('paper', a.site, b.site),
      );
    }
  }
  expect(NODE_SITES.map((site) => accessDelayMs('paper', site, NODE_SITES))).toEqual([
    13.5, 6.5, 76.5,
  ]);
});

test("layout: the paper's Twissandra → a quorum beside Virginia is Virginia and California; Ireland's client is far", async () => {
  const layout = await layOut({
    nodes: 3,
    wan: 'paper',
    placement: 'twissandra',
    nodesDelay: false,
  });
  const { nodes, routes } = layout;
  const dataCenters = nodes.map(({ site, dataCenter }) => [site, dataCenter]);
  expect(dataCenters).toEqual([
    ['virginia', 'us'],
    ['nca', 'us'],
    ['ore', 'ore'],
  ]);
  const getDelayMs = (host: string): number =>
    routes.find(({ listenHost }) => listenHost === host)?.oneWayMs ?? Number.NaN;
  const [virginia, nca, ore] = nodes.map(({ peerAddress }) => getDelayMs(peerAddress)) as [
    number,
    number,
    number,
  ];
  expect([virginia + nca, virginia + ore, nca + ore]).toEqual([65, 75, 21]);
  expect(getDelayMs(clientAddress(layout, 'ireland', 'virginia'))).toBe(41.5);
  const hosts = [
    ...nodes.map(({ address }) => address),
    ...routes.map(({ listenHost }) => listenHost ?? ''),
  ];
  expect(new Set(hosts).size).toBe(hosts.length);
});

test('layout: an address in use → refused, by name, with what to do', async () => {
  const { network } = await layOut({ nodes: 3, wan: 'none', nodesDelay: false });
  const taken = createServer().listen(9042, `127.0.${network}.2`);
  await once(taken, 'listening');
  const refused = layOut({ nodes: 3, wan: 'none', nodesDelay: false, network });
  await expect(refused).rejects.toThrow(EngineUnavailable);
  await expect(refused).rejects.toThrow(`127.0.${network}.2:9042 is in use`);
  taken.close();
});

test.each([
  [{ nodes: '2' }, '--nodes takes one of 1, 3'],
  [{ wan: 'moon' }, '--wan takes one of none, paper'],
  [{ placement: 'moon' }, '--placement takes one of paper, twissandra'],
  [{ network: 'x' }, '--network takes a whole number from 0 to 254, not "x"'],
  [{ network: '300' }, '--network takes a whole number from 0 to 254, not "300"'],
])('up: %j → a usage error that names the option', async (options, message) => {
  const answer = cassandra.up(options, () => {});
  await expect(answer).rejects.toThrow(UsageError);
  await expect(answer).rejects.toThrow(message);
});
