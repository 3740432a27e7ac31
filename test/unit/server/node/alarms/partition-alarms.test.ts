/** The alarms of a site with several red logs. */
import { expect, test } from 'vitest';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { toFieldName, toTableName } from '../../../../../src/server/service/generator/read-set.ts';
import type {
  BlueOperation,
  RedOperation,
} from '../../../../../src/server/service/records/records.ts';
import { createPartitions } from '../../../../../src/server/service/partitions.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import {
  createPartitionAlarms,
  createVoterAlarm,
} from '../../../../../src/server/node/alarms/partition-alarms.ts';
import { partitionedBank } from '../../site/lane/partitions/partitioned-bank.ts';

function createAlarms() {
  const alarms: SiteAlarm[] = [];
  const partitions = createPartitions(partitionedBank as unknown as Service, { us: {} });
  const { onCreated, onRowsHeld } = createPartitionAlarms(
    'ireland',
    partitions,
    (alarm) => void alarms.push(alarm),
  );
  /** Runs an operation, as local ones and globals alternate in this share. */
  const run = (operation: string, globals: number, locals: number): void => {
    const local = {
      kind: 'operation',
      operation,
      effects: [],
      reads: [],
    } as unknown as RedOperation;
    const effects = ['us/ann', 'eu/bob'].map((key) => ({ table: 'accounts', key }));
    const reads = [toFieldName('fees', 'fee', 'amount'), toFieldName('tags', 'eu/bob', 'uses')];
    const global = {
      ...local,
      partition: 1,
      others: [0],
      effects,
      reads,
    } as unknown as RedOperation;
    for (let count = 0; count < globals; count += 1) onCreated?.(global);
    for (let count = 0; count < locals; count += 1) onCreated?.(local);
  };
  return { alarms, run, onCreated, onRowsHeld };
}

// @rule PART-A2
test('more than half of 100 runs are globals → reported once, with the tables outside the home', () => {
  const { alarms, run } = createAlarms();
  run('transfer', 51, 49);
  run('transfer', 100, 0);
  expect(alarms).toMatchObject([{ kind: 'operation-mostly-global', site: 'ireland' }]);
  expect(alarms[0]?.message).toContain(
    "51 of 100 runs of 'transfer' had rows of several partitions",
  );
  expect(alarms[0]?.message).toContain('tables accounts, tags.');
});

test('half of 100 runs, or fewer runs → no alarm', () => {
  const { alarms, run } = createAlarms();
  run('transfer', 50, 50);
  run('transfer', 99, 0);
  run('withdraw', 0, 300);
  expect(alarms).toEqual([]);
});

test('each operation is counted by itself, and blue ones are not', () => {
  const { alarms, run, onCreated } = createAlarms();
  for (let count = 0; count < 200; count += 1) onCreated?.({ sequence: count } as BlueOperation);
  run('transfer', 60, 0);
  run('other', 60, 0);
  run('other', 0, 40);
  expect(alarms.map(({ message }) => /'(\w+)'/.exec(message)?.[1])).toEqual(['other']);
});

test('a global by a scan of all keys → its table is named', () => {
  const { alarms, onCreated } = createAlarms();
  const scan = {
    kind: 'operation',
    operation: 'sum',
    effects: [],
    reads: [toTableName('accounts')],
    others: [1],
  };
  for (let count = 0; count < 100; count += 1) onCreated?.(scan as unknown as RedOperation);
  expect(alarms[0]?.message).toContain('tables accounts.');
});

test('rows that are held → the alarm names both partitions and ten of the rows', () => {
  const { alarms, onRowsHeld } = createAlarms();
  const rows = Array.from({ length: 12 }, (_, at) => `accounts/us/${at}`);
  onRowsHeld?.({
    partition: 1,
    home: 0,
    rows,
    obstacle: 'waits for the site cork. Start it',
    awaitedSites: [],
  });
  expect(alarms).toMatchObject([{ kind: 'rows-held', site: 'ireland' }]);
  expect(alarms[0]?.message).toMatch(
    /rows of the partition us are held for more than 10 s \(accounts\/us\/0, .*accounts\/us\/9, 2 more\)/,
  );
  expect(alarms[0]?.message).toContain('The red log waits for the site cork. Start it.');
});

// @rule PART-A1
test('rows that are held while all leaders are connected → the alarm does not ask to start one', () => {
  const { alarms, onRowsHeld } = createAlarms();
  const held = { partition: 1, home: 0, rows: ['accounts/us/ann'], obstacle: undefined };
  onRowsHeld?.({ ...held, awaitedSites: ['ohio'] });
  onRowsHeld?.({ ...held, awaitedSites: [] });
  expect(alarms[0]?.message).toContain('depend on operations of ohio');
  expect(alarms[1]?.message).toContain('All leaders are connected to this site');
  expect(alarms[1]?.message).not.toContain('tart ');
});

// @rule PART-M17
test('a voter is retired, and fewer than three are left → reported once, until there are three again', () => {
  const alarms: SiteAlarm[] = [];
  const logs = [
    { name: 'us', voters: ['virginia', 'ohio', 'ireland'] },
    { name: 'asia', voters: ['tokyo', 'osaka', 'ireland', 'virginia'] },
    { name: 'eu' },
  ];
  const note = createVoterAlarm('ireland', logs, (alarm) => void alarms.push(alarm));
  const others = ['ireland', 'virginia', 'tokyo'];
  note([...others, 'osaka', 'ohio']);
  note([...others, 'ohio']);
  expect(alarms).toEqual([]);
  note(others);
  note(others);
  expect(alarms).toMatchObject([{ kind: 'few-voters', site: 'ireland' }]);
  expect(alarms[0]?.message).toMatch(
    /the partition us has 2 of its 3 voters left: virginia, ireland. ohio is no site any more.*Start ohio again.*--join/,
  );
  note([...others, 'ohio']);
  note(others);
  expect(alarms).toHaveLength(2);
});

test('two voters were named → no alarm as long as both are there', () => {
  const alarms: SiteAlarm[] = [];
  const logs = [{ name: 'us', voters: ['virginia', 'ohio'] }];
  const note = createVoterAlarm('ireland', logs, (alarm) => void alarms.push(alarm));
  note(['ireland', 'virginia', 'ohio']);
  expect(alarms).toEqual([]);
  note(['ireland', 'virginia']);
  expect(alarms).toHaveLength(1);
});
