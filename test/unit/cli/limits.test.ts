/** Bounds of the gateways, as the command line says them. */
import { expect, test } from 'vitest';
import { limitsOf } from '../../../src/cli/serve.ts';

test('pairs, with units for bytes, and none → limits, over those of a module; no flag → those of the module', () => {
  const limits = 'memoryBytesMax=1GiB, frameBytesMax=1.5MiB,connectionsMax=10,heartbeatMs=none';
  expect(limitsOf({ limits })).toEqual({
    memoryBytesMax: 1 << 30,
    frameBytesMax: 1_572_864,
    connectionsMax: 10,
    heartbeatMs: Infinity,
  });
  const given = { connectionsMax: 7, inFlightMax: 5 };
  expect(limitsOf({ limits: 'connectionsMax=10' }, given)).toEqual({ connectionsMax: 10, inFlightMax: 5 });
  expect([limitsOf({}, given), limitsOf({})]).toEqual([given, undefined]);
});

test.each([
  ['memoryBytesMax', 'takes pairs'],
  ['memoryBytesMax=64MB', 'takes pairs'],
  ['connectionsMax=1,connectionsMax=2', 'names connectionsMax twice'],
  ['connectionsMax=1KiB', 'is no number of bytes'],
  ['bytesMax=1', 'limits.bytesMax: is none of'],
  ['memoryBytesMax=0', 'limits.memoryBytesMax: must be'],
  ['frameBytesMax=none', 'limits.frameBytesMax: must be'],
])('%s → INVALID_ARGUMENT that names the flag and what is wrong', (limits, message) => {
  expect(() => limitsOf({ limits })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'limits', message: expect.stringContaining(message) }),
  );
});
