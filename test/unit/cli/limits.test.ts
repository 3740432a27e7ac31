/** Bounds of the gateways, as the command line says them. */
import { expect, test } from 'vitest';
import { limitsOf } from '../../../src/cli/serve.ts';

test('pairs, with units for bytes, and none → limits, over those of a module; no flag → those of the module', () => {
  const limits = 'repliesBytesTotalMax=1GiB, inFlightBytesPerPrincipalMax=1.5MiB,connectionsMax=10,clientIdleMs=none';
  expect(limitsOf({ limits })).toEqual({
    repliesBytesTotalMax: 1 << 30,
    inFlightBytesPerPrincipalMax: 1_572_864,
    connectionsMax: 10,
    clientIdleMs: Infinity,
  });
  const given = { connectionsMax: 7, inFlightMax: 5 };
  expect(limitsOf({ limits: 'connectionsMax=10' }, given)).toEqual({ connectionsMax: 10, inFlightMax: 5 });
  expect([limitsOf({}, given), limitsOf({})]).toEqual([given, undefined]);
});

test.each([
  ['repliesBytesMax', 'takes pairs'],
  ['repliesBytesMax=64MB', 'takes pairs'],
  ['connectionsMax=1,connectionsMax=2', 'names connectionsMax twice'],
  ['connectionsMax=1KiB', 'is no number of bytes'],
  ['bytesMax=1', 'limits.bytesMax: is none of'],
  ['repliesBytesMax=0', 'limits.repliesBytesMax: must be'],
  ['frameBytesMax=none', 'limits.frameBytesMax: must be'],
])('%s → INVALID_ARGUMENT that names the flag and what is wrong', (limits, message) => {
  expect(() => limitsOf({ limits })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'limits', message: expect.stringContaining(message) }),
  );
});
