/**
 * The D1 binding keeps the contract of every binding, on D1 as Miniflare runs it. That has no
 * replicas: a second database follows the first one.
 */
import { d1 } from '../../src/bindings/d1/index.ts';
import { get, put } from '../../src/operations/index.ts';
import type { OpenedBinding } from '../../src/testing/index.ts';
import { FollowedD1, withLocalD1 } from '../support/d1.ts';
import { runConformance } from '../support/run-conformance.ts';

const TOKEN_KEY = 'a secret of all Workers';

const local = withLocalD1();

async function openDatabase(): Promise<FollowedD1> {
  return new FollowedD1(await local.open());
}

async function open(): Promise<OpenedBinding> {
  const database = await openDatabase();
  const bind = () => d1({ database, tokenKey: TOKEN_KEY });
  return { binding: bind(), secondBinding: async () => bind() };
}

const fail = (): never => {
  throw new Error('D1_ERROR: Network connection lost.');
};

/** The copy fails or hangs, the primary answers. */
async function openWithoutCopy(answer: () => Promise<never>): Promise<OpenedBinding> {
  const database = await openDatabase();
  const withSession = (constraint?: string) => {
    const session = database.withSession(constraint);
    if (constraint === 'first-primary') return session;
    const statement = { bind: () => statement, all: answer };
    return { prepare: () => statement, batch: answer, getBookmark: () => null };
  };
  return { binding: d1({ database: { withSession } }) };
}

runConformance({
  name: 'd1',
  createBinding: open,
  write: put('k', { n: 1 }),
  read: get('k'),
  expected: { n: 1 },
  weakLevelFails: {
    fail: () => openWithoutCopy(async () => fail()),
    hang: () => openWithoutCopy(() => new Promise(() => {})),
  },
  async strongLevelFails() {
    const database = await openDatabase();
    database.beforePrimary = fail;
    return { binding: d1({ database }) };
  },
});
