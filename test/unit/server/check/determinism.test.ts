/**
 * Generators that do not do the same twice: each gives itself away, by whatever differs, and reads
 * do too.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { SearchContext } from '../../../../src/server/check/search-context.ts';
import { uncertified } from '../../../../src/server/service/records/reply.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import type { Service } from '../../../../src/server/service/service.ts';
import { blue } from '../../../../src/server/service/shadow-operation.ts';
import { counter, table } from '../../../../src/server/service/tables.ts';
import { Store } from '../../../../src/server/service/state/store.ts';

const names = z.object({ key: z.string() });
const contract = defineContract('moods', {
  add: { access: 'write', args: names, result: z.int() },
  look: { access: 'read', args: names, result: z.int(), errors: { gone: z.int() } },
});

interface Named {
  readonly key: string;
}

/** Returns the result of the n-th call of a generator. */
type CallResult = (n: number, refuse: (data: number) => Error) => unknown;

/** A service whose generators change their results if the test wants it. */
function moody({
  add = () => undefined,
  look = () => 0,
}: {
  add?: CallResult;
  look?: CallResult;
}): Service {
  const times = { add: 0, look: 0 };
  const never = (): Error => new Error('it refuses nothing');
  return defineService(contract, {
    tables: { rows: table({ sum: counter() }) },
    shadowOperations: ({ rows }) => ({ add: blue(({ key }: Named) => [rows.row(key).sum.add(1)]) }),
    generators: {
      add: (args, { shadow }) => {
        const reported = add((times.add += 1), never);
        return reported === undefined ? shadow.add(args, 0) : (reported as number);
      },
      look: (_args, { errors }) => look((times.look += 1), (data) => errors.gone(data)) as number,
    },
  }) as unknown as Service;
}

const problemsOf = (service: Service): readonly string[] =>
  analyzeColors(service, { runs: 60 }).generators.map(
    ({ operation, problem }) => `${operation}: ${problem}`,
  );

const notTheSame = 'run twice on the same, it does not do the same';

describe('a read', () => {
  const fails = (): never => {
    throw new Error('no');
  };
  test.each<[string, CallResult]>([
    ['returns another result', (n) => n % 2],
    [
      'rejects for another reason',
      (n, refuse) => {
        throw refuse(n % 2);
      },
    ],
    ['fails now and then', (n) => (n % 2 === 0 ? fails() : 0)],
    ['fails in another way', (n) => (n % 2 === 0 ? fails() : 'none')],
    ['returns a local result now and then', (n) => (n % 2 === 0 ? uncertified(0) : 0)],
  ])('%s → reported', (_what, look) => {
    expect(problemsOf(moody({ look }))).toContain(`look: ${notTheSame}`);
  });

  test('throws → reported with the error', () => {
    expect(problemsOf(moody({ look: fails }))).toEqual(['look: it threw Error: no']);
  });

  test('a result that breaks the contract → reported as that, not with the error of another operation', () => {
    const problems = problemsOf(moody({ add: () => 'none', look: fails }));
    expect(problems).toHaveLength(4);
    expect(problems).toContain('look: it threw Error: no');
    expect(problems).toContain('add: it has chosen no shadow operation');
    expect(problems.filter((problem) => /^add: .*threw/.test(problem))).toEqual([]);
  });

  test('always returns the same → nothing is reported', () => {
    expect(problemsOf(moody({}))).toEqual([]);
  });
});

test('a run by itself → each generator runs once, also for seeds with which a site runs some twice', () => {
  const workshop = new SearchContext(moody({ look: (n) => n }));
  const step = { operation: 'look', args: { key: 'a' }, serial: 1, seed: 0, atMs: 0 };
  expect(workshop.run(step, new Store(workshop.service.tables)).outcome?.reply.value).toBe(1);
});

describe('a service of reads alone', () => {
  const alone = defineContract('looks', { look: { access: 'read', args: names, result: z.int() } });
  const lastCheckedNumber = (
    look: (n: number, choose: () => unknown) => unknown,
  ): readonly string[] => {
    let times = 0;
    const service = defineService(alone, {
      tables: { rows: table({ sum: counter() }) },
      shadowOperations: ({ rows }) => ({
        add: blue(({ key }: Named) => [rows.row(key).sum.add(1)]),
      }),
      generators: {
        look: (args, { shadow }) =>
          look((times += 1), () => shadow.add(args, 0 as never)) as number,
      },
    });
    return problemsOf(service as unknown as Service);
  };

  test('it does the same → nothing is reported', () => {
    expect(lastCheckedNumber(() => 0)).toEqual([]);
  });

  test('it does not do the same → reported', () => {
    expect(lastCheckedNumber((n) => n)).toEqual([`look: ${notTheSame}`]);
  });

  test('it chooses a shadow operation → reported', () => {
    expect(lastCheckedNumber((_, choose) => choose())).toEqual([
      'look: a read, it has chosen a shadow operation, which no site applies',
    ]);
  });
});
