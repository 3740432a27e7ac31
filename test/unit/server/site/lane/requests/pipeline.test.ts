/**
 * Red operations of one site that stand on each other: proposed one behind the other, executed on
 * what those before them will do, and right all the same when that comes out otherwise
 * (docs/spec/redblue.md, RB-R10 to RB-R13).
 */
// @rule RB-R12
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../../../src/contract/contract.ts';
import type {
  BlueOperation,
  RedOperation,
} from '../../../../../../src/server/service/records/records.ts';
import { defineService } from '../../../../../../src/server/service/service.ts';
import { blue, red } from '../../../../../../src/server/service/shadow-operation.ts';
import { cell, register, set, table } from '../../../../../../src/server/service/tables.ts';
import { Sites } from '../../sites.ts';
import type { Outcome } from '../../sites.ts';

const text = z.object({ key: z.string(), text: z.string() });
const key = z.object({ key: z.string() });

const contract = defineContract('pages', {
  append: { access: 'write', args: text, result: z.string() },
  put: { access: 'write', args: text, result: z.null() },
  note: { access: 'write', args: text, result: z.null() },
  tag: { access: 'write', args: text, result: z.null() },
  untag: { access: 'write', args: text, result: z.boolean() },
  hire: { access: 'write', args: key, result: z.null() },
  rest: { access: 'write', args: key, result: z.boolean() },
  look: { access: 'write', args: z.object({}), result: z.array(z.string()) },
  open: { access: 'write', args: text, result: z.null() },
  close: { access: 'write', args: key, result: z.null() },
  rooms: { access: 'write', args: z.object({}), result: z.array(z.string()) },
  read: { access: 'read', args: key, result: z.string() },
  tags: { access: 'read', args: key, result: z.array(z.string()) },
});

interface Named {
  readonly key: string;
}
interface Text extends Named {
  readonly text: string;
}

const service = defineService(contract, {
  tables: {
    pages: table({ text: register<string>(), tags: set<string>() }),
    rooms: table({ guest: cell<string>() }, { removable: true }),
    doctors: table({ duty: register<string>(), note: register<string>() }, { indexes: ['duty'] }),
  },
  shadowOperations: ({ pages, doctors, rooms }) => ({
    open: red((a: Text) => [rooms.row(a.key).guest.assign(a.text)]),
    close: red((a: Named) => [rooms.remove(a.key)]),
    write: red((a: Text) => [pages.row(a.key).text.write(a.text)]),
    put: blue((a: Text) => [pages.row(a.key).text.write(a.text)]),
    tag: red((a: Text) => [pages.row(a.key).tags.add(a.text)]),
    untag: red((a: Text) => [pages.row(a.key).tags.remove(a.text)]),
    note: red((a: Text) => [doctors.row(a.key).note.write(a.text)]),
    duty: red((a: Named & { duty: string }) => [doctors.row(a.key).duty.write(a.duty)]),
  }),
  generators: {
    append: (args, { tables, shadow }) => {
      const longer = (tables.pages.row(args.key).text ?? '') + args.text;
      return shadow.write({ key: args.key, text: longer }, longer);
    },
    put: (args, { shadow }) => shadow.put(args, null),
    tag: (args, { shadow }) => shadow.tag(args, null),
    untag: (args, { tables, shadow }) =>
      shadow.untag(args, tables.pages.row(args.key).tags.has(args.text)),
    note: (args, { shadow }) => shadow.note(args, null),
    hire: (args, { tables, shadow }) =>
      shadow.duty({ ...args, duty: tables.doctors.row(args.key).duty ?? 'on' }, null),
    // A doctor with a note stays on duty.
    rest: (args, { tables, shadow }) =>
      tables.doctors.row(args.key).note === undefined &&
      shadow.duty({ ...args, duty: 'off' }, true),
    look: (_, { tables }) => [...tables.doctors.by.duty({ equals: 'on' })],
    open: (args, { shadow }) => shadow.open(args, null),
    close: (args, { shadow }) => shadow.close(args, null),
    rooms: (_, { tables }) => [...tables.rooms.keys()],
    read: (args, { tables }) => tables.pages.row(args.key).text ?? '',
    tags: (args, { tables }) => [...tables.pages.row(args.key).tags],
  },
  alwaysRed: ['append'],
});

