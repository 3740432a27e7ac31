/** Of what judges services of authors (docs/guide/check-a-service.md). */
import { mutantsOf, unit } from './commands.mjs';

const command = ['vitest', 'run', 'test/simulation/check-service.test.ts'];
const inOracle = mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/checkers/oracle.ts', command });
const inRepeated = mutantsOf({ rule: 'redblue', file: 'src/testing/repeated.ts', command });
const inTraced = mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/traced-service.ts', command });
const inAsked = mutantsOf({
  rule: 'redblue',
  file: 'src/testing/simulator/traced-service.ts',
  command: unit('testing/simulator/traced-service.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const TESTING_MUTANTS = [
  inOracle(
    'a generator may ask the tables for less, run again',
    'require(outcome.failed || missing === undefined, () =>',
    'require(true, () =>',
  ),
  inRepeated(
    'a run may go another way when it is repeated',
    'if (after !== undefined && isSameSent(endOf(before), endOf(after))) continue;',
    'if (after !== undefined) continue;',
  ),
  inRepeated(
    'a draw with a state draws otherwise in the repeated run',
    'const kept = this.#kept.get(from.own);',
    'const kept = undefined as Kept | undefined;',
  ),
  inTraced(
    'a generator asks for fields unseen',
    'if (Object.hasOwn(table.fields, field)) noteField(String(field), key);',
    '',
  ),
  inAsked('a generator asks whether rows are there unseen', 'note(`has ${textOfKey(key)}`);', ''),
  inAsked('a generator asks for keys unseen', "note('keys', options);", ''),
  inAsked('a generator asks for an interval unseen', "note('keys', options);", "note('keys');"),
  inAsked('a generator asks for an index unseen', 'note(`by.${field}`, options);', ''),
  inAsked('a trace takes the options of a scan', 'return real.keys(options);', 'return real.keys();'),
  inTraced(
    'the tables of the simulator are others for each run',
    'const known = made.get(real) ?? make(real);',
    'const known = make(real);',
  ),
  mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/oracle/execute.ts', command })(
    'contexts of the model can be copied',
    'return Object.create(Object.freeze(parts)) as object;',
    'return parts;',
  ),
  mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/oracle/readers.ts', command })(
    'rows of the model can be copied',
    'return Object.create(Object.freeze(getters)) as object;',
    'return getters;',
  ),
  inTraced(
    'a context of the simulator has tables of its own',
    'return new Proxy(given, {',
    'return new Proxy({ ...given, tables } as Context, {',
  ),
  mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/checkers/generators.ts', command })(
    'a generator that throws is passed',
    'require(!failed, () => {',
    'require(true, () => {',
  ),
  mutantsOf({ rule: 'redblue', file: 'src/testing/simulator/simulated-site.ts', command })(
    'generators get parts of milliseconds',
    'return Math.floor(this.#rightMs + this.#aheadMs);',
    'return this.#rightMs + this.#aheadMs;',
  ),
];
