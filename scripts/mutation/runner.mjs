/**
 * What runs inside a test process, in an instrumented copy: a test file once as it is, to see which test meets which
 * mutant, and then once for each mutant that it meets, with the tests that meet it alone. Modules of the source are loaded
 * anew where the mutant is met while they load.
 * Each step is appended to a journal, from which whoever started the process also sees where it hangs.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { TestRunner } from 'vitest';
import { getFn, startTests } from '@vitest/runner';
import { state } from './switch.mjs';

/** Taken before a test puts its own in their place. */
const { setInterval: startTimer, clearInterval: stopTimer } = globalThis;
const now = performance.now.bind(performance);

/**
 * Of how often a mutant is reached, and of how long a test takes: ten times what the tests as they are need, and more than
 * this, is for ever.
 */
const TIMES = 10;
const ROUNDS = 200_000;

/** A file with more tests that fail a second time is not asked at all. */
const FAILING_AGAIN_MAX = 5;

/**
 * A test may take so long at least, and ten times as long as without a mutant, of time in which its process has its turn:
 * each tick counts as one, however late it is on a busy machine.
 */
const SLOW_MS = 1_500;
const TICK_MS = 50;

/** What takes longer is asked in the last round only, about what is left: most mutants are noticed by a quick test too. */
const QUICK_MS = 200;
const isLastRound = process.env.MUTATION_ROUND === 'last';

/** Hooks have a clock alone, and on a busy machine it goes on. */
const SLOW_HOOK_MS = 5_000;

/** So long at most nothing is said between two tests. */
const BEAT_MS = 5_000;

const root = process.env.MUTATION_ROOT;
const journal = process.env.MUTATION_JOURNAL;
let wroteAt = 0;
const write = (entry) => {
  wroteAt = now();
  appendFileSync(journal, `${JSON.stringify(entry)}\n`);
};
/** Says that it goes on, where nothing else has been said for a while. */
const beat = () => {
  if (now() - wroteAt > BEAT_MS) write({ isBeat: true });
};

export default class MutationRunner extends TestRunner {
  #byTest = new Map();
  /** How long the tests take without a mutant. */
  #took = new Map();
  #isMixed = false;
  /** The modules were loaded with a mutant in them. */
  #mustLoad = false;
  /** How often each mutant is reached without any. */
  #reached = new Map();

  onBeforeCollect() {
    state.hits = new Set();
    state.reached = this.#reached;
    this.#byTest.set('', state.hits);
  }