const [LEADER, SITE, OTHER] = [0, 1, 2];
const append = (letter: string, page = 'p') => ({
  name: 'append',
  args: { key: page, text: letter },
});
const read = { name: 'read', args: { key: 'p' } };

function start(value: ConstructorParameters<typeof Sites>[2] = {}): Sites {
  const sites = new Sites(service, 3, { maxAttempts: 2, ...value });
  sites.settle();
  return sites;
}

const proposalsOf = (sites: Sites, site: number): number =>
  sites.sent.filter(({ from, message }) => from === site && message.kind === 'log.propose').length;
const valuesOf = (outcomes: readonly Outcome[]): unknown[] =>
  outcomes.map(({ value, code }) => code ?? value);
const textsAt = (sites: Sites): unknown[] =>
  [LEADER, SITE, OTHER].map((site) => sites.read(site, read));

describe('a chain', () => {
  test('twenty writes of one row from one site → all proposed at once, each answered as behind the one before', () => {
    const sites = start();
    const letters = [...'abcdefghijklmnopqrst'];
    const outcomes = letters.map((letter) => sites.submit(SITE, append(letter)));
    expect(proposalsOf(sites, SITE)).toBe(20);
    sites.settle();
    expect(valuesOf(outcomes)).toEqual(
      letters.map((_, index) => letters.slice(0, index + 1).join('')),
    );
    expect(new Set(textsAt(sites))).toEqual(new Set([letters.join('')]));
  });

  test('of named writes → proposed at once when they have been handed over, and answered in their order', () => {
    const sites = start();
    const outcomes = [1, 2, 3].map((number) =>
      sites.ask(
        SITE,
        { name: 'untag', args: { key: 'p', text: 'x' } },
        { id: `c/${number}`, home: SITE },
      ),
    );
    expect(proposalsOf(sites, SITE)).toBe(0);
    sites.sync(SITE);
    expect(proposalsOf(sites, SITE)).toBe(3);
    sites.settle();
    expect(valuesOf(outcomes)).toEqual([false, false, false]);
  });

  test('operations on other rows → stand on nothing, and commit when others fall', () => {
    const sites = start({ maxAttempts: 1 });
    const before = sites.submit(LEADER, append('z'));
    const [first, apart, second] = [append('a'), append('m', 'q'), append('b')].map((item) =>
      sites.submit(SITE, item),
    );
    sites.settle();
    // Only the first one was executed as often as it may be.
    expect(valuesOf([before, first, apart, second] as Outcome[])).toEqual([
      'z',
      'CONFLICT',
      'm',
      'zb',
    ]);
  });
});

