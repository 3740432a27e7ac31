/**
 * What a deployment with the partition `main` alone sends and writes. A fixed script runs at three
 * sites, and the digests of all frames and files are compared with recorded ones. They change only
 * if the format changes for a reason.
 */
import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { Random } from '../../../../src/server/service/collections/random.ts';
import { EnvelopeCodec } from '../../../../src/server/site/wire/envelope-codec.ts';
import type { LogKind } from '../../../../src/server/log/local-log.ts';
import { DurableStorage } from '../../../../src/server/node/storage/durable-storage.ts';
import {
  mountSite,
  ROWS_DIRECTORY,
  SITE_DIRECTORY,
} from '../../../../src/testing/simulator/disk/site-directory.ts';
import { SimulatedDisk } from '../../../../src/testing/simulator/disk/disk.ts';
import { createTiming, Timeline } from '../../../../src/testing/simulator/timeline.ts';
import { SiteMemory } from '../../../../src/server/site/parts/memory.ts';
import { simulatedService } from '../../../simulator/service.ts';
import { SiteWorld } from '../../../support/site-world.ts';

const FOLDER = SITE_DIRECTORY;
const [LEADER, FOLLOWER, OTHER] = [0, 1, 2];
const STRONG = { wantedStages: { tentative: true, causal: true, strong: true } };

afterEach(() => vi.restoreAllMocks());

/** The version of envelopes in which the frames were recorded. */
const VERSION = 4;

/** Encodes as before, and returns all that is encoded from now on. */
function recordFrames(): Uint8Array[] {
  const frames: Uint8Array[] = [];
  const { encode } = EnvelopeCodec.prototype;
  vi.spyOn(EnvelopeCodec.prototype, 'encode').mockImplementation(function (
    this: EnvelopeCodec,
    ...args
  ) {
    const [envelope, bytes] = args;
    const encoded = encode.call(this, envelope, bytes, VERSION);
    frames.push(...encoded);
    return encoded;
  });
  return frames;
}

function digest(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest('hex').slice(0, 32);
}

const call = (name: string, args: unknown) => ({ name, args });

/**
 * Blue and red operations, named ones and their retries, a conflict, strong reads, and restarts.
 */
function runScript(world: SiteWorld): void {
  for (const site of [LEADER, FOLLOWER, OTHER]) {
    world.ask(site, call('deposit', { key: 'account 1', amount: 40 }), {
      id: `c${site}/1`,
      home: site,
    });
    world.ask(site, call('enqueue', { key: 'queue 1', text: `item ${site}` }), {
      id: `c${site}/2`,
      home: site,
    });
    world.settle();
  }
  const withdrawal = call('withdraw', { key: 'account 1', amount: 90, here: false });
  world.ask(LEADER, withdrawal, { id: 'c0/3', acknowledged: 1 });
  world.ask(FOLLOWER, withdrawal, { id: 'c1/3', home: FOLLOWER, acknowledged: 2 });
  world.settle();
  world.ask(FOLLOWER, withdrawal, { id: 'c0/3', acknowledged: 1, hop: 1 });
  world.submit(OTHER, call('dequeue', { key: 'queue 1' }));
  world.submit(OTHER, call('size', { key: 'queue 1' }), STRONG);
  world.submit(LEADER, call('draft', { key: 'draft 1', text: 'a title' }));
  world.submit(FOLLOWER, call('reserve', { key: 'seat 1', text: 'row 2' }));
  world.settle();
  world.submit(OTHER, call('discard', { key: 'draft 1' }));
  world.crash(FOLLOWER);
  world.submit(LEADER, call('assign', { key: 'note', text: 'owner' }));
  world.pass(50);
  world.start(FOLLOWER);
  world.pass(50);
  world.submit(FOLLOWER, call('dequeue', { key: 'queue 1' }), STRONG);
  world.settle();
}

/** Writes what a site has stored with the storage of production, and a checkpoint of its state. */
function writeFiles(
  world: SiteWorld,
  site: number,
): (readonly [name: string, bytes: Uint8Array])[] {
  const timeline = new Timeline();
  const disk = new SimulatedDisk({ timeline, random: new Random(0), syncMeanMs: 0 });
  const directory = mountSite(disk);
  const { files } = directory;
  const storage = new DurableStorage({
    ...directory,
    timing: createTiming(timeline),
    site: `s${site}`,
  });
  const machine = world.machines[site]!;
  storage.attach(machine, { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} });
  const { logs } = world.takeNode(site);
  for (const [kind, entries] of Object.entries(logs))
    storage.append(kind as LogKind, entries as unknown[]);
  timeline.run(1000, () => false);
  storage.checkpoint();
  timeline.run(2000, () => false);
  storage.append('local', [{ kind: 'expire', client: 'c', upTo: 1 }]);
  timeline.run(3000, () => false);
  const names = files.list(FOLDER).filter((name) => name.endsWith('.log'));
  const rows = [...(disk.rows.copy().get(ROWS_DIRECTORY) ?? [])];
  const entries = rows.map(([key, value]) => Buffer.concat([Buffer.from(key, 'latin1'), value]));
  return [
    ...names.map((name) => [name, files.read(`${FOLDER}/${name}`)] as const),
    ['rows', Buffer.concat(entries)],
  ];
}

test('with main alone, frames and files have the bytes that they had before there were partitions', () => {
  const frames = recordFrames();
  // A checkpoint has the memory of its site, and how that is counted is no format.
  vi.spyOn(SiteMemory.prototype, 'bytes', 'get').mockReturnValue(1);
  const world = new SiteWorld({ service: simulatedService(), stopsOnUnknownStart: true });
  runScript(world);
  const written = [LEADER, FOLLOWER, OTHER].map((site) => writeFiles(world, site));
  expect({
    frames: `${frames.length}: ${digest(frames)}`,
    files: written.map((files) => files.map(([name, bytes]) => `${name}: ${digest([bytes])}`)),
  }).toMatchInlineSnapshot(`
    {
      "files": [
        [
          "0000000001.log: 6fe1193e55f1f6822ff0f9d6fea767a3",
          "rows: 55fcb00931d85f56739a644e961eb985",
        ],
        [
          "0000000001.log: 363410038e60b203c5c15521937b1727",
          "rows: 7daed43814b633951fa277cd01695574",
        ],
        [
          "0000000001.log: a4944a70ef320fc0ecdad38bcd638e17",
          "rows: a8513f6127b4efa37e02069bf1c8b06f",
        ],
      ],
      "frames": "137: bbdc7147cfc2126aad5efec042e5b0c6",
    }
  `);
});
