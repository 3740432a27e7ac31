/** Which site comes next. */
import { expect, test } from 'vitest';
import { SitePool } from '../../../src/transport/site-pool.ts';

test('sites: first attempt fails → the next, around and around', () => {
  const sites = new SitePool(['a', 'b', 'c']);
  const seen = [sites.url];
  for (let n = 0; n < 3; n++) {
    sites.recordFailure(false);
    seen.push(sites.url);
  }
  expect(seen).toEqual(['a', 'b', 'c', 'a']);
});

test('sites: open connection lost → once more the same, then the next', () => {
  const sites = new SitePool(['a', 'b']);
  sites.recordStable();
  sites.recordFailure(true);
  expect(sites.url).toBe('a');
  sites.recordFailure(false);
  expect(sites.url).toBe('b');
  sites.recordStable();
  sites.recordFailure(true);
  expect(sites.url).toBe('b');
});

test('sites: a site goes away → the next at once', () => {
  const sites = new SitePool(['a', 'b']);
  sites.recordStable();
  sites.leaveSite();
  sites.recordFailure(true);
  expect(sites.url).toBe('b');
});

test('sites: only one → always the same', () => {
  const sites = new SitePool(['a']);
  sites.recordFailure(false);
  sites.recordFailure(false);
  expect(sites.url).toBe('a');
});

test('sites: the connection has held since it was lost → once more the same', () => {
  const sites = new SitePool(['a', 'b']);
  for (let n = 0; n < 2; n++) {
    sites.recordFailure(true);
    sites.recordStable();
  }
  expect(sites.url).toBe('a');
});

test('sites: it has gone, and the next is lost → that one once more', () => {
  const sites = new SitePool(['a', 'b']);
  sites.leaveSite();
  sites.recordFailure(true);
  sites.recordFailure(true);
  expect(sites.url).toBe('b');
});
