/**
 * The social network: its mix of operations, what it reads from metrics, its sentences, and its
 * service.
 */
import { describe, expect, test } from 'vitest';
import { social, type Message } from '../../../demo/social/contract.ts';
import { parseLogCounts } from '../../../demo/social/log-counts.ts';
import { findLogs } from '../../../demo/social/network.ts';
import { formatMeeting, formatMessage, formatWaits } from '../../../demo/social/page/texts.ts';
import { PARTITIONS, regionOf, SITES } from '../../../demo/social/regions.ts';
import { service } from '../../../demo/social/service.ts';
import { KINDS, Workload, type Step } from '../../../demo/social/workload.ts';
import { seeded } from '../../../demo/shared/random.ts';
import { createClient } from '../../../src/index.ts';
import { createEmbedded, type Service } from '../../../src/server/index.ts';

const LOCAL = { kind: 'follow', follower: 'eu/ada', followed: 'eu/ben' } as const;
const CROSS = { kind: 'follow', follower: 'eu/ada', followed: 'us/eve' } as const;

test('the mix of the paper: most steps read, and half of the follows are between regions', () => {
  const workload = new Workload('eu', 100, seeded(1));
  const steps = Array.from({ length: 10_000 }, () => workload.next());
  const share = (kind: Step['kind']): number =>
    steps.filter((step) => step.kind === kind).length / steps.length;
  const [timeline, post, local, cross] = KINDS.map(share);
  expect(timeline).toBeCloseTo(0.85, 1);
  expect(post).toBeCloseTo(0.075, 1);
  expect(local).toBeCloseTo(0.0375, 1);
  expect(cross).toBeCloseTo(0.0375, 1);
  for (const { kind, user, action } of steps) {
    expect(regionOf(user)).toBe('eu');
    if (action !== undefined)
      expect(findLogs(action).held).toBe(kind === 'crossFollow' ? 'us' : undefined);
  }
});

test('a pair that follows already → it unfollows at the next step', () => {
  const workload = new Workload('eu', 2, seeded(1));
  const kinds = Array.from({ length: 2000 }, () => workload.next().action)
    .filter((action) => action !== undefined)
    .filter((action) => action.kind !== 'post')
    .filter(({ follower, followed }) => follower === 'eu/user-1' && followed === 'eu/user-2')
    .map(({ kind }) => kind);
  expect(kinds.slice(0, 4)).toEqual(['follow', 'unfollow', 'follow', 'unfollow']);
});

test('metrics → the counts of the log of each region, holds as its leader has seen them', () => {
  const lines = [
    '# HELP correctables_globals_total Executions',
    'correctables_red_committed_total{site="ireland",partition="eu"} 4',
    'correctables_red_committed_total{site="frankfurt",partition="eu"} 3',
    'correctables_globals_total{site="ireland",partition="eu",outcome="committed"} 2',
    'correctables_globals_total{site="ireland",partition="eu",outcome="refused"} 9',
    'correctables_red_rejected_total{site="ohio",partition="us",reason="name"} 5',
    'correctables_hold_seconds_sum{site="virginia",partition="us"} 0.25',
    'correctables_hold_seconds_count{site="virginia",partition="us"} 2',
    'correctables_hold_seconds_count{site="ohio",partition="us"} 7',
    'correctables_holds_standing{site="virginia",partition="us"} 1',
  ];
  const nothing = { committed: 0, globals: 0, rejected: 0, holds: 0, heldMs: 0, standing: 0 };
  expect(parseLogCounts(lines.join('\n'))).toEqual({
    eu: { ...nothing, committed: 7, globals: 2 },
    us: { ...nothing, rejected: 5, holds: 2, heldMs: 250, standing: 1 },
  });
});

describe('sentences', () => {
  test('an action → the logs that it waits for', () => {
    expect(formatWaits({ action: LOCAL })).toBe('log of Europe');
    expect(formatWaits({ action: CROSS })).toBe('log of Europe, with a hold in America');
    expect(formatWaits({ action: CROSS, heldMs: 117 })).toBe(
      'log of Europe, with a hold in America of 117 ms',
    );
    expect(formatWaits({ action: CROSS, heldMs: 'unknown' })).toBe(
      'log of Europe, with a hold in America',
    );
  });

  test.each([
    [{ action: LOCAL }, 'Ada follows Ben: waits for the log of Europe…'],
    [
      { action: LOCAL, outcome: 'done', ms: 24 },
      'Ada follows Ben: confirmed after 24.0 ms. It waited for the log of Europe.',
    ],
    [{ action: LOCAL, outcome: 'unchanged', ms: 2 }, 'Ada follows Ben: nothing had to change.'],
    [
      { action: LOCAL, outcome: 'unknown', ms: 500 },
      'Ada follows Ben: no answer after 500 ms. It may have been done.',
    ],
  ] as const)('%# %j', (receipt, sentence) => {
    expect(formatMessage(receipt)).toBe(sentence);
  });

  test('two actions on one row → what the button does', () => {
    const near = { kind: 'unfollow', follower: 'us/finn', followed: 'us/eve' } as const;
    expect(formatMeeting([CROSS, near])).toBe(
      'Ada follows Eve, and Finn unfollows Eve while the row is held',
    );
  });
});

test('the service: numbers of messages, timelines of both regions, and whole follows', async () => {
  const deployment = createEmbedded(service as unknown as Service, {
    sites: SITES,
    partitions: PARTITIONS,
  });
  const [frankfurt, ohio] = [
    createClient(deployment.site('frankfurt')),
    createClient(deployment.site('ohio')),
  ];
  const post = (author: string) => social.post({ author, text: `of ${author}` });
  expect(await frankfurt.invokeStrong(post('eu/ada'))).toBe(1);
  expect(await frankfurt.invokeStrong(post('eu/ada'))).toBe(2);
  expect(await ohio.invokeStrong(post('us/eve'))).toBe(1);
  const pair = { follower: 'eu/ada', followed: 'us/eve' };
  expect(await frankfurt.invokeStrong(social.follow(pair))).toBe(true);
  expect(await frankfurt.invokeStrong(social.follow(pair))).toBe(false);

  const timeline = async (): Promise<readonly Message[]> =>
    frankfurt.invokeWeak(social.timeline({ user: 'eu/ada' }));
  await expect
    .poll(async () =>
      (await timeline()).map(({ author, number }) => `${author} ${number}`).toSorted(),
    )
    .toEqual(['eu/ada 1', 'eu/ada 2', 'us/eve 1']);
  const readBoth = () => ohio.invokeStrong(social.profiles({ users: ['eu/ada', 'us/eve'] }));
  expect(await readBoth()).toEqual([
    { user: 'eu/ada', follows: ['us/eve'], followers: [] },
    { user: 'us/eve', follows: [], followers: ['eu/ada'] },
  ]);
  expect(await frankfurt.invokeStrong(social.unfollow(pair))).toBe(true);
  expect((await readBoth()).map(({ followers }) => followers)).toEqual([[], []]);
  await deployment.close();
});
