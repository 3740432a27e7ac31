/** Lets checkers see each run of a generator on the stable snapshot of a site, at its moment. */
import { isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import type { GeneratorInput } from '../../server/generator/generator-context.ts';
import type { GeneratorOutcome } from '../../server/generator/generator-run.ts';
import type { Submission } from '../../server/records/submissions.ts';
import type { SiteState } from '../../server/replica/core/site-state.ts';
import type { Answer } from '../../server/records/reply.ts';
import type { GeneratorRun } from './checkers/checker.ts';
import type { Outcome } from './oracle/execute.ts';

/**
 * Wraps the ways in which a site runs generators on what it shows, and on that with what it has proposed. `name` is
 * that of the site at this start, as in the identifiers that generators draw.
 */
export function observeRuns(state: SiteState, name: string, noted: (run: GeneratorRun) => void): void {
  const run = state.run.bind(state);
  const runLaid = state.runLaid.bind(state);
  const read = state.read.bind(state);
  const note = (given: GeneratorInput, outcome: Outcome, { isLaid = false, isAlone = false } = {}): void => {
    const { serial, operation, args, submittedAtMs, seed } = given;
    const { identity } = given as Partial<Submission>;
    noted({
      input: { name, serial, operation, args, submittedAtMs, seed },
      id: identity?.id,
      outcome,
      isLaid,
      isAlone,
    });
  };
  state.runLaid = (input): GeneratorOutcome => {
    const outcome = runLaid(input);
    note(input, outcomeOf(outcome), { isLaid: true });
    return outcome;
  };
  state.run = (input): GeneratorOutcome => {
    const isAlone = state.overlay.isEmpty;
    try {
      const outcome = run(input);
      note(input, outcomeOf(outcome), { isAlone });
      return outcome;
    } catch (error) {
      if (isCorrectableError(error)) note(input, failure(error), { isAlone });
      throw error;
    }
  };
  state.read = (input): Answer => {
    const answer = read(input);
    note(input, isCorrectableError(answer) ? failure(answer) : { failed: false, effects: [], reply: answer });
    return answer;
  };
}

function failure({ code, message, domain }: CorrectableError): Outcome {
  if (domain !== undefined) return { failed: false, effects: [], refusal: domain };
  return { failed: true, why: `${code} ${message}`, effects: [] };
}

function outcomeOf({ choice, reply, refusal }: GeneratorOutcome): Outcome {
  if (refusal !== undefined) return failure(refusal);
  if (choice === undefined) return { failed: false, effects: [], reply };
  const { shadow, effects, args } = choice;
  return { failed: false, shadow, effects, args, reply };
}
