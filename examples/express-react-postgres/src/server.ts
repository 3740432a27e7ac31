import { implementStatements, oneRow, postgres } from 'correctables/bindings/postgres';
import { httpHandler } from 'correctables/http';
import express from 'express';
import * as z from 'zod/mini';
import { bikes } from './contract.ts';

const { PRIMARY_URL, REPLICA_URL, TOKEN_KEY, PORT = '3000' } = process.env;
if (!PRIMARY_URL || !REPLICA_URL) throw new Error('Set PRIMARY_URL and REPLICA_URL');
if (!TOKEN_KEY) throw new Error('Set TOKEN_KEY to a secret of 16 bytes or more');

const row = z.object({ name: z.string(), rider: z.nullable(z.string()) });
const statements = implementStatements(bikes, {
  bike: {
    sql: 'select name, rider from bikes where id = :id',
    result: oneRow(row),
  },
  rent: {
    sql: 'update bikes set rider = coalesce(rider, :rider) where id = :id returning name, rider',
    result: oneRow(row),
    isIdempotent: true, // it may be sent twice
  },
});
const store = postgres({
  primary: PRIMARY_URL,
  replicas: [REPLICA_URL],
  statements,
  tokenKey: TOKEN_KEY,
});

const app = express();
app.use('/api', httpHandler(bikes, store));
app.use(express.static('dist'));
const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error; // for example: the port is taken
  console.log(`The bikes are at http://127.0.0.1:${PORT}`);
});

process.once('SIGINT', () => {
  server.close();
  void store.close();
});
