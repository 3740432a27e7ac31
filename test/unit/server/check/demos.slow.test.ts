/**
 * The services of the demos, as they are and with each red shadow operation declared blue: what is
 * wrong is found, what is right raises no alarm. The seed is in the name of what fails.
 */
import { describe, expect, test } from 'vitest';
import { service as ads } from '../../../../demo/ad-server/service.ts';
import { service as bank } from '../../../../demo/bank/service.ts';
import { service as ledger } from '../../../../demo/kill/service.ts';
import { service as social } from '../../../../demo/social/service.ts';
import { rightsService as rights } from '../../../../demo/tickets/rights-service.ts';
import { service as tickets } from '../../../../demo/tickets/service.ts';
import { service as twissandra } from '../../../../demo/twissandra/service.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import { hasViolations } from '../../../../src/server/check/color-report.ts';
import { isCorrectableError } from '../../../../src/correctable/errors.ts';
import { withColors, type Service } from '../../../../src/server/service/service.ts';

const SEED = 20_261_122;
const RUNS = 1000;
/** What is wrong shows itself soon. */
const WRONG_RUNS = 500;

const DEMOS = { ads, bank, ledger, rights, social, tickets, twissandra } as unknown as Readonly<
  Record<string, Service>
>;

/**
 * Red though no run asks for it. Each operation of the ledger is there in both colors, to be seen
 * in its order. A user of the social network follows at most 50 others, which is more than a run
 * has.
 */
const RED_BY_CHOICE = ['book', 'follow', 'unfollow'];
/**
 * Of operations that are `alwaysRed`: declared blue, they would run in the red order all the same.
 */
const ALWAYS_RED = ['push', 'stock', 'post'];

describe.each(Object.entries(DEMOS))('%s', (_name, service) => {
  test(`as it is, no alarm in ${RUNS} runs from seed ${SEED}`, () => {
    const report = analyzeColors(service, { runs: RUNS, seed: SEED });
    expect(hasViolations(report)).toBe(false);
    const unlike = report.shadows.filter(({ name, declaredColor, verdict }) => {
      return verdict !== (RED_BY_CHOICE.includes(name) ? 'blue' : declaredColor);
    });
    expect(unlike).toEqual([]);
  });
});

const REDS = Object.entries(DEMOS).flatMap(([demo, service]) =>
  Object.entries(service.colors)
    .filter(([name, color]) => color === 'red' && ![...RED_BY_CHOICE, ...ALWAYS_RED].includes(name))
    .map(([name]) => ({ demo, service, name })),
);

describe('declared blue', () => {
  test.each(REDS)(
    `$demo: $name, refused within ${WRONG_RUNS} runs from seed ${SEED}`,
    ({ service, name }) => {
      let wrong: Service;
      try {
        wrong = withColors(service, { [name]: 'blue' });
      } catch (error) {
        // What makes its reply when it is applied cannot even be declared so.
        expect(isCorrectableError(error, 'INVALID_ARGUMENT') && error.field).toBe(`colors.${name}`);
        return;
      }
      const { shadows } = analyzeColors(wrong, { runs: WRONG_RUNS, seed: SEED });
      expect(shadows.find((item) => item.name === name)).toMatchObject({
        declaredColor: 'blue',
        verdict: 'unsafe',
      });
    },
  );
});
