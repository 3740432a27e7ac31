/**
 * Contracts whose schemas change what they get: the service sees the same whichever way an
 * operation takes to it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { cached } from '../../src/bindings/cache/index.ts';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { parseArgs } from '../../src/contract/index.ts';
import { remote } from '../../src/bindings/remote/index.ts';
import type { Binding, Client, Levels } from '../../src/index.ts';
import { createClient } from '../../src/index.ts';
import type { RedBlueLevels } from '../../src/bindings/redblue/index.ts';
import { defineContract, operation } from '../../src/contract/index.ts';
import {
  blue,
  counter,
  createEmbedded,
  createGateway,
  defineService,
  listenGateways,
  table,
} from '../../src/server/index.ts';
import { singleSiteService } from '../../src/testing/single-site-service.ts';

const cents = z.number().transform((euros) => Math.round(euros * 100));
const account = z.string().default('Main');
const echo = { access: 'read', result: z.unknown() } as const;

const contract = defineContract('bank', {
  deposit: operation({
    access: 'write',
    args: z.object({ account, amount: cents }),
    result: z.int(),
    key: ({ account: name, amount }) => `${name.toLowerCase()}/${amount}`,
  }),
  length: { ...echo, args: z.object({ text: z.string().transform((text) => text.length) }) },
  pipe: { ...echo, args: z.object({ n: z.string().pipe(z.transform(Number)).pipe(z.int()) }) },
  defaults: {
    ...echo,
    args: z.object({ queue: z.string().default('main'), twice: z.int().prefault(2) }),
  },
  coerced: { ...echo, args: z.object({ at: z.coerce.date() }) },
  stripped: { ...echo, args: z.object({ kept: z.int() }) },
  odd: { ...echo, args: z.object({ n: z.number().refine(async () => true) }) },
});

const service = defineService(contract, {
  tables: { accounts: table({ cents: counter() }) },
  shadowOperations: ({ accounts }) => ({
    book: blue((a: { account: string; amount: number }) => [
      accounts.row(a.account).cents.add(a.amount),
    ]),
  }),
  generators: {
    deposit: (args, { shadow }) => shadow.book(args, args.amount),
    length: (args) => args,
    pipe: (args) => args,
    defaults: (args) => args,
    coerced: (args) => args,
    stripped: (args) => args,
    odd: (args) => args,
  },
});

const deployment = createEmbedded(service, { sites: ['ireland'] });
const site = deployment.site('ireland');

/** Gives each request an account of its own, as a binding in front of a site may. */
const tenant: Binding<RedBlueLevels> = {
  name: 'tenant',
  consistencyLevels: () => site.consistencyLevels(),
  supports: (requested) => site.supports(requested),
  submitOperation: (requested, levels, sink, context) => {
    const args = { ...(requested.args as object), text: 'of tenant 7' };
    site.submitOperation({ ...requested, args }, levels, sink, context);
  },
  close: async () => {},
};

/** A custom store, which parses by the contract itself: nothing else does in the same process. */
const own: Binding<readonly ['now']> = {
  name: 'own',
  consistencyLevels: () => ['now'],
  supports: ({ name }) => Object.hasOwn(contract.operations, name),
  submitOperation: (requested, _levels, sink) => {
    const args = parseArgs(contract, requested);
    const result = requested.name === 'deposit' ? (args as { amount: number }).amount : args;
    sink.view(result as never, 'now');
  },
  close: async () => {},
};

const sites = {
  own: createGateway({ binding: own, contract }),
  bare: createGateway({ binding: site }),
  tenant: createGateway({ binding: tenant, contract }),
  direct: createGateway({ binding: site, contract }),
  cached: createGateway({ binding: cached(site), contract }),
  /** By a contract of its own, which is the same in all but identity. */
  again: createGateway({
    binding: site,
    contract: { ...contract, operations: { ...contract.operations } },
  }),
};

