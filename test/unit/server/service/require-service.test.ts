/** A service is run by the copy of the package that made it: what another one's generators choose looks like plain values. */
import { beforeAll, expect, test, vi } from 'vitest';
import { recoloured, type Service } from '../../../../src/server/service/service.ts';
import { createEmbedded } from '../../../../src/server/embedded.ts';
import { checkService, labelService, plainService } from '../../../../src/testing/index.ts';
import { service as own } from '../../../../demo/bank/service.ts';

let service: Service;

beforeAll(async () => {
  vi.resetModules();
  ({ service } = (await import('../../../../demo/bank/service.ts')) as unknown as { service: Service });
});

const OTHER = 'service: was made by another copy of this package';

test.each<[string, (given: Service) => unknown]>([
  ['createEmbedded', (given) => createEmbedded(given, { sites: ['irl'] })],
  ['plainService', (given) => plainService(given)],
  ['checkService', (given) => checkService(given, { draw: () => undefined as never })],
  ['labelService', (given) => labelService(given, { runs: 1 })],
  ['recoloured', (given) => recoloured(given, {})],
])('%s, of a service that another copy of the package made → refused with what to do', (_, run) => {
  expect(() => run(service)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'service' }));
  expect(() => run(service)).toThrow(OTHER);
  expect(() => run({} as Service)).toThrow('service: must be one made by defineService');
});

test('a service that was made of another one → is run', async () => {
  const made = { ...own, generators: { ...own.generators } } as unknown as Service;
  const deployment = createEmbedded(made, { sites: ['irl'] });
  await deployment.close();
});
