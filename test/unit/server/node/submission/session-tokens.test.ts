/** Session tokens: only the deployment that made one takes it. */
// @rule CLU-M14, RB-S2
import { describe, expect, test } from 'vitest';
import { createClient } from '../../../../../src/correctable/client/client.ts';
import { createEmbedded } from '../../../../../src/server/node/embedded/embedded.ts';
import { SignedTokens } from '../../../../../src/bindings/shared/signed-tokens.ts';
import { bank, bankService } from '../../site/services.ts';
import { siteAt } from '../../../../support/origins.ts';

const sites = ['ireland', 'frankfurt'];
const tokens = new SignedTokens({ key: 'k'.repeat(32), scope: sites, site: siteAt(0) });
const refused = expect.objectContaining({ code: 'UNAUTHENTICATED', field: 'session' });

describe('session tokens', () => {
  test('sealed at one site → opened at another with the same key', () => {
    const other = new SignedTokens({ key: 'k'.repeat(32), scope: sites, site: siteAt(1) });
    expect(other.open(tokens.seal([1, 2, 3]))).toEqual([1, 2, 3]);
  });

  const sealed = tokens.seal([1, 2, 3]);
  const forged = `o1.${Buffer.from('[9,9,9]').toString('base64url')}.${sealed.split('.')[2]}`;
  for (const [name, token] of [
    ['nothing', ''],
    ['no token', 'hello'],
    ['another content under the same signature', forged],
    ['another site', sealed.replace('o1.', 'o2.')],
    ['cut off', sealed.slice(0, -2)],
    ['too long', `${'x'.repeat(5000)}.${sealed}`],
    ['not even text', 7 as never],
  ] as const) {
    test(`${name} → UNAUTHENTICATED`, () => {
      expect(() => tokens.open(token)).toThrow(refused);
    });
  }

  test('one that was opened before → the same; changed after that → UNAUTHENTICATED', () => {
    expect(tokens.open(sealed)).toEqual([1, 2, 3]);
    expect(tokens.open(sealed)).toEqual([1, 2, 3]);
    expect(() => tokens.open(`${sealed.slice(0, -2)}xx`)).toThrow(refused);
  });

  test('more tokens than are remembered → all are opened', () => {
    const many = Array.from({ length: 3000 }, (_, n) => tokens.seal([n, 0, 0]));
    expect(many.map((token) => tokens.open(token)[0])).toEqual(many.map((_, n) => n));
  });

  test('a vector that changes after it was sealed → the token has the earlier values', () => {
    const vector = [7, 7, 7];
    const token = tokens.seal(vector);
    vector[0] = 9;
    expect(tokens.open(token)).toEqual([7, 7, 7]);
  });

  test('another key, other sites, or another deployment → UNAUTHENTICATED', () => {
    const others = [
      new SignedTokens({ key: 'l'.repeat(32), scope: sites, site: siteAt(0) }),
      new SignedTokens({ key: 'k'.repeat(32), scope: ['ireland', 'virginia'], site: siteAt(0) }),
      new SignedTokens({ key: 'k'.repeat(32), scope: 'bank#1', site: siteAt(0) }),
    ];
    for (const other of others) expect(() => other.open(sealed)).toThrow(refused);
  });
});

describe('sessions of clients', () => {
  test('nothing new is seen → the token stays; something is → another', async () => {
    const deployment = createEmbedded(bankService(), { sites: ['ireland'] });
    const client = createClient(deployment.site('ireland'));
    const first = client.session();
    await client.invoke(bank.deposit({ account: 'a', amount: 5 }), { session: first });
    const tokenList = first.tokens ?? [];
    const second = client.session({ tokens: tokenList });
    expect(await client.invokeWeak(bank.balance({ account: 'a' }), { session: second })).toBe(5);
    expect(second.tokens).toEqual(tokenList);
    await client.invoke(bank.deposit({ account: 'a', amount: 5 }), { session: second });
    expect(second.tokens).not.toEqual(tokenList);
    await deployment.close();
  });

  test.each([
    ['one', ['ireland', 'frankfurt']],
    ['the other', ['frankfurt', 'ireland']],
  ] as const)(
    'tokens of two sites, %s first → it reads what both sessions wrote',
    async (_, places) => {
      const deployment = createEmbedded(bankService(), {
        sites: ['ireland', 'frankfurt', 'virginia'],
        latency: 'eu-us',
      });
      const tokenLists = await Promise.all(
        places.map(async (place) => {
          const client = createClient(deployment.site(place));
          const session = client.session();
          await client.invoke(bank.deposit({ account: place, amount: 5 }), { session });
          return session.tokens ?? [];
        }),
      );
      const virginia = createClient(deployment.site('virginia'));
      const session = virginia.session({ tokens: tokenLists.flat() });
      const read = (account: string): PromiseLike<number> =>
        virginia.invokeWeak(bank.balance({ account }), { session });
      expect(await Promise.all(places.map(read))).toEqual([5, 5]);
      await deployment.close();
    },
  );

  test('a guess → does not enter the session', async () => {
    const deployment = createEmbedded(bankService(), {
      sites: ['ireland', 'frankfurt', 'virginia'],
      latency: 'eu-us',
    });
    const ireland = createClient(deployment.site('ireland'));
    await ireland.invoke(bank.deposit({ account: 'a', amount: 5 }));
    const session = ireland.session();
    const before = session.tokens;
    const withdrawal = ireland.invoke(bank.withdraw({ account: 'a', amount: 5 }), { session });
    await withdrawal.when('tentative');
    expect(session.tokens).toEqual(before);
    await withdrawal;
    expect(session.tokens).not.toEqual(before);
    await deployment.close();
  });
});
