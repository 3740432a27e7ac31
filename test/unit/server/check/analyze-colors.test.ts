/**
 * Labeling finds and reports the operations that must be red, and no others (docs/spec/redblue.md,
 * RB-K1–K8).
 */
// @rule RB-K4, RB-K5, RB-K8
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { ColorAnalysis, analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { hasViolations, type ColorReport } from '../../../../src/server/check/color-report.ts';
import { uncertified } from '../../../../src/server/service/records/reply.ts';
import { defineService, withColors, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, register, set, table } from '../../../../src/server/service/tables.ts';
import { slowCases } from '../../../support/lane.ts';
import { bankService } from './bank.ts';

const RUNS = 400;

const verdictsIn = ({ shadows }: ColorReport): Record<string, string> =>
  Object.fromEntries(shadows.map(({ name, verdict }) => [name, verdict]));

const formatCounterexample = (
  { shadows }: ColorReport,
  name: string,
): readonly string[] | undefined =>
  shadows.find((item) => item.name === name)?.counterexample?.explanation;

describe('conditions that return a promise', () => {
  const promising = (async () => true) as unknown as () => boolean;
  const service = bankService();

  test('of a row → the operation that changes the row is unsafe, and the counterexample has the reason', () => {
    const report = analyzeColors(
      { ...service, invariants: { accounts: { promising } } },
      { runs: 20 },
    );
    expect(verdictsIn(report)).toMatchObject({ deposit: 'unsafe' });
    expect(formatCounterexample(report, 'deposit')?.at(-1)).toMatch(
      /breaks 'promising': it returned a promise: /,
    );
  });

  test('of all tables → nothing can be tried, and each verdict has the reason', () => {
    const report = analyzeColors({ ...service, snapshotInvariants: { promising } }, { runs: 20 });
    expect(verdictsIn(report)).toEqual({ deposit: 'undecided', withdraw: 'undecided' });
    expect(report.shadows[0]?.reason).toMatch(/'promising' does not hold: it returned a promise: /);
  });
});

describe('colors', () => {
  test('reports as unsafe what breaks an invariant at two sites, with a counterexample', () => {
    const report = analyzeColors(bankService(), { runs: RUNS });
    expect(verdictsIn(report)).toEqual({ deposit: 'blue', withdraw: 'red' });
    expect(hasViolations(report)).toBe(false);
    expect(formatCounterexample(report, 'withdraw')).toEqual([
      "At first: deposit { account: 'a', cents: 1 }.",
      "Ireland: withdraw { account: 'a', cents: 1 }.",
      "Virginia, which has not seen it: withdraw { account: 'a', cents: 1 }.",
      "Then accounts 'a' breaks 'notOverdrawn': balance is -1, limit is 0.",
    ]);
  });

  test('rejects it if it is declared blue, and counts the tries of blue operations', () => {
    const report = analyzeColors(bankService({ withdraw: 'blue' }), { runs: RUNS });
    expect(verdictsIn(report)).toEqual({ deposit: 'blue', withdraw: 'unsafe' });
    expect(hasViolations(report)).toBe(true);
    expect(report.shadows[0]?.reason).toMatch(
      /^no counterexample in \d+ tries beside deposit \(\d+\), withdraw \(\d+\)$/,
    );
  });

  test('a report is a function of the service, the seed and the number of runs', () => {
    const twice = [1, 2].map(() => analyzeColors(bankService(), { runs: 100, seed: 7 }));
    expect(twice[0]).toEqual(twice[1]);
  });

  test('a run with the reported seed finds the counterexample again', () => {
    const report = analyzeColors(bankService({ withdraw: 'blue' }), { runs: RUNS });
    const seed = report.shadows.find(({ name }) => name === 'withdraw')?.counterexample?.seed ?? 0;
    const found = analyzeColors(bankService({ withdraw: 'blue' }), { runs: 1, seed });
    expect(found.shadows.find(({ name }) => name === 'withdraw')?.verdict).toBe('unsafe');
  });
});

const note = z.object({ key: z.string(), text: z.string() });
const names = z.object({ key: z.string() });
const noted = { access: 'write', args: names, result: z.null() } as const;

const element = defineContract('one', { go: { access: 'write', args: names, result: z.null() } });

interface Named {
  readonly key: string;
}

/**
 * A service of one update, `go`, that pushes to a queue, or adds to a counter; and a shadow
 * operation that is never chosen.
 */
function oneUpdate(does: 'push' | 'addOne' | 'addTwo', color: 'blue' | 'red'): Service {
  const service = defineService(element, {
    tables: { rows: table({ items: queue<string>(), sum: counter() }) },
    shadowOperations: ({ rows }) => ({
      push: red(({ key }: Named) => [rows.row(key).items.push(key)]),
      add: blue(({ key, sum }: Named & { readonly sum: number }) => [rows.row(key).sum.add(sum)]),
      never: blue(({ key }: Named) => [rows.insert(key)]),
    }),
    generators: {
      go: ({ key }, { shadow }) => {
        return does === 'push'
          ? shadow.push({ key }, null)
          : shadow.add({ key, sum: does === 'addOne' ? 1 : 2 }, null);
      },
    },
    invariants: { rows: { 'is not five': (row) => row.sum !== 5 } },
  });
  return withColors(service as unknown as Service, { [does === 'push' ? 'push' : 'add']: color });
}

const createVerdict = ({ shadows }: ColorReport, name: string): object | undefined =>
  shadows.find((item) => item.name === name);

describe('rules', () => {
  test('a shadow operation that changes a field of the red order is red without a search', () => {
    const [declared, wrong] = (['red', 'blue'] as const).map((color) =>
      analyzeColors(oneUpdate('push', color), { runs: 20 }),
    );
    const reason = 'changes rows.items, which goes by the red order alone';
    const push = { name: 'push', operation: 'go', reason };
    expect(declared?.shadows[0]).toEqual({ ...push, declaredColor: 'red', verdict: 'red' });
    expect(wrong?.shadows[0]).toEqual({ ...push, declaredColor: 'blue', verdict: 'unsafe' });
  });

  test('a shadow operation that no run has chosen is undecided, never blue', () => {
    const report = analyzeColors(oneUpdate('push', 'red'), { runs: 20 });
    const reason = 'no run has chosen it';
    const undecided = {
      name: 'never',
      operation: null,
      declaredColor: 'blue',
      verdict: 'undecided',
      reason,
    };
    expect(createVerdict(report, 'never')).toEqual(undecided);
  });

  test('counts each partner operation once a try', () => {
    const reason = /^no counterexample in (\d+) tries beside add \((\d+)\)/;
    const report = analyzeColors(oneUpdate('addTwo', 'blue'), { runs: 40 });
    const [, tries, beside] =
      reason.exec(report.shadows.find(({ name }) => name === 'add')?.reason ?? '') ?? [];
    expect(Number(tries)).toBeGreaterThan(10);
    expect(beside).toBe(tries);
  });

  test('a shadow operation that breaks an invariant by itself is unsafe, whatever its color', () => {
    const report = analyzeColors(oneUpdate('addOne', 'red'), { runs: 200 });
    const reason = 'makes a valid state invalid by itself, at one site';
    expect(createVerdict(report, 'add')).toMatchObject({
      declaredColor: 'red',
      verdict: 'unsafe',
      reason,
    });
    expect(formatCounterexample(report, 'add')?.slice(-2)).toEqual([
      "Ireland, where all of this is known: go { key: 'a' }.",
      "Then rows 'a' breaks 'is not five': items is [], sum is 5.",
    ]);
  });

  test('the shadow operation of an always-red operation is red', () => {
    const service = bankService({ withdraw: 'blue' });
    const report = analyzeColors({ ...service, alwaysRed: new Set(['withdraw']) }, { runs: RUNS });
    expect(report.shadows[1]).toMatchObject({
      name: 'withdraw',
      declaredColor: 'red',
      verdict: 'red',
    });
  });
});

test('a removed row → its invariants are checked no more', () => {
  const contract = defineContract('titles', {
    write: { access: 'write', args: note, result: z.null() },
    remove: { access: 'write', args: names, result: z.null() },
  });
  const titles = defineService(contract, {
    tables: { notes: table({ text: register<string>() }, { removable: true }) },
    shadowOperations: ({ notes }) => ({
      write: blue(({ key, text }: { key: string; text: string }) => [
        notes.row(key).text.write(text),
      ]),
      remove: blue(({ key }: Named) => [notes.remove(key)]),
    }),
    generators: {
      write: (args, { shadow }) => shadow.write(args, null),
      remove: (args, { shadow }) => shadow.remove(args, null),
    },
    invariants: { notes: { 'has a text': ({ text }) => text !== undefined } },
  }) as unknown as Service;
  expect(verdictsIn(analyzeColors(titles, { runs: 200 }))).toEqual({
    write: 'blue',
    remove: 'blue',
  });
});

describe('faults in the bank', () => {
  const sign = { deposited: (cents: number): number => -cents };
  const bound = { isPaid: (balance: number, cents: number): boolean => balance >= cents - 1 };
  const field = { takenFrom: 'limit' as const };

  test.each([
    ['the sign of an effect', sign, 'deposit'],
    ['the bound of a generator', bound, 'withdraw'],
    ['the field of an effect', field, 'withdraw'],
  ])('%s: found', (_name, faults, name) => {
    const report = analyzeColors(bankService(faults), { runs: RUNS });
    expect(verdictsIn(report)[name]).toBe('unsafe');
  });
});

describe('generators', () => {
  const createFindings = ({ generators }: ColorReport): readonly string[] =>
    generators
      .filter(({ isFault }) => isFault)
      .map(({ operation, problem }) => `${operation}: ${problem}`);

  test('a generator that keeps state is reported', () => {
    let times = 0;
    const isPaid = (): boolean => (times += 1) % 3 === 0;
    const report = analyzeColors(bankService({ isPaid }), { runs: 100 });
    expect(createFindings(report)).toEqual([
      'withdraw: run twice on the same, it does not do the same',
    ]);
    expect(hasViolations(report)).toBe(true);
  });

  test('reports a read whose generator chooses a shadow operation: no site applies it', () => {
    const service = bankService();
    type Builders = Readonly<Record<string, (args: object, reply: unknown) => unknown>>;
    const balance = (args: object, { shadow }: { readonly shadow: Builders }): unknown =>
      shadow['deposit']?.({ ...args, cents: 1 }, 1);
    const generators = {
      ...service.generators,
      balance: balance as unknown as Service['generators'][string],
    };
    const report = analyzeColors({ ...service, generators }, { runs: 100 });
    expect(createFindings(report)).toEqual([
      'balance: a read, it has chosen a shadow operation, which no site applies',
    ]);
    expect(report.shadows.map(({ name, operation }) => [name, operation])).toEqual([
      ['deposit', 'deposit'],
      ['withdraw', 'withdraw'],
    ]);
  });

  test('reports a generator that changes its arguments', () => {
    const beside = (booking: { cents: number }): void => {
      booking.cents += 1;
    };
    expect(createFindings(analyzeColors(bankService({ beside }), { runs: 100 }))).toContain(
      'withdraw: it changes its arguments',
    );
  });

  const throwing = (): void => {
    throw new Error('no such bank');
  };
  const thrown = { operation: 'withdraw', isFault: false, problem: 'it threw Error: no such bank' };

  test('reports a generator that throws now and then, but not as a fault', () => {
    const beside = ({ cents }: { cents: number }): void => {
      if (cents % 2 === 0) throwing();
    };
    const report = analyzeColors(bankService({ beside }), { runs: 100 });
    expect(report.generators).toContainEqual(expect.objectContaining(thrown));
    expect(hasViolations(report)).toBe(false);
  });

  test('a generator that always fails is a fault, and what it never chose is undecided', () => {
    const report = analyzeColors(bankService({ beside: throwing }), { runs: 100 });
    expect(report.generators[0]).toMatchObject({
      operation: 'withdraw',
      isFault: true,
      problem: expect.stringMatching(/^it failed in each run: declare .* or say by arbitraries/),
    });
    expect(report.generators).toContainEqual(expect.objectContaining(thrown));
    expect(verdictsIn(report)).toEqual({ deposit: 'blue', withdraw: 'undecided' });
    expect(hasViolations(report)).toBe(true);
  });
});

/** What a red operation at one site does beside a blue one at the other. */
const seats = defineContract('seats', {
  open: { access: 'write', args: note, result: z.null() },
  close: { access: 'write', args: names, result: z.null() },
  take: { access: 'write', args: names, result: z.boolean() },
});

describe('pairs', () => {
  const service = defineService(seats, {
    tables: {
      halls: table({ title: register<string>(), isClosed: register<boolean>(), taken: counter() }),
    },
    shadowOperations: ({ halls }) => ({
      open: blue(({ key, text }: { key: string; text: string }) => [
        halls.row(key).title.write(text),
      ]),
      close: red(({ key }: { key: string }) => [halls.row(key).isClosed.write(true)]),
      take: blue(({ key }: { key: string }) => [halls.row(key).taken.add(1)]),
    }),
    generators: {
      open: (args, { shadow }) => shadow.open(args, null),
      close: ({ key }, { tables, shadow }) => {
        if (!tables.halls.has(key) || tables.halls.row(key).taken > 0) return null;
        return shadow.close({ key }, null);
      },
      take: ({ key }, { tables, shadow }) => {
        const hall = tables.halls.row(key);
        if (hall.title === undefined || hall.isClosed === true) return uncertified(false);
        return shadow.take({ key }, true);
      },
    },
    invariants: {
      halls: { 'closed halls are empty': (row) => row.isClosed !== true || row.taken === 0 },
    },
  }) as unknown as Service;

  test('of two operations that break an invariant together, both must be red, whatever they are declared', () => {
    expect(verdictsIn(analyzeColors(service, { runs: 1000 }))).toEqual({
      open: 'blue',
      close: 'red',
      take: 'unsafe',
    });
  });
});

describe('operations that are not tried', () => {
  test('reports an operation that has chosen nothing, even if another chooses the same shadow operation', () => {
    const service = bankService();
    const wanting = { ...service.generators, withdraw: () => uncertified(false) };
    const { generators } = analyzeColors({ ...service, generators: wanting }, { runs: 30 });
    expect(generators).toEqual([
      {
        operation: 'withdraw',
        isFault: false,
        problem: 'it has chosen no shadow operation',
        times: expect.any(Number),
      },
    ]);
    expect(generators[0]?.times).toBeGreaterThan(0);
  });

  test('tries operations that are only possible after weeks', () => {
    const later = defineService(defineContract('later', { start: noted, end: noted }), {
      tables: { rows: table({ at: register<number>(), ends: counter() }) },
      shadowOperations: ({ rows }) => ({
        start: blue(({ key, at }: Named & { readonly at: number }) => [rows.row(key).at.write(at)]),
        end: blue(({ key }: Named) => [rows.row(key).ends.add(1)]),
      }),
      generators: {
        start: ({ key }, { shadow, now }) => shadow.start({ key, at: now }, null),
        end: ({ key }, { tables, shadow, now }) => {
          const { at, ends } = tables.rows.row(key);
          return at === undefined || now - at < 30 * 86_400_000 || ends > 0
            ? null
            : shadow.end({ key }, null);
        },
      },
      invariants: { rows: { 'ends once': ({ ends }) => ends <= 1 } },
    }) as unknown as Service;
    expect(verdictsIn(analyzeColors(later, { runs: 200 }))).toEqual({
      start: 'blue',
      end: 'unsafe',
    });
  });
});

describe('what has room for some', () => {
  const hall = defineContract('hall', { enter: { access: 'write', args: note, result: z.null() } });
  const hallFor = (room: number, asks: 'guests' | 'count'): Service => {
    const sizeOf = (row: {
      readonly guests: ReadonlySet<string>;
      readonly count: number;
    }): number => (asks === 'count' ? row.count : row.guests.size);
    return defineService(hall, {
      tables: { halls: table({ guests: set<string>(), count: counter() }) },
      shadowOperations: ({ halls }) => ({
        enter: blue(({ key, text }: { key: string; text: string }) => [
          halls.row(key).guests.add(text),
          halls.row(key).count.add(1),
        ]),
      }),
      generators: {
        enter: (args, { tables, shadow }) =>
          sizeOf(tables.halls.row(args.key)) < room ? shadow.enter(args, null) : null,
      },
      invariants: { halls: { 'fits in': (row) => sizeOf(row) <= room } },
    }) as unknown as Service;
  };

  test.each([
    ...slowCases(['guests of eight names', 'guests', 8] as const),
    ['sixteen', 'count', 16] as const,
  ])('%s: becomes full', (_name, asks, room) => {
    expect(verdictsIn(analyzeColors(hallFor(room, asks), { runs: 2000 }))).toEqual({
      enter: 'unsafe',
    });
  });
});

describe('options', () => {
  test.each([
    ['runs', { runs: 0 }],
    ['seed', { seed: -1 }],
    ['arbitraries.buy', { arbitraries: { buy: () => ({}) } }],
    ['arbitraries.deposit', { arbitraries: { deposit: 1 as never } }],
    ['run', { run: 1 } as object],
  ])('%s is named where it does not fit', (field, options) => {
    expect(() => analyzeColors(bankService(), options)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', field }),
    );
  });

  test('draws arguments from the arbitraries of the options', () => {
    const arbitraries = {
      deposit: () => ({ account: 'joint', cents: 7 }),
      withdraw: ({ between }: { between(min: number, max: number): number }) => ({
        account: 'joint',
        cents: between(7, 8),
      }),
    };
    const report = analyzeColors(bankService(), { runs: 100, arbitraries });
    expect(formatCounterexample(report, 'withdraw')?.[1]).toMatch(
      /^Ireland: withdraw \{ account: 'a'/,
    );
  });

  test('names an arbitrary that throws', () => {
    const arbitraries = {
      deposit: () => {
        throw new Error('none');
      },
    };
    expect(() => analyzeColors(bankService(), { runs: 9, arbitraries })).toThrow(
      /arbitraries\.deposit threw/,
    );
  });

  test('reports an operation as untried if its arguments are never accepted', () => {
    const arbitraries = { withdraw: () => ({ account: '', cents: 0 }) };
    const report = analyzeColors(bankService(), { runs: 40, arbitraries });
    expect(report.generators).toContainEqual(
      expect.objectContaining({
        operation: 'withdraw',
        problem: expect.stringMatching(
          /^its contract refuses all that arbitraries\.withdraw draws: .*args\.account/,
        ) as string,
      }),
    );
    expect(verdictsIn(report)).toMatchObject({ withdraw: 'undecided' });
  });

  test('ends when shouldContinue returns false, and reports the number of runs', () => {
    expect(
      analyzeColors(bankService(), { runs: 100, shouldContinue: (made) => made < 5 }).runs,
    ).toBe(5);
    const labeling = new ColorAnalysis(bankService(), {
      runs: 100,
      shouldContinue: (made) => made < 5,
    });
    labeling.continueRuns();
    expect([labeling.isDone, labeling.report.runs]).toEqual([true, 5]);
  });
});

describe('an invariant of all tables that does not hold of empty ones', () => {
  const staff = defineContract('staff', {
    hire: { access: 'write', args: names, result: z.null() },
    leave: { access: 'write', args: names, result: z.null() },
    greet: { access: 'write', args: names, result: z.null() },
  });
  const staffService = (mayHire: boolean): Service =>
    defineService(staff, {
      tables: { people: table({ onDuty: register<boolean>(), greeted: counter() }) },
      shadowOperations: ({ people }) => ({
        hire: blue(({ key }: Named) => [people.row(key).onDuty.write(true)]),
        leave: blue(({ key }: Named) => [people.row(key).onDuty.write(false)]),
        greet: blue(({ key }: Named) => [people.row(key).greeted.add(1)]),
      }),
      generators: {
        hire: (args, { shadow }) => (mayHire ? shadow.hire(args, null) : null),
        leave: (args, { tables, shadow }) => {
          const onDuty = tables.people
            .keys()
            .filter((key) => tables.people.row(key).onDuty === true);
          return onDuty.length > 1 && onDuty.includes(args.key) ? shadow.leave(args, null) : null;
        },
        greet: (args, { shadow }) => shadow.greet(args, null),
      },
      snapshotInvariants: {
        'a doctor is on duty': ({ people }) =>
          people.keys().some((key) => people.row(key).onDuty === true),
      },
    }) as unknown as Service;

  test('blames no operation from before it held; finds the operation that breaks it later', () => {
    const report = analyzeColors(staffService(true), { runs: 900 });
    expect(verdictsIn(report)).toEqual({ hire: 'blue', leave: 'unsafe', greet: 'blue' });
    expect(report.shadows[1]?.reason).toBe('breaks an invariant beside what another site does');
  });

  test('leaves untried what no run has chosen in a valid state, and reports that', () => {
    const report = analyzeColors(staffService(false), { runs: 90 });
    expect(verdictsIn(report)).toEqual({
      hire: 'undecided',
      leave: 'undecided',
      greet: 'undecided',
    });
    expect(report.shadows[2]?.reason).toBe(
      "no run has chosen it in a valid state: of empty tables 'a doctor is on duty' does not hold",
    );
  });
});
