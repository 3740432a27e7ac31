/** Partitions are fixed with the data: in the manifest, and in the version of a service. */
// @rule PART-G14
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/index.ts';
import { openEmbedded } from '../../../../../../src/server/node/embedded/embedded.ts';
import { blue, counter, defineService, table } from '../../../../../../src/server/index.ts';
import { describeRecordProblem } from '../../../../../../src/server/site/wire/message-schemas.ts';
import {
  findLostPart,
  RULES_VERSION,
} from '../../../../../../src/server/service/records/deployment-version.ts';
import { describeService } from '../../../../../../src/server/service/describe-service.ts';
import type { Service } from '../../../../../../src/server/service/service.ts';
import {
  checkManifest,
  createManifest,
  parseManifest,
} from '../../../../../../src/server/node/storage/directory/manifest.ts';
import { formatCheckedJson } from '../../../../../../src/server/node/storage/format/checked-json.ts';
import { temporaryFolder } from '../../../../../support/temporary-folder.ts';
import { shopV1 } from '../../../../../support/versioned-service.ts';

const SITES = ['a', 'b'] as const;
const US = { name: 'us', leader: 'b', voters: ['a', 'b'] };

interface Places {
  readonly partition?: string;
  readonly pay?: { readonly partition?: string; readonly partitionBy?: 'account' };
}

/** A bank whose only operation and table are declared so. */
function bank({ partition, pay }: Places = {}): Service {
  const args = z.object({ account: z.string() });
  const contract = defineContract('bank', {
    pay: { access: 'write', args, result: z.null(), ...pay },
  });
  return defineService(contract, {
    tables: {
      accounts: table({ balance: counter() }, partition === undefined ? {} : { partition }),
    },
    shadowOperations: ({ accounts }) => ({
      add: blue((a: { account: string }) => [accounts.row(a.account).balance.add(1)]),
    }),
    generators: { pay: (change, { shadow }) => shadow.add(change, null) },
  }) as unknown as Service;
}

const PLACED = { partition: 'key', pay: { partitionBy: 'account' } } as const;

function manifestOf(service: Service, partitions?: readonly (typeof US)[], site?: string) {
  return createManifest({ service, sites: SITES, redLeader: 'a', partitions, site });
}

test('no partition is declared → the manifest is that of a program without partitions, byte for byte', () => {
  const manifest = createManifest({
    service: shopV1() as unknown as Service,
    sites: SITES,
    redLeader: 'a',
  });
  const sum = createHash('sha256').update(formatCheckedJson(manifest)).digest('hex');
  // Written by the last version that had one red log only.
  expect(sum).toBe('b3c28a8efe47e7e6a20cc0b81933fddef984dafd05f03e1e36d4fd1516811569');
});

test('declarations have no effect with main alone → the manifest is the same without them', () => {
  expect(manifestOf(bank(PLACED))).toEqual(manifestOf(bank()));
  expect(manifestOf(bank({ partition: 'main', pay: { partition: 'main' } }), [US])).toEqual(
    manifestOf(bank(), [US]),
  );
});

test('several partitions → the manifest has them, and comes back from its bytes', () => {
  const manifest = manifestOf(bank(PLACED), [US]);
  expect(manifest).toMatchObject({
    partitions: [US],
    service: {
      tables: { accounts: { partition: 'key' } },
      homes: { pay: "partitionBy: 'account'" },
    },
  });
  expect(parseManifest(formatCheckedJson(manifest))).toMatchObject(manifest);
});

test.each([
  [{ partitions: ['us'] }],
  [{ partitions: [{ name: 'us', leader: 'b', voters: 1 }] }],
  [{ service: { ...manifestOf(bank()).service, homes: 1 } }],
])('a manifest with %j is damaged', (change) => {
  const bytes = formatCheckedJson({ ...manifestOf(bank()), ...change });
  expect(() => parseManifest(bytes)).toThrow('manifest.json is damaged');
});

