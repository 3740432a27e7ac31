/** Rows of one tick share frames; a full one does not wait. */
import { expect, test } from 'vitest';
import type { Encoded } from '../../../src/protocol/codec.ts';
import { jsonCodec } from '../../../src/protocol/json-codec.ts';
import { Outbox } from '../../../src/protocol/outbox.ts';

function open(): { outbox: Outbox; sizes: number[]; endTick: () => void } {
  const sizes: number[] = [];
  const waiting: (() => void)[] = [];
  const send = (frame: Encoded): void => void sizes.push(jsonCodec.decode(frame).length);
  const outbox = new Outbox(jsonCodec, (fn) => waiting.push(fn), send);
  return { outbox, sizes, endTick: () => waiting.splice(0).forEach((fn) => fn()) };
}

test('outbox: rows of one tick → one frame, at its end', () => {
  const { outbox, sizes, endTick } = open();
  for (let n = 0; n < 255; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']));
  expect(sizes).toEqual([]);
  endTick();
  expect(sizes).toEqual([255]);
});

test('outbox: a frame is full → sent at once, what is left at the end of the tick', () => {
  const { outbox, sizes, endTick } = open();
  for (let n = 0; n < 600; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']));
  expect(sizes).toEqual([256, 256]);
  endTick();
  expect(sizes).toEqual([256, 256, 88]);
  outbox.push(jsonCodec.encodeRow([1, 'ping']));
  endTick();
  expect(sizes.at(-1)).toBe(1);
});
