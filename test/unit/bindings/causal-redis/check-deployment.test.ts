/** What `correctables causal check` finds. */
import { expect, test } from 'vitest';
import { virtualClock } from '../../../../src/testing/index.ts';
import { CausalRedisWorld, GOOD_SERVER } from '../../../support/causal-redis-world.ts';

function open() {
  const clock = virtualClock(1_000_000_000);
  const world = new CausalRedisWorld({ clock });
  world.prepareAll();
  const check = async () => {
    const report = world.check();
    await clock.advance(100);
    return report;
  };
  return { clock, world, check };
}

test('a deployment that runs has no problem, and shows how far its sites are apart', async () => {
  const { clock, world, check } = open();
  for (const site of world.sites) world.open(site);
  await clock.advance(1_000);
  const report = await check();
  expect(report).toMatchObject({ name: 'shop', isSound: true });
  expect(report.sites.flatMap(({ problems }) => problems)).toEqual([]);
  expect(report.sites[0]!.lagMs['oregon']).toBeLessThan(600);
});

test('a site without a process, and one that is not prepared, are named', async () => {
  const { world, check } = open();
  world.memory('oregon').record = undefined;
  const { isSound, sites } = await check();
  expect(isSound).toBe(false);
  expect(sites[0]!.problems).toMatchObject([{ code: 'gateway', isError: false }]);
  expect(sites[1]!.problems).toMatchObject([{ code: 'deployment', isError: true }]);
});

test('a site that does not answer, and one that refuses a command, are named', async () => {
  const { world, check } = open();
  world.memory('dublin').refusedCommand = 'hscan';
  world.memory('oregon').isAway = true;
  const { isSound, sites } = await check();
  expect(isSound).toBe(false);
  expect(sites[0]!.problems[0]).toMatchObject({
    code: 'rights',
    message: expect.stringContaining('hscan'),
  });
  expect(sites[1]!.problems).toMatchObject([{ code: 'unreachable', isError: true }]);
});

test('a site that gives no reply is named in time', async () => {
  const { clock, world } = open();
  world.memory('oregon').isSilent = true;
  const report = world.check();
  await clock.advance(5_000);
  const [problem] = (await report).sites[1]!.problems;
  expect(problem).toMatchObject({
    code: 'unreachable',
    isError: true,
    message: expect.stringContaining('PING'),
  });
});

test('a site is not prepared while another one gives no reply, and that is said in time', async () => {
  const { clock, world } = open();
  world.memory('oregon').isSilent = true;
  const preparing = Promise.allSettled([world.prepare('dublin')]);
  await clock.advance(5_000);
  const [outcome] = await preparing;
  const message: unknown = expect.stringContaining('PING');
  expect(outcome).toMatchObject({
    reason: { code: 'UNAVAILABLE', field: 'sites.oregon', message },
  });
});

test('two deployments with one name are named', async () => {
  const { world, check } = open();
  world.memory('oregon').record = { ...world.memory('oregon').record!, partitions: 9 };
  const { isSound, sites } = await check();
  expect(isSound).toBe(false);
  expect(sites[0]!.problems.map(({ code }) => code)).toContain('deployment');
});

test.each([
  ['a policy that drops any key', { evictionPolicy: 'allkeys-lru' }, 'eviction', true],
  ['a policy that cannot be read', { evictionPolicy: undefined }, 'unchecked', false],
  [
    'neither replica nor append-only file',
    { replicas: 0, hasAppendOnlyFile: false },
    'persistence',
    false,
  ],
  ['a version that is too old', { version: '6.2.7' }, 'version', true],
])('%s → %s', async (_, fields, code, isError) => {
  const { world, check } = open();
  world.memory('dublin').servers = [{ ...GOOD_SERVER, ...fields }];
  const { sites } = await check();
  expect(sites[0]!.problems[0]).toMatchObject({ code, isError });
});
