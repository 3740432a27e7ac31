/** Of what the core makes of operations, and how it compares their values (docs/spec/correctable.md). */
import { unit } from './commands.mjs';

const CORE = 'src/correctable';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const CORE_MADE_MUTANTS = [
  {
    name: 'no key is as good as undefined',
    rule: 'correctable C7',
    file: `${CORE}/equal.ts`,
    line: 'if (value === undefined && !Object.hasOwn(right, key)) return false;',
    replacement: '',
    command: unit('correctable/equal.test.ts'),
  },
  {
    name: 'more keys are equal',
    rule: 'correctable C7',
    file: `${CORE}/equal.ts`,
    line: 'return surplus === 0;',
    replacement: 'return true;',
    command: unit('correctable/equal.test.ts'),
  },
  {
    name: 'one item is the partner of two',
    rule: 'correctable C7',
    file: `${CORE}/equal.ts`,
    line: 'alike.splice(at, 1);',
    replacement: '',
    command: unit('correctable/equal.test.ts'),
  },
  {
    name: 'part of a buffer is the whole',
    rule: 'correctable C7',
    file: `${CORE}/equal.ts`,
    line: 'new Uint8Array(value.buffer, value.byteOffset, value.byteLength)',
    replacement: 'new Uint8Array(value.buffer)',
    command: unit('correctable/equal.test.ts'),
  },
  {
    name: 'what lies deep decides nothing',
    rule: 'correctable C7',
    file: `${CORE}/equal.ts`,
    line: 'while (isEqual && later.length > from) {',
    replacement: 'while (isEqual && later.length < from) {',
    command: unit('correctable/equal.test.ts'),
  },
  {
    name: 'a confirmed run stays at its level',
    rule: 'correctable C8',
    file: `${CORE}/speculate.ts`,
    line: `    live.input = view;
`,
    replacement: '',
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'a run begins while another is undone',
    rule: 'correctable C8',
    file: `${CORE}/speculate.ts`,
    line: 'else if (!undoing) begin(speculation);',
    replacement: 'else begin(speculation);',
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'undone in the order of registration',
    rule: 'correctable C8',
    file: `${CORE}/run.ts`,
    line: 'this.undos?.reverse()',
    replacement: 'this.undos',
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'one undo that fails skips the others',
    rule: 'correctable C8',
    file: `${CORE}/run.ts`,
    line: `        failures.push(error);
`,
    replacement: `        throw error;
`,
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'a late effect is forgotten',
    rule: 'correctable C8',
    file: `${CORE}/run.ts`,
    line: `if (this.phase === 'committed') this.#atOnce(effect);
      else (`,
    replacement: '(',
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'what is done is undone',
    rule: 'correctable C8',
    file: `${CORE}/run.ts`,
    line: 'if (done === 0) await this.undo(abort)',
    replacement: 'await this.undo(abort)',
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'a run whose source fails is not undone',
    rule: 'correctable C8',
    file: `${CORE}/speculate.ts`,
    line: `  speculation.waiting = undefined;
  if (live) refute(speculation, live);
`,
    replacement: `  speculation.waiting = undefined;
`,
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'the error of a run on a preliminary view is told',
    rule: 'correctable C8',
    file: `${CORE}/speculate.ts`,
    line: 'if (input.final) fail(speculation, outcome.error);',
    replacement: 'fail(speculation, outcome.error);',
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'a hanging undo has no deadline',
    rule: 'correctable C8',
    file: `${CORE}/speculate.ts`,
    line: `  limitRest(result);
}

function onError`,
    replacement: `}

function onError`,
    command: unit('correctable/speculate.test.ts'),
  },
  {
    name: 'rest abort goes on',
    rule: 'correctable C9',
    file: `${CORE}/settle.ts`,
    line: "if (rest === 'abort') cancel(source, 'settled early');",
    replacement: '',
    command: unit('correctable/settle.test.ts'),
  },
  {
    name: 'an early answer is not noted',
    rule: 'correctable C9',
    file: `${CORE}/settle.ts`,
    line: 'extrasOf(source).answeredEarly = true;',
    replacement: '',
    command: unit('correctable/settle.test.ts'),
  },
  {
    name: 'a settle that has its view listens on',
    rule: 'correctable C9',
    file: `${CORE}/settle.ts`,
    line: `      leave(source, seat);
`,
    replacement: '',
    command: unit('correctable/settle.test.ts'),
  },
  {
    name: 'the derivation is cancelled, the read goes on',
    rule: 'correctable C10',
    file: `${CORE}/derive.ts`,
    line: 'if (error && !hasAudience(source)) cancel(source, error.cause);',
    replacement: '',
    command: unit('correctable/leaving.test.ts'),
  },
  {
    name: 'the derivation is cancelled, and others lose the read',
    rule: 'correctable C10',
    file: `${CORE}/derive.ts`,
    line: 'if (error && !hasAudience(source))',
    replacement: 'if (error)',
    command: unit('correctable/leaving.test.ts'),
  },
  {
    name: 'effects under way count as nothing',
    rule: 'correctable C10',
    file: `${CORE}/speculate.ts`,
    line: `      result.done = UPDATE;
`,
    replacement: '',
    command: unit('correctable/steps.test.ts'),
  },
  {
    name: 'closed parts are forgotten when there are many',
    rule: 'correctable C10',
    file: `${CORE}/effects.ts`,
    line: 'else whole.done = Math.max(whole.done, other.done) as Done;',
    replacement: '',
    command: unit('correctable/steps.test.ts'),
  },
  {
    name: 'steps that may still come do not count',
    rule: 'correctable C14',
    file: `${CORE}/effects.ts`,
    line: ', part.extras?.steps ?? NOTHING',
    replacement: '',
    command: unit('correctable/steps.test.ts'),
  },
  {
    name: 'an update on a preliminary view needs no undo',
    rule: 'correctable C11',
    file: `${CORE}/speculate.ts`,
    line: `return giveUp(result, 'UNKNOWN', NEEDS_UNDO + CAVEAT);`,
    replacement: '',
    command: unit('correctable/steps.test.ts'),
  },
  {
    name: 'a join has the level of its strongest part',
    rule: 'correctable C11',
    file: `${CORE}/join.ts`,
    line: 'Math.min(...views.map(strength))',
    replacement: 'Math.max(...views.map(strength))',
    command: unit('correctable/joining.test.ts'),
  },
  {
    name: 'levels of different lists compare',
    rule: 'correctable C11',
    file: `${CORE}/join.ts`,
    line: 'sameNames(ladder.all, all) && ',
    replacement: '',
    command: unit('correctable/joining.test.ts'),
  },
  {
    name: 'a join is final with its first part',
    rule: 'correctable C11',
    file: `${CORE}/join.ts`,
    line: 'final: views.every(',
    replacement: 'final: views.some(',
    command: unit('correctable/joining.test.ts'),
  },
  {
    name: 'a result is as strong as its input',
    rule: 'correctable C11',
    file: `${CORE}/speculate.ts`,
    line: 'Math.min(rank, own)',
    replacement: 'rank',
    command: unit('correctable/levels.test.ts'),
  },
  {
    name: 'a corrected value keeps the old result',
    rule: 'correctable C11',
    file: `${CORE}/derive.ts`,
    line: 'if (!mapped.latest || !Object.is(input, value)) result',
    replacement: 'if (!mapped.latest) result',
    command: unit('correctable/joining.test.ts'),
  },
];
