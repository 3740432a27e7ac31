/** The news reader with its comments on a real Redis Cluster at each site. */
import { beforeAll, expect, test } from 'vitest';
import { findRedisProgram } from '../../../engines/redis/programs.ts';
import { readHeadless } from '../../../demo/news/headless.ts';
import { reasonToSkip } from '../support/missing-tools.ts';

/** The first time, the server is downloaded. */
const START_MS = 300_000;
let missing: string | undefined;

beforeAll(async () => {
  await findRedisProgram('redis').catch((error: unknown) => (missing = reasonToSkip(error)));
}, START_MS);

test('keeps causal order where plain copies on the same servers do not', async (context) => {
  context.skip(missing !== undefined, missing);
  const figures = await readHeadless(
    { conversations: 2, delays: 'measured', hasRedis: true },
    () => {},
  );
  expect(figures).toMatchObject({
    isInOrder: true,
    wrongReads: { causal: 0 },
    moves: { ownMissing: { causal: 0 } },
  });
  expect(figures.wrongReads.copies).toBeGreaterThan(0);
  expect(figures.frontPage.cacheMs.p50).toBeLessThan(figures.frontPage.strongMs.p50 as number);
}, 120_000);
