/** Rows of one tick share frames; of many, the first do not wait. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Encoded } from '../../../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { Outbox } from '../../../../src/protocol/codec/outbox.ts';

function open(): { outbox: Outbox; sizes: number[]; endTick: () => void } {
  const sizes: number[] = [];
  const waiting: (() => void)[] = [];
  const send = (frame: Encoded): void => void sizes.push(jsonCodec.decode(frame).length);
  const outbox = new Outbox(jsonCodec, (fn) => waiting.push(fn), send);
  return { outbox, sizes, endTick: () => waiting.splice(0).forEach((fn) => fn()) };
}

test('outbox: rows of one tick → one frame, at its end', () => {
  const { outbox, sizes, endTick } = open();
  for (let n = 0; n < 319; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']));
  expect(sizes).toEqual([]);
  endTick();
  expect(sizes).toEqual([319]);
});

test('outbox: many rows → full frames while more come, what is left at the end of the tick', () => {
  const { outbox, sizes, endTick } = open();
  for (let n = 0; n < 600; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']));
  expect(sizes).toEqual([256, 256]);
  endTick();
  expect(sizes).toEqual([256, 256, 88]);
  outbox.push(jsonCodec.encodeRow([1, 'ping']));
  endTick();
  expect(sizes.at(-1)).toBe(1);
});

test.each([
  [20, 20, [10, 10]],
  [64, 64, [32, 32]],
  [1024, 600, [256, 256]],
])('outbox: %i operations under way, %i of them in this tick → half of all fill a frame', (underWay, count, frames) => {
  const { outbox, sizes } = open();
  for (let n = 0; n < count; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']), underWay);
  expect(sizes).toEqual(frames);
});

test('outbox: few operations of an idle client → one frame; a burst → frames that grow', () => {
  const { outbox, sizes, endTick } = open();
  for (let n = 1; n <= 7; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']), n);
  endTick();
  expect(sizes.splice(0)).toEqual([7]);
  for (let n = 1; n <= 100; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']), n);
  endTick();
  expect(sizes).toEqual([8, 8, 16, 32, 36]);
});

test('outbox: any number of rows more than a frame → no few of them are left over', () => {
  fc.assert(
    fc.property(fc.constantFrom(512, 1024, Infinity), fc.integer({ min: 1, max: 2000 }), (underWay, count) => {
      const { outbox, sizes, endTick } = open();
      for (let n = 0; n < count; n++) outbox.push(jsonCodec.encodeRow([n, 'ping']), underWay);
      endTick();
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
      if (sizes.length > 1) expect(sizes.at(-1)).toBeGreaterThanOrEqual(64);
    }),
  );
});
