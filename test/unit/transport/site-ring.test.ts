/** Which site comes next. */
import { expect, test } from 'vitest';
import { SiteRing } from '../../../src/transport/site-ring.ts';

test('sites: first attempt fails → the next, around and around', () => {
  const sites = new SiteRing(['a', 'b', 'c']);
  const seen = [sites.url];
  for (let n = 0; n < 3; n++) {
    sites.failed(false);
    seen.push(sites.url);
  }
  expect(seen).toEqual(['a', 'b', 'c', 'a']);
});

test('sites: open connection lost → once more the same, then the next', () => {
  const sites = new SiteRing(['a', 'b']);
  sites.held();
  sites.failed(true);
  expect(sites.url).toBe('a');
  sites.failed(false);
  expect(sites.url).toBe('b');
  sites.held();
  sites.failed(true);
  expect(sites.url).toBe('b');
});

test('sites: site says that it goes → the next at once', () => {
  const sites = new SiteRing(['a', 'b']);
  sites.held();
  sites.leaving();
  sites.failed(true);
  expect(sites.url).toBe('b');
});

test('sites: only one → always the same', () => {
  const sites = new SiteRing(['a']);
  sites.failed(false);
  sites.failed(false);
  expect(sites.url).toBe('a');
});

test('sites: the connection has held since it was lost → once more the same', () => {
  const sites = new SiteRing(['a', 'b']);
  for (let n = 0; n < 2; n++) {
    sites.failed(true);
    sites.held();
  }
  expect(sites.url).toBe('a');
});

test('sites: it has gone, and the next is lost → that one once more', () => {
  const sites = new SiteRing(['a', 'b']);
  sites.leaving();
  sites.failed(true);
  sites.failed(true);
  expect(sites.url).toBe('b');
});
