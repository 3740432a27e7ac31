/**
 * A new version of a contract is rolled out: the page may be a version behind its server, or ahead
 * of it.
 */
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod/mini';
import { defineContract } from '../../src/contract/index.ts';
import { exponentialBackoff, remote } from '../../src/bindings/remote/index.ts';
import { createClient } from '../../src/index.ts';
import {
  LEVELS,
  quietContext,
  SinkDouble,
  startGateway,
  StoreDouble,
  type RunningGateway,
} from '../support/wire.ts';

const key = z.object({ key: z.string() });
const retained = {
  price: { access: 'read', args: key, result: z.unknown() },
  order: { access: 'write', args: key, result: z.unknown() },
} as const;
const v1 = defineContract('shop', {
  ...retained,
  pay: {
    access: 'write',
    args: z.object({ key: z.string(), cents: z.number() }),
    result: z.unknown(),
  },
});
const v2 = defineContract('shop', {
  ...retained,
  pay: {
    access: 'write',
    args: z.object({ key: z.string(), euros: z.number() }),
    result: z.unknown(),
  },
  refund: { access: 'write', args: key, result: z.unknown() },
});

const reconnect = exponentialBackoff({ initialDelayMs: 5, maxDelayMs: 20 });

function answering(): StoreDouble {
  const store = new StoreDouble();
  store.answer = ({ sink, operation }) => sink.view(operation.name, 'strong');
  return store;
}

/** A page that was written for `contract`. */
function page(server: RunningGateway, contract: typeof v1 | typeof v2) {
  const states: string[] = [];
  const onStateChange = (state: string): void => void states.push(state);
  const binding = remote({
    url: server.url,
    levels: LEVELS,
    contract,
    WebSocket,
    reconnect,
    onStateChange,
  });
  return { binding, client: createClient(binding), states };
}

/** The server goes, one with another version of the contract comes on the same port. */
async function deploy(
  before: RunningGateway,
  contract: typeof v1 | typeof v2,
): Promise<RunningGateway> {
  await before.listener.close({ drainMs: 0 });
  return startGateway({ store: answering(), contract, port: Number(new URL(before.url).port) });
}

const unsupported = { code: 'UNSUPPORTED', field: 'operation', retryable: false };

describe('rolling deploy', () => {
  test('old page, the server is updated under it → what both have alike goes on; the rest fails alone', async () => {
    const first = await startGateway({ store: answering(), contract: v1 });
    const { client, states } = page(first, v1);
    expect(await client.invokeStrong(v1.pay({ key: 'a', cents: 5 }))).toBe('pay');
    await using second = await deploy(first, v2);
    expect(await client.invokeStrong(v1.price({ key: 'a' }))).toBe('price');
    expect(await client.invokeStrong(v1.order({ key: 'a' }))).toBe('order');
    await expect(client.invokeStrong(v1.pay({ key: 'a', cents: 5 }))).rejects.toMatchObject(
      unsupported,
    );
    expect(states.at(-1)).toBe('open');
    expect(second.store.submitted.map(({ operation }) => operation.name)).toEqual([
      'price',
      'order',
    ]);
    await client.close();
  });

  test('new page, old server first, then updated → what is new waits for the write only', async () => {
    const first = await startGateway({ store: answering(), contract: v1 });
    const { client, states } = page(first, v2);
    expect(await client.invokeStrong(v2.order({ key: 'a' }))).toBe('order');
    await expect(client.invokeStrong(v2.refund({ key: 'a' }))).rejects.toMatchObject(unsupported);
    await expect(client.invokeStrong(v2.pay({ key: 'a', euros: 1 }))).rejects.toMatchObject(
      unsupported,
    );
    expect(states).not.toContain('closed');
    await using second = await deploy(first, v2);
    await expect.poll(() => second.gateway.status().connections).toBe(1);
    expect(await client.invokeStrong(v2.refund({ key: 'a' }))).toBe('refund');
    expect(await client.invokeStrong(v2.pay({ key: 'a', euros: 1 }))).toBe('pay');
    await client.close();
  });

  test('write in flight at the old version when the server is updated → UNKNOWN, its neighbor goes on', async () => {
    const first = await startGateway({ contract: v1 });
    const { binding, client } = page(first, v1);
    const [pay, price] = [new SinkDouble(), new SinkDouble()];
    binding.submitOperation(v1.pay({ key: 'a', cents: 5 }), ['strong'], pay, quietContext());
    binding.submitOperation(v1.price({ key: 'a' }), ['strong'], price, quietContext());
    await first.store.next();
    await using second = await deploy(first, v2);
    expect(await pay.failure(0)).toMatchObject({ code: 'UNKNOWN', retryable: false });
    expect(await price.call(0)).toMatchObject({ value: 'price' });
    expect(second.store.submitted.map(({ operation }) => operation.name)).toEqual(['price']);
    await client.close();
  });
});
