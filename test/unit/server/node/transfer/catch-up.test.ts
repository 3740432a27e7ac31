/**
 * A site that takes the state of another one: donors of no use, a full disk, and a site that was
 * closed meanwhile.
 */
// @rule CLU-A7, CLU-A8, PART-G11
import { expect, test } from 'vitest';
import { put } from '../../../../../src/operations/index.ts';
import { createTransferAlarms } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { catchUp, type CatchUpContext } from '../../../../../src/server/node/transfer/catch-up.ts';
import {
  getSharedPart,
  type RecoveredState,
  type SharedSiteState,
} from '../../../../../src/server/log/recovered-state.ts';
import { MemberWorld, siteAt } from '../../../../support/member-world.ts';

const NUMBERS = { nextSegment: 1, lastCommit: 0 };

/**
 * The second of three sites, which has stopped, and two donors: the first has less, the third has
 * all.
 */
function createHost(change: Partial<CatchUpContext> = {}): CatchUpContext & {
  readonly events: string[];
  readonly installed: RecoveredState[];
} {
  const world = new MemberWorld();
  const early = getSharedPart(world.saveCheckpoint(0));
  world.submit(1, put('k', 'own'));
  world.pass(100);
  const late = getSharedPart(world.saveCheckpoint(2));
  const stored = world.saveStored(1);
  const events: string[] = [];
  const installed: RecoveredState[] = [];
  const { onRefused, onFullChanged } = createTransferAlarms('b', ({ kind, message }) =>
    events.push(`${kind}: ${message}`),
  );
  return {
    events,
    installed,
    origin: siteAt(1),
    signal: new AbortController().signal,
    getPeers: () => ['a', 'c'],
    receive: async ([donor = '']) => ({
      donor,
      shared: donor === 'a' ? early : late,
      rows: [],
      bytes: 3 << 20,
    }),
    recover: async () => ({ stored, ...NUMBERS }),
    install: async ({ state }) => void installed.push(state),
    onProblem: () => {},
    onRefused,
    onFullChanged,
    retryAfterMs: 0,
    ...change,
  };
}

test('a donor that lacks something → the next one', async () => {
  const host = createHost();
  expect(await catchUp(host)).toBeUndefined();
  expect([host.installed.length, host.events]).toEqual([1, []]);
});

test('all donors lack something that is only here → one alarm with the reasons and what to do, and it goes on', async () => {
  let attempts = 0;
  const host = createHost();
  const ending = new AbortController();
  const receive: CatchUpContext['receive'] = async (donors, ...others) => {
    ending.signal.throwIfAborted();
    attempts += 1;
    if (attempts === 20) ending.abort(new Error('the node is closed'));
    return { ...(await host.receive(['a'], ...others)), donor: donors[0] as string };
  };
  await expect(catchUp({ ...host, signal: ending.signal, receive })).rejects.toThrow(
    'the node is closed',
  );
  expect(host.events).toEqual([
    expect.stringMatching(/^transfer-refused: .* a: .* lacks .* c: .* lacks .*cluster retire/),
  ]);
});

test('no room for what was merged → an alarm, and another one once there is room', async () => {
  let attempts = 0;
  const install: CatchUpContext['install'] = async () => {
    attempts += 1;
    if (attempts < 3) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  const host = createHost({ install });
  expect(await catchUp(host)).toBeUndefined();
  expect(host.events.map((text) => text.split(':')[0])).toEqual(['disk-full', 'disk-has-room']);
});

test('no room for what was merged → the room is named, and each attempt is later than the one before', async () => {
  const delays: number[] = [];
  let attempts = 0;
  const host = createHost({
    getPeers: () => ['c'],
    retryAfterMs: 2000,
    install: async () => {
      attempts += 1;
      if (attempts < 12) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    },
    wait: async (delayMs) => void delays.push(delayMs),
  });
  expect(await catchUp(host)).toBeUndefined();
  expect(host.events[0]).toContain('the disk is full). It takes about 3 MiB more. Make room.');
  expect(delays.slice(0, 4)).toEqual([2000, 4000, 8000, 16_000]);
  expect(delays.at(-1)).toBe(300_000);
});

test('the site was closed meanwhile → the reason, and its own operations that it keeps', async () => {
  const receive: CatchUpContext['receive'] = async (_donors, signal, onClosed) => {
    onClosed('b was closed: it was retired');
    signal.throwIfAborted();
    throw new Error('not aborted');
  };
  const operation = { id: 'x', site: siteAt(1), sequence: 2 };
  const entry = { kind: 'blue', operation };
  const stored = {
    local: { start: 0, entries: [entry] },
    red: { start: 0, entries: [] },
  } as unknown as RecoveredState;
  const closed = await catchUp(
    createHost({ receive, recover: async () => ({ stored, ...NUMBERS }) }),
  );
  expect(closed).toEqual({ message: 'b was closed: it was retired', unsent: [operation] });
});

test('the red logs were restored without the site → it keeps of its copies what is in the logs too', async () => {
  const record = { kind: 'marker', id: 'x', site: siteAt(1) };
  const log = { start: 0, entries: [{ origin: siteAt(1), epoch: 1, sequence: 1, record }] };
  const host = createHost();
  const { stored } = await host.recover();
  const recover = async () => ({
    stored: { ...stored, red: log, partitions: [log, log] } as RecoveredState,
    ...NUMBERS,
  });
  const receive: CatchUpContext['receive'] = async (donors, ...others) => {
    const received = await host.receive(donors.slice(1), ...others);
    const { sections, smallParts } = received.shared;
    const { log: saved, ...shared } = smallParts as SharedSiteState;
    const empty = { ...saved, delivered: 0 };
    const parts: SharedSiteState = { ...shared, log: empty, logs: [empty, empty] };
    return { ...received, shared: { sections, smallParts: parts } };
  };
  const kept = [0, 0, 1].map((length) => ({ length, isLossy: false }));
  await catchUp({ ...host, recover, receive, kept });
  const [installed] = host.installed;
  expect(
    [installed?.red, installed?.partitions].flat().map((item) => item?.entries.length),
  ).toEqual([0, 0, 1]);
});
