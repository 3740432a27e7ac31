/** Code of a service that never returns is stopped by `correctables label`. */
import { expect, test } from 'vitest';
import { service as bank } from '../../../demo/bank/service.ts';
import { beginWithTimeout, runAll } from '../../../src/cli/label.ts';
import { ColorAnalysis } from '../../../src/server/check/analyze-colors.ts';
import type { Service } from '../../../src/server/service/service.ts';

const PATIENCE = { stuckMs: 20, guardedMs: 10, shrinkingMs: 10 };
const neverReturns = (): never => {
  for (;;);
};
const serviceWith = (change: object): Service => ({ ...(bank as unknown as Service), ...change });

test('a condition that does not return of empty tables is stopped', () => {
  const service = serviceWith({ snapshotInvariants: { neverReturns } });
  expect(() => beginWithTimeout(() => new ColorAnalysis(service, { runs: 10 }), PATIENCE)).toThrow(
    'for 0.02 s a condition of snapshotInvariants has not returned, of empty tables',
  );
});

test('a generator that does not return is stopped, with the run to make again', () => {
  const service = serviceWith({ generators: { ...bank.generators, deposit: neverReturns } });
  expect(() => runAll(new ColorAnalysis(service, { runs: 10 }), PATIENCE)).toThrow(
    /^for 0\.02 s code of the service has not returned.* Again: --seed \d+ --runs 1$/,
  );
});
