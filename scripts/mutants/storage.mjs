/** Of what lies on the disk (docs/spec/storage.md). */
import { unit } from './commands.mjs';

const REDBLUE = 'src/server/redblue';
const STORAGE = 'src/server/storage';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const STORAGE_MUTANTS = [
  {
    name: 'writes do not wait for the disk',
    rule: 'storage S1',
    file: 'src/server/storage/node-files.ts',
    line: 'const FLAGS = O_CREAT | O_EXCL | O_RDWR | (HAS_DSYNC ? O_DSYNC : 0);',
    replacement: 'const FLAGS = O_CREAT | O_EXCL | O_RDWR;',
    command: unit('storage/synced-files.test.ts'),
  },
  {
    name: 'a checkpoint ahead of its logs opens',
    rule: 'storage S15',
    file: `${STORAGE}/recovery.ts`,
    line: 'if (lengths[log] < from) {',
    replacement: 'if (lengths[log] < 0) {',
    command: unit('storage/damage.test.ts'),
  },
  {
    name: 'a lost file that other sites need is not missed',
    rule: 'storage S15',
    file: `${STORAGE}/recovery.ts`,
    line: 'if (kept !== undefined && logs.start[log] > kept[log]) {',
    replacement: 'if (kept === undefined) {',
    command: unit('storage/damage.test.ts'),
  },
  {
    name: 'damage is taken for a torn end',
    rule: 'storage S17',
    file: `${STORAGE}/recovery.ts`,
    line: 'if (damaged !== undefined) throw unreadable(describe(damaged.path, damaged.damage));',
    replacement: '',
    command: unit('storage/damage.test.ts'),
  },
  {
    name: 'entries missing between two files are not missed',
    rule: 'storage S5',
    file: `${STORAGE}/recovery.ts`,
    line: 'if (length > logs[log].length) {',
    replacement: 'if (length < 0) {',
    command: unit('storage/open-storage.test.ts'),
  },
  {
    name: 'a commit counts whatever stands before it',
    rule: 'storage S16',
    file: `${STORAGE}/checkpoint-file.ts`,
    line: "if ('rest' in frame && frame.sum !== undefined && frame.sum !== sum.now) {",
    replacement: "if ('rest' in frame && frame.sum === -1) {",
    command: unit('storage/damage.test.ts'),
  },
  {
    name: 'a lock that others have taken is broken again',
    rule: 'storage S14',
    file: `${STORAGE}/folder-lock.ts`,
    line: 'if (readLock(path)?.text !== found.text) return;',
    replacement: '',
    command: unit('storage/folder-lock.test.ts'),
  },
  {
    name: 'an owner does not look after a gap',
    rule: 'storage S14',
    file: `${STORAGE}/folder-lock.ts`,
    line: 'return Math.max(gapMs, wallGapMs) <= GAP_MS || this.#touch();',
    replacement: 'return true;',
    command: unit('storage/folder-lock.test.ts'),
  },
  {
    name: 'a site goes on with less than others have of it',
    rule: 'storage S18',
    file: `${REDBLUE}/lost-past.ts`,
    line: 'if (knows > has) return',
    replacement: 'if (knows < 0) return',
    command: unit('storage/lost-site.test.ts'),
  },
  {
    name: 'files are for all to read',
    rule: 'storage S21',
    file: `${STORAGE}/node-files.ts`,
    line: 'const FILE_MODE = 0o600;',
    replacement: 'const FILE_MODE = 0o644;',
    command: unit('storage/node-files.test.ts'),
  },
  {
    name: 'a small write overtakes the one before it',
    rule: 'storage S13',
    file: `${STORAGE}/segment-log.ts`,
    line: 'return sealFrame(packed, { file, index: this.#frames, isSettled: this.#writes.size === 0 });',
    replacement: 'return sealFrame(packed, { file, index: this.#frames, isSettled: true });',
    command: unit('storage/damage.test.ts'),
  },
];
