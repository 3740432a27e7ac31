/**
 * A deployment in a data directory: results that were delivered survive a restart, and no other
 * process gets in meanwhile.
 */
// @rule STO-28
import { readdirSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../../../src/index.ts';
import { dequeue, enqueue, get, put } from '../../../../../src/operations/index.ts';
import { createEmbedded, openEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Embedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { serve } from '../../../../../src/server/serve.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { openStorage } from '../../../../../src/server/node/storage/directory/open-storage.ts';
import { cellsService, notesService, valuesService } from './notes-service.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
type Site = (typeof SITES)[number];

let dataDir: string;
let open: Embedded<Site>[] = [];
beforeEach(() => void (dataDir = temporaryFolder()));
afterEach(async () => {
  await Promise.all(open.map((item) => item.close()));
  open = [];
});

async function start(
  options: Partial<Parameters<typeof openEmbedded<Site>>[1]> = {},
  service = notesService(),
): Promise<Embedded<Site>> {
  const embedded = await openEmbedded<Site>(service, { sites: SITES, dataDir, ...options });
  open.push(embedded);
  return embedded;
}

async function stop(embedded: Embedded<Site>): Promise<void> {
  await embedded.close();
  open = open.filter((item) => item !== embedded);
}

/** What there is in the folder, in bytes. */
/** The engine of the rows replaces its own files whenever it is opened. */
const everyFile = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/rows'))
      .map(({ parentPath, name }) => [
        join(parentPath, name),
        readFileSync(join(parentPath, name), 'base64'),
      ]),
  );

const places = { local: 0, red: 0 };
const nothingToSave = {
  sections: {},
  createCut: () => ({ smallParts: null, contained: places }),
  retainedFrom: places,
};

describe('data directory', () => {
  test('restart → blue and red operations that were answered are there, at every site', async () => {
    const first = await start();
    const ireland = createClient(first.site('ireland'));
    await ireland.invoke(put('k', { at: new Date(5), bytes: new Uint8Array([1, 2]), big: 7n }));
    for (const subscriber of ['a', 'b', 'c']) await ireland.invoke(enqueue('q', subscriber));
    expect(await ireland.invokeStrong(dequeue('q'))).toEqual({ item: 'a' });
    await stop(first);
    const second = await start();
    const frankfurt = createClient(second.site('frankfurt'));
    expect(await frankfurt.invokeStrong(dequeue('q'))).toEqual({ item: 'b' });
    const retained = { at: new Date(5), bytes: new Uint8Array([1, 2]), big: 7n };
    for (const site of SITES)
      expect(await createClient(second.site(site)).invokeStrong(get('k'))).toEqual(retained);
  });

  test.each([3, 5])(
    '%i sites start again → the first read of each holds the red write that it has answered',
    async (n) => {
      const sites = ['ireland', 'frankfurt', 'virginia', 'tyo', 'syd'].slice(0, n) as [
        string,
        ...string[],
      ];
      const first = await openEmbedded<string>(cellsService(), { sites, dataDir });
      for (const site of sites) await createClient(first.site(site)).invoke(put(site, 'here'));
      await first.close();
      const second = await openEmbedded<string>(cellsService(), { sites, dataDir });
      const shown = sites.map((site) =>
        createClient(second.site(site)).invoke(get(site), { levels: ['causal'] }),
      );
      expect(await Promise.all(shown)).toEqual(sites.map(() => 'here'));
      await second.close();
    },
  );

  test('a start that lacks a delay → INVALID_ARGUMENT, and the directory is not left locked', async () => {
    const latency = { 'ireland-frankfurt': 0, 'ireland-virginia': 0 };
    await expect(start({ latency })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'latency.frankfurt-virginia' }),
    );
    const ireland = createClient(
      (await start({ latency: { ...latency, 'frankfurt-virginia': 0 } })).site('ireland'),
    );
    expect(await ireland.invokeStrong(get('k'))).toBeUndefined();
  });

  test('opened twice → UNAVAILABLE that names the process; after close → opens', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', field: 'dataDir' }),
    );
    await expect(start()).rejects.toThrow(`process ${process.pid} has it open`);
    await stop(first);
    await start();
  });

  test('lock of a process that is gone → opens', async () => {
    writeFileSync(join(dataDir, 'lock'), await readLockOfDeadProcess());
    await start();
  });

  test.each([
    ['other sites', { sites: ['ireland', 'virginia', 'frankfurt'] as const }, 'in this order'],
    ['another leader', { redLeader: 'frankfurt' as const }, 'led by ireland, not by frankfurt'],
  ])('%s → INVALID_ARGUMENT that names the difference', async (_, options, message) => {
    await stop(await start());
    await expect(start(options)).rejects.toThrow(message);
  });

  test.each([
    ['a field of another kind', cellsService(), "'values.value' to stay a register"],
    ['a table less', valuesService(), "the table 'queues'"],
    ['another service', notesService('other'), "belongs to the service 'notes', not 'other'"],
  ])('%s → INVALID_ARGUMENT that names it', async (_, service, message) => {
    await stop(await start());
    await expect(start({}, service)).rejects.toThrow(message);
  });

  test('undamaged files that form no valid state → rejected with an alarm; nothing changes, and the directory is not left locked', async () => {
    await stop(await start({}, valuesService()));
    const deployment = {
      service: valuesService(),
      sites: SITES,
      redLeader: 'ireland',
      onAlarm: () => {},
    };
    const storage = await openStorage(dataDir, deployment);
    for (const site of storage.sites) {
      site.attach(nothingToSave, { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} });
      if (site === storage.sites[1]) site.append('local', [{ kind: 'slot', id: 5 }]);
    }
    await storage.close();
    const before = everyFile();
    const alarms: string[] = [];
    const onAlarm = ({ kind, site }: SiteAlarm): void => void alarms.push(`${kind} ${site}`);
    const refused = {
      code: 'UNAVAILABLE',
      field: 'dataDir',
      message: expect.stringContaining('what frankfurt has saved'),
    };
    // One that would write down that there is a table more.
    for (const service of [valuesService(), notesService()]) {
      await expect(start({ onAlarm }, service)).rejects.toThrow(expect.objectContaining(refused));
      expect(readdirSync(dataDir)).not.toContain('lock');
    }
    expect(alarms).toEqual(['data-damaged frankfurt', 'data-damaged frankfurt']);
    expect(everyFile()).toEqual(before);
  });

  test('a table more → opens, and is part of the data from then on', async () => {
    await stop(await start({}, valuesService()));
    await stop(await start());
    await expect(start({}, valuesService())).rejects.toThrow("the table 'queues'");
  });

  test('a site whose name is too long for a directory → INVALID_ARGUMENT, and nothing is made', async () => {
    const sites = ['ireland', 'f'.repeat(300)] as const;
    const message = expect.stringMatching(/has 300 letters.* 255/);
    await expect(openEmbedded(notesService(), { sites, dataDir })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'sites', message }),
    );
    expect(readdirSync(dataDir)).toEqual([]);
    await createEmbedded(notesService(), { sites }).close();
  });

  test.each([
    ['a file', () => join(dataDir, 'taken'), 'is a file'],
    ['below a file', () => join(dataDir, 'taken', 'data'), 'is a file'],
    ['a name that is too long', () => join(dataDir, 'd'.repeat(300)), 'too long a name'],
    ['no path at all', () => `${dataDir}/\0`, 'must not have'],
  ])(
    'a data directory that is %s → INVALID_ARGUMENT with the cause, from serve too',
    async (_, path, problem) => {
      writeFileSync(join(dataDir, 'taken'), 'mine');
      const refused = {
        code: 'INVALID_ARGUMENT',
        field: 'dataDir',
        message: expect.stringContaining(problem),
      };
      const options = { sites: ['ireland'], dataDir: path() } as const;
      await expect(openEmbedded(notesService(), options)).rejects.toThrow(
        expect.objectContaining(refused),
      );
      await expect(serve({ service: notesService(), ...options })).rejects.toMatchObject(refused);
      expect(readFileSync(join(dataDir, 'taken'), 'utf8')).toBe('mine');
    },
  );
});

/** Taken by this process, under the number of one that cannot exist. */
async function readLockOfDeadProcess(): Promise<string> {
  const embedded = await openEmbedded<Site>(notesService(), { sites: SITES, dataDir });
  const text = readFileSync(join(dataDir, 'lock'), 'utf8');
  await embedded.close();
  return text.replace(`"pid":${process.pid}`, '"pid":4194305');
}
