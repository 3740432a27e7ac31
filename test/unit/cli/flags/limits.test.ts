/** Limits of the gateways, as options of the command line. */
import { expect, test } from 'vitest';
import { parseLimits } from '../../../../src/cli/flags/limits.ts';

test('pairs, with units for bytes, and none → limits, over those of a module; no flag → those of the module', () => {
  const limits =
    'maxMemoryBytes=1GiB, maxFrameBytes=1.5MiB,maxConnections=10,heartbeatIntervalMs=none';
  expect(parseLimits({ limits })).toEqual({
    maxMemoryBytes: 1 << 30,
    maxFrameBytes: 1_572_864,
    maxConnections: 10,
    heartbeatIntervalMs: Infinity,
  });
  const value = { maxConnections: 7, maxInFlight: 5 };
  expect(parseLimits({ limits: 'maxConnections=10' }, value)).toEqual({
    maxConnections: 10,
    maxInFlight: 5,
  });
  expect([parseLimits({}, value), parseLimits({})]).toEqual([value, undefined]);
});

test.each([
  ['maxMemoryBytes', 'takes pairs'],
  ['maxMemoryBytes=64MB', 'takes pairs'],
  ['maxConnections=1,maxConnections=2', 'names maxConnections twice'],
  ['maxConnections=1KiB', 'is no number of bytes'],
  ['maxBytes=1', 'limits: unknown option "maxBytes"'],
  ['maxMemoryBytes=0', 'limits.maxMemoryBytes: must be'],
  ['maxFrameBytes=none', 'limits.maxFrameBytes: must be'],
])('%s → INVALID_ARGUMENT that names the flag and what is wrong', (limits, message) => {
  expect(() => parseLimits({ limits })).toThrow(
    expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      field: 'limits',
      message: expect.stringContaining(message),
    }),
  );
});
