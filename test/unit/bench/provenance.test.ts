/** A result names what it takes to get it again. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { provenance, versionOfEngine, versionsOf } from '../../../bench/harness/provenance.ts';

test('provenance: commit, time, versions, processor', () => {
  const head = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim();
  const { commit, at, machine, versions, flags } = provenance({ versions: { redis: '7.0.15' }, flags: ['--flag'] });
  expect(commit.replace('+', '')).toBe(head);
  expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(60 * 60 * 1000);
  expect(machine).toMatchObject({ cores: expect.any(Number) as number, cpu: expect.any(String) as string });
  expect(versions).toMatchObject({ node: process.versions.node, redis: '7.0.15' });
  expect(flags).toEqual(['--flag']);
});

test('versions: of drivers as installed, of engines as fetched', () => {
  expect(versionsOf('rxjs', 'cassandra-driver')).toEqual({
    rxjs: expect.stringMatching(/^7\./) as string,
    'cassandra-driver': expect.stringMatching(/^4\./) as string,
  });
  expect({ ...versionOfEngine('cassandra'), ...versionOfEngine('zookeeper') }).toEqual({
    cassandra: expect.stringMatching(/^5\.0\.\d+$/) as string,
    zookeeper: expect.stringMatching(/^3\.9\.\d+$/) as string,
  });
});
