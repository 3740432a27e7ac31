/** Of bindings: what they tell where a level fails (docs/spec/correctable.md, C6). */
import { mutantsOf, unit } from './commands.mjs';

const ofTiers = mutantsOf({
  rule: 'correctable C6',
  file: 'src/bindings/primary-backup/run.ts',
  command: unit('bindings/primary-backup/primary-away.test.ts'),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const BINDING_MUTANTS = [
  ofTiers(
    'a read fails before the weaker tiers under way have told',
    'await hearWeaker(this.#bestOfWeaker(), context);',
    '',
  ),
  ofTiers(
    'a weaker tier that hangs hides the failure',
    'await hearWeaker(this.#bestOfWeaker(), context);',
    'await this.#bestOfWeaker();',
  ),
  ofTiers(
    'a failure waits for tiers that can show nothing better',
    "if ((await asked) === 'answered') return;",
    'await asked;',
  ),
  {
    ...ofTiers(
      'the wait for weaker tiers keeps the process alive',
      'if (deadlineAt !== undefined) timer.hold?.(false);',
      '',
    ),
    file: 'src/correctable/binding.ts',
  },
  {
    ...ofTiers(
      'the process ends before a failure without deadline is told',
      'if (deadlineAt !== undefined) timer',
      'timer',
    ),
    file: 'src/correctable/binding.ts',
  },
  {
    ...ofTiers('what hangs is kept though nobody waits', 'if (run.isAbandoned) this.#runs.delete(run);', ';'),
    file: 'src/bindings/primary-backup/primary-backup.ts',
    command: unit('bindings/primary-backup/primary-backup.test.ts'),
  },
  ofTiers(
    'a failure waits for a tier whose limit has passed',
    "follow(late, () => resolve('failed'))",
    'follow(late, () => {})',
  ),
  ofTiers(
    'a tier whose limit has passed is asked in its turn',
    "if (late.aborted) return Promise.resolve('failed');",
    '',
  ),
  ofTiers(
    'a deadline does not say what has failed before it',
    'context.whereabouts = { mayHaveLeft: true, obstacle, levelErrors: { [level]: failure } };',
    '',
  ),
  {
    ...ofTiers('a deadline calls a refusal unavailable', '(refusal?.code ?? ', '('),
    file: 'src/correctable/source.ts',
  },
  ofTiers('who has left is told of the failure', 'if (context.signal.aborted) this.#stopped = true;', ''),
];
