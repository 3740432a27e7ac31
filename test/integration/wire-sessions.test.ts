/** Sessions from site to site over the wire: read-your-writes wherever the client goes, and no tokens of its own making. */
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { redblue } from '../../src/bindings/redblue/index.ts';
import { createClient } from '../../src/correctable/made/client.ts';
import { defineContract } from '../../src/protocol/contract/contract.ts';
import { createEmbedded } from '../../src/server/embedded.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways } from '../../src/server/gateway/listen/listen.ts';
import { defineService } from '../../src/server/service/service.ts';
import { blue } from '../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../src/server/service/tables.ts';

const counters = defineContract('counters', {
  add: { effect: 'update', args: z.object({ name: z.string(), by: z.number() }), result: z.null() },
  read: { effect: 'read', args: z.object({ name: z.string() }), result: z.number() },
});

const service = defineService(counters, {
  tables: { counts: table({ total: counter() }) },
  shadowOperations: ({ counts }) => ({
    add: blue(({ name, by }: { name: string; by: number }) => [counts.row(name).total.add(by)]),
  }),
  generators: {
    add: (args, { shadow }) => shadow.add(args, null),
    read: ({ name }, { tables }) => tables.counts.row(name).total,
  },
});

test('session of a RedBlue service → continued at another site with its tokens, it sees its own writes there', async () => {
  const backend = createEmbedded(service, { sites: ['irl', 'frk'], wan: 'paper' });
  const sites = {
    irl: createGateway({ site: 'irl', binding: backend.site('irl'), contract: counters }),
    frk: createGateway({ site: 'frk', binding: backend.site('frk'), contract: counters }),
  };
  const listener = await listenGateways({ sites });
  const connectTo = (site: string) => createClient(redblue(counters, { url: listener.siteUrl(site), WebSocket }));
  const there = connectTo('irl');
  const here = connectTo('frk');
  const session = there.session();
  await there.invoke(counters.add({ name: 'a', by: 5 }), { session });
  expect(session.tokens).toHaveLength(1);
  const continued = here.session({ tokens: session.tokens });
  expect(await here.invoke(counters.read({ name: 'a' }), { session: continued, levels: ['causal'] })).toBe(5);
  const forged = here.session({ tokens: session.tokens.map((token) => `${token}x`) });
  await expect(here.invoke(counters.read({ name: 'a' }), { session: forged })).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
  });
  await Promise.all([there.close(), here.close()]);
  await listener.close({ drainMs: 0 });
  await backend.close();
});
