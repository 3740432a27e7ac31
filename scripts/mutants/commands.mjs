/** The commands that notice: single test files, and profiles of the simulator. */
export const unit = (file) => ['vitest', 'run', `test/unit/${file}`];
export const property = (file) => ['vitest', 'run', `test/property/${file}`];
/**
 * Mutants below one folder that the unit test of that place notices.
 *
 * @param {string} spec the page of the rules, in docs/spec
 * @param {string} folder below `src` and below `test/unit`
 * @returns {(rule: string, name: string, test: string, parts: { file: string, line: string, replacement: string }) =>
 *   import('./listed.mjs').Mutant}
 */
export const mutantsIn =
  (spec, folder) =>
  (rule, name, test, { file, line, replacement }) => ({
    name,
    rule: `${spec} ${rule}`,
    file: `src/${folder}/${file}.ts`,
    line,
    replacement,
    command: unit(`${folder}/${test}.test.ts`),
  });
/**
 * Mutants of one file that one command notices, for one rule.
 *
 * @param {Pick<import('./listed.mjs').Mutant, 'rule' | 'file' | 'command'>} of
 * @returns {(name: string, line: string, replacement: string) => import('./listed.mjs').Mutant}
 */
export const mutantsOf = (of) => (name, line, replacement) => ({ name, ...of, line, replacement });
export const contract = (file) => ['vitest', 'run', `test/contract/${file}`];
export const sim = (profile, options = {}) => {
  const given = JSON.stringify({ world: 'classic', ...options });
  return ['tsx', 'test/simulator/cli.ts', '--jobs', '1', '--runs', '60', '--profile', profile, '--with', given];
};
