/**
 * Reports each run of a generator on the stable snapshot of a site to checkers, at the moment of
 * the run.
 */
import { isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import type { GeneratorInput } from '../../server/service/generator/generator-context.ts';
import type { GeneratorOutcome } from '../../server/service/generator/generator-runner.ts';
import type { Submission } from '../../server/site/core/submissions.ts';
import type { SiteState } from '../../server/site/core/site-state.ts';
import type { ReplyOrError } from '../../server/service/records/reply.ts';
import type { GeneratorRun } from './checkers/checker.ts';
import type { Outcome } from './oracle/execute.ts';

/**
 * Wraps the methods by which a site runs generators. `name` is that of the site's start, which is
 * part of drawn identifiers.
 */
export function observeGenerators(
  state: SiteState,
  name: string,
  noted: (run: GeneratorRun) => void,
): void {
  const run = state.run.bind(state);
  const runLaid = state.runPipelined.bind(state);
  const read = state.read.bind(state);
  const readInOrder = state.readInOrder.bind(state);
  const note = (
    value: GeneratorInput,
    outcome: Outcome,
    {
      isLaid: isPipelined = false,
      isAlone = false,
      strongReads = undefined as ReadonlySet<string> | undefined,
    } = {},
  ): void => {
    const { serial, plan, args, submittedAtMs, seed, principal } = value;
    const operation = plan.name;
    const { identity } = value as Partial<Submission>;
    noted({
      input: { name, serial, operation, args, submittedAtMs, seed, principal },
      id: identity?.id,
      outcome,
      isPipelined,
      isAlone,
      strongReads,
    });
  };
  state.runPipelined = (input): GeneratorOutcome => {
    const outcome = runLaid(input);
    note(input, toOutcome(outcome), { isLaid: true });
    return outcome;
  };
  state.run = (input): GeneratorOutcome => {
    const isAlone = state.overlay.isEmpty;
    try {
      const outcome = run(input);
      note(input, toOutcome(outcome), { isAlone });
      return outcome;
    } catch (error) {
      if (isCorrectableError(error)) note(input, toFailure(error), { isAlone });
      throw error;
    }
  };
  const noteRead = (
    input: GeneratorInput,
    answer: ReplyOrError,
    strongReads?: ReadonlySet<string>,
  ): ReplyOrError => {
    note(
      input,
      isCorrectableError(answer)
        ? toFailure(answer)
        : { hasFailed: false, effects: [], reply: answer },
      { strongReads },
    );
    return answer;
  };
  state.read = (input) => noteRead(input, read(input));
  // Without partitions it calls `read`, which is noted there.
  if (state.partitionCheck !== undefined)
    state.readInOrder = (...args) => {
      const executed = readInOrder(...args);
      noteRead(args[0], executed.answer, executed.reads.names);
      return executed;
    };
}

function toFailure({ code, message, domain }: CorrectableError): Outcome {
  if (domain !== undefined) return { hasFailed: false, effects: [], domainError: domain };
  return { hasFailed: true, reason: `${code} ${message}`, effects: [] };
}

function toOutcome({ choice, reply, domainError }: GeneratorOutcome): Outcome {
  if (domainError !== undefined) return toFailure(domainError);
  if (choice === undefined) return { hasFailed: false, effects: [], reply };
  const { shadow, effects, args } = choice;
  return { hasFailed: false, shadow, effects, args, reply };
}
