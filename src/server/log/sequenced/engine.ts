/**
 * The built-in engine of the red log: one site sequences the records, and a majority of the sites
 * has all that are committed.
 */
import type { RedLogEngine } from '../red-log-engine.ts';
import { SequencedLog } from './sequenced-log.ts';
import { SEQUENCED_MESSAGE_FORMAT } from './sequenced-messages.ts';

export const SEQUENCED_ENGINE: RedLogEngine = {
  createNode: (options) => new SequencedLog(options),
  messages: SEQUENCED_MESSAGE_FORMAT,
};
