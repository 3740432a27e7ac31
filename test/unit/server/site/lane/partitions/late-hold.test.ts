/** A global of three partitions, of which one orders nothing: a hold comes too late. */
import { expect, test } from 'vitest';
import { keyValueService } from '../../../../../../src/server/service/key-value-service.ts';
import { createPartitions } from '../../../../../../src/server/service/partitions.ts';
import type { Service } from '../../../../../../src/server/service/service.ts';
import { siteAt } from '../../../../../support/origins.ts';
import { SiteWorld } from '../../../../../support/site-world.ts';

const [HOME_LEADER, US_LEADER, EU_LEADER] = [0, 1, 2] as const;

// @rule PART-G8c
test('it is aborted each time → it ends for that reason, and not for a conflict that it has not met', () => {
  const reasons: (string | undefined)[] = [];
  const service = keyValueService as unknown as Service;
  const world = new SiteWorld({
    service,
    partitions: createPartitions(service, { eu: {}, us: {} }),
    redLogs: [{ leader: siteAt(EU_LEADER) }, { leader: siteAt(US_LEADER) }],
    maxAttempts: 2,
    observer: {
      onRejected: ({ site }, conflict) =>
        void (site === siteAt(HOME_LEADER) && reasons.push(conflict?.reason)),
    },
  });
  world.crash(EU_LEADER);
  const writes = ['all', 'us/ann', 'eu/bob'].map((key) => ({ key, value: 1 }));
  const outcome = world.submit(HOME_LEADER, { name: 'commit', args: { reads: [], writes } });
  for (let passedMs = 0; outcome.code === undefined && passedMs < 5000; passedMs += 100)
    world.pass(100);
  expect(outcome.code).toBe('CONFLICT');
  expect(reasons).toEqual(['aborted', 'aborted']);
});