let listener: Awaited<ReturnType<typeof listenGateways>>;
let behind: Awaited<ReturnType<typeof listenGateways>>;
const clients: Client<Levels>[] = [];

function open(binding: Binding<Levels>): Client<Levels> {
  const client = createClient(binding);
  clients.push(client);
  return client;
}

const overWire = (name: keyof typeof sites): Binding<RedBlueLevels> =>
  redblue(contract, { url: listener.siteUrl(name), WebSocket });

beforeAll(async () => {
  listener = await listenGateways({ sites });
  const plain = remote({
    url: listener.siteUrl('direct'),
    levels: site.consistencyLevels(),
    WebSocket,
  });
  behind = await listenGateways({
    sites: {
      far: createGateway({ binding: overWire('direct'), contract }),
      plain: createGateway({ binding: plain, contract }),
    },
  });
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await behind.close({ drainMs: 0 });
  await listener.close({ drainMs: 0 });
  await deployment.close();
});

const WAYS: Record<string, () => Binding<Levels>> = {
  'in process, a store that asks the contract': () => own,
  'over the wire, a store that asks the contract': () =>
    remote({ url: listener.siteUrl('own'), levels: own.consistencyLevels(), contract, WebSocket }),
  'over the wire, a gateway without a contract': () =>
    remote({
      url: listener.siteUrl('bare'),
      levels: site.consistencyLevels(),
      hasSessions: true,
      WebSocket,
    }),
  'in process': () => deployment.site('ireland'),
  'in process, plain': () => singleSiteService(service),
  'in process, a cache in front': () => cached(deployment.site('ireland')),
  'over the wire': () => overWire('direct'),
  'over the wire, a cache in front': () => cached(overWire('direct')),
  'over the wire, a cache behind': () =>
    remote({
      url: listener.siteUrl('cached'),
      levels: ['cache', 'tentative', 'causal', 'strong'],
      contract,
      WebSocket,
    }),
  'over the wire, an equal contract at the gateway': () => overWire('again'),
  'over the wire twice': () => redblue(contract, { url: behind.siteUrl('far'), WebSocket }),
  'over the wire twice, without a contract between': () =>
    redblue(contract, { url: behind.siteUrl('plain'), WebSocket }),
};

for (const [way, bindingFor] of Object.entries(WAYS)) {
  test(`contract: pipes, transforms, defaults, coercions, ${way} → applied once`, async () => {
    const client = open(bindingFor());
    expect(await client.invokeStrong(contract.deposit({ amount: 5 }))).toBe(500);
    expect(await client.invokeStrong(contract.length({ text: 'monday' }))).toEqual({ text: 6 });
    expect(await client.invokeStrong(contract.pipe({ n: '12' }))).toEqual({ n: 12 });
    expect(await client.invokeStrong(contract.defaults({}))).toEqual({ queue: 'main', twice: 2 });
    expect(await client.invokeStrong(contract.coerced({ at: '2024-01-01' }))).toEqual({
      at: new Date('2024-01-01'),
    });
    expect(await client.invokeStrong(contract.stripped({ kept: 1, other: 2 } as never))).toEqual({
      kept: 1,
    });
  });

  test(`contract: what does not fit, a schema that answers later, ${way} → a typed error`, async () => {
    const client = open(bindingFor());
    const wrong = client.invoke(contract.pipe({ n: '1.5' })).catch((error: unknown) => error);
    expect(await wrong).toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.n' });
    const later = client.invoke(contract.odd({ n: 1 })).catch((error: unknown) => error);
    expect(await later).toMatchObject({ code: 'UNSUPPORTED', field: 'args' });
  });
}

test('binding in front of a site that changes arguments → the site gets what it gave', async () => {
  const read = contract.length({ text: 'monday' });
  for (const binding of [tenant, overWire('tenant')]) {
    expect(await open(binding).invokeStrong(read)).toEqual({ text: 'of tenant 7'.length });
  }
});
