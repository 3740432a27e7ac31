/** Verdicts out of what runs have shown. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/protocol/contract/contract.ts';
import { judgedService } from '../../../../src/server/label/judged-service.ts';
import { Tally } from '../../../../src/server/label/tally.ts';
import { failingIn, notesOf, tableOf, verdictsOf } from '../../../../src/server/label/report.ts';
import { defineService, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, table } from '../../../../src/server/service/tables.ts';
import { bankService } from './bank.ts';

const judged = judgedService(bankService());

test('what was chosen but never held against another is undecided', () => {
  const tally = new Tally();
  tally.trialOf('deposit', 'deposit');
  expect(verdictsOf(judged, tally)).toEqual([
    {
      name: 'deposit',
      operation: 'deposit',
      declared: 'blue',
      verdict: 'undecided',
      reason: 'no run has tried it beside another',
    },
    { name: 'withdraw', operation: null, declared: 'red', verdict: 'undecided', reason: 'no run has chosen it' },
  ]);
});

test('a shadow operation that two operations choose has a verdict for each', () => {
  const tally = new Tally();
  tally.trialOf('deposit', 'withdraw').tried = 1;
  tally.trialOf('deposit', 'deposit').redByItself = 'goes by the red order';
  const verdicts = verdictsOf(judged, tally).map(({ operation, verdict }) => [operation, verdict]);
  expect(verdicts).toEqual([
    ['deposit', 'unsafe'],
    ['withdraw', 'blue'],
    [null, 'undecided'],
  ]);
});

test('faults of generators come first, each once with its number', () => {
  const tally = new Tally();
  for (const problem of ['b', 'a', 'b']) tally.noteGenerator('deposit', { trouble: problem });
  tally.noteGenerator('withdraw', { fault: 'it changes its arguments' });
  expect(notesOf(tally.generators).map(({ problem, times, isFault }) => [problem, times, isFault])).toEqual([
    ['it changes its arguments', 1, true],
    ['b', 2, false],
    ['a', 1, false],
  ]);
});

describe('generators that fail', () => {
  const tallied = (runs: number, failures: number): Tally => {
    const tally = new Tally();
    for (let run = 0; run < runs; run += 1) tally.noteRun('withdraw', run < failures);
    return tally;
  };
  const faultsOf = (tally: Tally): string[] => failingIn(judged, tally).map(({ operation }) => operation);

  test.each([
    ['in each of a hundred runs → a fault', 100, 100, ['withdraw']],
    ['in each of fewer, which may be what was drawn → none', 99, 99, []],
    ['in all but one → none', 200, 199, []],
  ])('%s', (_, runs, failures, faults) => {
    const tally = tallied(runs, failures);
    tally.trialOf('deposit', 'deposit');
    expect(faultsOf(tally)).toEqual(faults);
    for (const { times } of failingIn(judged, tally)) expect(times).toBe(runs);
  });

  test('another update has chosen nothing → none: they may want what that brings about', () => {
    const tally = tallied(100, 100);
    expect(faultsOf(tally)).toEqual([]);
    tally.noteRun('deposit');
    expect(faultsOf(tally)).toEqual([]);
    tally.trialOf('deposit', 'deposit');
    expect(faultsOf(tally)).toEqual(['withdraw']);
  });

  test('all updates fail in each run → all are', () => {
    const tally = tallied(100, 100);
    for (let run = 0; run < 100; run += 1) tally.noteRun('deposit', true);
    expect(faultsOf(tally)).toEqual(['deposit', 'withdraw']);
  });
});

test('the table counts operations and declared colours; reads do nothing', () => {
  expect(tableOf(judged, verdictsOf(judged, new Tally()), 14)).toEqual({
    requests: 14,
    transactions: 3,
    readOnly: 1,
    updates: 2,
    shadowBlueNoop: 1,
    shadowBlue: 1,
    shadowRed: 1,
  });
});

test('the table counts as red what only operations choose that are always red', () => {
  const always = judgedService({ ...bankService(), alwaysRed: new Set(['deposit']) });
  const tally = new Tally();
  tally.trialOf('deposit', 'deposit').tried = 1;
  const verdicts = verdictsOf(always, tally);
  expect(verdicts[0]).toMatchObject({ name: 'deposit', declared: 'red' });
  expect(tableOf(always, verdicts, undefined)).toMatchObject({ shadowBlue: 0, shadowRed: 2 });
  tally.trialOf('deposit', 'withdraw').tried = 1;
  expect(tableOf(always, verdictsOf(always, tally), undefined)).toMatchObject({ shadowBlue: 1, shadowRed: 1 });
});

test('beside what it was never tried is told of what is blue', () => {
  const tally = new Tally();
  const trial = tally.trialOf('deposit', 'deposit');
  trial.tried = 3;
  trial.beside.set('deposit', 3);
  expect(verdictsOf(judged, tally)[0]?.reason).toBe(
    'no counterexample in 3 tries beside deposit (3), never beside withdraw',
  );
});

test('shadow operations are counted by their own names', () => {
  const service = defineService(
    defineContract('lists', { go: { effect: 'update', args: z.object({}), result: z.null() } }),
    {
      tables: { lists: table({ items: queue<string>(), sum: counter() }) },
      shadowOperations: ({ lists }) => ({
        push: red((_args: object) => [lists.row('L').items.push('x')]),
        shove: red((_args: object) => [lists.row('L').items.push('y')]),
        add: blue((_args: object) => [lists.row('L').sum.add(1)]),
      }),
      generators: { go: (args, { shadow }) => shadow.push(args, null) },
    },
  ) as unknown as Service;
  const lists = judgedService(service);
  expect(tableOf(lists, verdictsOf(lists, new Tally()), undefined)).toMatchObject({
    updates: 1,
    shadowBlue: 1,
    shadowRed: 2,
  });
});

test('of one operation few failures are told apart, and all faults', () => {
  const tally = new Tally();
  for (let n = 0; n < 100; n += 1) tally.noteGenerator('deposit', { trouble: `it threw: no ${n}` });
  tally.noteGenerator('deposit', { fault: 'it changes its arguments' });
  const notes = notesOf(tally.generators);
  expect(notes.map(({ times }) => times)).toEqual([1, 1, 1, 1, 1, 1, 95]);
  expect(notes[0]?.problem).toBe('it changes its arguments');
  expect(notes.at(-1)?.problem).toBe('it failed in other ways too');
});
