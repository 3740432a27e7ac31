/** `correctables causal`: what it takes, what it prints, and its exit code. */
import { afterEach, expect, test, vi } from 'vitest';
import { openRedisStores } from '../../../src/bindings/causal-redis/redis-stores.ts';
import { CAUSAL } from '../../../src/cli/causal.ts';
import { printLines } from '../../../src/cli/print.ts';
import { systemClock } from '../../../src/correctable/clock.ts';
import { CausalRedisWorld } from '../../support/causal-redis-world.ts';

vi.mock(import('../../../src/bindings/causal-redis/redis-stores.ts'));
vi.mock(import('../../../src/cli/print.ts'));

afterEach(() => {
  process.exitCode = undefined;
});

const REDIS = 'dublin=10.0.0.1:6379,oregon=10.1.0.1:6379';

/** Runs an action, and returns what it prints. */
async function run(
  world: CausalRedisWorld,
  action: string,
  options: Readonly<Record<string, unknown>>,
) {
  vi.mocked(openRedisStores).mockImplementation(async ({ site }) => world.openStores(site));
  vi.mocked(printLines).mockClear();
  await CAUSAL.run({ name: 'shop', redis: REDIS, ...options }, action);
  return vi.mocked(printLines).mock.calls.flat(2).join('\n');
}

const createWorld = () => new CausalRedisWorld({ clock: systemClock });

test('prepare writes the record once, and check then finds no error', async () => {
  const world = createWorld();
  for (const site of world.sites) {
    expect(await run(world, 'prepare', { site, partitions: '3' })).toContain(`Prepared ${site}`);
    expect(await run(world, 'prepare', { site })).toContain('nothing was changed');
  }
  expect(world.memory('oregon').record).toMatchObject({
    site: 'oregon',
    partitions: 3,
    sites: ['dublin', 'oregon'],
  });
  expect(await run(world, 'check', {})).toContain('can be used');
  expect(process.exitCode).toBeUndefined();
});

test('check names what is missing, and ends with 1', async () => {
  const text = await run(createWorld(), 'check', {});
  expect(text).toContain('dublin: redis 7.0.15, 1 master');
  expect(text).toContain('ERROR: sites.dublin: its Redis has no deployment "shop"');
  expect(process.exitCode).toBe(1);
});

test('check --json prints the report', async () => {
  const report = JSON.parse(await run(createWorld(), 'check', { json: true })) as {
    isSound: boolean;
  };
  expect(report).toMatchObject({ name: 'shop', isSound: false });
});

test.each<[string, string, Readonly<Record<string, unknown>>, string]>([
  ['an unknown action', 'repair', {}, 'action'],
  ['no sites', 'check', { redis: undefined }, 'redis'],
  ['no pairs', 'check', { redis: '10.0.0.1:6379' }, 'redis'],
  ['a site twice', 'check', { redis: 'dublin=a,dublin=b' }, 'redis'],
  ['prepare without a site', 'prepare', {}, 'site'],
  ['prepare for another site', 'prepare', { site: 'paris' }, 'site'],
  ['no name', 'check', { name: undefined }, 'name'],
  [
    'a number of partitions that is none',
    'prepare',
    { site: 'dublin', partitions: 'x' },
    'partitions',
  ],
  ['a missing password file', 'check', { passwordFile: '/nowhere' }, 'password-file'],
])('%s → INVALID_ARGUMENT with the field', async (_, action, options, field) => {
  await expect(run(createWorld(), action, options)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    field,
  });
});
