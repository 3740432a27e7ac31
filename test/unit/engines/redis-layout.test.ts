/** Where the sites of Redis listen, how they form clusters, and what `up` makes of its options. */
import { expect, test } from 'vitest';
import { redis } from '../../../engines/redis/engine.ts';
import {
  createNodesFile,
  getNatMap,
  layOut,
  type NodeLayout,
} from '../../../engines/redis/layout.ts';
import { UsageError } from '../../../engines/usage-error.ts';

test('gives each server ports and an id of its own', async () => {
  const { nodes, routes } = await layOut({ masters: 3, replicas: 1, wan: 'none' });
  expect(nodes).toHaveLength(12);
  const ports = [
    ...nodes.flatMap(({ port, busPort }) => [port, busPort]),
    ...routes.dublin.map((r) => r.listenPort),
  ];
  expect(new Set(ports).size).toBe(ports.length);
  expect(new Set(nodes.map(({ id }) => id)).size).toBe(12);
});

test('routes clients to the other site through proxies, with half a round trip', async () => {
  const layout = await layOut({ masters: 1, replicas: 1, wan: 'paper' });
  expect(layout.routes.dublin.map(({ oneWayMs }) => oneWayMs)).toEqual([65, 65]);
  const natMap = getNatMap(layout, 'dublin');
  for (const { site, port } of layout.nodes) {
    const mapped = natMap[`127.0.0.1:${port}`];
    expect(mapped === undefined).toBe(site === 'dublin');
    expect(mapped?.port).not.toBe(port);
  }
});

test('writes a file for each server in which all slots have a master', async () => {
  const layout = await layOut({ masters: 3, replicas: 1, wan: 'none' });
  const node = layout.nodes.find(({ name }) => name === 'oregon-1-1') as NodeLayout;
  const lines = createNodesFile(layout, node).trimEnd().split('\n');
  const master = layout.nodes.find(({ name }) => name === 'oregon-1-0') as NodeLayout;
  const address = `127.0.0.1:${node.port}@${node.busPort}`;
  expect(lines.find((line) => line.includes('myself'))).toBe(
    `${node.id} ${address} myself,slave ${master.id} 0 0 2 connected`,
  );
  const ranges = lines.flatMap((line) => /\d+-\d+$/.exec(line) ?? []);
  expect(ranges).toEqual(['0-5461', '5462-10922', '10923-16383']);
  expect(lines.at(-1)).toBe('vars currentEpoch 3 lastVoteEpoch 0');
});

test.each([
  [{ server: 'keydb' }, '--server takes one of redis, valkey'],
  [{ masters: 2 }, '--masters takes one of 1, 3, 5'],
  [{ replicas: 2 }, '--replicas takes one of 0, 1'],
  [{ wan: 'moon' }, '--wan takes one of none, paper'],
])('refuses `up` with %j and names the flag', async (options, message) => {
  const rejection = await redis.up(options, () => {}).catch((error: unknown) => error);
  expect(rejection).toBeInstanceOf(UsageError);
  expect((rejection as Error).message).toContain(message);
});
