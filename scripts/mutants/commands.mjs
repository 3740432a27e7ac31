/** The commands that notice: single test files, and profiles of the simulator. */
export const unit = (file) => ['vitest', 'run', '--project', 'unit', `test/unit/${file}`];
export const contract = (file) => ['vitest', 'run', '--project', 'contract', `test/contract/${file}`];
export const sim = (profile, options = {}) => {
  const given = JSON.stringify({ world: 'classic', ...options });
  return ['tsx', 'src/testing/simulator/cli.ts', '--jobs', '1', '--runs', '60', '--profile', profile, '--with', given];
};
