/**
 * Each binding that breaks its contract fails the suite with a message that explains it; those that
 * keep it pass.
 */
import { describe, expect, test } from 'vitest';
import type { ConformanceSubject, OpenedBinding } from '../../src/testing/index.ts';
import { ConformanceError } from '../../src/testing/binding-conformance.ts';
import { collectFailure } from './collect-failures.ts';
import { Once, PLANTED_IN_CIRCUMSTANCES, SessionTally } from './buggy-bindings-under-load.ts';
import { PLANTED, PromisedTally, PromptTally, subjectOf, Tally } from './buggy-bindings.ts';
import { runConformance } from '../support/run-conformance.ts';

runConformance(subjectOf('tally', (delays) => new Tally(delays)));

runConformance(subjectOf('tally, far away', () => new Tally({ weak: 15, strong: 60, lag: 40 })));

runConformance(subjectOf('tally by promises', () => new PromisedTally(), false));

runConformance(subjectOf('tally at once', (delays) => new PromptTally(delays), false));

runConformance(subjectOf('tally with sessions', (delays) => new SessionTally(delays)));

runConformance(subjectOf('tally that knows repeats', (delays) => new Once(delays)));

describe('planted bindings', () => {
  for (const [fault, { make, test: name, message, more, delays }] of Object.entries({
    ...PLANTED,
    ...PLANTED_IN_CIRCUMSTANCES,
  })) {
    const createBinding = async (): Promise<OpenedBinding> => {
      const binding = new make(delays);
      return { binding, secondBinding: async () => new make(delays, binding) };
    };
    const subject: ConformanceSubject = {
      ...subjectOf(fault, (delays) => new make(delays)),
      createBinding,
      timeoutMs: 500,
      ...more,
    };
    test(`${fault} → caught, with the message`, async () => {
      const caught = await collectFailure(subject, name);
      expect(caught).toBeInstanceOf(ConformanceError);
      expect((caught as ConformanceError).message).toContain(message);
    });
  }
});
