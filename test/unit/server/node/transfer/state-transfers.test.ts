/** State transfers between nodes: over links that come and go, of one donor or of another. */
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { EMPTY_OWN_STATE } from '../../../../../src/server/service/records/checkpoint.ts';
import {
  StateTransfers,
  type TransferRefusal,
  type ReceivedState,
} from '../../../../../src/server/node/transfer/state-transfers.ts';
import { NodeFiles, nodeTiming } from '../../../../../src/server/node/storage/disk/node-files.ts';
import { DurableStorage } from '../../../../../src/server/node/storage/durable-storage.ts';
import { LevelRowStore } from '../../../../../src/server/node/storage/rows/level-row-store.ts';
import { siteAt } from '../../../../support/origins.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const ROWS = new Map(
  Array.from({ length: 50 }, (_, row) => [`row ${row}`, 'x'.repeat(100_000)] as const),
);
const VIRGINIA = siteAt(1);

const { setInterval: realInterval, clearInterval: clearRealInterval } = globalThis;

let root: string;
let nodes: Map<string, StateTransfers>;
/** Links that are down. */
let down: Set<string>;
let refusals: Map<string, TransferRefusal>;
let sliceCount: number;
/** What a site sends in place of its slices. */
let garbage: Map<string, Uint8Array>;
let events: string[];
let storages: DurableStorage[];
beforeEach(async () => {
  root = temporaryFolder();
  nodes = new Map();
  down = new Set();
  refusals = new Map();
  sliceCount = 0;
  garbage = new Map();
  events = [];
  storages = [];
  return async () => {
    for (const node of nodes.values()) node.close();
    for (const storage of storages) await storage.close();
  };
});

function createNode(site: string, files = new NodeFiles(join(root, site))): StateTransfers {
  const isUp = (peer: string): boolean => nodes.has(peer) && !down.has(peer) && !down.has(site);
  const deliver = async (peer: string, act: (node: StateTransfers) => void): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (!isUp(peer)) throw new Error('the link is down');
    act(nodes.get(peer) as StateTransfers);
  };
  const node = new StateTransfers({
    site,
    directory: `directory of ${site}`,
    files,
    maxClockSkewMs: 1000,
    links: {
      request: (peer, _kind, body) =>
        deliver(peer, (to) => void to.onRequest(site, JSON.parse(JSON.stringify(body)))),
      sendSlice: (peer, content) => {
        sliceCount += 1;
        return deliver(peer, (to) => to.onSlice(site, garbage.get(site) ?? content));
      },
      isConnected: isUp,
    },
    admit: (receiver, { directory }) =>
      refusals.get(site) ??
      (directory === `directory of ${receiver}` ? undefined : { reason: 'no' }),
    onStalled: (problem) => void events.push(`stalled: ${problem}`),
    onFullChanged: (because) =>
      void events.push(because === undefined ? 'has room' : `full: ${because.message}`),
  });
  nodes.set(site, node);
  return node;
}

async function createDonor(site: string): Promise<StateTransfers> {
  const node = createNode(site);
  const files = new NodeFiles(join(root, site));
  files.makeDirectory('site');
  const store = await LevelRowStore.open(join(root, site, 'site/rows'));
  const options = { files, timing: nodeTiming, directory: 'site', rows: store };
  const storage = new DurableStorage(options);
  storages.push(storage);
  let closed: [string, unknown][] = [];
  const rows = {
    changeAll: () => {},
    closeChanges: () => void (closed = [...ROWS]),
    takeClosed: () => closed.splice(0),
    restore: () => {},
  };
  const unsent = [{ site: VIRGINIA, vector: [0, 0, Number.MAX_SAFE_INTEGER] }];
  const shared = { log: { delivered: 3 }, replica: { unsent }, donor: site };
  const cut = { smallParts: { shared, own: EMPTY_OWN_STATE }, contained: { local: 0, red: 0 } };
  storage.attach(
    { sections: { rows }, retainedFrom: { local: 0, red: 0 }, createCut: () => cut },
    { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} },
  );
  node.serve({ storage, onDamaged: () => {} });
  return node;
}

const readRows = ({ rows }: ReceivedState): Map<string, unknown> =>
  new Map(Array.from(rows, ([, name, value]) => [name, value] as const));

const { signal } = new AbortController();

function useFakeTimers(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
}

/** Until it is disposed, timers run about twenty times as fast. Files are real. */
function speedUpTimers(): Disposable {
  useFakeTimers();
  const interval = realInterval(() => vi.advanceTimersByTime(20), 1);
  return {
    [Symbol.dispose]: () => {
      clearRealInterval(interval);
      vi.useRealTimers();
    },
  };
}

