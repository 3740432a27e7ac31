/**
 * A service is run by the copy of the package that made it: what another one's generators choose
 * looks like plain values.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { withColors, type Service } from '../../../../src/server/service/service.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import {
  simulateService,
  analyzeColors,
  singleSiteService,
} from '../../../../src/testing/index.ts';
import { service as own } from '../../../../demo/bank/service.ts';

let service: Service;

beforeAll(async () => {
  vi.resetModules();
  ({ service } = (await import('../../../../demo/bank/service.ts')) as unknown as {
    service: Service;
  });
});

const OTHER = 'service: was made by another copy of this package';

test.each<[string, (value: Service) => unknown]>([
  ['createEmbedded', (value) => createEmbedded(value, { sites: ['ireland'] })],
  ['plainService', (value) => singleSiteService(value)],
  ['checkService', (value) => simulateService(value, { draw: () => undefined as never })],
  ['labelService', (value) => analyzeColors(value, { runs: 1 })],
  ['withColors', (value) => withColors(value, {})],
])('%s, of a service that another copy of the package made → refused with what to do', (_, run) => {
  expect(() => run(service)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'service' }),
  );
  expect(() => run(service)).toThrow(OTHER);
  expect(() => run({} as Service)).toThrow('service: must be one made by defineService');
});

test('a service that was made of another one → is run', async () => {
  const made = { ...own, generators: { ...own.generators } } as unknown as Service;
  const deployment = createEmbedded(made, { sites: ['ireland'] });
  await deployment.close();
});
