/** The contract on both sides of the wire. */
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { redblue, REDBLUE_LEVELS, type RedBlueLevels } from '../../src/bindings/redblue/index.ts';
import type { Binding, Sink } from '../../src/correctable/binding.ts';
import { createClient } from '../../src/index.ts';
import type { Operation } from '../../src/correctable/operation.ts';
import { defineContract } from '../../src/protocol/contract/contract.ts';
import { createGateway } from '../../src/server/gateway/gateway.ts';
import { listenGateways, type GatewayListener } from '../../src/server/gateway/listen/listen.ts';

const shop = defineContract('shop', {
  dequeue: {
    effect: 'update',
    args: z.object({ queue: z.string() }),
    result: z.object({ item: z.string() }).nullable(),
  },
});
const laterShop = defineContract('shop', {
  dequeue: { effect: 'update', args: z.object({ queue: z.number() }), result: z.string() },
});

/** Sells one ticket: guesses it first, confirms it then. */
class OneTicket implements Binding<RedBlueLevels> {
  readonly name = 'one ticket';
  executed = 0;

  consistencyLevels(): RedBlueLevels {
    return REDBLUE_LEVELS;
  }

  supports({ name }: Operation): boolean {
    return name === 'dequeue';
  }

  submitOperation<T>(_: Operation<T>, __: readonly string[], sink: Sink<T>): void {
    this.executed++;
    sink.update({ item: 'seat 1' } as T, 'tentative', { meta: { remaining: 1 } });
    sink.update({ item: 'seat 1' } as T, 'strong', { meta: { remaining: 0 } });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function serve(binding: Binding): Promise<GatewayListener> {
  return listenGateways({ sites: { irl: createGateway({ binding, contract: shop }) } });
}

test('redblue: an operation of the contract → tentative, then strong with the metadata of the confirmation', async () => {
  const listener = await serve(new OneTicket());
  const client = createClient(redblue(shop, { url: listener.siteUrl('irl'), WebSocket }));
  const views = [];
  for await (const view of client.invoke(shop.dequeue({ queue: 'concert' }))) views.push(view);
  expect(views).toMatchObject([
    { level: 'tentative', final: false, value: { item: 'seat 1' }, meta: { remaining: 1 } },
    { level: 'strong', final: true, value: { item: 'seat 1' }, meta: { remaining: 0 }, confirms: true },
  ]);
  await client.close();
  await listener.close();
});

test('redblue: bad argument → INVALID_ARGUMENT naming the field, nothing sent', async () => {
  const binding = new OneTicket();
  const listener = await serve(binding);
  const client = createClient(redblue(shop, { url: listener.siteUrl('irl'), WebSocket }));
  const bad = { name: 'dequeue', effect: 'update', args: { queue: 7 } } as const;
  await expect(client.invoke(bad)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', field: 'args.queue' });
  expect(binding.executed).toBe(0);
  await client.close();
  await listener.close();
});

test('redblue: operation that the contract does not name → UNSUPPORTED', async () => {
  const listener = await serve(new OneTicket());
  const binding = redblue(shop, { url: listener.siteUrl('irl'), WebSocket });
  const unknown = { name: 'refund', effect: 'update', args: {} } as const;
  expect(binding.supports(unknown)).toBe(false);
  expect(binding.supports(shop.dequeue({ queue: 'q' }))).toBe(true);
  const client = createClient(binding);
  await expect(client.invoke(unknown)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  await client.close();
  await listener.close();
});

test('redblue: server with another version of the operation → UNSUPPORTED before anything is sent', async () => {
  const binding = new OneTicket();
  const listener = await serve(binding);
  const client = createClient(redblue(laterShop, { url: listener.siteUrl('irl'), WebSocket }));
  const refused = client.invoke(laterShop.dequeue({ queue: 7 }));
  await expect(refused).rejects.toMatchObject({
    code: 'UNSUPPORTED',
    message: expect.stringContaining('contract') as string,
  });
  expect(binding.executed).toBe(0);
  await client.close();
  await listener.close();
});
