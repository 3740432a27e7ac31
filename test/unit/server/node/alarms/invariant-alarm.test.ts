/**
 * Conditions on all tables, at a site: when they are checked, what is reported, and how much time
 * they may take.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import { defineContract } from '../../../../../src/contract/contract.ts';
import type { SiteAlarm } from '../../../../../src/server/node/alarms/site-alarm.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import type { Effect } from '../../../../../src/server/service/records/effect.ts';
import { SiteState } from '../../../../../src/server/site/core/site-state.ts';
import type { TablesReader } from '../../../../../src/server/service/readers.ts';
import { defineService } from '../../../../../src/server/service/service.ts';
import type { Service } from '../../../../../src/server/service/service.ts';
import { blue } from '../../../../../src/server/service/shadow-operation.ts';
import { createEffectTables } from '../../../../../src/server/service/effect-builders.ts';
import { register, table } from '../../../../../src/server/service/tables.ts';
import { createInvariantObserver } from '../../../../../src/server/node/alarms/invariant-alarm.ts';
import { Origins } from '../../../../../src/server/service/records/origin.ts';
import { siteAt } from '../../../../support/origins.ts';

const tables = {
  people: table({ name: register<string>() }, { indexes: ['name'] }),
  notes: table({ text: register<string>() }),
};
const { people, notes } = createEffectTables(tables);

const contract = defineContract('people', {
  rename: {
    access: 'write',
    args: z.object({ id: z.string(), name: z.string() }),
    result: z.null(),
  },
});

type Reader = TablesReader<typeof tables>;

/** Whether no two have one name. */
function areUnique({ people: all }: Reader): boolean {
  const names = all.keys().map((id) => all.row(id).name);
  return new Set(names).size === names.length;
}

const serviceWith = (
  snapshotInvariants: Readonly<Record<string, (reader: Reader) => boolean>>,
): Service =>
  defineService(contract, {
    tables,
    shadowOperations: (effects) => ({
      rename: blue((a: { id: string; name: string }) => [
        effects.people.row(a.id).name.write(a.name),
      ]),
    }),
    generators: { rename: (args, { shadow }) => shadow.rename(args, null) },
    snapshotInvariants,
  }) as unknown as Service;

/** A site's observer, its alarms, and a way to apply effects. */
function observed(service: Service, elapsedMs = (): number => 0) {
  const alarms: SiteAlarm[] = [];
  const observer = createInvariantObserver(
    service,
    'ireland',
    (alarm) => alarms.push(alarm),
    elapsedMs,
  );
  const state = new SiteState(service, Origins.create(['ireland']), {
    identifierPrefix: 'ireland',
  });
  let version = 0;
  const apply = (...effects: readonly Effect[]): void => {
    version += 1;
    const stamp = { time: version, site: siteAt(0), entry: siteAt(0), version, seen: [0, version] };
    for (const effect of effects) state.store.apply(effect, stamp);
    observer.onApplied({ id: `ireland/${version}`, shadow: 'rename', effects }, state);
  };
  return { alarms, apply };
}

