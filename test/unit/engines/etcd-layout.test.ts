/**
 * Where an etcd cluster listens, what is delayed on the way there, and what `up` makes of its
 * options.
 */
import { expect, test } from 'vitest';
import { etcd } from '../../../engines/etcd/engine.ts';
import { layOut } from '../../../engines/etcd/layout.ts';
import { UsageError } from '../../../engines/usage-error.ts';

test('layout: no delays → no proxy, servers and clients directly', async () => {
  const { members, routes, clientPorts } = await layOut({ nodes: 3, wan: 'none' });
  expect(routes).toEqual([]);
  expect(members.map(({ site }) => site)).toEqual(['ireland', 'frankfurt', 'virginia']);
  for (const { site, clientPort, peerPort, announcedPeerPort } of members) {
    expect(announcedPeerPort).toBe(peerPort);
    expect(clientPorts.frankfurt[site]).toBe(clientPort);
  }
});

test("layout: the papers' delays → between servers what each adds, to clients half a round trip", async () => {
  const { members, routes, clientPorts } = await layOut({ nodes: 3, wan: 'paper' });
  const delayTo = (port: number): number | undefined =>
    routes.find(({ listenPort }) => listenPort === port)?.oneWayMs;
  expect(members.map(({ announcedPeerPort }) => delayTo(announcedPeerPort))).toEqual([
    6.5, 13.5, 76.5,
  ]);
  const [ireland] = members;
  expect(clientPorts.ireland.ireland).toBe(ireland?.clientPort);
  expect(delayTo(clientPorts.virginia.ireland ?? 0)).toBe(41.5);
  expect(routes).toHaveLength(9);
  expect(new Set(routes.map(({ listenPort }) => listenPort)).size).toBe(9);
});

test.each([
  [{ nodes: 2 }, '--nodes takes one of 1, 3'],
  [{ wan: 'moon' }, '--wan takes one of none, paper'],
  [{ nodes: 1, wan: 'paper' }, '--wan needs several servers'],
])('up %j → refused, the flag named', async (options, message) => {
  const rejection = await etcd.up(options, () => {}).catch((error: unknown) => error);
  expect(rejection).toBeInstanceOf(UsageError);
  expect((rejection as Error).message).toContain(message);
});
