/** Which version two ends of a link use. */
// @rule CLU-U1
import { expect, test } from 'vitest';
import {
  agreeOnVersion,
  describeMismatch,
  parseVersions,
} from '../../../../../src/server/node/links/outgoing-link.ts';

const [v3, v4, v5] = [
  { version: 3, oldest: 3 },
  { version: 4, oldest: 3 },
  { version: 5, oldest: 4 },
];

test('the same or adjacent versions → the older one', () => {
  expect([agreeOnVersion(v4, v4), agreeOnVersion(v4, v3), agreeOnVersion(v3, v4)]).toEqual([
    4, 3, 3,
  ]);
  expect([agreeOnVersion(v4, v5), agreeOnVersion(v5, v4)]).toEqual([4, 4]);
});

test('versions further apart → none, and the message names both and which site to upgrade', () => {
  expect([agreeOnVersion(v3, v5), agreeOnVersion(v5, v3)]).toEqual([undefined, undefined]);
  const mismatch = describeMismatch('ireland', v5, 'virginia', v3);
  expect(mismatch).toBe(
    'virginia uses version 3 of links, and ireland uses version 5: upgrade virginia, by one version at a time',
  );
  expect(describeMismatch('ireland', v3, 'virginia', v5)).toContain('upgrade ireland');
});

test('an end that names one version knows that one alone; one that names none is refused', () => {
  expect(parseVersions({ version: 3 })).toEqual(v3);
  expect([
    parseVersions({ oldest: 3 }),
    parseVersions({ version: '3' }),
    parseVersions(null),
  ]).toEqual([undefined, undefined, undefined]);
});
