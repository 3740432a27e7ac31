/** Bounds of the gateways, as the command line says them. */
import { expect, test } from 'vitest';
import { parseLimits } from '../../../src/cli/serve.ts';

test('pairs, with units for bytes, and none → limits, over those of a module; no flag → those of the module', () => {
  const limits = 'memoryBytesMax=1GiB, maxFrameBytes=1.5MiB,connectionsMax=10,heartbeatMs=none';
  expect(parseLimits({ limits })).toEqual({
    memoryBytesMax: 1 << 30,
    maxFrameBytes: 1_572_864,
    connectionsMax: 10,
    heartbeatMs: Infinity,
  });
  const value = { maxConnections: 7, maxInFlight: 5 };
  expect(parseLimits({ limits: 'connectionsMax=10' }, value)).toEqual({ connectionsMax: 10, maxInFlight: 5 });
  expect([parseLimits({}, value), parseLimits({})]).toEqual([value, undefined]);
});

test.each([
  ['maxMemoryBytes', 'takes pairs'],
  ['memoryBytesMax=64MB', 'takes pairs'],
  ['connectionsMax=1,connectionsMax=2', 'names connectionsMax twice'],
  ['connectionsMax=1KiB', 'is no number of bytes'],
  ['maxBytes=1', 'limits.maxBytes: is none of'],
  ['memoryBytesMax=0', 'limits.memoryBytesMax: must be'],
  ['maxFrameBytes=none', 'limits.maxFrameBytes: must be'],
])('%s → INVALID_ARGUMENT that names the flag and what is wrong', (limits, message) => {
  expect(() => parseLimits({ limits })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'limits', message: expect.stringContaining(message) }),
  );
});
