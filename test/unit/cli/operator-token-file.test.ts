/** The file with the token of operators. */
import fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseOperatorToken } from '../../../src/cli/authentication/operator-token-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TOKEN = 'a token of operators';

test.each([
  ['UTF-8 with a line end', Buffer.from(`${TOKEN}\n`)],
  ['UTF-8 with a mark', Buffer.from(`\uFEFF${TOKEN}\r\n`)],
  ['UTF-16, as a shell of Windows writes it', Buffer.from(`\uFEFF${TOKEN}\r\n`, 'utf16le')],
])('reads the token from a file in %s, and again once it was replaced', (_encoding, bytes) => {
  const operatorTokenFile = join(temporaryFolder(), 'operator-token');
  fs.writeFileSync(operatorTokenFile, bytes);
  const read = parseOperatorToken({ operatorTokenFile });
  expect(read?.()).toBe(TOKEN);
  fs.writeFileSync(operatorTokenFile, 'another token of operators');
  expect(read?.()).toBe('another token of operators');
});

test.each([
  ['too short a token', 'short', /^--operator-token-file names .*no usable token: .*16 characters/],
  ['letters that no header carries', 'ein Schlüssel für Betreiber', /no usable token: .*ASCII/],
])('refuses a file with %s', (_what, text, message) => {
  const operatorTokenFile = join(temporaryFolder(), 'operator-token');
  fs.writeFileSync(operatorTokenFile, text);
  expect(() => parseOperatorToken({ operatorTokenFile })).toThrow(message);
});
