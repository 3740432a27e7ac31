/**
 * An origin is an ordinal: no number is taken for one unseen, and one that is there indexes a
 * vector.
 */
import { expectTypeOf, test } from 'vitest';
import type { Origin, Origins } from '../../src/server/service/records/origin.ts';
import type { BlueOperation, RedOperation } from '../../src/server/service/records/records.ts';
import type { Vector } from '../../src/server/service/records/vector.ts';

test('an index of a list → is no origin', () => {
  expectTypeOf<number>().not.toExtend<Origin>();
  expectTypeOf<BlueOperation['site']>().toEqualTypeOf<Origin>();
  expectTypeOf<RedOperation['site']>().toEqualTypeOf<Origin>();
  expectTypeOf<Origins['sites']>().toEqualTypeOf<readonly Origin[]>();
});

test('an origin → indexes a vector', () => {
  const stampIn = (vector: Vector, origin: Origin): number | undefined => vector[origin];
  expectTypeOf(stampIn).returns.toEqualTypeOf<number | undefined>();
});
