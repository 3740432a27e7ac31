/**
 * The ad server's data in tables of PostgreSQL: a primary in Virginia, and a replica beside the
 * client.
 */
import { createClient } from 'correctables';
import { defineStatements, oneRow, postgres, rows } from 'correctables/bindings/postgres';
import * as z from 'zod';
import { openSchema } from '../../shared/postgres/schema.ts';
import type { OpenStore } from '../../shared/speculation/store.ts';
import { translated, type Translations } from '../../shared/translate-operations.ts';
import type { Ad } from '../contract.ts';
import { REFERENCES_MAX, uidOf, type AdData } from '../data.ts';
import { adRow, profileRow, translateReads } from './ad-rows.ts';

const TABLES = [
  'create table profiles (uid text primary key, refs text[] not null)',
  'create table ads (id text primary key, brand text not null, price_cents int not null, creative text not null)',
];
/** Many rows in one statement, from a list in JSON. */
const putProfiles = (table: string): string =>
  `insert into ${table} (uid, refs) select uid, refs from jsonb_to_recordset($1::jsonb) as p (uid text, refs text[])
  on conflict (uid) do update set refs = excluded.refs`;
const putAds = (table: string): string =>
  `insert into ${table} (id, brand, price_cents, creative)
  select id, brand, "priceCents", creative
  from jsonb_to_recordset($1::jsonb) as a (id text, brand text, "priceCents" int, creative text)
  on conflict (id) do update
  set brand = excluded.brand, price_cents = excluded.price_cents, creative = excluded.creative`;
const COLUMNS = 'id, brand, price_cents as "priceCents", creative';
const CONNECTIONS = 40;

const statements = defineStatements({
  profile: {
    access: 'read',
    sql: 'select refs from profiles where uid = :uid',
    args: z.object({ uid: z.string() }),
    result: oneRow((row) => row['refs'] as string[]),
  },
  ad: {
    access: 'read',
    sql: `select ${COLUMNS} from ads where id = :id`,
    args: z.object({ id: z.string() }),
    result: oneRow(adRow),
  },
  ads: {
    access: 'read',
    sql: `select ${COLUMNS} from ads where id = any(:ids::text[])`,
    args: z.object({ ids: z.array(z.string()) }),
    result: rows(adRow, { max: REFERENCES_MAX }),
  },
  putProfiles: {
    access: 'write',
    sql: putProfiles('profiles'),
    args: z.object({ profiles: z.array(profileRow) }),
    params: ({ profiles }) => [JSON.stringify(profiles)],
    isIdempotent: true,
  },
  putAds: {
    access: 'write',
    sql: putAds('ads'),
    args: z.object({ ads: z.array(adRow) }),
    params: ({ ads }) => [JSON.stringify(ads)],
    isIdempotent: true,
  },
});

const translations = {
  ...translateReads(statements),
  putProfiles: ({ profiles }: { profiles: { uid: string; refs: string[] }[] }) => ({
    operation: statements.putProfiles({ profiles }),
  }),
  putAds: ({ ads }: { ads: Ad[] }) => ({ operation: statements.putAds({ ads }) }),
} satisfies Translations;

export const openPostgresAds: OpenStore<AdData> = async (data, { client, wan }, progress) => {
  const schema = await openSchema(
    { name: 'ads', tables: TABLES, wan, connections: CONNECTIONS },
    progress,
  );
  try {
    progress(`loading ${data.profiles} profiles and ${data.ads} ads`);
    const users = Array.from({ length: data.profiles }, (_, user) => ({
      uid: uidOf(user),
      refs: data.refsOf(user),
    }));
    await schema.fill(putProfiles(`${schema.name}.profiles`), users);
    const ads = Array.from({ length: data.ads }, (_, index) => data.ad(index));
    await schema.fill(putAds(`${schema.name}.ads`), ads);
    await schema.untilCaughtUp();
  } catch (error) {
    await schema.close();
    throw error;
  }
  progress(`the client is beside ${client}, the primary in virginia`);
  const store = createClient(
    translated(postgres({ ...schema.connect(client), statements }), translations),
  );
  const close = async (): Promise<void> => {
    await store.close();
    await schema.close();
  };
  return { store, close };
};
