/** Authentication by options of the command line: modules, and signed tokens. */
import {
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  type KeyPairKeyObjectResult,
} from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAuth } from '../../../src/cli/authentication/auth-flags.ts';
import type {
  Authenticate,
  Principal,
} from '../../../src/server/gateway/context/gateway-context.ts';

const PEER = { remoteAddress: undefined, origin: undefined };
const EXPIRES_S = Math.floor(Date.now() / 1000) + 3600;
let folder: string;
let keys: string;
let signing: CryptoKey;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'correctables-auth-'));
  keys = join(folder, 'keys.json');
  const pair = await generateKeyPair('ES256');
  signing = pair.privateKey;
  const key = { ...(await exportJWK(pair.publicKey)), alg: 'ES256', kid: 'one' };
  await writeFile(keys, JSON.stringify({ keys: [key] }));
  await writeFile(
    join(folder, 'auth.mjs'),
    "export const authenticate = (token) => ({ id: 'user ' + token });\n",
  );
  await writeFile(
    join(folder, 'may.mjs'),
    'export const authorize = () => false;\nexport const limits = { maxInFlight: 7 };\n',
  );
  await writeFile(join(folder, 'odd.mjs'), "export const authenticate = 'yes';\n");
  const authenticate = "export const authenticate = () => ({ id: 'ann' });\n";
  await writeFile(
    join(folder, 'british.mjs'),
    `${authenticate}export const authorise = () => false;\n`,
  );
  await writeFile(join(folder, 'both.mjs'), `${authenticate}export const service = {};\n`);
  await writeFile(
    join(folder, 'service.mjs'),
    `${authenticate}export default { generators: {}, contract: {} };\n`,
  );
  await writeFile(
    join(folder, 'helper.mjs'),
    `${authenticate}export const parseToken = (text) => text;\n`,
  );
  await writeFile(
    join(folder, 'whole.mjs'),
    `${authenticate}export default { authorize: () => false };\n`,
  );
  await writeFile(join(folder, 'one.mjs'), `${authenticate}export default () => false;\n`);
  await writeFile(join(folder, 'common.cjs'), "exports.authenticate = () => ({ id: 'ann' });\n");
});
afterAll(() => rm(folder, { recursive: true }));

interface Claims {
  readonly iss?: string;
  readonly aud?: string;
  readonly exp?: number;
  readonly sub?: unknown;
}

const serials = (claims: Claims, key: CryptoKey = signing): Promise<string> =>
  new SignJWT({ ...claims } as JWTPayload)
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .sign(key);

async function ask(options: Readonly<Record<string, unknown>>, token: string): Promise<Principal> {
  const { authenticate } = await loadAuth({ authKeys: keys, ...options });
  return (authenticate as Authenticate)(token, PEER);
}

describe('signed tokens', () => {
  test('signed by a key of the file → its subject, until it ends', async () => {
    const token = await serials({ sub: 'ann', exp: EXPIRES_S });
    expect(await ask({}, token)).toEqual({ id: 'ann', expiresAt: EXPIRES_S * 1000 });
  });

  test('signed by another key, without an end, without a subject, ended, or no token → refused', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const tokens = [
      await serials({ sub: 'ann', exp: EXPIRES_S }, privateKey),
      await serials({ sub: 'ann' }),
      await serials({ exp: EXPIRES_S }),
      await serials({ sub: 'ann', exp: EXPIRES_S - 7200 }),
      'nonsense',
      '',
    ];
    for (const token of tokens)
      await expect(ask({}, token)).rejects.not.toMatchObject({ code: 'UNAVAILABLE' });
  });

  test.each([{ user: 'ann' }, null, 7, ['ann'], ''])(
    'whose subject is %j, no name → refused',
    async (sub) => {
      await expect(ask({}, await serials({ sub, exp: EXPIRES_S }))).rejects.toThrow('"sub"');
    },
  );

  test('signed by one of several keys without a name → found, whichever it is; by another one → refused', async () => {
    const pairs = await Promise.all([1, 2, 3].map(() => generateKeyPair('ES256')));
    const several = join(folder, 'several.json');
    const set = await Promise.all(pairs.slice(0, 2).map(({ publicKey }) => exportJWK(publicKey)));
    await writeFile(several, JSON.stringify({ keys: set }));
    const tokens = pairs.map(({ privateKey }) =>
      new SignJWT({ sub: 'ann', exp: EXPIRES_S })
        .setProtectedHeader({ alg: 'ES256' })
        .sign(privateKey),
    );
    const [first, second, other] = (await Promise.all(tokens)) as [string, string, string];
    for (const token of [first, second])
      expect(await ask({ authKeys: several }, token)).toMatchObject({ id: 'ann' });
    await expect(ask({ authKeys: several }, other)).rejects.toThrow(
      'signature verification failed',
    );
  });

  test('not signed at all, or by what everybody may read → refused', async () => {
    const part = (value: unknown): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = part({ sub: 'ann', exp: EXPIRES_S });
    await expect(ask({}, `${part({ alg: 'none' })}.${claims}.`)).rejects.toThrow('alg');
    const shared = await new SignJWT({ sub: 'ann', exp: EXPIRES_S })
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .sign(new TextEncoder().encode('what everybody may read, long enough to be a key'));
    await expect(ask({}, shared)).rejects.toThrow('alg');
  });

  test('issuer and audience asked for → tokens of others, and for others, are refused', async () => {
    const options = { authIssuer: 'https://id.example', authAudience: 'shop' };
    const claims = { sub: 'ann', exp: EXPIRES_S, iss: 'https://id.example', aud: 'shop' };
    expect(await ask(options, await serials(claims))).toMatchObject({ id: 'ann' });
    await expect(
      ask(options, await serials({ ...claims, iss: 'https://other.example' })),
    ).rejects.toThrow('"iss"');
    await expect(ask(options, await serials({ ...claims, aud: 'bank' }))).rejects.toThrow('"aud"');
  });
});

