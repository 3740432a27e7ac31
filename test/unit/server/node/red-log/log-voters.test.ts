/** Who confirms the records of a red log, and which site must stay because it is the last one. */
// @rule PART-M18
import { expect, test } from 'vitest';
import { findVoterProblem } from '../../../../../src/server/node/red-log/log-voters.ts';
import { Origins, type Origin } from '../../../../../src/server/service/records/origin.ts';

const US = { name: 'us', voters: ['virginia', 'ohio'] };
const EU = { name: 'eu' };
const RED = { generation: 1, leader: 'ireland' };

test('the last voter that a log has → must not leave, until the log has others', () => {
  const origins = Origins.create(['ireland', 'virginia', 'ohio'], ['us', 'eu']);
  const find = (site: string, red: object = {}): string | undefined =>
    findVoterProblem(site, { file: { partitions: [EU, US] }, red: { ...RED, ...red }, origins });
  expect(find('virginia')).toBeUndefined();

  origins.set(origins.find('ohio') as Origin, { state: 'closing' });
  expect(find('virginia')).toBe(
    'virginia is the only voter of the red log of us that is left: start ohio again on an empty directory with --join first. ' +
      'If virginia is lost, run cluster restore-red --without virginia --accept-loss us first',
  );
  expect([find('ireland'), find('ohio'), find('virginia', { votedByAll: ['us'] })]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
