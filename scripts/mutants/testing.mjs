/** Of what judges services of authors (docs/guide/check-a-service.md). */
import { mutantsOf } from './commands.mjs';

const command = ['vitest', 'run', 'test/simulation/check-service.test.ts'];
const inOracle = mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/checkers/oracle.ts', command });
const inRepeated = mutantsOf({ rule: 'redblue', file: 'src/testing/repeated.ts', command });
const inTraced = mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/traced-service.ts', command });

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const TESTING_MUTANTS = [
  inOracle(
    'a generator may ask the tables for less, run again',
    'require(outcome.failed || isSameSent(asked, again), () =>',
    'require(true, () =>',
  ),
  inRepeated(
    'a run may go another way when it is repeated',
    'if (isSameSent(endOf(before), endOf(after))) continue;',
    'if (after !== undefined) continue;',
  ),
  inRepeated(
    'what was drawn otherwise counts',
    'if (after === undefined || !isSameSent(drawnOf(before), drawnOf(after))) return undefined;',
    'if (after === undefined) return undefined;',
  ),
  inTraced('a generator asks for fields unseen', 'note(field, this.#key);', ''),
];
