/** The ad server's data in tables of Apache Cassandra, reached in one of three ways. */
import { CorrectableError } from 'correctables';
import { defineStatements, oneRow, rows } from 'correctables/bindings/cassandra';
import * as z from 'zod';
import type { OpenStore } from '../../shared/speculation/store.ts';
import { openCassandra } from '../../shared/cassandra/open.ts';
import type { Translations } from '../../shared/translate-operations.ts';
import { adContract, type Ad } from '../contract.ts';
import { REFERENCES_MAX, uidOf, type AdData } from '../data.ts';
import { adRow, profileRow, translateReads } from './ad-rows.ts';

const TABLES = [
  'CREATE TABLE profiles (uid text PRIMARY KEY, refs frozen<list<text>>)',
  'CREATE TABLE ads (id text PRIMARY KEY, brand text, price_cents int, creative text)',
];
const PUT_PROFILE = 'INSERT INTO profiles (uid, refs) VALUES (:uid, :refs)';
const PUT_AD =
  'INSERT INTO ads (id, brand, price_cents, creative) VALUES (:id, :brand, :priceCents, :creative)';
const COLUMNS = 'id, brand, price_cents AS "priceCents", creative';

const statements = defineStatements({
  profile: {
    access: 'read',
    cql: 'SELECT refs FROM profiles WHERE uid = :uid',
    args: z.object({ uid: z.string() }),
    result: oneRow((row) => row['refs'] as string[]),
  },
  ad: {
    access: 'read',
    cql: `SELECT ${COLUMNS} FROM ads WHERE id = :id`,
    args: z.object({ id: z.string() }),
    result: oneRow(adRow),
  },
  ads: {
    access: 'read',
    // Without a limit the coordinator would read one partition after the other, to fill pages.
    cql: `SELECT ${COLUMNS} FROM ads WHERE id IN :ids LIMIT ${REFERENCES_MAX}`,
    args: z.object({ ids: z.array(z.string()) }),
    result: rows(adRow, { max: REFERENCES_MAX }),
  },
  putProfile: {
    access: 'write',
    cql: PUT_PROFILE,
    args: profileRow,
    isIdempotent: true,
  },
  putAd: { access: 'write', cql: PUT_AD, args: adRow, isIdempotent: true },
});

const translations = {
  ...translateReads(statements),
  putProfiles: ({ profiles }: { profiles: { uid: string; refs: string[] }[] }) => ({
    operation: statements.putProfile(only('profiles', profiles)),
  }),
  putAds: ({ ads }: { ads: Ad[] }) => ({ operation: statements.putAd(only('ads', ads)) }),
} satisfies Translations;

export const openCassandraAds: OpenStore<AdData> = (data, options, progress) =>
  openCassandra(
    {
      name: 'ads',
      contract: adContract,
      tables: TABLES,
      statements,
      translations,
      async fill(keyspace) {
        progress(`loading ${data.profiles} profiles and ${data.ads} ads`);
        const users = Array.from({ length: data.profiles }, (_, user) => [
          uidOf(user),
          data.refsOf(user),
        ]);
        await keyspace.fill(PUT_PROFILE.replaceAll(/:\w+/g, '?'), users);
        const ads = Array.from({ length: data.ads }, (_, index) => {
          const { id, brand, priceCents, creative } = data.ad(index);
          return [id, brand, priceCents, creative];
        });
        await keyspace.fill(PUT_AD.replaceAll(/:\w+/g, '?'), ads);
      },
    },
    options,
    progress,
  );

/**
 * Returns the only row of a statement. Each statement writes one row, because only one row is
 * written atomically.
 */
function only<T>(field: string, list: readonly T[]): T {
  const [first] = list;
  if (first !== undefined && list.length === 1) return first;
  throw new CorrectableError(
    'INVALID_ARGUMENT',
    `${field}: one at a time on Cassandra, not ${list.length}`,
    { field },
  );
}
