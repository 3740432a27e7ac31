/**
 * Runs the tests of an instrumented copy against its mutants, in test processes that may hang, crash or eat memory: then
 * another process goes on. The mutant that was on counts as noticed if the tests pass there without it, and not with it.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Without a step of the journal for so long, a test process hangs. */
const STALL_MS = 45_000;
/** Where it can be told how much it has worked: after so much work without a step; of waiting, four times as long. */
const SPIN_MS = 15_000;
/** How often the journal is looked at. */
const POLL_MS = 250;
/** More than any test file needs here; a mutant that wants more is noticed. */
const HEAP_MB = 1536;

/**
 * @param {object} given
 * @param {string} given.copy
 * @param {readonly number[]} given.ids of the mutants
 * @param {readonly string[]} given.tests files, in order
 * @param {number} given.askAtMost test files about one mutant
 * @param {number} given.idleAfter after so many test files in a row without news it ends: none noticed, none met first
 * @param {string} [given.name] of this judge, where several share the copy
 * @param {readonly object[]} [given.known] what its journal would say of what need not be asked
 * @param {(entry: object) => void} [given.onEntry] is told what the journal says beside that
 * @param {AbortSignal} given.signal ends the test process
 * @param {(progress: { file: string, filesLeft: number, noticed: number, missed: number }) => void} given.onProgress
 *   `missed`: so far, by all that were asked
 * @returns {Promise<{
 *   noticed: Map<number, { how: string, by: string }>,
 *   met: Set<number>,
 *   failing: Map<string, string[]>,
 *   undecided: Set<number>,
 *   notAsked: number,
 * }>} `undecided` are those that a run that was cut short would have asked about; `notAsked` counts the test files that were
 * left when nothing new had come for long
 */
