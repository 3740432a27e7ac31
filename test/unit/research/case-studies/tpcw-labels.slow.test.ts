/**
 * The labels of TPC-W's shadow operations: as RedBlue (OSDI 2012, Table 2) counts them, and refused
 * where one is wrong.
 */
import { withColors } from 'correctables/server';
import { analyzeColors } from 'correctables/testing';
import { describe, expect, test } from 'vitest';
import { arbitraries, requests, service } from '../../../../research/case-studies/tpcw/service.ts';
import { study } from '../../../../research/case-studies/tpcw/study.ts';

const SEED = 20_261_122;
const RUNS = 2000;
const WRONG_RUNS = 150;

/** With seeds from which it does not take long. */
const WRONG = [
  ['doBuyConfirmDecre', 20_262_084],
  ['doBuyConfirmAddrDecre', 20_262_965],
] as const;

describe('labels', () => {
  const report = analyzeColors(service, { runs: RUNS, seed: SEED, arbitraries });
  const ofPaper = report.shadows.filter(({ operation }) => !study.apart.includes(operation ?? ''));

  test(`as declared, red is found to be red, and no alarm in ${RUNS} runs from seed ${SEED}`, () => {
    // Few runs come to some ways.
    const silent: readonly string[] = ['blue', 'undecided'];
    const fits = (declared: string, verdict: string): boolean =>
      declared === 'red' ? verdict === 'red' : silent.includes(verdict);
    expect(
      report.shadows.filter(({ declaredColor, verdict }) => !fits(declaredColor, verdict)),
    ).toEqual([]);
    expect(report.generators).toEqual([]);
  });

  test('Table 2: 14 requests, 20 transactions, 29 shadow operations, of which 27 blue and 2 red', () => {
    const { operations } = service.contract;
    const ours = Object.entries(operations).filter(([name]) => !study.apart.includes(name));
    const reads = ours.filter(([, { access }]) => access === 'read');
    expect({ requests: requests.length, transactions: ours.length, reads: reads.length }).toEqual({
      requests: 14,
      transactions: 20,
      reads: 13,
    });
    const red = ofPaper
      .filter(({ declaredColor }) => declaredColor === 'red')
      .map(({ name }) => name);
    expect(red).toEqual(WRONG.map(([name]) => name));
    expect(ofPaper.length - red.length).toBe(14);
  });

  test.each(WRONG)(
    `%s declared blue → refused within ${WRONG_RUNS} runs from seed %s`,
    (name, seed) => {
      const { shadows } = analyzeColors(withColors(service, { [name]: 'blue' }), {
        runs: WRONG_RUNS,
        seed,
        arbitraries,
      });
      const wrong = shadows.find((item) => item.name === name);
      expect(wrong).toMatchObject({ declaredColor: 'blue', verdict: 'unsafe' });
      expect(wrong?.counterexample?.explanation.join(' ')).toContain(
        "breaks 'the stock is never negative'",
      );
    },
  );
});