describe('a run depends on an earlier one that ends differently', () => {
  test('the first of them is rejected → those behind it are, and all run again in their order', () => {
    const sites = start();
    const before = sites.submit(LEADER, append('z'));
    const outcomes = [...'abc'].map((letter) => sites.submit(SITE, append(letter)));
    expect(proposalsOf(sites, SITE)).toBe(3);
    sites.settle();
    expect(valuesOf([before, ...outcomes])).toEqual(['z', 'za', 'zab', 'zabc']);
    expect(new Set(textsAt(sites))).toEqual(new Set(['zabc']));
  });

  test('another site commits the operation of that name → what stood on the own execution runs again', () => {
    const sites = start();
    const elsewhere = sites.ask(LEADER, append('p'), { id: 'c/1' });
    const [own, behind] = [
      sites.ask(SITE, append('q'), { id: 'c/1' }),
      sites.submit(SITE, append('r')),
    ];
    expect(proposalsOf(sites, SITE)).toBe(2);
    sites.settle();
    expect(valuesOf([elsewhere, own, behind])).toEqual(['p', 'p', 'pr']);
    expect(new Set(textsAt(sites))).toEqual(new Set(['pr']));
  });

  test('an index from which a rejected one would have taken a row → an operation that missed that row runs again', () => {
    const sites = start({ maxAttempts: 3 });
    for (const name of ['ann', 'bob']) sites.submit(LEADER, { name: 'hire', args: { key: name } });
    sites.settle();
    const note = sites.submit(LEADER, { name: 'note', args: { key: 'ann', text: 'stays' } });
    const remaining = sites.submit(SITE, { name: 'rest', args: { key: 'ann' } });
    const look = sites.submit(SITE, { name: 'look', args: {} });
    expect(proposalsOf(sites, SITE)).toBe(2);
    sites.settle();
    expect(valuesOf([note, remaining, look])).toEqual([null, false, ['ann', 'bob']]);
  });

  test('a row removed and created again by one on another → an operation that scanned in between runs again', () => {
    const sites = start({ maxAttempts: 3 });
    const room = { key: 'r', text: 'ann' };
    sites.submit(LEADER, { name: 'open', args: room });
    sites.settle();
    const close = sites.submit(SITE, { name: 'close', args: { key: 'r' } });
    const open = sites.submit(SITE, { name: 'open', args: room });
    expect(proposalsOf(sites, SITE)).toBe(2);
    // The removal alone comes through at first: the scan has seen it, and stands behind the other.
    const isSecond = ({ from, message }: Sites['sent'][number]): boolean =>
      from === SITE &&
      message.kind === 'log.propose' &&
      message.record.kind === 'operation' &&
      'dependencies' in message.record;
    sites.settle(isSecond);
    const scan = sites.submit(OTHER, { name: 'rooms', args: {} });
    const [retained] = sites.sent.filter(isSecond);
    expect(retained).toBeDefined();
    sites.deliver(isSecond);
    sites.settle();
    expect(valuesOf([close, open, scan])).toEqual([null, null, ['r']]);
  });

  test('abandoned before it was proposed → the operations behind it run again without it', () => {
    const sites = start({ windows: { maxProposed: 1 } });
    const first = sites.submit(SITE, append('a', 'q'));
    const second = sites.submit(SITE, append('b'));
    sites.abandon(SITE);
    const third = sites.submit(SITE, append('c'));
    sites.settle();
    expect(valuesOf([first, second, third])).toEqual(['a', 'ABORTED', 'c']);
  });

  test('given up and asked for again → no execution has the number of another one', () => {
    const executions: string[] = [];
    const onCreated = (made: BlueOperation | RedOperation): void => {
      if ('attempt' in made) executions.push(`${made.id}, attempt ${made.attempt}`);
    };
    const sites = start({ windows: { maxProposed: 1 }, observer: { onCreated } });
    sites.submit(SITE, append('a', 'q'));
    const requested = [1, 2, 3].map((times) => {
      const outcome = sites.ask(SITE, append('b'), { id: 'c/1' });
      if (times < 3) sites.abandon(SITE);
      return outcome;
    });
    sites.settle();
    // Whether an earlier start of the site had begun it is not known there yet.
    expect(valuesOf(requested)).toEqual(['UNKNOWN', 'UNKNOWN', 'b']);
    expect(executions).toHaveLength(4);
    expect(new Set(executions).size).toBe(4);
  });

  test('the site restarts with a chain in the log → it is decided by the log alone, the same everywhere', () => {
    const sites = start();
    sites.submit(LEADER, append('z', 'q'));
    for (const letter of 'abc') sites.submit(SITE, append(letter));
    sites.deliver(({ to }) => to === LEADER);
    sites.crash(SITE);
    sites.start(SITE);
    const later = sites.submit(SITE, append('d'));
    sites.settle();
    sites.pass(100);
    expect(valuesOf([later])).toEqual(['abcd']);
    expect(new Set(textsAt(sites))).toEqual(new Set(['abcd']));
  });
});

/** A blue write of the field, by a later time than that of what is proposed. */
function putMeanwhile(sites: Sites): void {
  sites.nowMs += 10;
  sites.submit(SITE, { name: 'put', args: { key: 'p', text: 'x' } });
  sites.sync(SITE);
}

