/** Verdicts out of what runs have shown. */
// @rule RB-K7
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { createAnalyzedService } from '../../../../src/server/check/analyzed-service.ts';
import { TrialStats } from '../../../../src/server/check/trial-stats.ts';
import {
  findFailingGenerators,
  createFindings,
  createTable,
  createVerdicts,
} from '../../../../src/server/check/color-report.ts';
import { defineService, type Service } from '../../../../src/server/service/service.ts';
import { blue, red } from '../../../../src/server/service/shadow-operation.ts';
import { counter, queue, table } from '../../../../src/server/service/tables.ts';
import { bankService } from './bank.ts';

const judged = createAnalyzedService(bankService());

test('a shadow operation that was chosen, but never tried beside another, is undecided', () => {
  const stats = new TrialStats();
  stats.getTrial('deposit', 'deposit');
  expect(createVerdicts(judged, stats)).toEqual([
    {
      name: 'deposit',
      operation: 'deposit',
      declaredColor: 'blue',
      verdict: 'undecided',
      reason: 'no run has tried it beside another',
    },
    {
      name: 'withdraw',
      operation: null,
      declaredColor: 'red',
      verdict: 'undecided',
      reason: 'no run has chosen it',
    },
  ]);
});

test('a shadow operation that two operations choose has a verdict for each', () => {
  const stats = new TrialStats();
  stats.getTrial('deposit', 'withdraw').trialCount = 1;
  stats.getTrial('deposit', 'deposit').inherentRedReason = 'goes by the red order';
  const verdicts = createVerdicts(judged, stats).map(({ operation, verdict }) => [
    operation,
    verdict,
  ]);
  expect(verdicts).toEqual([
    ['deposit', 'unsafe'],
    ['withdraw', 'blue'],
    [null, 'undecided'],
  ]);
});

test('faults of generators come first, each once with its count', () => {
  const stats = new TrialStats();
  for (const problem of ['b', 'a', 'b']) stats.noteGenerator('deposit', { problem });
  stats.noteGenerator('withdraw', { fault: 'it changes its arguments' });
  expect(
    createFindings(stats.generators).map(({ problem, times, isFault }) => [
      problem,
      times,
      isFault,
    ]),
  ).toEqual([
    ['it changes its arguments', 1, true],
    ['b', 2, false],
    ['a', 1, false],
  ]);
});

describe('generators that fail', () => {
  const tallied = (runs: number, failures: number): TrialStats => {
    const stats = new TrialStats();
    for (let run = 0; run < runs; run += 1) stats.noteRun('withdraw', run < failures);
    return stats;
  };
  const faultsOf = (stats: TrialStats): string[] =>
    findFailingGenerators(judged, stats).map(({ operation }) => operation);

  test.each([
    ['in each of a hundred runs → a fault', 100, 100, ['withdraw']],
    ['in each of fewer, which may be what was drawn → none', 99, 99, []],
    ['in all but one → none', 200, 199, []],
  ])('%s', (_, runs, failures, faults) => {
    const stats = tallied(runs, failures);
    stats.getTrial('deposit', 'deposit');
    expect(faultsOf(stats)).toEqual(faults);
    for (const { times } of findFailingGenerators(judged, stats)) expect(times).toBe(runs);
  });

  test('another write has chosen nothing → none: they may want what that brings about', () => {
    const stats = tallied(100, 100);
    expect(faultsOf(stats)).toEqual([]);
    stats.noteRun('deposit');
    expect(faultsOf(stats)).toEqual([]);
    stats.getTrial('deposit', 'deposit');
    expect(faultsOf(stats)).toEqual(['withdraw']);
  });

  test('all writes fail in each run → all are', () => {
    const stats = tallied(100, 100);
    for (let run = 0; run < 100; run += 1) stats.noteRun('deposit', true);
    expect(faultsOf(stats)).toEqual(['deposit', 'withdraw']);
  });
});

test('the table counts operations and declared colors; reads do nothing', () => {
  expect(createTable(judged, createVerdicts(judged, new TrialStats()), 14)).toEqual({
    requests: 14,
    transactions: 3,
    readOnly: 1,
    writes: 2,
    shadowBlueNoop: 1,
    shadowBlue: 1,
    shadowRed: 1,
  });
});

test('the table counts as red what only operations choose that are always red', () => {
  const always = createAnalyzedService({ ...bankService(), alwaysRed: new Set(['deposit']) });
  const stats = new TrialStats();
  stats.getTrial('deposit', 'deposit').trialCount = 1;
  const verdicts = createVerdicts(always, stats);
  expect(verdicts[0]).toMatchObject({ name: 'deposit', declaredColor: 'red' });
  expect(createTable(always, verdicts, undefined)).toMatchObject({ shadowBlue: 0, shadowRed: 2 });
  stats.getTrial('deposit', 'withdraw').trialCount = 1;
  expect(createTable(always, createVerdicts(always, stats), undefined)).toMatchObject({
    shadowBlue: 1,
    shadowRed: 1,
  });
});

test('the reason of a blue verdict names the operations that it was never tried beside', () => {
  const stats = new TrialStats();
  const trial = stats.getTrial('deposit', 'deposit');
  trial.trialCount = 3;
  trial.partnerCounts.set('deposit', 3);
  expect(createVerdicts(judged, stats)[0]?.reason).toBe(
    'no counterexample in 3 tries beside deposit (3), never beside withdraw',
  );
});

test('shadow operations are counted by their own names', () => {
  const service = defineService(
    defineContract('lists', { go: { access: 'write', args: z.object({}), result: z.null() } }),
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
  const lists = createAnalyzedService(service);
  expect(createTable(lists, createVerdicts(lists, new TrialStats()), undefined)).toMatchObject({
    writes: 1,
    shadowBlue: 1,
    shadowRed: 2,
  });
});

test('lists a few failures of one operation, and all faults', () => {
  const stats = new TrialStats();
  for (let n = 0; n < 100; n += 1) stats.noteGenerator('deposit', { problem: `it threw: no ${n}` });
  stats.noteGenerator('deposit', { fault: 'it changes its arguments' });
  const notes = createFindings(stats.generators);
  expect(notes.map(({ times }) => times)).toEqual([1, 1, 1, 1, 1, 1, 95]);
  expect(notes[0]?.problem).toBe('it changes its arguments');
  expect(notes.at(-1)?.problem).toBe('it failed in other ways too');
});
