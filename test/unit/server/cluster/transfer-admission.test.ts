/** Which data directories of a site a donor sends its state. */
import { expect, test } from 'vitest';
import { findRefusal } from '../../../../src/server/cluster/transfer-admission.ts';
import { Origins } from '../../../../src/server/records/origin.ts';

const CLOSED = { state: 'closed', final: { sequence: 3, stamp: 9 } } as const;

/** Virginia has one origin of the first directory, which is not named, and maybe another one of its second directory. */
function createOrigins(isRetired: boolean, isRebuilt: boolean): Origins {
  const origins = Origins.create(['ireland', 'virginia']);
  const first = origins.find('virginia');
  if (isRetired && first !== undefined) origins.set(first, CLOSED);
  if (isRebuilt) origins.add({ site: 'virginia', incarnation: 1, state: 'joining', directory: 'second' });
  return origins;
}

const UNKNOWN = { reason: 'ireland does not know this data directory of virginia yet' };

test.each([
  ['of a member', createOrigins(false, false), 'first', undefined],
  ['of a site that was retired', createOrigins(true, false), 'first', /was retired/],
  ['of a site that was rebuilt, the old one', createOrigins(true, true), 'first', /was rebuilt/],
  ['of a site that was rebuilt, the new one', createOrigins(true, true), 'second', undefined],
  ['that is not known', createOrigins(false, true), 'third', UNKNOWN],
  ['of a donor that is not running', undefined, 'first', UNKNOWN],
])('a directory %s → sent, refused for now, or for good', (_, origins, directory, expected) => {
  const refusal = findRefusal(origins, { donor: 'ireland', site: 'virginia', directory });
  if (expected instanceof RegExp) expect(refusal).toEqual({ reason: expect.stringMatching(expected), isClosed: true });
  else expect(refusal).toEqual(expected);
});
