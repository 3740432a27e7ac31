/** Names of tickets without numbers: one each, and beyond the stock names that were never on sale. */
import { expect, test } from 'vitest';
import { ticketNames } from '../../../demo/tickets/ticket-names.ts';

test('each that is handed out → a name of its own, the same when it is shown again', () => {
  const nameOf = ticketNames('gala');
  expect(['x', 'y', 'x', 'z', 'y'].map(nameOf)).toEqual(['gala#1', 'gala#2', 'gala#1', 'gala#3', 'gala#2']);
});
