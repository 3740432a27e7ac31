/** Lines that a sample of generated mutants has broken without a test that noticed, until there was one. */
import { mutantsOf, unit } from './commands.mjs';

const of = (file, test) =>
  mutantsOf({
    rule: file.startsWith('bindings') ? 'correctable' : 'redblue',
    file: `src/${file}.ts`,
    command: unit(`${test}.test.ts`),
  });
const ofQueue = of('bindings/memory/queue', 'bindings/memory/queue');
const ofRange = of('server/records/key-range', 'server/records/key-range');
const ofLog = of('server/log/sequenced/sequenced-log', 'server/log/sequenced/sequenced-log');

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const SAMPLED_MUTANTS = [
  ofQueue('items that move up are skipped', 'this.#head = 0;', ''),
  of('bindings/memory/in-flight', 'bindings/memory/queue')(
    'an update that is done takes the next one with it',
    'updates.splice(at, 1);',
    'updates.splice(at, 2);',
  ),
  of('protocol/contract/schema-hash', 'protocol/contract/schema-hash')(
    'a contract is known by its name alone',
    'described[operation] = describe(spec);',
    ';',
  ),
  of('server/gateway/clients/gone-clients', 'server/gateway/clients/gone-clients')(
    'clients are forgotten though that does not make enough room',
    'return free >= bytes ? chosen : [];',
    'return chosen;',
  ),
  ofLog(
    'what a log has delivered before it was saved is not saved again',
    'this.#deliveredProgress.set(origin, { epoch, next });',
    '',
  ),
  ofLog('what a follower knows is not believed', 'follower.committed = committed;', ''),
  ofRange('after the last character of one unit others come', 'if (character === LAST_UNIT) return undefined;', ''),
  ofRange('pairs do not stand before the last characters', 'return FIRST_PAIR;', 'return AFTER_SURROGATES;'),
  of('server/replica/red/red-endings', 'server/replica/red/red-endings')(
    'who was told is kept and told again',
    'this.#askers.delete(id);',
    '',
  ),
  of('server/state/sorted-entries', 'server/state/sorted-entries')(
    'a scan begins in the first chunk',
    'isInside(chunk.at(-1) as Entry)',
    'true',
  ),
  of('server/site/site-binding', 'server/site/site-binding')(
    'a level that there is not counts as none',
    'return UNKNOWN_BIT;',
    'return 0;',
  ),
  of('server/storage/disk/node-files', 'server/storage/disk/node-files')(
    'what a disk takes of a write is all of it',
    'else if (start + written < bytes.length)',
    'else if (written < 0)',
  ),
];
