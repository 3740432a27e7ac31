/** Which data directories of a site a donor sends its state. */
import { expect, test } from 'vitest';
import { findRefusal } from '../../../../../src/server/node/transfer/state-transfers.ts';
import { Origins, type Origin } from '../../../../../src/server/service/records/origin.ts';

const CLOSED = { state: 'closed', final: { sequence: 3, stamp: 9 } } as const;

/**
 * Virginia has one origin of the first directory, which is not named, and maybe another one of its
 * second directory.
 */
function createOrigins(isRetired: boolean, isRebuilt: boolean): Origins {
  const origins = Origins.create(['ireland', 'virginia']);
  const first = origins.find('virginia');
  if (isRetired && first !== undefined) origins.set(first, CLOSED);
  if (isRebuilt)
    origins.add({ site: 'virginia', incarnation: 1, state: 'joining', directory: 'second' });
  return origins;
}

const UNKNOWN = { reason: 'ireland does not know this data directory of virginia yet' };

test.each([
  ['of a member', createOrigins(false, false), 'first', 2, undefined],
  ['of a site that was retired', createOrigins(true, false), 'first', 2, /was retired/],
  ['of a site that was rebuilt, the old one', createOrigins(true, true), 'first', 2, /was rebuilt/],
  ['of a site that was rebuilt, the new one', createOrigins(true, true), 'second', 3, undefined],
  [
    'of a site that was retired and has joined again, unknown to the donor',
    createOrigins(true, false),
    'second',
    3,
    UNKNOWN,
  ],
  [
    'of a site that was rebuilt, unknown to the donor',
    createOrigins(false, false),
    'second',
    3,
    UNKNOWN,
  ],
  ['that is not known', createOrigins(false, true), 'third', 3, UNKNOWN],
  ['of a donor that is not running', undefined, 'first', 2, UNKNOWN],
])(
  'a directory %s → sent, refused for now, or for good',
  (_, origins, directory, origin, expected) => {
    const refusal = findRefusal(origins, () => true, {
      donor: 'ireland',
      site: 'virginia',
      directory,
      origin: origin as Origin,
    });
    if (expected instanceof RegExp)
      expect(refusal).toEqual({ reason: expect.stringMatching(expected), isClosed: true });
    else expect(refusal).toEqual(expected);
  },
);
