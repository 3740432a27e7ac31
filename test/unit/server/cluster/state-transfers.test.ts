/** State transfers between nodes: over links that come and go, of one donor or of another. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { EMPTY_OWN_STATE } from '../../../../src/server/records/checkpoint.ts';
import { StateTransfers } from '../../../../src/server/cluster/state-transfers.ts';
import { NodeFiles, nodeTiming } from '../../../../src/server/storage/disk/node-files.ts';
import { DurableStorage } from '../../../../src/server/storage/durable-storage.ts';

const ROWS = new Map(Array.from({ length: 50 }, (_, row) => [`row ${row}`, 'x'.repeat(100_000)] as const));

let root: string;
let nodes: Map<string, StateTransfers>;
/** Links that are down. */
let down: Set<string>;
let refusals: Map<string, string>;
let sliceCount: number;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'correctables-transfers-'));
  nodes = new Map();
  down = new Set();
  refusals = new Map();
  sliceCount = 0;
  return async () => {
    for (const node of nodes.values()) node.close();
    await rm(root, { recursive: true });
  };
});

function createNode(site: string): StateTransfers {
  const isUp = (peer: string): boolean => nodes.has(peer) && !down.has(peer) && !down.has(site);
  const deliver = async (peer: string, act: (node: StateTransfers) => void): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (!isUp(peer)) throw new Error('the link is down');
    act(nodes.get(peer) as StateTransfers);
  };
  const node = new StateTransfers({
    site,
    directory: `directory of ${site}`,
    files: new NodeFiles(join(root, site)),
    links: {
      request: (peer, _kind, body) => deliver(peer, (to) => void to.onRequest(site, JSON.parse(JSON.stringify(body)))),
      sendSlice: (peer, content) => {
        sliceCount += 1;
        return deliver(peer, (to) => to.onSlice(site, content));
      },
      isConnected: isUp,
    },
    admit: (receiver, directory) => refusals.get(site) ?? (directory === `directory of ${receiver}` ? undefined : 'no'),
  });
  nodes.set(site, node);
  return node;
}

function createDonor(site: string): StateTransfers {
  const node = createNode(site);
  const files = new NodeFiles(join(root, site));
  const storage = new DurableStorage({ files, timing: nodeTiming, directory: 'site' });
  const rows = {
    changeCount: 0,
    changeAll: () => (rows.changeCount = ROWS.size),
    takeChanges: () => {
      const taken = rows.changeCount === 0 ? [] : [...ROWS];
      rows.changeCount = 0;
      return taken;
    },
    restore: () => {},
  };
  const shared = { log: { delivered: 3 }, donor: site };
  const cut = { smallParts: { shared, own: EMPTY_OWN_STATE }, contained: { local: 0, red: 0 } };
  storage.attach(
    { sections: { rows }, retainedFrom: { local: 0, red: 0 }, createCut: () => cut },
    { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} },
  );
  node.setStorage(storage);
  return node;
}

const { signal } = new AbortController();

test('a donor that is connected → its state', async () => {
  createDonor('ireland');
  const receiver = createNode('virginia');
  const shared = await receiver.receive(() => ['frankfurt', 'ireland'], signal);
  expect(shared.sections['rows']).toEqual(ROWS);
  expect(shared.smallParts).toEqual({ log: { delivered: 3 }, donor: 'ireland' });
  expect(receiver.progress).toBeUndefined();
});

test('the link is lost on the way → goes on where it was', async () => {
  createDonor('ireland');
  const receiver = createNode('virginia');
  const receiving = receiver.receive(() => ['ireland'], signal);
  await vi.waitFor(() => expect(receiver.progress?.bytes).toBeGreaterThan(1_000_000), { interval: 1 });
  down.add('ireland');
  down.delete('ireland');
  receiver.onConnected('ireland');
  expect((await receiving).sections['rows']).toEqual(ROWS);
  // Those that were on their way are sent once more.
  expect(sliceCount).toBeLessThan(60);
});

test('a donor that does not admit the receiver → the reason is seen, and it is asked again', async () => {
  createDonor('ireland');
  refusals.set('ireland', 'ireland has not taken the change');
  const receiver = createNode('virginia');
  const receiving = receiver.receive(() => ['ireland'], signal);
  await vi.waitFor(() => expect(receiver.progress?.problem).toContain('has not taken the change'), 5000);
  refusals.clear();
  receiver.onConnected('ireland');
  expect((await receiving).sections['rows']).toEqual(ROWS);
});

test('ended meanwhile → rejects with the reason', async () => {
  const receiver = createNode('virginia');
  const ending = new AbortController();
  const receiving = receiver.receive(() => ['ireland'], ending.signal);
  ending.abort(new Error('the node is closed'));
  await expect(receiving).rejects.toThrow('the node is closed');
});
