/** Of what a client does beside submitting, and of what keeps the process alive (docs/spec/correctable.md, C9 and C15). */
import { unit } from './commands.mjs';

const PASS_ON = 'src/policies/pass-on.ts';
const RETRIES = 'src/policies/retries.ts';
const SHARED = 'src/policies/shared-reads.ts';
const SOURCE = 'src/correctable/source.ts';
const retries = unit('policies/retr');
const shared = unit('policies/shared-reads.test.ts');
const undone = unit('policies/undone-updates.test.ts');
const alive = unit('correctable/process.test.ts');

const of15 = (name, file, line, replacement, command) => ({
  name,
  rule: 'correctable C15',
  file,
  line,
  replacement,
  command,
});
const of9 = (name, file, line, replacement) => ({
  name,
  rule: 'correctable C9',
  file,
  line,
  replacement,
  command: alive,
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const CORE_POLICY_MUTANTS = [
  of15(
    'what its caller has made of the arguments since is done in the place of what he asked for',
    RETRIES,
    '      if (args !== keyOfArgs(operation.args)) return end(CHANGED);\n',
    '',
    retries,
  ),
  of15(
    'the next user repeats what the one before has tried',
    RETRIES,
    'isOver() || !isAskedBy(asker, source)',
    'isOver()',
    retries,
  ),
  of15(
    'the next user shares a read of the one before',
    SHARED,
    '[askerOf(source), operation.name',
    '[operation.name',
    shared,
  ),
  of15(
    'a weaker final of an attempt is none',
    PASS_ON,
    'outer.update(value, view.level, view)',
    'outer.update(value, view.level, { version: view.version, meta: view.meta })',
    retries,
  ),
  of15(
    'a confirmed final of a shared read is none',
    PASS_ON,
    'outer.confirm(view.level, known, view)',
    'outer.confirm(view.level, known, { version: view.version, meta: view.meta })',
    shared,
  ),
  of15(
    'versions end with their attempt',
    PASS_ON,
    'outer.update(value, view.level, view)',
    'outer.update(value, view.level, { final: view.final, meta: view.meta })',
    retries,
  ),
  of15(
    'who leaves takes a shared read from the others',
    PASS_ON,
    ' || hasAudience(inner)) return relax(inner);',
    ') return relax(inner);',
    shared,
  ),
  of15('an attempt that nobody waits for goes on', PASS_ON, '    letGo(inner, error);\n', '', retries),
  of15(
    'an attempt that was never sent counts as sent',
    PASS_ON,
    'inner.whereabouts?.mayHaveLeft !== false',
    'true',
    retries,
  ),
  of15('what may have taken effect is tried again', RETRIES, 'if (!retryable || number', 'if (number', retries),
  of15(
    'a closed client tries again',
    RETRIES,
    ' || environment.isClosed) return undefined;',
    ') return undefined;',
    retries,
  ),
  of15('an attempt begins at the deadline', RETRIES, '+ leastMs < dueAt', '+ leastMs <= dueAt', retries),
  of15('sooner than the store said', RETRIES, 'Math.max(delayMs, retryAfterMs)', 'delayMs', retries),
  of15(
    'what is submitted again counts as waiting',
    RETRIES,
    '    waiting.delete(source);\n    again();',
    '    again();',
    retries,
  ),
  of15(
    'who has left is kept until the client closes',
    RETRIES,
    '    timer.cancel();\n    waiting.delete(source);',
    '    timer.cancel();',
    retries,
  ),
  of15(
    'a refusal after the first attempt loses its data',
    RETRIES,
    '{ ...error, levelErrors, cause: error }',
    '{ retryable: error.retryable, retryAfterMs: error.retryAfterMs, cause: error }',
    retries,
  ),
  of15(
    'an update that waits is tried again after its undo',
    RETRIES,
    'isOver() || !isAskedBy(asker, source)',
    '!isAskedBy(asker, source)',
    undone,
  ),
  of15('an update that fails as busy after its undo is tried again', RETRIES, 'isOver() ? undefined : ', '', undone),
  of15(
    'a read of an undone run is tried no more, whoever waits',
    RETRIES,
    "operation.effect === 'update' && isUndone(source)",
    'isUndone(source)',
    undone,
  ),
  of15(
    'what is made of an undone update has it tried again',
    RETRIES,
    ' ?? seats?.some(({ of }) => of && isUndone(of as Source<unknown>))',
    '',
    undone,
  ),
  of15(
    'an update that an undone step only awaits is tried again',
    RETRIES,
    "  if (extras?.run?.phase === 'undone') return true;\n",
    '',
    undone,
  ),
  of15(
    'what is invoked after a step has waited counts as its own',
    'src/correctable/run.ts',
    '    present.run = outer;\n  }',
    '    present.run ??= outer;\n  }',
    undone,
  ),
  of15(
    'what a listener does counts as of the step that brought the view',
    'src/correctable/audience.ts',
    '    present.run = undefined;\n    audience',
    '    audience',
    undone,
  ),
  of15(
    'an undo counts as of the step that set it off',
    'src/correctable/speculate.ts',
    'callAs(undefined, () => run.undo(abort))',
    'run.undo(abort)',
    undone,
  ),
  of15(
    'a limit forgets what levels failed with in attempts before',
    'src/policies/pass-on.ts',
    '        ...earlier,\n',
    '',
    retries,
  ),
  of15('a read joins one from before an update', SHARED, '      underWay.clear();\n', '', shared),
  of15(
    'a read joins one from before an update ended',
    SHARED,
    '      onClose(source, () => underWay.clear());\n',
    '',
    shared,
  ),
  of15(
    'a read of a session is shared',
    SHARED,
    ' || source.session || source.levelSignals)',
    ' || source.levelSignals)',
    shared,
  ),
  of15('other arguments are equal', SHARED, 'source.ladder.requested, args]', 'source.ladder.requested]', shared),
  of15('another key is equal', SHARED, 'operation.name, operation.key, source', 'operation.name, source', shared),
  of15('other levels are equal', SHARED, 'source.ladder.requested, args]', 'args]', shared),
  of15(
    'what is not plain data has equal arguments',
    SHARED,
    'if (args === undefined) return submit(operation, source);',
    '',
    shared,
  ),
  of15(
    'texts and lists that read alike are equal',
    'src/policies/args-key.ts',
    'return JSON.stringify(value);',
    'return value;',
    shared,
  ),
  of15('others wait for an answer that may be lost', SHARED, 'remove(underWay, id, shared);', '{}', shared),
  of15(
    'a key that was read once is kept for ever',
    SHARED,
    'if (underWay.get(id) === source) underWay.delete(id);',
    '',
    shared,
  ),
  of9(
    'a step that begins after all have left keeps the process alive',
    'src/correctable/speculate.ts',
    '      if (result.extras?.onListener) relax(inner);\n',
    '',
  ),
  of9(
    'who leaves a shared read to those who have their answer keeps the process alive',
    PASS_ON,
    'return relax(inner);',
    'return;',
  ),
  of9(
    'the limit of a last step keeps the process alive',
    SOURCE,
    '  if (source.extras?.onListener) list.hold(false);\n',
    '',
  ),
  of9(
    'a limit that is armed again keeps the process alive',
    'src/correctable/deadlines.ts',
    '    if (this.#held === 0) this.#timer.hold?.(false);\n',
    '',
  ),
  of9(
    'what has closed is let go once more',
    SOURCE,
    "if (source.state !== 'updating' || hasAudience(",
    'if (hasAudience(',
  ),
  of9('what was let go is let go once more', SOURCE, '  if (extras.onListener) return;\n', ''),
  of9(
    'each who listens holds the process once more',
    SOURCE,
    '    extras.onListener = undefined;\n    hold(source, true);',
    '    hold(source, true);',
  ),
];
