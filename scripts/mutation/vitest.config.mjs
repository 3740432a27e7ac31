/** The project's own test configuration, with one test process at a time and the runner of mutants in it. */
import { fileURLToPath } from 'node:url';
import config from '../../vitest.config.ts';

const order = JSON.parse(process.env.MUTATION_FILES ?? '[]');

/** Test files in the order in which they were named: those nearest to the mutants first. */
class GivenOrder {
  shard(files) {
    return files;
  }

  sort(files) {
    const placeOf = ({ moduleId }) => order.findIndex((file) => moduleId.endsWith(file));
    return files.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

/** @type {{ test: { include: string[] } }[]} */
const own = config.test.projects;
const runner = fileURLToPath(new URL('runner.mjs', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

export default {
  root,
  test: {
    ...config.test,
    fileParallelism: false,
    maxWorkers: 1,
    pool: 'forks',
    sequence: { sequencer: GivenOrder },
    reporters: [{}],
    // It is written beside the packages, which other processes at the same time have too.
    cache: false,
    experimental: {},
    projects: own
      .filter(({ test }) => test.include.length > 0)
      .map((project) => ({
        ...project,
        root,
        // A process is asked about one file: what a mutant leaves behind must not meet another.
        test: { ...project.test, root, runner, pool: 'forks', isolate: true, sequence: { groupOrder: 0 } },
      })),
  },
};
