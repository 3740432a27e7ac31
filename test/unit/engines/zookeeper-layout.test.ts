/** The configuration of an ensemble: who is elected, and who reaches whom through which delay. */
import { expect, test } from 'vitest';
import { UsageError } from '../../../engines/usage-error.ts';
import { zookeeper } from '../../../engines/zookeeper/engine.ts';
import { configOf, layOut } from '../../../engines/zookeeper/layout.ts';

test('layout: the leader asked for → the highest id, which wins among equals', async () => {
  for (const leader of ['ireland', 'frankfurt', 'virginia'] as const) {
    const { nodes } = await layOut({ nodes: 3, leader, wan: 'none' });
    expect(nodes.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(nodes[2]?.site).toBe(leader);
  }
});

test('layout: no delays → no proxy, everybody directly', async () => {
  const { nodes, routes, clientPorts, quorumPorts } = await layOut({
    nodes: 3,
    leader: 'ireland',
    wan: 'none',
  });
  expect(routes).toEqual([]);
  for (const { site, clientPort, quorumPort } of nodes) {
    expect([clientPorts.frankfurt[site], quorumPorts.frankfurt[site]]).toEqual([
      clientPort,
      quorumPort,
    ]);
  }
});

test("layout: the papers' delays → half a round trip each way, between sites only, all ports different", async () => {
  const { nodes, routes, clientPorts } = await layOut({
    nodes: 3,
    leader: 'ireland',
    wan: 'paper',
  });
  const frankfurt = nodes.find(({ site }) => site === 'frankfurt');
  expect(clientPorts.frankfurt.frankfurt).toBe(frankfurt?.clientPort);
  const route = routes.find(({ listenPort }) => listenPort === clientPorts.ireland.frankfurt);
  expect(route).toMatchObject({ targetPort: frankfurt?.clientPort, oneWayMs: 10 });
  expect(routes).toHaveLength(12);
  const ports = [
    ...routes.map(({ listenPort }) => listenPort),
    ...nodes.flatMap((node) => [node.clientPort, node.quorumPort]),
  ];
  expect(new Set(ports).size).toBe(ports.length);
});

test('configuration: a node → itself directly, the others through their delays', async () => {
  const layout = await layOut({ nodes: 3, leader: 'ireland', wan: 'paper' });
  const [frankfurt, virginia] = layout.nodes;
  if (frankfurt === undefined || virginia === undefined) throw new Error('no nodes');
  const config = configOf(layout, frankfurt, '/data');
  expect(config).toContain(`server.1=127.0.0.1:${frankfurt.quorumPort}:${frankfurt.electionPort}`);
  expect(config).toContain(
    `server.2=127.0.0.1:${layout.quorumPorts.frankfurt.virginia}:${virginia.electionPort}`,
  );
  expect(layout.quorumPorts.frankfurt.virginia).not.toBe(virginia.quorumPort);
});

test.each([
  [{ nodes: 2 }, '--nodes takes one of 1, 3'],
  [{ leader: 'mars' }, '--leader takes one of ireland, frankfurt, virginia'],
  [{ wan: 'moon' }, '--wan takes one of none, paper'],
  [{ nodes: 1, wan: 'paper' }, '--wan needs several servers'],
  [{ nodes: 1, czk: true }, '--czk needs several servers'],
])('up %j → refused, the flag named', async (options, message) => {
  const rejection = await zookeeper.up(options, () => {}).catch((error: unknown) => error);
  expect(rejection).toBeInstanceOf(UsageError);
  expect((rejection as Error).message).toContain(message);
});
