/** Which projects of vitest run. It takes several that are left out for any of them, so those that stay are named. */

/** Those that need Node alone. */
const NODE = [
  'unit',
  'unit-apart',
  'contract',
  'property',
  'property-apart',
  'simulation',
  'integration',
  'e2e',
  'types',
];
/** Those that start the real stores: by their name only. */
const ENGINES = 'engines';

/**
 * The arguments of vitest with its projects named: all that need Node alone, but for those that are left out
 * (`--project=!unit`); those that are named, where some are. `unit` are all unit tests, those of `unit-apart` too, and so
 * with `property`.
 *
 * @throws Error for one that there is not
 */
export function withProjects(given) {
  const rest = [];
  const names = [];
  for (let at = 0; at < given.length; at += 1) {
    const argument = given[at];
    if (argument === '--project') names.push(given[(at += 1)] ?? '');
    else if (argument.startsWith('--project=')) names.push(argument.slice('--project='.length));
    else rest.push(argument);
  }
  const known = [...NODE, ENGINES];
  const meant = names.flatMap((name) => {
    const bare = name.replace(/^!/, '');
    if (!known.includes(bare)) throw new Error(`no project '${bare}': there are ${known.join(', ')}`);
    return known.includes(`${bare}-apart`) ? [name, `${name}-apart`] : [name];
  });
  const named = meant.filter((name) => !name.startsWith('!'));
  const chosen = (named.length > 0 ? named : NODE).filter((name) => !meant.includes(`!${name}`));
  if (chosen.length === 0) throw new Error('no project is left to run');
  return [...rest, ...chosen.map((name) => `--project=${name}`)];
}
