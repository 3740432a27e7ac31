/** A file with another leader than the directory: a mistake, or written after a restore. */
// @rule CLU-G8
import { expect, test } from 'vitest';
import { parseClusterFile } from '../../../../../src/server/node/cluster/cluster-file.ts';
import { rejectOtherLeaders } from '../../../../../src/server/node/red-log/file-leaders.ts';
import type { RedGeneration } from '../../../../../src/server/node/red-log/red-generation.ts';

const SITES = ['a', 'b', 'c', 'd', 'e'];
const FIRST: RedGeneration = { generation: 0, leader: 'a', logs: [{ name: 'us', leader: 'b' }] };
const ETCD = { engine: 'etcd', endpoints: ['http://127.0.0.1:2379'] };

function fileOf(change: object = {}) {
  const address = (index: number) => ({
    url: `ws://h:${7000 + index}`,
    cluster: `h:${8000 + index}`,
  });
  const file = {
    sites: Object.fromEntries(SITES.map((name, index) => [name, address(index)])),
    redLog: { engine: 'built-in', leader: 'a' },
    partitions: { us: { leader: 'b' } },
    keyFile: 'key',
    ...change,
  };
  return parseClusterFile(file, '/cluster.json');
}

/**
 * Starts `e` while the other sites answer so, by name. They answer again at each report that it
 * waits.
 */
function start(
  change: object,
  replies: ReadonlyMap<string, RedGeneration>,
  red = FIRST,
  onWaiting = () => {},
) {
  const messages: string[] = [];
  const request = async (peer: string): Promise<unknown> => {
    const reply = replies.get(peer);
    if (reply === undefined) throw new Error('not connected');
    return reply;
  };
  const started = rejectOtherLeaders({
    file: fileOf(change),
    dataDir: 'data',
    red,
    links: { peers: SITES.slice(0, 4), request },
    signal: new AbortController().signal,
    onWaiting: (message) => {
      messages.push(message);
      onWaiting();
    },
  });
  return { started, messages };
}

const OTHER = { partitions: { us: { leader: 'c' } } };

test('a majority has not restored the logs → the start is refused with both leaders and what to do', async () => {
  const { started } = start(OTHER, new Map(['a', 'b'].map((name) => [name, FIRST])));
  await expect(started).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field: 'cluster',
    message:
      'cluster.json: partitions.us.leader is "c", and the data in data has "b". Nothing was changed. ' +
      'Write "b" into the file. Only cluster restore-red changes the leader of a log.',
  });
});

test('too few sites answer → the site waits, and starts if one of the others has restored the logs', async () => {
  const replies = new Map([['a', FIRST]]);
  const restored = { generation: 1, leader: 'c', logs: [{ name: 'us', leader: 'c' }] };
  const { started, messages } = start(OTHER, replies, FIRST, () => replies.set('c', restored));
  await started;
  expect(messages).toEqual([
    'waiting for more sites: partitions.us.leader of cluster.json is "c", and the data has "b"',
  ]);
});

test.each<readonly [string, object, RedGeneration]>([
  ['the leaders are the same', {}, FIRST],
  ['the logs were restored', OTHER, { ...FIRST, generation: 1 }],
  [
    'servers order the records',
    { redLog: ETCD, partitions: { us: {} } },
    { ...FIRST, leader: 'd' },
  ],
])('%s → no other site is asked', async (_, change, red) => {
  const { started, messages } = start(change, new Map(), red);
  await started;
  expect(messages).toEqual([]);
});
