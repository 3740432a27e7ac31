/** Keys at an address: the errors of tokens whose key was not among those of the last read. */
import fs, { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTokenVerifier } from '../../../src/cli/authentication/signed-tokens.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { Authenticate } from '../../../src/server/gateway/context/gateway-context.ts';

const COOLDOWN_MS = 30_000;
const PEER = { remoteAddress: undefined, origin: undefined };

interface Signer {
  readonly jwk: JWK;
  sign(): Promise<string>;
}

/** What is published at the address, and how often that was asked for. */
let published: readonly JWK[];
let reads: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  [published, reads] = [[], 0];
  vi.stubGlobal('fetch', async () => {
    reads += 1;
    return Response.json({ keys: published });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function signer(kid?: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const header = { alg: 'ES256', ...(kid !== undefined && { kid }) };
  const sign = (key: CryptoKey): Promise<string> =>
    new SignJWT({ sub: 'ann', exp: Math.floor(Date.now() / 1000) + 3600 })
      .setProtectedHeader(header)
      .sign(key);
  return { jwk: { ...(await exportJWK(publicKey)), ...header }, sign: () => sign(privateKey) };
}

/** A check that has read the keys a moment ago, when there was this one. */
async function checkAfter(first: Signer): Promise<Authenticate> {
  published = [first.jwk];
  const check = await createTokenVerifier('https://id.example/keys', {
    issuer: undefined,
    audience: undefined,
  });
  expect(await check(await first.sign(), PEER)).toMatchObject({ id: 'ann' });
  expect(reads).toBe(1);
  return check;
}

const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

test.each([
  ['by name', 'one', 'two'],
  ['without names', undefined, undefined],
])(
  'key published since the last read, %s → UNAVAILABLE; accepted after the cooldown',
  async (_, item, two) => {
    const [first, second] = [await signer(item), await signer(two)];
    const check = await checkAfter(first);
    published = [first.jwk, second.jwk];
    const token = await second.sign();
    await expect(check(token, PEER)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(reads).toBe(1);
    pass(COOLDOWN_MS);
    expect(await check(token, PEER)).toMatchObject({ id: 'ann' });
    expect(await check(await first.sign(), PEER)).toMatchObject({ id: 'ann' });
    expect(reads).toBe(2);
  },
);

test('many tokens with unknown keys → the address is read once per cooldown, and a new key is accepted then', async () => {
  const [first, second, stranger] = [
    await signer('one'),
    await signer('two'),
    await signer('none'),
  ];
  const check = await checkAfter(first);
  published = [first.jwk, second.jwk];
  pass(COOLDOWN_MS);
  // Looked for, and not found: that is a refusal.
  await expect(check(await stranger.sign(), PEER)).rejects.not.toMatchObject({
    code: 'UNAVAILABLE',
  });
  for (let n = 0; n < 20; n += 1) {
    await expect(check(await stranger.sign(), PEER)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
  expect(reads).toBe(2);
  expect(await check(await second.sign(), PEER)).toMatchObject({ id: 'ann' });
});

test('an unknown signer without a key name → rejected after the keys were read again, which is not done for each token', async () => {
  const [first, stranger] = [await signer(), await signer()];
  const check = await checkAfter(first);
  pass(COOLDOWN_MS);
  await expect(check(await stranger.sign(), PEER)).rejects.toThrow('signature verification failed');
  expect(reads).toBe(2);
  await expect(check(await stranger.sign(), PEER)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(reads).toBe(2);
});

test('signed by another under a name that is known → refused at once: nothing is read for that', async () => {
  const [first, stranger] = [await signer('one'), await signer('one')];
  const check = await checkAfter(first);
  pass(COOLDOWN_MS);
  await expect(check(await stranger.sign(), PEER)).rejects.toThrow('signature verification failed');
  expect(reads).toBe(1);
});

test('the address does not answer → UNAVAILABLE', async () => {
  const first = await signer('one');
  const check = await checkAfter(first);
  pass(COOLDOWN_MS);
  vi.stubGlobal('fetch', () => Promise.reject(new Error('it is down')));
  await expect(check(await (await signer('two')).sign(), PEER)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('a file of keys that has changed counts from the next token on; unusable, it is UNAVAILABLE', async () => {
  vi.useRealTimers();
  const path = join(temporaryFolder(), 'keys.json');
  const write = (...keys: readonly JWK[]): void => writeFileSync(path, JSON.stringify({ keys }));
  const [first, second] = [await signer('first'), await signer('the second')];
  write(first.jwk);
  const check = await createTokenVerifier(path, { issuer: undefined, audience: undefined });
  const [own, other] = [await first.sign(), await second.sign()];
  expect(await check(own, PEER)).toMatchObject({ id: 'ann' });
  await expect(check(other, PEER)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  write(second.jwk);
  expect(await check(other, PEER)).toMatchObject({ id: 'ann' });
  await expect(check(own, PEER)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  writeFileSync(path, '{');
  await expect(check(other, PEER)).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  write(first.jwk);
  expect(await check(own, PEER)).toMatchObject({ id: 'ann' });
});

test('a file of keys that could not be opened for a moment counts again without a change to it', async () => {
  vi.useRealTimers();
  const path = join(temporaryFolder(), 'keys.json');
  const { jwk, sign } = await signer('first');
  const text = JSON.stringify({ keys: [jwk] });
  writeFileSync(path, text);
  const check = await createTokenVerifier(path, { issuer: undefined, audience: undefined });
  writeFileSync(path, `${text}\n`);
  failReads();
  await expect(check(await sign(), PEER)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  expect(await check(await sign(), PEER)).toMatchObject({ id: 'ann' });
});

/** As in a process that has too many files open. */
function failReads(): void {
  vi.spyOn(fs, 'readFileSync').mockImplementation(() => {
    throw Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
}
