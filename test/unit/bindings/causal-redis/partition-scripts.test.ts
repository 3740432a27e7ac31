import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../src/causal/limits.ts';
import { buildPartitionScripts } from '../../../../src/bindings/causal-redis/scripts/partition-scripts.ts';

const scripts = Object.entries(
  buildPartitionScripts({ site: 0, siteCount: 3, limits: DEFAULT_LIMITS }),
);
/** Commands of Redis, and what Redis passes to a script. */
const NAMES_OF_REDIS =
  /\b(TIME|HGET|HMGET|HSET|HDEL|HKEYS|HSCAN|MATCH|COUNT|KEYS|ARGV|MAX_FIELDS)\b/g;

const withoutComments = (text: string): string => text.replace(/--.*$/gm, '');

test.each(scripts)('the script %s has a number in the place of each constant', (_, text) => {
  const names = withoutComments(text)
    .replace(NAMES_OF_REDIS, '')
    .match(/\b[A-Z][A-Z_]+\b/g);
  expect(names).toBeNull();
});

test.each(scripts)('the script %s uses one key, and no text for a number', (_, text) => {
  expect(text).toContain('KEYS[1]');
  expect(text).not.toMatch(/KEYS\[[^1]|tostring|cjson/);
});

test.each(scripts)('the script %s reads the clock at most once', (_, text) => {
  expect(text.match(/'TIME'/g) ?? []).toHaveLength(text.includes('HSCAN') ? 0 : 1);
});

test('what stores no more than before runs if the memory is full', () => {
  const grows = scripts
    .filter(([, text]) => !text.startsWith('#!lua flags=allow-oom\n'))
    .map(([name]) => name);
  expect(grows).toEqual(['put', 'apply', 'merge']);
});

test('limits and the own site are written into the scripts', () => {
  const { put } = buildPartitionScripts({
    site: 1,
    siteCount: 2,
    limits: { ...DEFAULT_LIMITS, maxVersions: 77 },
  });
  expect(put).toContain('count >= 77');
  expect(put).toContain('dependencies[2] = stamp');
});
