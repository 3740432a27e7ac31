/**
 * A vitest that stays, in the folder of a copy: it is told which files have changed and what to run, and says whether all
 * of that passes. A start takes longer than most of the tests that are asked.
 */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);

/** The file that a command asks, if it is `vitest run FILE`: that can be asked of it. */
export function asWarm(command) {
  const [name, run, file, ...more] = command;
  return name === 'vitest' && run === 'run' && more.length === 0 ? file : undefined;
}

export class WarmVitest {
  #copy;
  #child;
  #changed = new Set();

  /** @param {string} copy the folder, with the project's own configuration in it */
  constructor(copy) {
    this.#copy = copy;
  }

  /** @param {string} file has been written since it was last asked */
  changed(file) {
    this.#changed.add(join(this.#copy, file));
  }

  /**
   * @param {string} file of tests
   * @returns {Promise<boolean>} whether there are tests, and all of them pass
   */
  passes(file) {
    this.#child ??= fork(here, [], { cwd: this.#copy, stdio: 'ignore' });
    const child = this.#child;
    const changed = [...this.#changed];
    this.#changed.clear();
    return new Promise((resolve) => {
      const told = (passes) => {
        child.off('message', told).off('exit', ended);
        resolve(passes);
      };
      const ended = () => {
        this.#child = undefined;
        told(false);
      };
      child.on('message', told).on('exit', ended);
      child.send({ file, changed });
    });
  }

  close() {
    this.#child?.kill();
  }
}

/** The other side: what is started above. */
async function serve() {
  const { createVitest } = await import('vitest/node');
  // What vitest notes of its runs would stand beside the packages, which other processes have too.
  const vitest = await createVitest('test', { watch: false, bail: 1, reporters: [{}], cache: false });
  const answer = async ({ file, changed }) => {
    for (const path of changed) vitest.invalidateFile(path);
    const asked = await vitest.globTestSpecifications([file]);
    const { unhandledErrors } = await vitest.runTestSpecifications(asked);
    // What never ends, vitest gives up after a minute without a word: it has neither failed nor passed.
    const isGood = asked.every(({ testModule }) => testModule?.state() === 'passed');
    process.send(asked.length > 0 && isGood && unhandledErrors.length === 0);
  };
  process.on('message', (asked) => void answer(asked));
}

if (process.argv[1] === here) {
  Object.assign(process.env, { TEST: 'true', VITEST: 'true', NODE_ENV: process.env.NODE_ENV ?? 'test' });
  process.once('disconnect', () => process.exit());
  await serve();
}
