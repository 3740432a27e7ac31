/** The texts of the cluster's page about a site, and the actions that it offers. */
import { expect, test } from 'vitest';
import {
  countsAt,
  describeStall,
  describeStatus,
  offeredActions,
} from '../../../demo/cluster/page/site-texts.ts';
import type { SiteStatus } from '../../../demo/cluster/status.ts';
import type { Row } from '../../../demo/tickets/page/sale-record.ts';

const site = (status: Partial<SiteStatus> = {}): SiteStatus => ({
  name: 'ireland',
  state: 'running',
  isLeader: false,
  isCut: false,
  isCatchingUp: false,
  ...status,
});

test.each([
  [{}, 'running'],
  [{ isCatchingUp: true }, 'catching up'],
  [{ isCut: true, isCatchingUp: true }, 'cut off'],
  [{ state: 'frozen', isCut: true }, 'frozen, cut off'],
  [{ state: 'killed' }, 'killed'],
  [{ state: 'ended', failure: 'exit code 1' }, 'ended'],
] as const)('%j → %s', (status, text) => {
  expect(describeStatus(site(status)).text).toBe(text);
});

test.each([
  [{}, 'kill, freeze, cut'],
  [{ state: 'starting' }, 'kill, cut'],
  [{ state: 'frozen' }, 'kill, continue, cut'],
  [{ state: 'killed', isCut: true }, 'start, reconnect'],
  [{ state: 'ended' }, 'start, cut'],
] as const)('%j → what is possible: %s', (status, actions) => {
  const possible = offeredActions(site(status)).filter(({ isPossible }) => isPossible);
  expect(possible.map(({ action }) => action).join(', ')).toBe(actions);
});

test('nothing is known of a site → nothing can be done to it', () => {
  expect(offeredActions(undefined).filter(({ isPossible }) => isPossible)).toEqual([]);
});

const row = (purchase: Partial<Row>): Row => ({
  customer: 'a',
  retailer: 0,
  site: 'frankfurt',
  path: ['frankfurt'],
  byHand: false,
  ...purchase,
});

test.each([
  [{ state: 'killed' }, 'is killed', 'Press “Start again” at Ireland.'],
  [{ state: 'frozen' }, 'is frozen', 'Press “Continue” at Ireland.'],
  [{ isCut: true }, 'is cut off', 'Press “Reconnect” at Ireland.'],
  [{ isCatchingUp: true }, 'is catching up', 'It goes on in a moment.'],
] as const)(
  'the leader: %j → the page names who waits, and what to do',
  (status, state, advice) => {
    const rows = [row({ answer: 'yes' }), row({}), row({ answer: 'yes', finalItem: '#1' })];
    const text = describeStall([site({ ...status, isLeader: true })], rows);
    expect(text).toContain(state);
    expect(text).toContain(`2 customers wait for the confirmed answer. ${advice}`);
  },
);

test('the leader runs, or etcd orders the sales → nothing stalls', () => {
  expect(
    describeStall(
      [site({ isLeader: true }), site({ name: 'virginia', state: 'killed' })],
      [row({})],
    ),
  ).toBe(undefined);
  expect(describeStall([site({ state: 'killed' })], [row({})])).toBe(undefined);
});

test('a customer who moved → counts at the site that served the purchase last', () => {
  const rows = [
    row({ answer: 'yes', finalItem: '#1', path: ['frankfurt', 'ireland'] }),
    row({ answer: 'yes', finalItem: null, path: ['ireland'] }),
    row({ answer: 'yes', finalItem: '#2' }),
    row({ answer: 'no', finalItem: null }),
  ];
  expect(countsAt('ireland', rows)).toEqual({ sold: 1, promised: 2, takenBack: 1 });
  expect(countsAt('frankfurt', rows)).toEqual({ sold: 1, promised: 1, takenBack: 0 });
});
