/** All that is held against a history. */
import { callFaults, nothingDone } from '../../checks/calls.ts';
import type { Call } from '../../history.ts';
import { calmFaults } from './healthy-periods.ts';
import { conditionFaults } from './conditions.ts';
import { confirmationFaults } from './confirmations.ts';
import { elementFaults } from './elements.ts';
import type { Promised } from './key-guarantees.ts';
import { registerFaults } from './registers.ts';
import { sessionFaults } from './sessions.ts';
import { shapeFaults } from './shapes.ts';

export function faultsIn(calls: readonly Call[], promised: Promised): string[] {
  return [
    ...nothingDone(calls),
    // Callers here do not wait for ever: being late is no fault.
    ...callFaults(calls.filter(({ outcome }) => outcome !== 'TIMEOUT')),
    ...registerFaults(calls, promised),
    ...sessionFaults(calls),
    ...conditionFaults(calls),
    ...elementFaults(calls),
    ...shapeFaults(calls),
    ...confirmationFaults(calls),
    ...calmFaults(calls, promised),
  ];
}
