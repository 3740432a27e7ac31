/** A result names what it takes to get it again. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { commitOf, provenance, versionOfEngine, versionsOf } from '../../../bench/harness/provenance.ts';
import { serverFlags } from '../../../bench/load/processes.ts';

afterEach(() => vi.unstubAllEnvs());

test('provenance: commit, time, versions, processor', () => {
  const head = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim();
  const { commit, date, machine, versions } = provenance();
  expect(commit.replace('+', '')).toBe(head);
  expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(60 * 60 * 1000);
  expect(machine).toMatchObject({ cores: expect.any(Number) as number, cpu: expect.any(String) as string });
  expect(versions).toMatchObject({ node: process.versions.node });
});

test('commit: what benchmarks have written is no change, what they run is', () => {
  const commitWith = (changed: string): string => {
    const tree = mkdtempSync(join(tmpdir(), 'bench-tree-'));
    try {
      const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: tree, encoding: 'utf8' });
      git('init', '--quiet');
      for (const path of ['bench/results/core.json', 'docs/figures/core.svg', 'src/index.ts']) {
        mkdirSync(join(tree, dirname(path)), { recursive: true });
        writeFileSync(join(tree, path), 'before');
      }
      git('add', '.');
      git('-c', 'user.name=n', '-c', 'user.email=n@localhost', 'commit', '--quiet', '--message', 'all');
      for (const path of changed.split(' ')) writeFileSync(join(tree, path), 'after');
      return commitOf(tree);
    } finally {
      rmSync(tree, { recursive: true });
    }
  };
  expect(commitWith('bench/results/core.json docs/figures/core.svg bench/results/wire.json')).toMatch(/^[\da-f]{12}$/);
  expect(commitWith('bench/results/core.json src/index.ts')).toMatch(/^[\da-f]{12}\+$/);
  expect(commitWith('src/new.ts')).toMatch(/\+$/);
});

test('command: with the flags that processes were given, as a shell takes it', () => {
  vi.stubEnv('NODE_OPTIONS', '');
  vi.stubEnv('BENCH_SERVER_FLAGS', '--max-semi-space-size=16 --trace-gc');
  const given = process.argv;
  process.argv = ['node', 'main.ts', 'tickets', '--history', "it's here.jsonl"];
  const { command } = provenance();
  process.argv = given;
  expect(command).toBe(
    String.raw`BENCH_SERVER_FLAGS='--max-semi-space-size=16 --trace-gc' npm run bench -- tickets --history 'it'\''s here.jsonl'`,
  );
  expect(serverFlags()).toEqual(['--max-semi-space-size=16', '--trace-gc']);
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