  onBeforeTryTask(test) {
    super.onBeforeTryTask(test);
    beat();
    // Tests at the same time meet what they meet together.
    if (test.concurrent) this.#isMixed = true;
    const name = nameOf(test);
    if (!this.#byTest.has(name)) this.#byTest.set(name, new Set());
    state.hits = this.#byTest.get(name);
  }

  async onAfterRunFiles(files) {
    const [file] = files;
    const tests = testsOf(file);
    const path = relative(root, file.filepath);
    state.hits = state.reached = undefined;
    const passing = tests.filter(({ result }) => result?.state === 'pass');
    this.#took = new Map(passing.map((test) => [nameOf(test), test.result.duration ?? 0]));
    const failing = tests.filter(({ result }) => result?.state === 'fail').map(nameOf);
    const always = this.#byTest.get('');
    const met = new Set(always);
    for (const test of passing) for (const id of this.#byTest.get(nameOf(test)) ?? []) met.add(id);
    const told = hasFailed(file) && failing.length === 0 ? ['the file'] : failing;
    write({ file: path, pid: process.pid, met: [...met], failing: told });
    super.onAfterRunFiles(files);

    const open = openMutants(path).filter(({ id }) => met.has(id));
    const isLoading = (id) => always.has(id) || this.#isMixed;
    const namesOf = (id) => passing.map(nameOf).filter((name) => isLoading(id) || this.#byTest.get(name)?.has(id));
    const isNow = (name) => isLastRound || this.#took.get(name) <= QUICK_MS;
    const wanted = new Set(open.flatMap(({ id }) => namesOf(id)).filter(isNow));
    let isLate = false;
    write({ file: path, again: true });
    const askable = await this.#again(file.filepath, path, wanted, [...new Set(open.map(({ id }) => isLoading(id)))]);
    for (const { id, isSuspect } of open) {
      const chosen = new Set(namesOf(id).filter((name) => askable.has(name)));
      const isRest = !namesOf(id).every(isNow);
      if (isRest) isLate = true;
      if (chosen.size === 0) continue;
      if (isSuspect && !(await this.#isSound(file.filepath, path, id, chosen))) continue;
      write({ file: path, start: id });
      let told = await this.#tell(file.filepath, path, id, chosen, isLoading(id));
      // What a mutant left in the modules may go with them.
      if (told === 'spoilt' && !isLoading(id)) told = await this.#tell(file.filepath, path, id, chosen, true);
      if (told === 'spoilt') {
        // A second time in a process of its own, in which the tests passed just before: it is the mutant.
        write(isSuspect ? { file: path, noticed: id, how: 'spoils the process' } : { file: path, suspect: id });
        process.kill(process.pid, 'SIGKILL');
      } else if (told !== undefined) write({ file: path, noticed: id, ...told });
      else if (!isRest) write({ file: path, missed: id });
    }
    write(isLate ? { file: path, late: true } : { file: path, done: true });
  }

  /**
   * Runs the tests once more without a mutant, in each way in which they will be run with one: what cannot be run twice in
   * one process would fail with every mutant.
   *
   * @returns {Promise<Set<string>>} the names of those that pass again
   */
  async #again(filepath, path, names, ways) {
    const left = new Set(names);
    const failing = [];
    for (const isLoading of ways)
      for (let by; left.size > 0 && (by = await this.#run(filepath, 0, left, isLoading));) {
        failing.push(`${by.test ?? 'the file'} (a second time)`);
        if (by.test === undefined || failing.length > FAILING_AGAIN_MAX) left.clear();
        else left.delete(by.test);
      }
    if (failing.length > 0) write({ file: path, failing });
    return left;
  }

  /** Whether the tests pass without the mutant in a new process, after it has ended or spoilt another. */
  async #isSound(filepath, path, id, names) {
    write({ file: path, before: id });
    const by = await this.#run(filepath, 0, names, true);
    if (by === undefined) return true;
    write({ file: path, missed: id, failing: [`${by.test ?? 'the file'} (by itself)`] });
    return false;
  }

  /**
   * Runs the tests with the mutant; where one fails, that one without it too, and where that fails all of them: what a mutant
   * leaves behind must not be taken for what the next one does.
   *
   * @returns {Promise<{ test?: string, how: string } | 'spoilt' | undefined>}
   */
  async #tell(filepath, path, id, names, isLoading) {
    const by = await this.#run(filepath, id, names, isLoading);
    if (by === undefined) {
      if (isLoading) this.#mustLoad = true;
      return undefined;
    }
    write({ file: path, control: id });
    const alone = by.test === undefined ? names : new Set([by.test]);
    if ((await this.#run(filepath, 0, alone, isLoading)) === undefined) return by;
    if (alone.size === names.size) return 'spoilt';
    return (await this.#run(filepath, 0, names, isLoading)) === undefined ? by : 'spoilt';
  }

  /** @returns {Promise<{ test?: string, how: string } | undefined>} the first that failed */
  async #run(filepath, id, names, isLoading) {
    const isSourceToo = isLoading || this.#mustLoad;
    this.#mustLoad = false;
    loadAnew(this.workerState.evaluatedModules, isSourceToo ? root : `${root}test/`);
    state.active = id;
    state.count = 0;
    state.limit = ROUNDS + TIMES * (this.#reached.get(id) ?? 0);
    process.env.CORRECTABLES_MUTANT = String(id);
    const quiet = new QuietRunner(this.config, names, this.#took);
    Object.defineProperty(quiet, 'moduleRunner', { value: this.moduleRunner });
    quiet.__setTraces(this._otel);
    const stray = [];
    const listeners = ['unhandledRejection', 'uncaughtException'].map((event) => {
      const before = process.listeners(event);
      const listener = (error) => stray.push(error);
      process.removeAllListeners(event).on(event, listener);
      return () => {
        process.removeAllListeners(event);
        for (const each of before) process.on(event, each);
      };
    });
    try {
      const [file] = await startTests([filepath], quiet);
      await new Promise((resolve) => setImmediate(resolve));
      if (quiet.failed) return quiet.failed;
      if (hasFailed(file)) return { how: 'the file fails' };
      if (stray.length > 0) return { how: 'an error that nobody catches' };
      return undefined;
    } finally {
      for (const restore of listeners) restore();
      state.active = 0;
      state.limit = Number.POSITIVE_INFINITY;
      process.env.CORRECTABLES_MUTANT = '0';
    }
  }
}

/** Runs the chosen tests, until the first fails, and reports to nobody. */
class QuietRunner extends TestRunner {
  failed;
  #names;
  #took;

  constructor(config, names, took) {
    super({ ...config, hookTimeout: SLOW_HOOK_MS + TIMES * Math.max(0, ...took.values()), retry: 0 });
    this.#names = names;
    this.#took = took;
  }

  onCollected(files) {
    for (const test of files.flatMap(testsOf)) if (!this.#names.has(nameOf(test))) test.mode = 'skip';
  }

  async runTask(test) {
    beat();
    const limitMs = SLOW_MS + TIMES * (this.#took.get(nameOf(test)) ?? 0);
    let livedMs = 0;
    let timer;
    const late = new Promise((_, reject) => {
      timer = startTimer(() => {
        beat();
        livedMs += TICK_MS;
        if (livedMs < limitMs) return;
        this.failed ??= { test: nameOf(test), how: 'too slow' };
        reject(new Error('too slow'));
      }, TICK_MS);
    });
    try {
      await Promise.race([getFn(test)(), late]);
    } finally {
      stopTimer(timer);
    }
  }

  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    if (test.result?.state !== 'fail') return;
    this.failed ??= { test: nameOf(test), how: 'a test fails' };
    this.cancelRun = true;
  }

  // Nothing about snapshots goes to whoever started this.
  onAfterRunSuite(suite) {
    this.workerState.current = suite.suite ?? suite.file;
  }
}

/**
 * The mutants that this test file is to be asked about, as the journal and the list say: no other has noticed them, this one
 * has not missed them, and not as many others have missed them as are to be asked. First the one that ended the process.
 *
 * @returns {{ id: number, isSuspect: boolean }[]}
 */
function openMutants(path) {
  const ids = new Set(JSON.parse(readFileSync(process.env.MUTATION_IDS, 'utf8')));
  const asked = new Map();
  const suspects = new Set();
  for (const line of readFileSync(journal, 'utf8').split('\n')) {
    if (line === '') continue;
    const { file, noticed, missed, suspect } = JSON.parse(line);
    if (noticed !== undefined) ids.delete(noticed);
    if (suspect !== undefined && file === path) suspects.add(suspect);
    if (missed === undefined) continue;
    asked.set(missed, (asked.get(missed) ?? 0) + 1);
    if (file === path || asked.get(missed) >= Number(process.env.MUTATION_ASKED)) ids.delete(missed);
  }
  const open = [...ids].map((id) => ({ id, isSuspect: suspects.has(id) }));
  return open.toSorted((a, b) => Number(b.isSuspect) - Number(a.isSuspect));
}

/** The modules under a folder are run again when they are next imported; those of node_modules stay. */
function loadAnew(modules, folder) {
  for (const [path, node] of modules.idToModuleMap) {
    if (path.includes('/node_modules/') || path.includes('/scripts/mutation/') || !path.startsWith(folder)) continue;
    node.promise = undefined;
    node.exports = undefined;
    node.evaluated = false;
    node.importers.clear();
  }
}

function testsOf(task) {
  return task.type === 'test' ? [task] : (task.tasks ?? []).flatMap(testsOf);
}

function nameOf(test) {
  return test.suite && test.suite !== test.file ? `${nameOf(test.suite)} > ${test.name}` : test.name;
}

function hasFailed(task) {
  return task.result?.state === 'fail' || (task.tasks ?? []).some(hasFailed);
}
