/** The key file: made once, for its owner alone. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  createKeyFile,
  followKeyFile,
  readKeyFile,
} from '../../../../../src/server/node/cluster/key-file.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

function createPath(): string {
  const folder = temporaryFolder();
  return join(folder, 'cluster.key');
}

test('create → a file for its owner alone; a second time changes nothing', () => {
  const path = createPath();
  const created = createKeyFile(path);
  expect(created).toEqual(readKeyFile(path));
  expect(created?.keys).toHaveLength(1);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const text = readFileSync(path, 'utf8');
  expect([createKeyFile(path), readFileSync(path, 'utf8')]).toEqual([undefined, text]);
});

test('no file → the error explains how to get one', () => {
  expect(() => readKeyFile(createPath())).toThrow(
    'run correctables cluster init once, otherwise copy the key file',
  );
});

test('a file that every user can read → rejected', () => {
  const path = createPath();
  createKeyFile(path);
  chmodSync(path, 0o644);
  expect(() => readKeyFile(path)).toThrow(`Run chmod 600 ${path}`);
});

test('a file that cannot be read → the error names it, and the call of the system', () => {
  const path = temporaryFolder();
  expect(() => readKeyFile(path)).toThrow(
    `keyFile: ${path} cannot be read: EISDIR: illegal operation on a directory`,
  );
});

const KEY = Buffer.alloc(32, 1).toString('base64');
const VALID = { deployment: '0123456789abcdef01234567', keys: [KEY], sessionKey: KEY };

test.each<readonly [object | string, string]>([
  ['{', 'is not a JSON object'],
  [{ ...VALID, deployment: 'x' }, 'has no valid deployment'],
  [{ ...VALID, keys: [] }, 'must have one or two keys'],
  [{ ...VALID, keys: [KEY, KEY, KEY] }, 'must have one or two keys'],
  [{ ...VALID, keys: ['c2hvcnQ='] }, 'must have keys of 32 bytes in base64'],
  [{ ...VALID, sessionKey: undefined }, 'must have a sessionKey of 32 bytes in base64'],
])('%j → is refused', (value, problem) => {
  const path = createPath();
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
  expect(() => readKeyFile(path)).toThrow(problem);
});

test('the keys of a node follow its file, unless that is damaged or of another deployment', () => {
  const path = createPath();
  const [first, second] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const write = (value: object): void =>
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  write({ ...VALID, keys: [first] });
  const followed = followKeyFile(path);
  const bytes = (): number[] => followed.keys.map((key) => key.bytes[0] as number);
  expect(bytes()).toEqual([1]);
  write({ ...VALID, keys: [second, first] });
  expect(bytes()).toEqual([2, 1]);
  writeFileSync(path, '{');
  expect(bytes()).toEqual([2, 1]);
  write({ ...VALID, deployment: 'ffffffffffffffffffffffff', keys: [first] });
  expect(bytes()).toEqual([2, 1]);
  write({ ...VALID, keys: [second] });
  expect(bytes()).toEqual([2]);
});

test('a key file that a node that runs cannot use is reported once, and counts once it can be used', () => {
  const path = createPath();
  const [first, second] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const write = (value: object): void =>
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  write({ ...VALID, keys: [first] });
  const problems: string[] = [];
  const followed = followKeyFile(path, (problem) => problems.push(problem));
  const bytes = (): number[] => followed.keys.map((key) => key.bytes[0] as number);
  write({ ...VALID, keys: [second] });
  chmodSync(path, 0o644);
  expect([bytes(), bytes()]).toEqual([[1], [1]]);
  expect(problems).toEqual([
    expect.stringMatching(/every user .*Run chmod 600 .* Links still use the keys of before\.$/),
  ]);
  chmodSync(path, 0o600);
  expect(bytes()).toEqual([2]);
  write({ ...VALID, deployment: 'ffffffffffffffffffffffff', keys: [first] });
  expect([bytes(), problems.length]).toEqual([[2], 2]);
});
