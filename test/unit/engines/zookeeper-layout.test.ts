/** The configuration of an ensemble: who is elected, and who reaches whom through which delay. */
import { expect, test } from 'vitest';
import { UsageError } from '../../../engines/usage-error.ts';
import { zookeeper } from '../../../engines/zookeeper/engine.ts';
import { configOf, layOut } from '../../../engines/zookeeper/layout.ts';

test('layout: the leader asked for → the highest id, which wins among equals', async () => {
  for (const leader of ['irl', 'frk', 'vrg'] as const) {
    const { nodes } = await layOut({ nodes: 3, leader, wan: 'none' });
    expect(nodes.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(nodes[2]?.site).toBe(leader);
  }
});

test('layout: no delays → no proxy, everybody directly', async () => {
  const { nodes, routes, clientPorts, quorumPorts } = await layOut({ nodes: 3, leader: 'irl', wan: 'none' });
  expect(routes).toEqual([]);
  for (const { site, clientPort, quorumPort } of nodes) {
    expect([clientPorts.frk[site], quorumPorts.frk[site]]).toEqual([clientPort, quorumPort]);
  }
});

test("layout: the papers' delays → half a round trip each way, between sites only, all ports different", async () => {
  const { nodes, routes, clientPorts } = await layOut({ nodes: 3, leader: 'irl', wan: 'paper' });
  const frk = nodes.find(({ site }) => site === 'frk');
  expect(clientPorts.frk.frk).toBe(frk?.clientPort);
  const route = routes.find(({ listenPort }) => listenPort === clientPorts.irl.frk);
  expect(route).toMatchObject({ targetPort: frk?.clientPort, oneWayMs: 10 });
  expect(routes).toHaveLength(12);
  const ports = [
    ...routes.map(({ listenPort }) => listenPort),
    ...nodes.flatMap((node) => [node.clientPort, node.quorumPort]),
  ];
  expect(new Set(ports).size).toBe(ports.length);
});

test('configuration: a node → itself directly, the others through their delays', async () => {
  const layout = await layOut({ nodes: 3, leader: 'irl', wan: 'paper' });
  const [frk, vrg] = layout.nodes;
  if (frk === undefined || vrg === undefined) throw new Error('no nodes');
  const config = configOf(layout, frk, '/data');
  expect(config).toContain(`server.1=127.0.0.1:${frk.quorumPort}:${frk.electionPort}`);
  expect(config).toContain(`server.2=127.0.0.1:${layout.quorumPorts.frk.vrg}:${vrg.electionPort}`);
  expect(layout.quorumPorts.frk.vrg).not.toBe(vrg.quorumPort);
});

test.each([
  [{ nodes: 2 }, '--nodes takes one of 1, 3'],
  [{ leader: 'mars' }, '--leader takes one of irl, frk, vrg'],
  [{ wan: 'moon' }, '--wan takes one of none, paper'],
  [{ nodes: 1, wan: 'paper' }, '--wan needs several servers'],
  [{ nodes: 1, czk: true }, '--czk needs several servers'],
])('up %j → refused, the flag named', async (options, message) => {
  const refusal = await zookeeper.up(options, () => {}).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UsageError);
  expect((refusal as Error).message).toContain(message);
});
