/** Replies that lie beside others, and are kept for longer than those. */
import { expect, test, vi } from 'vitest';
import { msgpackCodec } from '../../../../../src/protocol/codec/msgpack-codec.ts';
import { ClientTable } from '../../../../../src/server/gateway/clients/client-table.ts';
import { EndedUpdate } from '../../../../../src/server/gateway/submission/ended-update.ts';
import { limitsFrom } from '../../../../../src/server/gateway/limits/limits.ts';
import type { HostedOperation } from '../../../../../src/server/gateway/submission/hosted-operation.ts';
import { OutletDouble } from './submission-doubles.ts';

/** Two of them fill a block, or more. */
const PAGE = 'x'.repeat(20_000);

function ended(id: number, value: unknown): EndedUpdate {
  return new EndedUpdate(id, { row: msgpackCodec.encodeRow([id, 'view', 0, 0, value]) });
}

function clients() {
  const table = new ClientTable(limitsFrom());
  const clientOf = (name: string) => {
    const record = table.open('', name, msgpackCodec.subprotocol);
    return (id: number, value: unknown) => {
      const update = { id } as HostedOperation;
      record.record(update);
      const reply = ended(id, value);
      record.ended(update, reply);
      return reply;
    };
  };
  return { table, clientOf };
}

test('kept until the block is full → set apart, of every client; what is in the next block is not', () => {
  const { clientOf } = clients();
  const [ann, bob] = [clientOf('ann'), clientOf('bob')];
  const early = [ann(1, 'seat 1'), bob(1, 'seat 2'), ann(2, 'seat 3')];
  for (const id of [3, 4, 5]) ann(id, PAGE);
  const late = bob(2, 'seat 4');
  expect(early.map((reply) => reply.sharedBlock)).toEqual([undefined, undefined, undefined]);
  expect(late.sharedBlock).toBeDefined();
  const outlet = new OutletDouble();
  early[2]?.repeat(outlet);
  expect(outlet.rows).toEqual([[2, 'view', 0, 0, 'seat 3']]);
});

test('again in the next block → set apart once more', () => {
  const { clientOf } = clients();
  const ann = clientOf('ann');
  for (let id = 1; id <= 4; id++) {
    const reply = ann(10 * id, 'seat');
    for (const page of [1, 2, 3, 4]) ann(10 * id + page, PAGE);
    expect(reply.sharedBlock).toBeUndefined();
  }
});

test('a block is full → only what was written in it is looked at, however much is kept', () => {
  const { clientOf } = clients();
  const ann = clientOf('ann');
  const looks = Array.from({ length: 20 }, (_, block) => {
    const reply = ann(10 * block + 1, 'seat');
    const setApart = vi.spyOn(reply, 'setApart');
    for (const page of [2, 3, 4, 5]) ann(10 * block + page, PAGE);
    return setApart;
  });
  expect(looks.slice(0, -1).map(({ mock }) => mock.calls.length)).toEqual(Array.from({ length: 19 }, () => 1));
});

test('acknowledged before its block is full → not copied any more', () => {
  const { table, clientOf } = clients();
  const ann = clientOf('ann');
  const reply = ann(1, 'seat');
  table.open('', 'ann', msgpackCodec.subprotocol).acknowledge(1);
  for (const id of [2, 3, 4, 5]) ann(id, PAGE);
  expect(reply.sharedBlock).toBeUndefined();
  expect(reply.forget()).toBe(0);
});