export async function judge({
  copy,
  ids,
  tests,
  askAtMost,
  idleAfter,
  name = '1',
  known = [],
  onEntry = () => {},
  signal,
  onProgress,
  stallMs = STALL_MS,
}) {
  const journal = join(copy, `mutation-journal-${name}.jsonl`);
  const list = join(copy, `mutation-ids-${name}.json`);
  writeFileSync(journal, known.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  writeFileSync(list, JSON.stringify(ids));
  const noticed = new Map();
  const met = new Set();
  const failing = new Map();
  const suspects = new Set();
  const misses = new Map();
  let left = [...tests];
  /** Those whose slow tests have yet to be asked. */
  const late = [];
  let isLastRound = false;
  const askedBefore = new Set();
  let on;
  /** Where processes have ended before it: the one that starts them goes on with the next file. */
  const crashes = [];
  let steps = 0;
  let idle = 0;
  let stuck;
  let isRun = false;
  let pid;

  const fails = (file, names) => failing.set(file, [...new Set([...(failing.get(file) ?? []), ...names])]);
  const read = (entry) => {
    if (entry.isBeat) return;
    const { file } = entry;
    if (entry.pid !== undefined) ({ pid } = entry);
    if (on !== undefined && on.file !== file) crashes.push(on);
    on = [entry.start, entry.control, entry.before, entry.again].every((each) => each === undefined)
      ? undefined
      : entry;
    for (const id of entry.met ?? []) {
      if (!met.has(id)) idle = -1;
      met.add(id);
    }
    if (entry.failing?.length > 0) fails(file, entry.failing);
    if (entry.noticed !== undefined) {
      noticed.set(entry.noticed, { how: entry.how, by: entry.test ?? file });
      idle = -1;
    }
    if (entry.missed !== undefined) misses.set(entry.missed, (misses.get(entry.missed) ?? 0) + 1);
    if (entry.suspect !== undefined) suspects.add(`${entry.suspect} ${file}`);
    if (entry.late) late.push(file);
    if (entry.done || entry.late) {
      left = left.filter((each) => each !== file);
      // A file that was not asked, or has been before, has nothing to say.
      if (entry.failing === undefined && !askedBefore.has(file)) idle += 1;
    }
    if (entry.done || entry.late || [entry.noticed, entry.missed, entry.suspect].some((id) => id !== undefined))
      steps += 1;
    const missed = [...misses.keys()].filter((id) => !noticed.has(id)).length;
    onProgress({ file, filesLeft: left.length + late.length, noticed: noticed.size, missed });
  };
  const isOpen = (id) => !noticed.has(id) && (misses.get(id) ?? 0) < askAtMost;
  const isRoundOver = () => left.length === 0 || (!isLastRound && idle >= idleAfter);
  const isDecided = () => isRoundOver() || !ids.some(isOpen);
  for (const entry of known) {
    read(entry);
    askedBefore.add(entry.file);
  }
  const follow = followed(journal, (entry) => {
    isRun = true;
    read(entry);
    onEntry(entry);
  });
  const note = (entry) => {
    writeFileSync(journal, `${JSON.stringify(entry)}\n`, { flag: 'a' });
    follow();
  };

  /** Of a process that has ended while a file was under way. */
  const noteEnd = ({ file, start, control, before, again }, how) => {
    const id = start ?? control;
    if (id !== undefined) note(suspects.has(`${id} ${file}`) ? { file, noticed: id, how } : { file, suspect: id });
    else if (before !== undefined)
      note({ file, missed: before, failing: [`the file, without a mutant, ${how} (by itself)`] });
    else if (again) note({ file, done: true, failing: [`the file ${how} (a second time)`] });
  };

  let notAsked = 0;
  while (!signal.aborted) {
    if (isRoundOver() && !isLastRound) {
      notAsked = left.length;
      left = late.splice(0);
      isLastRound = true;
    }
    if (isDecided()) break;
    const before = steps;
    const { end, said } = await oneProcess({
      copy,
      journal,
      list,
      tests: left,
      isLastRound,
      askAtMost,
      signal,
      follow,
      isDecided,
      stallMs,
      workedMs: () => workedMsOf(pid),
    });
    if (signal.aborted) break;
    if (!isRun) throw new Error(`no test file was run: ${said}`);
    const [last, earlier] = [on, crashes.splice(0)];
    on = undefined;
    if (isDecided()) continue;
    const how = end === 'stalled' ? 'hangs' : 'crashes';
    for (const each of earlier) noteEnd(each, 'crashes');
    if (last !== undefined) noteEnd(last, how);
    // The first run of the next file ends the process, or vitest passes it over: twice, for the machine may be busy.
    if (steps === before && stuck === left[0])
      note({ file: left[0], done: true, failing: [`the file ${how}, or is not run`] });
    stuck = steps === before ? left[0] : undefined;
  }
  const isCut = signal.aborted && left.length + late.length > 0;
  return {
    noticed,
    met,
    failing,
    undecided: new Set(isCut ? ids.filter(isOpen) : []),
    notAsked,
  };
}

/** @returns {Promise<{ end: 'ended' | 'stalled', said: string }>} */
async function oneProcess({
  copy,
  journal,
  list,
  tests,
  isLastRound,
  askAtMost,
  signal,
  follow,
  isDecided,
  stallMs,
  workedMs,
}) {
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs');
  const env = {
    ...process.env,
    MUTATION_ROOT: `${copy}/`,
    MUTATION_JOURNAL: journal,
    MUTATION_IDS: list,
    MUTATION_ASKED: String(askAtMost),
    MUTATION_FILES: JSON.stringify(tests),
    MUTATION_ROUND: isLastRound ? 'last' : 'first',
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --max-old-space-size=${HEAP_MB}`,
    CORRECTABLES_MUTANT: '0',
    CI: '1',
  };
  const args = [vitest, 'run', '--config', 'scripts/mutation/vitest.config.mjs', ...tests];
  // A group of its own, so that what tests have started ends with it.
  const child = spawn(process.execPath, args, { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-2000)));
  const kill = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  process.once('exit', kill);
  signal.addEventListener('abort', kill, { once: true });
  const over = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve('over'));
  });
  let last = performance.now();
  let lastWorkedMs;
  let end = 'ended';
  while ((await Promise.race([over, pause(POLL_MS)])) !== 'over') {
    if (follow()) {
      last = performance.now();
      lastWorkedMs = workedMs();
    }
    if (isDecided()) kill();
    const quietMs = performance.now() - last;
    const spunMs = workedMs() - lastWorkedMs;
    // Not a number where nobody knows.
    const isStalled = spunMs >= 0 ? spunMs >= SPIN_MS || quietMs >= 4 * stallMs : quietMs >= stallMs;
    if (!isStalled) continue;
    end = 'stalled';
    kill();
  }
  kill();
  follow();
  process.off('exit', kill);
  signal.removeEventListener('abort', kill);
  return { end, said };
}

/** How long the processor has worked for a process, in milliseconds; `undefined` where the system does not say. */
function workedMsOf(pid) {
  try {
    // Of the fields after the name, in ticks of a hundredth of a second: by itself, and by the system for it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return undefined;
  }
}

/** @returns {() => boolean} reads what is added from now on, line by line; whether there was any */
function followed(path, read) {
  let at = statSync(path).size;
  let rest = '';
  return () => {
    const handle = openSync(path, 'r');
    const buffer = Buffer.alloc(1 << 20);
    let any = false;
    for (let n; (n = readSync(handle, buffer, 0, buffer.length, at)) > 0; at += n) {
      rest += buffer.toString('utf8', 0, n);
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const line of lines) read(JSON.parse(line));
      any = true;
    }
    closeSync(handle);
    return any;
  };
}