describe('what lies under a run', () => {
  test('a blue write of the same field since → an operation that reads it waits, and finds the later one of both', () => {
    const sites = start();
    const [first, second] = [sites.submit(SITE, append('a')), sites.submit(SITE, append('b'))];
    putMeanwhile(sites);
    const third = sites.submit(SITE, append('c'));
    expect(proposalsOf(sites, SITE)).toBe(2);
    sites.settle();
    expect(valuesOf([first, second, third])).toEqual(['a', 'ab', 'xc']);
    expect(new Set(textsAt(sites))).toEqual(new Set(['xc']));
  });

  test('an addition to a set, and its removal on it → taken at every site', () => {
    const sites = start();
    const tag = { key: 'p', text: 'x' };
    sites.submit(SITE, { name: 'tag', args: tag });
    const untag = sites.submit(SITE, { name: 'untag', args: tag });
    expect(proposalsOf(sites, SITE)).toBe(2);
    sites.settle();
    expect(untag.value).toBe(true);
    for (const site of [LEADER, SITE, OTHER])
      expect(sites.read(site, { name: 'tags', args: { key: 'p' } })).toEqual([]);
  });
});

test('a chain that has fallen → the next one is half as high, and grows with what commits', () => {
  const sites = start({ maxAttempts: 5, maxPipelineLength: 4 });
  sites.submit(LEADER, append('z'));
  const outcomes = [...'abcdef'].map((letter) => sites.submit(SITE, append(letter)));
  expect(proposalsOf(sites, SITE)).toBe(5);
  const again = (): number => {
    for (let round = 0; round < 4; round += 1) {
      for (const site of [LEADER, SITE, OTHER]) sites.sync(site);
      sites.deliver(
        ({ from, message }) => from !== SITE || message.kind !== 'log.propose' || round === 0,
      );
    }
    return proposalsOf(sites, SITE);
  };
  expect(again()).toBe(3);
  sites.settle();
  expect(valuesOf(outcomes)).toEqual(['za', 'zab', 'zabc', 'zabcd', 'zabcde', 'zabcdef']);
  for (const letter of 'ghijkl') sites.submit(SITE, append(letter));
  expect(proposalsOf(sites, SITE)).toBe(5);
  sites.settle();
});

/**
 * OTHER submits, and operations of SITE come first. All is delivered, except what OTHER proposes
 * again after a rejection.
 */
function keepOut(
  sites: Sites,
  requested: Parameters<Sites['submit']>[1],
  first: readonly Parameters<Sites['submit']>[1][],
): { readonly other: Outcome; readonly outcomes: Outcome[] } {
  const other = sites.submit(OTHER, requested);
  const outcomes = first.map((item) => sites.submit(SITE, item));
  sites.deliver(({ from }) => from === SITE);
  for (let round = 0; round < 3; round += 1) {
    for (const site of [LEADER, SITE, OTHER]) sites.sync(site);
    sites.deliver(
      ({ from, message }) => !(from === OTHER && message.kind === 'log.propose' && round > 0),
    );
  }
  expect(other).toEqual({});
  return { other, outcomes };
}

test('another site waits for its turn on the row → no chain there until it has had it, and one again after', () => {
  const sites = start({ maxAttempts: 5 });
  const { other, outcomes } = keepOut(sites, append('z'), [append('a'), append('b')]);
  expect(valuesOf(outcomes)).toEqual(['a', 'ab']);
  const later = [...'cd'].map((letter) => sites.submit(SITE, append(letter)));
  expect(proposalsOf(sites, SITE)).toBe(1);
  sites.settle();
  expect(valuesOf([...later, other]).every((value) => typeof value === 'string')).toBe(true);
  expect(new Set(textsAt(sites)).size).toBe(1);
  expect(String(textsAt(sites)[0])).toHaveLength(5);
  for (const letter of 'efg') sites.submit(SITE, append(letter));
  expect(proposalsOf(sites, SITE)).toBe(3);
});

test('another site waits for its turn to scan → no chain in that table until it has had it, and one again after', () => {
  const sites = start({ maxAttempts: 5 });
  const hire = (key: string) => ({ name: 'hire', args: { key } });
  keepOut(sites, { name: 'look', args: {} }, [hire('ann')]);
  for (let count = 0; count < 3; count += 1) sites.submit(SITE, hire('bob'));
  expect(proposalsOf(sites, SITE)).toBe(1);
  sites.settle();
  for (let count = 0; count < 3; count += 1) sites.submit(SITE, hire('bob'));
  expect(proposalsOf(sites, SITE)).toBe(3);
});
