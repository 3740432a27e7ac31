/** Of services: colours and invariants (docs/spec/redblue.md). */
import { unit } from './commands.mjs';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const SERVICE_MUTANTS = [
  {
    name: 'an effect that no site could apply is chosen',
    rule: 'redblue V11',
    file: 'src/server/generator/generator-run.ts',
    line: 'this.#checkKnown(choice);',
    replacement: '',
    command: unit('server/generator/hand-made-effects.test.ts'),
  },
  {
    name: 'an element that no set makes is chosen',
    rule: 'redblue V11',
    file: 'src/server/service/fields/set.ts',
    line: "chooses: (action, value) => action !== 'add' || isElement(value),",
    replacement: 'chooses: () => true,',
    command: unit('server/generator/hand-made-effects.test.ts'),
  },
  {
    name: 'the pool is closed',
    rule: 'redblue V11',
    file: 'src/server/service/fields/bounded.ts',
    line: "if (action === 'close') return isAmount(value) && value !== RED;",
    replacement: "if (action === 'close') return isAmount(value);",
    command: unit('server/generator/hand-made-effects.test.ts'),
  },
  {
    name: 'what colours say of a shadow operation is not looked at',
    rule: 'redblue V4',
    file: 'src/server/service/colours.ts',
    line: "const colour = colours[name] ?? 'red';",
    replacement: "const colour = 'red';",
    command: unit('server/service/colours.test.ts'),
  },
  {
    name: 'what changes nothing is not certified, though something is red',
    rule: 'redblue V1',
    file: 'src/server/service/colours.ts',
    line: "const hasRed = Object.values(colours).includes('red') || hasBounded(tables);",
    replacement: 'const hasRed = false;',
    command: unit('server/service/colours.test.ts'),
  },
  {
    name: 'a condition on all tables is asked once',
    rule: 'redblue V9',
    file: 'src/server/replica/core/snapshot-invariants.ts',
    line: 'if (before !== undefined && !haveCommon(before, tables)) continue;',
    replacement: 'if (before !== undefined) continue;',
    command: unit('server/site/invariant-alarm.test.ts'),
  },
  {
    name: 'a condition that gives a promise holds always',
    rule: 'redblue V9',
    file: 'src/server/service/invariants.ts',
    line: 'if (!isThenable(given)) return given ? undefined : {};',
    replacement: 'if (given !== null) return given ? undefined : {};',
    command: unit('server/site/invariant-alarm.test.ts'),
  },
  {
    name: 'conditions on all tables take all the time that they want',
    rule: 'redblue V9',
    file: 'src/server/site/time-share.ts',
    line: 'this.#leftMs -= this.#sinceMs - begunMs;',
    replacement: '',
    command: unit('server/site/invariant-alarm.test.ts'),
  },
];