const EU = { ...US, name: 'eu' };
test.each([
  [
    'one more',
    [US],
    [EU, US],
    'has the partitions main, us, not main, eu, us: partitions are fixed',
  ],
  ['one less', [US], [], 'has the partitions main, us, not main: partitions are fixed'],
  ['the first one', [], [US], 'has the partitions main, not main, us: partitions are fixed'],
  ['another name', [US], [EU], 'Start it with those that it has, or name another directory.'],
  [
    'another leader',
    [US],
    [{ ...US, leader: 'a' }],
    'has the red log of the partition us led by b, not by a',
  ],
  [
    'other voters',
    [US],
    [{ ...US, voters: ['b'] }],
    'has a, b as voters of the partition us, not b',
  ],
])('%s → the start is refused', (_, before, now, problem) => {
  expect(() => checkManifest(manifestOf(bank(), before), manifestOf(bank(), now), 'data')).toThrow(
    problem,
  );
});

test.each<readonly [string, Places, Places, string]>([
  [
    'a table moves',
    PLACED,
    { ...PLACED, partition: 'us' },
    "the table 'accounts' to stay with partition: 'key'",
  ],
  [
    'a table enters',
    { pay: PLACED.pay },
    PLACED,
    "the table 'accounts' to stay without a partition",
  ],
  [
    'an argument is gone',
    PLACED,
    { partition: 'key' },
    "the operation 'pay' to stay with partitionBy: 'account'",
  ],
  [
    'a home is new',
    { partition: 'key' },
    PLACED,
    "the operation 'pay' to stay without a partition",
  ],
  [
    'a home moves',
    { pay: { partition: 'us' } },
    PLACED,
    "the table 'accounts' to stay without a partition",
  ],
])(
  '%s → the start is refused in one process, and a cluster keeps the version in force',
  (_, before, now, problem) => {
    const [old, next] = [bank(before), bank(now)];
    expect(() => checkManifest(manifestOf(old, [US]), manifestOf(next, [US]), 'data')).toThrow(
      problem,
    );
    const version = (service: Service) => ({
      rules: RULES_VERSION,
      service: describeService(service),
    });
    expect(findLostPart(version(old), version(next))).toBe(
      `${problem}: partitions are fixed when a deployment is created`,
    );
  },
);

test('a table that red operations must not write → it stays so, with one log too', () => {
  const [before, now] = [manifestOf(bank({ partition: 'none' })), manifestOf(bank())];
  expect(() => checkManifest(before, now, 'data')).toThrow("to stay with partition: 'none'");
  expect(() => checkManifest(now, before, 'data')).toThrow('to stay without a partition');
});

test('a directory → opens with the same partitions only, in any order, with the same voters by default', async () => {
  const dataDir = temporaryFolder();
  const partitions = { us: { leader: 'b' }, eu: { leader: 'a', voters: ['b', 'a'] } } as const;
  const start = (change: object) =>
    openEmbedded(bank(PLACED), {
      sites: SITES,
      dataDir,
      checkColors: false,
      onAlarm: () => {},
      ...change,
    });
  await (await start({ partitions })).close();
  const { us, eu } = partitions;
  await (await start({ partitions: { eu: { ...eu, voters: SITES }, us } })).close();
  await expect(start({})).rejects.toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', field: 'dataDir' }),
  );
  await expect(start({ partitions: { us } })).rejects.toThrow(
    'partitions are fixed when a deployment is created',
  );
});

test('a record with a version that has places → is taken, and one with wrong ones is not', () => {
  const record = (service: object) => ({
    kind: 'activate',
    id: 'a-0-1.version/1',
    site: 1,
    version: { rules: RULES_VERSION, service },
  });
  const described = describeService(bank(PLACED));
  const accounts = { removable: false, fields: {}, partition: 1 };
  expect(describeRecordProblem(record(described))).toBeUndefined();
  expect(describeRecordProblem(record({ ...described, homes: { pay: 1 } }))).toContain(
    'homes.pay: must be text',
  );
  expect(describeRecordProblem(record({ ...described, tables: { accounts } }))).toContain(
    'accounts.partition: must be text',
  );
});
