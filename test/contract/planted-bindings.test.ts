/** Each binding that breaks its contract fails the suite with a sentence that says how; those that keep it pass. */
import { describe, expect, test } from 'vitest';
import type { ContractSubject, OpenBinding } from '../../src/testing/index.ts';
import { ContractBreach } from '../../src/testing/binding-contract.ts';
import { failureOf } from './failures-of.ts';
import { Once, PLANTED_IN_CIRCUMSTANCES, SessionTally } from './planted-circumstances.ts';
import { PLANTED, PromisedTally, PromptTally, subjectOf, Tally } from './planted-bindings.ts';
import { keepsContract } from '../support/keeps-contract.ts';

keepsContract(subjectOf('tally', (delays) => new Tally(delays)));

keepsContract(subjectOf('tally, far away', () => new Tally({ weak: 15, strong: 60, lag: 40 })));

keepsContract(subjectOf('tally by promises', () => new PromisedTally(), false));

keepsContract(subjectOf('tally at once', (delays) => new PromptTally(delays), false));

keepsContract(subjectOf('tally with sessions', (delays) => new SessionTally(delays)));

keepsContract(subjectOf('tally that knows repeats', (delays) => new Once(delays)));

describe('planted bindings', () => {
  for (const [fault, { make, test: name, says, more, delays }] of Object.entries({
    ...PLANTED,
    ...PLANTED_IN_CIRCUMSTANCES,
  })) {
    const open = async (): Promise<OpenBinding> => {
      const binding = new make(delays);
      return { binding, another: async () => new make(delays, binding) };
    };
    const subject: ContractSubject = {
      ...subjectOf(fault, (delays) => new make(delays)),
      open,
      patienceMs: 500,
      ...more,
    };
    test(`${fault} → caught, and said`, async () => {
      const caught = await failureOf(subject, name);
      expect(caught).toBeInstanceOf(ContractBreach);
      expect((caught as ContractBreach).message).toContain(says);
    });
  }
});
