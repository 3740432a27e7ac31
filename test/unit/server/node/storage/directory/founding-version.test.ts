/** What the data of a cluster was made with: which versions of its service may use it. */
// @rule CLU-U5
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/index.ts';
import { defineService, type Service } from '../../../../../../src/server/service/service.ts';
import {
  checkManifest,
  createManifest,
  getFoundingVersion,
} from '../../../../../../src/server/node/storage/directory/manifest.ts';
import { shopV1, shopV2 } from '../../../../../support/versioned-service.ts';

const [V1, V2] = [shopV1(), shopV2()] as unknown as readonly [Service, Service];
const of = (service: Service, site?: string) =>
  createManifest({ service, sites: ['a', 'b'], redLeader: 'a', site });

/** A service with these operations alone. */
function withOperation(name: string, result: z.ZodType): Service {
  const contract = defineContract('shop', {
    [name]: { access: 'read', args: z.object({}), result },
  });
  const generators = { [name]: () => null };
  return defineService(contract, {
    tables: {},
    shadowOperations: () => ({}),
    generators,
  }) as unknown as Service;
}

test('a service that has gained → may use the data; its operations stay as they were', () => {
  expect(() => checkManifest(of(V1, 'a'), of(V2, 'a'), 'data')).not.toThrow();
  expect(() => checkManifest(of(V2, 'a'), of(V1, 'a'), 'data')).toThrow(
    "needs the field 'sales.stars'",
  );
  expect(getFoundingVersion(of(V1, 'a')).service).toMatchObject({ hash: of(V1, 'a').service.hash });
});

test.each([
  [
    'is gone',
    withOperation('other', z.string()),
    "the operation 'find', which the service does not have",
  ],
  [
    'has another result',
    withOperation('find', z.number()),
    "the operation 'find' to stay as it was declared",
  ],
])(
  'an operation %s → is refused by name in a cluster, and not in one process',
  (_, now, problem) => {
    const before = withOperation('find', z.string());
    expect(() => checkManifest(of(before, 'a'), of(now, 'a'), 'data')).toThrow(problem);
    expect(() => checkManifest(of(before), of(now), 'data')).not.toThrow();
  },
);