describe('invariants of the snapshot', () => {
  test('broken by two rows together → one alarm that names it and the operation', async () => {
    const alarms: SiteAlarm[] = [];
    const service = serviceWith({ 'names are unique': areUnique });
    const deployment = createEmbedded(service, {
      sites: ['ireland'],
      onAlarm: (alarm) => alarms.push(alarm),
    });
    const client = createClient(deployment.site('ireland'));
    for (const id of ['a', 'b', 'c']) await client.invoke(contract.rename({ id, name: 'ann' }));
    await deployment.close();
    expect(alarms).toEqual([
      expect.objectContaining({ kind: 'invariant-broken', site: 'ireland' }),
    ]);
    expect(alarms[0]?.message).toMatch(/"names are unique" .*after rename \(/);
  });

  test('in production → not asked', async () => {
    let count = 0;
    const service = serviceWith({ counted: () => (count += 1) > 0 });
    const deployment = createEmbedded(service, { sites: ['ireland'], checkInvariants: false });
    await createClient(deployment.site('ireland')).invoke(
      contract.rename({ id: 'a', name: 'ann' }),
    );
    await deployment.close();
    expect(count).toBe(0);
  });

  test('asked at first, and again only when a table has changed that it read', () => {
    const requested: string[] = [];
    const noting = (name: string, holds: (reader: Reader) => boolean) => (reader: Reader) => {
      requested.push(name);
      return holds(reader);
    };
    const { apply, alarms } = observed(
      serviceWith({
        ofPeople: noting('people', areUnique),
        ofKeys: noting('keys', ({ notes: all }) => all.keys({ limit: 1 }).length < 2),
        ofOne: noting('one', ({ people: all }) => all.row('x').name === undefined),
        ofHaving: noting('having', ({ notes: all }) => !all.has('x')),
        ofNames: noting('names', ({ people: all }) => all.by.name({ equals: 'x' }).length === 0),
        ofNothing: noting('nothing', () => true),
      }),
    );
    const findBySubmission = (...effects: readonly Effect[]): readonly string[] => {
      requested.length = 0;
      apply(...effects);
      return [...requested];
    };
    expect(findBySubmission()).toEqual(['people', 'keys', 'one', 'having', 'names', 'nothing']);
    expect(findBySubmission()).toEqual([]);
    expect(findBySubmission(notes.row('a').text.write('hello'))).toEqual(['keys', 'having']);
    expect(findBySubmission(people.row('a').name.write('ann'))).toEqual(['people', 'one', 'names']);
    expect(findBySubmission(people.row('b').name.write('ann'), notes.insert('b'))).toHaveLength(5);
    expect(alarms).toEqual([
      expect.objectContaining({ message: expect.stringContaining('"ofPeople"') }),
    ]);
  });

  test('a condition that reads otherwise by what it finds → retried by what it read last', () => {
    let count = 0;
    const { apply } = observed(
      serviceWith({
        either: ({ people: all, notes: others }) => {
          count += 1;
          return all.has('a') ? others.keys().length < 9 : true;
        },
      }),
    );
    apply(notes.row('n').text.write('x'));
    apply(notes.row('n').text.write('y'));
    expect(count).toBe(1);
    apply(people.row('a').name.write('ann'));
    apply(notes.row('n').text.write('z'));
    expect(count).toBe(3);
  });

  test('a condition that throws → the alarm has the error', () => {
    const { apply, alarms } = observed(
      serviceWith({
        throwing: () => {
          throw new Error('no pager');
        },
      }),
    );
    apply(people.row('a').name.write('ann'));
    expect(alarms[0]?.message).toMatch(/"throwing" .*the condition threw: .*no pager/);
  });

  test.each([
    ['kept', async () => true],
    ['rejected', async () => Promise.reject(new Error('no pager'))],
  ])(
    'conditions that give a promise, which is %s → one alarm each, whatever the row',
    async (_how, promising) => {
      const holds = promising as unknown as () => boolean;
      const { apply, alarms } = observed({
        ...serviceWith({ ofAll: holds }),
        invariants: { people: { ofRow: holds } },
      });
      for (const id of ['a', 'b']) apply(people.row(id).name.write('ann'));
      // A rejection without a handler would have ended the process by now.
      await new Promise((resolve) => setImmediate(resolve));
      expect(alarms.map(({ message }) => message)).toEqual([
        expect.stringMatching(/"ofRow" \(the condition returned a promise: .*synchronously/),
        expect.stringMatching(/"ofAll" .*\(the condition returned a promise: /),
      ]);
    },
  );

  test('it takes more than its time → passed over until that has come back, then all that changed meanwhile counts', () => {
    let nowMs = 0;
    let count = 0;
    const slow = (reader: Reader): boolean => {
      count += 1;
      nowMs += 300;
      return areUnique(reader);
    };
    const { apply, alarms } = observed(serviceWith({ slow }), () => nowMs);
    apply(people.row('a').name.write('ann'));
    expect(count).toBe(1);
    // 300 ms were taken, and 100 saved up: 200 are owed, and 20 ms pass for each that comes back.
    nowMs += 3900;
    apply(people.row('b').name.write('ann'));
    expect(count).toBe(1);
    nowMs += 200;
    apply(notes.row('n').text.write('x'));
    expect(count).toBe(2);
    expect(alarms).toEqual([
      expect.objectContaining({ message: expect.stringContaining('"slow"') }),
    ]);
  });

  test.each([
    ['of no table', { invariants: { dogs: {} } }, 'invariants.dogs'],
    [
      'a row condition that is none',
      { invariants: { people: { 'has a name': true } } },
      'invariants.people.has a name',
    ],
    ['a list', { snapshotInvariants: [() => true] }, 'snapshotInvariants'],
    [
      'a condition that is none',
      { snapshotInvariants: { unique: 'names' } },
      'snapshotInvariants.unique',
    ],
  ])('declared: %s → INVALID_ARGUMENT naming it', (_what, value, field) => {
    const parts = {
      tables,
      shadowOperations: () => ({}),
      generators: { rename: () => null },
      ...value,
    };
    expect(() => defineService(contract, parts as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    );
  });
});