test('a donor that is connected → its state, without operations of a wild clock', async () => {
  await createDonor('ireland');
  const receiver = createNode('virginia');
  const received = await receiver.receive(VIRGINIA, () => ['frankfurt', 'ireland'], signal);
  const { donor, shared } = received;
  expect(donor).toBe('ireland');
  expect(readRows(received)).toEqual(ROWS);
  expect(shared.smallParts).toEqual({
    log: { delivered: 3 },
    replica: { unsent: [] },
    donor: 'ireland',
  });
  expect(receiver.progress).toBeUndefined();
});

test('the link is lost on the way → goes on where it was', async () => {
  await createDonor('ireland');
  const receiver = createNode('virginia');
  const receiving = receiver.receive(VIRGINIA, () => ['ireland'], signal);
  await vi.waitFor(() => expect(receiver.progress?.bytes).toBeGreaterThan(1_000_000), {
    interval: 1,
  });
  down.add('ireland');
  down.delete('ireland');
  receiver.onConnected('ireland');
  expect(readRows(await receiving)).toEqual(ROWS);
  // Those that were on their way are sent once more.
  expect(sliceCount).toBeLessThan(60);
});

test('a donor that does not admit the receiver → the reason is seen, and it is asked again', async () => {
  await createDonor('ireland');
  refusals.set('ireland', { reason: 'ireland has not taken the change' });
  const receiver = createNode('virginia');
  const receiving = receiver.receive(VIRGINIA, () => ['ireland'], signal);
  await vi.waitFor(
    () => expect(receiver.progress?.problem).toContain('has not taken the change'),
    5000,
  );
  refusals.clear();
  receiver.onConnected('ireland');
  expect(readRows(await receiving)).toEqual(ROWS);
});

test('a donor that knows the receiver as closed → its reason is reported', async () => {
  using _timers = speedUpTimers();
  await createDonor('ireland');
  refusals.set('ireland', { reason: 'virginia was closed', isClosed: true });
  const ending = new AbortController();
  const end = (reason: string): void => ending.abort(new Error(reason));
  const receiving = createNode('virginia').receive(VIRGINIA, () => ['ireland'], ending.signal, end);
  await expect(receiving).rejects.toThrow('virginia was closed');
});

test('ended meanwhile → rejects with the reason', async () => {
  using _timers = speedUpTimers();
  const receiver = createNode('virginia');
  const ending = new AbortController();
  const receiving = receiver.receive(VIRGINIA, () => ['ireland'], ending.signal);
  ending.abort(new Error('the node is closed'));
  await expect(receiving).rejects.toThrow('the node is closed');
});

test('slices that cannot be read → another donor', async () => {
  using _timers = speedUpTimers();
  for (const site of ['ireland', 'frankfurt']) await createDonor(site);
  garbage.set('ireland', new Uint8Array([0, 0, 0, 9]));
  const { shared } = await createNode('virginia').receive(
    VIRGINIA,
    () => ['ireland', 'frankfurt'],
    signal,
  );
  expect(shared.smallParts).toMatchObject({ donor: 'frankfurt' });
});

test('nothing comes for a minute → is reported once, with the reason', async () => {
  useFakeTimers();
  try {
    const receiver = createNode('virginia');
    const ending = new AbortController();
    const receiving = receiver.receive(VIRGINIA, () => ['ireland', 'frankfurt'], ending.signal);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(180_000);
    expect(events).toEqual(['stalled: no link to ireland, frankfurt is up']);
    ending.abort(new Error('the node is closed'));
    const [ended] = await Promise.allSettled([receiving, vi.advanceTimersByTimeAsync(1000)]);
    expect(ended).toMatchObject({ reason: { message: 'the node is closed' } });
  } finally {
    vi.useRealTimers();
  }
});

test('no room for what comes → is reported, and so is room again', async () => {
  using _timers = speedUpTimers();
  await createDonor('ireland');
  const files = new NodeFiles(join(root, 'virginia'));
  const createNow = vi.spyOn(files, 'createNow').mockImplementation(() => {
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  });
  const receiving = createNode('virginia', files).receive(VIRGINIA, () => ['ireland'], signal);
  await vi.waitFor(() => expect(events).toEqual(['full: no space left']), 5000);
  createNow.mockRestore();
  expect(readRows(await receiving)).toEqual(ROWS);
  expect(events).toEqual(['full: no space left', 'has room']);
});
