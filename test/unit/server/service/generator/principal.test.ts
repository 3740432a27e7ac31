/** Generators know for which user they run: as the gateway's `authorize` has it, in every run. */
// @rule RB-V13
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cached } from '../../../../../src/bindings/cache/index.ts';
import { redblue } from '../../../../../src/bindings/redblue/index.ts';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { serve } from '../../../../../src/server/serve.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import { red } from '../../../../../src/server/service/shadow-operation.ts';
import { counter, register, table } from '../../../../../src/server/service/tables.ts';
import { withPrincipal } from '../../../../../src/server/node/submission/with-principal.ts';
import {
  analyzeColors,
  simulateService,
  singleSiteService,
} from '../../../../../src/testing/index.ts';
import { RawClient } from '../../../../support/wire.ts';

const order = z.object({ order: z.string() });
const contract = defineContract('orders', {
  place: { access: 'write', args: order, result: z.null() },
  cancel: {
    access: 'write',
    args: order,
    result: z.null(),
    errors: { notYours: z.object({ owner: z.string() }) },
  },
  caller: { access: 'read', args: z.object({}), result: z.string() },
});

/** Orders that only their owner may cancel; `ran` hears of each run. */
function createOrders(ran: (operation: string, principal: unknown) => void = () => {}) {
  return defineService(contract, {
    tables: { orders: table({ owner: register<string>(), cancellations: counter() }) },
    shadowOperations: ({ orders }) => ({
      place: red((a: { order: string; owner: string }) => [
        orders.row(a.order).owner.write(a.owner),
      ]),
      cancel: red((a: { order: string }) => [orders.row(a.order).cancellations.add(1)]),
    }),
    generators: {
      place: (args, { shadow, tables, principal }) => {
        ran('place', principal);
        if (tables.orders.has(args.order)) return null;
        return shadow.place({ ...args, owner: principal?.id ?? 'nobody' }, null);
      },
      cancel: (args, { shadow, tables, principal, errors }) => {
        ran('cancel', principal);
        const { owner = '', cancellations } = tables.orders.row(args.order);
        if (owner !== (principal?.id ?? 'nobody')) throw errors.notYours({ owner });
        if (cancellations > 0) return null;
        return shadow.cancel(args, null);
      },
      caller: (_args, { principal }) => JSON.stringify(principal) ?? 'none',
    },
    invariants: { orders: { 'cancelled at most once': ({ cancellations }) => cancellations <= 1 } },
  });
}

describe('behind a gateway', () => {
  const levels = ['tentative', 'causal', 'strong'];

  test('a generator gets the whole principal that authorize gets', async () => {
    const authorized: unknown[] = [];
    const server = await serve({
      service: createOrders(),
      sites: ['ireland'],
      authenticate: (token) => ({ id: `user ${token}`, expiresAt: 1e15 }),
      authorize: (principal) => authorized.push(principal) > 0,
    });
    await using client = await RawClient.greeted(server.siteUrl('ireland'), {
      token: 'ada',
      levels,
    });
    client.send([1, 'submit', 'caller', 'read', 4, {}]);
    const [, , , , value] = (await client.row()) as unknown[];
    expect(JSON.parse(value as string)).toEqual({ id: 'user ada', expiresAt: 1e15 });
    expect(authorized).toEqual([{ id: 'user ada', expiresAt: 1e15 }]);
    client.socket.terminate();
    await server.close();
  });

  test('a gateway without authenticate gives all clients one principal, with an empty id', async () => {
    const server = await serve({ service: createOrders(), sites: ['ireland'] });
    await using client = await RawClient.greeted(server.siteUrl('ireland'), { levels });
    client.send([1, 'submit', 'caller', 'read', 4, {}]);
    expect(await client.row()).toMatchObject([1, 'view', 2, 0, '{"id":""}']);
    client.socket.terminate();
    await server.close();
  });

  test('only the owner may cancel, also if another client asks at another site', async () => {
    const server = await serve({
      service: createOrders(),
      sites: ['ireland', 'frankfurt'],
      authenticate: (token) => ({ id: token ?? '' }),
    });
    await using ada = await RawClient.greeted(server.siteUrl('ireland'), { token: 'ada', levels });
    ada.send([1, 'submit', 'place', 'write', 4, { order: 'o' }]);
    await ada.row();
    await using bob = await RawClient.greeted(server.siteUrl('frankfurt'), {
      token: 'bob',
      levels,
    });
    bob.send([1, 'submit', 'cancel', 'write', 4, { order: 'o' }]);
    expect((await bob.row()).slice(0, 3)).toEqual([1, 'fail', 'DOMAIN']);
    ada.send([2, 'submit', 'cancel', 'write', 4, { order: 'o' }]);
    expect((await ada.row()).slice(0, 3)).toEqual([2, 'view', 2]);
    ada.socket.terminate();
    bob.socket.terminate();
    await server.close();
  });
});

