/** How many connections a port takes. */
import { expect, test } from 'vitest';
import { createGateway } from '../../../src/server/gateway/gateway.ts';
import { connectionsMaxOf } from '../../../src/server/gateway/connections-max.ts';
import { memory } from '../../../src/bindings/memory/index.ts';

test.each([
  { descriptors: Infinity, most: 2 * 100 + 256, why: 'the clients of all sites, and some others' },
  { descriptors: 256, most: 192, why: 'three quarters of the descriptors: the others are for files' },
])('$descriptors descriptors → $why', async ({ descriptors, most }) => {
  const gateways = ['a', 'b'].map(() => createGateway({ binding: memory(), limits: { connectionsMax: 100 } }));
  const [a, b] = gateways as [(typeof gateways)[0], (typeof gateways)[0]];
  expect(connectionsMaxOf({ a, b }, descriptors)).toBe(most);
  await Promise.all(gateways.map((gateway) => gateway.close()));
});
