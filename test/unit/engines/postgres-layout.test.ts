/** Where the servers of PostgreSQL listen, and what `up` makes of its options. */
import { expect, test } from 'vitest';
import { postgres } from '../../../engines/postgres/engine.ts';
import { layOut } from '../../../engines/postgres/layout.ts';
import { UsageError } from '../../../engines/usage-error.ts';

test('gives each server, and each way to it, a port of its own', async () => {
  const { servers, routes } = await layOut({ replicas: 2, wan: 'none' });
  const ports = [...servers.map(({ port }) => port), ...routes.map(({ listenPort }) => listenPort)];
  expect(new Set(ports).size).toBe(ports.length);
  expect(routes).toHaveLength(3 * 3 + 2 * 2);
});

test('puts the primary in Virginia, and lets clients of each site reach each server', async () => {
  const { servers, routes, links } = await layOut({ replicas: 2, wan: 'paper' });
  const delayOf = (listenPort: number | undefined): number | undefined =>
    routes.find((route) => route.listenPort === listenPort)?.oneWayMs;
  const delays = servers.map(({ name, clientPorts: { ireland, frankfurt, virginia } }) => [
    name,
    ...[ireland, frankfurt, virginia].map(delayOf),
  ]);
  expect(delays).toEqual([
    ['primary', 41.5, 45, 0],
    ['replica-1', 0, 10, 41.5],
    ['replica-2', 10, 0, 45],
  ]);
  expect(delayOf(links['replica-1']?.['primary'])).toBe(41.5);
  expect(delayOf(links['replica-2']?.['primary'])).toBe(45);
  expect(delayOf(links['replica-2']?.['replica-1'])).toBe(10);
});

test.each([
  ['replicas', '3'],
  ['wan', 'moon'],
])('refuses --%s %s', async (name, value) => {
  await expect(postgres.up({ [name]: value }, () => {})).rejects.toThrow(UsageError);
});