describe('in this process', () => {
  test('an operation has no principal, unless its binding is one of withPrincipal', async () => {
    const deployment = createEmbedded(createOrders(), { sites: ['ireland'] });
    const site = deployment.site('ireland');
    const ada = createClient(withPrincipal(site, { id: 'ada' }));
    expect(await createClient(site).invokeStrong(contract.caller({}))).toBe('none');
    expect(await ada.invokeStrong(contract.caller({}))).toBe('{"id":"ada"}');
    await ada.close();
    expect(await createClient(site).invokeStrong(contract.caller({}))).toBe('none');
    await deployment.close();
  });

  test('of two principals for one binding, the one that was given last counts', async () => {
    const deployment = createEmbedded(createOrders(), { sites: ['ireland'] });
    const ada = withPrincipal(deployment.site('ireland'), { id: 'ada' });
    const bob = createClient(withPrincipal(ada, { id: 'bob' }));
    expect(await bob.invokeStrong(contract.caller({}))).toBe('{"id":"bob"}');
    await deployment.close();
  });

  test('a binding whose server knows the user by its connection is refused, also behind a cache', async () => {
    const server = await serve({ service: createOrders(), sites: ['ireland'] });
    const remote = redblue(contract, { url: server.siteUrl('ireland') });
    const cache = cached(remote, { principal: 'web' });
    for (const binding of [remote, cache])
      expect(() => withPrincipal(binding, { id: 'ada' })).toThrow(
        expect.objectContaining({ code: 'UNSUPPORTED', field: 'binding' }) as Error,
      );
    await cache.close();
    await server.close();
  });

  test('each run of a rejected operation gets the principal that it was submitted for', async () => {
    const runs: unknown[] = [];
    const service = createOrders((operation, principal) => runs.push([operation, principal]));
    const deployment = createEmbedded(service, {
      sites: ['ireland', 'frankfurt'],
      latency: { 'ireland-frankfurt': 4 },
    });
    const [here, there] = [deployment.site('ireland'), deployment.site('frankfurt')];
    const clients = [
      createClient(withPrincipal(here, { id: 'ada' })),
      createClient(withPrincipal(there, { id: 'bob' })),
    ];
    await Promise.all(clients.map((client) => client.invokeStrong(contract.place({ order: 'o' }))));
    const ids = runs.map((run) => JSON.stringify(run));
    expect(ids.filter((run) => run.includes('bob')).length).toBeGreaterThan(1);
    expect(new Set(ids)).toEqual(new Set(['["place",{"id":"ada"}]', '["place",{"id":"bob"}]']));
    await deployment.close();
  });

  test('a generator cannot change the principal, which later runs and authorize share', async () => {
    const principal = { id: 'ada', roles: ['clerk'] };
    const thrown: unknown[] = [];
    const service = createOrders((_operation, value) => {
      try {
        (value as typeof principal).roles.push('admin');
      } catch (error) {
        thrown.push(error);
      }
    });
    const deployment = createEmbedded(service, { sites: ['ireland'] });
    const client = createClient(withPrincipal(deployment.site('ireland'), principal));
    await client.invokeStrong(contract.place({ order: 'o' }));
    expect(thrown[0]).toBeInstanceOf(TypeError);
    expect(principal.roles).toEqual(['clerk']);
    await deployment.close();
  });

  test('a single site serves clients of several principals', async () => {
    const site = singleSiteService(createOrders());
    const [ada, bob] = ['ada', 'bob'].map((id) => createClient(withPrincipal(site, { id })));
    await ada!.invokeStrong(contract.place({ order: 'o' }));
    await expect(bob!.invokeStrong(contract.cancel({ order: 'o' }))).rejects.toMatchObject({
      domain: { name: 'notYours', data: { owner: 'ada' } },
    });
    await ada!.invokeStrong(contract.cancel({ order: 'o' }));
  });

  test('a value that is no principal, or no binding → INVALID_ARGUMENT with what to write', () => {
    const site = singleSiteService(createOrders());
    for (const value of [undefined, 'ada', {}, { id: 7 }, { id: '\ud800' }])
      expect(() => withPrincipal(site, value as never)).toThrow(
        /^principal.*write withPrincipal\(/,
      );
    expect(() => withPrincipal({} as never, { id: 'ada' })).toThrow(/^binding/);
  });
});

describe('in tools', () => {
  test('labeling runs generators for two users, and its story names them', () => {
    const seen = new Set<unknown>();
    const service = createOrders((_operation, principal) =>
      seen.add((principal as { id: string }).id),
    );
    const { shadows, generators } = analyzeColors(service, { runs: 300 });
    expect(generators.filter(({ isFault }) => isFault)).toEqual([]);
    expect([...seen].toSorted()).toEqual(['ada', 'bob']);
    const { counterexample } = shadows.find(({ name }) => name === 'cancel')!;
    expect(counterexample?.explanation.join(' ')).toMatch(/cancel \{.*?\} for '(ada|bob)'/);
    expect(['ada', 'bob']).toContain(counterexample?.here.principal);
  });

  test('labeling takes the principals that it is given', () => {
    const seen = new Set<unknown>();
    const service = createOrders((_operation, principal) => seen.add(JSON.stringify(principal)));
    analyzeColors(service, {
      runs: 10,
      principals: [{ id: 'clerk', roles: [] } as { id: string }],
    });
    expect([...seen]).toEqual(['{"id":"clerk","roles":[]}']);
    for (const principals of [[], 'ada', [{ id: 1 }]])
      expect(() => analyzeColors(service, { principals: principals as never })).toThrow(
        /^principals/,
      );
  });

  test('a simulated service has a user for each client, also in its model', () => {
    const seen = new Set<unknown>();
    const service = createOrders((_operation, principal) =>
      seen.add((principal as { id: string }).id),
    );
    const orders = ['a', 'b'] as const;
    simulateService(service, {
      runs: 2,
      draw: ({ pick }) =>
        pick([contract.place({ order: pick(orders) }), contract.cancel({ order: pick(orders) })]),
    });
    expect([...seen].toSorted()).toEqual(['ada', 'bob']);
  });
});
