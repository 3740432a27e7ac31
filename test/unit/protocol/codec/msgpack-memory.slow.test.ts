/**
 * What the msgpack codec writes is kept by others for long: it holds no more memory than it fills.
 */
import { expect, test } from 'vitest';
import type { Span } from '../../../../src/protocol/codec/codec.ts';
import { msgpackCodec } from '../../../../src/protocol/codec/msgpack-codec.ts';

const BLOCK_BYTES = 1 << 16;
const sizes = [20, 21_000, 60_000, 70_000, 300_000, 2_000_000];
const letters = { ascii: 'x', 'two bytes': 'é', 'three bytes': '€', 'four bytes': '🎟' };

for (const [name, letter] of Object.entries(letters)) {
  for (const size of sizes) {
    const text = letter.repeat(size / letter.length);
    const fits = Math.max(BLOCK_BYTES, Buffer.byteLength(text) + 100);

    test(`${size} units of ${name} → written as they are, the memory fits`, () => {
      for (const value of [text, { text, more: [1, 'x'] }, [text, text]]) {
        const parts = Array.isArray(value) ? 2 : 1;
        const row = msgpackCodec.encodeMessage([1, 'view', value, null]) as Span;
        expect(row.block.length).toBeLessThanOrEqual(parts * fits);
        const encoded = msgpackCodec.encodeValue(value) as Uint8Array;
        expect(encoded.buffer.byteLength).toBeLessThanOrEqual(parts * fits);
        const frame = msgpackCodec.frame([row, row]);
        expect((frame as Uint8Array).buffer.byteLength).toBeLessThanOrEqual(2 * parts * fits);
        expect(msgpackCodec.decode(frame)).toEqual([
          [1, 'view', value, null],
          [1, 'view', value, null],
        ]);
      }
    });

    test(`a small value after ${size} units of ${name} → holds a small block`, () => {
      msgpackCodec.encodeMessage([1, 'view', text]);
      const small = msgpackCodec.encodeMessage([2, 'view', { ok: true }]) as Span;
      expect(small.block.length).toBeLessThanOrEqual(BLOCK_BYTES);
    });
  }
}

test('a value that is refused after a large part → what comes next holds a small block', () => {
  expect(() => msgpackCodec.encodeValue(['x'.repeat(300_000), NaN])).toThrow(/NaN/);
  expect((msgpackCodec.encodeValue(1) as Uint8Array).buffer.byteLength).toBeLessThanOrEqual(
    BLOCK_BYTES,
  );
});

test('many large parts → written in time that grows with their size', () => {
  const parts = Array.from({ length: 64 }, (_, at) => `${at}`.padEnd(100_000, 'x'));
  const frame = msgpackCodec.frame([msgpackCodec.encodeMessage([1, parts])]);
  expect(msgpackCodec.decode(frame)).toEqual([[1, parts]]);
});
