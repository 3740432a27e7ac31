/**
 * The colors of RUBiS and Quoddy, as they are declared and wrong (RedBlue, OSDI 2012, Table 2). The
 * seed is in the name of what fails.
 */
import { withColors } from 'correctables/server';
import { analyzeColors } from 'correctables/testing';
import { describe, expect, test } from 'vitest';
import * as quoddy from '../../../../research/case-studies/quoddy/service.ts';
import { study as quoddyStudy } from '../../../../research/case-studies/quoddy/study.ts';
import * as rubis from '../../../../research/case-studies/rubis/service.ts';
import { study as rubisStudy } from '../../../../research/case-studies/rubis/study.ts';

const SEED = 20_261_122;
const RUNS = 3000;
/** What is wrong shows itself soon. */
const WRONG_RUNS = 1000;

const label: typeof analyzeColors = (service, options) =>
  analyzeColors(service, { seed: SEED, ...options });

describe('rubis', () => {
  const { arbitraries, requests, service } = rubis;

  test(`as it is, ${RUNS} runs from seed ${SEED} → two red, all others blue, none without a try`, () => {
    const report = label(service, { runs: RUNS, arbitraries, requests: requests.length });
    expect(
      report.shadows.filter(({ declaredColor, verdict }) => verdict !== declaredColor),
    ).toEqual([]);
    const reds = report.shadows
      .filter(({ declaredColor }) => declaredColor === 'red')
      .map(({ name }) => name);
    expect(reds).toEqual(['registerUser', 'storeBuyNow']);
    // Now and then no bid fits its form, which is no fault.
    expect(report.generators.filter(({ isFault }) => isFault)).toEqual([]);
    expect(report.table).toEqual({
      requests: 26,
      transactions: 16,
      readOnly: 11,
      writes: 5,
      shadowBlueNoop: 11,
      shadowBlue: 7,
      shadowRed: 2,
    });
  });

  test.each(['registerUser', 'storeBuyNow'])(
    `%s declared blue → refused within ${WRONG_RUNS} runs`,
    (name) => {
      const wrong = withColors(service, { [name]: 'blue' });
      const { shadows } = label(wrong, { runs: WRONG_RUNS, arbitraries });
      expect(shadows.find((item) => item.name === name)).toMatchObject({
        declaredColor: 'blue',
        verdict: 'unsafe',
      });
    },
  );
});

describe('quoddy', () => {
  const { requests, service } = quoddy;

  test(`as it is, ${RUNS} runs from seed ${SEED} → all blue`, () => {
    const report = label(service, { runs: RUNS, requests: requests.length });
    expect(report.shadows.filter(({ verdict }) => verdict !== 'blue')).toEqual([]);
    expect(report.generators).toEqual([]);
    expect(report.table).toEqual({
      requests: 13,
      transactions: 15,
      readOnly: 11,
      writes: 4,
      shadowBlueNoop: 11,
      shadowBlue: 4,
      shadowRed: 0,
    });
  });
});

test.each([rubisStudy, quoddyStudy])(
  '$name with what loads its data → no alarm',
  ({ service, arbitraries }) => {
    const report = label(service, { runs: WRONG_RUNS, arbitraries });
    expect(report.shadows.filter(({ verdict }) => verdict === 'unsafe')).toEqual([]);
    expect(report.generators.filter(({ isFault }) => isFault)).toEqual([]);
  },
);