describe('modules', () => {
  test('authenticate → asked', async () => {
    const { authenticate } = await loadAuth({ auth: join(folder, 'auth.mjs') });
    expect(await (authenticate as Authenticate)('t', PEER)).toEqual({ id: 'user t' });
  });

  test('a CommonJS module → its exports count, though it is exported as a whole as well', async () => {
    const { authenticate } = await loadAuth({ auth: join(folder, 'common.cjs') });
    expect(await (authenticate as Authenticate)('t', PEER)).toEqual({ id: 'ann' });
  });

  test('accepts a module that exports the service or helpers as well', async () => {
    for (const name of ['both.mjs', 'service.mjs', 'helper.mjs']) {
      expect(await loadAuth({ auth: join(folder, name) })).toMatchObject({
        authenticate: expect.any(Function),
      });
    }
  });

  test('authorize and limits beside keys → both count', async () => {
    const auth = await loadAuth({ auth: join(folder, 'may.mjs'), authKeys: keys });
    expect(auth).toMatchObject({ limits: { maxInFlight: 7 } });
    expect([typeof auth.authenticate, typeof auth.authorize]).toEqual(['function', 'function']);
  });
});

test('no flag → everybody is let in, as before', async () => {
  expect(await loadAuth({})).toEqual({});
});

