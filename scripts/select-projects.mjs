/**
 * Which projects of vitest run. Vitest takes several excluded ones as alternatives, so those that stay are named.
 */

const SHARED = ['unit', 'docs', 'conformance', 'property'].flatMap((name) => [
  name,
  `${name}-apart`,
]);
const CHECKED = [...SHARED, 'simulation', 'integration'];

/** Each lane with its projects. */
export const LANES = {
  fast: [...CHECKED, 'types'],
  remaining: [...CHECKED, 'e2e'],
  all: [...CHECKED, 'e2e', 'types'],
  nightly: [...CHECKED, 'e2e', 'types'],
};

/** Starts the real stores, so it runs only if it is named. */
const ENGINES = 'engines';

/**
 * Returns the arguments of vitest with its projects named: those of the lane without those that are excluded
 * (`--project=!unit`), or the named ones. `unit` includes `unit-apart`, and so on.
 *
 * @throws Error for a project that does not exist
 */
export function withProjects(given, lane = LANES.fast) {
  const rest = [];
  const names = [];
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at];
    if (argument === '--project') names.push(given[(at += 1)] ?? '');
    else if (argument.startsWith('--project=')) names.push(argument.slice('--project='.length));
    else rest.push(argument);
  }
  const known = [...LANES.all, ENGINES];
  const meant = names.flatMap((name) => {
    const bare = name.replace(/^!/, '');
    if (!known.includes(bare))
      throw new Error(`no project '${bare}': there are ${known.join(', ')}`);
    return known.includes(`${bare}-apart`) ? [name, `${name}-apart`] : [name];
  });
  const named = meant.filter((name) => !name.startsWith('!'));
  const chosen = (named.length > 0 ? named : lane).filter((name) => !meant.includes(`!${name}`));
  if (chosen.length === 0) throw new Error('no project is left to run');
  return [...rest, ...chosen.map((name) => `--project=${name}`)];
}
