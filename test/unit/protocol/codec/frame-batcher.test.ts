/** Rows of one tick share frames. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EncodedData } from '../../../../src/protocol/codec/codec.ts';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { FrameBatcher } from '../../../../src/protocol/codec/frame-batcher.ts';

function open(): { outbox: FrameBatcher; sizes: number[]; endTick: () => void } {
  const sizes: number[] = [];
  const waiting: (() => void)[] = [];
  const send = (frame: EncodedData): void => void sizes.push(jsonCodec.decode(frame).length);
  const outbox = new FrameBatcher(jsonCodec, (fn) => waiting.push(fn), send);
  return { outbox, sizes, endTick: () => waiting.splice(0).forEach((fn) => fn()) };
}

test('outbox: rows of one tick → one frame, at its end', () => {
  const { outbox, sizes, endTick } = open();
  for (let n = 0; n < 320; n++) outbox.push(jsonCodec.encodeMessage([n, 'ping']));
  expect(sizes).toEqual([]);
  endTick();
  expect(sizes).toEqual([320]);
  outbox.push(jsonCodec.encodeMessage([1, 'ping']));
  endTick();
  expect(sizes).toEqual([320, 1]);
});

test('outbox: more rows than a frame has → as few frames as will do, all about as large', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), (count) => {
      const { outbox, sizes, endTick } = open();
      for (let n = 0; n < count; n++) outbox.push(jsonCodec.encodeMessage([n, 'ping']));
      endTick();
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
      expect(sizes.length).toBe(Math.ceil(count / 320));
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(sizes.length);
    }),
  );
});
