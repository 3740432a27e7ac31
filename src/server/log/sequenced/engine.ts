/**
 * The engine of the red log that is built in: one site gives the order, and a
 * majority of the sites has what counts.
 */
import type { RedLogEngine } from '../red-log-engine.ts';
import { SequencedLog } from './sequenced-log.ts';
import { SEQUENCED_MESSAGE_FORMAT } from './sequenced-messages.ts';

export const SEQUENCED_ENGINE: RedLogEngine = {
  createNode: (options) => new SequencedLog(options),
  messages: SEQUENCED_MESSAGE_FORMAT,
};
