/** `correctables inspect`, and its flags. */
import type { Command } from './command.ts';

export const INSPECT: Command = {
  name: 'inspect',
  what: 'Say what is in a data folder, and what of it is lost or damaged; changes nothing',
  word: { typed: '<dataDir>', names: 'folder' },
  flags: [['--json', 'Print it as one JSON line']],
  example: 'correctables inspect correctables-data',
  run: async (options, dataDir) => (await import('./inspect.ts')).inspect(options, dataDir),
};