describe('key sets without a usable key', () => {
  const pair = (): KeyPairKeyObjectResult => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rsa = (bits: number): KeyPairKeyObjectResult =>
    generateKeyPairSync('rsa', { modulusLength: bits });
  const jwk = (key: KeyObject): JsonWebKey => key.export({ format: 'jwk' });
  test.each([
    ['none', () => [], 'none of its 0 keys can be used to check a signature'],
    ['a secret that is shared', () => [{ kty: 'oct', k: 'c2VjcmV0' }], 'none of its 1 keys'],
    ['for something else', () => [{ ...jwk(pair().publicKey), use: 'enc' }], 'none of its 1 keys'],
    [
      'damaged, beside a good one',
      () => [jwk(pair().publicKey), { kty: 'EC', kid: 'two', crv: 'P-256', x: 'AA', y: 'AA' }],
      'key "two" cannot be read: Invalid JWK EC key',
    ],
    ['private', () => [jwk(pair().privateKey)], 'key 0 is a private one'],
    [
      'too short for RSA',
      () => [jwk(rsa(1024).publicKey)],
      'key 0 has a modulus of 1024 bits: make one of 2048',
    ],
    [
      'too short for RSA, beside a good one',
      () => [jwk(pair().publicKey), jwk(rsa(1024).publicKey)],
      'key 1 has a modulus of 1024 bits',
    ],
    [
      'of a curve for secrets',
      () => [jwk(generateKeyPairSync('x25519').publicKey)],
      'none of its 1 keys',
    ],
    [
      'of another curve for secrets',
      () => [jwk(generateKeyPairSync('x448').publicKey)],
      'none of its 1 keys',
    ],
    [
      'of a curve that no token has',
      () => [jwk(generateKeyPairSync('ed448').publicKey)],
      'none of its 1 keys',
    ],
    [
      'of another curve that no token has',
      () => [jwk(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)],
      'none of its 1 keys',
    ],
    [
      'by its algorithm for secrets',
      () => [{ ...jwk(rsa(2048).publicKey), alg: 'RSA-OAEP-256' }],
      'none of its 1 keys',
    ],
    [
      'of an algorithm for another kind',
      () => [{ ...jwk(pair().publicKey), alg: 'RS256' }],
      'none of its 1 keys',
    ],
    [
      'to encrypt by',
      () => [{ ...jwk(rsa(2048).publicKey), key_ops: ['encrypt'] }],
      'none of its 1 keys',
    ],
    ['to sign by', () => [{ ...jwk(pair().publicKey), key_ops: ['sign'] }], 'none of its 1 keys'],
  ])('%s → refused before anybody is served', async (_, scanKeys, message) => {
    const path = join(folder, 'few.json');
    await writeFile(path, JSON.stringify({ keys: scanKeys() }));
    await expect(loadAuth({ authKeys: path })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    });
  });

  test.each([
    ['of a kind that is not known', () => ({ kty: 'LATER' })],
    ['of a curve that is not known', () => ({ kty: 'EC', crv: 'BP-256', x: 'AA', y: 'AA' })],
    [
      'for something else, of a curve that is not known',
      () => ({ kty: 'EC', crv: 'BP-256', use: 'enc' }),
    ],
    ['for something else, and too short', () => ({ ...jwk(rsa(1024).publicKey), use: 'enc' })],
  ])('%s, beside a good one → passed over', async (_, keyOf) => {
    const path = join(folder, 'few.json');
    await writeFile(path, JSON.stringify({ keys: [keyOf(), jwk(pair().publicKey)] }));
    expect(await loadAuth({ authKeys: path })).toMatchObject({
      authenticate: expect.any(Function),
    });
  });
});

test.each([
  ['RS256', 'RSA'],
  ['PS512', 'RSA'],
  ['ES384', 'EC'],
  ['ES512', 'EC'],
  ['EdDSA', 'OKP'],
])(
  'one key, for %s → its tokens are accepted, with and without an algorithm in the key',
  async (alg, kty) => {
    const { publicKey, privateKey } = await generateKeyPair(alg);
    const path = join(folder, 'one.json');
    const token = await new SignJWT({ sub: 'ann', exp: EXPIRES_S })
      .setProtectedHeader({ alg })
      .sign(privateKey);
    const key = await exportJWK(publicKey);
    expect(key).toMatchObject({ kty });
    for (const more of [{}, { alg }, { use: 'sig' }, { key_ops: ['verify'] }]) {
      await writeFile(path, JSON.stringify({ keys: [{ ...key, ...more }] }));
      expect(await ask({ authKeys: path }, token)).toMatchObject({ id: 'ann' });
    }
  },
);

describe('flags that cannot be', () => {
  test.each([
    [{ auth: 'auth.mjs', authKeys: 'keys.json' }, '--auth-keys checks tokens, and so does'],
    [{ auth: 'may.mjs' }, '--auth names a module that exports no `authenticate`'],
    [{ auth: 'odd.mjs' }, 'is no function'],
    [{ auth: 'british.mjs' }, 'exports `authorise`. Did you mean `authorize`?'],
    [{ auth: 'whole.mjs' }, 'default export is not used: export authenticate'],
    [{ auth: 'one.mjs' }, 'default export is not used: export authenticate'],
    [{ auth: 'none.mjs' }, 'there is no such file'],
    [{ authKeys: 'none.json' }, 'is no file with a JWK set'],
    [{ authKeys: 'auth.mjs' }, 'is no file with a JWK set'],
  ])('%j → %s', async (value, message) => {
    const options = Object.fromEntries(
      Object.entries(value).map(([flag, name]) => [flag, join(folder, name)]),
    );
    await expect(loadAuth(options)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    });
  });

  test.each([
    [{ authIssuer: 'x' }, 'give --auth-keys as well'],
    [{ authKeys: 'http://id.example/keys' }, '--auth-keys must be an https address'],
    [{ authKeys: 'https://' }, 'takes the path or the https address'],
  ])('%j → %s', async (options, message) => {
    await expect(loadAuth(options)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message),
    });
  });
});
